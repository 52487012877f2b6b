//! Every update rule against worked steps from a reference in high precision (`tests/reference/updates.py`, which was written from the equations alone).

use emphatic::catalogue::Catalogue;
use emphatic::{
    Action, Composable, Features, Isa, Numbers, PartRecipe, Recipe, RuleKind, SavedState, Seen, SeenScratch,
    State, Step,
};
use serde_json::{Map, Value};

/// The largest error, relative to the number or to 1: what rounding can explain.
const TOLERANCE: f64 = 1e-10;

/// A stream of the reference: the features that parts see, and steps with their ratios.
pub(crate) struct Stream {
    pub(crate) features: Features,
    pub(crate) actions: usize,
    states: Vec<Vec<f64>>,
    steps: Vec<Value>,
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().expect("a list").iter().map(number).collect()
}

pub(crate) fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

impl Stream {
    fn new(value: &Value) -> Self {
        let count = |key: &str| number(&value[key]) as usize;
        let (len, active) = (count("features"), count("active"));
        let rows: Vec<Vec<f64>> =
            value["states"].as_array().unwrap().iter().map(|s| numbers(&s["x"])).collect();
        // A table counts as active features those that are not zero: the most of all states.
        let features = Features::from(emphatic::Table::dense(&rows).unwrap());
        assert_eq!((features.len(), features.most_active()), (len, active));
        let steps = value["steps"].as_array().unwrap().clone();
        Self { features, actions: count("actions"), states: rows, steps }
    }

    /// Shows every step to a function, with its ratio and as a part sees it.
    pub(crate) fn each(&self, mut see: impl FnMut(usize, &Seen, f64, &Value)) {
        for (t, step) in self.steps.iter().enumerate() {
            let of = |key: &str| number(&step[key]);
            let view = Step {
                state: State::Number(of("state") as usize),
                action: Action::Number(of("action") as usize),
                mu: of("mu"),
                reward: of("reward"),
                next: State::Number(of("state_next") as usize),
                gamma: of("gamma"),
                gamma_next: of("gamma_next"),
                interest: of("interest"),
            };
            assert_eq!(numbers(&step["x"]), self.states[of("state") as usize]);
            let mut scratch = SeenScratch::default();
            see(t, &Seen::new(&view, Some(&self.features), &mut scratch), of("rho"), step);
        }
    }
}

/// One case: a part with its settings on a stream, and what each step must give.
pub(crate) struct Case<'a> {
    pub(crate) name: String,
    pub(crate) stream: Stream,
    pub(crate) part: PartRecipe,
    pub(crate) steps: &'a [Value],
}

/// The name that a setting of the reference has in the catalogue; `None` if it follows from others.
fn setting_name<'a>(part: &str, name: &'a str) -> Option<&'a str> {
    match (part, name) {
        ("gradient-dice", "alpha_eta") => None, // η α
        (_, "gamma_hat") => Some("gamma"),
        (_, "alpha_nu") => Some("alpha_n"),
        (_, "alpha") => Some("alpha_u"),
        (_, "scale") => Some("over"),
        _ => Some(name),
    }
}

fn with_numbers(mut part: PartRecipe, settings: &Map<String, Value>) -> PartRecipe {
    let kind = part.kind.clone();
    for (name, value) in settings.iter().filter(|(_, value)| value.is_number()) {
        if let Some(name) = setting_name(&kind, name) {
            part = part.with(name, number(value));
        }
    }
    part
}

impl<'a> Case<'a> {
    fn new(value: &'a Value, streams: &Value) -> Self {
        let (kind, stream) = (value["part"].as_str().unwrap(), value["stream"].as_str().unwrap());
        let settings = value["settings"].as_object().unwrap();
        let stream_of = Stream::new(&streams[stream]);
        let mut part = with_numbers(PartRecipe::new(kind), settings);
        let is_learned = Catalogue::standard().iter().any(|entry| entry.name == kind && entry.features);
        if is_learned {
            part = part.with_features(stream_of.features.clone());
        }
        if let Some(schedule) = value.get("schedule").and_then(Value::as_object) {
            let inside = PartRecipe::new(schedule["kind"].as_str().unwrap());
            part = part.with_inner("schedule", with_numbers(inside, schedule));
        }
        let name = format!("{kind} on {stream} with {settings:?} {:?}", value.get("schedule"));
        Self { name, stream: stream_of, part, steps: value["steps"].as_array().unwrap() }
    }

    /// Checks numbers of a step.
    pub(crate) fn check(&self, t: usize, what: &str, got: &[f64]) {
        let Some(right) = self.steps[t].get(what) else { return };
        let right = if right.is_array() { numbers(right) } else { vec![number(right)] };
        assert_eq!(got.len(), right.len(), "{}: {what}", self.name);
        for (got, right) in got.iter().zip(&right) {
            let error = (got - right).abs() / right.abs().max(1.0);
            assert!(error < TOLERANCE, "{} at step {t}: {what} is {got}, not {right}", self.name);
        }
    }
}

/// Runs a function on every case of a file.
pub(crate) fn each_case(text: &str, mut run: impl FnMut(&Case)) {
    let file: Value = serde_json::from_str(text).unwrap();
    let cases = file["cases"].as_array().unwrap();
    assert!(!cases.is_empty());
    cases.iter().for_each(|case| run(&Case::new(case, &file["streams"])));
}

#[test]
fn emphases() {
    each_case(include_str!("../reference/emphases.json"), |case| {
        let policy = PartRecipe::new("softmax").with_features(case.stream.features.clone());
        let mut recipe = Recipe::new(RuleKind::Taken, policy, PartRecipe::new("gtd"), case.part.clone(), 0.0);
        recipe.actions = Some(case.stream.actions);
        // The reference tries n = 0 too, which is no emphasis.
        if case.part.numbers.get("n") == Some(&0.0) {
            return;
        }
        let mut emphasis = f64::emphasis(Catalogue::standard(), &[&recipe], Isa::Plain)
            .unwrap_or_else(|error| panic!("{}: {error}", case.name));
        case.stream.each(|t, seen, rho, _| {
            let weight = emphasis.weigh(seen, rho);
            assert!(emphasis.learn(seen, rho).is_finite());
            case.check(t, "emphasis", &[weight]);
            let state = SavedState::of(&mut *emphasis).unwrap();
            for (saved, numbers) in state.tensors().iter() {
                let name = match saved {
                    "mean" => "nu",
                    "multiplier" => "eta",
                    _ => saved,
                };
                if let Numbers::Real(got) = numbers {
                    case.check(t, name, got);
                }
            }
        });
    });
}
