//! The Python package against Rust, and against loops in NumPy and Numba.

use super::on_one_core;
use crate::output;
use serde_json::{Value, json};
use std::path::Path;

/// The most that a step may cost more from Python, in nanoseconds.
const STEP_GOAL: f64 = 1000.0;
/// The most that learning from arrays may take, against Rust.
const LEARN_GOAL: f64 = 1.1;

/// One measurement: on what, who did it, and how long a step took.
pub(super) struct Learned {
    workload: String,
    by: String,
    nanoseconds: f64,
}

/// Learns from both kinds of features in all ways. The script compares all weights with those of Rust.
pub(super) fn learn(target: &Path, python: &Path, peers: bool, all: &mut Vec<Learned>) -> Result<(), String> {
    for kind in ["dense", "active"] {
        let files = ["steps", "weights"].map(|what| target.join(format!("{kind}-{what}.f64")));
        let mut rust = on_one_core("target/release/emphatic-bench");
        merge(all, &output(rust.args(["python", kind]).args(&files))?)?;
        let mut package = on_one_core(python);
        package.args(["benches/peers/package.py", kind]).args(&files);
        if !peers {
            package.arg("--no-numba");
        }
        merge(all, &output(&mut package)?)?;
    }
    Ok(())
}

/// Takes up lines of JSON, keeping the best of each measurement.
fn merge(all: &mut Vec<Learned>, printed: &str) -> Result<(), String> {
    for line in printed.lines() {
        let value: Value = serde_json::from_str(line).map_err(|error| format!("{error} in: {line}"))?;
        let missing = |key: &str| format!("no {key} in: {line}");
        let text = |key: &str| value[key].as_str().map(str::to_owned).ok_or_else(|| missing(key));
        let learned = Learned {
            workload: text("workload")?,
            by: text("by")?,
            nanoseconds: value["ns_per_step"].as_f64().ok_or_else(|| missing("ns_per_step"))?,
        };
        match all.iter_mut().find(|l| l.workload == learned.workload && l.by == learned.by) {
            Some(known) => known.nanoseconds = known.nanoseconds.min(learned.nanoseconds),
            None => all.push(learned),
        }
    }
    Ok(())
}

fn nanoseconds(all: &[Learned], workload: &str, by: &str) -> Option<f64> {
    all.iter().find(|l| l.workload == workload && l.by == by).map(|l| l.nanoseconds)
}

/// Prints a table of ratios and what is to be reached, and gives both as JSON.
pub(super) fn report(all: &[Learned]) -> Value {
    println!("\n{:<38} {:<14} {:>10} {:>16}", "learning from Python", "by", "ns/step", "times as long");
    let mut rows = Vec::new();
    for Learned { workload, by, nanoseconds: time } in all {
        let Some(learn) = nanoseconds(all, workload, "package, learn") else { continue };
        let (name, ratio) = (name(workload), time / learn);
        println!("{name:<38} {by:<14} {time:>10.1} {ratio:>16.2}");
        rows.push(json!({"workload": workload, "by": by, "ns_per_step": time, "ratio": ratio}));
    }
    println!("\n{:<38} {:<14} {:>10} {:>10}", "the package against Rust", "", "measured", "at most");
    let kept = |kept: bool| if kept { "" } else { "  missed" };
    let mut goals = Vec::new();
    for workload in ["dense", "active"] {
        let time = |by: &str| nanoseconds(all, workload, by);
        if let (Some(package), Some(rust)) = (time("package, step"), time("Rust, step")) {
            let more = package - rust;
            let word = kept(more <= STEP_GOAL);
            println!("{:<38} {:<14} {more:>7.0} ns {STEP_GOAL:>7} ns{word}", name(workload), "a step, more");
            goals.push(json!({"workload": workload, "step_ns_more": more, "at_most": STEP_GOAL}));
        }
        if let (Some(package), Some(rust)) = (time("package, learn"), time("Rust, learn")) {
            let ratio = package / rust;
            let word = kept(ratio <= LEARN_GOAL);
            println!("{:<38} {:<14} {ratio:>9.2}× {LEARN_GOAL:>9}×{word}", name(workload), "learn");
            goals.push(json!({"workload": workload, "learn_ratio": ratio, "at_most": LEARN_GOAL}));
        }
    }
    json!({"measured": rows, "goals": goals})
}

/// A workload in words.
fn name(workload: &str) -> &'static str {
    if workload == "dense" { "ACE, 8 numbers, 3 actions" } else { "ACE, 8 of 968 tiles, 3 actions" }
}
