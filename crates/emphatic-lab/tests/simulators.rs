//! Experiments in simulators: the same as a loop written by hand, and what rollouts measure against closed forms.

#[allow(dead_code, reason = "other tests use what this one does not")]
mod common;

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use common::results;
use emphatic::{Action, Features, Learner, Random, Softmax, State, Step, Tdrc, follow_on_ace};
use emphatic_environments::{Environment, LinearQuadratic, MountainCar};
use emphatic_lab::store::Kind;
use emphatic_lab::{Experiment, Options, Stop, read_runs, run};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use std::error::Error;
use std::fs::File;
use std::path::Path;

/// Returns the last list of a column.
fn last_list(dir: &Path, column: &str) -> Vec<f64> {
    let file = File::open(dir.join("results.parquet")).unwrap();
    let batches = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap();
    let batch = batches.map(Result::unwrap).last().unwrap();
    let lists = batch.column_by_name(column).unwrap().as_list::<i32>();
    lists.value(lists.len() - 1).as_primitive::<Float64Type>().values().to_vec()
}

/// The tiles of a Mountain Car state in two tilings of 4 × 4, by the definition: the second tiling is displaced by half a tile in both dimensions
/// (1/2 and 3/2 mod 1).
fn tiles([position, velocity]: [f64; 2]) -> [usize; 2] {
    let place = |x: f64, low: f64, high: f64| ((x - low) / (high - low) * 4.0).min(4.0_f64.next_down());
    let (p, v) = (place(position, -1.2, 0.6), place(velocity, -0.07, 0.07));
    [0.0, 0.5].map(|d| (p + d).floor() as usize * 5 + (v + d).floor() as usize + if d > 0.0 { 25 } else { 0 })
}

/// The lab computes features once for all settings, in lanes, through a stream of chunks; here is the plain loop.
#[test]
fn weights_are_those_of_a_loop_by_hand() {
    let experiment = r#"
        problem = { name = "mountain-car", limit = 400 }
        gamma = 0.9
        features = { kind = "tiles", tilings = 2, tiles = 4 }
        behaviour = { backward = 0.5, idle = 0.2, forward = 0.3 }
        interest = "start"
        seed = 11
        runs = 1
        steps = 5000
        evaluations = 2
        record = ["weights"]
        [[method]]
        algorithm = "ace"
        emphasis = { kind = "follow-on", lambda_a = 0.7 }
        alpha = [0.01, 0.2]
        critic = { kind = "tdrc", alpha_v = 0.3, lambda = 0.5 }
    "#;
    let dir = results(experiment);
    let found = last_list(dir.path(), "weights");

    let features = || Features::active(50, 2);
    let critic = Tdrc::builder(features()).alpha_v(0.3).lambda(0.5).build().unwrap();
    let policy = Softmax { features: features(), actions: 3 };
    let mut learner = follow_on_ace(policy, critic).lambda_a(0.7).alpha(0.2).build().unwrap();
    let mu = [0.5, 0.2, 0.3];
    let mut random = Random::new(11, 0);
    let mut state = [0.0; 2];
    MountainCar.start(&mut state, &mut random);
    let (mut gamma, mut steps) = (0.0, 0);
    for _ in 0..5000 {
        let (before, action) = (tiles(state), random.index(mu));
        let outcome = MountainCar.step(&mut state, Action::Number(action), &mut random);
        let after = tiles(state);
        let gamma_next = if outcome.is_over { 0.0 } else { 0.9 };
        let step = Step {
            state: State::Active(&before),
            action,
            mu: mu[action],
            reward: outcome.reward,
            next: State::Active(&after),
            gamma,
            gamma_next,
            interest: if gamma == 0.0 { 1.0 } else { 0.0 },
        };
        learner.step(&step).unwrap();
        (gamma, steps) = (gamma_next, steps + 1);
        if outcome.is_over || steps == 400 {
            MountainCar.start(&mut state, &mut random);
            (gamma, steps) = (0.0, 0);
        }
    }
    assert_eq!(learner.weights(), found);
    assert!(found.iter().any(|w| *w != 0.0));
}

fn first_values(text: &str, column: &str, kind: Kind) -> Vec<f64> {
    let dir = results(text);
    read_runs(dir.path(), kind, column, &[0]).unwrap()[&0].iter().map(|run| run.values[0].unwrap()).collect()
}

/// Returns the mean, and its standard error.
fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (mean, (variance / n).sqrt())
}

