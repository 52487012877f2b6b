//! CartPole: a pole is balanced on a cart.

use crate::environment::{Actions, Description, Environment, Observed, Outcome};
use crate::environment::{between, nearest_number, numbers, numbers_mut};
use emphatic::real::elementary::sin_cos;
use emphatic::{Action, Random};
use std::f64::consts::PI;

/// The pole on a cart, with the dynamics of Gymnasium's CartPole-v1. The reward is 1 for every step, the last one included.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CartPole;

const GRAVITY: f64 = 9.8;
const MASS_OF_POLE: f64 = 0.1;
const MASS: f64 = MASS_OF_POLE + 1.0;
const HALF_LENGTH: f64 = 0.5;
const MOMENT: f64 = MASS_OF_POLE * HALF_LENGTH;
const FORCE: f64 = 10.0;
const TIME: f64 = 0.02;

/// How far the cart may be from the middle.
const FARTHEST: f64 = 2.4;

/// How far the pole may lean: 12 degrees.
const STEEPEST: f64 = 12.0 * 2.0 * PI / 360.0;

/// What it is.
pub(crate) static DESCRIPTION: Description = Description {
    name: "cart-pole",
    about: "a cart is pushed to and fro to keep a pole upright on it",
    source: "Barto, Sutton and Anderson 1983",
    state: 4,
    // The last state of an episode is beyond these limits.
    observations: &[
        Observed::usual("position", -FARTHEST, FARTHEST),
        Observed::usual("velocity", -3.0, 3.0),
        Observed::usual("angle", -STEEPEST, STEEPEST),
        Observed::usual("angular velocity", -3.5, 3.5),
    ],
    actions: Actions::Finite(&["left", "right"]),
    limit: None,
    gymnasium: Some("CartPole-v1"),
};

impl Environment for CartPole {
    #[inline]
    fn description(&self) -> &Description {
        &DESCRIPTION
    }

    #[inline]
    fn start(&self, state: &mut [f64], random: &mut Random) {
        for number in numbers_mut::<4>(state) {
            *number = between(-0.05, 0.05, random);
        }
    }

    #[inline]
    fn step(&self, state: &mut [f64], action: Action, _: &mut Random) -> Outcome {
        let [position, velocity, angle, turn] = numbers_mut(state);
        let force = if nearest_number(action, 2) == 1 { FORCE } else { -FORCE };
        let (sin, cos) = sin_cos(*angle);
        let pushed = (force + MOMENT * (*turn * *turn) * sin) / MASS;
        let turning =
            (GRAVITY * sin - cos * pushed) / (HALF_LENGTH * (4.0 / 3.0 - MASS_OF_POLE * (cos * cos) / MASS));
        let acceleration = pushed - MOMENT * turning * cos / MASS;

        // Euler's method: the old velocities move the cart and the pole.
        *position += TIME * *velocity;
        *velocity += TIME * acceleration;
        *angle += TIME * *turn;
        *turn += TIME * turning;
        Outcome { reward: 1.0, is_over: position.abs() > FARTHEST || angle.abs() > STEEPEST }
    }

    #[inline]
    fn observe(&self, state: &[f64], observation: &mut [f64]) {
        *numbers_mut::<4>(observation) = *numbers(state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    #[test]
    fn by_hand() {
        // Upright and at rest: sin 0 = 0, cos 0 = 1.
        let mut state = [0.0; 4];
        let outcome = CartPole.step(&mut state, Action::Number(1), &mut Random::new(0, 0));
        let pushed = 10.0 / 1.1;
        let turning = -pushed / (0.5 * (4.0 / 3.0 - 0.1 / 1.1));
        let expected = [0.0, 0.02 * (pushed - 0.05 * turning / 1.1), 0.0, 0.02 * turning];
        assert!(state.iter().zip(expected).all(|(x, y)| (x - y).abs() < 1e-15), "{state:?}");
        assert_eq!(outcome, Outcome { reward: 1.0, is_over: false });
    }

    #[test]
    fn the_pole_falls() {
        let step = |mut state: [f64; 4]| CartPole.step(&mut state, Action::Number(0), &mut Random::new(0, 0));
        assert!(step([2.39, 1.0, 0.0, 0.0]).is_over);
        assert!(step([-2.39, -1.0, 0.0, 0.0]).is_over);
        assert!(step([0.0, 0.0, 0.2, 1.0]).is_over);
        assert!(step([0.0, 0.0, -0.2, -1.0]).is_over);
        assert_eq!(step([2.39, 0.1, 0.2, 0.1]), Outcome { reward: 1.0, is_over: false });
    }

    #[test]
    fn falls_after_twenty_steps_of_pushes_at_random() {
        let (mut random, mut state, mut ends, n) = (Random::new(2, 0), [0.0; 4], 0, 100_000);
        CartPole.start(&mut state, &mut random);
        for _ in 0..n {
            let action = Action::Number(random.below(2));
            if CartPole.step(&mut state, action, &mut random).is_over {
                ends += 1;
                CartPole.start(&mut state, &mut random);
            }
        }
        // The mean return of uniform behaviour is known to be about 22.
        assert!((20.0..25.0).contains(&(f64::from(n) / f64::from(ends))), "{ends}");
    }

    #[test]
    fn a_mirror_image_moves_as_one() {
        let mirror = |state: &[f64]| state.iter().map(|x| -x).collect::<Vec<f64>>();
        testing::steps(
            &CartPole,
            |random| [2.4, 3.0, 0.2, 3.0].iter().map(|most| between(-most, *most, random)).collect(),
            |before, after, reward, is_over| {
                let moved = [0, 1].map(|action| {
                    let mut state = mirror(before);
                    let outcome = CartPole.step(&mut state, Action::Number(action), &mut Random::new(0, 0));
                    state == mirror(after) && outcome == Outcome { reward, is_over }
                });
                assert!(moved[0] || moved[1], "{before:?} {after:?}");
                assert_eq!(is_over, after[0].abs() > FARTHEST || after[2].abs() > STEEPEST);
            },
        );
    }
}
