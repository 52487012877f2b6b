//! What summaries say, one test for each defect that was found.

use crate::common::{Bench, ended_on, refused, says, succeeded, text};
use serde_json::Value;
use std::fs;
use std::path::Path;

fn json(dir: &Path, options: &[&str]) -> Value {
    let output = succeeded(ended_on("summarise", dir, &[&["--json"], options].concat()));
    serde_json::from_slice(&output.stdout).expect("it is JSON")
}

fn printed(dir: &Path, options: &[&str]) -> String {
    String::from_utf8(succeeded(ended_on("summarise", dir, options)).stdout).expect("it is text")
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("it is a number")
}

/// The names of the methods in a summary.
fn names(summary: &Value) -> Vec<String> {
    let methods = summary["methods"].as_array().expect("it has methods");
    methods.iter().map(|method| method["values"].to_string()).collect()
}

/// Least squares come to rest soon, so that each run ends near the fixed point of its own features.
const DRAWN: &str = r#"
problem = "collision"
random_binary = { features = 6, ones = 3 }
runs = 1
fresh_runs = 2
steps = 40000
evaluations = 2
record = ["value_error", "projected_error"]
[[method]]
critic = "lstd"
"#;

/// Once it was that of the runs that settings are chosen by, whose features are others.
#[test]
fn a_fixed_point_belongs_to_the_runs_beside_it() {
    let of = |text: &str| {
        let bench = Bench::new(text);
        let summary = json(&bench.run("out", &["--quiet"]), &[]);
        summary["methods"][0].clone()
    };
    let fresh = of(DRAWN);
    assert_eq!(fresh["fixed_point"]["runs"], 2);
    let mean = number(&fresh["fresh"]["final"]["mean"]);
    assert!((number(&fresh["fixed_point"]["error"]) - mean).abs() < 0.02, "{}", fresh["fixed_point"]);
    let alone = of(&DRAWN.replace("fresh_runs = 2", ""));
    let own = number(&alone["settings"][0]["final"]["mean"]);
    assert_eq!(alone["fixed_point"]["runs"], 1);
    assert!((number(&alone["fixed_point"]["error"]) - own).abs() < 0.02, "{}", alone["fixed_point"]);
    assert!((mean - own).abs() > 0.04, "the features of both hardly differ: {mean} and {own}");
}

const AREA: &str = r#"
problem = "counterexample"
runs = 3
fresh_runs = 5
episodes = 300
evaluations = 10
record = ["objective", "emphasis", "weights"]
select = "area"
[[method]]
algorithm = "ace"
emphasis = "follow-on"
lambda_a = 1
alpha = [0.1, 0.3]
critic = "exact"
"#;

/// Once the median and the count were of the end, below a header of the average.
#[test]
fn what_is_above_a_number_is_what_settings_are_judged_by() {
    let bench = Bench::new(AREA);
    let out = bench.run("out", &["--quiet"]);
    for select in ["area", "final"] {
        let values =
            json(&out, &["--select", select])["methods"][0]["fresh"][format!("{select}_values")].clone();
        let values: Vec<f64> = values.as_array().expect("a list").iter().map(number).collect();
        let above = (values[2] + values[3]) / 2.0;
        let shown = printed(&out, &["--select", select, "--above", &above.to_string()]);
        assert!(shown.contains(" 2 of 5"), "{select}: {shown}");
        assert!(shown.contains(&format!("{:.4}", values[2])), "{select}: {shown}");
    }
    for wrong in ["nan", "inf", "much"] {
        let output = ended_on("summarise", &out, &["--above", wrong]);
        assert_eq!(output.status.code(), Some(2), "{wrong}: {}", text(&output));
        assert!(wrong == "much" || says(&output, "it is a finite number"), "{}", text(&output));
    }
}

#[test]
fn another_quantity_is_shown_of_the_same_settings() {
    let bench = Bench::new(AREA);
    let out = bench.run("out", &["--quiet"]);
    let (own, other) = (json(&out, &[]), json(&out, &["--quantity", "emphasis"]));
    assert_eq!(
        (&other["quantity"], &other["chosen_by"]),
        (&Value::from("emphasis"), &Value::from("objective"))
    );
    for key in ["best", "probability_best", "runs"] {
        assert_eq!(own["methods"][0][key], other["methods"][0][key]);
    }
    // Of the same policies, which prefer the later states ever more, the emphasis is not what the objective is.
    let mean = |summary: &Value| number(&summary["methods"][0]["fresh"]["area"]["mean"]);
    assert!((mean(&own) - mean(&other)).abs() > 1e-3);
    assert_eq!(other["methods"][0]["curve"][0]["mean"], Value::Null);
    let shown = printed(&out, &["--quantity", "emphasis"]);
    assert!(shown.contains("`emphasis` averaged over a run, for the best setting of each method, which is chosen by `objective`"), "{shown}");
    assert!(shown.contains(&format!("{:.4}", mean(&other))), "{shown}");
    let csv = printed(&out, &["--quantity", "emphasis", "--csv"]);
    assert_eq!(csv.lines().count(), 3, "{csv}");
    assert_ne!(csv, printed(&out, &["--csv"]));
    refused(
        &ended_on("summarise", &out, &["--quantity", "regret"]),
        &["`regret` was not recorded", "there are objective, emphasis"],
    );
    refused(
        &ended_on("summarise", &out, &["--quantity", "weights"]),
        &["`weights` was not recorded as a number"],
    );
}

