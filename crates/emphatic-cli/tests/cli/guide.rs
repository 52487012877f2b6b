//! The guide and the pictures are what the command prints and draws.

use crate::common::{Bench, succeeded};
use std::fs;
use std::path::{Path, PathBuf};

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

/// Runs the command in a directory of its own and returns what it prints.
#[track_caller]
fn printed(bench: &Bench, arguments: &[&str]) -> String {
    String::from_utf8(succeeded(bench.ended(arguments)).stdout).expect("it is text")
}

#[test]
fn every_output_in_the_guide_is_what_the_command_prints() {
    let bench = Bench::empty();
    let guide = fs::read_to_string(docs().join("diagnose.md")).expect("the guide is there");
    printed(&bench, &["new", "shop"]);
    printed(&bench, &["diagnose", "shop.toml", "--write", "experiment.toml"]);
    printed(&bench, &["run", "experiment.toml", "--quiet"]);
    let mut blocks = 0;
    for block in guide.split("```text\n$ emphatic ").skip(1) {
        let (command, rest) = block.split_once('\n').expect("a command and its output");
        let (shown, _) = rest.split_once("\n```").expect("the block ends");
        let printed = printed(&bench, &command.split(' ').collect::<Vec<_>>());
        assert_eq!(shown, printed.trim_end(), "{command}");
        blocks += 1;
    }
    assert_eq!(blocks, 3);
}

#[test]
fn the_pictures_are_what_the_command_draws() {
    let bench = Bench::empty();
    for (problem, picture) in [("shop", "shop.svg"), ("near-optimal", "counterexample.svg")] {
        printed(&bench, &["diagnose", problem, "--figure", picture]);
        let drawn = fs::read(bench.path(picture)).expect("it is drawn");
        assert!(
            drawn == fs::read(docs().join(picture)).expect("it is there"),
            "{picture} is drawn otherwise"
        );
    }
}

/// The page on simulators shows the experiment that comes with the program, and its commands work on it.
#[test]
fn the_page_on_simulators_is_true() {
    let page = fs::read_to_string(docs().join("simulators.md")).expect("the page is there");
    let file = docs().join("../experiments/mountain-car.toml");
    let experiment = fs::read_to_string(file).expect("the experiment is there");
    let (shown, rest) = block(&page, "```toml\n");
    for line in shown.lines() {
        assert!(experiment.lines().any(|known| known == line), "{line}");
    }
    // In few steps: the whole takes minutes.
    let shorter = |line: &str| match line.split_once(" = ").map(|(key, _)| key) {
        Some("steps") => "steps = 300\n".to_owned(),
        Some(key @ ("runs" | "fresh_runs")) => format!("{key} = 1\n"),
        Some(key @ ("evaluations" | "fresh_evaluations")) => format!("{key} = 2\n"),
        Some("cap") => "cap = 50\n".to_owned(),
        _ => format!("{line}\n"),
    };
    let bench = Bench::empty();
    fs::create_dir(bench.path("experiments")).expect("the directory is new");
    bench.write("experiments/mountain-car.toml", experiment.lines().map(shorter).collect::<String>());
    let (commands, _) = block(rest, "```\n");
    let mut count = 0;
    for command in commands.lines() {
        let command = command.split('#').next().unwrap_or_default().trim();
        let arguments: Vec<&str> = command.split(' ').skip(1).collect();
        printed(&bench, &arguments);
        count += 1;
    }
    assert_eq!(count, 4);
    assert!(bench.path("mountain-car.svg").exists());
}

/// Returns the first block of a page that begins like this, and what follows it.
fn block<'a>(page: &'a str, begins: &str) -> (&'a str, &'a str) {
    let (_, rest) = page.split_once(begins).expect("the page has such a block");
    rest.split_once("```").expect("it ends")
}
