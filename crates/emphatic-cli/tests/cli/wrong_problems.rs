//! Wrong problem files: the message of `emphatic solve` about each.
//!
//! A file that is wrong ends with code 1 and a message that points at the place. The snapshots hold all messages, to be
//! read as a user reads them.

use crate::common::{Bench, Case, replaced, replaced_in, succeeded, whole_in};
use std::fs;

const PROBLEM: &str = r#"states = ["S0", "S1", "S2"]
actions = ["A0", "A1"]
start = "S0"
gamma = 0.9
behaviour = { A0 = 0.25, A1 = 0.75 }
target = { A0 = 0.9, A1 = 0.1 }
interest = 1.0
transitions = [
  { from = "S0", action = "A0", to = "S1" },
  { from = "S0", action = "A1", to = "S2", probability = 0.5 },
  { from = "S0", action = "A1", to = "S1", probability = 0.5 },
  { from = "S1", action = "A0", reward = 2.0, end = true },
  { from = "S1", action = "A1", end = true },
  { from = "S2", action = ["A0", "A1"], reward = 1.0, end = true },
]
[features]
actor = { alias = [["S1", "S2"]] }
critic = "states"
"#;

/// Returns the messages about these files, one below the other.
fn messages(file: &str, cases: &[Case]) -> String {
    Bench::empty().messages(&["solve", file], file, cases)
}

#[test]
fn wrong_lists() {
    insta::assert_snapshot!(messages("p.toml", &replaced_in(PROBLEM, include_str!("wrong/lists.txt"))));
}

#[test]
fn wrong_patterns_and_variants() {
    let cases = whole_in(include_str!("wrong/patterns-and-variants.txt"));
    insta::assert_snapshot!(messages("p.toml", &cases));
}

#[test]
fn wrong_json() {
    insta::assert_snapshot!(messages("p.json", &whole_in(include_str!("wrong/json.txt"))));
}

/// Once all of a line was shown, and all of a name, however long they were.
#[test]
fn of_long_lines_and_names_a_part_is_shown() {
    let name = "long".repeat(7500);
    let json = |start: &str| {
        format!(
            "{{\"states\": [\"{name}\", \"S1\"], \"actions\": 1, \"start\": {start}, \"behaviour\": \"uniform\", \"transitions\": [{{\"from\": [0, 1], \"action\": 0, \"end\": true, \"probability\": 0.5}}]}}"
        )
    };
    let cases = [
        ("unknown state", json("\"S2\"").into()),
        ("unknown state of a long name", json(&format!("\"{name}S\"")).into()),
        ("sum", json("0").into()),
    ];
    insta::assert_snapshot!(messages("p.json", &cases));
}

#[test]
fn what_is_no_file() {
    let bench = Bench::empty();
    fs::create_dir(bench.path("directory.toml")).unwrap();
    bench.write("bytes.toml", b"states = [\"\xff\"]\n");
    let large = fs::File::create(bench.path("large.toml")).unwrap();
    large.set_len(1 << 30).expect("a file with a hole");
    let files = ["missing.toml", "counter-example", "directory.toml", "bytes.toml", "large.toml"];
    insta::assert_snapshot!(files.map(|file| bench.message(&["solve", file], file)).concat());
}

/// A sum that is off by rounding is scaled to one; one that is further off is a mistake.
#[test]
fn a_sum_may_be_off_by_rounding() {
    let bench = Bench::empty();
    let solved = |line: &str, with: &str, options: &[&str]| {
        bench.write("p.toml", replaced(PROBLEM, line, with));
        let output = bench.ended(&[&["solve", "p.toml"], options].concat());
        String::from_utf8(succeeded(output).stdout).expect("it is text")
    };
    // One way alone has probability 1 afterwards, to the bit.
    let line = r#"  { from = "S0", action = "A0""#;
    let exact = r#"  { from = "S0", action = "A0", to = "S1", probability = 1 },"#;
    let off = r#"  { from = "S0", action = "A0", to = "S1", probability = 1.000000000000001 },"#;
    assert_eq!(solved(line, off, &["--json"]), solved(line, exact, &["--json"]));
    // One of two transitions is more likely by so little that no printed digit shows it.
    let line = r#"  { from = "S0", action = "A1", to = "S1""#;
    let exact = r#"  { from = "S0", action = "A1", to = "S1", probability = 0.5 },"#;
    let off = r#"  { from = "S0", action = "A1", to = "S1", probability = 0.500000000000001 },"#;
    assert_eq!(solved(line, off, &[]), solved(line, exact, &[]));
}

#[test]
fn the_good_file_is_good() {
    let bench = Bench::empty();
    bench.write("p.toml", PROBLEM);
    succeeded(bench.ended(&["solve", "p.toml"]));
}
