//! What the command writes: it works without a reader, and text from files is safe for a terminal.

use crate::common::{Bench, LONG, SHORT, assert_same, emphatic, ended, ended_on, refused, succeeded, text};
use std::fs;
use std::io::{PipeWriter, pipe};
use std::path::Path;
use std::process::Command;

/// Returns a pipe without a reader.
fn closed() -> PipeWriter {
    pipe().unwrap().1
}

fn code(command: &mut Command) -> Option<i32> {
    command.status().unwrap().code()
}

/// Once it ended with 101, as after a panic.
#[test]
fn a_run_needs_nobody_to_hear_of_it() {
    let bench = Bench::new(LONG);
    let whole = bench.run("whole", &["--quiet"]);
    let closed_out = bench.path("closed");
    assert_eq!(code(bench.command(&closed_out, &[]).stdout(closed()).stderr(closed())), Some(0));
    assert_same(&whole, &closed_out);
    if let Ok(full) = fs::OpenOptions::new().write(true).open("/dev/full") {
        let full_out = bench.path("full");
        assert_eq!(code(bench.command(&full_out, &[]).stderr(full)), Some(0));
        assert_same(&whole, &full_out);
    }
}

/// Once they ended with 101, as after a panic.
#[test]
fn short_commands_end_quietly_when_nobody_reads() {
    let bench = Bench::new(SHORT);
    let out = bench.run("out", &[]);
    let (file, out) = (bench.file.to_str().unwrap(), out.to_str().unwrap());
    let problem = bench.path("problem.toml");
    let (svg, merged) = (bench.path("figure.svg"), bench.path("merged"));
    let commands: [(&[&str], i32); 13] = [
        (&["check", file], 0),
        (&["summarise", out], 0),
        (&["summarise", out, "--json"], 0),
        (&["plot", out], 0),
        (&["merge", out, "--out", merged.to_str().unwrap()], 0),
        (&["new", "shop", "--out", problem.to_str().unwrap()], 0),
        (&["solve", "counterexample"], 0),
        (&["diagnose", "counterexample", "--starts", "0", "--figure", svg.to_str().unwrap()], 0),
        (&["schema", "experiment"], 0),
        (&["completions", "bash"], 0),
        (&["--help"], 0),
        (&["solve", "no-such-problem"], 1),
        (&["sovle"], 2),
    ];
    for (arguments, right) in commands {
        let mut command = emphatic(arguments);
        assert_eq!(code(command.stdout(closed()).stderr(closed())), Some(right), "{arguments:?}");
    }
}

/// ESC, OSC, a single-byte CSI, DEL, a reversed reading direction, and a line of its own.
const EVIL: &str = "\u{1b}]0;owned\u{7}\u{1b}[2J\u{9b}31m\u{7f}\u{202e}cod\u{2066}\nwarning: all is lost";

/// Returns it as TOML writes it.
fn escaped() -> String {
    EVIL.chars()
        .map(|c| if c.is_control() { format!("\\u{:04X}", u32::from(c)) } else { c.to_string() })
        .collect()
}

#[track_caller]
fn is_harmless(output: &std::process::Output, what: &str) {
    let bytes = [&output.stdout[..], &output.stderr[..]].concat();
    let text = String::from_utf8(bytes).unwrap();
    let harmful = |c: char| (c.is_control() && c != '\n') || "\u{202e}\u{2066}".contains(c);
    assert!(!text.contains(harmful), "{what}: {text:?}");
    // Nor does it look like a line of the command itself.
    assert!(!text.lines().any(|line| line.starts_with("warning: all is lost")), "{what}: {text}");
}

/// Once raw escape sequences and reversed text from files and paths reached the terminal.
#[test]
fn nothing_from_a_file_reaches_the_terminal_as_it_is() {
    let evil = escaped();
    let problem = format!(
        r#"
states = ["{evil}", "other"]
actions = ["go {evil}", "stay"]
start = "other"
behaviour = "uniform"
transitions = [
  {{ from = "other", action = ["go {evil}", "stay"], to = "{evil}", reward = 1, gamma = 0.9 }},
  {{ from = "{evil}", action = ["go {evil}", "stay"], end = true, reward = 2 }},
]
"#
    );
    let experiment = format!(
        r#"
problem = "problem.toml"
runs = 2
episodes = 10
evaluations = 1
record = ["objective", "target.other"]
[[method]]
name = "{evil}"
algorithm = "ace"
alpha = [0.1, 0.2]
lambda_a = 1
critic = "exact"
interest = [1, {{ "{evil}" = 2 }}]
"#
    );
    let bench = Bench::new(&experiment);
    let problem = bench.write("problem.toml", &problem);
    let out = bench.path("results\u{1b}[31m\u{202e}");
    is_harmless(&succeeded(bench.output(&out, &[])), "run");
    let commands: [(&str, &Path, &[&str]); 11] = [
        ("check", &bench.file, &[]),
        ("summarise", &out, &[]),
        ("summarise", &out, &["--json"]),
        ("summarise", &out, &["--csv"]),
        ("plot", &out, &[]),
        ("plot", &out, &["--method", EVIL, "--kind", "strips"]),
        ("solve", &problem, &[]),
        ("solve", &problem, &["--json"]),
        ("solve", &problem, &["--csv"]),
        ("diagnose", &problem, &["--starts", "0"]),
        ("diagnose", &problem, &["--json"]),
    ];
    for (command, path, options) in commands {
        is_harmless(&succeeded(ended_on(command, path, options)), &format!("{command} {options:?}"));
    }
    // JSON still means the same.
    let json = succeeded(ended_on("solve", &problem, &["--json"]));
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(json["states"][0], EVIL);

    // Errors, with pieces of the file and its path.
    let wrong =
        bench.write("wrong \u{1b}[31m.toml", "states = [\"\u{202e}\u{9b}\"] # \u{202e}\nactoins = 1\n");
    for path in [&wrong, Path::new("no \u{1b}]0;such\u{7}")] {
        let output = ended_on("solve", path, &[]);
        refused(&output, &[]);
        is_harmless(&output, "a message");
    }
    for arguments in
        [&["new", "a\u{9b}1m\u{202e}"][..], &["solve", "--a\u{202e}"], &["run", "x", "--shard", "\u{9b}"]]
    {
        let output = ended(arguments);
        assert_eq!(output.status.code(), Some(2));
        is_harmless(&output, "a message of a wrong argument");
    }
    let unknown = bench.write("unknown.toml", experiment.replace("\"ace\"", &format!("\"{evil}\"")));
    let output = ended_on("check", &unknown, &[]);
    refused(&output, &[]);
    is_harmless(&output, "a message of an unknown word");
}

