//! The benchmark: `cargo xtask bench`.

use crate::python::{PACKAGE, pip};
use crate::{cargo, output, run};
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// How often everything is measured, in turn. The best time counts: a machine is rarely quiet for long.
const ROUNDS: usize = 3;

const PROGRAM: &str = "target/release/emphatic-bench";
const EMPHATIC: &str = "target/release/emphatic";

/// How many times as fast as something else the lanes should be.
struct Goal {
    workload: &'static str,
    against: &'static str,
    at_least: f64,
    aim: f64,
}

const GOALS: [Goal; 12] = [
    Goal { workload: "figure 3", against: "f64", at_least: 4.0, aim: 6.0 },
    Goal { workload: "figure 3", against: "numba, plain", at_least: 4.0, aim: 8.0 },
    Goal { workload: "figure 3", against: "jax, plain", at_least: 7.0, aim: 12.0 },
    Goal { workload: "figure 4, exact critic", against: "f64", at_least: 4.0, aim: 6.0 },
    Goal { workload: "TDRC", against: "numba, plain", at_least: 8.0, aim: 8.0 },
    Goal { workload: "TDRC", against: "jax, plain", at_least: 8.0, aim: 8.0 },
    Goal { workload: "ACE on tiles, no trace", against: "numba, plain", at_least: 8.0, aim: 8.0 },
    Goal { workload: "ACE on tiles, no trace", against: "jax, plain", at_least: 8.0, aim: 8.0 },
    Goal { workload: "ACE on tiles, no trace", against: "numpy", at_least: 1000.0, aim: 1000.0 },
    Goal { workload: "ACE on tiles, traces", against: "numba, plain", at_least: 8.0, aim: 8.0 },
    Goal { workload: "ACE on tiles, traces", against: "jax, plain", at_least: 8.0, aim: 8.0 },
    Goal { workload: "ACE on tiles, traces", against: "numpy", at_least: 1000.0, aim: 1000.0 },
];

/// How much longer than in Rust a step from Python may take at most, in nanoseconds.
const STEP_GOAL: f64 = 1000.0;
/// How many times as long as in Rust learning from arrays may take at most.
const LEARN_GOAL: f64 = 1.1;

/// The updates of figure 3's whole experiment.
const UPDATES: f64 = 450e6;

/// The width and height of a grid of 100,000 states, and of one that dense elimination can solve in seconds.
const LARGE: [&str; 2] = ["317", "316"];
const SMALL: [&str; 2] = ["45", "44"];

/// What was measured. The programs print one as a line of JSON.
#[derive(Deserialize)]
struct Measured {
    workload: String,
    /// The implementation: `f64`, `16 lanes`, `numba, plain`.
    by: String,
    time: f64,
    megabytes: Option<f64>,
    /// Some of what was computed.
    #[serde(default)]
    probe: Value,
}

/// Measurements of one kind, the best time of each.
#[derive(Default)]
struct Measurements(Vec<Measured>);

impl Measurements {
    /// Adds what a program prints.
    fn add_printed(&mut self, command: &mut Command) -> Result<(), String> {
        for line in output(command)?.lines() {
            self.add(serde_json::from_str(line).map_err(|error| format!("{error} in: {line}"))?);
        }
        Ok(())
    }

    fn add(&mut self, new: Measured) {
        match self.0.iter_mut().find(|known| known.workload == new.workload && known.by == new.by) {
            Some(known) => known.time = known.time.min(new.time),
            None => self.0.push(new),
        }
    }

    /// The time of the fastest implementation that has such a name.
    fn fastest(&self, workload: &str, is_meant: impl Fn(&str) -> bool) -> Option<f64> {
        let meant = self.0.iter().filter(|m| m.workload == workload && is_meant(&m.by));
        meant.map(|m| m.time).min_by(f64::total_cmp)
    }

    fn time(&self, workload: &str, by: &str) -> Option<f64> {
        self.fastest(workload, |name| name == by)
    }

    fn lanes(&self, workload: &str) -> Option<f64> {
        self.fastest(workload, is_lanes)
    }

