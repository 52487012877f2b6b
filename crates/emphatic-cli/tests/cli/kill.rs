//! Runs that are killed, stopped or disturbed at any moment: nothing that was finished is lost, and the same command continues.

use crate::common::{
    Bench, LONG, SHORT, assert_same, ended_on, refused, says, signal, stopped_midway, text, units, wait_until,
};
use emphatic::Random;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How often `kill -9` comes at random moments.
fn kills_asked_for() -> usize {
    std::env::var("EMPHATIC_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(24)
}

/// Checks that a summary is possible at any time: it shows the finished units, or says that there are none yet.
#[track_caller]
fn assert_summarises(dir: &Path) {
    let output = ended_on("summarise", dir, &["--json"]);
    match output.status.code() {
        Some(0) => {
            let summary: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
            assert!(summary["units_done"].as_u64().unwrap() > 0);
            assert_eq!(summary["warnings"], serde_json::json!([]));
        }
        code => {
            assert_eq!(code, Some(1), "{}", text(&output));
            let nothing = says(&output, "has no finished runs yet") || says(&output, "holds no results");
            assert!(nothing, "{}", text(&output));
        }
    }
}

/// Kills a process and returns whether it was still alive.
fn kill(mut child: Child) -> bool {
    child.kill().unwrap();
    !child.wait().unwrap().success()
}

/// Waits for this long, or until the process has ended.
fn wait(child: &mut Child, time: Duration) {
    let start = Instant::now();
    while start.elapsed() < time && child.try_wait().unwrap().is_none() {
        sleep(Duration::from_millis(1));
    }
}

#[test]
fn killed_at_any_moment_nothing_finished_is_lost() {
    // One thread leaves room for the other tests, and takes long enough on fast machines.
    soak(&["--quiet", "--threads", "1"], Stdio::null);
}

/// Once the progress line panicked, the threads at work waited for ever, and Ctrl-C did nothing.
#[test]
fn a_long_run_goes_on_when_nobody_hears_of_its_progress() {
    let bench = Bench::new(&LONG.replace("runs = 30", "runs = 100000"));
    let out = bench.path("out");
    let mut command = bench.command(&out, &["--threads", "2"]);
    let mut child = command.stderr(std::io::pipe().unwrap().1).spawn().unwrap();
    // The first line of progress comes after five seconds.
    wait(&mut child, Duration::from_secs(7));
    let then = units(&out);
    assert!(wait_until(&mut child, || units(&out) > then));
    signal(&child, "INT");
    let asked = Instant::now();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(asked.elapsed() < Duration::from_secs(20));
}

#[test]
fn killed_at_any_moment_with_nobody_listening_nothing_finished_is_lost() {
    soak(&["--threads", "1"], || std::io::pipe().unwrap().1.into());
}

fn soak(options: &[&str], stderr: impl Fn() -> Stdio) {
    let bench = Bench::new(LONG);
    let asked = kills_asked_for();
    let start = |out: &Path| bench.command(out, options).stdout(stderr()).stderr(stderr()).spawn().unwrap();
    let begun = Instant::now();
    let whole = bench.run("whole", options);
    let mut duration = begun.elapsed();
    let all = units(&whole);

    let mut random = Random::new(11, 0);
    let (mut kills, mut after_some, mut endings) = (0, 0, 0);
    while kills < asked || after_some == 0 {
        let out = bench.path(&format!("killed-{endings}"));
        let mut before = 0;
        loop {
            let mut child = start(&out);
            // A fraction of the time that is left, so that the end, when tables are put together, is hit as well.
            let left = duration.mul_f64(1.0 - before as f64 / all as f64) + duration / 20;
            wait(&mut child, left.mul_f64(random.uniform()));
            let killed = kill(child);
            let after = units(&out);
            assert!(after >= before, "{before} units were there, and {after} are");
            assert_summarises(&out);
            after_some += usize::from(killed && after > 0);
            before = after;
            // The time depends on the load of the machine.
            duration = duration.mul_f64(if killed { 1.05 } else { 0.7 });
            if !killed {
                break;
            }
            kills += 1;
            if kills >= asked && after_some > 0 {
                bench.finish(&out, options);
                break;
            }
        }
        assert_same(&whole, &out);
        endings += 1;
    }
    println!("{kills} kills, {after_some} of them with units on disk, {endings} times to the end");
}

/// Returns whether a file is being written whose name begins like this.
fn is_being_written(dir: &Path, name: &str) -> bool {
    [dir.to_owned(), dir.join("parts")].iter().filter_map(|dir| fs::read_dir(dir).ok()).flatten().any(
        |file| {
            let file = file.unwrap().file_name();
            let file = file.to_string_lossy();
            file.starts_with(name) && file.ends_with(".emphatic-tmp")
        },
    )
}

#[test]
fn killed_while_a_file_is_written_nothing_finished_is_lost() {
    let bench = Bench::new(&SHORT.replace("fresh_runs", "finalists = 2\nfinalist_runs = 3\nfresh_runs"));
    let whole = bench.run("whole", &["--quiet"]);
    assert!(whole.join("finalists.parquet").exists());
    let mut hits = Vec::new();
    let tables = ["results-", "results.", "finalists-", "finalists.", "fresh-", "fresh."];
    for name in ["settings", "experiment", "manifest"].into_iter().chain(tables) {
        for attempt in 0..4 {
            let out = bench.path(&format!("{name}-{attempt}"));
            let mut child = bench.start(&out, &["--quiet"]);
            // The file may be written too quickly to be seen; then the process has ended.
            hits.extend(wait_for_file(&mut child, &out, name).then_some(name));
            kill(child);
            let before = units(&out);
            assert_summarises(&out);
            let output = bench.finish(&out, &[]);
            let there = format!("({before} were there before)");
            assert!(before == 0 || says(&output, &there), "{before}: {}", text(&output));
            assert_same(&whole, &out);
        }
    }
    println!("killed while these were written: {}", hits.join(", "));
}

fn wait_for_file(child: &mut Child, dir: &Path, name: &str) -> bool {
    while child.try_wait().unwrap().is_none() {
        if is_being_written(dir, name) {
            return true;
        }
    }
    false
}

#[test]
fn asked_to_stop_it_says_how_to_go_on_and_does() {
    let bench = Bench::new(LONG);
    let whole = bench.run("whole", &["--quiet"]);
    for name in ["INT", "TERM"] {
        let out = bench.path(name);
        let output = stopped_midway(&bench, &out, &["--threads", "1"], name);
        assert_eq!(output.status.code(), Some(130), "{}", text(&output));
        assert!(says(&output, "Stopped:"), "{}", text(&output));
        assert!(says(&output, "Give the same command again to go on."), "{}", text(&output));
        // What was finished when the signal came was not thrown away.
        let before = units(&out);
        assert!(before > 0 && before < units(&whole), "{before}");
        assert_summarises(&out);
        let output = bench.finish(&out, &[]);
        assert!(says(&output, &format!("({before} were there before)")), "{}", text(&output));
        assert_same(&whole, &out);
    }
}

/// Returns the command, started by a shell that changes something first.
fn behind_shell(bench: &Bench, first: &str, out: &Path) -> Command {
    let command = bench.command(out, &["--threads", "1"]);
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("{first}; exec \"$@\""), "sh"]);
    shell.arg(command.get_program()).args(command.get_args());
    shell.stdout(Stdio::null()).stderr(Stdio::piped());
    shell
}

