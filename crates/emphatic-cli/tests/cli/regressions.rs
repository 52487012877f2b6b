//! One test for each defect that was found.

use crate::common::{
    Bench, assert_same, emphatic, ended_on, merge, refused, says, snapshot, succeeded, text,
};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// Three actions in one state: nothing is random but the draws of a subset.
const BANDIT: &str = r#"
states = ["s"]
actions = ["a", "b", "c"]
start = "s"
behaviour = { s = { a = 0.2, b = 0.3, c = 0.5 } }
transitions = [
  { from = "s", action = "a", end = true, reward = 1 },
  { from = "s", action = "b", end = true, reward = 2 },
  { from = "s", action = "c", end = true, reward = 3 },
]
"#;

const SUBSET: &str = r#"
problem = "bandit.toml"
runs = 4
episodes = 50
evaluations = 5
fresh_runs = 3
[[method]]
algorithm = "offpac"
alpha = [0.1, 0.2]
critic = "exact"
actions = "all"
subset = 1
"#;

const TWO_METHODS: &str = r#"
problem = "counterexample"
runs = 2
episodes = 20
evaluations = 2
[[method]]
algorithm = "ace"
alpha = 1
lambda_a = 1
critic = { kind = "gtd", alpha_v = 1e300, alpha_w = 1e300 }
[[method]]
algorithm = "offpac"
alpha = [0.1, 1]
critic = "exact"
"#;

/// An experiment with the bandit's file beside it.
fn bandit(experiment: &str) -> Bench {
    let bench = Bench::new(experiment);
    bench.write("bandit.toml", BANDIT);
    bench
}

