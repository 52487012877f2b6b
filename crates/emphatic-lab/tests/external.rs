//! Environments that live elsewhere: the stream of a run is collected once, results are those of a loop by hand and the same bits for any threads, lanes, shards
//! and stops, and what fails is said and loses nothing.

#[allow(dead_code, reason = "other tests use what this one does not")]
mod common;

use emphatic::basis::Dimension;
use emphatic::{
    Action, BasisRecipe, Isa, Learner, Random, Softmax, State, Step, Tdrc, follow_on_ace, index_at,
};
use emphatic_lab::store::Kind;
use emphatic_lab::{
    Actions, Ending, Event, Experiment, ExternalEnvironment, ExternalError, ExternalOutcome, Interface,
    LaneCount, Options, Session, Shard, Stop, merge, read_runs, run, summarise,
};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How often environments are opened, closed, reset and stepped.
#[derive(Debug, Default)]
struct Counts {
    opened: AtomicUsize,
    closed: AtomicUsize,
    resets: AtomicUsize,
    steps: AtomicUsize,
}

/// A walk on the line from −1 to 1, by a random stride. It ends beyond 1, with a reward, and is cut short after 30 steps.
#[derive(Clone, Debug)]
struct Line {
    interface: Interface,
    counts: Arc<Counts>,
    /// After how many steps, of all environments together, one fails, and how.
    fails: Option<(usize, Failure)>,
    version: u32,
}

#[derive(Clone, Copy, Debug)]
enum Failure {
    Raises,
    /// Only where a behaviour acts, which has one environment to itself.
    RaisesAlone,
    NotFinite,
}

const LIMIT: u64 = 30;

impl Line {
    fn new() -> Self {
        let interface = Interface {
            name: "gymnasium:Line".to_owned(),
            shown: "a position".to_owned(),
            space: vec![Dimension { low: -1.0, high: 1.0, wraps: false }],
            actions: Actions::Finite(vec!["left".to_owned(), "right".to_owned()]),
            limit: Some(LIMIT),
        };
        Self { interface, counts: Arc::default(), fails: None, version: 0 }
    }
}

/// One environment, as it is written down by hand below, too.
#[derive(Clone)]
struct Walk {
    random: Random,
    x: f64,
    steps: u64,
}

impl Walk {
    fn new(seed: u64) -> Self {
        let mut random = Random::new(seed, 7);
        let x = random.uniform() - 0.5;
        Self { random, x, steps: 0 }
    }

    fn step(&mut self, action: Action) -> ExternalOutcome {
        let direction = if action == Action::Number(1) { 1.0 } else { -1.0 };
        self.x = (self.x + direction * 0.3 * self.random.uniform()).max(-1.0);
        self.steps += 1;
        let terminated = self.x > 1.0;
        let reward = if terminated { 1.0 } else { -0.1 };
        ExternalOutcome { reward, terminated, truncated: self.steps >= LIMIT, gamma_next: None }
    }
}

struct Walks {
    of: Line,
    walks: Vec<Option<Walk>>,
}

impl ExternalEnvironment for Line {
    fn interface(&self) -> &Interface {
        &self.interface
    }

    fn identity(&self) -> Value {
        json!({ "version": self.version })
    }

    fn open(&self, count: usize) -> Result<Box<dyn Session>, ExternalError> {
        self.counts.opened.fetch_add(1, Ordering::Relaxed);
        Ok(Box::new(Walks { of: self.clone(), walks: vec![None; count] }))
    }
}

impl Session for Walks {
    fn reset(&mut self, place: usize, seed: u64, observation: &mut [f64]) -> Result<(), ExternalError> {
        self.of.counts.resets.fetch_add(1, Ordering::Relaxed);
        let walk = self.walks[place].insert(Walk::new(seed));
        observation[0] = walk.x;
        Ok(())
    }

    fn step(
        &mut self,
        places: &[usize],
        actions: &[Action],
        observations: &mut [f64],
        outcomes: &mut [ExternalOutcome],
    ) -> Result<(), ExternalError> {
        for (which, (place, action)) in places.iter().zip(actions).enumerate() {
            let steps = self.of.counts.steps.fetch_add(1, Ordering::Relaxed);
            let walk = self.walks[*place].as_mut().expect("an episode has begun");
            outcomes[which] = walk.step(*action);
            observations[which] = walk.x;
            match self.of.fails {
                Some((last, Failure::Raises)) if steps >= last => {
                    return Err(ExternalError { which, ..ExternalError::new("the line is broken") });
                }
                Some((last, Failure::RaisesAlone)) if steps >= last && self.walks.len() == 1 => {
                    return Err(ExternalError::new("the line is broken"));
                }
                Some((last, Failure::NotFinite)) if steps >= last => observations[which] = f64::NAN,
                _ => {}
            }
        }
        Ok(())
    }
}

