//! Worked steps of every update rule, which `tests/reference/updates.py` computed with sixty digits from the equations alone.

use emphatic::catalogue::{Catalogue, Role};
use emphatic::{
    Action, Features, Numbers, Part, PartRecipe, Recipe, RuleKind, SavedState, Seen, SeenScratch, State,
    Step, Table,
};
use serde_json::Value;
use std::collections::HashSet;

pub fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

/// The numbers of a list, or one number.
pub fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().map_or_else(|| vec![number(value)], |list| list.iter().map(number).collect())
}

fn list(value: &Value) -> &[Value] {
    value.as_array().expect("a list")
}

/// A step, with what belongs to it.
pub struct Row {
    x: [Vec<f64>; 2],
    /// The features that are not zero.
    active: [Vec<usize>; 2],
    pub states: [usize; 2],
    pub pi: Vec<f64>,
    pub pi_next: Vec<f64>,
    pub rho: f64,
    step: Step<usize, Action>,
}

impl Row {
    fn new(row: &Value) -> Self {
        let whole = |name: &str| row[name].as_u64().unwrap() as usize;
        let of = |name: &str| number(&row[name]);
        let x = [numbers(&row["x"]), numbers(&row["x_next"])];
        let active = x.each_ref().map(|x| (0..x.len()).filter(|j| x[*j] != 0.0).collect());
        let states = [whole("state"), whole("state_next")];
        let step = Step {
            state: states[0],
            action: Action::Number(whole("action")),
            mu: of("mu"),
            reward: of("reward"),
            next: states[1],
            gamma: of("gamma"),
            gamma_next: of("gamma_next"),
            interest: of("interest"),
        };
        let (pi, pi_next) = (numbers(&row["pi"]), numbers(&row["pi_next"]));
        Self { x, active, states, pi, pi_next, rho: of("rho"), step }
    }
}

/// Experience, and the form in which states come.
pub struct Stream {
    name: String,
    pub features: Features,
    pub actions: usize,
    pub rows: Vec<Row>,
    /// The features of a policy that learns, and the weights it starts from.
    pub policy: Option<(Features, Vec<f64>)>,
}

impl Stream {
    fn new(name: &str, stream: &Value) -> Self {
        let count = |name: &str| stream[name].as_u64().unwrap() as usize;
        let table = |rows: Vec<Vec<f64>>| Features::from(Table::dense(&rows).unwrap());
        let (len, active) = (count("features"), count("active"));
        let features = match name {
            "dense" => Features::dense(len),
            "one-hot" => Features::one_hot(len),
            "sparse" => Features::active(len, active),
            _ => table(list(&stream["states"]).iter().map(|state| numbers(&state["x"])).collect()),
        };
        assert_eq!((features.len(), features.most_active()), (len, active), "{name}");
        let policy = |policy| (table(list(policy).iter().map(numbers).collect()), numbers(&stream["theta"]));
        Self {
            name: name.to_owned(),
            features,
            actions: count("actions"),
            rows: list(&stream["steps"]).iter().map(Row::new).collect(),
            policy: stream.get("policy").map(policy),
        }
    }

    /// A step, with its states in the form that the features are for.
    pub fn step<'a>(&self, row: &'a Row) -> Step<State<'a>, Action> {
        let [state, next] = [0, 1].map(|k| match &self.features {
            Features::Dense { .. } | Features::Observed(_) => State::Vector(&row.x[k]),
            Features::Active { .. } => State::Active(&row.active[k]),
            Features::Table(_) => State::Number(row.states[k]),
        });
        let Step { action, mu, reward, gamma, gamma_next, interest, .. } = row.step;
        Step { state, action, mu, reward, next, gamma, gamma_next, interest }
    }

    /// Shows every step to a function, as a part with the stream's features sees it.
    pub fn each(&self, mut show: impl FnMut(usize, &Row, &Seen)) {
        for (t, row) in self.rows.iter().enumerate() {
            show(t, row, &Seen::new(&self.step(row), Some(&self.features), &mut SeenScratch::default()));
        }
    }
}

/// One case: a part with its settings on a stream, and what each step must give.
pub struct Case<'a> {
    pub part: &'a str,
    pub name: String,
    pub stream: &'a Stream,
    pub settings: &'a Value,
    schedule: Option<&'a Value>,
    pub steps: &'a [Value],
}

