//! Directories that are not as they should be: a clear message, exit code 1, and nothing that was finished is lost.

use crate::common::{
    Bench, LONG, SHORT, assert_same, copy, ended, ended_on, manifest, merge, refused, says, snapshot,
    stopped_midway, succeeded, text, units, wait_until,
};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn summarise(dir: &Path) -> Output {
    ended_on("summarise", dir, &[])
}

#[test]
fn results_of_another_experiment_are_left_alone() {
    let bench = Bench::new(SHORT);
    let out = bench.run("out", &[]);
    let before = snapshot(&out);
    for (change, words) in [
        (("seed = 1", "seed = 2"), "seed: 1 there, 2 now"),
        (("episodes = 50", "episodes = 51"), "episodes: 50 there, 51 now"),
        (("episodes = 50", "steps = 50"), "steps: nothing there, 50 now"),
        (("[0.01, 0.1]", "[0.01, 0.2]"), "methods[0].grid.alpha[1]: 0.1 there, 0.2 now"),
    ] {
        fs::write(&bench.file, SHORT.replace(change.0, change.1)).unwrap();
        let output = bench.output(&out, &[]);
        refused(&output, &["holds results of another experiment", words, "choose another directory"]);
        assert!(snapshot(&out) == before, "{change:?}");
    }
}

/// The experiment file beside the results once had the fewer runs after the refusal.
#[test]
fn fewer_runs_than_there_are_are_refused_and_nothing_changes() {
    let bench = Bench::new(SHORT);
    let out = bench.run("out", &[]);
    let before = snapshot(&out);
    let output = bench.output(&out, &["--runs", "5"]);
    refused(
        &output,
        &["holds 6 runs of this experiment and 5 are asked for", "as many or more (`runs = 6`)"],
    );
    assert!(snapshot(&out) == before);
    let fewer = bench.run("fewer", &["--runs", "2"]);
    refused(&merge(&[&fewer], &out), &["holds 6 runs of this experiment and 2 are asked for"]);
    assert!(snapshot(&out) == before);
}

/// Returns a directory with parts in it, as a stopped run leaves it, and one of a finished run.
fn with_parts() -> (Bench, PathBuf, PathBuf) {
    let bench = Bench::new(LONG);
    let out = bench.path("stopped");
    let output = stopped_midway(&bench, &out, &["--quiet", "--threads", "1"], "TERM");
    assert_eq!(output.status.code(), Some(130));
    assert!(out.join("parts/results-000001.parquet").exists());
    let whole = bench.run("whole", &["--quiet"]);
    (bench, out, whole)
}

/// Changes the bytes of a file, and returns them.
fn changed(path: &Path, change: impl Fn(&mut Vec<u8>)) -> Vec<u8> {
    let mut bytes = fs::read(path).unwrap();
    change(&mut bytes);
    fs::write(path, &bytes).unwrap();
    bytes
}

#[test]
fn a_damaged_part_is_set_aside_and_its_units_are_run_again() {
    let (bench, stopped, whole) = with_parts();
    let finished = units(&stopped);
    let flip: fn(&mut Vec<u8>) = |bytes| {
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
    };
    let truncate: fn(&mut Vec<u8>) = |bytes| bytes.truncate(bytes.len() * 2 / 3);
    let empty: fn(&mut Vec<u8>) = Vec::clear;
    for (name, damage) in [("flipped", flip), ("truncated", truncate), ("empty", empty)] {
        let out = bench.path(name);
        copy(&stopped, &out);
        let part = out.join("parts/results-000001.parquet");
        let bytes = changed(&part, damage);

        // A shard that is damaged is not merged.
        refused(&merge(&[&out], &bench.path("merged")), &["is damaged", "run that shard again, then merge"]);
        assert!(!bench.path("merged").exists());
        let output = bench.finish(&out, &[]);
        assert!(says(&output, "warning:") && says(&output, "is damaged"), "{}", text(&output));
        assert!(says(&output, "and its units will be run again"), "{}", text(&output));
        assert_eq!(fs::read(out.join("damaged/results-000001.parquet")).unwrap(), bytes);
        assert_same(&whole, &out);
        // The warning appears once.
        assert!(!says(&bench.finish(&out, &[]), "damaged"));
    }
    // Without damage, nothing is run twice.
    let output = bench.finish(&stopped, &[]);
    assert!(says(&output, &format!("({finished} were there before)")), "{}", text(&output));
    assert_same(&whole, &stopped);
}

