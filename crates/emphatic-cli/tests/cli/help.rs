//! Help, completions, wrong usage.

use crate::common::{emphatic, ended, printed};
use std::io::Read;
use std::process::Stdio;

const COMMANDS: [&str; 8] = ["run", "check", "summarise", "plot", "merge", "parts", "schema", "completions"];

#[test]
fn every_command_has_help_with_an_example() {
    for command in COMMANDS {
        let help = printed([command, "--help"]);
        assert!(help.contains("Example"), "{command}: {help}");
        assert!(help.contains(&format!("  emphatic {command}")), "{command}: {help}");
        assert!(printed([command, "-h"]).contains("Usage"), "{command}");
    }
}

#[test]
fn the_help_names_every_command_and_the_exit_codes() {
    let help = printed(["--help"]);
    for command in COMMANDS {
        assert!(help.contains(&format!("\n  {command} ")), "{command}: {help}");
    }
    assert!(help.contains("Examples") && help.contains("Exit codes"), "{help}");
}

#[test]
fn the_version_is_printed() {
    assert_eq!(printed(["--version"]), format!("emphatic {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn every_shell_has_completions() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = printed(["completions", shell]);
        assert!(COMMANDS.iter().all(|command| script.contains(command)), "{shell}");
    }
}

#[test]
fn the_schema_is_json() {
    let schema: serde_json::Value = serde_json::from_str(&printed(["schema"])).expect("it is JSON");
    assert_eq!(schema, emphatic_lab::schema());
}

#[test]
fn wrong_usage_ends_with_2() {
    let wrong: &[&[&str]] = &[
        &[],
        &["fly"],
        &["run"],
        &["run", "a.toml", "--fast"],
        &["run", "a.toml", "--threads", "0"],
        &["run", "a.toml", "--threads", "many"],
        &["run", "a.toml", "--runs", "0"],
        &["check", "a.toml", "--runs", "0"],
        &["check", "a.toml", "--runs", "-1"],
        &["run", "a.toml", "--shard", "0/3"],
        &["run", "a.toml", "--shard", "4/3"],
        &["run", "a.toml", "--shard", "1/0"],
        &["run", "a.toml", "--shard", "x"],
        &["run", "a.toml", "--shard", "1/"],
        &["run", "a.toml", "--shard", "99999999999999999999/99999999999999999999"],
        &["summarise", "a", "--json", "--csv"],
        &["summarise", "a", "--select", "best"],
        &["plot"],
        &["plot", "a", "--kind", "pie"],
        &["plot", "a", "--out", "a.pdf"],
        &["merge", "a"],
        &["merge", "--out", "b"],
        &["completions", "dos"],
        &["solve"],
        &["solve", "counterexample", "--lambda-a", "2"],
        &["solve", "counterexample", "--lambda-a", "nan"],
        &["solve", "counterexample", "--top", "-1"],
        &["solve", "counterexample", "--json", "--csv"],
        &["solve", "counterexample", "--csv=actions"],
        &["diagnose"],
        &["diagnose", "counterexample", "--starts", "-1"],
        &["diagnose", "counterexample", "--threads", "0"],
        &["diagnose", "counterexample", "--figure"],
        &["diagnose", "mountain-car", "--features", "observation", "--steps", "10"],
    ];
    for arguments in wrong {
        let output = ended(*arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
        assert!(said.contains("Usage") || said.contains("--help"), "{arguments:?}: {said}");
    }
}

/// As in `emphatic schema | head -1`.
#[test]
fn a_reader_may_stop_reading() {
    for arguments in [["schema"].as_slice(), &["completions", "bash"]] {
        let mut child =
            emphatic(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        drop(child.stdout.take());
        let mut said = String::new();
        child.stderr.take().expect("it is piped").read_to_string(&mut said).expect("it is text");
        assert!(child.wait().expect("it ends").success(), "{arguments:?}: {said}");
        assert_eq!(said, "", "{arguments:?}");
    }
}

#[test]
fn the_page_of_parts_is_current() {
    let committed = include_str!("../../../../docs/parts.md");
    assert!(
        printed(["parts", "--markdown"]) == committed,
        "docs/parts.md is out of date: run `cargo xtask generate`"
    );
}

#[test]
fn every_part_is_listed_and_explained() {
    let list = printed(["parts"]);
    for entry in emphatic::Catalogue::standard().iter() {
        assert!(list.contains(&format!("\n  {} ", entry.name)), "{}", entry.name);
        for name in [entry.name, entry.class] {
            let explained = printed(["parts", name]);
            assert!(
                explained.contains(entry.about) && explained.contains(entry.source),
                "{name}: {explained}"
            );
            for setting in entry.settings {
                assert!(explained.contains(&format!("\n  {} ", setting.name)), "{name}: {explained}");
            }
        }
    }
    let parts: serde_json::Value =
        serde_json::from_str(&printed(["parts", "gtd", "--json"])).expect("it is JSON");
    assert_eq!(parts[0]["settings"][2]["default"], 0.0);
    // Once algorithms were listed, but not explained.
    for algorithm in emphatic::catalogue::ALGORITHMS {
        let explained = printed(["parts", algorithm.name]);
        assert!(explained.contains(algorithm.about) && explained.contains(algorithm.emphasis), "{explained}");
    }
    // Once the schedule of this name hid the basis.
    let both = printed(["parts", "polynomial"]);
    assert!(both.contains("polynomial (schedule") && both.contains("polynomial (basis"), "{both}");
}

#[test]
fn a_part_that_does_not_exist_is_refused_with_a_suggestion() {
    let output = ended(["parts", "gdt"]);
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1));
    assert!(message.contains("there is no part `gdt`") && message.contains("`gtd`"), "{message}");
}
