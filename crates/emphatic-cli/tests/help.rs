//! Help, completions, wrong usage.

use assert_cmd::Command;
use std::io::Read;
use std::process::Stdio;

const COMMANDS: [&str; 6] = ["run", "check", "summarise", "merge", "schema", "completions"];

fn emphatic(arguments: &[&str]) -> std::process::Output {
    let mut command = Command::cargo_bin("emphatic").expect("it is built");
    command.args(arguments).output().expect("it runs")
}

/// What is printed by a command that ends well.
fn printed(arguments: &[&str]) -> String {
    let output = emphatic(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("it is text")
}

#[test]
fn every_command_has_help_with_an_example() {
    for command in COMMANDS {
        let help = printed(&[command, "--help"]);
        assert!(help.contains("Example"), "{command}: {help}");
        assert!(help.contains(&format!("  emphatic {command}")), "{command}: {help}");
        assert!(printed(&[command, "-h"]).contains("Usage"), "{command}");
    }
}

#[test]
fn the_help_names_every_command_and_the_exit_codes() {
    let help = printed(&["--help"]);
    for command in COMMANDS {
        assert!(help.contains(&format!("\n  {command} ")), "{command}: {help}");
    }
    assert!(help.contains("Examples") && help.contains("Exit codes"), "{help}");
}

#[test]
fn the_version_is_printed() {
    assert_eq!(printed(&["--version"]), format!("emphatic {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn every_shell_has_completions() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = printed(&["completions", shell]);
        assert!(COMMANDS.iter().all(|command| script.contains(command)), "{shell}");
    }
}

#[test]
fn the_schema_is_json() {
    let schema: serde_json::Value = serde_json::from_str(&printed(&["schema"])).expect("it is JSON");
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
        &["merge", "a"],
        &["merge", "--out", "b"],
        &["completions", "dos"],
    ];
    for arguments in wrong {
        let output = emphatic(arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
        assert!(said.contains("Usage") || said.contains("--help"), "{arguments:?}: {said}");
    }
}

/// As `emphatic schema | head -1` does it.
#[test]
fn a_reader_may_stop_reading() {
    for arguments in [["schema"].as_slice(), &["completions", "bash"]] {
        let mut child = std::process::Command::new(assert_cmd::cargo::cargo_bin("emphatic"))
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        drop(child.stdout.take());
        let mut said = String::new();
        child.stderr.take().expect("it is piped").read_to_string(&mut said).expect("it is text");
        assert!(child.wait().expect("it ends").success(), "{arguments:?}: {said}");
        assert_eq!(said, "", "{arguments:?}");
    }
}