/// A summary once said only that there were no finished runs yet.
#[test]
fn damaged_results_are_set_aside_and_run_again() {
    let bench = Bench::new(SHORT);
    let whole = bench.run("whole", &[]);
    for name in ["results.parquet", "fresh.parquet"] {
        let out = bench.path(&format!("damaged-{name}"));
        copy(&whole, &out);
        let bytes = changed(&out.join(name), |bytes| {
            let at = bytes.len() / 3;
            bytes[at] ^= 0x10;
        });
        let output = summarise(&out);
        assert!(says(&output, "is damaged") && !says(&output, "panicked"), "{}", text(&output));
        let output = bench.finish(&out, &["--quiet"]);
        assert!(says(&output, "warning:") && says(&output, "is damaged"), "{}", text(&output));
        assert_eq!(fs::read(out.join("damaged").join(name)).unwrap(), bytes);
        assert_same(&whole, &out);
    }
}

/// Once a summary was as if they had never been made.
#[test]
fn tables_that_are_missing_are_noticed() {
    let bench = Bench::new(SHORT);
    let whole = bench.run("whole", &[]);
    for (name, units) in [("results.parquet", 12), ("fresh.parquet", 4)] {
        let out = bench.path(&format!("without-{name}"));
        copy(&whole, &out);
        fs::remove_file(out.join(name)).unwrap();
        let words =
            format!("{name} is missing, and the manifest.json beside it counts {units} finished units");
        let output = summarise(&out);
        assert!(says(&output, &words), "{}", text(&output));
        assert_eq!(output.status.success(), name == "fresh.parquet");
        refused(&merge(&[&out], &bench.path("merged")), &[&words, "run that shard again, then merge"]);
        let output = bench.finish(&out, &["--quiet"]);
        assert!(says(&output, &words) && says(&output, "its units will be run again"), "{}", text(&output));
        assert_same(&whole, &out);
    }
    assert!(!says(&summarise(&whole), "is missing"));
}

/// What `merge` found damaged in its --out was once moved aside without a word.
#[test]
fn merging_into_damaged_results_says_so() {
    let bench = Bench::new(SHORT);
    let (whole, out) = (bench.run("whole", &[]), bench.path("out"));
    copy(&whole, &out);
    fs::write(out.join("results.parquet"), "PAR1").unwrap();
    let output = succeeded(merge(&[&whole], &out));
    assert!(says(&output, "warning:") && says(&output, "is damaged"), "{}", text(&output));
    bench.finish(&out, &[]);
    assert_same(&whole, &out);
}

/// Fresh runs were once left out by `merge`, and run again.
#[test]
fn fresh_runs_are_merged() {
    let bench = Bench::new(SHORT);
    let whole = bench.run("whole", &[]);
    let merged = bench.path("merged");
    let output = succeeded(merge(&[&bench.run("shard", &["--shard", "1/2"]), &whole], &merged));
    assert!(!says(&output, "emphatic run"), "{}", text(&output));
    assert_same(&whole, &merged);
    assert_eq!(manifest(&merged)["finished"], true);
}

/// Settings and the experiment are written anew if someone has changed them.
#[test]
fn other_files_beside_results_are_mended() {
    let bench = Bench::new(SHORT);
    let whole = bench.run("whole", &[]);
    let out = bench.path("out");
    copy(&whole, &out);
    fs::write(out.join("settings.parquet"), "").unwrap();
    fs::write(out.join("experiment.toml"), "seed = 1").unwrap();
    refused(&summarise(&out), &["experiment.toml"]);
    bench.finish(&out, &[]);
    assert_same(&whole, &out);
}