impl Case<'_> {
    /// The part, with its features and its schedule.
    pub fn recipe(&self, role: Role) -> PartRecipe {
        let mut part = recipe(role, self.part, self.settings);
        if Catalogue::standard().find(role, &part.kind).unwrap().features {
            part = part.with_features(self.stream.features.clone());
        }
        match self.schedule {
            Some(schedule) => part.with_inner("schedule", inside(Role::Schedule, schedule)),
            None => part,
        }
    }

    /// A learner of which only some parts matter: the others do nothing.
    pub fn learner(&self, rule: RuleKind) -> Recipe {
        let features = self.stream.policy.as_ref().map_or(&self.stream.features, |(features, _)| features);
        let policy = PartRecipe::new("softmax").with_features(features.clone());
        let recipe = Recipe::new(rule, policy, PartRecipe::new("gtd"), PartRecipe::new("none"), 0.0);
        recipe.with_actions(self.stream.actions)
    }

    /// Checks numbers of a step: how far they may be off is relative to the number or to 1.
    pub fn check(&self, t: usize, what: &str, got: &[f64], tolerance: f64) {
        let right = numbers(&self.steps[t][what]);
        let near = |(x, y): (&f64, &f64)| (x - y).abs() <= tolerance * y.abs().max(1.0);
        let all_near = got.len() == right.len() && got.iter().zip(&right).all(near);
        assert!(all_near, "{} at step {t}: {what} is {got:?}, not {right:?}", self.name);
    }
}

/// A part that is written with its kind.
pub fn inside(role: Role, part: &Value) -> PartRecipe {
    recipe(role, part["kind"].as_str().unwrap(), part)
}

/// A part by the names of the equations.
fn recipe(role: Role, part: &str, settings: &Value) -> PartRecipe {
    let kind = match part {
        "tdc" => "gtd",
        "one-step-model" => "model",
        _ => part,
    };
    let entry = Catalogue::standard().find(role, kind).unwrap_or_else(|| panic!("no {role:?} `{kind}`"));
    let mut recipe = PartRecipe::new(kind);
    for (name, value) in settings.as_object().unwrap() {
        if entry.inner.iter().any(|inner| inner.name == name) {
            recipe = recipe.with_inner(name, inside(Role::Emphasis, value));
        }
        let Some(value) = value.as_f64() else { continue };
        let names: &[&str] = match name.as_str() {
            "alpha" => &["alpha_u", "alpha_v", "alpha_q"],
            "eta" => &["eta", "alpha_w", "alpha_h"],
            "lambda" => &["lambda", "lambda_q"],
            "gamma_hat" => &["gamma_hat", "gamma"],
            "alpha_nu" => &["alpha_n"],
            "scale" => &["over"],
            name => &[name],
        };
        match (part, names.iter().find(|name| entry.setting(name).is_some())) {
            (_, Some(own @ (&"alpha_w" | &"alpha_h"))) => {
                recipe = recipe.with(*own, value * number(&settings["alpha"]));
            }
            (_, Some(own)) => recipe = recipe.with(*own, value),
            // That of the learner; η α; and a constant of ours.
            (_, None) if role == Role::Actor && name == "alpha" => {}
            ("gradient-dice", None) if name == "alpha_eta" => {}
            ("one-step-model", None) if name == "prior" => assert_eq!(value, 100.0),
            _ => panic!("the {role:?} `{kind}` has no `{name}`"),
        }
    }
    recipe
}

/// The numbers of a part that change, by name.
pub fn state_of(part: &mut dyn Part<f64>) -> Vec<(String, Vec<f64>)> {
    let state = SavedState::of(part).unwrap();
    let real = |(name, numbers): (&str, &Numbers)| match numbers {
        Numbers::Real(numbers) => Some((name.to_owned(), numbers.clone())),
        Numbers::Whole(_) => None,
    };
    state.tensors().iter().filter_map(real).collect()
}

/// Runs a function on every case of a file. Returns the parts.
pub fn each_case(text: &str, mut run: impl FnMut(&Case)) -> HashSet<String> {
    let file: Value = serde_json::from_str(text).unwrap();
    let streams = file["streams"].as_object().unwrap();
    let streams: Vec<Stream> = streams.iter().map(|(name, stream)| Stream::new(name, stream)).collect();
    let mut parts = HashSet::new();
    for case in list(&file["cases"]) {
        let (part, settings, schedule) =
            (case["part"].as_str().unwrap(), &case["settings"], case.get("schedule"));
        let stream = streams.iter().find(|stream| case["stream"] == *stream.name).unwrap();
        let name = format!("{part} on {} with {settings} {schedule:?}", stream.name);
        let steps = list(&case["steps"]);
        assert_eq!(steps.len(), stream.rows.len(), "{name}");
        run(&Case { part, name, stream, settings, schedule, steps });
        parts.insert(part.to_owned());
    }
    parts
}
