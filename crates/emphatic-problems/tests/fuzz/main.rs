//! Problem files that no one would write: the reader refuses them or makes sense of them, and never panics or takes long.

mod mutation;

use emphatic::KnownProblem;
use emphatic_problems::{ProblemFile, SHIPPED};
use mutation::{cases, mutated, mutation, read_in_time, with_extremes};
use proptest::prelude::*;
use std::time::{Duration, Instant};

/// A problem in JSON that uses every key of a listed problem.
const JSON: &str = r#"{
  "states": ["S0", "S1", "\u00e4:\"\\"],
  "actions": ["A0", "A1"],
  "start": {"S0": 0.5, "S1": 0.5},
  "gamma": 0.9,
  "behaviour": {"S0": {"A0": 0.25, "A1": 0.75}},
  "target": {"S0": {"A0": 0.9, "A1": 0.1}},
  "interest": {"S0": 1.0, "S1": 0.5},
  "transitions": [
    {"from": "S0", "action": "A0", "to": ["S1", 2], "probability": 0.5, "reward": -1},
    {"from": "S0", "action": "A0", "end": true, "probability": 0.5, "reward": 1e-3},
    {"from": "S0", "action": "A1", "to": 2, "gamma": 0.5},
    {"from": ["S1", 2], "action": "A0", "reward": 2.5, "end": true},
    {"from": ["S1", 2], "action": "A1", "to": "S0", "end": false}
  ],
  "features": {"actor": {"alias": [["S1", 2]]}, "critic": {"S0": [1, 0], "S1": [0, 1], "ä:\"\\": [0.5, 0.5]}}
}
"#;

/// A grid and a chain in JSON.
const PATTERNS: [&str; 2] = [
    r##"{"start": "r0c0", "behaviour": "uniform", "target": {"weights": [0, 0, 0, 0]},
         "grid": {"rows": 2, "columns": 2, "places": {"G": "r1c1", "L": "r0c1", "#": "r1c0"},
                  "cells": {"L": {"reward": -1, "end": true, "enter": {"reward": 1, "gamma": 0}}}, "slip": 0.1, "step_reward": -0.01},
         "features": {"actor": {"blocks": 2}, "critic": {"random_binary": {"features": 3, "ones": 2, "seed": 1}}}}"##,
    r#"{"behaviour": {"left": 0.5, "right": 0.5}, "target": {"shortest_path": "2"}, "chain": {"states": 3, "left": {"end": true}, "slip": 0.1}}"#,
];

/// Reads a problem, as TOML or as JSON.
fn read(text: &str, name: &str) -> Option<ProblemFile> {
    let problem = read_in_time(text, || ProblemFile::parse(text, name))?;
    makes_sense(&problem);
    Some(problem)
}

/// Probabilities are probabilities.
fn makes_sense(problem: &ProblemFile) {
    let KnownProblem::Finite(task) = &problem.known else { return };
    let is_one = |sum: f64| (sum - 1.0).abs() < 1e-6;
    assert!(is_one(task.stationary().iter().sum()), "{}", problem.text);
    for s in 0..task.states() {
        assert!(is_one(task.behaviour(s).iter().sum()), "{}", problem.text);
        for a in 0..task.actions() {
            let ways = task.problem().transitions(s, a);
            assert!(is_one(ways.iter().map(|t| t.probability).sum()), "{}", problem.text);
            let fine = |t: &emphatic::Transition| {
                t.next < task.states() && t.reward.is_finite() && (0.0..=1.0).contains(&t.gamma)
            };
            assert!(ways.iter().all(fine), "{}", problem.text);
        }
    }
}

fn read_both(text: &str) {
    read(text, "p.toml");
    read(text, "p.json");
}

/// The files that are changed, with their names. The large grid takes a second each time.
fn files() -> Vec<(&'static str, &'static str)> {
    let shipped = SHIPPED.iter().filter(|shipped| shipped.name != "large-grid");
    let mut files: Vec<_> = shipped.map(|shipped| (shipped.text, "p.toml")).collect();
    files.push((JSON, "p.json"));
    files.extend(PATTERNS.map(|text| (text, "p.json")));
    files
}

