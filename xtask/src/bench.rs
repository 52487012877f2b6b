//! `cargo xtask bench`.

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

/// Everything is measured this often, in turn, and the best counts: a machine is rarely quiet for long.
const ROUNDS: usize = 3;

/// What is to be reached: workload, against what, at least, aim.
const GOALS: [(&str, &str, f64, f64); 4] = [
    ("figure 3", "f64", 4.0, 6.0),
    ("figure 3", "numba, plain", 4.0, 8.0),
    ("figure 3", "jax, plain", 7.0, 12.0),
    ("figure 4, exact critic", "f64", 4.0, 6.0),
];

/// One measurement: the workload, who did it, and how long an update took.
struct Measured {
    workload: String,
    who: String,
    lanes: u64,
    nanoseconds: f64,
    probe: Value,
}

/// The updates of figure 3's whole experiment.
const UPDATES: f64 = 450e6;

/// Seconds that figure 3's whole experiment takes from the command line, and what is read of it again.
struct WholeExperiment {
    /// On the core that everything else is measured on.
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

/// Takes up lines of JSON, keeping the best of each measurement.
fn merge(all: &mut Vec<Measured>, printed: &str) -> Result<(), String> {
    for line in printed.lines() {
        let value: Value = serde_json::from_str(line).map_err(|error| format!("{error} in: {line}"))?;
        let text = |key: &str| value[key].as_str().map(str::to_owned);
        let lanes = value["lanes"].as_u64().unwrap_or(1);
        let measured = Measured {
            workload: text("workload").unwrap_or_else(|| "figure 3".to_owned()),
            who: match text("peer") {
                Some(peer) => format!("{peer}, {}", text("variant").unwrap_or_default()),
                None if lanes == 1 => "f64".to_owned(),
                None => format!("{lanes} lanes"),
            },
            lanes,
            nanoseconds: value["ns_per_update"].as_f64().ok_or_else(|| format!("no time in: {line}"))?,
            probe: value["probe"].clone(),
        };
        match all.iter_mut().find(|m| m.workload == measured.workload && m.who == measured.who) {
            Some(known) => known.nanoseconds = known.nanoseconds.min(measured.nanoseconds),
            None => all.push(measured),
        }
    }
    Ok(())
}

/// A benchmark means nothing unless all compute the same: to the bit among ourselves, to rounding with the peers.
fn compare_probes(all: &[Measured]) -> Result<(), String> {
    for measured in all {
        let reference = all.iter().find(|m| m.workload == measured.workload && m.who == "f64");
        let Some(reference) = reference else { continue };
        let ours = measured.who.ends_with("lanes");
        let same = if ours {
            measured.probe == reference.probe
        } else {
            nearly_same(&measured.probe, &reference.probe)
        };
        if !same {
            let Measured { workload, who, probe, .. } = measured;
            return Err(format!("{workload}: {who} learned {probe}, f64 learned {}", reference.probe));
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
    println!("\n{:<38} {:<14} {:>10} {:>16}", "workload", "by", "ns/update", "times as long");
    let mut rows = Vec::new();
    for measured in all {
        let Some(lanes) = lanes_of(all, &measured.workload) else { continue };
        let ratio = measured.nanoseconds / lanes.nanoseconds;
        println!(
            "{:<38} {:<14} {:>10.1} {:>16.2}",
            measured.workload, measured.who, measured.nanoseconds, ratio
        );
        rows.push(json!({"workload": measured.workload, "by": measured.who, "ns_per_update": measured.nanoseconds, "ratio": ratio}));
    }
    println!("\n{:<38} {:<14} {:>10} {:>10} {:>5}", "lanes against", "", "measured", "at least", "aim");
    let mut goals = Vec::new();
    for (workload, who, least, aim) in GOALS {
        let other = all.iter().find(|m| m.workload == workload && m.who == who);
        let (Some(other), Some(lanes)) = (other, lanes_of(all, workload)) else { continue };
        let ratio = other.nanoseconds / lanes.nanoseconds;
        println!("{workload:<38} {who:<14} {:>9.1}× {least:>9}× {aim:>4}×", ratio);
        goals.push(
            json!({"workload": workload, "against": who, "ratio": ratio, "at_least": least, "aim": aim}),
        );
    }
    let mut command_line = Value::Null;
    if let (Some(whole), Some(bare)) = (whole, lanes_of(all, "figure 3")) {
        let cost = whole.one_core / (bare.nanoseconds * 1e-9 * UPDATES);
        let threads = whole.one_thread / whole.two_threads;
        println!("\nfigure 3 from the command line: {} million updates, 2.3 million rows", UPDATES / 1e6);
        println!("one thread against the bare lanes       {cost:>6.2}×   (at most 1.3×)");
        println!("two threads against one                 {threads:>6.2}×   (at least 1.85×)");
        println!("summarised in                           {:>6.2} s", whole.summarise);
        command_line = json!({
            "seconds": {"one_core": whole.one_core, "one_thread": whole.one_thread,
                        "two_threads": whole.two_threads, "summarise": whole.summarise},
            "against_bare_lanes": cost, "two_threads_against_one": threads,
        });
    }
    let solutions = solve::report(solved);
    let package = python::report(learned);
    let results = json!({"measured": rows, "goals": goals, "command_line": command_line, "solutions": solutions,
                         "python": package});
    let text = format!("{results:#}\n");
    std::fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))?;
    println!("\nwritten to {}", path.display());
    Ok(())
}
