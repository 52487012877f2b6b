//! Sources of experience: a finite problem, or the counterexample with one real action.
//!
//! The engine knows nothing of a problem but what [`Source`] says.

use emphatic::{
    Action, ContinuousCounterexample, Features, KnownProblem, ProblemError, State, Step, Table, Task,
};
use std::fmt::Debug;
use std::sync::Arc;

/// A source of experience.
pub(crate) trait Source: Debug + Send + Sync {
    /// Returns the stream with this seed and number, which is the same on every machine.
    fn stream(&self, seed: u64, number: u64) -> Box<dyn Stream + '_>;

    /// Returns the features that parts may look at, with their names, which are some of [`FEATURE_NAMES`].
    fn features(&self) -> Vec<(&'static str, Features)>;

    /// Returns the number of actions; `None` if the action is a real number.
    fn actions(&self) -> Option<usize>;

    /// Returns the problem if it is known exactly.
    fn known(self: Arc<Self>) -> Option<KnownProblem>;

    /// Returns the same source with this interest in each state.
    fn with_interest(&self, interest: Vec<f64>) -> Result<Arc<dyn Source>, ProblemError>;
}

/// Experience, step by step.
pub(crate) trait Stream {
    /// Returns the next step; `None` at the end.
    fn next(&mut self) -> Option<Step<State<'_>, Action>>;
}

/// States that are numbers borrow nothing from the stream.
impl<I: Iterator<Item = Step<State<'static>, Action>>> Stream for I {
    fn next(&mut self) -> Option<Step<State<'_>, Action>> {
        Iterator::next(self)
    }
}

/// The names of features that a source may have.
pub(crate) const FEATURE_NAMES: [&str; 3] = ["actor", "critic", "states"];

/// Returns a problem of a file as a source.
pub(crate) fn of(known: &KnownProblem) -> Arc<dyn Source> {
    match known {
        KnownProblem::Finite(task) => task.clone(),
        KnownProblem::Continuous(problem) => problem.clone(),
    }
}

impl Source for Task {
    fn stream(&self, seed: u64, number: u64) -> Box<dyn Stream + '_> {
        Box::new(Task::stream(self, seed, number))
    }

    fn features(&self) -> Vec<(&'static str, Features)> {
        let states = Table::one_hot(self.states());
        vec![("actor", self.actor().into()), ("critic", self.critic().into()), ("states", states.into())]
    }

    fn actions(&self) -> Option<usize> {
        Some(Task::actions(self))
    }

    fn known(self: Arc<Self>) -> Option<KnownProblem> {
        Some(KnownProblem::Finite(self))
    }

    fn with_interest(&self, interest: Vec<f64>) -> Result<Arc<dyn Source>, ProblemError> {
        Ok(Arc::new(self.clone().with_interest(interest)?))
    }
}

impl Source for ContinuousCounterexample {
    fn stream(&self, seed: u64, number: u64) -> Box<dyn Stream + '_> {
        Box::new(ContinuousCounterexample::stream(self, seed, number))
    }

    fn features(&self) -> Vec<(&'static str, Features)> {
        let states: Features = Table::one_hot(self.interest().len()).into();
        vec![("actor", self.actor().into()), ("critic", states.clone()), ("states", states)]
    }

    fn actions(&self) -> Option<usize> {
        None
    }

    fn known(self: Arc<Self>) -> Option<KnownProblem> {
        Some(KnownProblem::Continuous(self))
    }

    fn with_interest(&self, interest: Vec<f64>) -> Result<Arc<dyn Source>, ProblemError> {
        let what = || "the interest".to_owned();
        let right = |given: Vec<f64>| ProblemError::Shape { what: what(), got: given.len(), right: 3 };
        Ok(Arc::new(self.clone().with_interest(interest.try_into().map_err(right)?)?))
    }
}

/// Some steps of a stream with the features of their states: copied once, so that all settings learn from them.
#[derive(Default)]
pub(crate) struct Chunk {
    steps: Vec<Step<StateRange, Action>>,
    numbers: Vec<f64>,
    active: Vec<usize>,
}

/// A state in a chunk: its number, or the range of its features.
#[derive(Clone, Copy)]
enum StateRange {
    Number(usize),
    Vector(usize, usize),
    Active(usize, usize),
}

impl Chunk {
    /// Empties it.
    pub(crate) fn clear(&mut self) {
        self.steps.clear();
        self.numbers.clear();
        self.active.clear();
    }

    pub(crate) fn len(&self) -> usize {
        self.steps.len()
    }

    /// Adds a step.
    pub(crate) fn push(&mut self, step: &Step<State, Action>) {
        let Step { action, mu, reward, gamma, gamma_next, interest, .. } = *step;
        let (state, next) = (self.copy(step.state), self.copy(step.next));
        self.steps.push(Step { state, action, mu, reward, next, gamma, gamma_next, interest });
    }

    fn copy(&mut self, state: State) -> StateRange {
        match state {
            State::Number(number) => StateRange::Number(number),
            State::Vector(vector) => {
                let start = self.numbers.len();
                self.numbers.extend_from_slice(vector);
                StateRange::Vector(start, self.numbers.len())
            }
            State::Active(active) => {
                let start = self.active.len();
                self.active.extend_from_slice(active);
                StateRange::Active(start, self.active.len())
            }
            State::Coded(_) => unreachable!("a source returns states as they are, without computed features"),
        }
    }

    /// Returns the steps in the form that learners take.
    pub(crate) fn steps(&self) -> Vec<Step<State<'_>, Action>> {
        let state_of = |range: StateRange| match range {
            StateRange::Number(number) => State::Number(number),
            StateRange::Vector(start, end) => State::Vector(&self.numbers[start..end]),
            StateRange::Active(start, end) => State::Active(&self.active[start..end]),
        };
        let step = |step: &Step<StateRange, Action>| {
            let Step { action, mu, reward, gamma, gamma_next, interest, .. } = *step;
            let (state, next) = (state_of(step.state), state_of(step.next));
            Step { state, action, mu, reward, next, gamma, gamma_next, interest }
        };
        self.steps.iter().map(step).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chunk_returns_the_steps_that_were_put_in() {
        let step = |state, next| Step {
            state,
            action: Action::Number(1),
            mu: 0.5,
            reward: 2.0,
            next,
            gamma: 0.0,
            gamma_next: 0.9,
            interest: 1.0,
        };
        let steps = [
            step(State::Number(3), State::Number(4)),
            step(State::Vector(&[1.0, 2.0]), State::Vector(&[3.0])),
            step(State::Active(&[7, 5]), State::Active(&[])),
        ];
        let mut chunk = Chunk::default();
        steps.iter().for_each(|step| chunk.push(step));
        assert_eq!((chunk.steps(), chunk.len()), (steps.to_vec(), 3));
        chunk.clear();
        chunk.push(&steps[2]);
        assert_eq!(chunk.steps(), &steps[2..]);
    }
}
