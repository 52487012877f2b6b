//! `cargo xtask test`.

use crate::{cargo, output, python, run};
use std::process::Command;

/// Formatting, lints, documentation and all tests; in full, also that the README has the verdicts of a reproduction, and with many
/// more kills.
pub(crate) fn test(full: bool) -> Result<(), String> {
    install("fmt", "rustfmt")?;
    install("clippy", "clippy")?;
    install_deny()?;
    install_browser()?;
    run(cargo().args(["fmt", "--all", "--check"]))?;
    run(cargo().args(["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]))?;
    // Licences, banned crates and sources, as `deny.toml` says. (Everything has been downloaded by now.)
    run(cargo().args(["deny", "--offline", "check", "licenses", "bans", "sources"]))?;
    run(cargo().args(["doc", "--workspace", "--no-deps"]).env("RUSTDOCFLAGS", "-D warnings"))?;
    // With the Python package's module, which no test in Rust needs.
    run(cargo().args(["build", "--workspace", "--all-targets"]))?;
    let mut tests = cargo();
    if full {
        tests.env("EMPHATIC_KILLS", "200");
    }
    run(tests.args(["test", "--workspace"]))?;
    python::test(full)?;
    if full { readme_says_what_is_reproduced() } else { Ok(()) }
}

/// The README has the verdicts of a reproduction at full scale.
fn readme_says_what_is_reproduced() -> Result<(), String> {
    let readme = std::fs::read_to_string("README.md").map_err(|error| format!("README.md: {error}"))?;
    let out = "target/reproduction";
    // Results of an older version would be gone on with.
    let _ = std::fs::remove_dir_all(out);
    let printed =
        output(cargo().args(["run", "--quiet", "--release", "--", "reproduce", "--quiet", "--out", out]))?;
    println!("{printed}");
    // A claim begins a line with its name and its verdict.
    let claims = printed.lines().filter(|line| line.starts_with(['T', 'F']));
    let claims: Vec<(&str, &str)> = claims.filter_map(|line| line.split_once(' ')).collect();
    for (id, verdict) in &claims {
        let row = readme.lines().find(|line| line.starts_with(&format!("| {id} |")));
        let said = row.and_then(|row| row.split('|').nth(3)).map(|cell| cell.replace('*', ""));
        let words = ["confirmed", "refuted", "not decided"];
        let is = |word: &&str| verdict.trim_start().starts_with(word);
        if said.as_deref().map(str::trim) != words.iter().copied().find(is) {
            return Err(format!("README.md does not have the verdict of {id}: {}", verdict.trim()));
        }
    }
    if claims.len() == 16 { Ok(()) } else { Err(format!("there are {} claims, not 16", claims.len())) }
}

/// Compiled without optimisation, which takes a third of the time: it only reads a few files.
fn install_deny() -> Result<(), String> {
    if output(cargo().args(["deny", "--version"])).is_ok() {
        return Ok(());
    }
    run(cargo().args(["install", "cargo-deny", "--version", "0.20.2", "--locked", "--debug", "--quiet"]))
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
