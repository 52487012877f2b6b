//! Checks with other software: Python reads the tables, NumPy and SciPy compute the summaries, and a browser shows the report.

use std::env;
use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

const REQUIREMENTS: &str = include_str!("../python/requirements.txt");

fn python_files() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python")
}

fn performed(command: &mut Command) -> Output {
    let output = command.output().unwrap_or_else(|error| {
        panic!(
            "{command:?}: {error}; these tests need `python3`, version 3.11 or later, with its `venv` module"
        )
    });
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let told = format!("{}{}", text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{command:?}: {}\n{told}", output.status);
    print!("{told}");
    output
}

/// Returns an interpreter with the packages that the scripts need. It is installed once, and again when they change.
fn interpreter() -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("python");
    fs::create_dir_all(&dir).unwrap();
    // One test installs it while the others wait.
    let lock = File::create(dir.with_extension("lock")).unwrap();
    lock.lock().unwrap();
    let (python, made) = (dir.join("bin/python"), dir.join("made-of.txt"));
    if fs::read_to_string(&made).ok().as_deref() != Some(REQUIREMENTS) {
        performed(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&dir));
        let mut install = Command::new(&python);
        install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r"]);
        performed(install.arg(python_files().join("requirements.txt")));
        fs::write(made, REQUIREMENTS).unwrap();
    }
    python
}

fn python(name: &str) -> Command {
    let mut command = Command::new(interpreter());
    command.args(["-B", "-W", "error"]).arg(python_files().join(name));
    command
}

/// Runs a script with the command's path and an empty directory, which it may leave something in.
fn script(name: &str) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    performed(python(name).arg(env!("CARGO_BIN_EXE_emphatic")).arg(dir.path()));
    dir
}

/// Returns the path of Chromium.
fn browser() -> OsString {
    let found = |name: &str| {
        let path = env::var_os("PATH")?;
        env::split_paths(&path).map(|dir| dir.join(name)).find(|file| file.is_file())
    };
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let on_path = || names.iter().find_map(|name| found(name)).map(PathBuf::into_os_string);
    env::var_os("CHROMIUM").or_else(on_path).expect(
        "this test needs Chromium: `cargo xtask test` installs it where it can; or set CHROMIUM to its path",
    )
}

#[test]
fn tables_open_everywhere() {
    script("store.py");
}

#[test]
fn summaries_are_what_numpy_and_scipy_say() {
    script("summaries.py");
}

#[test]
fn solutions_and_diagnoses_are_what_dense_algebra_says() {
    script("solutions.py");
}

#[test]
fn experiment_files_are_as_their_schema_says() {
    script("schema.py");
}

#[test]
fn a_reproduction_says_what_its_tables_hold_and_its_report_works_in_a_browser() {
    let dir = script("reproduction.py");
    let report = dir.path().join("reproduction/report.html");
    performed(python("report_page.py").arg(report).env("CHROMIUM", browser()));
}