/// Once the handler replaced the "ignore" that `nohup` had asked for.
#[test]
fn a_signal_that_was_to_be_ignored_is() {
    let bench = Bench::new(LONG);
    let whole = bench.run("whole", &["--quiet"]);
    for name in ["HUP", "INT", "TERM"] {
        let out = bench.path(name);
        let mut child = behind_shell(&bench, &format!("trap '' {name}"), &out).spawn().unwrap();
        assert!(wait_until(&mut child, || out.join("manifest.json").exists()));
        signal(&child, name);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{name}: {}", text(&output));
        assert_same(&whole, &out);
    }
    // A signal that is not ignored stops the run.
    let out = bench.path("heard");
    let mut child = bench.start(&out, &["--threads", "1"]);
    assert!(wait_until(&mut child, || out.join("manifest.json").exists()));
    signal(&child, "HUP");
    assert_eq!(child.wait().unwrap().code(), Some(130));
}

/// Once it went on in a new directory, without the experiment file, and said that all was well.
#[test]
fn a_directory_that_is_removed_is_missed() {
    let bench = Bench::new(LONG);
    for replaced in [false, true] {
        let out = bench.path(&format!("out-{replaced}"));
        let mut child = bench.start(&out, &["--threads", "1"]);
        assert!(wait_until(&mut child, || out.join("parts").exists()));
        // It may write a file while the others are removed.
        while out.exists() {
            let _ = fs::remove_dir_all(&out);
        }
        if replaced {
            fs::create_dir(&out).unwrap();
        }
        let output = child.wait_with_output().unwrap();
        refused(&output, &["was removed or replaced while the experiment was running"]);
        assert!(!out.join("manifest.json").exists());
    }
}

#[test]
fn asked_to_stop_quietly_it_says_nothing() {
    let bench = Bench::new(LONG);
    let out = bench.path("out");
    let mut child = bench.start(&out, &["--quiet"]);
    assert!(wait_until(&mut child, || out.join("manifest.json").exists()));
    signal(&child, "INT");
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), text(&output).as_str()), (Some(130), ""));
}
