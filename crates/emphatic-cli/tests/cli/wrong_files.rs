//! Wrong experiment files: the message about each.
//!
//! A file that is wrong ends with code 1 and a message that points at the place. The snapshots hold all messages, to be
//! read as a user reads them.

use crate::common::{Bench, Case, replaced, replaced_in, succeeded};
use std::fs;
use std::time::{Duration, Instant};

const CHECK: [&str; 2] = ["check", "experiment.toml"];

const EXPERIMENT: &str = r#"problem = "counterexample"
seed = 1
runs = 10
episodes = 5000
evaluations = 50
record = ["objective", "target.S1.A0"]

[[method]]
algorithm = "ace"
alpha = [0.01, 0.1]
lambda_a = [0, 0.5, 1]
separate = ["lambda_a"]
critic = { kind = "gtd", alpha_v = [0.01, 0.1], alpha_w = 1e-4, lambda = 0.5 }
"#;

const PROBLEM: &str = r#"states = ["S0", "S1", "S2"]
actions = ["A0", "A1"]
start = "S0"
gamma = 1.0
behaviour = { A0 = 0.25, A1 = 0.75 }
transitions = [
  { from = "S0", action = "A0", to = "S1" },
  { from = "S0", action = "A1", to = "S2" },
  { from = "S1", action = "A0", reward = 2.0, end = true },
  { from = "S1", action = "A1", end = true },
  { from = "S2", action = "A0", end = true },
  { from = "S2", action = "A1", reward = 1.0, end = true },
]
features.actor = { S0 = [1, 0], S1 = [0, 1], S2 = [0, 1] }
"#;

/// An experiment in which the action is a number.
const CONTINUOUS: &str = r#"problem = "continuous-counterexample"
runs = 1
episodes = 10
[[method]]
algorithm = "dpg"
alpha = 0.1
critic = "exact"
"#;

/// An experiment that evaluates a fixed target.
const PREDICTION: &str = r#"problem = "counterexample"
target = { A0 = 0.9, A1 = 0.1 }
seed = 1
runs = 2
episodes = 10
record = ["value_error", "projected_error", "critic.weights"]

[[method]]
critic = { kind = "td", alpha_v = [0.01, 0.1] }
"#;

/// An experiment in a simulator.
const SIMULATOR: &str = r#"problem = "mountain-car"
seed = 1
gamma = 0.95
features = { kind = "tiles", tilings = 8, tiles = 4, bias = true }
behaviour = "uniform"
interest = "all"
runs = 2
steps = 1000
record = ["return"]

[[method]]
algorithm = "ace"
alpha = 0.1
critic = { kind = "tdrc", alpha_v = 0.1 }
[rollouts]
"#;

/// The good experiment with the problem of a file.
fn with_problem_file() -> String {
    replaced(EXPERIMENT, "problem", "problem = \"p.toml\"")
}

/// Files that are too large to be written here, or are hardly files.
fn made() -> Vec<Case> {
    let (top, _) = EXPERIMENT.split_once("[[method]]").expect("it has a method");
    let numbers = (1..=1000).map(|k| f64::from(k) / 1e4).collect::<Vec<_>>();
    let settings = format!(
        "[[method]]\nalgorithm = \"ace\"\nalpha = {numbers:#?}\nlambda_a = {numbers:#?}\n\
         critic = {{ kind = \"gtd\", alpha_v = {numbers:?}, alpha_w = {numbers:?} }}\n"
    );
    let kinds = format!(
        "[[method]]\nalpha = 0.1\ncritic = \"exact\"\nalgorithm = \"ace\"\ninterest = {numbers:#?}\npolicy.weights = [{}]\n",
        (0..1000).map(|k| format!("[{k}, 0, 0, 0],\n")).collect::<String>()
    );
    let words = format!(
        "[[method]]\nalpha = 0.1\ncritic = \"exact\"\nemphasis = {:#?}\nactions = {:#?}\npolicy.kind = {:#?}\n",
        ["none"; 60], ["taken"; 60], ["softmax"; 60]
    );
    let parts = format!(
        "[[method]]\nalpha = 0.1\nalgorithm = \"ace\"\n\
         critic = {{ kind = {:?}, features = {:?}, values = {:?} }}\n",
        ["gq"; 1000], ["actor"; 1000], ["exact"; 1000]
    );
    let behaviours = (1..=101).map(|k| f64::from(k) / 1000.0);
    let behaviours: String = behaviours.map(|x| format!("{{ A0 = {x}, A1 = {} }},\n", 1.0 - x)).collect();
    let problems = format!("interest = {:#?}\nbehaviour = [{behaviours}]\n", (1..=101).collect::<Vec<_>>());
    vec![
        ("a grid of 10^12 settings", format!("{top}{settings}").into()),
        ("a grid of kinds", format!("{top}{kinds}").into()),
        ("the same words many times", format!("{top}{words}").into()),
        ("the same parts inside parts many times", format!("{top}{parts}").into()),
        ("a grid of problems", format!("{problems}{EXPERIMENT}").into()),
        ("no methods", format!("{top}method = []\n").into()),
        ("number for a method", format!("{top}method = [1]\n").into()),
        ("nothing about methods", top.into()),
        ("deep brackets", format!("alpha = {}", "[".repeat(100)).into()),
        ("empty file", "".into()),
        ("only a comment", "# nothing yet\n".into()),
        ("byte order mark alone", "\u{feff}".into()),
        ("bytes that are no text", b"problem = \"\xff\xfe\"\n".into()),
        ("binary", b"\x7fELF\x02\x01\x01\0\0\0".into()),
    ]
}