#[test]
fn a_directory_that_cannot_be_written_is_named() {
    let bench = Bench::new(SHORT);
    let below = bench.file.join("out");
    refused(&bench.output(&below, &[]), &["could not create", "a file is where a directory should be"]);
    let root = Command::new("id").arg("-u").output().unwrap().stdout == b"0\n";
    if root {
        println!("not checked: the superuser may write to read-only directories");
        return;
    }
    let closed = bench.path("closed");
    fs::create_dir(&closed).unwrap();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o555)).unwrap();
    let remedy = "choose a directory that you may read and write";
    refused(&bench.output(&closed, &[]), &["could not lock", remedy]);
    refused(&bench.output(&closed.join("out"), &[]), &["could not create", remedy]);
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o755)).unwrap();

    let whole = bench.run("whole", &[]);
    fs::set_permissions(&whole, fs::Permissions::from_mode(0o555)).unwrap();
    succeeded(summarise(&whole));
    fs::set_permissions(&whole, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Runs the experiment with a limit on the size of files, in blocks.
fn with_short_files(bench: &Bench, out: &Path, blocks: u32) -> Output {
    let script = format!("ulimit -f {blocks}; exec \"$0\" run \"$1\" --out \"$2\"");
    let mut command = Command::new("sh");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_emphatic")]).arg(&bench.file).arg(out);
    command.output().unwrap()
}

/// It is an error like that of a full disk. Once the process was killed by SIGXFSZ, without a word.
#[test]
fn a_limit_on_the_size_of_files_loses_nothing() {
    let bench = Bench::new(
        &SHORT.replace("evaluations = 5", "evaluations = 50").replace("0.01, 0.1", "0.01, 0.1, 0.2"),
    );
    let whole = bench.run("whole", &[]);
    assert!(fs::metadata(whole.join("results.parquet")).unwrap().len() > 20 * 1024);
    let full = ["could not write", "larger than your limits", "what was finished before is safe"];

    let out = bench.path("out");
    refused(&with_short_files(&bench, &out, 0), &full);
    bench.finish(&out, &["--shard", "1/3"]);
    let before = units(&out);
    let results = fs::read(out.join("results.parquet")).unwrap();
    for _ in 0..2 {
        // Room for the manifest and the settings.
        refused(&with_short_files(&bench, &out, 12), &full);
        assert_eq!(units(&out), before);
        assert_eq!(fs::read(out.join("results.parquet")).unwrap(), results);
        assert!(!snapshot(&out).iter().any(|(path, _)| path.extension() == Some("emphatic-tmp".as_ref())));
        succeeded(summarise(&out));
    }
    bench.finish(&out, &[]);
    assert_same(&whole, &out);
}

#[test]
fn two_processes_do_not_share_a_directory() {
    let bench = Bench::new(LONG);
    let out = bench.path("out");
    let mut first = bench.start(&out, &["--quiet", "--threads", "1"]);
    assert!(wait_until(&mut first, || out.join("manifest.json").exists()));
    let in_use = ["is in use by another process", "choose another directory"];
    refused(&bench.output(&out, &[]), &in_use);
    refused(&bench.output(&out, &["--shard", "2/2"]), &in_use);
    let output = summarise(&out);
    assert!(output.status.success() || says(&output, "has no finished runs yet"), "{}", text(&output));
    assert!(first.try_wait().unwrap().is_none(), "it ended too early for this to be a test");
    succeeded(first.wait_with_output().unwrap());
    assert_same(&bench.run("alone", &["--quiet"]), &out);
}

#[test]
fn what_is_no_directory_of_results_is_left_alone() {
    let bench = Bench::new(SHORT);
    let before = fs::read(&bench.file).unwrap();
    refused(&bench.output(&bench.file, &[]), &["could not create", "a file is where a directory should be"]);
    assert_eq!(fs::read(&bench.file).unwrap(), before);

    let foreign = bench.path("foreign");
    fs::create_dir(&foreign).unwrap();
    fs::write(foreign.join("notes.txt"), "mine").unwrap();
    let words =
        ["holds files that are no results of this experiment (notes.txt)", "nothing was changed there"];
    refused(&bench.output(&foreign, &[]), &words);
    assert_eq!(snapshot(&foreign).len(), 1);
    let whole = bench.run("whole", &[]);
    refused(&merge(&[&whole], &foreign), &words);
    assert_eq!(snapshot(&foreign).len(), 1);
    // A file of the same name that is not ours.
    fs::rename(foreign.join("notes.txt"), foreign.join("experiment.toml")).unwrap();
    refused(&bench.output(&foreign, &[]), &["(experiment.toml)"]);
    assert_eq!(snapshot(&foreign).len(), 1);
}

#[test]
fn a_manifest_that_cannot_be_read_is_named() {
    let bench = Bench::new(SHORT);
    let whole = bench.run("whole", &[]);
    for (text, words) in [
        ("", "manifest.json is no JSON"),
        ("{ \"format\": 1, ", "manifest.json is no JSON"),
        ("[1, 2]", "should have format 2, but has nothing"),
        ("{ \"format\": 99 }", "should have format 2, but has 99"),
        ("{ \"format\": 2, \"emphatic\": \"99.0.0\" }", "emphatic 99.0.0"),
    ] {
        fs::write(whole.join("manifest.json"), text).unwrap();
        let before = snapshot(&whole);
        refused(&bench.output(&whole, &[]), &[words, "choose another directory"]);
        assert!(snapshot(&whole) == before);
        refused(&merge(&[&whole], &bench.path("merged")), &[words]);
        assert!(!bench.path("merged").exists());
    }
    fs::remove_file(whole.join("manifest.json")).unwrap();
    fs::create_dir(whole.join("manifest.json")).unwrap();
    let words = ["manifest.json", "a directory is where a file should be"];
    refused(&bench.output(&whole, &[]), &words);
    refused(&summarise(&whole), &words);
}

/// Shards of another version were once merged as if they were of this one.
#[test]
fn shards_of_another_version_are_not_merged() {
    let bench = Bench::new(SHORT);
    let shard = bench.run("shard", &["--shard", "1/2"]);
    let mut other = manifest(&shard);
    other["emphatic"] = "0.0.1".into();
    fs::write(shard.join("manifest.json"), other.to_string()).unwrap();
    let output = merge(&[&shard], &bench.path("merged"));
    refused(&output, &["holds results of emphatic 0.0.1, and this is", "are not merged"]);
    assert!(!bench.path("merged").exists());
}

#[test]
fn what_cannot_be_merged_is_named() {
    let bench = Bench::new(SHORT);
    let one = bench.run("one", &["--shard", "1/2"]);
    fs::write(&bench.file, SHORT.replace("seed = 1", "seed = 2")).unwrap();
    let other = bench.run("other", &["--shard", "2/2"]);
    let before = [snapshot(&one), snapshot(&other)];
    let out = bench.path("out");
    refused(&merge(&[&one, &other], &out), &["hold different experiments"]);
    let nothing = "holds no results: it has no manifest.json";
    refused(&merge(&[&one, &bench.path("missing")], &out), &["missing", nothing]);
    let empty = bench.path("empty");
    fs::create_dir(&empty).unwrap();
    refused(&merge(&[&empty], &out), &["empty", nothing]);
    refused(&merge(&[&bench.file], &out), &["experiment.toml"]);
    assert!(!out.exists() && snapshot(&empty).is_empty());
    // Nothing at all is wrong usage.
    assert_eq!(ended(["merge", "--out", "nowhere"]).status.code(), Some(2));
    refused(&merge(&[&one], &other), &["holds results of another experiment", "seed: 2 there, 1 now"]);
    assert!([snapshot(&one), snapshot(&other)] == before);

    // Some shards are missing: what is there is kept, and the rest can be run.
    let output = succeeded(merge(&[&one], &out));
    assert!(
        says(&output, "6 of 12 units are in") && says(&output, "For the rest: emphatic run"),
        "{}",
        text(&output)
    );
    fs::write(&bench.file, SHORT).unwrap();
    bench.finish(&out, &[]);
    assert_same(&bench.run("whole", &[]), &out);
}

#[test]
fn what_cannot_be_summarised_is_named() {
    let bench = Bench::new(SHORT);
    let empty = bench.path("empty");
    fs::create_dir(&empty).unwrap();
    let nothing = "holds no results: it has no manifest.json";
    refused(&summarise(&empty), &[nothing]);
    assert!(snapshot(&empty).is_empty());
    refused(&summarise(&bench.path("missing")), &[nothing]);
    fs::write(empty.join("notes.txt"), "mine").unwrap();
    refused(&summarise(&empty), &[nothing]);
    refused(&summarise(&bench.file), &["experiment.toml"]);
    // A shard that had nothing to do.
    let none = bench.run("none", &["--shard", "99/99"]);
    refused(&summarise(&none), &["has no finished runs yet"]);
}

/// A problem file of one state, and an experiment that names it.
fn with_problem(name: &str) -> Bench {
    let problem = "states = [\"s\"]\nactions = [\"a\", \"b\"]\nstart = \"s\"\nbehaviour = \"uniform\"\n\
                   transitions = [{ from = \"s\", action = [0, 1], end = true, reward = 1 }]\n";
    let json = r#"{"states": ["s"], "actions": ["a", "b"], "start": "s", "behaviour": "uniform",
        "transitions": [{"from": "s", "action": [0, 1], "end": true, "reward": 1}]}"#;
    let escaped = name.replace('\u{7f}', "\\u007F");
    let bench = Bench::new(&format!(
        "problem = \"{escaped}\"\nruns = 2\nepisodes = 5\nevaluations = 1\n[[method]]\nalgorithm = \"offpac\"\nalpha = 0.1\ncritic = \"exact\"\n"
    ));
    bench.write(name, if name.ends_with(".json") { json } else { problem });
    bench
}

