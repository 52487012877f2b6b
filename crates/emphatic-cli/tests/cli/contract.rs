//! Results are the same bits for any number of threads, lanes and shards, and those of the library.

use crate::common::{Bench, assert_same, merge, says, signal, succeeded, text, wait_until};
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt32Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use emphatic::{
    Exact, ExactCritic, Gtd, Learner, Policy, State, Table, Task, follow_on_ace, off_pac, true_ace,
};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const FINITE: &str = include_str!("../experiments/finite.toml");
const CONTINUOUS: &str = include_str!("../experiments/continuous.toml");
const SWEPT: &str = include_str!("../experiments/swept.toml");
const SIMULATOR: &str = include_str!("../experiments/simulator.toml");
const SIMULATED_REAL_ACTION: &str = include_str!("../experiments/simulated-real-action.toml");
const LIBRARY: &str = include_str!("../experiments/library.toml");

/// Merges directories and makes the runs of chosen settings.
fn merged(bench: &Bench, dirs: &[&PathBuf], name: &str) -> PathBuf {
    let out = bench.path(name);
    let output = succeeded(merge(dirs, &out));
    assert!(says(&output, "For the rest: emphatic run"), "{}", text(&output));
    // As it says: with the file beside the results.
    Bench::run_kept_file(&out);
    out
}

/// Learned critics whose weights grow until they overflow, at a different step in every run.
const DIVERGING: &str = include_str!("../experiments/diverging.toml");

/// Once the step at which a run diverged depended on the other lanes.
#[test]
fn when_a_run_diverged_depends_on_it_alone() {
    let bench = Bench::new(DIVERGING);
    let reference = bench.run("16", &["--lanes", "16"]);
    assert_same(&reference, &bench.run("1", &["--lanes", "1"]));
    let rows = table(&reference.join("results.parquet"));
    let (steps, evaluation) =
        (rows.column_by_name("diverged_step").unwrap(), rows.column_by_name("evaluation"));
    let evaluation = evaluation.unwrap().as_primitive::<UInt32Type>().values();
    let last: Vec<usize> = (0..rows.num_rows()).filter(|row| evaluation[*row] == 2).collect();
    let (diverged, all) = (last.iter().filter(|row| steps.is_valid(**row)).count(), last.len());
    assert!(diverged > all / 4 && diverged < all, "{diverged} of {all}");
}

fn the_bits_do_not_depend_on_how(experiment: &str, runs: &str) {
    let bench = Bench::new(experiment);
    let reference = bench.run("reference", &["--threads", "2"]);
    let ways: [&[&str]; 5] = [
        &["--threads", "1"],
        &["--lanes", "1", "--isa", "plain"],
        &["--lanes", "1", "--isa", "best"],
        &["--lanes", "16", "--isa", "plain"],
        &["--lanes", "16", "--isa", "best", "--threads", "5", "--runs", runs],
    ];
    for (k, options) in ways.iter().enumerate() {
        assert_same(&reference, &bench.run(&format!("way-{k}"), options));
    }

    // Each shard in its own way.
    let shards = [&["--shard", "1/3"][..], &["--shard", "2/3", "--lanes", "1"], &["--shard", "3/3"]];
    let shards: Vec<PathBuf> =
        shards.iter().enumerate().map(|(k, options)| bench.run(&format!("shard-{k}"), options)).collect();
    assert_same(&reference, &merged(&bench, &[&shards[0], &shards[1], &shards[2]], "merged"));
    assert_same(
        &reference,
        &merged(&bench, &[&shards[2], &shards[0], &shards[1], &shards[0]], "in-another-order"),
    );
    let one_in_the_other = &shards[1];
    succeeded(merge(&shards, one_in_the_other));
    bench.finish(one_in_the_other, &[]);
    assert_same(&reference, one_in_the_other);

    let added = bench.run("added", &["--runs", "2"]);
    bench.finish(&added, &["--runs", "3", "--lanes", "1"]);
    bench.finish(&added, &[]);
    assert_same(&reference, &added);

    let continued = bench.run("continued", &["--shard", "2/3"]);
    let mut child = bench.start(&continued, &[]);
    let settings = continued.join("settings.parquet");
    assert!(wait_until(&mut child, || settings.exists()));
    signal(&child, "INT");
    child.wait().unwrap();
    bench.finish(&continued, &["--isa", "plain"]);
    assert_same(&reference, &continued);
    // There is nothing left to do.
    let output = bench.finish(&continued, &[]);
    assert!(says(&output, "Finished: all"), "{}", text(&output));
    assert_same(&reference, &continued);
}