impl Drop for Walks {
    fn drop(&mut self) {
        self.of.counts.closed.fetch_add(1, Ordering::Relaxed);
    }
}

const TEXT: &str = r#"
    problem = "gymnasium:Line"
    gamma = 0.9
    features = { kind = "tiles", tilings = 2, tiles = 4 }
    behaviour = { left = 0.4, right = 0.6 }
    seed = 11
    runs = 3
    steps = 700
    evaluations = 2
    record = ["return", "episode_length", "weights"]
    fresh_runs = 2
    [rollouts]
    episodes = 20
    cap = 25
    [[method]]
    algorithm = "ace"
    emphasis = { kind = "follow-on", lambda_a = 0.7 }
    alpha = [0.01, 0.2]
    critic = { kind = "tdrc", alpha_v = [0.3, 0.1], lambda = 0.5 }
    [[method]]
    algorithm = "offpac"
    alpha = [0.01, 0.2]
    critic = { kind = "td", alpha_v = 0.1 }
"#;

fn open(text: &str, line: &Line, dir: &Path) -> Result<Experiment, String> {
    let path = dir.join("line.toml");
    std::fs::write(&path, text).unwrap();
    let find = |name: &str| match name {
        "gymnasium:Line" => Ok(Arc::new(line.clone()) as Arc<dyn ExternalEnvironment>),
        other => Err(ExternalError::new(format!("there is no environment {other}"))),
    };
    Experiment::open_with(&path, Some(&find)).map_err(|error| format!("{error:?}"))
}

fn options(threads: usize, lanes: LaneCount) -> Options {
    let mut options = Options::default();
    (options.threads, options.lanes) = (threads, lanes);
    options
}

/// Runs it to the end, and returns the bytes of its tables.
fn tables(text: &str, line: &Line, dir: &Path, options: &Options) -> [Vec<u8>; 2] {
    let experiment = open(text, line, dir).unwrap();
    let out = dir.join("out");
    run(&experiment, &out, options, &Stop::default(), &mut |_| {}).unwrap();
    ["results.parquet", "fresh.parquet"].map(|name| std::fs::read(out.join(name)).unwrap())
}

/// The loop by hand: one learner, one walk, each step once, and the seeds that are documented.
#[test]
fn results_are_those_of_a_loop_by_hand() {
    let dir = tempfile::tempdir().unwrap();
    let line = Line::new();
    tables(TEXT, &line, dir.path(), &options(1, LaneCount::Sixteen));
    let out = dir.path().join("out");
    let found = |column: &str| read_runs(&out, Kind::Results, column, &[2]).unwrap()[&2].clone();

    let recipe = BasisRecipe::new("tiles").with("low", [-1.0]).with("high", [1.0]);
    let features = recipe.with("tilings", 2.0).with("tiles", 4.0).build().unwrap();
    let policy = Softmax { features: features.clone(), actions: 2 };
    for number in 0..3 {
        let critic = Tdrc::builder(features.clone()).alpha_v(0.3).lambda(0.5).build().unwrap();
        let mut learner = follow_on_ace(policy.clone(), critic).lambda_a(0.7).alpha(0.2).build().unwrap();
        let mut random = Random::new(11, number);
        let mut walk = Walk::new(random.word() >> 33);
        let mut gamma = 0.0;
        let mut trials = Random::new(11 ^ 0x5bd1_e995_9d1c_f3a7, number);
        let seed = trials.word();
        for evaluation in 0..=2 {
            let mut totals = [0.0; 20];
            let mut lengths = 0.0;
            for (episode, total) in totals.iter_mut().enumerate() {
                let mut random = Random::new(seed.wrapping_add(evaluation), episode as u64);
                let mut walk = Walk::new(random.word() >> 33);
                for _ in 0..25 {
                    let probabilities = [0, 1].map(|action| {
                        learner
                            .probability(State::Vector(&[walk.x]), Action::Number(action))
                            .unwrap()
                            .unwrap()
                    });
                    let outcome = walk.step(Action::Number(index_at(random.uniform(), probabilities)));
                    *total += outcome.reward;
                    lengths += 1.0;
                    if outcome.terminated || outcome.truncated {
                        break;
                    }
                }
            }
            let run = |column: &str| found(column)[number as usize].values[evaluation as usize].unwrap();
            assert_eq!(run("return"), totals.iter().sum::<f64>() / 20.0);
            assert_eq!(run("episode_length"), lengths / 20.0);
            if evaluation == 2 {
                break;
            }
            for _ in 0..350 {
                let (before, action) = ([walk.x], random.index([0.4, 0.6]));
                let outcome = walk.step(Action::Number(action));
                let gamma_next = if outcome.terminated { 0.0 } else { 0.9 };
                let step = Step {
                    state: State::Vector(&before),
                    action,
                    mu: [0.4, 0.6][action],
                    reward: outcome.reward,
                    next: State::Vector(&[walk.x]),
                    gamma,
                    gamma_next,
                    interest: 1.0,
                };
                learner.step(&step).unwrap();
                gamma = gamma_next;
                if outcome.terminated || outcome.truncated {
                    walk = Walk::new(random.word() >> 33);
                    gamma = 0.0;
                }
            }
        }
    }
    // Everything that was opened is closed once nobody holds it.
    let Counts { opened, closed, .. } = &*line.counts;
    assert_eq!(opened.load(Ordering::Relaxed), closed.load(Ordering::Relaxed));
}

