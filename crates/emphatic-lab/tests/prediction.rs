//! Experiments that evaluate a fixed target: errors by hand, limits that are known, and the same bits however they are run.

mod common;

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use common::{results, settings};
use emphatic_lab::store::Kind;
use emphatic_lab::{
    Cell, Experiment, LaneCount, MethodSummary, Options, Shard, Stop, Summary, merge, read_runs, run,
    summarise,
};
use miette::Diagnostic;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use std::fs::File;
use std::path::Path;
use tempfile::TempDir;

/// Two states, one after the other: v = (0.5, 1), d_μ = (0.5, 0.5), m = (0.5, 0.75).
const TWO_STATES: &str = r#"
    states = ["A", "B"]
    actions = ["go"]
    start = "A"
    gamma = 0.5
    behaviour = "uniform"
    target = "uniform"
    transitions = [
      { from = "A", action = "go", to = "B" },
      { from = "B", action = "go", end = true, reward = 1 },
    ]
"#;

/// Runs an experiment in a problem of its own.
fn run_in(problem: &str, text: &str) -> TempDir {
    let beside = tempfile::tempdir().unwrap();
    std::fs::write(beside.path().join("problem.toml"), problem).unwrap();
    let text = format!("problem = \"problem.toml\"\n{text}");
    let experiment = Experiment::parse(&text, "x.toml", beside.path()).unwrap_or_else(|e| panic!("{e:?}"));
    let dir = tempfile::tempdir().unwrap();
    run(&experiment, dir.path(), &Options::default(), &Stop::default(), &mut |_| {}).unwrap();
    dir
}

/// A recorded quantity along the first run of a setting.
fn along(dir: &TempDir, quantity: &str, setting: usize) -> Vec<Option<f64>> {
    read_runs(dir.path(), Kind::Results, quantity, &[setting]).unwrap()[&setting][0].values.clone()
}

fn near(found: &[Option<f64>], expected: &[Option<f64>]) {
    let near = |(x, y): (&Option<f64>, &Option<f64>)| match (x, y) {
        (Some(x), Some(y)) => (x - y).abs() < 1e-12,
        (x, y) => x == y,
    };
    assert!(
        found.len() == expected.len() && found.iter().zip(expected).all(near),
        "{found:?}, not {expected:?}"
    );
}

fn method<'a>(summary: &'a Summary, name: &str) -> &'a MethodSummary {
    summary.methods.iter().find(|method| method.method == name).unwrap_or_else(|| panic!("{name}"))
}

/// The message and the help of a file that is refused.
fn refused(text: &str) -> String {
    let error = Experiment::parse(text, "x.toml", Path::new("")).expect_err(text);
    format!("{error} ({})", error.help().map(|help| help.to_string()).unwrap_or_default())
}

#[test]
fn errors_by_hand() {
    let dir = run_in(
        TWO_STATES,
        r#"
        runs = 1
        steps = 4
        evaluations = 4
        interest = { A = 0, B = 1 }
        record = [
          "value_error", "value_error.target", "value_error.emphatic", "value_error.interest", "projected_error", "critic.weights",
        ]
        [[method]]
        critic = { kind = "td", alpha_v = 1 }
        "#,
    );
    let root = |x: f64| Some(x.sqrt());
    // v̂ = (0, 0) at first. A is worth nothing until B is known to be worth 1, which is then seen from A.
    near(
        &along(&dir, "value_error", 0),
        &[root(1.25 / 2.0), root(1.25 / 2.0), root(0.125), Some(0.0), Some(0.0)],
    );
    near(
        &along(&dir, "value_error.target", 0),
        &[root(1.25 / 2.0), root(1.25 / 2.0), root(0.125), Some(0.0), Some(0.0)],
    );
    // Interest in B alone, where all of m is.
    near(&along(&dir, "value_error.emphatic", 0), &[Some(1.0), Some(1.0), Some(0.0), Some(0.0), Some(0.0)]);
    near(&along(&dir, "value_error.interest", 0), &[Some(1.0), Some(1.0), Some(0.0), Some(0.0), Some(0.0)]);
    // g = (½ (½ v̂(B) − v̂(A)), ½ (1 − v̂(B))), C = I/2.
    near(&along(&dir, "projected_error", 0), &[root(0.5), root(0.5), root(0.125), Some(0.0), Some(0.0)]);
    assert_eq!(lists(&dir, "critic.weights"), [[0.0, 0.0], [0.0, 0.0], [0.0, 1.0], [0.5, 1.0], [0.5, 1.0]]);
}

