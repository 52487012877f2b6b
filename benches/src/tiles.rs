//! ACE with a learned emphasis and TDRC(λ) on tiles of Mountain Car, over a grid of step-sizes; and what a tile coder and the simulators
//! take.

use crate::{Bench, Experience, Numbers, composed, write_numbers};
use emphatic::{
    Action, Basis, BasisRecipe, Features, Isa, Lanes, PartRecipe, Random, Recipe, RuleKind, State, Step,
    TileCoder,
};
use emphatic_environments::{ENVIRONMENTS, Environment, MountainCar, Outcome};
use std::error::Error;
use std::hint::black_box;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

const GAMMA: f64 = 0.95;
const ACTIONS: usize = 3;

/// Eight tilings of 4 × 4 tiles with a bias unit, as in `experiments/mountain-car.toml`.
fn tile_coder() -> Result<TileCoder, Box<dyn Error>> {
    let bounds = BasisRecipe::new("tiles").with("low", [-1.2, -0.07]).with("high", [0.6, 0.07]);
    Ok(bounds.with("tilings", 8.0).with("tiles", 4.0).with("bias", true).build_as()?)
}

/// The first steps of uniform behaviour in Mountain Car.
pub(crate) fn stream(length: usize) -> Result<Vec<Experience>, Box<dyn Error>> {
    let coder = tile_coder()?;
    // Kept until the program ends, as steps are that come from a table.
    let code = |state: &[f64]| -> State<'static> {
        let mut row = Vec::new();
        coder.write(state, &mut row);
        State::Active(row.into_iter().map(|(feature, _)| feature).collect::<Vec<_>>().leak())
    };
    let (mut random, mut now) = (Random::new(1, 0), [0.0; 2]);
    MountainCar.start(&mut now, &mut random);
    let (mut state, mut gamma) = (code(&now), 0.0);
    let mut steps = Vec::with_capacity(length);
    for _ in 0..length {
        let action = Action::Number(random.below(ACTIONS));
        let Outcome { reward, is_over } = MountainCar.step(&mut now, action, &mut random);
        let (next, gamma_next) = (code(&now), if is_over { 0.0 } else { GAMMA });
        steps.push(Step { state, action, mu: 1.0 / 3.0, reward, next, gamma, gamma_next, interest: 1.0 });
        if is_over {
            MountainCar.start(&mut now, &mut random);
        }
        (state, gamma) = (if is_over { code(&now) } else { next }, gamma_next);
    }
    Ok(steps)
}

/// Writes 22 numbers for each step: the active features, those of the next state, action, reward and both discounts.
pub(crate) fn write(path: &Path, steps: &[Experience]) -> std::io::Result<()> {
    let active = |state: State<'static>| if let State::Active(list) = state { list } else { &[] };
    let rows = steps.iter().flat_map(|s| {
        let action = if let Action::Number(number) = s.action { number as f64 } else { f64::NAN };
        let features = active(s.state).iter().chain(active(s.next)).map(|feature| *feature as f64);
        features.chain([action, s.reward, s.gamma, s.gamma_next])
    });
    write_numbers(path, rows)
}

pub(crate) fn measure(bench: &mut Bench<impl Write>, steps: &[Experience]) -> Result<(), Box<dyn Error>> {
    let coder = tile_coder()?;
    let features = Features::active(coder.len(), coder.most_active());
    let recipe = |numbers: &Numbers| {
        let policy = PartRecipe::new("softmax").with_features(features.clone());
        let critic = PartRecipe::new("tdrc")
            .with("alpha_v", numbers.alpha_v)
            .with("lambda", numbers.lambda)
            .with_features(features.clone());
        let emphasis = PartRecipe::new("direct")
            .with("alpha_u", numbers.alpha_w)
            .with_inner("schedule", PartRecipe::new("constant"))
            .with_features(features.clone());
        Recipe::new(RuleKind::Taken, policy, critic, emphasis, numbers.alpha).with_actions(ACTIONS)
    };
    // Without a trace nothing but what is active changes, which the critic knows.
    for (name, lambda) in [("ACE on tiles, no trace", 0.0), ("ACE on tiles, traces", 0.5)] {
        let settings = settings(lambda);
        bench.measure(name, Isa::Plain, &settings, steps, |block| composed::<f64>(&[], block, recipe))?;
        bench.measure(name, Isa::best(), &settings, steps, |block| {
            composed::<Lanes<16>>(&[], block, recipe)
        })?;
    }
    Ok(())
}