#[test]
fn a_stream_is_collected_once_for_all_blocks_of_a_run() {
    let dir = tempfile::tempdir().unwrap();
    let line = Line::new();
    // Nothing is tried out, so that all steps are of streams; discounts, features and interests share them.
    let text = TEXT.replace("[\"return\", \"episode_length\", \"weights\"]", "[\"weights\"]");
    let text = text.replace("fresh_runs = 2", "interest = [\"all\", \"start\"]");
    let text = text.replace("gamma = 0.9", "gamma = [0.9, 0.5]").replace("tiles = 4 }", "tiles = 4 }, extra");
    let text = text.replace(
        "features = { kind = \"tiles\", tilings = 2, tiles = 4 }, extra",
        "features = [{ kind = \"tiles\", tilings = 2, tiles = 4 }, { kind = \"polynomial\", degree = 1 }]",
    );
    let experiment = open(&text, &line, dir.path()).unwrap();
    assert_eq!(experiment.units(), 3 * 2 * 8);
    run(&experiment, &dir.path().join("out"), &options(1, LaneCount::Sixteen), &Stop::default(), &mut |_| {})
        .unwrap();
    assert_eq!(line.counts.steps.load(Ordering::Relaxed), 3 * 700);
    assert_eq!(line.counts.opened.load(Ordering::Relaxed), 3);
}

#[test]
fn results_are_the_same_bits_for_threads_lanes_shards_and_stops() {
    let dir = || tempfile::tempdir().unwrap();
    let line = Line::new();
    let right = tables(TEXT, &line, dir().path(), &options(1, LaneCount::Sixteen));
    assert_eq!(tables(TEXT, &line, dir().path(), &options(2, LaneCount::Sixteen)), right);
    assert_eq!(tables(TEXT, &line, dir().path(), &options(3, LaneCount::One)), right);
    let mut plain = options(2, LaneCount::One);
    plain.isa = Isa::Plain;
    assert_eq!(tables(TEXT, &line, dir().path(), &plain), right);

    // Stopped again and again, at another moment each time.
    let stopped = dir();
    let experiment = open(TEXT, &line, stopped.path()).unwrap();
    let out = stopped.path().join("out");
    let mut ended = false;
    for steps in (1..).map(|k| k * 1500) {
        let stop = Stop::default();
        let until = line.counts.steps.load(Ordering::Relaxed) + steps;
        let counts = line.counts.clone();
        let one = std::thread::scope(|scope| {
            let (stop, counts) = (&stop, &counts);
            scope.spawn(move || {
                while counts.steps.load(Ordering::Relaxed) < until && !stop.is_stopped() {
                    std::thread::yield_now();
                }
                stop.stop();
            });
            let report =
                run(&experiment, &out, &options(2, LaneCount::Sixteen), stop, &mut |_: Event| {}).unwrap();
            stop.stop();
            report
        });
        if one.ending == Ending::Finished {
            ended = true;
            break;
        }
    }
    assert!(ended);
    assert_eq!(
        ["results.parquet", "fresh.parquet"].map(|name| std::fs::read(out.join(name)).unwrap()),
        right
    );

    // In shards, which are merged without the environment.
    let (sharded, mut dirs) = (dir(), Vec::new());
    for index in 1..=2 {
        let mut options = options(1, LaneCount::Sixteen);
        options.shard = Some(Shard { index, count: 2 });
        dirs.push(sharded.path().join(format!("shard-{index}")));
        let experiment = open(TEXT, &line, sharded.path()).unwrap();
        run(&experiment, &dirs[index - 1], &options, &Stop::default(), &mut |_| {}).unwrap();
    }
    let merged = sharded.path().join("out");
    merge(&dirs, &merged).unwrap();
    assert_eq!(std::fs::read(merged.join("results.parquet")).unwrap(), right[0]);
    assert_eq!(tables(TEXT, &line, sharded.path(), &options(1, LaneCount::Sixteen)), right);
    assert_eq!(summarise(&merged, None).unwrap().methods.len(), 2);
}