    /// A benchmark means nothing unless all compute the same: to the bit in lanes, up to rounding elsewhere.
    fn compare_with(&self, reference: &str) -> Result<(), String> {
        for Measured { workload, by, probe, .. } in &self.0 {
            let right = self.0.iter().find(|m| m.workload == *workload && m.by == reference);
            let Some(Measured { probe: right, .. }) = right else { continue };
            let is_same = if is_lanes(by) { probe == right } else { nearly_same(probe, right) };
            if !is_same {
                return Err(format!("{workload}: {by} computed {probe}, {reference} computed {right}"));
            }
        }
        Ok(())
    }

    /// Prints each time, and how many times as long as the fastest of the meant implementations it is. Returns both as JSON.
    fn report(&self, title: &str, unit: &str, is_meant: impl Fn(&str) -> bool) -> Value {
        let has_memory = self.0.iter().any(|m| m.megabytes.is_some());
        let memory = if has_memory { "    MB" } else { "" };
        println!("\n{title:<38} {:<14} {unit:>10} {:>16} {memory}", "by", "times as long");
        let mut rows = Vec::new();
        for Measured { workload, by, time, megabytes, .. } in &self.0 {
            let Some(fastest) = self.fastest(workload, &is_meant) else { continue };
            let ratio = time / fastest;
            let memory = megabytes.map_or(String::new(), |megabytes| format!("{megabytes:>6.0}"));
            println!("{workload:<38} {by:<14} {time:>10.3} {ratio:>16.2} {memory}");
            rows.push(
                json!({"workload": workload, "by": by, unit: time, "ratio": ratio, "megabytes": megabytes}),
            );
        }
        Value::Array(rows)
    }
}

