//! The benchmark: `cargo xtask bench`.

mod python;
mod solve;

use crate::python::{PACKAGE, pip};
use crate::{cargo, output, run};
use python::Learned;
use serde_json::{Value, json};
use solve::Solved;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// How often everything is measured, in turn. The best time counts: a machine is rarely quiet for long.
const ROUNDS: usize = 3;

/// How many times as fast as something else the lanes should be.
struct Goal {
    workload: &'static str,
    against: &'static str,
    at_least: f64,
    aim: f64,
}

const GOALS: [Goal; 4] = [
    Goal { workload: "figure 3", against: "f64", at_least: 4.0, aim: 6.0 },
    Goal { workload: "figure 3", against: "numba, plain", at_least: 4.0, aim: 8.0 },
    Goal { workload: "figure 3", against: "jax, plain", at_least: 7.0, aim: 12.0 },
    Goal { workload: "figure 4, exact critic", against: "f64", at_least: 4.0, aim: 6.0 },
];

/// The time of an update.
struct Measured {
    workload: String,
    /// The implementation: `f64`, `16 lanes`, `numba, plain`.
    by: String,
    lanes: u64,
    nanoseconds: f64,
    /// Some of the weights that were learned.
    probe: Value,
}

/// The updates of figure 3's whole experiment.
const UPDATES: f64 = 450e6;

/// The seconds that figure 3's whole experiment and its summary take from the command line.
struct WholeExperiment {
    /// On the core on which everything else is measured.
    one_core: f64,
    one_thread: f64,
    two_threads: f64,
    summarise: f64,
}

/// Runs figure 3's experiment as a user would: evaluations and writing included.
fn whole_experiment(target: &Path, best: &mut Option<WholeExperiment>) -> Result<(), String> {
    let out = target.join("fig3");
    let program = "target/release/emphatic";
    let seconds = |command: &mut Command, clear: bool| -> Result<f64, String> {
        if clear && out.exists() {
            std::fs::remove_dir_all(&out).map_err(|error| format!("{}: {error}", out.display()))?;
        }
        let start = Instant::now();
        output(command)?;
        Ok(start.elapsed().as_secs_f64())
    };
    let arguments = ["run", "benches/fig3.toml", "--quiet", "--out", "target/bench/fig3", "--threads"];
    let new = WholeExperiment {
        one_core: seconds(on_one_core(program).args(arguments).arg("1"), true)?,
        one_thread: seconds(Command::new(program).args(arguments).arg("1"), true)?,
        two_threads: seconds(Command::new(program).args(arguments).arg("2"), true)?,
        summarise: seconds(Command::new(program).args(["summarise", "target/bench/fig3"]), false)?,
    };
    *best = Some(match best.take() {
        None => new,
        Some(old) => WholeExperiment {
            one_core: new.one_core.min(old.one_core),
            one_thread: new.one_thread.min(old.one_thread),
            two_threads: new.two_threads.min(old.two_threads),
            summarise: new.summarise.min(old.summarise),
        },
    });
    Ok(())
}

/// Measures everything, prints a table of ratios and writes it as JSON.
pub(crate) fn bench(peers: bool) -> Result<(), String> {
    let target = Path::new("target/bench");
    std::fs::create_dir_all(target).map_err(|error| format!("{}: {error}", target.display()))?;
    run(cargo().args(["build", "--release", "--package", "emphatic-bench", "--package", "emphatic-cli"]))?;
    let python = environment(target, peers)?;
    let with_peers = peers.then_some(python.as_path());
    let stream = target.join("stream.f64");
    let mut all: Vec<Measured> = Vec::new();
    let mut whole = None;
    let mut solved: Vec<Solved> = Vec::new();
    let mut learned: Vec<Learned> = Vec::new();
    for round in 1..=ROUNDS {
        eprintln!("round {round} of {ROUNDS}: emphatic");
        let printed = output(on_one_core("target/release/emphatic-bench").arg(&stream))?;
        merge(&mut all, &printed)?;
        eprintln!("round {round} of {ROUNDS}: figure 3 from the command line");
        whole_experiment(target, &mut whole)?;
        eprintln!("round {round} of {ROUNDS}: exact solutions");
        solve::solve(target, with_peers, &mut solved)?;
        eprintln!("round {round} of {ROUNDS}: the Python package");
        python::learn(target, &python, peers, &mut learned)?;
        for (python, peer) in with_peers.iter().flat_map(|python| [(python, "numba"), (python, "jax")]) {
            eprintln!("round {round} of {ROUNDS}: {peer}");
            let script = format!("benches/peers/fig3_{peer}.py");
            let printed = output(on_one_core(python).arg(script).arg(&stream).args(["--repeat", "2"]))?;
            merge(&mut all, &printed)?;
        }
    }
    compare_probes(&all)?;
    solve::compare(&solved)?;
    report(&all, whole.as_ref(), &solved, &learned, &target.join("results.json"))
}