/// Once a cell wider than 65,535 characters was a panic.
#[test]
fn long_names_and_values_are_cut_in_tables() {
    let long = "x".repeat(70_000);
    let states: Vec<String> =
        (0..2000).map(|k| format!("\"a state with quite a long name, number {k}\"")).collect();
    let problem = format!(
        "states = [{0}, \"{long}\"]\nactions = [\"{long}\", \"b\"]\nstart = \"{long}\"\nbehaviour = \"uniform\"\n\
         transitions = [{{ from = [{0}, \"{long}\"], action = [0, 1], end = true, reward = 1 }}]\n",
        states.join(", ")
    );
    let experiment = format!(
        "problem = \"problem.toml\"\nruns = 1\nepisodes = 5\nevaluations = 1\n[[method]]\nname = \"{long}\"\n\
         algorithm = \"offpac\"\nalpha = 0.1\ncritic = {{ kind = \"gtd\", alpha_v = 0.1, alpha_w = 0 }}\ninterest = [0.5, {{ {} }}]\n",
        states.iter().map(|s| format!("{s} = 2")).collect::<Vec<_>>().join(", ")
    );
    let bench = Bench::new(&experiment);
    let problem = bench.write("problem.toml", &problem);
    let out = bench.run("out", &[]);
    let commands = [("summarise", &out), ("check", &bench.file), ("solve", &problem), ("diagnose", &problem)];
    for (command, path) in commands {
        let output = succeeded(ended_on(command, path, &[]));
        let widest = text(&output).lines().map(|line| line.chars().count()).max();
        assert!(widest < Some(1000), "{command}: {widest:?}");
    }
}

/// Once a name could be a formula in the spreadsheet that opened the file.
#[test]
fn names_are_no_formulas_in_csv() {
    let bench = Bench::new(
        &SHORT.replace("algorithm = \"ace\"", "name = \"=cmd|' /C calc'!A0\"\nalgorithm = \"ace\""),
    );
    let out = bench.run("out", &[]);
    let csv = String::from_utf8(succeeded(ended_on("summarise", &out, &["--csv"])).stdout).unwrap();
    assert!(csv.contains("\n'=cmd|") && !csv.contains("\n="), "{csv}");
    let states = "states = [\"=1+1\", \"-a\", \"-2\"]\nactions = [\"@a\"]\nstart = \"=1+1\"\nbehaviour = \"uniform\"\n\
                  transitions = [{ from = [0, 1, 2], action = \"@a\", end = true, reward = -3 }]\n";
    let problem = bench.write("problem.toml", states);
    let csv = String::from_utf8(succeeded(ended_on("solve", &problem, &["--csv"])).stdout).unwrap();
    let first = |line: &str| line.split(',').next().unwrap_or_default().to_owned();
    assert_eq!(csv.lines().map(first).collect::<Vec<_>>(), ["state", "'=1+1", "'-a", "-2"]);
    // Numbers stay numbers.
    assert!(csv.contains(",-3,"), "{csv}");
}

fn summary_of(problem: &str) -> String {
    let bench = Bench::new(
        "problem = \"problem.toml\"\nruns = 3\nepisodes = 5\nevaluations = 2\n[[method]]\nalgorithm = \"offpac\"\nalpha = 0\ncritic = \"exact\"\n",
    );
    bench.write("problem.toml", problem);
    let out = bench.run("out", &[]);
    let summarised = |options| text(&succeeded(ended_on("summarise", &out, options)));
    summarised(&[]) + &summarised(&["--csv"])
}

/// Once a large objective had three hundred digits, and the mean of several was infinite.
#[test]
fn large_numbers_are_short_and_finite_in_summaries() {
    let text = summary_of(
        "states = [\"s\"]\nactions = [\"a\", \"b\"]\nstart = \"s\"\nbehaviour = \"uniform\"\n\
         transitions = [{ from = \"s\", action = [0, 1], end = true, reward = 1.5e308 }]\n",
    );
    assert!(text.contains("1.500e308"), "{text}");
    let is_number = |word: &&str| word.starts_with(|c: char| c.is_ascii_digit());
    let longest = text.split([' ', ',', '\n']).filter(is_number).map(str::len).max();
    assert!(longest < Some(25) && !text.contains("inf"), "{text}");
}
