//! `cargo xtask test`.

use crate::{cargo, output, run};
use std::process::Command;

/// Formatting, lints, documentation and all tests.
pub(crate) fn test() -> Result<(), String> {
    install("fmt", "rustfmt")?;
    install("clippy", "clippy")?;
    run(cargo().args(["fmt", "--all", "--check"]))?;
    run(cargo().args(["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]))?;
    run(cargo().args(["doc", "--workspace", "--no-deps"]).env("RUSTDOCFLAGS", "-D warnings"))?;
    run(cargo().args(["test", "--workspace"]))?;
    readme_shows_what_the_example_prints()
}

/// The README's excerpt is made of lines that the example really prints.
fn readme_shows_what_the_example_prints() -> Result<(), String> {
    let readme = std::fs::read_to_string("README.md").map_err(|error| format!("README.md: {error}"))?;
    let (_, excerpt) = readme.split_once("```text\n").ok_or("README.md has no ```text block")?;
    let (excerpt, _) = excerpt.split_once("```").ok_or("README.md: the ```text block has no end")?;
    let printed = output(cargo().args(["run", "--quiet", "--release", "--example", "counterexample"]))?;
    match excerpt.lines().find(|line| !printed.lines().any(|other| other == *line)) {
        Some(line) => {
            Err(format!("README.md shows a line that the example does not print: {line}\n\n{printed}"))
        }
        None => Ok(()),
    }
}

/// Installs a part of the Rust toolchain if it is missing.
fn install(command: &str, component: &str) -> Result<(), String> {
    if output(cargo().args([command, "--version"])).is_ok() {
        return Ok(());
    }
    run(Command::new("rustup").args(["component", "add", component]))
}
