//! Every experiment that comes with the program is run, in few steps: the whole of it takes minutes.

use emphatic_lab::{Experiment, Options, Stop, run, summarise};
use std::fs;
use std::path::Path;

#[test]
fn every_method_of_every_experiment_runs() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments");
    let mut count = 0;
    for entry in fs::read_dir(&directory).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "toml") {
            continue;
        }
        let mut of_rollouts = false;
        let mut shorter = |line: &str| match line.split_once(" = ").map(|(key, _)| key) {
            None => {
                of_rollouts = if line.starts_with('[') { line.contains("rollouts") } else { of_rollouts };
                format!("{line}\n")
            }
            Some("episodes") if of_rollouts => "episodes = 2\n".to_owned(),
            Some("cap") => "cap = 10\n".to_owned(),
            Some(key @ ("steps" | "episodes")) => format!("{key} = 100\n"),
            // No more of them than there are steps.
            Some("evaluations") => "evaluations = 10\n".to_owned(),
            Some(key @ ("finalists" | "finalist_runs" | "fresh_runs")) => format!("{key} = 1\n"),
            Some("warm_up") => "warm_up = [0, 0.3]\n".to_owned(),
            _ => format!("{line}\n"),
        };
        let text = with_few_values(&fs::read_to_string(&path).unwrap());
        let text: String = text.lines().map(&mut shorter).collect();
        let experiment = Experiment::parse(&text, "experiment.toml", &directory).unwrap();
        let experiment = experiment.with_runs(1).unwrap();
        let results = tempfile::tempdir().unwrap();
        run(&experiment, results.path(), &Options::default(), &Stop::default(), &mut |_| {}).unwrap();
        let summary = summarise(results.path(), None).unwrap();
        assert!(summary.complete && summary.methods.len() >= experiment.methods.len(), "{path:?}");
        count += 1;
    }
    assert!(count >= 25, "{count}");
}

/// The file with the first two of the values of each long list of numbers.
fn with_few_values(text: &str) -> String {
    let shorter = |part: &str| {
        let (list, rest) = part.split_once(']').unwrap_or((part, ""));
        let values: Vec<&str> = list.split(',').collect();
        let is_long = values.len() > 10 && values.iter().all(|value| value.trim().parse::<f64>().is_ok());
        if is_long { format!("{}]{rest}", values[..2].join(",")) } else { part.to_owned() }
    };
    text.split('[').map(shorter).collect::<Vec<_>>().join("[")
}
