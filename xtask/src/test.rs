//! `cargo xtask test`.

use crate::{cargo, output, run};
use std::process::Command;

/// Formatting, lints, documentation and all tests.
pub(crate) fn test() -> Result<(), String> {
    install("fmt", "rustfmt")?;
    install("clippy", "clippy")?;
    install_browser()?;
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

/// The report is tested in Chromium. Where it is missing and can be had from Debian's packages, it is installed.
fn install_browser() -> Result<(), String> {
    let there = |name: &&str| output(Command::new(name).arg("--version")).is_ok();
    if std::env::var_os("CHROMIUM").is_some()
        || ["chromium", "chromium-browser", "google-chrome"].iter().any(there)
    {
        return Ok(());
    }
    let apt = |arguments: &[&str]| {
        run(Command::new("apt-get").args(arguments).env("DEBIAN_FRONTEND", "noninteractive"))
    };
    apt(&["update"]).and_then(|()| apt(&["install", "--yes", "--no-install-recommends", "chromium"])).map_err(|error| {
        format!("the report's test needs Chromium, which could not be installed ({error}): install it, or set CHROMIUM to its path")
    })
}

/// Installs a part of the Rust toolchain if it is missing.
fn install(command: &str, component: &str) -> Result<(), String> {
    if output(cargo().args([command, "--version"])).is_ok() {
        return Ok(());
    }
    run(Command::new("rustup").args(["component", "add", component]))
}