fn lists(dir: &TempDir, column: &str) -> Vec<Vec<f64>> {
    let file = File::open(dir.path().join("results.parquet")).unwrap();
    let batches = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap();
    let mut all = Vec::new();
    for batch in batches.map(Result::unwrap) {
        let lists = batch.column_by_name(column).unwrap().as_list::<i32>().clone();
        for row in 0..lists.len() {
            all.push(lists.value(row).as_primitive::<Float64Type>().values().to_vec());
        }
    }
    all
}

#[test]
fn an_emphasis_alone_by_hand() {
    let dir = run_in(
        TWO_STATES,
        r#"
        runs = 1
        steps = 4
        evaluations = 2
        [[method]]
        name = "counts alike"
        emphasis = "none"
        [[method]]
        name = "trace"
        emphasis = { kind = "follow-on", lambda_a = [0.5, 1] }
        "#,
    );
    // m/d_μ = (1, 1.5) beside M = (1, 1), (1, 1.25) and (1, 1.5). Before the first step there is no mean.
    let root = |x: f64| Some(x.sqrt());
    near(&along(&dir, "emphasis_error", 0), &[None, root(0.125), root(0.125)]);
    near(&along(&dir, "emphasis_error", 1), &[None, root(0.03125), root(0.03125)]);
    near(&along(&dir, "emphasis_error", 2), &[None, Some(0.0), Some(0.0)]);
    // Less is better, at the end and on average.
    for select in [None, Some(emphatic_lab::Select::Area)] {
        let summary = summarise(dir.path(), select).unwrap();
        assert_eq!((summary.quantity.as_str(), summary.best_is), ("emphasis_error", "smallest"));
        assert_eq!(method(&summary, "trace").best, 2);
        assert!(method(&summary, "counts alike").settings[0].area.mean.is_some());
    }
    // The critic that nobody named is in no table.
    assert!(!settings(dir.path())[0].contains_key("critic"));
    assert_eq!(settings(dir.path())[2]["emphasis"], Cell::Text("follow-on".to_owned()));
}

/// The emphases `ideal` and `model`, which ask the policy for its probabilities, could not evaluate a fixed target. While the target stays the same, the
/// ideal trace is the follow-on trace, and the model emphasis tends to the emphatic density.
#[test]
fn emphases_that_ask_the_policy_evaluate_a_fixed_target() {
    let dir = results(
        r#"
        problem = "long-counterexample"
        target = { A0 = 0.4, A1 = 0.6 }
        runs = 1
        steps = 50000
        evaluations = 10
        [[method]]
        name = "emphasis"
        emphasis = [{ kind = "follow-on", lambda_a = 1 }, "ideal", "model", { kind = "model", features = "states" }]
        separate = ["emphasis"]
        "#,
    );
    let [follow_on, ideal, states, features] = [0, 1, 2, 3].map(|k| along(&dir, "emphasis_error", k));
    assert_eq!(follow_on, ideal);
    let trace = follow_on[10].unwrap();
    assert!(trace > 10.0, "{follow_on:?}");
    for model in [states, features] {
        assert!(model[10].unwrap() < 0.1 * trace, "{model:?}, and the trace {trace}");
    }
}

/// A critic of actions has v̂(s) = Σ_b π(b|s) q̂(s,b).
#[test]
fn values_of_actions_by_hand() {
    let problem = r#"
        states = ["A"]
        actions = ["left", "right"]
        start = "A"
        behaviour = { left = 1, right = 0 }
        transitions = [
          { from = "A", action = "left", end = true, reward = 2 },
          { from = "A", action = "right", end = true, reward = 4 },
        ]
    "#;
    let dir = run_in(
        problem,
        r#"
        target = { left = 0.25, right = 0.75 }
        runs = 1
        steps = 2
        evaluations = 2
        [[method]]
        critic = { kind = "retrace", alpha_q = 0.5 }
        "#,
    );
    // v = 3.5; only the left action is ever seen, so that q̂ = (0, 0), (1, 0) and (1.5, 0).
    near(&along(&dir, "value_error", 0), &[Some(3.5), Some(3.25), Some(3.125)]);
}

