//! Experiment files that nobody would write: they are read or refused, without a panic and soon.

#[path = "../../emphatic-problems/tests/fuzz/mutation.rs"]
mod mutation;

use emphatic_lab::Experiment;
use mutation::{cases, mutated, mutation, read_in_time, with_extremes};
use proptest::prelude::*;
use std::fs;
use std::path::Path;

const EXPERIMENTS: [&str; 5] = [
    include_str!("fuzz/counterexample.toml"),
    include_str!("fuzz/two-problems.toml"),
    include_str!("fuzz/real-action.toml"),
    include_str!("fuzz/problem-file.toml"),
    include_str!("fuzz/prediction.toml"),
];

const PROBLEM: &str = include_str!("fuzz/p.toml");

/// Reads an experiment; one that makes sense is written and read again.
fn read(text: &str, beside: &Path) {
    let parse = || Experiment::parse(text, "experiment.toml", beside);
    let Some(experiment) = read_in_time(text, parse) else { return };
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

/// Writes the files of an experiment and reads them.
fn again(experiment: &Experiment, beside: &Path) -> Experiment {
    let dir = beside.join("again");
    fs::create_dir_all(dir.join("problems")).expect("it is made");
    let files = experiment.files();
    for (name, text) in &files {
        fs::write(dir.join(name), text).expect("it is written");
    }
    assert_eq!(files[0].0, "experiment.toml");
    Experiment::open(&dir.join("experiment.toml"))
        .unwrap_or_else(|error| panic!("{error:?}: {}", files[0].1.escape_ascii()))
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
        with_extremes(file, |c| c.is_ascii_digit(), false, |text| read(text, dir.path()));
    }
    with_extremes(PROBLEM, |c| c.is_ascii_digit(), false, |text| read_problem(text, dir.path()));
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