/// 256 settings. The step-sizes are powers of two, so that every peer has the same; `alpha_w` is that of the emphasis.
fn settings(lambda: f64) -> Vec<Numbers> {
    let power = |exponent: i32| 2.0_f64.powi(-exponent);
    let mut settings = Vec::new();
    for alpha in (6..14).map(power) {
        for alpha_v in (3..7).map(power) {
            let numbers = |alpha_w| Numbers { alpha, alpha_v, alpha_w, lambda, ..Numbers::default() };
            settings.extend((6..14).map(power).map(numbers));
        }
    }
    settings
}

/// Measures a tile coder, one observation after the other and side by side, and a step in each simulator, one state after the other and many at once.
pub(crate) fn simulators(repeats: usize, length: usize, mut out: impl Write) -> Result<(), Box<dyn Error>> {
    let mut report = |workload: &str, by: &str, work: &mut dyn FnMut() -> f64, count: usize| {
        let mut best = f64::INFINITY;
        for _ in 0..repeats {
            let start = Instant::now();
            black_box(work());
            best = best.min(start.elapsed().as_nanos() as f64 / count as f64);
        }
        writeln!(out, "{{\"workload\": \"{workload}\", \"by\": \"{by}\", \"time\": {best}}}")
    };
    let coder = tile_coder()?;
    let mut random = Random::new(2, 0);
    let observations: Vec<f64> =
        (0..length).flat_map(|_| [1.8 * random.uniform() - 1.2, 0.14 * random.uniform() - 0.07]).collect();
    let mut row = Vec::new();
    let mut one_by_one = || {
        let mut sum = 0;
        for observation in observations.chunks_exact(2) {
            row.clear();
            coder.write(observation, &mut row);
            sum += row[0].0;
        }
        sum as f64
    };
    report("tile coder, 8 tilings", "one by one", &mut one_by_one, length)?;
    let (isa, mut active) = (Isa::best(), Vec::new());
    let mut side_by_side = || {
        let mut sum = 0;
        for observations in observations.chunks(2 * emphatic::basis::SIDE_BY_SIDE) {
            coder.write_active(observations, isa, &mut active);
            sum += active[0][0];
        }
        sum as f64
    };
    report("tile coder, 8 tilings", "side by side", &mut side_by_side, length)?;

    for listed in &ENVIRONMENTS {
        let environment = (listed.make)();
        let mut one = Many::new(&*environment, 1);
        report(listed.description.name, "Rust, one state", &mut || one.run(length), length)?;
        let mut many = Many::new(&*environment, 64);
        report(listed.description.name, "Rust, 64 states", &mut || many.run(length), length)?;
    }
    Ok(())
}

/// States in which uniform behaviour goes on. As in the peers, actions are drawn beforehand.
struct Many<'a> {
    environment: &'a dyn Environment,
    states: Vec<f64>,
    actions: Vec<Action>,
    randoms: Vec<Random>,
    outcomes: Vec<Outcome>,
}

/// How many draws of actions there are, which are used again and again.
const DRAWS: usize = 128;

impl<'a> Many<'a> {
    fn new(environment: &'a dyn Environment, count: usize) -> Self {
        let mut randoms: Vec<Random> = (0..count as u64).map(|k| Random::new(3, k)).collect();
        let mut states = vec![0.0; count * environment.description().state];
        for (state, random) in states.chunks_exact_mut(environment.description().state).zip(&mut randoms) {
            environment.start(state, random);
        }
        let mut action = |_| match environment.description().actions {
            emphatic_environments::Actions::Finite(names) => Action::Number(randoms[0].below(names.len())),
            emphatic_environments::Actions::Real { .. } => Action::Real(randoms[0].normal()),
        };
        let actions = (0..DRAWS * count).map(&mut action).collect();
        Self { environment, states, actions, outcomes: vec![Outcome::default(); count], randoms }
    }

    /// Takes so many steps in all states together, and returns the sum of their rewards.
    fn run(&mut self, length: usize) -> f64 {
        let Self { environment, states, actions, randoms, outcomes } = self;
        let (size, count) = (environment.description().state, outcomes.len());
        let mut sum = 0.0;
        for actions in actions.chunks_exact(count).cycle().take(length / count) {
            environment.step_all(states, actions, randoms, outcomes);
            for (k, outcome) in outcomes.iter().enumerate() {
                sum += outcome.reward;
                if outcome.is_over {
                    environment.start(&mut states[k * size..][..size], &mut randoms[k]);
                }
            }
        }
        sum
    }
}
