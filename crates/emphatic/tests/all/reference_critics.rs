//! Critics against worked steps that were computed from their equations with sixty digits: `tests/reference/updates.py`.

use emphatic::{
    Abtd, Action, ActionCritic, Critic, Decayed, Elstd, Emphasis, Etd, ExpectedTdrc, Features, FollowOn, Gq,
    Gtd, Gtd2, Htd, Lstd, LstdQ, ModelCritic, ProximalGtd2, Retrace, Seen, SeenScratch, State, Step, Td,
    Tdrc, TreeBackup, TrueOnlineEtd, Truncated, VTrace,
};
use serde_json::Value;
use std::any::Any;
use std::collections::HashSet;

const TOLERANCE: f64 = 1e-12;
/// That of what is solved for: the condition of the systems, up to 10⁵, multiplies errors of rounding.
const OF_SOLUTIONS: f64 = 1e-10;

fn file(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(number).collect()
}

/// A step, with what belongs to it.
struct Row {
    x: Vec<f64>,
    x_next: Vec<f64>,
    /// The features that are not zero.
    active: [Vec<usize>; 2],
    states: [usize; 2],
    pi: Vec<f64>,
    pi_next: Vec<f64>,
    rho: f64,
    step: Step<usize, Action>,
}

/// Experience, and the form in which states come.
struct Stream {
    name: String,
    features: Features,
    actions: usize,
    rows: Vec<Row>,
}

impl Stream {
    fn new(name: &str, stream: &Value) -> Self {
        let count = |name: &str| stream[name].as_u64().unwrap() as usize;
        let features = match name {
            "dense" => Features::dense(count("features")),
            "one-hot" => Features::one_hot(count("features")),
            _ => Features::active(count("features"), count("active")),
        };
        let rows = stream["steps"].as_array().unwrap().iter().map(|row| {
            let (x, x_next) = (numbers(&row["x"]), numbers(&row["x_next"]));
            let active = |x: &[f64]| (0..x.len()).filter(|j| x[*j] != 0.0).collect();
            let whole = |name: &str| row[name].as_u64().unwrap() as usize;
            let states = [whole("state"), whole("state_next")];
            let step = Step {
                state: states[0],
                action: Action::Number(whole("action")),
                mu: number(&row["mu"]),
                reward: number(&row["reward"]),
                next: states[1],
                gamma: number(&row["gamma"]),
                gamma_next: number(&row["gamma_next"]),
                interest: number(&row["interest"]),
            };
            Row {
                active: [active(&x), active(&x_next)],
                states,
                x,
                x_next,
                pi: numbers(&row["pi"]),
                pi_next: numbers(&row["pi_next"]),
                rho: number(&row["rho"]),
                step,
            }
        });
        Self { name: name.to_owned(), features, actions: count("actions"), rows: rows.collect() }
    }

    /// Shows a step to a function as a part with the stream's features sees it.
    fn see(&self, row: &Row, mut show: impl FnMut(&Seen)) {
        let (state, next) = match &self.features {
            Features::Dense { .. } => (State::Vector(&row.x), State::Vector(&row.x_next)),
            Features::Active { .. } => (State::Active(&row.active[0]), State::Active(&row.active[1])),
            Features::Table(_) => (State::Number(row.states[0]), State::Number(row.states[1])),
        };
        let Step { action, mu, reward, gamma, gamma_next, interest, .. } = row.step;
        let step = Step { state, action, mu, reward, next, gamma, gamma_next, interest };
        show(&Seen::new(&step, Some(&self.features), &mut SeenScratch::default()));
    }
}

fn near(part: &str, place: &str, got: &[f64], right: &[f64]) {
    let tolerance = if solves(part) { OF_SOLUTIONS } else { TOLERANCE };
    let near = |(x, y): (&f64, &f64)| (x - y).abs() <= tolerance * y.abs().max(1.0);
    assert!(got.len() == right.len() && got.iter().zip(right).all(near), "{place}: {got:?} is not {right:?}");
}

/// A critic whose weights can be read.
trait Known: Any {
    fn weights(&self) -> Vec<f64>;
}

macro_rules! known {
    ($($critic:ty => $weights:ident;)*) => {
        $(impl Known for $critic {
            fn weights(&self) -> Vec<f64> {
                <$critic>::$weights(self)
            }
        })*
    };
}
known! {
    Td => weights;
    Gtd => weights;
    Gtd2 => weights;
    ProximalGtd2 => weights;
    Tdrc => weights;
    Htd => weights;
    VTrace => weights;
    TreeBackup => weights;
    Abtd => weights;
    Etd<f64, Box<dyn Emphasis<f64>>> => weights;
    TrueOnlineEtd => weights;
    Lstd => weights;
    Elstd<f64, FollowOn> => weights;
    Gq => weights;
    ExpectedTdrc => weights;
    Retrace => weights;
    LstdQ => weights;
    ModelCritic => values;
}