fn is_lanes(by: &str) -> bool {
    by.ends_with(" lanes")
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

/// Measures everything, prints tables of ratios and writes them as JSON.
pub(crate) fn bench(peers: bool) -> Result<(), String> {
    let target = Path::new("target/bench");
    std::fs::create_dir_all(target).map_err(|error| format!("{}: {error}", target.display()))?;
    run(cargo().args(["build", "--release", "--package", "emphatic-bench", "--package", "emphatic-cli"]))?;
    let python = environment(target, peers)?;
    let with_peers = peers.then_some(python.as_path());
    let [mut updates, mut parts, mut command_line, mut solutions, mut steps, mut simulators, mut sweeps] =
        [(); 7].map(|()| Measurements::default());
    for round in 1..=ROUNDS {
        let begin = |what: &str| eprintln!("round {round} of {ROUNDS}: {what}");
        begin("emphatic");
        updates.add_printed(on_one_core(PROGRAM).arg(target))?;
        begin("parts");
        parts.add_printed(on_one_core(PROGRAM).arg("parts"))?;
        begin("simulators and tile coding");
        simulators.add_printed(on_one_core(PROGRAM).arg("simulators"))?;
        begin("figure 3 from the command line");
        run_whole_experiment(target, &mut command_line)?;
        begin("exact solutions");
        solve(target, with_peers, &mut solutions)?;
        begin("the Python package");
        learn_in_python(target, &python, peers, &mut steps)?;
        if let Some(python) = with_peers {
            begin("numpy");
            let stream = target.join("tiles.f64");
            updates.add_printed(on_one_core(python).arg("benches/peers/tiles_numpy.py").arg(stream))?;
            begin("Gymnasium's simulators");
            simulators.add_printed(on_one_core(python).arg("benches/peers/simulators.py"))?;
        }
        for (python, peer) in with_peers.iter().flat_map(|python| [(python, "numba"), (python, "jax")]) {
            begin(peer);
            for workload in ["fig3", "tdrc", "tiles"] {
                let script = format!("benches/peers/{workload}_{peer}.py");
                let stream = target.join(format!("{workload}.f64"));
                updates.add_printed(on_one_core(python).arg(script).arg(stream).args(["--repeat", "2"]))?;
            }
        }
    }
    eprintln!("whole sweeps, once: they take minutes");
    sweep(target, with_peers, &mut sweeps)?;
    updates.compare_with("f64")?;
    parts.compare_with("f64")?;
    solutions.compare_with("emphatic")?;
    let results = json!({
        "measured": updates.report("workload", "ns/update", is_lanes),
        "goals": report_goals(&updates),
        "parts": report_parts(&parts),
        "command_line": report_command_line(&updates, &command_line),
        "solutions": solutions.report("exact solution", "seconds", |by| by == "emphatic"),
        "simulators": simulators.report("simulators and tile coding", "ns/step", |by| by.starts_with("Rust, 64") || by == "one by one"),
        "sweeps": sweeps.report("whole sweeps on all cores", "seconds", |by| by == "emphatic"),
        "python": steps.report("learning from Python", "ns/step", |by| by == "package, learn"),
        "python_goals": report_python_goals(&steps),
    });
    let path = target.join("results.json");
    std::fs::write(&path, format!("{results:#}\n"))
        .map_err(|error| format!("{}: {error}", path.display()))?;
    println!("\nwritten to {}", path.display());
    Ok(())
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

/// Runs figure 3's experiment as a user would, evaluations and writing included, and summarises it. The times are in seconds.
fn run_whole_experiment(target: &Path, all: &mut Measurements) -> Result<(), String> {
    let (program, out) = (EMPHATIC, target.join("fig3"));
    let mut measure = |by: &str, command: &mut Command| {
        let start = Instant::now();
        output(command)?;
        let time = start.elapsed().as_secs_f64();
        all.add(Measured {
            workload: "figure 3".to_owned(),
            by: by.to_owned(),
            time,
            megabytes: None,
            probe: Value::Null,
        });
        Ok::<(), String>(())
    };
    let runs = [
        // The core on which everything else is measured.
        ("one core", on_one_core(program), "1"),
        ("one thread", Command::new(program), "1"),
        ("two threads", Command::new(program), "2"),
    ];
    for (by, mut command, threads) in runs {
        if out.exists() {
            std::fs::remove_dir_all(&out).map_err(|error| format!("{}: {error}", out.display()))?;
        }
        command.args(["run", "benches/fig3.toml", "--quiet", "--threads", threads, "--out"]).arg(&out);
        measure(by, &mut command)?;
    }
    measure("summarise", Command::new(program).arg("summarise").arg(&out))
}

/// Sweeps in Mountain Car on all cores, as users would: the name, and how many times as large as the file the whole is.
const SWEEPS: [(&str, f64); 2] = [("sweep", 1.0), ("study", 270.0)];
/// How many pairs of a setting and a run the peer does of each: they take minutes.
const PAIRS: &str = "4";

/// Runs whole sweeps from the command line, and parts of them in Python. The times are in seconds, of the whole.
fn sweep(target: &Path, python: Option<&Path>, all: &mut Measurements) -> Result<(), String> {
    for (name, times) in SWEEPS {
        let out = target.join(name);
        if out.exists() {
            std::fs::remove_dir_all(&out).map_err(|error| format!("{}: {error}", out.display()))?;
        }
        let mut command = Command::new(EMPHATIC);
        command.args(["run", &format!("benches/{name}.toml"), "--quiet", "--out"]).arg(&out);
        let start = Instant::now();
        output(&mut command)?;
        let time = times * start.elapsed().as_secs_f64();
        all.add(Measured {
            workload: name.to_owned(),
            by: "emphatic".to_owned(),
            time,
            megabytes: None,
            probe: Value::Null,
        });
        if let Some(python) = python {
            all.add_printed(Command::new(python).args(["benches/peers/whole_sweep.py", name, PAIRS]))?;
        }
    }
    Ok(())
}

/// Solves two grids exactly: by sparse elimination, SciPy's, and dense elimination. The peer compares v and m with ours in every
/// state.
fn solve(target: &Path, python: Option<&Path>, all: &mut Measurements) -> Result<(), String> {
    let file = target.join("solution.f64");
    all.add_printed(on_one_core(PROGRAM).arg("dense").args(SMALL))?;
    for size in [SMALL, LARGE] {
        all.add_printed(on_one_core(PROGRAM).arg("solve").args(size).arg(&file))?;
    }
    for (python, variant) in python.iter().flat_map(|python| [(python, "plain"), (python, "tuned")]) {
        let script = "benches/peers/solve_scipy.py";
        all.add_printed(on_one_core(python).arg(script).args(LARGE).arg(&file).arg(variant))?;
    }
    Ok(())
}

/// Learns from both kinds of features with the Python package, in Rust, and by loops in NumPy and Numba. The script compares all
/// weights with those of Rust.
fn learn_in_python(target: &Path, python: &Path, peers: bool, all: &mut Measurements) -> Result<(), String> {
    for kind in ["dense", "active"] {
        let files = ["steps", "weights"].map(|what| target.join(format!("{kind}-{what}.f64")));
        all.add_printed(on_one_core(PROGRAM).args(["python", kind]).args(&files))?;
        let mut package = on_one_core(python);
        package.args(["benches/peers/package.py", kind]).args(&files);
        if !peers {
            package.arg("--no-numba");
        }
        all.add_printed(&mut package)?;
    }
    Ok(())
}

/// Prints the goals and what was reached, and returns both as JSON.
fn report_goals(all: &Measurements) -> Vec<Value> {
    println!("\n{:<38} {:<14} {:>10} {:>10} {:>5}", "lanes against", "", "measured", "at least", "aim");
    let mut rows = Vec::new();
    for Goal { workload, against, at_least, aim } in GOALS {
        let (Some(other), Some(lanes)) = (all.time(workload, against), all.lanes(workload)) else { continue };
        let ratio = other / lanes;
        println!("{workload:<38} {against:<14} {ratio:>9.1}× {at_least:>9}× {aim:>4}×");
        rows.push(json!({"workload": workload, "against": against, "ratio": ratio, "at_least": at_least, "aim": aim}));
    }
    rows
}

/// Prints what each part costs as a table in Markdown, and returns it as JSON.
fn report_parts(all: &Measurements) -> Vec<Value> {
    println!("\n| role | part | ns per update, `f64` | in 16 lanes | times as fast |\n|---|---|---|---|---|");
    let mut rows = Vec::new();
    for Measured { workload, time, .. } in all.0.iter().filter(|m| m.by == "f64") {
        let (Some((role, part)), Some(lanes)) = (workload.split_once(": "), all.lanes(workload)) else {
            continue;
        };
        let ratio = time / lanes;
        println!("| {role} | `{part}` | {time:.0} | {lanes:.1} | {ratio:.1} |");
        rows.push(json!({"role": role, "part": part, "f64": time, "lanes": lanes, "ratio": ratio}));
    }
    rows
}

/// Prints the times of the whole experiment, and returns them as JSON.
fn report_command_line(updates: &Measurements, whole: &Measurements) -> Value {
    let seconds = |by| whole.time("figure 3", by).unwrap_or(f64::NAN);
    let [one_core, one_thread, two_threads, summarise] =
        ["one core", "one thread", "two threads", "summarise"].map(seconds);
    let bare = updates.lanes("figure 3").unwrap_or(f64::NAN) * 1e-9 * UPDATES;
    let (cost, threads) = (one_core / bare, one_thread / two_threads);
    println!("\nfigure 3 from the command line: {} million updates, 2.3 million rows", UPDATES / 1e6);
    println!("one thread against the bare lanes       {cost:>6.2}×   (at most 1.3×)");
    println!("two threads against one                 {threads:>6.2}×   (at least 1.85×)");
    println!("summarised in                           {summarise:>6.2} s");
    json!({
        "seconds": {"one_core": one_core, "one_thread": one_thread,
                    "two_threads": two_threads, "summarise": summarise},
        "against_bare_lanes": cost, "two_threads_against_one": threads,
    })
}

/// Prints how the Python package compares with Rust, and returns it as JSON.
fn report_python_goals(all: &Measurements) -> Vec<Value> {
    println!("\n{:<38} {:<14} {:>10} {:>10}", "the package against Rust", "", "measured", "at most");
    let missed = |reached: bool| if reached { "" } else { "  missed" };
    let mut goals = Vec::new();
    for Measured { workload, time: rust, .. } in all.0.iter().filter(|m| m.by == "Rust, step") {
        let Some(package) = all.time(workload, "package, step") else { continue };
        let more = package - rust;
        let word = missed(more <= STEP_GOAL);
        println!("{workload:<38} {:<14} {more:>7.0} ns {STEP_GOAL:>7} ns{word}", "a step, more");
        goals.push(json!({"workload": workload, "step_ns_more": more, "at_most": STEP_GOAL}));
    }
    for Measured { workload, time: rust, .. } in all.0.iter().filter(|m| m.by == "Rust, learn") {
        let Some(package) = all.time(workload, "package, learn") else { continue };
        let ratio = package / rust;
        let word = missed(ratio <= LEARN_GOAL);
        println!("{workload:<38} {:<14} {ratio:>9.2}× {LEARN_GOAL:>9}×{word}", "learn");
        goals.push(json!({"workload": workload, "learn_ratio": ratio, "at_most": LEARN_GOAL}));
    }
    goals
}
