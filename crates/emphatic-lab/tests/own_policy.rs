//! A user's own policy with a setting: experiment files name it, sweep its setting, and are refused if it is wrong.
//!
//! Policies once had no keys in files but their kind, weights and probabilities: a setting that the catalogue declares was an unknown key.

mod common;

use common::{results, settings};
use emphatic::catalogue::{Acts, Declaration, Role, Setting};
use emphatic::{
    Built, Catalogue, ComposeError, Declared, Draw, Features, PartBuilder, Policy, Range, Real, Row,
    RuleKind, Softmax, StateError, StepError, StochasticPolicy, Visitor,
};
use emphatic_lab::store::Kind;
use emphatic_lab::{Cell, Experiment, read_runs, schema};
use miette::Diagnostic;
use std::path::Path;
use std::sync::Once;

/// π(a|s) ∝ exp(x·θ_a / τ).
#[derive(Clone, Debug)]
struct Tempered {
    softmax: Softmax,
    /// τ of each lane.
    temperatures: Vec<f64>,
}

impl Tempered {
    fn temperature<R: Real>(&self) -> R {
        R::from_lanes(|lane| *self.temperatures.get(lane).unwrap_or(&self.temperatures[0]))
    }
}

impl Policy for Tempered {
    type Action = usize;
    type Distribution<R: Real> = Vec<R>;

    fn features(&self) -> &Features {
        self.softmax.features()
    }

    fn len(&self) -> usize {
        self.softmax.len()
    }

    fn check_action(&self, action: usize) -> Result<(), StepError> {
        self.softmax.check_action(action)
    }

    fn room<R: Real>(&self) -> Vec<R> {
        self.softmax.room()
    }

    fn distribution<R: Real>(&self, weights: &[R], x: Row, out: &mut Vec<R>) {
        let cooled: Vec<R> = weights.iter().map(|w| *w / self.temperature()).collect();
        self.softmax.distribution(&cooled, x, out);
    }

    fn numbers<R: Real>(&self, at: &Vec<R>) -> Vec<R> {
        self.softmax.numbers(at)
    }

    fn settings(&self, visitor: &mut Visitor) -> Result<(), StateError> {
        self.softmax.settings(visitor)?;
        visitor.setting_in_lanes("temperature", &self.temperatures)
    }

    fn sample<R: Real>(&self, at: &Vec<R>, lane: usize, draw: &mut dyn Draw) -> usize {
        self.softmax.sample(at, lane, draw)
    }
}

impl StochasticPolicy for Tempered {
    fn probability<R: Real>(&self, at: &Vec<R>, action: usize) -> R {
        self.softmax.probability(at, action)
    }

    fn add_score<R: Real>(&self, x: Row, at: &Vec<R>, action: usize, scale: R, weights: &mut [R]) -> R {
        self.softmax.add_score(x, at, action, scale / self.temperature(), weights)
    }
}

impl Declared for Tempered {
    const DECLARATION: Declaration = Declaration {
        acts: Some(Acts::Finite),
        settings: &[Setting {
            name: "temperature",
            range: Range::StepSize,
            default: None,
            about: "temperature τ",
        }],
        features: true,
        ..Declaration::new(Role::Policy, "tempered", "Tempered", "a softmax with a temperature")
    };

    fn build<R: Real>(with: &PartBuilder<R>) -> Result<Built<R>, ComposeError> {
        let temperature: R = with.number("temperature")?;
        let temperatures = (0..R::LANES).map(|lane| temperature.lane(lane)).collect();
        let softmax = Softmax { features: with.features()?, actions: with.actions()? };
        match with.rule() {
            RuleKind::Taken => with.stochastic(Tempered { softmax, temperatures }),
            RuleKind::All | RuleKind::Deterministic => with.wrong_rule(),
        }
    }
}

/// An experiment with this policy.
fn experiment(policy: &str) -> String {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| Catalogue::standard().clone().with::<Tempered>().install().unwrap());
    format!(
        r#"problem = "counterexample"
runs = 2
episodes = 50
evaluations = 5
record = ["target.S1.A0"]
[[method]]
algorithm = "ace"
alpha = 0.1
lambda_a = 1
policy = {policy}
critic = {{ kind = "gtd", alpha_v = [0.1, 0.2], alpha_w = 0.01 }}
"#
    )
}

/// Returns the message about an experiment with this policy.
fn refused(policy: &str) -> String {
    let error = Experiment::parse(&experiment(policy), "experiment.toml", Path::new("")).unwrap_err();
    let help = error.help().map(|help| format!(" ({help})"));
    format!("{error}{}", help.unwrap_or_default())
}

/// Returns the probability of A0 in S1 along all runs of each setting.
fn target(dir: &Path, count: usize) -> Vec<Vec<Option<f64>>> {
    let settings: Vec<usize> = (0..count).collect();
    let runs = read_runs(dir, Kind::Results, "target.S1.A0", &settings).unwrap();
    runs.values().map(|runs| runs.iter().flat_map(|run| run.values.clone()).collect()).collect()
}