const DIVERGES: &str = r#"
problem = "counterexample"
runs = 2
episodes = 20
evaluations = 2
[[method]]
algorithm = "ace"
alpha = [1, 2]
lambda_a = 1
critic = { kind = "gtd", alpha_v = 1e300, alpha_w = 1e300 }
[[method]]
algorithm = "offpac"
alpha = 0.1
critic = ["exact", { kind = "gtd", alpha_v = 1e300, alpha_w = 1e300 }]
"#;

/// Once they were left out of the lines, and only the sum over all methods was said.
#[test]
fn methods_that_diverge_have_lines_and_are_counted() {
    let bench = Bench::new(DIVERGES);
    let out = bench.run("out", &["--quiet"]);
    let csv = printed(&out, &["--csv"]);
    let lines: Vec<&str> = csv.lines().filter(|line| line.starts_with("ACE,")).collect();
    assert_eq!(lines.len(), 2, "{csv}");
    assert!(lines.iter().all(|line| line.ends_with(",2,2,,,,,,,,false")), "{csv}");
    assert!(
        printed(&out, &[]).contains("over the whole grid: OffPAC 2 of 4; ACE 4 of 4."),
        "{}",
        printed(&out, &[])
    );
    let summary = json(&out, &[]);
    assert_eq!(summary["without_best"][0]["method"], "ACE");
    assert_eq!(summary["methods"][0]["diverged"]["runs"], 2);
}

/// Once "has a `emphasis_error`".
#[test]
fn an_error_has_its_article() {
    let bench = Bench::new(
        "problem = \"counterexample\"\ntarget = { A0 = 0.5, A1 = 0.5 }\nruns = 1\nsteps = 50\nevaluations = 1\nrecord = [\"emphasis_error\"]\n\
         [[method]]\nemphasis = { kind = \"direct\", alpha_u = 1e300, lambda_a = 1, schedule = \"constant\" }\n",
    );
    let out = bench.run("out", &["--quiet"]);
    let output = succeeded(ended_on("summarise", &out, &[]));
    assert!(says(&output, "has an `emphasis_error`"), "{}", text(&output));
}

const PARTS: &str = r#"
problem = "counterexample"
runs = 2
episodes = 20
evaluations = 2
fresh_runs = 1
[[method]]
name = "parts"
alpha = [0.1, 0.2]
algorithm = "ace"
"#;