/// A Python with the package, compiled as users get it, and the peers, in an environment of its own.
fn environment(target: &Path, peers: bool) -> Result<PathBuf, String> {
    let environment = target.join("venv");
    let python = environment.join("bin/python");
    if !python.exists() {
        run(Command::new("python3").args(["-m", "venv"]).arg(&environment)).map_err(|error| {
            format!("{error}\nthe Python package needs Python 3.10 or newer, with its `venv` module")
        })?;
    }
    if peers {
        run(pip(&python).args(["--requirement", "benches/peers/requirements.txt"]))?;
    }
    run(pip(&python).arg(PACKAGE))?;
    Ok(python)
}

/// A command bound to one core, where the system can do that.
fn on_one_core(program: impl AsRef<std::ffi::OsStr>) -> Command {
    if output(Command::new("taskset").arg("--version")).is_err() {
        return Command::new(program);
    }
    let mut command = Command::new("taskset");
    command.args(["--cpu-list", "0"]).arg(program);
    command
}

/// A measurement that is printed as a line of JSON.
trait Measurement: Sized {
    fn parse(line: &JsonLine) -> Result<Self, String>;
    /// Whether both measure the same.
    fn is_same(&self, other: &Self) -> bool;
    fn time(&mut self) -> &mut f64;
}

/// A line that a benchmark printed.
struct JsonLine<'a> {
    line: &'a str,
    value: Value,
}

impl JsonLine<'_> {
    fn text(&self, key: &str) -> Result<String, String> {
        self.value[key].as_str().map(str::to_owned).ok_or_else(|| self.missing(key))
    }

    fn number(&self, key: &str) -> Result<f64, String> {
        self.value[key].as_f64().ok_or_else(|| self.missing(key))
    }

    fn missing(&self, key: &str) -> String {
        format!("no {key} in: {}", self.line)
    }
}

/// Adds printed measurements, keeping the best time of each.
fn merge<M: Measurement>(all: &mut Vec<M>, printed: &str) -> Result<(), String> {
    for line in printed.lines() {
        let value = serde_json::from_str(line).map_err(|error| format!("{error} in: {line}"))?;
        let mut new = M::parse(&JsonLine { line, value })?;
        match all.iter_mut().find(|known| known.is_same(&new)) {
            Some(known) => *known.time() = known.time().min(*new.time()),
            None => all.push(new),
        }
    }
    Ok(())
}

impl Measurement for Measured {
    fn parse(line: &JsonLine) -> Result<Self, String> {
        let lanes = line.value["lanes"].as_u64().unwrap_or(1);
        Ok(Self {
            workload: line.text("workload").unwrap_or_else(|_| "figure 3".to_owned()),
            by: match line.text("peer") {
                Ok(peer) => format!("{peer}, {}", line.text("variant").unwrap_or_default()),
                Err(_) if lanes == 1 => "f64".to_owned(),
                Err(_) => format!("{lanes} lanes"),
            },
            lanes,
            nanoseconds: line.number("ns_per_update")?,
            probe: line.value["probe"].clone(),
        })
    }

    fn is_same(&self, other: &Self) -> bool {
        self.workload == other.workload && self.by == other.by
    }

    fn time(&mut self) -> &mut f64 {
        &mut self.nanoseconds
    }
}