#[test]
fn named_actions() {
    the_bits_do_not_depend_on_how(FINITE, "5");
}

#[test]
fn a_real_action() {
    the_bits_do_not_depend_on_how(CONTINUOUS, "4");
}

#[test]
fn several_problems() {
    the_bits_do_not_depend_on_how(SWEPT, "5");
}

#[test]
fn a_simulator() {
    the_bits_do_not_depend_on_how(SIMULATOR, "5");
}

#[test]
fn simulators_with_a_real_action() {
    the_bits_do_not_depend_on_how(SIMULATED_REAL_ACTION, "4");
}

/// Returns a whole table.
fn table(path: &Path) -> RecordBatch {
    let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(path).unwrap()).unwrap();
    let reader = reader.with_batch_size(1 << 20).build().unwrap();
    let batches: Vec<RecordBatch> = reader.map(Result::unwrap).collect();
    assert_eq!(batches.len(), 1);
    batches.into_iter().next().unwrap()
}

fn numbers(table: &RecordBatch, name: &str) -> Vec<Option<f64>> {
    table.column_by_name(name).unwrap().as_primitive::<Float64Type>().iter().collect()
}

#[test]
fn a_run_that_diverged_is_empty_from_there() {
    let bench = Bench::new(FINITE);
    let results = table(&bench.run("out", &["--quiet"]).join("results.parquet"));
    let diverged = results.column_by_name("diverged_step").unwrap().as_primitive::<UInt64Type>();
    let steps = results.column_by_name("step").unwrap().as_primitive::<UInt64Type>();
    let weights = results.column_by_name("weights").unwrap().as_list::<i32>();
    assert!(diverged.null_count() > 0 && diverged.null_count() < diverged.len());
    for row in 0..results.num_rows() {
        assert_eq!(weights.is_null(row), diverged.is_valid(row), "row {row}");
        assert!(diverged.is_null(row) || diverged.value(row) <= steps.value(row), "row {row}");
    }
    for name in ["objective", "target.S0.A0", "target.S0.A1", "target.S1.A0", "rho"] {
        // Before the first step there is no mean.
        let expected = |row: usize| diverged.is_null(row) && (name != "rho" || steps.value(row) > 0);
        for (row, value) in numbers(&results, name).iter().enumerate() {
            assert_eq!(value.is_some(), expected(row), "{name}, row {row}");
        }
    }
}

/// What is recorded at an evaluation.
#[derive(Debug)]
struct Record {
    objective: f64,
    probability: f64,
    emphasis: f64,
    exact_emphasis: f64,
    rho: f64,
    weights: Vec<f64>,
}

const EPISODES: u64 = 90;
const EVALUATIONS: u64 = 4;

/// Drives a learner by hand, as the crate's documentation says, and records what an experiment would.
fn by_hand(mut learner: impl Learner<f64>, lambda_a: f64, task: &Task, run: u64) -> Vec<Record> {
    let mut stream = task.stream(8, run);
    let mut records = Vec::new();
    let mut episodes = 0;
    for evaluation in 0..=EVALUATIONS {
        let (mut steps, mut emphasis, mut exact_emphasis, mut rho) = (0.0, 0.0, 0.0, 0.0);
        while episodes < EPISODES * evaluation / EVALUATIONS {
            let step = stream.next().unwrap();
            let policy = task.softmax();
            let exact = Exact::new(task, &policy, learner.weights()).unwrap();
            let State::Number(state) = step.state else { panic!("states are numbered") };
            exact_emphasis += exact.emphatic_weighting(lambda_a)[state] / exact.stationary()[state];
            let update = learner.step(&step).unwrap();
            emphasis += update.emphasis;
            rho += update.rho;
            steps += 1.0;
            episodes += u64::from(step.gamma_next == 0.0);
        }
        let policy = task.softmax();
        let exact = Exact::new(task, &policy, learner.weights()).unwrap();
        records.push(Record {
            objective: exact.objective(),
            probability: exact.probabilities()[1][0],
            emphasis: emphasis / steps,
            exact_emphasis: exact_emphasis / steps,
            rho: rho / steps,
            weights: learner.weights().to_vec(),
        });
    }
    records
}

