//! Files that no one would write: the reader refuses them or makes sense of them, and never panics or takes long.

use emphatic_lab::Experiment;
use proptest::prelude::*;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

const EXPERIMENTS: [&str; 4] = [
    r#"problem = "counterexample"
behaviour = [{ A0 = 0.5, A1 = 0.5 }, { S0 = { A0 = 0.1, A1 = 0.9 } }]
interest = [1, { S1 = 0.5 }]
seed = 1
runs = 10
episodes = 5000
evaluations = 50
record = ["objective", "target.S1.A0", "rho"]
select = "area"
fresh_runs = 30

[[method]]
algorithm = "ace"
alpha = [0.01, 0.1]
lambda_a = [0, 0.5, 1]
separate = ["lambda_a"]
policy = { probabilities = { A0 = 0.9, A1 = 0.1 } }
critic = { kind = "gtd", alpha_v = [0.01, 0.1], alpha_w = 1e-4, lambda = 0.5 }
"#,
    r#"problem = [{ name = "long-counterexample", steps = [1, 3] }, "counterexample"]
runs = 2
steps = 1000

[[method]]
name = "two kinds"
emphasis = ["none", "exact"]
alpha = 0.1
actions = "all"
subset = 1
interest = 2.0
policy = { kind = "softmax", weights = 0.5 }
critic = ["exact", { kind = ["gq"], features = "states", alpha_v = 0.1, alpha_w = 0.1, alpha_q = 0.1, alpha_h = 0 }]

[[method]]
algorithm = "offpac"
alpha = 0.1
critic = { kind = "advantage", values = "exact", alpha_u = 0.1 }
combinations = [{ alpha = [0.2, 0.3] }, { critic = { alpha_u = 1 } }]
"#,
    r#"problem = "continuous-counterexample"
behaviour = { mean = 1.0, standard_deviation = 0.5 }
runs = 3
episodes = 10
record = ["target.S1", "weights"]

[[method]]
algorithm = ["dpg", "true-dpge"]
name = "both"
alpha = 0.1
critic = "exact"
policy.weights = [[0.1, 0.2], [0.3, 0.4]]
"#,
    r#"runs = 3
problem = ["p.toml", "p.toml"]
episodes = 10

[[method]]
algorithm = "true-ace"
alpha = 0.1
critic = "exact"
"#,
];

const PROBLEM: &str = r#"states = ["S0", "S1", "S2"]
actions = ["A0", "A1"]
start = { S0 = 0.5, S1 = 0.5 }
gamma = 0.9
behaviour = { A0 = 0.25, A1 = 0.75 }
interest = { S0 = 1.0 }
transitions = [
  { from = "S0", action = "A0", to = "S1", probability = 0.5, reward = 1, gamma = 1.0 },
  { from = "S0", action = "A0", to = "S2", probability = 0.5 },
  { from = "S0", action = "A1", to = "S2" },
  { from = "S1", action = "A0", reward = 2.0, end = true },
  { from = "S1", action = "A1", end = true },
  { from = "S2", action = "A0", end = true },
  { from = "S2", action = "A1", reward = 1.0, end = true },
]
features.actor = { S0 = [1, 0], S1 = [0, 1], S2 = [0, 1] }
features.critic = { S0 = [1, 0.5], S1 = [0, 1], S2 = [-1, 1] }
"#;

/// What takes the place of numbers and, now and then, of words.
const EXTREMES: [&str; 26] = [
    "0",
    "-0.0",
    "-1",
    "1.5",
    "1e308",
    "1e400",
    "5e-324",
    "nan",
    "inf",
    "-inf",
    "4294967295",
    "4294967296",
    "9007199254740993",
    "9223372036854775807",
    "18446744073709551615",
    "99999999999999999999999999999999999999999",
    "1000",
    "2001-01-01",
    "true",
    "\"\"",
    "\"\u{1F600}`, expected `\"",
    "[]",
    "[[]]",
    "{}",
    "{ A0 = 1 }",
    "[1, [2, 3]]",
];

/// No file of this size may take longer, on however slow a machine.
const LONGEST: Duration = Duration::from_secs(10);

