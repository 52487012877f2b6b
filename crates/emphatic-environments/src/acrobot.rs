//! Acrobot: two links hang from a joint, and only the joint between them has a motor.

use crate::environment::{Actions, Description, Environment, Observed, Outcome};
use crate::environment::{between, nearest_number, numbers, numbers_mut};
use emphatic::real::elementary::{cos, sin, sin_cos};
use emphatic::{Action, Random};
use std::f64::consts::{PI, TAU};

/// Two links, with the dynamics of Gymnasium's Acrobot-v1: those of Sutton and Barto's book, without noise. The reward is −1 for every
/// step but the last, which has 0.
///
/// A state is the angle of the first link (0 hangs down), that of the second relative to the first, and their velocities.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Acrobot;

const GRAVITY: f64 = 9.8;
const TIME: f64 = 0.2;

/// Where the middle of a link is. Masses, lengths and moments of inertia are all 1.
const MIDDLE: f64 = 0.5;

/// The greatest velocities of the links.
const FASTEST: [f64; 2] = [4.0 * PI, 9.0 * PI];

/// What it is.
pub(crate) static DESCRIPTION: Description = Description {
    name: "acrobot",
    about: "two links swing up by a motor between them until their tip is high",
    source: "Sutton 1996; Sutton and Barto 1998, section 11.3",
    state: 4,
    observations: &[
        Observed::bounded("cosine of the first angle", -1.0, 1.0),
        Observed::bounded("sine of the first angle", -1.0, 1.0),
        Observed::bounded("cosine of the second angle", -1.0, 1.0),
        Observed::bounded("sine of the second angle", -1.0, 1.0),
        Observed::bounded("first angular velocity", -FASTEST[0], FASTEST[0]),
        Observed::bounded("second angular velocity", -FASTEST[1], FASTEST[1]),
    ],
    actions: Actions::Finite(&["torque -1", "torque 0", "torque 1"]),
    limit: None,
    gymnasium: Some("Acrobot-v1"),
};

impl Environment for Acrobot {
    #[inline]
    fn description(&self) -> &Description {
        &DESCRIPTION
    }

    #[inline]
    fn start(&self, state: &mut [f64], random: &mut Random) {
        for number in numbers_mut::<4>(state) {
            *number = between(-0.1, 0.1, random);
        }
    }

    #[inline]
    fn step(&self, state: &mut [f64], action: Action, _: &mut Random) -> Outcome {
        let state: &mut [f64; 4] = numbers_mut(state);
        let torque = nearest_number(action, 3) as f64 - 1.0;

        // One step of the method of Runge and Kutta.
        let first = slope(state, torque);
        let second = slope(&along(state, TIME / 2.0, &first), torque);
        let third = slope(&along(state, TIME / 2.0, &second), torque);
        let fourth = slope(&along(state, TIME, &third), torque);
        for k in 0..4 {
            state[k] += TIME / 6.0 * (first[k] + 2.0 * second[k] + 2.0 * third[k] + fourth[k]);
        }

        for k in 0..2 {
            state[k] = wrapped(state[k]);
            state[k + 2] = state[k + 2].clamp(-FASTEST[k], FASTEST[k]);
        }
        let is_over = height(state) > 1.0;
        Outcome { reward: if is_over { 0.0 } else { -1.0 }, is_over }
    }

    #[inline]
    fn observe(&self, state: &[f64], observation: &mut [f64]) {
        let [first, second, first_velocity, second_velocity] = *numbers(state);
        let ((sin_1, cos_1), (sin_2, cos_2)) = (sin_cos(first), sin_cos(second));
        *numbers_mut(observation) = [cos_1, sin_1, cos_2, sin_2, first_velocity, second_velocity];
    }
}

/// How far the tip is above the joint from which the links hang.
#[inline]
fn height(state: &[f64; 4]) -> f64 {
    -cos(state[0]) - cos(state[1] + state[0])
}

/// The change of a state in a unit of time.
#[inline]
fn slope(&[angle_1, angle_2, velocity_1, velocity_2]: &[f64; 4], torque: f64) -> [f64; 4] {
    let (sin_2, cos_2) = sin_cos(angle_2);
    let d1 = MIDDLE * MIDDLE + (1.0 + MIDDLE * MIDDLE + 2.0 * MIDDLE * cos_2) + 2.0;
    let d2 = (MIDDLE * MIDDLE + MIDDLE * cos_2) + 1.0;
    // cos(x − π/2) in the book.
    let phi2 = MIDDLE * GRAVITY * sin(angle_1 + angle_2);
    let phi1 = -MIDDLE * velocity_2 * velocity_2 * sin_2 - 2.0 * MIDDLE * velocity_2 * velocity_1 * sin_2
        + (MIDDLE + 1.0) * GRAVITY * sin(angle_1)
        + phi2;
    let acceleration_2 = (torque + d2 / d1 * phi1 - MIDDLE * velocity_1 * velocity_1 * sin_2 - phi2)
        / (MIDDLE * MIDDLE + 1.0 - d2 * d2 / d1);
    let acceleration_1 = -(d2 * acceleration_2 + phi1) / d1;
    [velocity_1, velocity_2, acceleration_1, acceleration_2]
}

