//! What the tests of the command share.

#![allow(dead_code, reason = "each test file uses its own part of this")]

use emphatic_lab::store::{Kind, StoreError, View};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The command.
pub fn emphatic<A: AsRef<OsStr>>(arguments: impl IntoIterator<Item = A>) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_emphatic"));
    command.args(arguments);
    command
}

/// What the command leaves when it has ended.
pub fn ended<A: AsRef<OsStr>>(arguments: impl IntoIterator<Item = A>) -> Output {
    emphatic(arguments).output().unwrap()
}

/// An experiment file in a directory of its own, and directories for its results.
pub struct Bench {
    dir: TempDir,
    pub file: PathBuf,
}

impl Bench {
    pub fn new(experiment: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("experiment.toml");
        fs::write(&file, experiment).unwrap();
        Self { dir, file }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Another experiment file.
    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, text).unwrap();
        path
    }

    /// `emphatic run` into this directory.
    pub fn command(&self, out: &Path, options: &[&str]) -> Command {
        let mut command = emphatic(["run"]);
        command.arg(&self.file).arg("--out").arg(out).args(options);
        command
    }

    pub fn start(&self, out: &Path, options: &[&str]) -> Child {
        let mut command = self.command(out, options);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
    }

    pub fn output(&self, out: &Path, options: &[&str]) -> Output {
        self.command(out, options).output().unwrap()
    }

    /// Runs it to the end.
    pub fn finish(&self, out: &Path, options: &[&str]) -> Output {
        succeeded(self.output(out, options))
    }

    /// Runs it to the end in a new directory.
    pub fn run(&self, name: &str, options: &[&str]) -> PathBuf {
        let out = self.path(name);
        self.finish(&out, options);
        out
    }
}

/// Everything that was written, as one line: where lines are broken does not matter.
pub fn text(output: &Output) -> String {
    let all = [&output.stdout[..], &output.stderr[..]].concat();
    String::from_utf8_lossy(&all).replace(['│', '×'], " ")
}

/// Whether these words were written. Spaces do not count: a word may be broken at a hyphen.
pub fn says(output: &Output, words: &str) -> bool {
    let squeezed = |text: &str| text.split_whitespace().collect::<String>();
    squeezed(&text(output)).contains(&squeezed(words))
}

#[track_caller]
pub fn succeeded(output: Output) -> Output {
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    output
}

/// It ended with code 1 and these words, and did not panic.
#[track_caller]
pub fn refused(output: &Output, words: &[&str]) {
    assert_eq!(output.status.code(), Some(1), "{}", text(output));
    assert!(!says(output, "panicked") && !says(output, "RUST_BACKTRACE"), "{}", text(output));
    for words in words {
        assert!(says(output, words), "`{words}` is not in: {}", text(output));
    }
}

/// The bytes of a file; nothing if there is none.
pub fn bytes(path: &Path) -> Option<Vec<u8>> {
    fs::read(path).ok()
}

/// Both directories hold the same results, to the bit, and say the same of them.
#[track_caller]
pub fn assert_same(one: &Path, other: &Path) {
    for name in ["results.parquet", "fresh.parquet", "settings.parquet", "experiment.toml"] {
        let same = bytes(&one.join(name)) == bytes(&other.join(name));
        assert!(same, "{name} differs in {} and {}", one.display(), other.display());
    }
    assert!(one.join("results.parquet").exists());
    assert_eq!(manifest(one), manifest(other));
    assert!(!one.join("parts").exists() && !other.join("parts").exists());
}

/// The manifest, without what differs from time to time.
pub fn manifest(dir: &Path) -> serde_json::Value {
    let text = fs::read(dir.join("manifest.json")).unwrap();
    let mut manifest: serde_json::Value = serde_json::from_slice(&text).unwrap();
    manifest.as_object_mut().unwrap().remove("wall_seconds");
    manifest
}

/// All files below a directory, with their bytes.
pub fn snapshot(dir: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut all = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.extend(snapshot(&path));
        } else {
            all.push((path.clone(), fs::read(&path).unwrap()));
        }
    }
    all.sort();
    all
}

/// Copies a directory.
pub fn copy(from: &Path, to: &Path) {
    for (path, bytes) in snapshot(from) {
        let to = to.join(path.strip_prefix(from).unwrap());
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::write(to, bytes).unwrap();
    }
}

/// How many finished units are on disk, fresh ones included. Nothing may be damaged.
#[track_caller]
pub fn units(dir: &Path) -> usize {
    match View::open(dir) {
        Ok(view) => {
            assert!(view.warnings().is_empty(), "{:?}", view.warnings());
            view.count(Kind::Results) + view.count(Kind::Fresh)
        }
        Err(StoreError::NoResults { .. }) => 0,
        Err(error) => panic!("{error}"),
    }
}

/// Waits until something is so; false if the process ends before.
pub fn wait_until(child: &mut Child, mut so: impl FnMut() -> bool) -> bool {
    let start = Instant::now();
    while !so() {
        if child.try_wait().unwrap().is_some() {
            return so();
        }
        assert!(start.elapsed() < Duration::from_secs(60), "it takes too long");
        sleep(Duration::from_millis(1));
    }
    true
}

/// Sends a signal to a process of ours.
pub fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args([&format!("-{name}"), &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

/// An experiment that takes a second or two on one core, so that it writes parts on the way.
pub const LONG: &str = include_str!("../experiments/long.toml");

/// Done in no time.
pub const SHORT: &str = include_str!("../experiments/short.toml");
