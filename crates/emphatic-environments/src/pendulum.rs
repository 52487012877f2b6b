//! Pendulum: a pendulum is swung up and held.

use crate::environment::{Actions, Description, Environment, Observed, Outcome};
use crate::environment::{between, nearest_real, numbers, numbers_mut};
use emphatic::real::elementary::{sin, sin_cos};
use emphatic::{Action, Random};
use std::f64::consts::{PI, TAU};

/// A pendulum with a weak motor, with the dynamics of Gymnasium's Pendulum-v1. The reward is −(angle² + 0.1 velocity² + 0.001 torque²), of
/// the state before the step, and an episode never ends.
///
/// A state is the angle (0 is upright; turns are counted) and the velocity. Torques beyond ±2 are cut off.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pendulum;

const GRAVITY: f64 = 10.0;
const TIME: f64 = 0.05;
const FASTEST: f64 = 8.0;
const STRONGEST: f64 = 2.0;

/// What it is.
pub(crate) static DESCRIPTION: Description = Description {
    name: "pendulum",
    about: "a pendulum is swung up by a weak motor and held there",
    source: "Towers and others 2024 (Gymnasium)",
    state: 2,
    observations: &[
        Observed::bounded("cosine of the angle", -1.0, 1.0),
        Observed::bounded("sine of the angle", -1.0, 1.0),
        Observed::bounded("angular velocity", -FASTEST, FASTEST),
    ],
    actions: Actions::Real { low: -STRONGEST, high: STRONGEST, standard_deviation: 1.0 },
    limit: Some(200),
    gymnasium: Some("Pendulum-v1"),
};

impl Environment for Pendulum {
    #[inline]
    fn description(&self) -> &Description {
        &DESCRIPTION
    }

    #[inline]
    fn start(&self, state: &mut [f64], random: &mut Random) {
        let angle = between(-PI, PI, random);
        let velocity = between(-1.0, 1.0, random);
        *numbers_mut(state) = [angle, velocity];
    }

    #[inline]
    fn step(&self, state: &mut [f64], action: Action, _: &mut Random) -> Outcome {
        let [angle, velocity] = numbers_mut(state);
        let torque = nearest_real(action, -STRONGEST, STRONGEST);
        let lean = wrapped(*angle);
        let cost = lean * lean + 0.1 * (*velocity * *velocity) + 0.001 * (torque * torque);
        // The pendulum is a rod of length 1 and mass 1.
        let acceleration = 1.5 * GRAVITY * sin(*angle) + 3.0 * torque;
        *velocity = (*velocity + acceleration * TIME).clamp(-FASTEST, FASTEST);
        *angle += *velocity * TIME;
        Outcome { reward: -cost, is_over: false }
    }

    #[inline]
    fn observe(&self, state: &[f64], observation: &mut [f64]) {
        let [angle, velocity] = *numbers(state);
        let (sin, cos) = sin_cos(angle);
        *numbers_mut(observation) = [cos, sin, velocity];
    }
}

/// The same angle in [−π, π]. (A remainder is exact, so it has the same bits on every machine.)
#[inline]
fn wrapped(angle: f64) -> f64 {
    (angle + PI).rem_euclid(TAU) - PI
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    fn step(angle: f64, velocity: f64, torque: f64) -> ([f64; 2], Outcome) {
        let mut state = [angle, velocity];
        let outcome = Pendulum.step(&mut state, Action::Real(torque), &mut Random::new(0, 0));
        (state, outcome)
    }

    #[test]
    fn by_hand() {
        // Horizontal: sin(π/2) = 1.
        let ([angle, velocity], outcome) = step(PI / 2.0, 1.0, 2.0);
        assert!((velocity - (1.0 + (15.0 + 6.0) * 0.05)).abs() < 1e-15, "{velocity}");
        assert!((angle - (PI / 2.0 + 0.05 * 2.05)).abs() < 1e-15, "{angle}");
        assert!((outcome.reward + PI * PI / 4.0 + 0.1 + 0.004).abs() < 1e-15 && !outcome.is_over);
        // Too strong a motor, too fast a pendulum.
        assert_eq!(step(1.0, 0.5, 7.0), step(1.0, 0.5, 2.0));
        assert_eq!(step(PI / 2.0, 7.9, 0.0).0[1], 8.0);
        assert_eq!(step(0.0, 0.0, 0.0), ([0.0; 2], Outcome { reward: -0.0, is_over: false }));
    }

    #[test]
    fn turns_do_not_matter() {
        let (here, there) = (step(0.5, 1.0, 0.1), step(0.5 + 3.0 * TAU, 1.0, 0.1));
        assert!((here.1.reward - there.1.reward).abs() < 1e-14);
        assert!((here.0[1] - there.0[1]).abs() < 1e-14);
    }

    #[test]
    fn stays_within_its_bounds() {
        testing::steps(
            &Pendulum,
            |random| vec![between(-20.0, 20.0, random), between(-FASTEST, FASTEST, random)],
            |_, _, reward, is_over| {
                assert!((-(PI * PI + 6.4 + 0.0041)..=0.0).contains(&reward) && !is_over, "{reward}");
            },
        );
    }
}