/// Once a problem file called `manifest.json` took the manifest's place, DEL in a name made the kept experiment file invalid, and
/// names near the longest had no room for what is put behind them while they are written.
#[test]
fn a_problem_file_may_have_any_name() {
    let long = format!("{}.toml", "n".repeat(250));
    let names =
        ["manifest.json", "problems.toml", "lock.toml", "a\u{7f}b.toml", "ä ö.json", &long, "é%$'.toml"];
    for name in names {
        let bench = with_problem(name);
        let out = bench.run("out", &[]);
        succeeded(summarise(&out));
        // The same command, and the file beside the results, find everything done.
        let again = bench.finish(&out, &[]);
        assert!(says(&again, "were there before"), "{name}: {}", text(&again));
        assert!(says(&Bench::run_kept_file(&out), "were there before"), "{name}");
        let merged = bench.path("merged");
        succeeded(merge(&[&out], &merged));
        assert_same(&out, &merged);
    }
}

/// Once such a table was accepted, and the wrong best setting shown.
#[test]
fn a_table_of_another_experiment_is_noticed() {
    let bench = Bench::new(SHORT);
    let whole = bench.run("whole", &[]);
    for (name, change) in
        [("seed", ("seed = 1", "seed = 2")), ("grid", ("alpha = [0.01, 0.1]", "alpha = [0.01, 0.1, 0.2]"))]
    {
        fs::write(&bench.file, SHORT.replace(change.0, change.1)).unwrap();
        let other = bench.run(&format!("other-{name}"), &[]);
        for table in ["results.parquet", "fresh.parquet"] {
            let out = bench.path(&format!("mixed-{name}-{table}"));
            copy(&whole, &out);
            fs::copy(other.join(table), out.join(table)).unwrap();
            let output = summarise(&out);
            assert!(says(&output, &format!("{table} is of another experiment")), "{}", text(&output));
            refused(&merge(&[&out], &bench.path("merged")), &["is of another experiment"]);
            fs::write(&bench.file, SHORT).unwrap();
            let output = bench.finish(&out, &[]);
            assert!(says(&output, "its units will be run again"), "{}", text(&output));
            assert!(out.join("damaged").join(table).exists());
            assert_same(&whole, &out);
        }
    }
}

