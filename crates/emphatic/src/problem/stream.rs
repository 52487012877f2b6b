//! The experience that a behaviour generates.

use super::Task;
use crate::action::Action;
use crate::features::State;
use crate::random_stream::Random;
use crate::step::Step;

/// The endless steps of a behaviour in a task: when an episode ends, a new one starts.
#[derive(Clone, Debug)]
pub struct Stream<'a> {
    task: &'a Task,
    random: Random,
    state: usize,
    gamma: f64,
}

impl<'a> Stream<'a> {
    pub(super) fn new(task: &'a Task, mut random: Random) -> Self {
        let start = task.problem().start();
        let state = start[random.index(start.iter().map(|s| s.1))].0;
        Self { task, random, state, gamma: 0.0 }
    }
}

impl Iterator for Stream<'_> {
    type Item = Step<State<'static>, Action>;

    fn next(&mut self) -> Option<Self::Item> {
        let Self { task, random, state, gamma } = self;
        let behaviour = task.behaviour(*state);
        let action = random.index(behaviour.iter().copied());
        let outcomes = task.problem().transitions(*state, action);
        let drawn =
            if outcomes.len() == 1 { 0 } else { random.index(outcomes.iter().map(|t| t.probability)) };
        let outcome = outcomes[drawn];
        let step = Step {
            state: State::Number(*state),
            action: action.into(),
            mu: behaviour[action],
            reward: outcome.reward,
            next: State::Number(outcome.next),
            gamma: *gamma,
            gamma_next: outcome.gamma,
            interest: task.interest()[*state],
        };
        (*state, *gamma) = (outcome.next, outcome.gamma);
        Some(step)
    }
}