trait KnownCritic: Critic<f64> + Known {}
impl<T: Critic<f64> + Known> KnownCritic for T {}

trait KnownActionCritic: ActionCritic<f64> + Known {}
impl<T: ActionCritic<f64> + Known> KnownActionCritic for T {}

fn emphasis(settings: &Value) -> Box<dyn Emphasis<f64>> {
    match settings["kind"].as_str().unwrap() {
        "follow-on" => Box::new(FollowOn::builder().lambda_a(1.0).build().unwrap()),
        "decayed" => Box::new(Decayed::builder().beta(number(&settings["beta"])).build().unwrap()),
        "truncated" => Box::new(Truncated::builder().n(number(&settings["n"])).build().unwrap()),
        other => panic!("{other}"),
    }
}

fn critic(part: &str, features: &Features, settings: &Value) -> Box<dyn KnownCritic> {
    let set = |name: &str| number(&settings[name]);
    let features = features.clone();
    let second = |alpha: f64| set("eta") * alpha;
    match part {
        "td" => Box::new(Td::builder(features).alpha_v(set("alpha")).lambda(set("lambda")).build().unwrap()),
        "tdc" => {
            let (alpha, lambda) = (set("alpha"), set("lambda"));
            let critic = Gtd::builder(features).alpha_v(alpha).alpha_w(second(alpha)).lambda(lambda);
            Box::new(critic.build().unwrap())
        }
        "gtd2" => {
            let (alpha, lambda) = (set("alpha"), set("lambda"));
            let critic = Gtd2::builder(features).alpha_v(alpha).alpha_w(second(alpha)).lambda(lambda);
            Box::new(critic.build().unwrap())
        }
        "proximal-gtd2" => {
            let (alpha, lambda) = (set("alpha"), set("lambda"));
            let critic = ProximalGtd2::builder(features).alpha_v(alpha).alpha_w(second(alpha)).lambda(lambda);
            Box::new(critic.build().unwrap())
        }
        "htd" => {
            let (alpha, lambda) = (set("alpha"), set("lambda"));
            let critic = Htd::builder(features).alpha_v(alpha).alpha_w(second(alpha)).lambda(lambda);
            Box::new(critic.build().unwrap())
        }
        "tdrc" => {
            let critic = Tdrc::builder(features).alpha_v(set("alpha")).eta(set("eta")).beta(set("beta"));
            Box::new(critic.lambda(set("lambda")).build().unwrap())
        }
        "v-trace" => {
            let critic = VTrace::builder(features).alpha_v(set("alpha")).rho_max(set("rho_max"));
            Box::new(critic.lambda(set("lambda")).build().unwrap())
        }
        "tree-backup" => {
            let critic = TreeBackup::builder(features).alpha_v(set("alpha")).lambda(set("lambda"));
            Box::new(critic.build().unwrap())
        }
        "abtd" => {
            let critic = Abtd::builder(features).alpha_v(set("alpha")).zeta(set("zeta"));
            Box::new(critic.xi_0(set("xi_0")).xi_max(set("xi_max")).build().unwrap())
        }
        "etd" => {
            let critic = Etd::builder(features, emphasis(&settings["emphasis"]));
            Box::new(critic.alpha_v(set("alpha")).lambda(set("lambda")).build().unwrap())
        }
        "true-online-etd" => {
            let critic = TrueOnlineEtd::builder(features).alpha_v(set("alpha")).lambda(set("lambda"));
            Box::new(critic.build().unwrap())
        }
        "lstd" => Box::new(Lstd::builder(features).lambda(set("lambda")).solve_every(1.0).build().unwrap()),
        "elstd" => {
            let critic = Elstd::builder(features, FollowOn::builder().lambda_a(1.0).build().unwrap());
            Box::new(critic.lambda(set("lambda")).solve_every(1.0).build().unwrap())
        }
        other => panic!("no critic `{other}`"),
    }
}

