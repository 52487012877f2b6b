//! The Python package: its tests and its wheel.

use crate::run;
use std::path::{Path, PathBuf};
use std::process::Command;

pub(crate) const PACKAGE: &str = "bindings/python";

/// What the tests need beside the package.
const REQUIREMENTS: &str = "bindings/python/tests/requirements.txt";

/// Installs the package as a user would and tests it; in full, with PyTorch too (3 GB).
pub(crate) fn test(full: bool) -> Result<(), String> {
    let python = environment("target/python/tests", false)?;
    // Compiled as all other tests are, so that it need not be compiled twice.
    run(pip(&python)
        .args(["--force-reinstall", "--no-deps"])
        .arg(PACKAGE)
        .env("MATURIN_PEP517_ARGS", "--profile dev"))?;
    if full {
        run(pip(&python).arg("torch"))?;
    }
    style(&python)?;
    types(&python)?;
    pytest(&python)
}

/// Builds the wheel, and tests it in an environment where nothing else is.
pub(crate) fn wheel() -> Result<(), String> {
    let builder = environment("target/python/tests", false)?;
    let wheels = Path::new("target/wheels");
    // A wheel of an older version would be tested in its place.
    let _ = std::fs::remove_dir_all(wheels);
    run(Command::new(&builder)
        .args(["-m", "maturin", "build", "--release", "--manifest-path"])
        .arg(format!("{PACKAGE}/Cargo.toml"))
        .arg("--out")
        .arg(wheels))?;
    let built = std::fs::read_dir(wheels).map_err(|error| format!("{}: {error}", wheels.display()))?;
    let built: Vec<PathBuf> = built.flatten().map(|entry| entry.path()).collect();
    let [wheel] = &built[..] else { return Err(format!("there is not one wheel but {}", built.len())) };
    let python = environment("target/python/wheel", true)?;
    run(pip(&python).arg(wheel))?;
    pytest(&python)?;
    println!("{}", wheel.display());
    Ok(())
}

/// An interpreter with what the tests need, in an environment of its own.
fn environment(dir: &str, anew: bool) -> Result<PathBuf, String> {
    let python = Path::new(dir).join("bin/python");
    if anew || !python.exists() {
        run(Command::new("python3").args(["-m", "venv", "--clear", dir])).map_err(|error| {
            format!("{error}\nthe Python package needs Python 3.10 or newer, with its `venv` module")
        })?;
    }
    run(pip(&python).args(["--requirement", REQUIREMENTS]))?;
    Ok(python)
}

/// `pip install` of what is to be added.
pub(crate) fn pip(python: &Path) -> Command {
    let mut command = Command::new(python);
    command.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
    command
}

/// The tests, and the examples in docstrings. Where the command has been built, the package must agree with it.
fn pytest(python: &Path) -> Result<(), String> {
    let tests = format!("{PACKAGE}/tests");
    let command = std::path::absolute("target/debug/emphatic").map_err(|error| error.to_string())?;
    for what in [vec![tests.as_str()], vec!["--doctest-modules", "--pyargs", "emphatic"]] {
        let mut pytest = Command::new(python);
        pytest.args(["-m", "pytest", "--quiet", "-p", "no:cacheprovider"]).args(what);
        if command.exists() {
            pytest.env("EMPHATIC_COMMAND", &command);
        }
        run(&mut pytest)?;
    }
    Ok(())
}

/// Formatting and lints.
fn style(python: &Path) -> Result<(), String> {
    let ruff =
        |arguments: &[&str]| run(Command::new(python).args(["-m", "ruff"]).args(arguments).arg(PACKAGE));
    ruff(&["format", "--check"])?;
    ruff(&["check"])
}

/// The types, as two checkers see them.
fn types(python: &Path) -> Result<(), String> {
    let files = ["python/emphatic", "tests", "examples"].map(|dir| format!("{PACKAGE}/{dir}"));
    let config = format!("{PACKAGE}/pyproject.toml");
    run(Command::new(python).args(["-m", "mypy", "--strict", "--config-file", &config]).args(&files))?;
    run(Command::new(python).args(["-m", "pyright", "--project", &config, "--pythonpath"]).arg(python))
}
