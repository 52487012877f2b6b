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