fn action_critic(part: &str, stream: &Stream, settings: &Value) -> Box<dyn KnownActionCritic> {
    let set = |name: &str| number(&settings[name]);
    let (features, actions) = (stream.features.clone(), stream.actions);
    match part {
        "gq" => {
            let values = Gtd::builder(features.clone()).alpha_v(0.5).alpha_w(0.5).build().unwrap();
            let critic = Gq::builder(features, actions, values).alpha_q(set("alpha"));
            let critic = critic.alpha_h(set("eta") * set("alpha")).lambda_q(set("lambda"));
            Box::new(critic.build().unwrap())
        }
        "expected-tdrc" => {
            let critic = ExpectedTdrc::builder(features, actions).alpha_q(set("alpha")).eta(set("eta"));
            Box::new(critic.beta(set("beta")).lambda_q(set("lambda")).build().unwrap())
        }
        "retrace" => {
            let critic = Retrace::builder(features, actions).alpha_q(set("alpha")).lambda_q(set("lambda"));
            Box::new(critic.build().unwrap())
        }
        "lstd-q" => {
            let critic = LstdQ::builder(features, actions).lambda_q(set("lambda")).solve_every(1.0);
            Box::new(critic.build().unwrap())
        }
        "one-step-model" => {
            assert_eq!(set("prior"), 100.0);
            Box::new(ModelCritic::builder(features, actions).solve_every(1.0).build().unwrap())
        }
        other => panic!("no critic `{other}`"),
    }
}

/// Shows each case of a file to a function: its part, its place for messages, its stream, its settings and its steps. Returns the parts.
fn each_case(file: &Value, mut check: impl FnMut(&str, &str, &Stream, &Value, &[Value])) -> HashSet<String> {
    let streams = file["streams"].as_object().unwrap();
    let streams: Vec<Stream> = streams.iter().map(|(name, stream)| Stream::new(name, stream)).collect();
    let mut parts = HashSet::new();
    for case in file["cases"].as_array().unwrap() {
        let (part, settings) = (case["part"].as_str().unwrap(), &case["settings"]);
        let stream = streams.iter().find(|stream| case["stream"] == *stream.name).unwrap();
        let steps = case["steps"].as_array().unwrap();
        assert_eq!(steps.len(), stream.rows.len());
        check(part, &format!("{part} {settings} {}", stream.name), stream, settings, steps);
        parts.insert(part.to_owned());
    }
    parts
}

/// Those that solve a system do so before they are read, so the weights of a step are those that are seen at the next.
fn solves(part: &str) -> bool {
    ["lstd", "elstd", "lstd-q", "one-step-model"].contains(&part)
}

#[test]
fn critics_of_values_do_what_their_equations_say() {
    let file = file(include_str!("../reference/critics.json"));
    let parts = each_case(&file, |part, place, stream, settings, steps| {
        let mut critic = critic(part, &stream.features, settings);
        for (t, (row, right)) in stream.rows.iter().zip(steps).enumerate() {
            stream.see(row, |seen| {
                // A system that is due is solved when the critic is asked.
                critic.value(seen);
                if solves(part) && t > 0 {
                    near(
                        part,
                        &format!("{place}, before step {t}"),
                        &critic.weights(),
                        &numbers(&steps[t - 1]["w"]),
                    );
                }
                let [delta, changed] = critic.update(seen, row.rho);
                near(part, &format!("{place}, δ of step {t}"), &[delta], &[number(&right["delta"])]);
                assert_eq!(changed, 0.0);
            });
            if !solves(part) {
                near(part, &format!("{place}, step {t}"), &critic.weights(), &numbers(&right["w"]));
            }
        }
    });
    assert_eq!(parts.len(), 13);
}

#[test]
fn critics_of_actions_do_what_their_equations_say() {
    let file = file(include_str!("../reference/action_critics.json"));
    let parts = each_case(&file, |part, place, stream, settings, steps| {
        let mut critic = action_critic(part, stream, settings);
        let name = if part == "one-step-model" { "v" } else { "w" };
        let mut advantages = vec![0.0; stream.actions];
        for (t, (row, right)) in stream.rows.iter().zip(steps).enumerate() {
            stream.see(row, |seen| {
                critic.advantages(seen, &row.pi, &mut advantages);
                if solves(part) && t > 0 {
                    let right = numbers(&steps[t - 1][name]);
                    near(part, &format!("{place}, before step {t}"), &critic.weights(), &right);
                }
                if part == "one-step-model" && t > 0 {
                    let q = &numbers(&steps[t - 1]["q"])[row.states[0] * stream.actions..][..stream.actions];
                    let v: f64 = q.iter().zip(&row.pi).map(|(q, pi)| q * pi).sum();
                    let right: Vec<f64> = q.iter().map(|q| q - v).collect();
                    near(part, &format!("{place}, advantages of step {t}"), &advantages, &right);
                }
                assert_eq!(critic.learn(seen, &row.pi, &row.pi_next, row.rho), 0.0);
            });
            if !solves(part) {
                near(part, &format!("{place}, step {t}"), &critic.weights(), &numbers(&right[name]));
            }
        }
    });
    assert_eq!(parts.len(), 5);
}
