//! Helpers that the tests of the command share.

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

/// Runs the command and returns its output.
pub fn ended<A: AsRef<OsStr>>(arguments: impl IntoIterator<Item = A>) -> Output {
    emphatic(arguments).output().unwrap()
}

/// Runs a command on a file or directory, with options.
pub fn ended_on(command: &str, path: &Path, options: &[&str]) -> Output {
    emphatic([command]).arg(path).args(options).output().unwrap()
}

/// Runs a command that succeeds and returns what it prints.
#[track_caller]
pub fn printed<A: AsRef<OsStr>>(arguments: impl IntoIterator<Item = A>) -> String {
    String::from_utf8(succeeded(ended(arguments)).stdout).expect("it is text")
}

/// Merges directories.
pub fn merge<A: AsRef<OsStr>>(dirs: &[A], out: &Path) -> Output {
    emphatic(["merge"]).args(dirs).arg("--out").arg(out).output().unwrap()
}

/// An experiment file in a directory of its own, and directories for its results.
pub struct Bench {
    dir: TempDir,
    pub file: PathBuf,
}

impl Bench {
    pub fn new(experiment: &str) -> Self {
        let bench = Self::empty();
        fs::write(&bench.file, experiment).unwrap();
        bench
    }

    /// A directory without an experiment file.
    pub fn empty() -> Self {
        let dir = tempfile::tempdir().unwrap();
        Self { file: dir.path().join("experiment.toml"), dir }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Another file.
    pub fn write(&self, name: &str, contents: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, contents).unwrap();
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

    /// Runs the experiment file that is kept beside some results.
    pub fn run_kept_file(out: &Path) -> Output {
        let mut command = emphatic(["run"]);
        succeeded(command.arg(out.join("experiment.toml")).arg("--out").arg(out).output().unwrap())
    }

    /// Runs the experiment to its end.
    pub fn finish(&self, out: &Path, options: &[&str]) -> Output {
        succeeded(self.output(out, options))
    }

    /// Runs the experiment to its end in a new directory.
    pub fn run(&self, name: &str, options: &[&str]) -> PathBuf {
        let out = self.path(name);
        self.finish(&out, options);
        out
    }

    /// Runs the command in its directory, without colours and with 80 columns, whatever terminal the tests run in.
    pub fn ended(&self, arguments: &[&str]) -> Output {
        let mut command = emphatic(arguments);
        command.env("NO_COLOR", "1").env_remove("FORCE_COLOR").env_remove("CLICOLOR_FORCE");
        command.current_dir(self.dir.path()).output().unwrap()
    }

    /// Returns the message of a command that refuses a file in its directory.
    #[track_caller]
    pub fn message(&self, arguments: &[&str], name: &str) -> String {
        let output = self.ended(arguments);
        let message = String::from_utf8(output.stderr).expect("messages are text");
        assert_eq!(output.status.code(), Some(1), "{name}: {message}");
        assert!(output.stdout.is_empty(), "{name}: something is printed");
        assert!(!message.contains("panicked"), "{name}: {message}");
        message
    }

    /// Returns the messages about a file with each of these contents, one below the other.
    #[track_caller]
    pub fn messages(&self, arguments: &[&str], file: &str, cases: &[Case]) -> String {
        let mut all = String::new();
        for (name, contents) in cases {
            self.write(file, contents);
            all += &format!("──── {name}\n{}\n\n", self.message(arguments, name).trim_end());
        }
        all
    }
}

/// Returns everything that was written, without the marks of error messages.
pub fn text(output: &Output) -> String {
    let all = [&output.stdout[..], &output.stderr[..]].concat();
    String::from_utf8_lossy(&all).replace(['│', '×'], " ")
}

/// Returns whether these words were written. Spaces and line breaks do not count: a word may be broken at a hyphen.
pub fn says(output: &Output, words: &str) -> bool {
    let squeezed = |text: &str| text.split_whitespace().collect::<String>();
    squeezed(&text(output)).contains(&squeezed(words))
}

#[track_caller]
pub fn succeeded(output: Output) -> Output {
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    output
}

/// Checks that a command ended with code 1 and these words, and did not panic.
#[track_caller]
pub fn refused(output: &Output, words: &[&str]) {
    assert_eq!(output.status.code(), Some(1), "{}", text(output));
    assert!(!says(output, "panicked") && !says(output, "RUST_BACKTRACE"), "{}", text(output));
    for words in words {
        assert!(says(output, words), "`{words}` is not in: {}", text(output));
    }
}

/// Returns the bytes of a file; `None` if there is none.
pub fn bytes(path: &Path) -> Option<Vec<u8>> {
    fs::read(path).ok()
}

/// Checks that two directories have the same results, to the bit, and the same manifest.
#[track_caller]
pub fn assert_same(one: &Path, other: &Path) {
    for name in
        ["results.parquet", "finalists.parquet", "fresh.parquet", "settings.parquet", "experiment.toml"]
    {
        let same = bytes(&one.join(name)) == bytes(&other.join(name));
        assert!(same, "{name} differs in {} and {}", one.display(), other.display());
    }
    assert!(one.join("results.parquet").exists());
    assert_eq!(manifest(one), manifest(other));
    assert!(!one.join("parts").exists() && !other.join("parts").exists());
}

/// Returns the manifest without the time that the run took.
pub fn manifest(dir: &Path) -> serde_json::Value {
    let text = fs::read(dir.join("manifest.json")).unwrap();
    let mut manifest: serde_json::Value = serde_json::from_slice(&text).unwrap();
    manifest.as_object_mut().unwrap().remove("wall_seconds");
    manifest
}

/// Returns all files below a directory, with their bytes.
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

/// Returns the number of finished units on disk, those of finalists and fresh ones included. None may be damaged.
#[track_caller]
pub fn units(dir: &Path) -> usize {
    match View::open(dir) {
        Ok(view) => {
            assert!(view.warnings().is_empty(), "{:?}", view.warnings());
            [Kind::Results, Kind::Finalists, Kind::Fresh].map(|kind| view.count(kind)).iter().sum()
        }
        Err(StoreError::NoResults { .. }) => 0,
        Err(error) => panic!("{error}"),
    }
}

/// Waits until a condition holds. Returns false if the process ends before.
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

/// Sends a signal to a process that the test started.
pub fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args([&format!("-{name}"), &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

/// Starts a run, stops it by a signal when some of its units are finished, and returns its output. On a busy machine that may take a
/// second attempt.
#[track_caller]
pub fn stopped_midway(bench: &Bench, out: &Path, options: &[&str], name: &str) -> Output {
    for delay in [300, 600, 1200, 2400, 4800] {
        let mut child = bench.start(out, options);
        assert!(wait_until(&mut child, || out.join("manifest.json").exists()));
        sleep(Duration::from_millis(delay));
        signal(&child, name);
        let output = child.wait_with_output().unwrap();
        if units(out) > 0 {
            return output;
        }
        fs::remove_dir_all(out).unwrap();
    }
    panic!("no unit was finished in time");
}

/// An experiment that takes a second or two on one core, so that it writes parts meanwhile.
pub const LONG: &str = include_str!("../experiments/long.toml");

/// An experiment that takes a fraction of a second.
pub const SHORT: &str = include_str!("../experiments/short.toml");

/// Returns a good file with the first line that begins with `line` replaced.
pub fn replaced(good: &str, line: &str, with: &str) -> String {
    let place = good.lines().position(|l| l.starts_with(line)).expect("the good file has this line");
    let lines = good.lines().enumerate().map(|(k, l)| if k == place { with } else { l });
    lines.map(|line| format!("{line}\n")).collect()
}

/// A wrong file: the name of the case, and the file's contents.
pub type Case = (&'static str, Vec<u8>);

/// Returns the paragraphs of a list of cases, each as its first line and the others. Those that begin with `#` are remarks.
fn paragraphs(list: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let paragraphs = list.trim_end().split("\n\n").filter(|paragraph| !paragraph.starts_with('#'));
    paragraphs.map(|paragraph| paragraph.split_once('\n').unwrap_or((paragraph, "")))
}

/// Returns the cases of a list that has whole files: the name of each, and below it the file.
pub fn whole_in(list: &'static str) -> Vec<Case> {
    paragraphs(list)
        .map(|(name, file)| (name, file.lines().flat_map(|line| [line, "\n"]).collect::<String>().into()))
        .collect()
}

/// Returns the cases of a list of changes to a good file: the name of each, the beginning of a line, and what replaces that line.
pub fn replaced_in(good: &str, list: &'static str) -> Vec<Case> {
    let case = |(name, change): (&'static str, &str)| {
        let (line, with) = change.split_once('\n').unwrap_or((change, ""));
        (name, replaced(good, line, with).into())
    };
    paragraphs(list).map(case).collect()
}
