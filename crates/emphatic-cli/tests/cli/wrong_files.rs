//! Wrong experiment files: the message about each.
//!
//! A file that is wrong ends with code 1 and a message that points at the place. The snapshots hold all messages, to be
//! read as a user reads them.

use crate::common::{self, ended_in, message, messages_in, succeeded};
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

/// The name of a case, the beginning of a line of the good file, and what replaces that line.
type Case<'a> = (&'a str, &'a str, &'a str);

const CRITIC: &str = "critic = {";

const EXPERIMENTS: &[Case] = &[
    // Keys.
    ("unknown key", "seed", "sed = 1"),
    ("unknown key like none", "seed", "colour = 1"),
    ("unknown key in a method", "alpha", "alfa = 0.1"),
    (
        "unknown key in a critic",
        CRITIC,
        r#"critic = { kind = "gtd", alpha_v = 0.1, alpha_w = 0.1, lamda = 0 }"#,
    ),
    ("unknown key in a policy", "separate", "policy = { wieghts = 0 }"),
    ("unknown key in a problem", "problem", r#"problem = { name = "long-counterexample", step = 3 }"#),
    ("problem without a name", "problem", "problem = { steps = 3 }"),
    ("key of a method at the top", "seed", "alpha = 0.1"),
    ("British and American", "seed", "behavior = { A0 = 0.5, A1 = 0.5 }"),
    // Types.
    ("text for a number", "alpha", r#"alpha = "0.1""#),
    ("text in a list of numbers", "alpha", r#"alpha = [0.1, "0.2"]"#),
    ("number for a name", "algorithm", "algorithm = 5"),
    ("number for a critic", CRITIC, "critic = 5"),
    ("number for a problem", "problem", "problem = 5"),
    ("true for a number", "alpha", "alpha = true"),
    ("true for a name", "algorithm", "algorithm = true"),
    ("date for a number", "alpha", "alpha = 2001-01-01"),
    ("date for a whole number", "runs", "runs = 2001-01-01T10:00:00"),
    ("date for a critic", CRITIC, "critic = 2001-01-01"),
    ("date for a name", "algorithm", "algorithm = 2001-01-01"),
    ("date for an interest", "seed", "interest = 2001-01-01"),
    ("list of lists", "alpha", "alpha = [[0.1, 0.2], [0.3]]"),
    ("table for a number", "alpha", "alpha = { from = 0.1, to = 0.2 }"),
    ("dotted key for a number", "alpha", "alpha.first = 0.1"),
    ("list for a table", "separate", "policy = [1, 2]"),
    ("text for a list", "record", r#"record = "objective""#),
    ("number in a list of names", "record", "record = [1]"),
    ("single brackets", "[[method]]", "[method]"),
    ("fraction for a whole number", "runs", "runs = 1.5"),
    ("text for a whole number", "runs", r#"runs = "ten""#),
    ("text in an interest", "seed", r#"interest = { S0 = "much" }"#),
    ("text in a behaviour", "seed", r#"behaviour = { A0 = "often", A1 = 0.5 }"#),
    // Numbers.
    ("empty list", "alpha", "alpha = []"),
    ("empty list of problems", "problem", "problem = []"),
    ("nan", "alpha", "alpha = [0.1, nan]"),
    ("infinite", "alpha", "alpha = inf"),
    ("negative step-size", "alpha", "alpha = -0.1"),
    ("float beyond all floats", "alpha", "alpha = 1e999"),
    ("lambda_a beyond 1", "lambda_a", "lambda_a = [0, 1.5]"),
    ("lambda below 0", CRITIC, r#"critic = { kind = "gtd", alpha_v = 0.1, alpha_w = 0.1, lambda = -1 }"#),
    ("no runs", "runs", "runs = 0"),
    ("negative runs", "runs", "runs = -3"),
    ("list of runs", "runs", "runs = [10, 20]"),
    ("too many runs", "runs", "runs = 5_000_000_000"),
    ("negative seed", "seed", "seed = -1"),
    ("seed of 65 bits", "seed", "seed = 18446744073709551616"),
    ("seed beyond 128 bits", "seed", "seed = 999999999999999999999999999999999999999999"),
    ("too many episodes", "episodes", "episodes = 18446744073709551615"),
    ("no evaluations", "evaluations", "evaluations = 0"),
    ("more evaluations than episodes", "evaluations", "evaluations = 5001"),
    ("both episodes and steps", "seed", "steps = 100"),
    ("neither episodes nor steps", "episodes", ""),
    // Names.
    ("unknown problem", "problem", r#"problem = "counter-example""#),
    ("unknown problem like none", "problem", r#"problem = "cartpole""#),
    ("problem file that is missing", "problem", r#"problem = "missing.toml""#),
    ("steps of a problem without", "problem", r#"problem = { name = "counterexample", steps = 3 }"#),
    ("chains of no length", "problem", r#"problem = { name = "long-counterexample", steps = 0 }"#),
    (
        "chains too long",
        "problem",
        r#"problem = { name = "long-counterexample", steps = [5, 1_000_000_000] }"#,
    ),
    ("unknown algorithm", "algorithm", r#"algorithm = "acee""#),
    ("unknown algorithm like none", "algorithm", r#"algorithm = "sarsa""#),
    ("unknown critic", CRITIC, r#"critic = "exactly""#),
    ("unknown critic in a table", CRITIC, r#"critic = { kind = "td" }"#),
    ("unknown select", "seed", r#"select = "last""#),
    ("unknown quantity", "record", r#"record = ["objectiv"]"#),
    ("unknown quantity like none", "record", r#"record = ["regret"]"#),
    ("unknown state in record", "record", r#"record = ["target.S9.A0"]"#),
    ("unknown action in record", "record", r#"record = ["target.S1.A9"]"#),
    ("nothing in record", "record", "record = []"),
    ("twice in record", "record", r#"record = ["target.S1", "target.S1.A0"]"#),
    ("unknown state in behaviour", "seed", "behaviour = { S9 = { A0 = 0.5, A1 = 0.5 } }"),
    ("unknown action in behaviour", "seed", "behaviour = { A0 = 0.5, B1 = 0.5 }"),
    ("behaviour that sums to more than 1", "seed", "behaviour = { A0 = 0.5, A1 = 0.6 }"),
    ("behaviour below 0", "seed", "behaviour = { A0 = -0.5, A1 = 1.5 }"),
    ("behaviour in percent", "seed", "behaviour = { A0 = 50, A1 = 50 }"),
    ("behaviour with numbers beside tables", "seed", "behaviour = { A0 = 0.5, S0 = { A1 = 1 } }"),
    ("unknown state in interest", "seed", "interest = { S0 = 1, S7 = 1 }"),
    ("interest below 0", "seed", "interest = { S0 = -1 }"),
    ("interest that is nan", "seed", "interest = nan"),
    ("unknown state in a method's interest", "separate", "interest = { T = 1 }"),
    ("unknown action in probabilities", "separate", "policy = { probabilities = { A0 = 0.5, A2 = 0.5 } }"),
    // What a method has and needs.
    ("no algorithm", "algorithm", ""),
    ("algorithm and emphasis", "separate", r#"emphasis = "none""#),
    ("no critic", CRITIC, ""),
    ("critic without a kind", CRITIC, "critic = { alpha_v = 0.1 }"),
    ("no alpha", "alpha", ""),
    ("settings of an unknown emphasis", "algorithm", r#"emphasis = { kind = "truncated", n = 3 }"#),
    ("unknown setting of an emphasis", "algorithm", r#"emphasis = { kind = "follow-on", lamda_a = 0.9 }"#),
    ("lambda_a twice", "algorithm", r#"emphasis = { kind = "follow-on", lambda_a = 0.9 }"#),
    ("emphasis without a kind", "algorithm", "emphasis = { lambda_a = 0.9 }"),
    ("text for a setting", CRITIC, r#"critic = { kind = "gtd", alpha_v = "fast", alpha_w = 0.1 }"#),
    ("table for a setting", CRITIC, r#"critic = { kind = "gtd", alpha_v = { a = 1 }, alpha_w = 0.1 }"#),
    (
        "number for an inner critic",
        CRITIC,
        r#"critic = { kind = "gq", values = 1, alpha_q = 0.1, alpha_h = 0.1 }"#,
    ),
    (
        "inner critic that compares actions",
        CRITIC,
        r#"critic = { kind = "gq", values = "advantage", alpha_q = 0.1, alpha_h = 0.1, alpha_u = 1 }"#,
    ),
    (
        "settings of an inner critic in both places",
        CRITIC,
        r#"critic = { kind = "gq", values = { kind = "gtd", alpha_v = 1 }, alpha_w = 1, alpha_q = 1, alpha_h = 1 }"#,
    ),
    // Once the inner critic was blamed, which nobody had written.
    (
        "typo beside an inner critic",
        CRITIC,
        r#"critic = { kind = "gq", alpha_qq = 0.1, alpha_h = 0.1, alpha_v = 1, alpha_w = 1 }"#,
    ),
    ("features of none", "algorithm", r#"emphasis = { kind = "none", featurs = "actor" }"#),
    ("kind twice", CRITIC, r#"critic = { kind = ["exact", "exact"] }"#),
    ("algorithm twice", "algorithm", r#"algorithm = ["ace", "ace"]"#),
    ("two names", "separate", r#"name = ["a", "b"]"#),
    (
        "unknown features",
        CRITIC,
        r#"critic = { kind = "gtd", alpha_v = 1, alpha_w = 1, features = "pixels" }"#,
    ),
    (
        "critic of slopes for a softmax",
        CRITIC,
        r#"critic = { kind = "compatible", alpha_v = 1, alpha_u = 1, alpha_h = 1 }"#,
    ),
    ("unknown policy", "separate", r#"policy = { kind = "softmx" }"#),
    ("no alpha_v", CRITIC, r#"critic = { kind = "gtd", alpha_w = 0.1 }"#),
    ("critic in a word that needs settings", CRITIC, r#"critic = "gtd""#),
    ("no alpha_u", CRITIC, r#"critic = { kind = "advantage", alpha_v = 0.1, alpha_w = 0.1 }"#),
    ("alpha_v of the exact critic", CRITIC, r#"critic = { kind = "exact", alpha_v = 0.1 }"#),
    ("features of the exact critic", CRITIC, r#"critic = { kind = "exact", features = "actor" }"#),
    ("values of gtd", CRITIC, r#"critic = { kind = "gtd", alpha_v = 0.1, alpha_w = 0.1, values = "exact" }"#),
    ("lambda_a of offpac", "algorithm", r#"algorithm = "offpac""#),
    ("dpg on named actions", "algorithm", r#"algorithm = "dpg""#),
    ("gaussian on named actions", "separate", r#"policy = { kind = "gaussian" }"#),
    ("all actions with gtd", "separate", r#"actions = "all""#),
    ("subset of the action taken", "separate", "subset = 1"),
    (
        "both weights and probabilities",
        "separate",
        "policy = { weights = 0, probabilities = { A0 = 0.5, A1 = 0.5 } }",
    ),
    ("wrong number of weights", "separate", "policy = { weights = [0, 1, 2] }"),
    ("no weights", "separate", "policy = { weights = [] }"),
    ("weights that are nan", "separate", "policy = { weights = nan }"),
    ("text for weights", "separate", r#"policy = { weights = "zero" }"#),
    ("probabilities with a 0", "separate", "policy = { probabilities = { A0 = 0, A1 = 1 } }"),
    (
        "probabilities that sum to less than 1",
        "separate",
        "policy = { probabilities = { A0 = 0.5, A1 = 0.4 } }",
    ),
    ("separate names nothing", "separate", r#"separate = ["lambda_b"]"#),
    ("separate names what it does not have", "separate", r#"separate = ["alpha_u"]"#),
    ("no combinations", "separate", "combinations = []"),
    ("combination with a name", "separate", r#"combinations = [{ name = "x", alpha = 1 }]"#),
    ("wrong value in a combination", "separate", "combinations = [{ alpha = 1 }, { lambda_a = 2 }]"),
    ("empty name", "separate", r#"name = " ""#),
    (
        "two methods of one name",
        "separate",
        "critic = \"exact\"\n[[method]]\nalgorithm = \"ace\"\nalpha = 1\nlambda_a = 0",
    ),
    ("fresh runs without the objective", "record", "record = [\"rho\"]\nfresh_runs = 5"),
    // Syntax.
    ("unclosed bracket", "alpha", "alpha = [0.01, 0.1"),
    ("unclosed brace", CRITIC, r#"critic = { kind = "gtd", alpha_v = 0.1"#),
    ("unclosed quotation mark", "problem", r#"problem = "counterexample"#),
    ("no quotation marks", "algorithm", "algorithm = ace"),
    ("no value", "alpha", "alpha ="),
    ("no equals sign", "alpha", "alpha 0.1"),
    ("same key twice", "seed", "seed = 1\nseed = 2"),
    ("comma for a point", "alpha", "alpha = 0,1"),
    ("unicode before the error", "seed", r#"interest = { "λ→é中😀" = 1 } # 中文"#),
    ("unicode in the same line", "lambda_a", r#"lambda_a = { "日本語😀" = 1, é = 2 }"#),
];

const PROBLEMS: &[Case] = &[
    ("unknown key", "gamma", "gama = 1.0"),
    (
        "unknown key in a transition",
        r#"  { from = "S0", action = "A1""#,
        r#"  { from = "S0", action = "A1", too = "S2" },"#,
    ),
    ("no states", "states", ""),
    ("empty list of states", "states", "states = []"),
    ("empty list of actions", "actions", "actions = []"),
    ("two states of one name", "states", r#"states = ["S0", "S1", "S2", "S1"]"#),
    ("two actions of one name", "actions", r#"actions = ["A0", "A1", "A1"]"#),
    ("number for a state", "states", "states = [1, 2, 3]"),
    ("unknown number for the start", "start", "start = 9"),
    ("list for the start", "start", r#"start = ["S0"]"#),
    ("unknown start", "start", r#"start = "S3""#),
    ("start that sums to less than 1", "start", "start = { S0 = 0.5, S1 = 0.4 }"),
    ("start that is nan", "start", "start = { S0 = nan }"),
    ("no start", "start", "start = {}"),
    ("gamma beyond 1", "gamma", "gamma = 1.5"),
    ("no behaviour", "behaviour", ""),
    ("behaviour that sums to more than 1", "behaviour", "behaviour = { A0 = 0.5, A1 = 0.75 }"),
    ("unknown action in behaviour", "behaviour", "behaviour = { A0 = 0.5, A7 = 0.5 }"),
    ("unknown state in interest", "gamma", "interest = { S8 = 1.0 }"),
    (
        "unknown state in a transition",
        r#"  { from = "S0", action = "A1""#,
        r#"  { from = "S0", action = "A1", to = "T2" },"#,
    ),
    (
        "unknown action in a transition",
        r#"  { from = "S0", action = "A1""#,
        r#"  { from = "S0", action = "left", to = "S2" },"#,
    ),
    (
        "transition that leads nowhere",
        r#"  { from = "S0", action = "A1""#,
        r#"  { from = "S0", action = "A1" },"#,
    ),
    (
        "transition to a state and the end",
        r#"  { from = "S0", action = "A1""#,
        r#"  { from = "S0", action = "A1", to = "S1", end = true },"#,
    ),
    (
        "end with a gamma",
        r#"  { from = "S1", action = "A1""#,
        r#"  { from = "S1", action = "A1", end = true, gamma = 0.5 },"#,
    ),
    (
        "text for true",
        r#"  { from = "S1", action = "A1""#,
        r#"  { from = "S1", action = "A1", end = "yes" },"#,
    ),
    ("transition from nowhere", r#"  { from = "S1", action = "A1""#, r#"  { action = "A1", end = true },"#),
    ("action that is missing", r#"  { from = "S1", action = "A1""#, ""),
    (
        "transitions that sum to less than 1",
        r#"  { from = "S0", action = "A1""#,
        r#"  { from = "S0", action = "A1", to = "S2", probability = 0.5 },"#,
    ),
    (
        "negative probability",
        r#"  { from = "S0", action = "A1""#,
        r#"  { from = "S0", action = "A1", to = "S2", probability = -1 },"#,
    ),
    (
        "infinite reward",
        r#"  { from = "S1", action = "A0""#,
        r#"  { from = "S1", action = "A0", reward = inf, end = true },"#,
    ),
    (
        "features of an unknown state",
        "features",
        "features.actor = { S0 = [1], S1 = [1], S2 = [1], S3 = [1] }",
    ),
    ("features of some states", "features", "features.actor = { S0 = [1], S1 = [1] }"),
    ("features of different lengths", "features", "features.actor = { S0 = [1, 0], S1 = [0], S2 = [0, 1] }"),
    ("features that are nan", "features", "features.critic = { S0 = [nan], S1 = [1], S2 = [1] }"),
    ("number for features", "features", "features.critic = { S0 = 1, S1 = [1], S2 = [1] }"),
    ("features that do not exist", "features", "features.policy = { S0 = [1], S1 = [1], S2 = [1] }"),
    ("unclosed bracket", "]", ""),
    ("same key twice", "gamma", "gamma = 1\ngamma = 1"),
];

/// An experiment in which the action is a number.
const CONTINUOUS: &str = r#"problem = "continuous-counterexample"
runs = 1
episodes = 10
[[method]]
algorithm = "dpg"
alpha = 0.1
critic = "exact"
"#;

const CONTINUOUS_CASES: &[Case] = &[
    (
        "gq on a real action",
        "algorithm",
        "algorithm = \"offpac\"\ncritic = { kind = \"gq\", alpha_v = 0.1, alpha_w = 0.1, alpha_q = 0.1, alpha_h = 0.1 }\nalpha = 0.1\n[[method]]\nalgorithm = \"dpg\"",
    ),
    ("several algorithms, no name", "algorithm", r#"algorithm = ["dpg", "true-dpge"]"#),
    ("the action taken with dpg", "alpha", "alpha = 0.1\nactions = \"taken\""),
    ("gtd with dpg", "critic", r#"critic = { kind = "gtd", alpha_v = 0.1, alpha_w = 0.1 }"#),
    (
        "follow-on trace of a deterministic policy",
        "algorithm",
        "emphasis = \"follow-on\"\npolicy.kind = \"deterministic\"",
    ),
    ("softmax on a real action", "alpha", "policy = { kind = \"softmax\" }"),
    ("gaussian dpg", "alpha", "policy = { kind = \"gaussian\" }"),
    ("all real actions", "alpha", "actions = \"all\""),
    (
        "probabilities of real actions",
        "critic",
        "critic = \"exact\"\npolicy = { probabilities = { A0 = 1 } }",
    ),
    ("action of a real action", "runs", "runs = 1\nrecord = [\"target.S1.A0\"]"),
    ("behaviour with names for a real action", "runs", "runs = 1\nbehaviour = { A0 = 0.5, A1 = 0.5 }"),
    ("behaviour with no width", "runs", "runs = 1\nbehaviour = { mean = 1, standard_deviation = 0 }"),
    (
        "behaviour with more than two numbers",
        "runs",
        "runs = 1\nbehaviour = { mean = 1, standard_deviation = 1, skew = 1 }",
    ),
];

/// The good file with one line replaced.
fn replaced(good: &str, (_, line, with): &Case) -> Vec<u8> {
    common::replaced(good, line, with).into_bytes()
}

/// Returns the messages about files with these texts, one below the other.
fn messages(cases: &[(&str, Vec<u8>)], file: &str) -> String {
    let dir = tempfile::tempdir().expect("a directory");
    let experiment = replaced(EXPERIMENT, &("", "problem", "problem = \"p.toml\""));
    fs::write(dir.path().join("experiment.toml"), experiment).expect("it is written");
    messages_in(dir.path(), file, cases.iter().map(|(name, text)| (*name, text)), &CHECK)
}

/// Files that are too large to be written here, or are hardly files.
fn made() -> Vec<(&'static str, Vec<u8>)> {
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
    let problems =
        format!("interest = {:#?}\nbehaviour = [{}]\n", [1; 101], "{ A0 = 0.5, A1 = 0.5 },\n".repeat(101));
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
    let mut cases: Vec<(&str, Vec<u8>)> = Vec::new();
    cases.extend(EXPERIMENTS.iter().map(|case| (case.0, replaced(EXPERIMENT, case))));
    cases.extend(CONTINUOUS_CASES.iter().map(|case| (case.0, replaced(CONTINUOUS, case))));
    cases.extend(made());
    insta::assert_snapshot!(messages(&cases, "experiment.toml"));
}

#[test]
fn wrong_problems() {
    let mut cases: Vec<(&str, Vec<u8>)> = Vec::new();
    cases.extend(PROBLEMS.iter().map(|case| (case.0, replaced(PROBLEM, case))));
    let never_ends = PROBLEM.replace("end = true", "to = \"S1\"");
    cases.push(("episodes that never end", never_ends.clone().into_bytes()));
    let parted = never_ends.replace(
        "from = \"S2\", action = \"A0\", to = \"S1\"",
        "from = \"S2\", action = \"A0\", to = \"S2\"",
    );
    let parted = parted.replace("reward = 1.0, to = \"S1\"", "to = \"S2\"");
    cases.push(("behaviour that ends in one of two places", parted.into_bytes()));
    cases.push(("empty file", Vec::new()));
    cases.push(("bytes that are no text", b"states = [\"\xff\"]\n".to_vec()));
    insta::assert_snapshot!(messages(&cases, "p.toml"));
}

#[test]
fn what_is_no_file() {
    let dir = tempfile::tempdir().expect("a directory");
    let missing = message(dir.path(), &CHECK, "missing");
    fs::create_dir(dir.path().join("experiment.toml")).expect("it is made");
    let directory = message(dir.path(), &CHECK, "directory");
    insta::assert_snapshot!(format!("{missing}{directory}"));
}

/// Chains were once allowed of a length at which a trial of the exact critic took minutes.
#[test]
fn the_largest_problem_is_checked_in_seconds() {
    let dir = tempfile::tempdir().expect("a directory");
    let large = EXPERIMENT
        .replace("\"counterexample\"", "{ name = \"long-counterexample\", steps = 10000 }")
        .replace("critic = {", "critic = \"exact\" #");
    fs::write(dir.path().join("experiment.toml"), large).expect("it is written");
    let start = Instant::now();
    succeeded(ended_in(dir.path(), CHECK));
    assert!(start.elapsed() < Duration::from_secs(60));
}

#[test]
fn the_good_files_are_good() {
    let dir = tempfile::tempdir().expect("a directory");
    fs::write(dir.path().join("p.toml"), PROBLEM).expect("it is written");
    let with_file = replaced(EXPERIMENT, &("", "problem", "problem = \"p.toml\""));
    // One number stands for all weights.
    let with_weights = replaced(EXPERIMENT, &("", "separate", "policy = { weights = 0.5 }"));
    for text in [EXPERIMENT.into(), with_file, with_weights, CONTINUOUS.into()] {
        fs::write(dir.path().join("experiment.toml"), text).expect("it is written");
        succeeded(ended_in(dir.path(), CHECK));
    }
}

/// λ_a is what the catalogue says if it is left out, as in Python.
#[test]
fn lambda_a_may_be_left_out() {
    let dir = tempfile::tempdir().unwrap();
    let without = String::from_utf8(replaced(EXPERIMENT, &("", "lambda_a", ""))).unwrap();
    let without = without.replace("separate = [\"lambda_a\"]", "").replace("runs = 30", "runs = 1");
    let results = |name: &str, text: &str| {
        let file = format!("{name}.toml");
        fs::write(dir.path().join(&file), text).unwrap();
        succeeded(ended_in(dir.path(), ["run", &file, "--runs", "1", "--quiet", "--out", name]));
        fs::read(dir.path().join(name).join("results.parquet")).unwrap()
    };
    let given = without.replace("algorithm = \"ace\"", "algorithm = \"ace\"\nlambda_a = 0.9");
    assert_eq!(results("without", &without), results("given", &given));
}
