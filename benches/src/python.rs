//! The learner that the Python package is compared with: ACE with GTD(λ) and a softmax of three actions. Its steps are written to a
//! file for Python.
//!
//! The states of `dense` are eight random numbers, those of `active` are Mountain Car's in eight tilings of 11 × 11 tiles.

use crate::write_numbers;
use emphatic::{Action, AsState, Features, Gtd, Isa, Learner, Random, Softmax, State, Step, follow_on_ace};
use std::error::Error;
use std::hint::black_box;
use std::io::Write;
use std::time::Instant;

const STEPS: usize = 10_000;
/// Short and many: some are not interrupted, even on a busy machine.
const REPEATS: usize = 20;
/// The numbers, or active features, of a state.
const WIDTH: usize = 8;
const ACTIONS: usize = 3;
/// Tiles along each side of a tiling.
const TILES: usize = 11;

const ALPHA: f64 = 0.001;
const LAMBDA_A: f64 = 0.9;
const ALPHA_V: f64 = 0.05;
const ALPHA_W: f64 = 0.0001;
const LAMBDA: f64 = 0.5;

/// A step as it is stored, and as a learner reads it.
type Kept<T> = Step<[T; WIDTH], usize>;
type View<'a> = Step<State<'a>, Action>;

/// The files that are written: the steps, and the final weights θ and v.
pub(crate) struct Files<'a> {
    pub(crate) steps: &'a str,
    pub(crate) weights: &'a str,
}

/// Measures `step` and `learn`, and writes the files.
pub(crate) fn run(kind: &str, files: Files, out: impl Write) -> Result<(), Box<dyn Error>> {
    let mut random = Random::new(1, 0);
    match kind {
        "dense" => {
            let name = "ACE, 8 numbers, 3 actions";
            all(name, Features::dense(WIDTH), &dense(&mut random, STEPS), |x| x, files, out)
        }
        "active" => {
            let name = "ACE, 8 of 968 tiles, 3 actions";
            let features = Features::active(WIDTH * TILES * TILES, WIDTH);
            all(name, features, &mountain_car(&mut random, STEPS), |x| x as f64, files, out)
        }
        _ => Err(format!("the kind is {kind}; it must be dense or active").into()),
    }
}

fn all<T: Copy>(
    workload: &str,
    features: Features,
    kept: &[Kept<T>],
    number: impl Fn(T) -> f64,
    files: Files,
    mut out: impl Write,
) -> Result<(), Box<dyn Error>>
where
    [T; WIDTH]: AsState,
{
    let rows = kept.iter().flat_map(|s| {
        let seen = s.state.into_iter().chain(s.next).map(&number);
        seen.chain([s.action as f64, s.mu, s.reward, s.gamma_next])
    });
    write_numbers(files.steps, rows)?;
    let steps: Vec<View> = kept.iter().map(Step::view).collect();
    let (by_step, weights) = measure(&features, &steps, one_by_one)?;
    let (by_learn, _) = measure(&features, &steps, |learner, steps| Ok(learner.learn(Isa::best(), steps)?))?;
    write_numbers(files.weights, weights)?;
    for (what, nanoseconds) in [("step", by_step), ("learn", by_learn)] {
        writeln!(out, "{{\"workload\": \"{workload}\", \"by\": \"Rust, {what}\", \"time\": {nanoseconds}}}")?;
    }
    Ok(())
}

type Ace = emphatic::FollowOnAce<f64, Softmax, Gtd<f64>>;

fn one_by_one(learner: &mut Ace, steps: &[View]) -> Result<(), Box<dyn Error>> {
    for step in steps {
        black_box(learner.update(step)?);
    }
    Ok(())
}

/// The nanoseconds per step, the best of a few repeats, and the final θ and v.
fn measure(
    features: &Features,
    steps: &[View],
    teach: impl Fn(&mut Ace, &[View]) -> Result<(), Box<dyn Error>>,
) -> Result<(f64, Vec<f64>), Box<dyn Error>> {
    let mut best = f64::INFINITY;
    let mut weights = Vec::new();
    for _ in 0..REPEATS {
        let policy = Softmax { features: features.clone(), actions: ACTIONS };
        let critic =
            Gtd::builder(features.clone()).alpha_v(ALPHA_V).alpha_w(ALPHA_W).lambda(LAMBDA).build()?;
        let mut learner = follow_on_ace(policy, critic).lambda_a(LAMBDA_A).alpha(ALPHA).build()?;
        let start = Instant::now();
        teach(&mut learner, steps)?;
        best = best.min(start.elapsed().as_nanos() as f64 / steps.len() as f64);
        learner.check()?;
        weights = [learner.weights(), &learner.critic().weights()].concat();
    }
    Ok((best, weights))
}