#[test]
fn an_environment_that_fails_says_where_and_loses_nothing() {
    let right =
        tables(TEXT, &Line::new(), tempfile::tempdir().unwrap().path(), &options(1, LaneCount::Sixteen));
    // In a stream, in a rollout, and by a number that is not finite.
    for (fails, words) in [
        ((600, Failure::Raises), "of evaluation 0, counted from 0"),
        ((2500, Failure::RaisesAlone), "of the behaviour, counted from 0)"),
        ((1800, Failure::NotFinite), "entry 0 is NaN; all must be finite"),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let line = Line { fails: Some(fails), ..Line::new() };
        let experiment = open(TEXT, &line, dir.path()).unwrap();
        let out = dir.path().join("out");
        let error = run(&experiment, &out, &options(2, LaneCount::Sixteen), &Stop::default(), &mut |_| {});
        let error = error.unwrap_err().to_string();
        assert!(error.contains(words) && error.starts_with("run "), "{error}");
        drop(experiment);
        let Counts { opened, closed, .. } = &*line.counts;
        assert_eq!(opened.load(Ordering::Relaxed), closed.load(Ordering::Relaxed));
        // Mended, it goes on to the same results.
        let mended = Line::new();
        assert_eq!(tables(TEXT, &mended, dir.path(), &options(1, LaneCount::Sixteen)), right);
    }
}

#[test]
fn another_environment_does_not_continue_the_directory() {
    let dir = tempfile::tempdir().unwrap();
    tables(TEXT, &Line::new(), dir.path(), &options(1, LaneCount::Sixteen));
    let mut wider = Line::new();
    wider.interface.space[0].high = 2.0;
    let text = TEXT.replace("tiles = 4 }", "tiles = 4, low = -1, high = 1 }");
    for (line, text) in [(Line { version: 1, ..Line::new() }, TEXT), (wider, &*text)] {
        let experiment = open(text, &line, dir.path()).unwrap();
        let out = dir.path().join("out");
        let error = run(&experiment, &out, &Options::default(), &Stop::default(), &mut |_| {}).unwrap_err();
        assert!(error.to_string().contains("problems[0].simulator"), "{error}");
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let error = |text: &str, line: &Line| open(text, line, dir.path()).expect_err(text);
    let refused = |from: &str, to: &str, words: &str| {
        let error = error(&TEXT.replace(from, to), &Line::new());
        assert!(error.contains(words), "{error}");
    };
    refused("\"return\", \"ep", "\"excursions_return\", \"ep", "cannot be put into a state");
    refused("\"return\", \"ep", "\"value_error\", \"ep", "cannot be put into a state");
    refused("gymnasium:Line", "gymnasium:Plane", "there is no environment gymnasium:Plane");
    refused("gymnasium:Line", "Line-v3", "`gymnasium:Line-v3`");
    refused("gymnasium:Line", "lime", "is `gymnasium:NAME`, and is run from Python");
    refused("steps = 700", "steps = 70_000_000", "takes 5.0 GB of memory");
    refused("{ left = 0.4, right = 0.6 }", "{ left = 0.4, up = 0.6 }", "there is no action `up`");

    let mut endless = Line::new();
    endless.interface.limit = None;
    let episodes = TEXT.replace("steps = 700", "episodes = 10");
    assert!(open(&episodes, &Line::new(), dir.path()).is_ok());
    assert!(error(&episodes, &endless).contains("episodes of `gymnasium:Line` may never end"));
    let limited = episodes.replace("\"gymnasium:Line\"", "{ name = \"gymnasium:Line\", limit = 50 }");
    assert!(open(&limited, &endless, dir.path()).is_ok());

    let mut unbounded = Line::new();
    unbounded.interface.space[0].high = f64::INFINITY;
    let message = error(TEXT, &unbounded);
    assert!(message.contains("needs `high`, since number 0") && message.contains("high = [?]"), "{message}");
    assert!(open(&TEXT.replace("tiles = 4 }", "tiles = 4, high = 1 }"), &unbounded, dir.path()).is_ok());

    let without = Experiment::parse(TEXT, "x.toml", Path::new("")).unwrap_err();
    assert!(format!("{without:?}").contains("which lives in Python"), "{without:?}");
}
