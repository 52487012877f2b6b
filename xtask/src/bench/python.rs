//! The Python package against Rust, and against loops in NumPy and Numba.

use super::{JsonLine, Measurement, merge, on_one_core};
use crate::output;
use serde_json::{Value, json};
use std::path::Path;

/// How much longer than in Rust a step from Python may take at most, in nanoseconds.
const STEP_GOAL: f64 = 1000.0;
/// How many times as long as in Rust learning from arrays may take at most.
const LEARN_GOAL: f64 = 1.1;

/// The time of a step.
pub(super) struct Learned {
    workload: String,
    by: String,
    nanoseconds: f64,
}

/// Measures both kinds of features in all implementations. The script compares all weights with those of Rust.
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

impl Measurement for Learned {
    fn parse(line: &JsonLine) -> Result<Self, String> {
        Ok(Self {
            workload: line.text("workload")?,
            by: line.text("by")?,
            nanoseconds: line.number("ns_per_step")?,
        })
    }

    fn is_same(&self, other: &Self) -> bool {
        self.workload == other.workload && self.by == other.by
    }

    fn time(&mut self) -> &mut f64 {
        &mut self.nanoseconds
    }
}

fn nanoseconds(all: &[Learned], workload: &str, by: &str) -> Option<f64> {
    all.iter().find(|l| l.workload == workload && l.by == by).map(|l| l.nanoseconds)
}

/// Prints the ratios and the goals, and returns both as JSON.
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
    let missed = |reached: bool| if reached { "" } else { "  missed" };
    let mut goals = Vec::new();
    for workload in ["dense", "active"] {
        let time = |by: &str| nanoseconds(all, workload, by);
        if let (Some(package), Some(rust)) = (time("package, step"), time("Rust, step")) {
            let more = package - rust;
            let word = missed(more <= STEP_GOAL);
            println!("{:<38} {:<14} {more:>7.0} ns {STEP_GOAL:>7} ns{word}", name(workload), "a step, more");
            goals.push(json!({"workload": workload, "step_ns_more": more, "at_most": STEP_GOAL}));
        }
        if let (Some(package), Some(rust)) = (time("package, learn"), time("Rust, learn")) {
            let ratio = package / rust;
            let word = missed(ratio <= LEARN_GOAL);
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
