//! The Python package: its tests and its wheel.

use crate::{output, run};
use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::path::{Path, PathBuf};
use std::process::Command;

pub(crate) const PACKAGE: &str = "bindings/python";

/// The interpreter that runs the tests.
const PYTHON: &str = "python3";

/// The packages that the tests need.
const REQUIREMENTS: &str = "bindings/python/tests/requirements.txt";

/// Checks what does not need the native module: formatting, lints and types. Returns the interpreter to test with; with `full`, it has
/// PyTorch (3 GB).
pub(crate) fn check_sources(full: bool) -> Result<PathBuf, String> {
    let python = environment()?;
    if full {
        run(pip(&python).arg("torch"))?;
    }
    let ruff =
        |arguments: &[&str]| run(Command::new(&python).args(["-m", "ruff"]).args(arguments).arg(PACKAGE));
    ruff(&["format", "--check"])?;
    ruff(&["check"])?;
    // The checkers take the package's types from where it is installed.
    let package = site_packages(&python)?.join("emphatic");
    let _ = std::fs::remove_dir_all(&package);
    run(Command::new("cp").arg("-r").arg(format!("{PACKAGE}/python/emphatic")).arg(&package))?;
    let files = ["python/emphatic", "tests", "examples"].map(|dir| format!("{PACKAGE}/{dir}"));
    let config = format!("{PACKAGE}/pyproject.toml");
    run(Command::new(&python).args(["-m", "mypy", "--strict", "--config-file", &config]).args(&files))?;
    run(Command::new(&python).args(["-m", "pyright", "--project", &config, "--pythonpath"]).arg(&python))?;
    Ok(python)
}

/// Tests the package as it was built with the workspace. pip would compile everything again, because the dependencies' features differ
/// from the workspace's; `cargo xtask wheel` installs it as a user does.
pub(crate) fn test(python: &Path) -> Result<(), String> {
    let library = format!("target/debug/{DLL_PREFIX}_native{DLL_SUFFIX}");
    run(Command::new("cp").arg(library).arg(site_packages(python)?.join("emphatic/_native.abi3.so")))?;
    run(Command::new(python).args(["-m", "mypy.stubtest", "emphatic._native"]))?;
    // The command's own tests have built it.
    let command = Path::new("target/debug/emphatic").canonicalize();
    pytest(python, Some(&command.map_err(|error| format!("target/debug/emphatic: {error}"))?))
}

/// Where an interpreter finds installed packages.
fn site_packages(python: &Path) -> Result<PathBuf, String> {
    let code = "import sysconfig; print(sysconfig.get_path('platlib'))";
    output(Command::new(python).args(["-c", code])).map(|printed| PathBuf::from(printed.trim()))
}

/// Builds the wheel, and tests it in an empty environment.
pub(crate) fn wheel() -> Result<(), String> {
    let builder = environment()?;
    let wheels = Path::new("target/wheels");
    // A wheel of an older version would be tested instead.
    let _ = std::fs::remove_dir_all(wheels);
    run(Command::new(&builder)
        .args(["-m", "maturin", "build", "--release", "--manifest-path"])
        .arg(format!("{PACKAGE}/Cargo.toml"))
        .arg("--out")
        .arg(wheels))?;
    let built = std::fs::read_dir(wheels).map_err(|error| format!("{}: {error}", wheels.display()))?;
    let built: Vec<PathBuf> = built.flatten().map(|entry| entry.path()).collect();
    let [wheel] = &built[..] else { return Err(format!("there are {} wheels, not one", built.len())) };
    // First alone, in every supported Python of this machine.
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

/// Installs the wheel and runs a first example.
fn try_out(python: &Path, wheel: &Path) -> Result<(), String> {
    run(pip(python).arg(wheel))?;
    let first = "import emphatic; problem = emphatic.Problem.open('counterexample'); print(problem.solve()); \
                 emphatic.TrueACE(problem, alpha=0.1).learn(problem.stream(1000, seed=1))";
    run(Command::new(python).args(["-c", first]))
}

/// Returns an interpreter with the packages that the tests need, in an environment of its own.
fn environment() -> Result<PathBuf, String> {
    let dir = Path::new("target/python/tests");
    let (python, installed) = (dir.join("bin/python"), dir.join("requirements.txt"));
    let required = std::fs::read(REQUIREMENTS).map_err(|error| format!("{REQUIREMENTS}: {error}"))?;
    // pip takes seconds to find out that nothing is missing.
    if std::fs::read(&installed).is_ok_and(|installed| installed == required) {
        return Ok(python);
    }
    if !python.exists() {
        new_environment(PYTHON, dir)?;
    }
    run(pip(&python).args(["--requirement", REQUIREMENTS]))?;
    std::fs::write(&installed, required).map_err(|error| format!("{}: {error}", installed.display()))?;
    Ok(python)
}

fn new_environment(python: &str, dir: impl AsRef<Path>) -> Result<PathBuf, String> {
    let dir = dir.as_ref();
    run(Command::new(python).args(["-m", "venv", "--clear"]).arg(dir)).map_err(|error| {
        format!("{error}\nthe tests of the Python package need Python 3.11 or newer, with its `venv` module")
    })?;
    Ok(dir.join("bin/python"))
}

pub(crate) fn pip(python: &Path) -> Command {
    let mut command = Command::new(python);
    command.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
    command
}

/// Runs the tests and the examples in docstrings, on all cores. With the path of the command, also tests that the package agrees
/// with it.
fn pytest(python: &Path, command: Option<&Path>) -> Result<(), String> {
    let tests = format!("{PACKAGE}/tests");
    let mut pytest = Command::new(python);
    pytest.args(["-m", "pytest", "--quiet", "-p", "no:cacheprovider", "--numprocesses", "auto"]);
    pytest.args(["--dist", "worksteal", "--doctest-modules", "--pyargs", "emphatic", &tests]);
    run(pytest.envs(command.map(|path| ("EMPHATIC_COMMAND", path))))
}