#[test]
fn tabular_values_are_learned() {
    let dir = results(
        r#"
        problem = ["collision", "random-walk"]
        runs = 2
        steps = 50000
        evaluations = 1
        [[method]]
        critic = { kind = ["td", "tdrc"], features = "states", alpha_v = 0.01 }
        separate = ["critic"]
        name = "tabular"
        "#,
    );
    let summary = summarise(dir.path(), None).unwrap();
    assert_eq!(summary.methods.len(), 4);
    for method in &summary.methods {
        let error = method.settings[0].at_end.mean.unwrap();
        assert!(error < 0.06, "{:?}: {error}", method.values);
        let fixed_point = method.fixed_point.as_ref().unwrap();
        assert!(fixed_point.error.unwrap() < 1e-12 && fixed_point.stable == Some(1), "{fixed_point:?}");
    }
}

/// The features of random-walk-dependent cannot represent the values: TD(0) and ETD(0) end at different weights, which problems/random-walk-dependent.toml
/// lists. Here the errors there follow from these weights, the values and d_μ by hand.
#[test]
fn critics_end_near_their_fixed_points() {
    let dir = results(
        r#"
        problem = "random-walk-dependent"
        runs = 4
        steps = 200000
        evaluations = 1
        record = ["value_error", "projected_error"]
        [[method]]
        critic = { kind = "td", alpha_v = 0.005 }
        [[method]]
        critic = { kind = "etd", alpha_v = 0.002 }
        [[method]]
        critic = { kind = "lstd", solve_every = 1000 }
        "#,
    );
    let values: Vec<f64> = [-179.0, 145.0, 361.0, 505.0, 601.0].iter().map(|v| v / 665.0).collect();
    let (half, third) = (0.5f64.sqrt(), (1.0f64 / 3.0).sqrt());
    let x = [[1.0, 0.0, 0.0], [half, half, 0.0], [third, third, third], [0.0, half, half], [0.0, 0.0, 1.0]];
    let error = |w: [f64; 3]| {
        let at = |s: usize| x[s].iter().zip(w).map(|(x, w)| x * w).sum::<f64>() - values[s];
        let shares = [1.0, 2.0, 3.0, 2.0, 1.0];
        ((0..5).map(|s| shares[s] * at(s) * at(s)).sum::<f64>() / 9.0).sqrt()
    };
    let summary = summarise(dir.path(), None).unwrap();
    let at_rest = [
        ("TD", error([-0.187546, 0.324983, 0.719203]), Some(1)),
        ("ETD", error([-0.163626, 0.310502, 0.787247]), Some(1)),
        ("LSTD", error([-0.187546, 0.324983, 0.719203]), None),
    ];
    for (name, expected, stable) in at_rest {
        let method = method(&summary, name);
        let fixed_point = method.fixed_point.as_ref().unwrap();
        assert!((fixed_point.error.unwrap() - expected).abs() < 1e-5, "{name}: {fixed_point:?} {expected}");
        assert_eq!((fixed_point.stable, fixed_point.runs), (stable, 1), "{name}");
        let found = method.settings[0].at_end.mean.unwrap();
        assert!((found - expected).abs() < 0.02, "{name}: {found}, not {expected}");
    }
    // TD(0) and LSTD(0) end where nothing is left of the projected error; ETD(0) does not.
    let projected = |setting: usize| along(&dir, "projected_error", setting)[1].unwrap();
    assert!(projected(2) < 0.01 && projected(0) < 0.03, "{} {}", projected(2), projected(0));
    assert!(summary.text().contains("fixed point"));
}