/// Once it was a panic.
#[test]
fn a_table_with_other_columns_is_refused() {
    use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray, UInt32Array, UInt64Array};
    use emphatic_lab::store::label;
    use emphatic_lab::table::{self, Unit, encode};
    use std::sync::Arc;
    let bench = Bench::new(SHORT);
    let out = bench.run("out", &[]);
    let label = label(&manifest(&out)["identity"], "results");
    let number = || Arc::new(Float64Array::from(vec![1.0])) as ArrayRef;
    let count = || Arc::new(UInt64Array::from(vec![Some(1)])) as ArrayRef;
    let setting = || Arc::new(UInt32Array::from(vec![0])) as ArrayRef;
    let word = || Arc::new(StringArray::from(vec!["x"])) as ArrayRef;
    for columns in [
        [setting(), count(), word(), count()],
        [setting(), count(), count(), count()],
        [number(), count(), number(), count()],
        [setting(), setting(), number(), count()],
        [setting(), count(), number(), word()],
    ] {
        let names = ["setting", "episode", "objective", "diverged_step"];
        let batch = RecordBatch::try_from_iter(names.into_iter().zip(columns)).unwrap();
        let unit = encode(Unit { block: 0, run: 0 }, 0, &batch).unwrap();
        table::write(&label, vec![unit], &out.join("results.parquet")).unwrap();
        refused(&summarise(&out), &["results.parquet is damaged: its columns are", "but should be"]);
    }
}

