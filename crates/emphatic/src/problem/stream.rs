//! Experience that a behaviour generates.

use super::Task;
use crate::action::Action;
use crate::features::State;
use crate::random_stream::Random;
use crate::step::Step;

/// The steps of a behaviour in a task, without end: a new episode starts where one has ended.
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
        let ways = task.problem().transitions(*state, action);
        let way = ways[if ways.len() == 1 { 0 } else { random.index(ways.iter().map(|t| t.probability)) }];
        let step = Step {
            state: State::Number(*state),
            action: action.into(),
            mu: behaviour[action],
            reward: way.reward,
            next: State::Number(way.next),
            gamma: *gamma,
            gamma_next: way.gamma,
            interest: task.interest()[*state],
        };
        (*state, *gamma) = (way.next, way.gamma);
        Some(step)
    }
}