/// In θ → 2θ, A = −0.2, C = 2.5 and N = 2.7, so that TD(0) is not stable, nor TDRC(0) with β = 1 (the determinant of its matrix is −0.2 · 3.5 + 2.7 · 0.2 < 0), but
/// GTD(0) is (−0.2 · 2.5 + 2.7 · 0.2 > 0). From zero weights nothing would move, since all rewards are zero.
#[test]
fn what_diverges_is_recorded_as_diverged() {
    let theta = |weights: &str| {
        format!(
            r#"
            problem = "theta-2theta"
            {weights}
            runs = 2
            steps = 200000
            evaluations = 2
            [[method]]
            critic = {{ kind = "td", alpha_v = 0.1 }}
            [[method]]
            critic = {{ kind = "gtd", alpha_v = 0.01, alpha_w = 0.01 }}
            [[method]]
            critic = {{ kind = "tdrc", alpha_v = 0.01 }}
            "#
        )
    };
    let dir = results(&theta("critic_weights = [1]"));
    // Estimates (1, 2) of values that are zero, as likely as each other.
    near(&along(&dir, "value_error", 0), &[Some(2.5f64.sqrt()), None, None]);
    let runs = &read_runs(dir.path(), Kind::Results, "value_error", &[0, 1]).unwrap();
    assert!(runs[&0].iter().all(|run| run.diverged) && !runs[&1].iter().any(|run| run.diverged));
    let summary = summarise(dir.path(), None).unwrap();
    assert_eq!(summary.diverged_runs, 2);
    assert!(
        summary.warnings.iter().any(|warning| warning.contains("TD is missing")),
        "{:?}",
        summary.warnings
    );
    for (name, is_stable) in [("GTD", true), ("TDRC", false)] {
        let method = method(&summary, name);
        let error = method.settings[0].at_end.mean.unwrap();
        assert!(if is_stable { error < 1e-3 } else { error > 1e3 }, "{name}: {error}");
        let fixed_point = method.fixed_point.as_ref().map(|point| (point.error, point.stable));
        assert_eq!(fixed_point, Some((Some(0.0), Some(usize::from(is_stable)))), "{name}");
    }
    let still = summarise(results(&theta("")).path(), None).unwrap();
    assert_eq!((still.diverged_runs, still.methods[0].settings[0].at_end.mean), (0, Some(0.0)));
    assert_eq!(still.methods[0].fixed_point.as_ref().and_then(|point| point.stable), Some(0));

    let baird = r#"
        problem = "baird"
        critic_weights = [1, 1, 1, 1, 1, 1, 10, 1]
        runs = 1
        steps = 2000
        evaluations = 1
        [[method]]
        critic = { kind = "td", alpha_v = 0.05 }
        "#;
    // Estimates 3 in the upper states and 12 in the lower one.
    let errors = along(&results(baird), "value_error", 0);
    near(&errors[..1], &[Some(((6.0 * 9.0 + 144.0) / 7.0f64).sqrt())]);
    assert!(errors[1].unwrap() > 100.0, "{errors:?}");
}

/// Runs whose weights are finite, but whose squared errors are not, had no value and were not counted as diverged either.
#[test]
fn runs_whose_error_overflows_are_counted() {
    let dir = results(
        r#"
        problem = "random-walk"
        critic_weights = [1e160, 1e160, 1e160, 1e160, 1e160]
        runs = 2
        steps = 100000
        evaluations = 1
        [[method]]
        critic = { kind = "td", alpha_v = [0, 0.5] }
        "#,
    );
    let summary = summarise(dir.path(), None).unwrap();
    let counts = |k: usize| &summary.methods[0].settings[k];
    assert_eq!([0, 1].map(|k| counts(k).values["alpha_v"].as_f64().unwrap()), [0.5, 0.0]);
    assert!(counts(0).at_end.mean.unwrap() < 1.0);
    assert_eq!([0, 1].map(|k| counts(k).at_end.diverged), [0, 2]);
}

/// Every kind of critic and measure, with features of each run's own.
const DRAWN: &str = r#"
    problem = "collision"
    random_binary = { features = 6, ones = 3 }
    runs = 3
    steps = 500
    evaluations = 5
    seed = 3
    fresh_runs = 2
    record = ["value_error.target", "value_error", "projected_error", "critic.weights", "emphasis_error"]
    select = "area"
    [[method]]
    critic = { kind = ["td", "etd"], alpha_v = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5], lambda = [0, 0.5, 0.9] }
    emphasis = { kind = "follow-on", lambda_a = 1 }
    name = "traces"
    [[method]]
    critic = { kind = "gtd", alpha_v = [0.01, 0.1], alpha_w = 0.01 }
    emphasis = "lambda-return"
"#;