/// A benchmark means nothing unless all compute the same: to the bit among ourselves, up to rounding with the peers.
fn compare_probes(all: &[Measured]) -> Result<(), String> {
    for Measured { workload, by, probe, .. } in all {
        let reference = all.iter().find(|m| m.workload == *workload && m.by == "f64");
        let Some(Measured { probe: reference, .. }) = reference else { continue };
        let is_ours = by.ends_with("lanes");
        let is_same = if is_ours { probe == reference } else { nearly_same(probe, reference) };
        if !is_same {
            return Err(format!("{workload}: {by} learned {probe}, f64 learned {reference}"));
        }
    }
    Ok(())
}

fn nearly_same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, x)| b.get(key).is_some_and(|y| nearly_same(x, y)))
        }
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(x, y)| nearly_same(x, y))
        }
        _ => match (a.as_f64(), b.as_f64()) {
            (Some(x), Some(y)) => (x - y).abs() <= 1e-9 * (1.0 + y.abs()),
            (x, y) => x == y,
        },
    }
}

/// The fastest lanes of a workload.
fn lanes_of<'a>(all: &'a [Measured], workload: &str) -> Option<&'a Measured> {
    let lanes = all.iter().filter(|m| m.workload == workload && m.lanes > 1);
    lanes.min_by(|a, b| a.nanoseconds.total_cmp(&b.nanoseconds))
}

fn report(
    all: &[Measured],
    whole: Option<&WholeExperiment>,
    solved: &[Solved],
    learned: &[Learned],
    path: &Path,
) -> Result<(), String> {
    let results = json!({
        "measured": report_times(all), "goals": report_goals(all),
        "command_line": report_command_line(all, whole), "solutions": solve::report(solved),
        "python": python::report(learned),
    });
    let text = format!("{results:#}\n");
    std::fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))?;
    println!("\nwritten to {}", path.display());
    Ok(())
}

/// Prints the time of each update, and returns it as JSON.
fn report_times(all: &[Measured]) -> Vec<Value> {
    println!("\n{:<38} {:<14} {:>10} {:>16}", "workload", "by", "ns/update", "times as long");
    let mut rows = Vec::new();
    for Measured { workload, by, nanoseconds, .. } in all {
        let Some(lanes) = lanes_of(all, workload) else { continue };
        let ratio = nanoseconds / lanes.nanoseconds;
        println!("{workload:<38} {by:<14} {nanoseconds:>10.1} {ratio:>16.2}");
        rows.push(json!({"workload": workload, "by": by, "ns_per_update": nanoseconds, "ratio": ratio}));
    }
    rows
}

/// Prints the goals and what was reached, and returns both as JSON.
fn report_goals(all: &[Measured]) -> Vec<Value> {
    println!("\n{:<38} {:<14} {:>10} {:>10} {:>5}", "lanes against", "", "measured", "at least", "aim");
    let mut rows = Vec::new();
    for Goal { workload, against, at_least, aim } in GOALS {
        let other = all.iter().find(|m| m.workload == workload && m.by == against);
        let (Some(other), Some(lanes)) = (other, lanes_of(all, workload)) else { continue };
        let ratio = other.nanoseconds / lanes.nanoseconds;
        println!("{workload:<38} {against:<14} {ratio:>9.1}× {at_least:>9}× {aim:>4}×");
        rows.push(json!({"workload": workload, "against": against, "ratio": ratio, "at_least": at_least, "aim": aim}));
    }
    rows
}

/// Prints the times of the whole experiment, and returns them as JSON.
fn report_command_line(all: &[Measured], whole: Option<&WholeExperiment>) -> Value {
    let (Some(whole), Some(bare)) = (whole, lanes_of(all, "figure 3")) else { return Value::Null };
    let cost = whole.one_core / (bare.nanoseconds * 1e-9 * UPDATES);
    let threads = whole.one_thread / whole.two_threads;
    println!("\nfigure 3 from the command line: {} million updates, 2.3 million rows", UPDATES / 1e6);
    println!("one thread against the bare lanes       {cost:>6.2}×   (at most 1.3×)");
    println!("two threads against one                 {threads:>6.2}×   (at least 1.85×)");
    println!("summarised in                           {:>6.2} s", whole.summarise);
    json!({
        "seconds": {"one_core": whole.one_core, "one_thread": whole.one_thread,
                    "two_threads": whole.two_threads, "summarise": whole.summarise},
        "against_bare_lanes": cost, "two_threads_against_one": threads,
    })
}