/// The state after some time along a slope.
#[inline]
fn along(state: &[f64; 4], time: f64, slope: &[f64; 4]) -> [f64; 4] {
    std::array::from_fn(|k| state[k] + time * slope[k])
}

/// The same angle in [−π, π].
#[inline]
fn wrapped(angle: f64) -> f64 {
    // A step turns by a few turns at most; elsewhere the loops could be long, and endless at infinity.
    let mut angle = if angle.abs() > 1e3 { angle % TAU } else { angle };
    while angle > PI {
        angle -= TAU;
    }
    while angle < -PI {
        angle += TAU;
    }
    angle
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    fn any_state(random: &mut Random) -> Vec<f64> {
        [PI, PI, FASTEST[0], FASTEST[1]].iter().map(|most| between(-most, *most, random)).collect()
    }

    #[test]
    fn hanging_it_stays() {
        let mut state = [0.0; 4];
        let outcome = Acrobot.step(&mut state, Action::Number(1), &mut Random::new(0, 0));
        assert_eq!((state, outcome), ([0.0; 4], Outcome { reward: -1.0, is_over: false }));
    }

    #[test]
    fn the_tip_is_high() {
        let mut state = [PI - 0.05, 0.0, 0.0, 0.0];
        let outcome = Acrobot.step(&mut state, Action::Number(1), &mut Random::new(0, 0));
        assert_eq!(outcome, Outcome { reward: 0.0, is_over: true });
        assert!((height(&[PI, 0.0, 0.0, 0.0]) - 2.0).abs() < 1e-15);
        assert!((height(&[PI / 2.0, PI / 2.0, 0.0, 0.0]) - 1.0).abs() < 1e-15);
    }

    #[test]
    fn the_motor_pushes_both_links() {
        // At rest and hanging, the equations of motion are 4.5 a1 + 1.75 a2 = 0 and 1.75 a1 + 1.25 a2 = 1.
        let [_, _, a1, a2] = slope(&[0.0; 4], 1.0);
        assert!((4.5 * a1 + 1.75 * a2).abs() < 1e-14);
        assert!((1.75 * a1 + 1.25 * a2 - 1.0).abs() < 1e-14);
    }

    /// The energy: of the motion, and of the height of the links' middles.
    fn energy(&[angle_1, angle_2, velocity_1, velocity_2]: &[f64; 4]) -> f64 {
        let (d1, d2) = (3.5 + cos(angle_2), 1.25 + 0.5 * cos(angle_2));
        let motion = 0.5 * d1 * velocity_1 * velocity_1
            + d2 * velocity_1 * velocity_2
            + 0.5 * 1.25 * velocity_2 * velocity_2;
        motion - GRAVITY * (1.5 * cos(angle_1) + 0.5 * cos(angle_1 + angle_2))
    }

    #[test]
    fn energy_comes_from_the_motor_alone() {
        let mut random = Random::new(4, 0);
        for _ in 0..1000 {
            let state: [f64; 4] = std::array::from_fn(|_| between(-2.0, 2.0, &mut random));
            for torque in [-1.0, 0.0, 1.0] {
                let slope = slope(&state, torque);
                let [before, after] = [-1e-5, 1e-5].map(|time| energy(&along(&state, time, &slope)));
                let power = (after - before) / 2e-5;
                assert!((power - torque * state[3]).abs() < 1e-6, "{state:?} {torque} {power}");
            }
        }
    }

    #[test]
    fn angles_wrap() {
        assert!((wrapped(PI + 0.25) - (0.25 - PI)).abs() < 1e-15);
        assert!((wrapped(-5.0 * PI - 0.25) - (PI - 0.25)).abs() < 1e-14);
        assert_eq!(wrapped(PI), PI);
        assert!(wrapped(1e300).abs() <= PI);
        assert!(wrapped(f64::INFINITY).is_nan() && wrapped(f64::NAN).is_nan());
    }

    #[test]
    fn stays_within_its_bounds() {
        testing::steps(&Acrobot, any_state, |_, after, reward, is_over| {
            assert!(after[..2].iter().all(|angle| angle.abs() <= PI), "{after:?}");
            assert_eq!(reward, if is_over { 0.0 } else { -1.0 });
        });
    }
}