/// Random vectors and rewards; one step in twenty ends an episode.
fn dense(random: &mut Random, len: usize) -> Vec<Kept<f64>> {
    let mut state = [0.0; WIDTH];
    let mut gamma = 0.0;
    let mut step = || {
        let next = [(); WIDTH].map(|()| 2.0 * random.uniform() - 1.0);
        let gamma_next = if random.uniform() < 0.05 { 0.0 } else { 0.9 };
        let behaviour = [0.5, 0.3, 0.2];
        let action = random.index(behaviour);
        let (mu, reward) = (behaviour[action], state[action] + random.normal());
        let step = Step { state, action, mu, reward, next, gamma, gamma_next, interest: 1.0 };
        (state, gamma) = (next, gamma_next);
        step
    };
    (0..len).map(|_| step()).collect()
}

/// Mountain Car under a behaviour that mostly pushes in the direction of motion, and so reaches the goal.
fn mountain_car(random: &mut Random, len: usize) -> Vec<Kept<usize>> {
    let bottom = (-0.5, 0.0);
    let (mut car, mut gamma) = (bottom, 0.0);
    let mut step = || {
        let mut behaviour = [0.2; ACTIONS];
        behaviour[if car.1 < 0.0 { 0 } else { 2 }] = 0.6;
        let action = random.index(behaviour);
        let moved = roll(car, action);
        let out = moved.0 >= 0.5;
        let gamma_next = if out { 0.0 } else { 0.99 };
        let (state, next) = (tiles(car), tiles(moved));
        let step = Step {
            state,
            action,
            mu: behaviour[action],
            reward: -1.0,
            next,
            gamma,
            gamma_next,
            interest: 1.0,
        };
        (car, gamma) = (if out { bottom } else { moved }, gamma_next);
        step
    };
    (0..len).map(|_| step()).collect()
}

/// Position and velocity after pushing left, not at all or right.
fn roll((position, velocity): (f64, f64), action: usize) -> (f64, f64) {
    let push = 0.001 * (action as f64 - 1.0) - 0.0025 * (3.0 * position).cos();
    let velocity = (velocity + push).clamp(-0.07, 0.07);
    let position = (position + velocity).clamp(-1.2, 0.6);
    (position, if position == -1.2 { velocity.max(0.0) } else { velocity })
}

/// The tile in which the car is, in each tiling.
fn tiles((position, velocity): (f64, f64)) -> [usize; WIDTH] {
    let scaled = [(position + 1.2) / 1.8, (velocity + 0.07) / 0.14].map(|x| x * (TILES - 1) as f64);
    std::array::from_fn(|tiling| {
        let [row, column] = scaled.map(|x| (x + tiling as f64 / WIDTH as f64) as usize);
        (tiling * TILES + row) * TILES + column
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_car_reaches_the_goal_and_is_always_in_a_tile() {
        let steps = mountain_car(&mut Random::new(1, 0), 5000);
        assert!(steps.iter().filter(|s| s.gamma_next == 0.0).count() > 5);
        assert!(steps.iter().all(|s| s.next.iter().all(|&tile| tile < WIDTH * TILES * TILES)));
    }

    #[test]
    fn step_and_learn_come_to_the_same() {
        let kept = dense(&mut Random::new(1, 0), 500);
        let steps: Vec<_> = kept.iter().map(Step::view).collect();
        let (_, by_step) = measure(&Features::dense(WIDTH), &steps, one_by_one).unwrap();
        let learn = |learner: &mut Ace, steps: &[View]| Ok(learner.learn(Isa::best(), steps)?);
        let (_, by_learn) = measure(&Features::dense(WIDTH), &steps, learn).unwrap();
        assert_eq!(by_step, by_learn);
        assert!(by_step.iter().all(|w| *w != 0.0));
    }
}
