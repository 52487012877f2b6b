//! Settings that are chosen in two steps.

use crate::common::{
    Bench, assert_same, bytes, ended_on, manifest, merge, refused, says, snapshot, succeeded, text,
};
use emphatic_lab::read_runs;
use emphatic_lab::store::Kind;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// By the objective large step-sizes are the best, by the error small ones.
const TWO_QUANTITIES: &str = r#"
problem = "counterexample"
runs = 4
episodes = 100
evaluations = 3
record = ["objective", "value_error"]
select_by = ["objective", "value_error"]
finalists = 2
finalist_runs = 3
fresh_runs = 2
[[method]]
algorithm = "offpac"
alpha = [0.001, 0.01, 0.1, 0.5]
critic = { kind = "td", alpha_v = [0.001, 0.05, 0.2] }
"#;

fn bench() -> Bench {
    Bench::new(TWO_QUANTITIES)
}

fn changed(from: &str, to: &str) -> Bench {
    assert!(TWO_QUANTITIES.contains(from));
    Bench::new(&TWO_QUANTITIES.replace(from, to))
}

fn summary(dir: &Path, options: &[&str]) -> Value {
    let output = succeeded(ended_on("summarise", dir, &[&["--json"], options].concat()));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The settings of a table, and the mean of a quantity over the ends of a setting's runs.
fn settings(list: &Value) -> BTreeSet<usize> {
    list.as_array().unwrap().iter().map(|k| k.as_u64().unwrap() as usize).collect()
}

fn ends(dir: &Path, kind: Kind, quantity: &str, setting: usize) -> Vec<f64> {
    let runs = read_runs(dir, kind, quantity, &[setting]).unwrap();
    runs.get(&setting).into_iter().flatten().map(|run| run.last().unwrap()).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[test]
fn the_best_by_each_quantity_are_finalists_and_the_best_of_them_has_fresh_runs() {
    let bench = bench();
    let out = bench.run("out", &[]);
    let manifest = manifest(&out);
    let mut expected = BTreeSet::new();
    let mut best = BTreeSet::new();
    for (quantity, sign) in [("objective", 1.0), ("value_error", -1.0)] {
        let mut order: Vec<usize> = (0..12).collect();
        let score = |k: &usize| sign * mean(&ends(&out, Kind::Results, quantity, *k));
        order.sort_by(|a, b| score(b).total_cmp(&score(a)));
        expected.extend(&order[..2]);
    }
    assert_eq!(settings(&manifest["finalist_settings"]), expected);
    assert_eq!(expected.len(), 4, "the quantities do not agree");
    for (quantity, sign) in [("objective", 1.0), ("value_error", -1.0)] {
        // Also those that are finalists by the other quantity.
        let all =
            |k: usize| [Kind::Results, Kind::Finalists].map(|kind| ends(&out, kind, quantity, k)).concat();
        let score = |k: &&usize| sign * mean(&all(**k));
        let winner = *expected.iter().max_by(|a, b| score(a).total_cmp(&score(b))).unwrap();
        best.insert(winner);
        let method = &summary(&out, &["--select-by", quantity])["methods"][0];
        assert_eq!(method["best"], winner);
        assert_eq!((method["runs"].as_u64(), method["finalists"].as_u64()), (Some(7), Some(4)));
        for setting in method["settings"].as_array().unwrap() {
            let is_finalist = expected.contains(&(setting["setting"].as_u64().unwrap() as usize));
            assert_eq!(setting["runs"], if is_finalist { 7 } else { 4 });
            assert!(is_finalist || setting["probability_best"] == 0.0);
        }
    }
    assert_eq!(settings(&manifest["fresh_settings"]), best);
}

/// Otherwise a lucky run would count twice, or judge itself.
#[test]
fn runs_of_finalists_have_streams_of_their_own() {
    let bench = bench();
    let out = bench.run("out", &[]);
    for &setting in &settings(&manifest(&out)["fresh_settings"]) {
        let all = [Kind::Results, Kind::Finalists, Kind::Fresh]
            .map(|kind| ends(&out, kind, "value_error", setting));
        assert_eq!(all.each_ref().map(Vec::len), [4, 3, 2]);
        let all: BTreeSet<u64> = all.concat().into_iter().map(f64::to_bits).collect();
        assert_eq!(all.len(), 9);
    }
}

#[test]
fn finalists_are_merged() {
    let bench = bench();
    let whole = bench.run("whole", &[]);
    let merged = bench.path("merged");
    let output = succeeded(merge(&[&bench.run("shard", &["--shard", "1/2"]), &whole], &merged));
    assert!(!says(&output, "emphatic run"), "{}", text(&output));
    assert_same(&whole, &merged);
    // Where the others are chosen, these are of no use.
    let more = changed("finalists = 2", "finalists = 3");
    let output = succeeded(merge(&[&whole, &more.run("all", &[])], &more.path("merged")));
    assert!(says(&output, "the finalist runs in") && says(&output, "are left out"), "{}", text(&output));
    assert_same(&more.path("all"), &more.path("merged"));
}

#[test]
fn more_runs_of_finalists_are_added_and_fewer_refused() {
    let bench = bench();
    let out = bench.run("out", &[]);
    let before = snapshot(&out);
    for (from, to, there, asked) in
        [("finalist_runs = 3", "finalist_runs = 2", 3, 2), ("finalists = 2\nfinalist_runs = 3\n", "", 3, 0)]
    {
        let words = format!("holds {there} finalist runs of this experiment and {asked} are asked for");
        refused(&changed(from, to).output(&out, &[]), &[&words, "(`finalist_runs = 3`)"]);
    }
    assert!(snapshot(&out) == before);
    let more = changed("finalist_runs = 3", "finalist_runs = 5");
    let output = more.finish(&out, &[]);
    assert!(!says(&output, "discarded"), "{}", text(&output));
    assert_same(&more.run("direct", &[]), &out);
}

/// Once they were compared in the order in which they were chosen: fresh runs were left out of merges, and their table was another.
#[test]
fn in_which_order_settings_are_chosen_does_not_matter() {
    let names = ["objective", "value_error"].map(|name| format!("\"{name}\""));
    let listed = |names: [&String; 2]| format!("select_by = [{}, {}]", names[0], names[1]);
    let other = changed(&listed([&names[0], &names[1]]), &listed([&names[1], &names[0]]));
    let bench = bench();
    let out = bench.run("out", &[]);
    let (direct, into) = (other.run("direct", &[]), other.path("into"));
    crate::common::copy(&out, &into);
    let output = other.finish(&into, &[]);
    assert!(!says(&output, "discarded"), "{}", text(&output));
    assert_same(&direct, &into);
    let output = succeeded(merge(&[&out, &other.run("shard", &["--shard", "1/2"])], &other.path("merged")));
    assert!(!says(&output, "left out"), "{}", text(&output));
    assert_same(&out, &other.path("merged"));
}

#[test]
fn other_finalists_are_run_and_those_before_are_not_discarded_in_silence() {
    for (from, to) in [("finalists = 2", "finalists = 3"), ("runs = 4", "runs = 9")] {
        let bench = bench();
        let out = bench.run("out", &[]);
        let other = changed(from, to);
        let into = other.path("into");
        crate::common::copy(&out, &into);
        let output = other.finish(&into, &["--quiet"]);
        let is_discarded =
            settings(&manifest(&into)["finalist_settings"]) != settings(&manifest(&out)["finalist_settings"]);
        assert_eq!(says(&output, "finished units of finalist runs in"), is_discarded, "{}", text(&output));
        assert_same(&other.run("direct", &[]), &into);
    }
}

/// Once such a directory was called complete, although the best setting could still change.
#[test]
fn a_summary_before_the_finals_is_of_what_is_there() {
    let without = changed("finalists = 2\nfinalist_runs = 3\n", "");
    let out = without.run("out", &[]);
    assert_eq!(summary(&out, &[])["complete"], true);
    // As if it had been killed before the finalists were chosen.
    let mut manifest = manifest(&out);
    for key in ["fresh_settings", "fresh_units"] {
        manifest.as_object_mut().unwrap().remove(key);
    }
    manifest["finished"] = Value::from(false);
    fs::write(out.join("manifest.json"), manifest.to_string()).unwrap();
    fs::remove_file(out.join("fresh.parquet")).unwrap();
    fs::write(out.join("experiment.toml"), TWO_QUANTITIES).unwrap();
    let found = summary(&out, &[]);
    assert_eq!(
        (&found["complete"], &found["methods"][0]["finalists"]),
        (&Value::from(false), &Value::from(0))
    );
    let bench = bench();
    bench.finish(&out, &[]);
    assert_same(&bench.run("direct", &[]), &out);
    assert_eq!(summary(&out, &[])["complete"], true);
    assert!(bytes(&out.join("finalists.parquet")).is_some());
}