/// Reads an experiment; one that makes sense is written and read again.
fn read(text: &str, beside: &Path) {
    let start = Instant::now();
    let read = Experiment::parse(text, "experiment.toml", beside);
    assert!(start.elapsed() < LONGEST, "{:?} for {text}", start.elapsed());
    let experiment = match read {
        Ok(experiment) => experiment,
        Err(error) => {
            let mut report = String::new();
            let rendered = miette::NarratableReportHandler::new().render_report(&mut report, &error);
            assert!(rendered.is_ok(), "the place of {error:?} is not in {text}");
            return;
        }
    };
    let settings = experiment.settings();
    assert!(settings > 0, "{text}");
    for setting in [0, settings / 2, settings - 1] {
        assert!(experiment.cells(setting).len() > 1);
        assert!(experiment.method_of(setting) < experiment.methods.len());
    }
    assert_eq!(again(&experiment, beside).identity(), experiment.identity(), "{text}");
    let Ok(more) = experiment.clone().with_runs(123_456) else { return };
    let more = again(&more, beside);
    assert_eq!((more.runs, more.identity()), (123_456, experiment.identity()), "{text}");
}

/// What is read from the files of an experiment.
fn again(experiment: &Experiment, beside: &Path) -> Experiment {
    let dir = beside.join("again");
    fs::create_dir_all(dir.join("problems")).expect("it is made");
    let files = experiment.files();
    for (name, text) in &files {
        fs::write(dir.join(name), text).expect("it is written");
    }
    assert_eq!(files[0].0, "experiment.toml");
    Experiment::open(&dir.join("experiment.toml")).unwrap_or_else(|error| panic!("{error:?}: {}", files[0].1))
}

/// A directory with the good problem file.
fn directory() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a directory");
    fs::write(dir.path().join("p.toml"), PROBLEM).expect("it is written");
    dir
}

/// Reads an experiment beside the good problem file.
fn read_experiment(text: &str) {
    read(text, directory().path());
}

/// Reads a problem file, named by an experiment.
fn read_problem(text: &str, dir: &Path) {
    fs::write(dir.join("p.toml"), text).expect("it is written");
    read(EXPERIMENTS[3], dir);
}

/// Words, numbers, texts; every other character is a token of its own.
fn tokens(text: &str) -> Vec<String> {
    let part = |c: char| c.is_alphanumeric() || "._-\"".contains(c);
    let mut tokens: Vec<String> = Vec::new();
    let mut inside = false;
    for c in text.chars() {
        match tokens.last_mut() {
            Some(last) if inside && part(c) => last.push(c),
            _ => tokens.push(c.to_string()),
        }
        inside = part(c);
    }
    tokens
}

fn lines(text: &str) -> Vec<String> {
    text.lines().map(|line| format!("{line}\n")).collect()
}

fn characters(text: &str) -> Vec<String> {
    text.chars().map(String::from).collect()
}

/// What is done to a part of a file.
#[derive(Clone, Copy, Debug)]
enum Change {
    Delete,
    Double,
    Swap,
    Replace(usize),
}

/// One change of a file: of which parts, which ones, and what is done.
type Mutation = (fn(&str) -> Vec<String>, prop::sample::Index, prop::sample::Index, Change);

fn mutation() -> impl Strategy<Value = Mutation> {
    let parts = prop::sample::select(vec![
        tokens as fn(&str) -> Vec<String>,
        lines as fn(&str) -> Vec<String>,
        characters as fn(&str) -> Vec<String>,
    ]);
    let change = prop_oneof![
        Just(Change::Delete),
        Just(Change::Double),
        Just(Change::Swap),
        (0..EXTREMES.len()).prop_map(Change::Replace),
    ];
    (parts, any::<prop::sample::Index>(), any::<prop::sample::Index>(), change)
}

fn mutated(text: &str, mutations: &[Mutation]) -> String {
    mutations.iter().fold(text.to_owned(), |text, (parts, first, second, change)| {
        let mut parts = parts(&text);
        if parts.is_empty() {
            return text;
        }
        let (first, second) = (first.index(parts.len()), second.index(parts.len()));
        match *change {
            Change::Delete => drop(parts.remove(first)),
            Change::Double => parts.insert(second, parts[first].clone()),
            Change::Swap => parts.swap(first, second),
            Change::Replace(k) => parts[first] = EXTREMES[k].to_owned(),
        }
        parts.concat()
    })
}

