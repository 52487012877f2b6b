//! `cargo xtask test`.

use crate::{cargo, output, python, run};
use std::process::Command;

/// Formatting, lints, documentation and all tests; in full, also that the README has the verdicts of a reproduction, and with many
/// more kills.
pub(crate) fn test(full: bool) -> Result<(), String> {
    install("fmt", "rustfmt")?;
    install("clippy", "clippy")?;
    run(cargo().args(["fmt", "--all", "--check"]))?;
    // What is downloaded, and checkers that use one core, beside the compiler.
    let python = std::thread::scope(|scope| {
        let others = scope.spawn(|| install_browser().and_then(|()| python::check_sources(full)));
        check_rust()?;
        others.join().map_err(|_| "the checks of the Python package panicked")?
    })?;
    let mut tests = cargo();
    if full {
        tests.env("EMPHATIC_KILLS", "200");
    }
    run(tests.args(["test", "--workspace"]))?;
    python::test(&python)?;
    if full { readme_says_what_is_reproduced() } else { Ok(()) }
}

/// Lints, documentation, licences, and that everything can be built.
fn check_rust() -> Result<(), String> {
    run(cargo().args(["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]))?;
    run(cargo().args(["doc", "--workspace", "--no-deps"]).env("RUSTDOCFLAGS", "-D warnings"))?;
    install_deny()?;
    // Licences, banned crates and sources, as `deny.toml` says. It downloads what other platforms depend on.
    run(cargo().args(["deny", "--locked", "check", "licenses", "bans", "sources"]))?;
    // With the Python package's module, which no test in Rust needs.
    run(cargo().args(["build", "--workspace", "--all-targets"]))
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

/// Compiled without optimisation and debug information, which takes a fraction of the time: it only reads a few files.
fn install_deny() -> Result<(), String> {
    if output(cargo().args(["deny", "--version"])).is_ok() {
        return Ok(());
    }
    let arguments = ["install", "cargo-deny", "--version", "0.20.2", "--locked", "--debug", "--quiet"];
    run(cargo().args(arguments).env("CARGO_PROFILE_DEV_DEBUG", "false"))
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
