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
    run(cargo().args(["run", "--release", "--package", "emphatic", "--example", "counterexample"]))
}

/// Installs a part of the Rust toolchain if it is missing.
fn install(command: &str, component: &str) -> Result<(), String> {
    if output(cargo().args([command, "--version"])).is_ok() {
        return Ok(());
    }
    run(Command::new("rustup").args(["component", "add", component]))
}