fn run_with(text: &str, change: impl FnOnce(&mut Options)) -> TempDir {
    let experiment = Experiment::parse(text, "x.toml", Path::new("")).unwrap_or_else(|e| panic!("{e:?}"));
    let (dir, mut options) = (tempfile::tempdir().unwrap(), Options::default());
    change(&mut options);
    run(&experiment, dir.path(), &options, &Stop::default(), &mut |_| {}).unwrap();
    dir
}

fn tables(dir: &TempDir) -> [Vec<u8>; 3] {
    ["results.parquet", "fresh.parquet", "settings.parquet"]
        .map(|name| std::fs::read(dir.path().join(name)).unwrap())
}

#[test]
fn the_same_bits_however_it_is_run() {
    let whole = run_with(DRAWN, |options| options.threads = 1);
    let alone = run_with(DRAWN, |options| (options.lanes, options.threads) = (LaneCount::One, 2));
    let plain = run_with(DRAWN, |options| options.isa = emphatic::Isa::Plain);
    assert!(tables(&whole) == tables(&alone) && tables(&whole) == tables(&plain));
    let shards =
        [1, 2].map(|index| run_with(DRAWN, |options| options.shard = Some(Shard { index, count: 2 })));
    let merged = tempfile::tempdir().unwrap();
    let paths = shards.each_ref().map(|dir| dir.path().to_owned());
    merge(&paths, merged.path()).unwrap();
    let experiment = Experiment::parse(DRAWN, "x.toml", Path::new("")).unwrap();
    run(&experiment, merged.path(), &Options::default(), &Stop::default(), &mut |_| {}).unwrap();
    assert!(tables(&whole) == tables(&merged));
}

#[test]
fn features_are_drawn_for_each_run_and_shared_by_its_methods() {
    let dir = run_with(DRAWN, |_| {});
    let first = |kind: Kind, setting: usize| -> Vec<f64> {
        let runs = read_runs(dir.path(), kind, "projected_error", &[setting]).unwrap();
        runs[&setting].iter().map(|run| run.values[0].unwrap()).collect()
    };
    // Before learning it depends on the features and λ alone: on those of the run, whatever the method.
    let of_runs = first(Kind::Results, 0);
    assert_eq!(of_runs.len(), 3);
    assert!(of_runs[0] != of_runs[1] && of_runs[1] != of_runs[2] && of_runs[0] != of_runs[2], "{of_runs:?}");
    let cells = settings(dir.path());
    let without_lambda = |s: &usize| cells[*s]["lambda"] == Cell::Number(0.0);
    for setting in (0..cells.len()).filter(without_lambda) {
        assert_eq!(first(Kind::Results, setting), of_runs, "{setting}");
    }
    // More runs leave those before as they are; fresh runs have features of their own.
    let more = run_with(&DRAWN.replace("runs = 3", "runs = 4"), |_| {});
    let errors = read_runs(more.path(), Kind::Results, "projected_error", &[0]).unwrap();
    assert_eq!(errors[&0][..3].iter().map(|run| run.values[0].unwrap()).collect::<Vec<_>>(), of_runs);
    let summary = summarise(dir.path(), None).unwrap();
    let best = method(&summary, "GTD").best;
    assert!(first(Kind::Fresh, best).iter().all(|error| !first(Kind::Results, best).contains(error)));
    // Each run has its own fixed point, and those of the fresh runs stand beside their mean.
    assert_eq!(method(&summary, "traces").fixed_point.as_ref().map(|point| point.runs), Some(2));
}

/// The values of a policy that learns are those of the present policy.
#[test]
fn the_error_of_a_critic_beside_an_actor() {
    let dir = results(
        r#"
        problem = "counterexample"
        runs = 1
        episodes = 100
        evaluations = 2
        record = ["value_error", "objective"]
        [[method]]
        algorithm = "offpac"
        alpha = 0.5
        critic = "exact"
        [[method]]
        algorithm = "ace"
        alpha = 0.5
        critic = { kind = "gtd", alpha_v = 0.1, alpha_w = 0.01 }
        "#,
    );
    near(&along(&dir, "value_error", 0), &[Some(0.0); 3]);
    // All weights are zero, and both actions alike: v = (0.75, 1, 0.5), d_μ = (4, 1, 3)/8.
    let first = ((4.0 * 0.5625 + 1.0 + 3.0 * 0.25) / 8.0f64).sqrt();
    near(&along(&dir, "value_error", 1)[..1], &[Some(first)]);
    // The objective still comes first.
    assert_eq!(summarise(dir.path(), None).unwrap().quantity, "objective");
}