/// A Gaussian policy with zero weights has mean 0 and standard deviation ln 2, and its value is known.
const LINEAR_QUADRATIC: &str = r#"
    problem = "linear-quadratic"
    gamma = 0.9
    features = { kind = "polynomial", degree = 2 }
    behaviour = { mean = 0, standard_deviation = 0.5 }
    seed = 2
    runs = 60
    steps = 1
    record = ["return", "excursions_return", "episode_length", "value_error"]
    fresh_runs = 3
    [rollouts]
    episodes = 40
    cap = 150
    gamma = 0.9
    [fresh_rollouts]
    cap = 7
    [[method]]
    algorithm = "offpac"
    alpha = 0.0
    critic = { kind = "td", alpha_v = 0.0 }
"#;

#[test]
fn returns_are_those_of_the_closed_form() {
    let value = LinearQuadratic::default().value_of([0.0, 0.0], 2.0_f64.ln(), 0.9).unwrap();
    let (mean, error) = mean_and_error(&first_values(LINEAR_QUADRATIC, "return", Kind::Results));
    assert!((mean - value.of_start()).abs() < 4.0 * error, "{mean} ± {error}, {}", value.of_start());
    // Every episode lasts until it is cut short, in fresh runs sooner.
    assert!(first_values(LINEAR_QUADRATIC, "episode_length", Kind::Results).iter().all(|x| *x == 150.0));
    assert!(first_values(LINEAR_QUADRATIC, "episode_length", Kind::Fresh).iter().all(|x| *x == 7.0));
}

/// Returns states as the behaviour visits them, where episodes are cut short after 100 steps.
fn visited() -> Vec<[f64; 2]> {
    let (environment, mut random) = (LinearQuadratic::default(), Random::new(99, 0));
    let (mut state, mut steps, mut all) = ([0.0; 2], 0, Vec::new());
    environment.start(&mut state, &mut random);
    for k in 1..=2_000_000 {
        let action = Action::Real(0.5 * random.normal());
        environment.step(&mut state, action, &mut random);
        steps += 1;
        if steps == 100 {
            environment.start(&mut state, &mut random);
            steps = 0;
        }
        if k % 23 == 0 {
            all.push(state);
        }
    }
    all
}

/// Once excursions began every 1000 steps, which in episodes of 100 steps is where they begin.
#[test]
fn excursions_and_errors_of_values_are_those_of_the_closed_form() {
    let value = LinearQuadratic::default().value_of([0.0, 0.0], 2.0_f64.ln(), 0.9).unwrap();
    let values: Vec<f64> = visited().into_iter().map(|state| value.of(state)).collect();
    let right = values.iter().sum::<f64>() / values.len() as f64;
    let (mean, error) = mean_and_error(&first_values(LINEAR_QUADRATIC, "excursions_return", Kind::Results));
    assert!((mean - right).abs() < 4.0 * error, "{mean} ± {error}, {right}");
    // The critic says 0 everywhere. Squares are unbiased, so that they are averaged.
    let squares: Vec<f64> =
        first_values(LINEAR_QUADRATIC, "value_error", Kind::Results).iter().map(|x| x * x).collect();
    let right = values.iter().map(|v| v * v).sum::<f64>() / values.len() as f64;
    let (mean, error) = mean_and_error(&squares);
    assert!((mean - right).abs() < 4.0 * error, "{mean} ± {error}, {right}");
}

/// An observation that features refuse ends the experiment with a message that says so. Once nobody checked.
#[test]
fn observations_are_checked() {
    let text = r#"
        problem = "cart-pole"
        features = { kind = "tiles", tilings = 2, tiles = 4, outside = "refuse" }
        runs = 1
        steps = 1000
        [[method]]
        algorithm = "offpac"
        alpha = 0.1
        critic = { kind = "td", alpha_v = 0.1 }
    "#;
    let experiment = Experiment::parse(text, "x.toml", Path::new("")).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let error = run(&experiment, dir.path(), &Options::default(), &Stop::default(), &mut |_| {}).unwrap_err();
    let message = format!("{error}: {:?}", error.source().map(ToString::to_string));
    assert!(
        message.contains("of the observation is") && message.contains("outside of the bounds"),
        "{message}"
    );
}

