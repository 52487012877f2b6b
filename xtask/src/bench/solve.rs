//! Exact solutions: sparse elimination against SciPy's, and against dense elimination.

use super::{JsonLine, Measurement, merge, nearly_same, on_one_core};
use crate::output;
use serde_json::{Value, json};
use std::path::Path;

/// The width and height of a grid of 100,000 states, and of one that dense elimination can solve in seconds.
const LARGE: [&str; 2] = ["317", "316"];
const SMALL: [&str; 2] = ["45", "44"];

/// The time and the peak memory of an exact solution.
pub(super) struct Solved {
    states: u64,
    by: String,
    seconds: f64,
    megabytes: Option<f64>,
    probe: Value,
}

/// Solves both grids in all implementations. The peer compares v and m with ours in every state.
pub(super) fn solve(target: &Path, python: Option<&Path>, all: &mut Vec<Solved>) -> Result<(), String> {
    let file = target.join("solution.f64");
    let ours = |way: &str, size: [&str; 2]| {
        let mut command = on_one_core("target/release/emphatic-bench");
        command.arg(way).args(size);
        command
    };
    merge(all, &output(&mut ours("dense", SMALL))?)?;
    merge(all, &output(ours("solve", SMALL).arg(&file))?)?;
    merge(all, &output(ours("solve", LARGE).arg(&file))?)?;
    for (python, variant) in python.iter().flat_map(|python| [(python, "plain"), (python, "tuned")]) {
        let script = "benches/peers/solve_scipy.py";
        merge(all, &output(on_one_core(python).arg(script).args(LARGE).arg(&file).arg(variant))?)?;
    }
    Ok(())
}

impl Measurement for Solved {
    fn parse(line: &JsonLine) -> Result<Self, String> {
        Ok(Self {
            states: line.value["states"].as_u64().ok_or_else(|| line.missing("states"))?,
            by: line.text("by")?,
            seconds: line.number("seconds")?,
            megabytes: line.value["megabytes"].as_f64(),
            probe: line.value["probe"].clone(),
        })
    }

    fn is_same(&self, other: &Self) -> bool {
        self.states == other.states && self.by == other.by
    }

    fn time(&mut self) -> &mut f64 {
        &mut self.seconds
    }
}

/// Our solution of the problem with this number of states.
fn ours(all: &[Solved], states: u64) -> Option<&Solved> {
    all.iter().find(|s| s.states == states && s.by == "emphatic")
}

/// All must find the same solution.
pub(super) fn compare(all: &[Solved]) -> Result<(), String> {
    for Solved { states, by, probe, .. } in all {
        if let Some(ours) = ours(all, *states)
            && !nearly_same(probe, &ours.probe)
        {
            return Err(format!("{states} states: {by} found {probe}, emphatic found {}", ours.probe));
        }
    }
    Ok(())
}

/// Prints the ratios, and returns them as JSON.
pub(super) fn report(all: &[Solved]) -> Value {
    println!("\n{:<38} {:<14} {:>10} {:>16} {:>6}", "exact solution", "by", "seconds", "times as long", "MB");
    let mut rows = Vec::new();
    for Solved { states, by, seconds, megabytes, .. } in all {
        let Some(ours) = ours(all, *states) else { continue };
        let ratio = seconds / ours.seconds;
        let workload = format!("a grid of {states} states");
        let memory = megabytes.map_or("?".to_owned(), |megabytes| format!("{megabytes:.0}"));
        println!("{workload:<38} {by:<14} {seconds:>10.3} {ratio:>16.2} {memory:>6}");
        rows.push(
            json!({"states": states, "by": by, "seconds": seconds, "ratio": ratio, "megabytes": megabytes}),
        );
    }
    Value::Array(rows)
}