/// Any JSON, with words of problem files here and there.
fn any_json() -> impl Strategy<Value = serde_json::Value> {
    let word = || {
        let words = "states actions start transitions from to end grid map S0 uniform".split(' ');
        prop_oneof![prop::sample::select(words.map(str::to_owned).collect::<Vec<_>>()), "\\PC{0,5}"]
    };
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        (-5..1000i64).prop_map(Into::into),
        any::<f64>().prop_map(Into::into),
        word().prop_map(Into::into),
    ];
    leaf.prop_recursive(4, 30, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Into::into),
            prop::collection::btree_map(word(), inner, 0..6)
                .prop_map(|table| serde_json::Value::Object(table.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(cases(2000))]

    #[test]
    fn any_text_is_read_or_refused(text in "\\PC*") {
        read_both(&text);
    }

    #[test]
    fn any_text_of_toml_is_read_or_refused(text in "([a-z_]{1,8}( = )?[\\[\\]{}\"'0-9.,=\n#é-]{0,9}\n?){0,12}") {
        read_both(&text);
    }

    #[test]
    fn any_text_like_json_is_read_or_refused(text in "[\\[{]([\\[\\]{}\",:\\\\0-9ntfué \n\r\t.eE+-]|\"[a-z]{1,6}\":){0,40}") {
        read_both(&text);
    }

    #[test]
    fn any_json_is_read_or_refused(value in any_json(), pretty in any::<bool>()) {
        read(&if pretty { format!("{value:#}") } else { value.to_string() }, "p.json");
    }

    #[test]
    fn any_json_in_the_place_of_a_key_is_read_or_refused(
        value in any_json(),
        file in prop::sample::select([JSON, PATTERNS[0], PATTERNS[1]].to_vec()),
        key in any::<prop::sample::Index>(),
    ) {
        let mut all: serde_json::Value = serde_json::from_str(file).expect("it is JSON");
        let keys: Vec<String> = all.as_object().expect("a table").keys().cloned().collect();
        all[key.get(&keys)] = value;
        read(&all.to_string(), "p.json");
    }

    #[test]
    fn changed_problems_are_read_or_refused(
        (text, name) in prop::sample::select(files()),
        mutations in prop::collection::vec(mutation(), 1..5),
    ) {
        read(&mutated(text, &mutations), name);
    }
}

/// Extremes replace every number and every quoted word.
#[test]
fn extremes_are_read_or_refused() {
    for (file, name) in files() {
        // All of them together take long.
        with_extremes(file, |c| c.is_ascii_digit() || c == '"', true, |text| drop(read(text, name)));
    }
}

#[test]
fn the_good_files_are_good() {
    for (file, name) in files() {
        if let Err(error) = ProblemFile::parse(file, name) {
            panic!("{:?}", miette::Report::new(error));
        }
        read(file, name);
    }
}

/// Brackets within brackets once filled the stack of readers like this.
#[test]
fn deep_brackets_are_refused() {
    for n in [100, 10_000, 1_000_000] {
        for (open, close) in [("[", "]"), ("{ a = ", " }"), ("{\"a\":", "}")] {
            let deep = format!("{}1{}", open.repeat(n), close.repeat(n));
            assert!(read(&deep, "p.json").is_none());
            assert!(read(&format!("gamma = {deep}"), "p.toml").is_none());
            assert!(read(&JSON.replace("0.9", &deep), "p.json").is_none());
        }
        assert!(read(&format!("{} = 1", vec!["a"; n].join(".")), "p.toml").is_none());
    }
}

/// Few words can ask for more than any machine has: it is refused before it is made.
#[test]
fn what_is_too_large_is_refused_at_once() {
    let top = "start = \"uniform\"\nbehaviour = \"uniform\"\n";
    let names: Vec<String> = (0..4000).map(|k| k.to_string()).collect();
    let all = format!("{names:?}");
    let too_large = [
        "states = 9999999\nactions = 2\ntransitions = []\n".to_owned(),
        "states = 1000000\nactions = 1000000\ntransitions = []\n".to_owned(),
        format!(
            "states = 4000\nactions = 2\ntransitions = [{{ from = {all}, action = [0, 1], to = {all} }}]\n"
        ),
        format!(
            "states = 4000\nactions = 2\ntransitions = [{{ from = {all}, action = [0, 1], end = true }}]\n"
        ),
        "[grid]\nrows = 1000\ncolumns = 1000\nslip = 0.1\n".to_owned(),
        "[grid]\nrows = 1000000\ncolumns = 1000000\n".to_owned(),
        "[chain]\nstates = 1000001\n".to_owned(),
        "[random]\nseed = 1\nstates = 1000000\nactions = 1000000\n".to_owned(),
        "[random]\nseed = 1\nstates = 10000\nactions = 3\nend = 0.1\n".to_owned(),
    ];
    for text in too_large {
        let start = Instant::now();
        let text = format!("{top}{text}");
        assert!(read(&text, "p.toml").is_none(), "{}", &text[..text.len().min(200)]);
        assert!(
            start.elapsed() < Duration::from_secs(3),
            "{:?}: {}",
            start.elapsed(),
            &text[..text.len().min(200)]
        );
    }
}
