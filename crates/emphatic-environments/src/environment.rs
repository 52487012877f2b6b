//! What every environment is.

use emphatic::{Action, Random};
use std::fmt::Debug;

/// A simulator: something that can be acted in, though nobody can solve it exactly.
///
/// It holds nothing that changes. A state is a slice of [`Description::state`] numbers that the caller keeps, and an observation
/// one of as many numbers as there are [`Description::observations`]; slices that are shorter make the methods panic, and of
/// longer ones the rest is left alone.
pub trait Environment: Debug + Send + Sync {
    /// What it is: its name, what is observed, how one acts.
    fn description(&self) -> &Description;

    /// Draws a state in which an episode begins.
    fn start(&self, state: &mut [f64], random: &mut Random);

    /// Takes an action in a state, which becomes the next one.
    ///
    /// Callers check their actions against [`Description::actions`] beforehand. One that is not among them never makes this
    /// panic: the nearest is taken instead. A real number is rounded where actions have numbers, a number is
    /// taken for a real one where they are real, and NaN counts as 0.
    ///
    /// What happens after the end of an episode is up to the environment: the state says nothing about it.
    fn step(&self, state: &mut [f64], action: Action, random: &mut Random) -> Outcome;

    /// Writes what is observed of a state.
    fn observe(&self, state: &[f64], observation: &mut [f64]);

    /// [`Environment::step`] in many states that lie one after the other in a slice, each with its own action and stream.
    ///
    /// There are as many steps as the shortest of the slices has room for.
    fn step_all(
        &self,
        states: &mut [f64],
        actions: &[Action],
        randoms: &mut [Random],
        outcomes: &mut [Outcome],
    ) {
        // Compiled for each environment anew, so that only the call of the whole loop is virtual.
        let states = states.chunks_exact_mut(self.description().state);
        for (((state, action), random), outcome) in states.zip(actions).zip(randoms).zip(outcomes) {
            *outcome = self.step(state, *action, random);
        }
    }

    /// [`Environment::observe`] of many states that lie one after the other in a slice, as their observations will.
    fn observe_all(&self, states: &[f64], observations: &mut [f64]) {
        let description = self.description();
        let states = states.chunks_exact(description.state);
        for (state, observation) in states.zip(observations.chunks_exact_mut(description.observations.len()))
        {
            self.observe(state, observation);
        }
    }
}

/// What comes of an action.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Outcome {
    /// The reward.
    pub reward: f64,
    /// Whether the episode ends here. (A limit of steps is not an end: see [`Description::limit`].)
    pub is_over: bool,
}

/// What an environment is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Description {
    /// Its name in files.
    pub name: &'static str,
    /// A line about it.
    pub about: &'static str,
    /// Where it was published.
    pub source: &'static str,
    /// How many numbers a state is.
    pub state: usize,
    /// What is observed: an entry for each number.
    pub observations: &'static [Observed],
    /// How one acts.
    pub actions: Actions,
    /// After how many steps an episode is cut short, where that is part of the environment. This is a truncation, not an end.
    pub limit: Option<u32>,
    /// The name of the environment with the same dynamics in Gymnasium.
    pub gymnasium: Option<&'static str>,
}

/// One of the numbers that are observed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Observed {
    /// What it is called.
    pub name: &'static str,
    /// The lower end of the range that features cover; finite.
    pub low: f64,
    /// The upper end of the range that features cover; finite.
    pub high: f64,
    /// Whether it never leaves that range. If not, the range is the usual one.
    pub bounded: bool,
    /// Whether it is an angle or the like, whose highest value is next to its lowest.
    pub wraps: bool,
}

impl Observed {
    /// A number that never leaves this range.
    pub const fn bounded(name: &'static str, low: f64, high: f64) -> Self {
        Self { name, low, high, bounded: true, wraps: false }
    }

    /// A number that is usually in this range.
    pub const fn usual(name: &'static str, low: f64, high: f64) -> Self {
        Self { name, low, high, bounded: false, wraps: false }
    }
}

/// How one acts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Actions {
    /// By one of finitely many actions: their names.
    Finite(&'static [&'static str]),
    /// By a real number.
    Real {
        /// The least action; may be −∞.
        low: f64,
        /// The greatest action; may be ∞.
        high: f64,
        /// The standard deviation of actions around 0 that explore well.
        standard_deviation: f64,
    },
}

/// Returns the nearest of `count` actions.
#[inline]
pub(crate) fn nearest_number(action: Action, count: usize) -> usize {
    let number = match action {
        Action::Number(number) => number,
        // Conversions take NaN and negative numbers to 0, and stop at the largest.
        Action::Real(real) => real.round() as usize,
    };
    number.min(count - 1)
}

/// Returns the nearest action of a range.
#[inline]
pub(crate) fn nearest_real(action: Action, low: f64, high: f64) -> f64 {
    let real = match action {
        Action::Number(number) => number as f64,
        Action::Real(real) if real.is_nan() => 0.0,
        Action::Real(real) => real,
    };
    real.clamp(low, high)
}

/// Returns the numbers of a state or an observation.
#[inline]
pub(crate) fn numbers<const N: usize>(slice: &[f64]) -> &[f64; N] {
    slice.first_chunk().expect("a slice as long as the description says")
}

/// Returns the numbers of a state or an observation, to change them.
#[inline]
pub(crate) fn numbers_mut<const N: usize>(slice: &mut [f64]) -> &mut [f64; N] {
    slice.first_chunk_mut().expect("a slice as long as the description says")
}

/// Draws a number between two.
#[inline]
pub(crate) fn between(low: f64, high: f64, random: &mut Random) -> f64 {
    low + (high - low) * random.uniform()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_action() {
        let number = |action| nearest_number(action, 3);
        assert_eq!([0, 2, 3, usize::MAX].map(|k| number(Action::Number(k))), [0, 2, 2, 2]);
        let reals = [-1.0, 0.4, 0.6, 1.7, 1e300, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
        assert_eq!(reals.map(|x| number(Action::Real(x))), [0, 0, 1, 2, 2, 2, 0, 0]);

        let real = |action| nearest_real(action, -2.0, 1.5);
        assert_eq!([0, 1, 7].map(|k| real(Action::Number(k))), [0.0, 1.0, 1.5]);
        let reals = [-3.0, 0.4, 3.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
        assert_eq!(reals.map(|x| real(Action::Real(x))), [-2.0, 0.4, 1.5, 1.5, -2.0, 0.0]);
    }
}
