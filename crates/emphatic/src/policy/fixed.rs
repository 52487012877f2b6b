//! Probabilities that are given.

use super::{FinitePolicy, Policy, StochasticPolicy};
use crate::features::{FeatureError, check_state};
use crate::problem::{ProblemError, Task};
use crate::random::Random;
use crate::real::Real;
use crate::step::StepError;

/// A policy in numbered states that has no weights: its probabilities are given, and may be 0. It cannot learn, but
/// everything that is exactly true of it can be computed.
///
/// ```
/// use emphatic::{Exact, Fixed, Task};
/// let task = Task::counterexample();
/// let always_a0 = Fixed::new(&task, &vec![vec![1.0, 0.0]; 3])?;
/// let none: [f64; 0] = [];
/// assert_eq!(Exact::new(&task, &always_a0, &none)?.objective(), 1.25);
/// # Ok::<(), emphatic::ProblemError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Fixed {
    rows: Vec<Vec<f64>>,
}

impl Fixed {
    /// A row for each state of the task, a probability for each action.
    pub fn new(task: &Task, rows: &[Vec<f64>]) -> Result<Self, ProblemError> {
        Ok(Self { rows: task.problem().check_policy("the target", rows)? })
    }
}

impl Policy for Fixed {
    type State = usize;
    type Action = usize;
    /// The probability of each action.
    type Distribution<R: Real> = Vec<R>;

    fn len(&self) -> usize {
        0
    }

    fn most_active(&self) -> usize {
        1
    }

    fn check_state(&self, state: &usize) -> Result<(), FeatureError> {
        check_state(*state, self.rows.len())
    }

    fn check_action(&self, action: usize) -> Result<(), StepError> {
        let actions = self.actions();
        if action < actions { Ok(()) } else { Err(StepError::Action { action, actions }) }
    }

    fn room<R: Real>(&self) -> Vec<R> {
        vec![R::zero(); self.actions()]
    }

    fn distribution<R: Real>(&self, _weights: &[R], state: &usize, out: &mut Vec<R>) {
        for (out, p) in out.iter_mut().zip(&self.rows[*state]) {
            *out = R::splat(*p);
        }
    }

    fn features(&self, _state: &usize) -> impl Iterator<Item = usize> {
        std::iter::empty() // Nothing is learned, so nothing is shared.
    }
}

impl StochasticPolicy for Fixed {
    fn probability<R: Real>(&self, at: &Vec<R>, action: usize) -> R {
        at[action]
    }

    fn add_score<R: Real>(&self, _: &usize, _: &Vec<R>, _: usize, _: R, _: &mut [R]) -> R {
        R::zero() // There are no weights to change.
    }

    fn sample(&self, at: &Vec<f64>, random: &mut Random) -> usize {
        random.index(at.iter().copied())
    }
}

impl FinitePolicy for Fixed {
    fn actions(&self) -> usize {
        self.rows.first().map_or(0, Vec::len)
    }
}