fn cases(n: u32) -> ProptestConfig {
    // What was found is kept as a case of its own, not in a file of seeds.
    ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(n) }
}

proptest! {
    #![proptest_config(cases(1000))]

    #[test]
    fn any_text_is_read_or_refused(text in "\\PC*") {
        let dir = directory();
        read(&text, dir.path());
        read_problem(&text, dir.path());
    }

    #[test]
    fn any_text_of_toml_is_read_or_refused(text in "([a-z_]{1,8}( = )?[\\[\\]{}\"'0-9.,=\n#é-]{0,9}\n?){0,12}") {
        let dir = directory();
        read(&text, dir.path());
        read_problem(&text, dir.path());
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("experiment.toml");
        fs::write(&path, bytes).expect("it is written");
        prop_assert!(Experiment::open(&path).is_err());
    }

    #[test]
    fn changed_experiments_are_read_or_refused(
        file in prop::sample::select(EXPERIMENTS.to_vec()),
        mutations in prop::collection::vec(mutation(), 1..5),
    ) {
        read_experiment(&mutated(file, &mutations));
    }

    #[test]
    fn changed_problems_are_read_or_refused(mutations in prop::collection::vec(mutation(), 1..5)) {
        read_problem(&mutated(PROBLEM, &mutations), directory().path());
    }
}

/// Puts every extreme in the place of every number.
fn with_extremes(good: &str, read: impl Fn(&str)) {
    let tokens = tokens(good);
    for (k, token) in tokens.iter().enumerate() {
        if !token.starts_with(|c: char| c.is_ascii_digit()) {
            continue;
        }
        for extreme in EXTREMES {
            let mut changed = tokens.clone();
            changed[k] = extreme.to_owned();
            read(&changed.concat());
        }
    }
}

#[test]
fn the_good_files_are_good() {
    for file in EXPERIMENTS {
        let dir = directory();
        if let Err(error) = Experiment::parse(file, "experiment.toml", dir.path()) {
            panic!("{:?}", miette::Report::new(error));
        }
        read(file, dir.path());
    }
}

#[test]
fn extreme_numbers_are_read_or_refused() {
    let dir = directory();
    for file in EXPERIMENTS {
        with_extremes(file, |text| read(text, dir.path()));
    }
    with_extremes(PROBLEM, |text| read_problem(text, dir.path()));
}

#[test]
fn long_lists_are_read_or_refused() {
    let list = |n: usize| format!("{:?}", (0..n).map(|k| k as f64 / n as f64).collect::<Vec<_>>());
    for n in [1000, 30_000] {
        for key in ["0.1", "[0.01, 0.1]", "[0, 0.5, 1]", "1e-4"] {
            read_experiment(&EXPERIMENTS[0].replace(key, &list(n)));
        }
        read_experiment(&EXPERIMENTS[2].replace("[[0.1, 0.2], [0.3, 0.4]]", &list(n)));
        read_experiment(&EXPERIMENTS[0].replace("[1, { S1 = 0.5 }]", &list(n)));
        let records = format!("record = [{}]", "\"objective\", ".repeat(n));
        read_experiment(&EXPERIMENTS[1].replace("steps = 1000", &format!("steps = 1000\n{records}")));
    }
}

/// Brackets within brackets once filled the stack of readers like this.
#[test]
fn deep_brackets_are_refused() {
    for n in [100, 10_000, 1_000_000] {
        for (open, close) in [("[", "]"), ("{ a = ", " }")] {
            let deep = format!("{}1{}", open.repeat(n), close.repeat(n));
            read_experiment(&EXPERIMENTS[0].replace("[0.01, 0.1]", &deep));
            read_problem(&PROBLEM.replace("0.9", &deep), directory().path());
        }
        read_experiment(&format!("{} = 1", vec!["a"; n].join(".")));
    }
}