#[test]
fn what_settings_are_judged_by() {
    let text = DRAWN.replace("select = \"area\"", "select_by = \"projected_error\"");
    let summary = summarise(run_with(&text, |_| {}).path(), None).unwrap();
    assert_eq!(summary.quantity, "projected_error");
    let best = &method(&summary, "GTD").settings;
    assert!(best[0].at_end.mean < best[1].at_end.mean);
    let wrong = |by: &str| refused(&DRAWN.replace("select = \"area\"", &format!("select_by = \"{by}\"")));
    assert!(wrong("critic.weights").contains("does not say which setting is better"));
    assert!(wrong("value_error.interest").contains("is not recorded"));
}

#[test]
fn methods_that_evaluate_and_methods_that_learn() {
    let file = |head: &str, methods: &str| format!("{head}\nruns = 1\nsteps = 10\n{methods}");
    let td = "[[method]]\ncritic = { kind = \"td\", alpha_v = 0.1 }\n";
    let ace = "[[method]]\nalgorithm = \"ace\"\nalpha = 0.1\ncritic = \"exact\"\n";
    let counterexample = "problem = \"counterexample\"";
    let has = |text: String, words: &[&str]| {
        let error = refused(&text);
        words.iter().for_each(|word| assert!(error.contains(word), "{error} without {word}"));
    };
    has(file(counterexample, td), &["neither the experiment nor the problem has a `target`", "A0 = 1"]);
    let target = "problem = \"counterexample\"\ntarget = { A0 = 0.9, A1 = 0.1 }";
    Experiment::parse(&file(target, td), "x.toml", Path::new("")).unwrap();
    has(file(target, ace), &["`target` has no meaning here"]);
    // Once the policy never learned, without a word.
    for warm_up in ["10", "1e300", "0.999999"] {
        let text = file(counterexample, &format!("{ace}warm_up = {warm_up}\n"));
        has(text, &["the actor would never learn", "less than the length of a run"]);
    }
    has(
        file(counterexample, &format!("{ace}warm_up = [0.5, 5]\n")),
        &["two values of `warm_up` are 5 steps"],
    );
    has(
        file(counterexample, &format!("{ace}{td}")),
        &["only evaluates a target", "experiments of their own"],
    );
    has(file("problem = \"continuous-counterexample\"", td), &["real number"]);
    has(file(target, &format!("{td}warm_up = 0.5\n")), &["`warm_up` has no meaning here"]);
    has(file(target, "[[method]]\ncritic = \"compatible\"\n"), &["compatible"]);
    let record = |name: &str| format!("{target}\nrecord = [\"{name}\"]");
    has(file(&record("value_error"), "[[method]]\nemphasis = \"none\"\n"), &["the method has no critic"]);
    has(file(&record("critic.weights"), "[[method]]\ncritic = \"exact\"\n"), &["has no weights"]);
    has(file(&record("projected_error"), "[[method]]\ncritic = \"exact\"\n"), &["no linear critic"]);
    // Once it was that of a hidden `none`.
    has(file(&record("emphasis_error"), td), &["the method has no emphasis"]);
    let zero = format!("{}\ninterest = 0", record("value_error.interest"));
    has(file(&zero, td), &["no state has any weight in it"]);
    let learned = "problem = \"counterexample\"\nrecord = [\"value_error.emphatic\"]";
    has(file(learned, ace), &["fixed target"]);
    let start = |weights: &str| format!("{target}\ncritic_weights = {weights}");
    has(file(&start("[1, 2]"), td), &["2 weights for the critic of TD, which has 3"]);
    has(file(&start("[1, nan, 0]"), td), &["weights must be finite"]);
    has(file(&start("[1, 2, 3]"), "[[method]]\ncritic = \"exact\"\n"), &["no linear critic of values"]);
    let drawn = |ones: u32| format!("{target}\nrandom_binary = {{ features = 2, ones = {ones} }}");
    has(file(&drawn(3), td), &["3 of 2 features cannot be one"]);
    Experiment::parse(&file(&drawn(1), td), "x.toml", Path::new("")).unwrap();
}