#[test]
fn the_numbers_are_those_of_the_library() {
    let bench = Bench::new(LIBRARY);
    let results = table(&bench.run("out", &["--quiet"]).join("results.parquet"));
    let task = Arc::new(Task::counterexample());
    let policy = task.softmax();
    let exact = || ExactCritic::new(task.clone(), &policy).unwrap();
    let mut setting = 0;
    for alpha in [0.05, 0.2] {
        for lambda_a in [0.0, 0.5, 1.0] {
            for alpha_v in [0.01, 0.1] {
                let learner = || {
                    let critic = Gtd::builder(task.critic().clone())
                        .alpha_v(alpha_v)
                        .alpha_w(1e-3)
                        .lambda(0.5)
                        .build()
                        .unwrap();
                    follow_on_ace(policy.clone(), critic).lambda_a(lambda_a).alpha(alpha).build().unwrap()
                };
                assert_setting(&results, setting, |run| by_hand(learner(), lambda_a, &task, run));
                setting += 1;
            }
        }
    }
    let learner = || follow_on_ace(policy.clone(), exact()).lambda_a(0.9).alpha(0.1).build().unwrap();
    assert_setting(&results, setting, |run| by_hand(learner(), 0.9, &task, run));
    let learner = || off_pac(policy.clone(), exact()).alpha(0.1).build().unwrap();
    let learner = || learner().with_weights(vec![0.25, 0.0, 0.0, -0.5]).unwrap();
    assert_setting(&results, setting + 1, |run| by_hand(learner(), 0.0, &task, run));
    let learner = || {
        let critic =
            Gtd::builder(Table::aliased(&[0, 1, 2])).alpha_v(0.1).alpha_w(0.01).lambda(0.0).build().unwrap();
        true_ace(task.clone(), policy.clone(), critic).alpha(0.1).build().unwrap()
    };
    assert_setting(&results, setting + 2, |run| by_hand(learner(), 1.0, &task, run));
    assert_eq!(results.num_rows(), (setting as usize + 3) * 3 * 5);
    assert_eq!(policy.len(), 4);
}

/// Checks that all runs of a setting are as expected, to the bit.
fn assert_setting(results: &RecordBatch, setting: u32, expected: impl Fn(u64) -> Vec<Record>) {
    let column = |name| results.column_by_name(name).unwrap().as_primitive::<UInt32Type>().values().to_vec();
    let keys: Vec<(u32, u32, u32)> = column("setting")
        .into_iter()
        .zip(column("run"))
        .zip(column("evaluation"))
        .map(|((setting, run), evaluation)| (setting, run, evaluation))
        .collect();
    let [objective, probability, emphasis, exact_emphasis, rho] =
        ["objective", "target.S1.A0", "emphasis", "exact_emphasis", "rho"].map(|name| numbers(results, name));
    let weights = results.column_by_name("weights").unwrap().as_list::<i32>();
    for run in 0..3 {
        for (evaluation, record) in expected(u64::from(run)).iter().enumerate() {
            let key = (setting, run, evaluation as u32);
            let row = keys.iter().position(|known| *known == key).unwrap();
            let bits = |x: f64| (!x.is_nan()).then_some(x);
            assert_eq!(objective[row], bits(record.objective), "{key:?}");
            assert_eq!(probability[row], bits(record.probability), "{key:?}");
            assert_eq!(emphasis[row], bits(record.emphasis), "{key:?}");
            assert_eq!(rho[row], bits(record.rho), "{key:?}");
            let list = weights.value(row);
            assert_eq!(list.as_primitive::<Float64Type>().values(), &record.weights[..], "{key:?}");
            // It is updated from step to step, with other rounding errors than a new solution.
            match (exact_emphasis[row], bits(record.exact_emphasis)) {
                (Some(x), Some(y)) => assert!((x - y).abs() <= 1e-12 * y, "{key:?}: {x} {y}"),
                (x, y) => assert_eq!(x, y, "{key:?}"),
            }
        }
    }
}