#[test]
fn wrong_experiments() {
    let mut cases = replaced_in(EXPERIMENT, include_str!("wrong/experiments.txt"));
    cases.extend(replaced_in(CONTINUOUS, include_str!("wrong/real-action.txt")));
    cases.extend(made());
    insta::assert_snapshot!(Bench::empty().messages(&CHECK, "experiment.toml", &cases));
}

#[test]
fn wrong_predictions() {
    let cases = replaced_in(PREDICTION, include_str!("wrong/prediction.txt"));
    insta::assert_snapshot!(Bench::empty().messages(&CHECK, "experiment.toml", &cases));
}

#[test]
fn wrong_simulators() {
    let cases = replaced_in(SIMULATOR, include_str!("wrong/simulators.txt"));
    insta::assert_snapshot!(Bench::empty().messages(&CHECK, "experiment.toml", &cases));
}

#[test]
fn wrong_problems() {
    let mut cases = replaced_in(PROBLEM, include_str!("wrong/problems.txt"));
    let never_ends = PROBLEM.replace("end = true", "to = \"S1\"");
    cases.push(("episodes that never end", never_ends.clone().into()));
    let parted = never_ends.replace(
        "from = \"S2\", action = \"A0\", to = \"S1\"",
        "from = \"S2\", action = \"A0\", to = \"S2\"",
    );
    let parted = parted.replace("reward = 1.0, to = \"S1\"", "to = \"S2\"");
    cases.push(("behaviour that ends in one of two places", parted.into()));
    cases.push(("empty file", "".into()));
    cases.push(("bytes that are no text", b"states = [\"\xff\"]\n".into()));
    insta::assert_snapshot!(Bench::new(&with_problem_file()).messages(&CHECK, "p.toml", &cases));
}

#[test]
fn what_is_no_file() {
    let bench = Bench::empty();
    let missing = bench.message(&CHECK, "missing");
    fs::create_dir(&bench.file).unwrap();
    let directory = bench.message(&CHECK, "directory");
    insta::assert_snapshot!(format!("{missing}{directory}"));
}

/// Chains were once allowed of a length at which a trial of the exact critic took minutes.
#[test]
fn the_largest_problem_is_checked_in_seconds() {
    let large = EXPERIMENT
        .replace("\"counterexample\"", "{ name = \"long-counterexample\", steps = 10000 }")
        .replace("critic = {", "critic = \"exact\" #");
    let start = Instant::now();
    succeeded(Bench::new(&large).ended(&CHECK));
    assert!(start.elapsed() < Duration::from_secs(60));
}

#[test]
fn the_good_files_are_good() {
    // One number stands for all weights.
    let with_weights = replaced(EXPERIMENT, "separate", "policy = { weights = 0.5 }");
    for text in [EXPERIMENT, &with_problem_file(), &with_weights, CONTINUOUS, PREDICTION, SIMULATOR] {
        let bench = Bench::new(text);
        bench.write("p.toml", PROBLEM);
        succeeded(bench.ended(&CHECK));
    }
}

/// λ_a is what the catalogue says if it is left out, as in Python.
#[test]
fn lambda_a_may_be_left_out() {
    let without = replaced(EXPERIMENT, "lambda_a", "").replace("separate = [\"lambda_a\"]", "");
    let results = |text: &str| {
        let bench = Bench::new(text);
        let out = bench.run("out", &["--runs", "1", "--quiet"]);
        fs::read(out.join("results.parquet")).unwrap()
    };
    let given = without.replace("algorithm = \"ace\"", "algorithm = \"ace\"\nlambda_a = 1.0");
    assert_eq!(results(&without), results(&given));
}
