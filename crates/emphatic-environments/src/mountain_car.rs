//! Mountain Car: a car too weak for the slope must swing back first.

use crate::environment::{Actions, Description, Environment, Observed, Outcome};
use crate::environment::{between, nearest_number, numbers, numbers_mut};
use crate::side_by_side::{self, Dynamics, Next, clamp, cos};
use emphatic::{Action, Random, Real};

/// The car in the valley, with the dynamics of Gymnasium's MountainCar-v0. The reward is −1 for every step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MountainCar;

const LOWEST: f64 = -1.2;
const HIGHEST: f64 = 0.6;
const GOAL: f64 = 0.5;
const FASTEST: f64 = 0.07;

/// What it is.
pub(crate) static DESCRIPTION: Description = Description {
    name: "mountain-car",
    about: "a car too weak to drive up a mountain must gain speed by driving backwards first",
    source: "Sutton 1996; Sutton and Barto 2018, example 10.1",
    state: 2,
    observations: &[
        Observed::bounded("position", LOWEST, HIGHEST),
        Observed::bounded("velocity", -FASTEST, FASTEST),
    ],
    actions: Actions::Finite(&["backward", "idle", "forward"]),
    limit: None,
    gymnasium: Some("MountainCar-v0"),
};

impl Environment for MountainCar {
    #[inline]
    fn description(&self) -> &Description {
        &DESCRIPTION
    }

    #[inline]
    fn start(&self, state: &mut [f64], random: &mut Random) {
        *numbers_mut(state) = [between(-0.6, -0.4, random), 0.0];
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

impl Dynamics<2, 1> for MountainCar {
    #[inline(always)]
    fn inputs(action: Action, _: &mut Random) -> [f64; 1] {
        [nearest_number(action, 3) as f64]
    }

    #[inline(always)]
    fn next<R: Real>([position, velocity]: [R; 2], [action]: [R; 1]) -> Next<R, 2> {
        let (zero, one, c) = (R::zero(), R::one(), R::splat);
        let force = c(0.001) * (action - one);
        let velocity = clamp(velocity + (force - c(0.0025) * cos(c(3.0) * position)), -FASTEST, FASTEST);
        let position = clamp(position + velocity, LOWEST, HIGHEST);
        // The wall on the left stops the car.
        let velocity = c(LOWEST).if_less(position, velocity, velocity.if_less(zero, zero, velocity));
        let is_over = position.if_less(c(GOAL), zero, velocity.if_less(zero, zero, one));
        Next { state: [position, velocity], reward: -one, is_over }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    fn step(position: f64, velocity: f64, action: usize) -> ([f64; 2], Outcome) {
        let mut state = [position, velocity];
        let outcome = MountainCar.step(&mut state, Action::Number(action), &mut Random::new(0, 0));
        (state, outcome)
    }

    #[test]
    fn by_hand() {
        // At 0 the slope is steepest: cos 0 = 1.
        let ([position, velocity], outcome) = step(0.0, 0.01, 2);
        assert!((velocity - 0.0085).abs() < 1e-17 && (position - 0.0085).abs() < 1e-17);
        assert_eq!(outcome, Outcome { reward: -1.0, is_over: false });
        // cos(3 · −0.5) = 0.0707372016677029.
        let ([position, velocity], _) = step(-0.5, 0.0, 0);
        assert!((velocity - -0.001_176_843_004_169_257_3).abs() < 1e-17, "{velocity}");
        assert!((position - -0.501_176_843_004_169_3).abs() < 1e-15, "{position}");
        // The wall stops the car, and full speed is not exceeded.
        assert_eq!(step(-1.19, -0.06, 0).0, [-1.2, 0.0]);
        assert_eq!(step(-1.0, 0.07, 2).0, [-1.0 + 0.07, 0.07]);
    }

    #[test]
    fn the_goal_is_the_end() {
        let ([position, _], outcome) = step(0.49, 0.05, 2);
        assert!(position >= 0.5 && outcome == Outcome { reward: -1.0, is_over: true });
        assert!(!step(0.58, -0.06, 0).1.is_over, "it is driving away");
    }

    #[test]
    fn stays_within_its_bounds() {
        testing::steps(
            &MountainCar,
            |random| vec![between(LOWEST, HIGHEST, random), between(-FASTEST, FASTEST, random)],
            |_, after, reward, is_over| {
                assert_eq!(reward, -1.0);
                assert!(!is_over || after[0] >= GOAL);
            },
        );
    }

    #[test]
    fn uniform_behaviour_seldom_reaches_the_goal() {
        let (mut ends, mut random, mut state) = (0, Random::new(5, 0), [0.0; 2]);
        MountainCar.start(&mut state, &mut random);
        for _ in 0..2_000_000 {
            let action = Action::Number(random.below(3));
            if MountainCar.step(&mut state, action, &mut random).is_over {
                ends += 1;
                MountainCar.start(&mut state, &mut random);
            }
        }
        // About 2.5 times in 100,000 steps.
        assert!((30..=75).contains(&ends), "{ends}");
    }
}
