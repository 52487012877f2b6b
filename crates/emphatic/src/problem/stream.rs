//! The experience that a behaviour generates.

use super::{Task, Transition};
use crate::action::Action;
use crate::features::State;
use crate::random_stream::Random;
use crate::step::Step;
use crate::theory::ModelStates;

/// A problem whose behaviour can be sampled.
pub trait Sampled: ModelStates {
    /// An action of the behaviour in a state, its probability or density μ, and an outcome of it.
    fn sample(&self, state: usize, random: &mut Random) -> (Action, f64, Transition);
}

/// The endless steps of a behaviour in a problem: when an episode ends, a new one starts.
#[derive(Clone, Debug)]
pub struct Stream<'a, T = Task> {
    pub(super) problem: &'a T,
    pub(super) random: Random,
    pub(super) state: usize,
    /// γ of the transition into the state.
    pub(super) gamma: f64,
}

impl<T: Sampled> Iterator for Stream<'_, T> {
    type Item = Step<State<'static>, Action>;

    fn next(&mut self) -> Option<Self::Item> {
        let Self { problem, random, state, gamma } = self;
        let (action, mu, outcome) = problem.sample(*state, random);
        let step = Step {
            state: State::Number(*state),
            action,
            mu,
            reward: outcome.reward,
            next: State::Number(outcome.next),
            gamma: *gamma,
            gamma_next: outcome.gamma,
            interest: problem.interest()[*state],
        };
        (*state, *gamma) = (outcome.next, outcome.gamma);
        Some(step)
    }
}