fn summary(dir: &Path) -> Value {
    let output = succeeded(ended_on("summarise", dir, &["--json"]));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn every_run_draws_its_own_subsets() {
    let bench = bandit(SUBSET);
    let out = bench.run("out", &[]);
    let method = &summary(&out)["methods"][0];
    for statistics in [&method["settings"][0]["final"], &method["fresh"]["final"]] {
        assert!(statistics["standard_error"].as_f64().unwrap() > 1e-3, "{statistics}");
    }
}

#[test]
fn a_problem_file_keeps_its_name_beside_the_results() {
    let bench = bandit(SUBSET);
    let out = bench.run("out", &[]);
    assert_eq!(fs::read_to_string(out.join("problems/bandit.toml")).unwrap(), BANDIT);
    let settings = fs::read(out.join("settings.parquet")).unwrap();
    // From the file beside the results, nothing changes.
    Bench::run_kept_file(&out);
    assert_eq!(fs::read(out.join("settings.parquet")).unwrap(), settings);
}

/// Once finished units were removed without a word.
#[test]
fn fewer_fresh_runs_than_there_are_are_refused_and_nothing_changes() {
    let bench = bandit(SUBSET);
    let out = bench.run("out", &[]);
    let before = snapshot(&out);
    let fewer = bandit(&SUBSET.replace("fresh_runs = 3", "fresh_runs = 2"));
    let words = "holds 3 fresh runs of this experiment and 2 are asked for; ask for as many or more (`fresh_runs = 3`)";
    refused(&fewer.output(&out, &[]), &[words]);
    let direct = fewer.run("direct", &[]);
    refused(&merge(&[&direct], &out), &[words]);
    // A shard with more runs and fewer fresh ones decides how many there are.
    let more = fewer.run("more", &["--runs", "5"]);
    refused(&merge(&[&more, &out], &fewer.path("merged")), &[words]);
    assert!(snapshot(&out) == before && !fewer.path("merged").exists());
    // As many or more are as before.
    let more = bandit(&SUBSET.replace("fresh_runs = 3", "fresh_runs = 4"));
    more.finish(&out, &[]);
    assert_same(&more.run("direct", &[]), &out);
}

/// The policy stays, so that all settings have the same objective and the first is the best; the values of the second are better.
const TWO_BESTS: &str = r#"
problem = "counterexample"
runs = 3
episodes = 300
evaluations = 2
fresh_runs = 2
record = ["objective", "value_error"]
[[method]]
algorithm = "true-ace"
alpha = 0
critic = { kind = "td", alpha_v = [0, 0.05] }
"#;

/// Once finished fresh runs were removed without a word when other settings became the best.
#[test]
fn fresh_runs_of_other_settings_are_not_discarded_in_silence() {
    let file = |by: &str| format!("select_by = \"{by}\"{TWO_BESTS}");
    let bench = Bench::new(&file("value_error"));
    let out = bench.run("out", &[]);
    fs::write(&bench.file, file("objective")).unwrap();
    let output = bench.finish(&out, &["--quiet"]);
    assert!(says(&output, "warning: 2 finished units of fresh runs in"), "{}", text(&output));
    assert!(says(&output, "other settings are chosen now"), "{}", text(&output));
    assert!(!says(&bench.finish(&out, &[]), "discarded"));
    assert_same(&bench.run("direct", &[]), &out);
}

#[test]
fn an_edited_experiment_beside_the_results_is_noticed() {
    let bench = Bench::new(TWO_METHODS);
    let out = bench.run("out", &[]);
    let kept = out.join("experiment.toml");
    let edited = fs::read_to_string(&kept).unwrap().replace("alpha = [0.1, 1]", "alpha = [0.1, 2]");
    fs::write(&kept, edited).unwrap();
    let words = ["is not the file that these results are of"];
    refused(&ended_on("summarise", &out, &[]), &words);
    refused(&merge(&[&out], &bench.path("merged")), &words);
}

#[test]
fn a_method_that_always_diverges_is_not_left_out_in_silence() {
    let bench = Bench::new(TWO_METHODS);
    let out = bench.run("out", &[]);
    let output = succeeded(ended_on("summarise", &out, &[]));
    assert!(says(&output, "warning: ACE is missing"), "{}", text(&output));
}

#[test]
fn what_only_the_first_setting_has_is_a_column_too() {
    let of = |critics: &str| {
        let file = TWO_METHODS.replace("critic = \"exact\"", &format!("critic = [{critics}]"));
        let bench = Bench::new(&file);
        let out = bench.run("out", &[]);
        let csv = String::from_utf8(succeeded(ended_on("summarise", &out, &["--csv"])).stdout).unwrap();
        let mut names: Vec<String> = csv.lines().next().unwrap().split(',').map(str::to_owned).collect();
        names.sort();
        names
    };
    let gtd = "{ kind = \"gtd\", alpha_v = 0.1, alpha_w = 0.1 }";
    assert_eq!(of(&format!("{gtd}, \"exact\"")), of(&format!("\"exact\", {gtd}")));
}

#[test]
fn the_users_own_file_is_not_rewritten() {
    let bench = Bench::new(TWO_METHODS);
    let out = bench.file.parent().unwrap().to_owned();
    refused(&bench.output(&out, &["--runs", "3"]), &["with --runs give another directory"]);
    assert_eq!(fs::read_to_string(&bench.file).unwrap(), TWO_METHODS);
}

#[test]
fn more_numbers_than_memory_holds_are_refused() {
    let file = TWO_METHODS.replace("episodes = 20", "episodes = 9000000000000000");
    let bench = Bench::new(&file.replace("evaluations = 2", "evaluations = 4000000000"));
    refused(&ended_on("check", &bench.file, &[]), &["`evaluations` is 4000000000; it must lie"]);
}

/// Once `check` accepted it and `run` tried to list forty billion units.
#[test]
fn more_units_than_can_be_dealt_with_are_refused_from_their_number() {
    let alphas = |n: usize| (1..=n).map(|k| format!("{k}e-9")).collect::<Vec<_>>().join(", ");
    let many = format!(
        "problem = \"counterexample\"\nruns = 1000000\nepisodes = 2\nevaluations = 1\n[[method]]\nalgorithm = \"ace\"\n\
         alpha = [{0}]\nlambda_a = [{0}]\ncritic = \"exact\"\n",
        alphas(3000)
    );
    let bench = Bench::new(&many);
    let words = ["35157 blocks, of each of which at most 28 runs are possible", "ask for fewer runs"];
    refused(&ended_on("check", &bench.file, &[]), &words);
    refused(&bench.output(&bench.path("out"), &[]), &words);
    let fewer = Bench::new(&many.replace("runs = 1000000", "runs = 2"));
    refused(&fewer.output(&fewer.path("out"), &["--runs", "29"]), &words[..1]);
    let fresh = bandit(&SUBSET.replace("fresh_runs = 3", "fresh_runs = 1000000"));
    succeeded(ended_on("check", &fresh.file, &[]));
    let two =
        SUBSET.replace("fresh_runs = 3", "fresh_runs = 1000000").replace("subset = 1", "subset = [1, 2]");
    fs::write(&fresh.file, two).unwrap();
    let words = ["at most 500000 fresh runs are possible of 2 kinds of settings"];
    refused(&ended_on("check", &fresh.file, &[]), &words);
}

#[test]
fn a_shard_of_more_than_there_are_units_has_nothing_to_do() {
    let bench = bandit(SUBSET);
    let output = bench.finish(&bench.path("out"), &["--shard", "1000000000/1000000000"]);
    assert!(says(&output, "This shard is finished: 0 of"), "{}", text(&output));
}

/// Once DEL in the problem's path made the experiment that is written invalid.
#[test]
fn what_diagnose_writes_can_be_read_whatever_the_problem_is_called() {
    let bench = Bench::empty();
    let problem = bench.write("a\u{7f}b\n[c].toml", BANDIT);
    let written = bench.path("written.toml");
    let mut diagnose = emphatic(["diagnose", "--quiet", "--starts", "0", "--write"]);
    succeeded(diagnose.arg(&written).arg(problem).output().unwrap());
    succeeded(ended_on("check", &written, &[]));
}

/// Once a path with a space was two words for the shell that it was copied to.
#[test]
fn commands_to_copy_are_quoted() {
    let bench = Bench::new(TWO_METHODS);
    let output = bench.finish(&bench.path("it's mine"), &[]);
    assert!(text(&output).contains(r"it'\''s mine'"), "{}", text(&output));
    let merged = bench.path("two words");
    let output = succeeded(merge(&[bench.run("shard", &["--shard", "1/2"])], &merged));
    assert!(text(&output).contains("two words/experiment.toml' --out '"), "{}", text(&output));
    let output = succeeded(bench.ended(&["new", "shop", "--out", "a shop.toml"]));
    assert!(text(&output).contains("`emphatic solve 'a shop.toml'`"), "{}", text(&output));
}

/// Each was silent once.
#[test]
fn what_misleads_is_warned_of() {
    let prediction = |lines: &str| {
        format!(
            "problem = \"counterexample\"\ntarget = {{ A0 = 0.9, A1 = 0.1 }}\nruns = 1\nepisodes = 10\nevaluations = 1\n{lines}\n"
        )
    };
    let td = "[[method]]\ncritic = { kind = \"td\", alpha_v = 0.1, lambda = [0, 0.9] }\n";
    let learns = "problem = \"counterexample\"\nruns = 1\nepisodes = 10\nevaluations = 1\n[[method]]\nalpha = 0.1\n\
                  actor = { kind = \"gradient-critic\", alpha_g = 0.1 }\ncritic = { kind = \"expected-tdrc\", alpha_q = 0.1 }\n";
    let several = "is chosen by `projected_error` among several λ";
    let biased = "counts the bias that λ_a = 0.9 gives M_t on purpose";
    let twice = "has the emphasis `follow-on` beside the actor `gradient-critic`, which needs none: later states count twice";
    let cases = [
        (prediction(&format!("record = [\"projected_error\"]\n{td}")), several, true),
        (prediction(&format!("record = [\"projected_error\"]\n{td}separate = [\"lambda\"]")), several, false),
        (prediction(&format!("record = [\"value_error\", \"projected_error\"]\n{td}")), several, false),
        (prediction("record = [\"emphasis_error\"]\n[[method]]\nemphasis = \"follow-on\""), biased, true),
        (
            prediction("record = [\"emphasis_error\"]\n[[method]]\nemphasis = \"follow-on\"\nlambda_a = 1"),
            biased,
            false,
        ),
        (format!("{learns}emphasis = \"follow-on\"\n"), twice, true),
        (learns.to_owned(), twice, false),
    ];
    for (file, words, warns) in cases {
        let bench = Bench::new(&file);
        let checked = succeeded(ended_on("check", &bench.file, &[]));
        assert_eq!(says(&checked, words), warns, "{file}{}", text(&checked));
        let ran = bench.finish(&bench.path("out"), &["--quiet"]);
        assert_eq!(says(&ran, words), warns, "{file}{}", text(&ran));
    }
}