/// Once fresh runs in the place of the results were counted as those that settings are chosen by.
#[test]
fn tables_of_one_experiment_are_not_exchanged() {
    let bench = Bench::new(SHORT);
    let whole = bench.run("whole", &[]);
    for (from, to) in [("fresh", "results"), ("results", "fresh")] {
        let out = bench.path(to);
        copy(&whole, &out);
        let table = |name: &str| format!("{name}.parquet");
        fs::copy(whole.join(table(from)), out.join(table(to))).unwrap();
        assert!(says(&summarise(&out), &format!("{to}.parquet is of another experiment")));
        refused(&merge(&[&out], &bench.path("merged")), &["or another of its tables"]);
        let output = bench.finish(&out, &[]);
        assert!(says(&output, "its units will be run again"), "{}", text(&output));
        assert_same(&whole, &out);
    }
    // The table of settings is repaired by the next run; until then there is an error.
    let out = bench.path("settings");
    copy(&whole, &out);
    fs::copy(whole.join("results.parquet"), out.join("settings.parquet")).unwrap();
    assert!(says(&succeeded(summarise(&out)), "settings.parquet is of another experiment"));
    bench.finish(&out, &[]);
    assert_same(&whole, &out);
}

/// Once there were "12 of 8 units".
#[test]
fn there_are_no_fewer_runs_than_the_tables_have() {
    let bench = Bench::new(SHORT);
    let out = bench.run("out", &[]);
    let path = out.join("manifest.json");
    let manifest = fs::read_to_string(&path).unwrap();
    fs::write(&path, manifest.replace("\"runs\": 6", "\"runs\": 4")).unwrap();
    let output = succeeded(summarise(&out));
    assert!(!says(&output, "Under way"), "{}", text(&output));
}
