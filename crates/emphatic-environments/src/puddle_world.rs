//! Puddle World: a walk around two puddles to a corner.

use crate::environment::{Actions, Description, Environment, Observed, Outcome};
use crate::environment::{between, nearest_number, numbers, numbers_mut};
use crate::side_by_side::{self, Dynamics, Next, clamp};
use emphatic::{Action, Random, Real, normal_of};

/// The unit square with two puddles. A step goes 0.05 in one of four directions, with noise N(0, 0.01²) on both coordinates; walls
/// stop it. The reward is −1, and 400 less for each unit of depth in a puddle.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PuddleWorld;

const STRIDE: f64 = 0.05;
const NOISE: f64 = 0.01;
const GOAL: f64 = 0.95;
const RADIUS: f64 = 0.1;
const COST_OF_DEPTH: f64 = 400.0;

/// Up, down, right, left.
const MOVES: [[f64; 2]; 4] = [[0.0, STRIDE], [0.0, -STRIDE], [STRIDE, 0.0], [-STRIDE, 0.0]];

/// The middle lines of the puddles, as two opposite corners: both are parallel to a wall.
const PUDDLES: [[[f64; 2]; 2]; 2] = [[[0.1, 0.75], [0.45, 0.75]], [[0.45, 0.4], [0.45, 0.8]]];

/// What it is.
pub(crate) static DESCRIPTION: Description = Description {
    name: "puddle-world",
    about: "a walk with noisy steps to a corner of a square, around two puddles",
    source: "Sutton 1996; start and goal of Graves, Imani, Kumaraswamy and White 2023",
    state: 2,
    observations: &[Observed::bounded("x", 0.0, 1.0), Observed::bounded("y", 0.0, 1.0)],
    actions: Actions::Finite(&["up", "down", "right", "left"]),
    limit: None,
    gymnasium: None,
};

impl Environment for PuddleWorld {
    #[inline]
    fn description(&self) -> &Description {
        &DESCRIPTION
    }

    #[inline]
    fn start(&self, state: &mut [f64], random: &mut Random) {
        let x = between(0.3, 0.4, random);
        let y = between(0.7, 0.8, random);
        *numbers_mut(state) = [x, y];
    }

    #[inline]
    fn step(&self, state: &mut [f64], action: Action, random: &mut Random) -> Outcome {
        side_by_side::step::<Self, _, _>(state, action, random)
    }

    fn step_all(
        &self,
        states: &mut [f64],
        actions: &[Action],
        randoms: &mut [Random],
        outcomes: &mut [Outcome],
    ) {
        side_by_side::step_all::<Self, _, _>(states, actions, randoms, outcomes);
    }

    #[inline]
    fn observe(&self, state: &[f64], observation: &mut [f64]) {
        *numbers_mut::<2>(observation) = *numbers(state);
    }
}

impl Dynamics<2, 6> for PuddleWorld {
    #[inline(always)]
    fn inputs(action: Action, random: &mut Random) -> [f64; 6] {
        let way = MOVES[nearest_number(action, MOVES.len())];
        let (x, y) = (random.polar(), random.polar());
        [way[0], way[1], x[0], x[1], y[0], y[1]]
    }

    #[inline(always)]
    fn next<R: Real>(
        [x, y]: [R; 2],
        [way_x, way_y, drawn_x, square_x, drawn_y, square_y]: [R; 6],
    ) -> Next<R, 2> {
        let (zero, one, goal, noise) = (R::zero(), R::one(), R::splat(GOAL), R::splat(NOISE));
        let x = clamp(x + (way_x + noise * normal_of(drawn_x, square_x)), 0.0, 1.0);
        let y = clamp(y + (way_y + noise * normal_of(drawn_y, square_y)), 0.0, 1.0);
        let is_over = x.if_less(goal, zero, y.if_less(goal, zero, one));
        Next { state: [x, y], reward: zero.if_less(is_over, -one, reward([x, y])), is_over }
    }
}

/// The reward of stepping to a position.
#[inline(always)]
fn reward<R: Real>(position: [R; 2]) -> R {
    let mut depth = R::zero();
    for [low, high] in PUDDLES {
        let x = position[0] - clamp(position[0], low[0], high[0]);
        let y = position[1] - clamp(position[1], low[1], high[1]);
        depth += (R::splat(RADIUS) - (x * x + y * y).sqrt()).larger(R::zero());
    }
    -R::one() - R::splat(COST_OF_DEPTH) * depth
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    #[test]
    fn depths_by_hand() {
        let close = |x, y, expected: f64| {
            let reward: f64 = reward([x, y]);
            assert!((reward - expected).abs() < 1e-11, "{x} {y} {reward}");
        };
        close(0.9, 0.1, -1.0); // dry
        close(0.2, 0.75, -41.0); // in the middle of the first
        close(0.2, 0.8, -21.0); // half as deep
        close(0.2, 0.85, -1.0); // at its edge
        close(0.04, 0.83, -1.0); // beside its round end: 0.1 from it
        close(0.07, 0.71, -21.0); // in its round end: 0.05 from it
        close(0.45, 0.5, -41.0); // in the middle of the second
        close(0.42, 0.36, -21.0); // in its lower round end
        close(0.45, 0.75, -81.0); // in the middle of both
        close(0.4, 0.75, -61.0); // 0 from the first, 0.05 from the second
    }

    #[test]
    fn starts_in_the_puddle() {
        let (mut random, mut state) = (Random::new(1, 0), [0.0; 2]);
        for _ in 0..1000 {
            PuddleWorld.start(&mut state, &mut random);
            assert!((0.3..0.4).contains(&state[0]) && (0.7..0.8).contains(&state[1]));
        }
    }

    #[test]
    fn steps_have_noise_on_both_coordinates() {
        let (mut random, n) = (Random::new(1, 0), 20_000);
        for (action, way) in MOVES.iter().enumerate() {
            let mut sums = [[0.0; 2]; 2];
            for _ in 0..n {
                let mut state = [0.5, 0.5];
                PuddleWorld.step(&mut state, Action::Number(action), &mut random);
                for k in 0..2 {
                    let noise = state[k] - 0.5 - way[k];
                    sums[k][0] += noise / f64::from(n);
                    sums[k][1] += noise * noise / f64::from(n);
                }
            }
            for [mean, square] in sums {
                // Five standard errors.
                assert!(mean.abs() < 5.0 * 0.01 / f64::from(n).sqrt(), "{mean}");
                assert!((square - 1e-4).abs() < 5.0 * 1.5e-4 / f64::from(n).sqrt(), "{square}");
            }
        }
    }

    #[test]
    fn stays_within_its_bounds() {
        testing::steps(
            &PuddleWorld,
            |random| vec![random.uniform(), random.uniform()],
            |_, after, reward, is_over| {
                assert!((-81.0..=-1.0).contains(&reward));
                assert_eq!(is_over, after[0] >= 0.95 && after[1] >= 0.95);
                assert!(!is_over || reward == -1.0);
            },
        );
    }
}