/// Once parts of one kind competed, and the worse one disappeared.
#[test]
fn every_value_of_a_list_of_parts_is_a_method_of_its_own() {
    let of = |lines: &str| {
        let bench = Bench::new(&format!("{PARTS}{lines}\n"));
        let out = bench.run("out", &["--quiet"]);
        let summary = json(&out, &[]);
        let methods = summary["methods"].as_array().expect("it has methods");
        assert!(methods.iter().all(|method| method["fresh"]["runs"] == 1), "{lines}");
        names(&summary)
    };
    let direct = "emphasis = [{ kind = \"direct\", alpha_u = 0.1, read = 0 }, { kind = \"direct\", alpha_u = 0.1, read = 1 }, \"none\"]\n\
                  separate = [\"emphasis\"]\ncritic = \"exact\"";
    assert_eq!(
        of(direct),
        [
            r#"{"emphasis":"direct","emphasis.read":0.0}"#,
            r#"{"emphasis":"direct","emphasis.read":1.0}"#,
            r#"{"emphasis":"none"}"#
        ]
    );
    // A list within a value is swept, also one of whole numbers, which share no lanes.
    let swept = "emphasis = [{ kind = \"truncated\", n = [1, 2] }, { kind = \"truncated\", n = 3 }]\nseparate = [\"emphasis\"]\ncritic = \"exact\"";
    assert_eq!(
        of(swept),
        [r#"{"emphasis":"truncated","emphasis.n":"[1, 2]"}"#, r#"{"emphasis":"truncated","emphasis.n":3.0}"#]
    );
    let features = "emphasis = \"none\"\nseparate = [\"critic\"]\n\
                    critic = [{ kind = \"td\", alpha_v = 0.1 }, { kind = \"td\", alpha_v = 0.1, features = \"actor\" }]";
    assert_eq!(
        of(features),
        [r#"{"critic":"td","critic_features":"critic"}"#, r#"{"critic":"td","critic_features":"actor"}"#]
    );
    let inside = "emphasis = \"none\"\nseparate = [\"critic_emphasis\"]\n\
                  critic = { kind = \"etd\", alpha_v = 0.1, emphasis = [{ kind = \"decayed\", beta = 0.1 }, { kind = \"decayed\", beta = 0.2 }, \"follow-on\"] }";
    assert_eq!(
        of(inside),
        [
            r#"{"critic_emphasis":"decayed","beta":0.1}"#,
            r#"{"critic_emphasis":"decayed","beta":0.2}"#,
            r#"{"critic_emphasis":"follow-on"}"#
        ]
    );
    let policies = "emphasis = \"none\"\nseparate = [\"policy\"]\ncritic = \"exact\"\npolicy = [{ weights = 0 }, { weights = 1 }]";
    assert_eq!(of(policies).len(), 2);
}

const PROBLEMS: &str = r#"
problem = ["pa/p.toml", "pb/p.toml", "collision", "counterexample"]
runs = 1
steps = 100
evaluations = 1
record = ["objective"]
[[method]]
algorithm = "offpac"
alpha = 0.1
critic = "exact"
"#;

/// Once they were `p.toml`, `1-p.toml` and `collision.toml`.
#[test]
fn problems_are_called_as_they_were_written() {
    let bench = Bench::new(PROBLEMS);
    for (dir, reward) in [("pa", 1), ("pb", 2)] {
        fs::create_dir(bench.path(dir)).expect("it is new");
        bench.write(
            &format!("{dir}/p.toml"),
            format!(
                "states = [\"s\"]\nactions = [\"a\", \"b\"]\nstart = \"s\"\nbehaviour = \"uniform\"\n\
                 transitions = [{{ from = \"s\", action = [0, 1], end = true, reward = {reward} }}]\n"
            ),
        );
    }
    let out = bench.run("out", &["--quiet"]);
    let right = ["pa/p.toml", "pb/p.toml", "collision", "counterexample"];
    let called = || -> Vec<String> {
        let summary = json(&out, &[]);
        let methods = summary["methods"].as_array().expect("it has methods").clone();
        methods
            .iter()
            .map(|method| method["values"]["problem"].as_str().expect("a name").to_owned())
            .collect()
    };
    assert_eq!(called(), right);
    let csv = printed(&out, &["--csv"]);
    assert!(right.iter().all(|name| csv.contains(&format!(",{name},"))), "{csv}");
    // From the file beside the results nothing changes, and directories of files and of shipped problems are the same as before.
    let before = fs::read(out.join("settings.parquet")).expect("it is there");
    assert!(says(&Bench::run_kept_file(&out), "were there before"));
    assert_eq!(fs::read(out.join("settings.parquet")).expect("it is there"), before);
    assert_eq!(called(), right);
    let identity = crate::common::manifest(&out)["identity"]["problems"].clone();
    assert_eq!(identity.to_string(), r#"[{},{},{},{"problem":"counterexample"}]"#);
}

#[test]
fn a_problem_may_have_a_label() {
    for problem in [
        "problem = { name = \"collision\", label = \"two cars\" }",
        "problem.name = \"collision\"",
        "problem = [ { name = \"collision\" }, \"counterexample\" ]",
        "[problem]\nname = \"collision\"",
    ] {
        let (_, rest) = PROBLEMS.trim_start().split_once('\n').expect("it has lines");
        // A table comes after the keys of the experiment.
        let (top, method) = rest.split_once("[[method]]").expect("it has a method");
        let bench = Bench::new(&format!("{top}{problem}\n[[method]]{method}"));
        let out = bench.run("out", &["--quiet"]);
        let kept = fs::read_to_string(out.join("experiment.toml")).expect("it is kept");
        let label = if problem.contains("two cars") { "two cars" } else { "collision" };
        assert!(kept.contains(&format!("label = \"{label}\"")), "{kept}");
        assert!(says(&Bench::run_kept_file(&out), "were there before"), "{kept}");
        assert_eq!(fs::read_to_string(out.join("experiment.toml")).expect("it is kept"), kept);
    }
}