/// Settings of a run are tried out on the same random numbers: equal policies have equal returns, to the bit.
#[test]
fn settings_share_their_random_numbers() {
    let text = r#"
        problem = "cart-pole"
        features = { kind = "observation", bias = true }
        runs = 2
        steps = 10
        evaluations = 1
        record = ["return"]
        [rollouts]
        episodes = 20
        [[method]]
        algorithm = "offpac"
        alpha = 0.0
        critic = { kind = "td", alpha_v = [0.1, 0.2, 0.3] }
    "#;
    let dir = results(text);
    let runs = read_runs(dir.path(), Kind::Results, "return", &[0, 1, 2]).unwrap();
    for run in [0, 1] {
        let values = |setting: usize| runs[&setting][run].values.clone();
        assert_eq!(values(0), values(1));
        assert_eq!(values(0), values(2));
        // Each evaluation has its own, and so has each run.
        assert_ne!(values(0)[0], values(0)[1]);
        // A uniform policy keeps the pole up for some 22 steps.
        assert!((10.0..40.0).contains(&values(0)[0].unwrap()));
    }
    assert_ne!(runs[&0][0].values, runs[&0][1].values);
}

/// All weights of the start were once written down, millions of zeros.
#[test]
fn weights_of_zero_are_not_part_of_the_identity() {
    let text = "problem = \"mountain-car\"\nfeatures = { kind = \"tiles\", tilings = 1, tiles = 300 }\nruns = 1\nsteps = 1\nevaluations = 1\n\
                [[method]]\nalgorithm = \"offpac\"\nalpha = 0.1\ncritic = { kind = \"td\", alpha_v = 0.1 }\n";
    let experiment = Experiment::parse(text, "car.toml", Path::new("")).unwrap();
    assert!(experiment.identity().to_string().len() < 2000);
}

#[test]
fn an_action_that_is_never_taken_is_warned_of() {
    let warnings = |behaviour: &str| {
        let text = format!(
            "problem = \"mountain-car\"\nfeatures = \"observation\"\nbehaviour = {behaviour}\nruns = 1\nsteps = 1\nevaluations = 1\n\
             [[method]]\nalgorithm = \"offpac\"\nalpha = 0.1\ncritic = {{ kind = \"td\", alpha_v = 0.1 }}\n"
        );
        Experiment::parse(&text, "car.toml", Path::new("")).unwrap().warnings()
    };
    assert!(warnings("\"uniform\"").is_empty());
    let of_idle = warnings("{ backward = 0.5, forward = 0.5 }");
    assert_eq!(of_idle, ["the behaviour never takes `idle`: what comes of it cannot be learned"]);
    // Once only the first of several was named.
    let of_two = warnings("{ backward = 1 }");
    assert_eq!(of_two, ["the behaviour never takes `idle`, `forward`: what comes of them cannot be learned"]);
}

/// Once a list in the order of the keys was taken for a table, and what it had too many of for nothing; messages were those of a library; and memory ran out.
#[test]
fn what_does_not_fit_a_key_is_said() {
    let told = |settings: &str| {
        let text = format!(
            "problem = \"mountain-car\"\nruns = 1\nsteps = 100000\n{settings}\n\
             [[method]]\nalgorithm = \"offpac\"\nalpha = 0.1\ncritic = {{ kind = \"td\", alpha_v = 0.1 }}\n"
        );
        Experiment::parse(&text, "car.toml", Path::new("")).unwrap_err().to_string()
    };
    let tiles = "features = { kind = \"tiles\", tilings = 2, tiles = 3 }\n";
    for (settings, why) in [
        ("rollouts = [1, 30, 1.0, 10, 99]", "expected a table, found a list"),
        ("rollouts = [1, 30, 1.0, 10]", "expected a table, found a list"),
        ("fresh_rollouts = []", "expected a table, found a list"),
        ("random_binary = [6, 3, 77]", "expected a table, found a list"),
    ] {
        let said = told(&format!("{tiles}{settings}"));
        assert!(said.contains(why), "{settings}: {said}");
    }
    for features in ["tiles = [[3, 4]]", "tiles = 3, low = [\"a\", 1]"] {
        let said = told(&format!("features = {{ kind = \"tiles\", tilings = 2, {features} }}"));
        assert!(said.contains("a list has numbers in it, or true and false"), "{features}: {said}");
    }
    let wide = "features = { kind = \"tiles\", tilings = 1, tiles = 999 }\nevaluations = 1000\nrecord = [\"return\", \"weights\"]";
    let said = told(wide);
    assert!(said.contains("`weights` of a run takes 24.0 GB of memory"), "{said}");
}