#[test]
fn a_policys_setting_is_swept_and_written_in_the_table_of_settings() {
    let swept =
        results(&experiment(r#"{ kind = "tempered", temperature = [0.5, 1, 2], weights = [0, 0, 1, 0] }"#));
    let temperatures = [0.5, 0.5, 1.0, 1.0, 2.0, 2.0];
    let table = settings(swept.path());
    let written: Vec<&Cell> = table.iter().map(|setting| &setting["policy.temperature"]).collect();
    assert_eq!(written, temperatures.map(Cell::Number).iter().collect::<Vec<_>>());
    assert!(table.iter().all(|setting| setting["policy"] == Cell::Text("tempered".to_owned())));

    let targets = target(swept.path(), 6);
    for (values, temperature) in targets.iter().zip(temperatures) {
        let start = 1.0 / (1.0 + (-1.0 / temperature).exp());
        assert!((values[0].unwrap() - start).abs() < 1e-12, "{temperature}: {values:?}");
        assert_ne!(values[0], values[5], "it learns");
    }
    // With a temperature of 1 it is a softmax.
    let softmax = results(&experiment("{ weights = [0, 0, 1, 0] }"));
    assert_eq!(target(softmax.path(), 2), targets[2..4]);
    assert!(!settings(softmax.path())[0].contains_key("policy.temperature"));
}

#[test]
fn a_combination_adds_to_a_policy_and_another_kind_takes_its_place() {
    let text = experiment(r#"{ kind = "tempered", temperature = 3, weights = 0.5 }"#)
        + "combinations = [{ policy.temperature = 2 }, { policy.weights = 1 }, { policy.kind = \"softmax\" }]\n";
    let experiment = Experiment::parse(&text, "experiment.toml", Path::new("")).unwrap();
    let cell = |setting: usize, column: &str| {
        let cells = experiment.cells(setting);
        cells.into_iter().find(|(name, _)| *name == column).map(|(_, cell)| cell.clone())
    };
    let temperatures = [0, 2, 4].map(|setting| cell(setting, "policy.temperature"));
    assert_eq!(temperatures, [Some(Cell::Number(2.0)), Some(Cell::Number(3.0)), None]);
    let weights = [0, 2, 4].map(|setting| cell(setting, "initial_weights"));
    let all = |w: &str| Some(Cell::Text(format!("[{w}, {w}, {w}, {w}]")));
    assert_eq!(weights, [all("0.5"), all("1.0"), all("0.5")]);
}

#[test]
fn wrong_settings_of_a_policy_are_refused() {
    let cases = [
        (
            r#"{ kind = "tempered", temprature = 1 }"#,
            "the policy `tempered` has no setting `temprature` (did you mean `temperature`?)",
        ),
        (
            r#"{ kind = "tempered", temperature = [1, -1] }"#,
            "`temperature` is -1; a step-size is finite and not negative",
        ),
        (r#"{ kind = "tempered", temperature = "hot" }"#, "`temperature` must be a number"),
        (
            r#"{ kind = "tempered", temperature = [] }"#,
            "`temperature` is an empty list (a list is swept: give it at least one value)",
        ),
        (
            r#"{ kind = "tempered" }"#,
            "the policy needs `temperature` (`temperature` of `tempered`: temperature τ; give a number, or a list to sweep: \
             policy = { kind = …, temperature = … })",
        ),
        (
            r#"{ kind = "softmax", temperature = 1 }"#,
            "`temperature` has no meaning for the policy `softmax` (it belongs to the policy `tempered`)",
        ),
        (
            r#"{ kind = "tempered", temperature = 1, probabilities = { A0 = 0.9, A1 = 0.1 } }"#,
            "only a softmax policy starts from probabilities (give `weights`)",
        ),
        (
            "{ temperature = 1 }",
            "`temperature` has no meaning for the policy `softmax` (it belongs to the policy `tempered`)",
        ),
        (
            r#"{ features = "critic" }"#,
            "the policy `softmax` has no setting `features` (there are kind, weights, probabilities)",
        ),
    ];
    for (policy, message) in cases {
        assert_eq!(refused(policy), message, "{policy}");
    }
}

/// Messages once named the policies of the standard catalogue, whatever the catalogue was.
#[test]
fn messages_name_the_policies_of_the_catalogue() {
    let help = |text: String| {
        let error = Experiment::parse(&text, "experiment.toml", Path::new("")).unwrap_err();
        error.help().unwrap().to_string()
    };
    let named = experiment("{}").replace("\"ace\"", "\"dpg\"");
    assert_eq!(
        help(named),
        "it needs a softmax or tempered policy (offpac, ace, true-ace, cof-pac or geoff-pac)"
    );

    let real = |policy: &str| {
        let text = experiment(policy).replace("\"counterexample\"", "\"continuous-counterexample\"");
        text.replace("algorithm = \"ace\"\n", "emphasis = \"follow-on\"\n").replace("target.S1.A0", "rho")
    };
    let tempered = real(r#"{ kind = "tempered", temperature = 1 }"#);
    assert_eq!(help(tempered), "it needs a gaussian or deterministic policy");
    let about = Catalogue::standard().find(Role::Policy, "gaussian").unwrap().about;
    let three = real("{ weights = [1, 2, 3] }");
    assert_eq!(help(three), format!("2 for each feature, side by side: {about}"));
}

#[test]
fn the_schema_has_the_settings_of_each_policy() {
    experiment("{}");
    let schema = schema();
    let tables = schema["$defs"]["Policy"]["anyOf"].as_array().unwrap();
    let keys = |kind: &str| -> Vec<&str> {
        let table = tables.iter().find(|table| table["properties"]["kind"]["const"] == kind).unwrap();
        table["properties"].as_object().unwrap().keys().map(String::as_str).collect()
    };
    assert_eq!(keys("softmax"), ["weights", "probabilities", "kind"]);
    assert_eq!(keys("tempered"), ["temperature", "weights", "probabilities", "kind"]);
}
