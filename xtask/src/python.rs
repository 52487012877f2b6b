//! The Python package: its tests and its wheel.

use crate::{output, run};
use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::path::{Path, PathBuf};
use std::process::Command;

pub(crate) const PACKAGE: &str = "bindings/python";

/// The interpreter that the tests are run by.
const PYTHON: &str = "python3";

/// What the tests need beside the package.
const REQUIREMENTS: &str = "bindings/python/tests/requirements.txt";

/// Tests the package as it was built with everything else; in full, with PyTorch too (3 GB).
pub(crate) fn test(full: bool) -> Result<(), String> {
    let python = environment()?;
    place(&python)?;
    if full {
        run(pip(&python).arg("torch"))?;
    }
    style(&python)?;
    types(&python)?;
    // The tests of the command have built it.
    let command = Path::new("target/debug/emphatic").canonicalize();
    pytest(&python, Some(&command.map_err(|error| format!("target/debug/emphatic: {error}"))?))
}

/// Puts the package where the interpreter finds it. pip would compile everything once more, since what a package asks of its
/// dependencies is not what all packages ask of them; `cargo xtask wheel` installs it as a user does.
fn place(python: &Path) -> Result<(), String> {
    let asked = "import sysconfig; print(sysconfig.get_path('platlib'))";
    let site = output(Command::new(python).args(["-c", asked]))?;
    let package = Path::new(site.trim()).join("emphatic");
    let library = format!("target/debug/{DLL_PREFIX}_native{DLL_SUFFIX}");
    let put = || -> std::io::Result<()> {
        let _ = std::fs::remove_dir_all(&package);
        std::fs::create_dir_all(&package)?;
        for file in std::fs::read_dir(format!("{PACKAGE}/python/emphatic"))? {
            let file = file?;
            if file.file_type()?.is_file() {
                std::fs::copy(file.path(), package.join(file.file_name()))?;
            }
        }
        std::fs::copy(&library, package.join("_native.abi3.so")).map(|_| ())
    };
    println!("$ cp {PACKAGE}/python/emphatic/* {library} {}", package.display());
    put().map_err(|error| format!("{}: {error}", package.display()))
}

/// Builds the wheel, and tests it in an environment where nothing else is.
pub(crate) fn wheel() -> Result<(), String> {
    let builder = environment()?;
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
    // First where nothing else is, in every Python that it is for and that is there.
    for python in (10..20).map(|minor| format!("python3.{minor}")) {
        if output(Command::new(&python).arg("--version")).is_ok() {
            try_out(&new_environment(&python, "target/python/wheel-alone")?, wheel)?;
        }
    }
    let python = new_environment(PYTHON, "target/python/wheel")?;
    try_out(&python, wheel)?;
    run(pip(&python).args(["--requirement", REQUIREMENTS]))?;
    pytest(&python, None)?;
    println!("{}", wheel.display());
    Ok(())
}

/// Installs the wheel and does something with it.
fn try_out(python: &Path, wheel: &Path) -> Result<(), String> {
    run(pip(python).arg(wheel))?;
    let first = "import emphatic; problem = emphatic.Problem.open('counterexample'); print(problem.solve()); \
                 emphatic.TrueACE(problem, alpha=0.1).learn(problem.stream(1000, seed=1))";
    run(Command::new(python).args(["-c", first]))
}

/// An interpreter with what the tests need, in an environment of its own.
fn environment() -> Result<PathBuf, String> {
    let dir = "target/python/tests";
    let python = Path::new(dir).join("bin/python");
    let python = if python.exists() { python } else { new_environment(PYTHON, dir)? };
    run(pip(&python).args(["--requirement", REQUIREMENTS]))?;
    Ok(python)
}

fn new_environment(python: &str, dir: &str) -> Result<PathBuf, String> {
    run(Command::new(python).args(["-m", "venv", "--clear", dir])).map_err(|error| {
        format!("{error}\nthe tests of the Python package need Python 3.11 or newer, with its `venv` module")
    })?;
    Ok(Path::new(dir).join("bin/python"))
}

pub(crate) fn pip(python: &Path) -> Command {
    let mut command = Command::new(python);
    command.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
    command
}

/// The tests, and the examples in docstrings; with the path of the command, also that the package agrees with it.
fn pytest(python: &Path, command: Option<&Path>) -> Result<(), String> {
    let tests = format!("{PACKAGE}/tests");
    for what in [vec![tests.as_str()], vec!["--doctest-modules", "--pyargs", "emphatic"]] {
        let mut pytest = Command::new(python);
        pytest.args(["-m", "pytest", "--quiet", "-p", "no:cacheprovider"]).args(what);
        run(pytest.envs(command.map(|path| ("EMPHATIC_COMMAND", path))))?;
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
    run(Command::new(python).args(["-m", "mypy.stubtest", "emphatic._native"]))?;
    run(Command::new(python).args(["-m", "pyright", "--project", &config, "--pythonpath"]).arg(python))
}
