//! The Python package: its tests and its wheel.

use crate::{output, run, shown};
use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

pub(crate) const PACKAGE: &str = "bindings/python";

/// The interpreter that runs the tests.
const PYTHON: &str = "python3";

/// The packages that the tests need.
const REQUIREMENTS: &str = "bindings/python/tests/requirements.txt";

/// Tests the package as it was built with the workspace; with `full`, also with PyTorch (3 GB).
pub(crate) fn test(full: bool) -> Result<(), String> {
    let python = environment()?;
    place(&python)?;
    if full {
        run(pip(&python).arg("torch"))?;
    }
    check_style(&python)?;
    check_types(&python)?;
    // The command's own tests have built it.
    let command = Path::new("target/debug/emphatic").canonicalize();
    pytest(&python, Some(&command.map_err(|error| format!("target/debug/emphatic: {error}"))?))
}

/// Copies the package to where the interpreter finds it. pip would compile everything again, because the dependencies' features
/// differ from the workspace's; `cargo xtask wheel` installs it as a user does.
fn place(python: &Path) -> Result<(), String> {
    let code = "import sysconfig; print(sysconfig.get_path('platlib'))";
    let site = output(Command::new(python).args(["-c", code]))?;
    let package = Path::new(site.trim()).join("emphatic");
    let library = format!("target/debug/{DLL_PREFIX}_native{DLL_SUFFIX}");
    let copy = || -> std::io::Result<()> {
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
    copy().map_err(|error| format!("{}: {error}", package.display()))
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

/// Checks formatting and lints.
fn check_style(python: &Path) -> Result<(), String> {
    let ruff =
        |arguments: &[&str]| run(Command::new(python).args(["-m", "ruff"]).args(arguments).arg(PACKAGE));
    ruff(&["format", "--check"])?;
    ruff(&["check"])
}

/// Checks the types, by two checkers, and that the stubs fit the native module. All at the same time, since each uses one core.
fn check_types(python: &Path) -> Result<(), String> {
    let files = ["python/emphatic", "tests", "examples"].map(|dir| format!("{PACKAGE}/{dir}"));
    let config = format!("{PACKAGE}/pyproject.toml");
    let mut checkers = [(); 3].map(|()| Command::new(python));
    checkers[0].args(["-m", "mypy", "--strict", "--config-file", &config]).args(&files);
    checkers[1].args(["-m", "mypy.stubtest", "emphatic._native"]);
    checkers[2].args(["-m", "pyright", "--project", &config, "--pythonpath"]).arg(python);
    let mut running = Vec::new();
    for checker in &mut checkers {
        checker.stdout(Stdio::piped()).stderr(Stdio::piped());
        running.push(checker.spawn().map_err(|error| format!("{}: {error}", shown(checker)))?);
    }
    let ended: Vec<_> = running.into_iter().map(Child::wait_with_output).collect();
    for (checker, ended) in checkers.iter().zip(ended) {
        let ended = ended.map_err(|error| format!("{}: {error}", shown(checker)))?;
        println!("$ {}", shown(checker));
        print!("{}{}", String::from_utf8_lossy(&ended.stdout), String::from_utf8_lossy(&ended.stderr));
        if !ended.status.success() {
            return Err(format!("{}: {}", shown(checker), ended.status));
        }
    }
    Ok(())
}
