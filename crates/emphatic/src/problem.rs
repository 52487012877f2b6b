//! Decision problems that are known exactly.

mod builder;
mod continuous_counterexample;
mod counterexample;
mod error;
pub(crate) mod known_problem;
mod random_task;
mod stream;
mod task;

pub use builder::{Key, ProblemBuilder};
pub use continuous_counterexample::ContinuousCounterexample;
pub use error::ProblemError;
pub use known_problem::KnownProblem;
pub use stream::{Sampled, Stream};
pub use task::Task;

use crate::theory::compressed_rows::CompressedRows;

/// One possible outcome of an action in a state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transition {
    /// The state it leads to.
    pub next: usize,
    /// Its probability.
    pub probability: f64,
    /// The reward.
    pub reward: f64,
    /// The discount of the transition; 0 where an episode ends.
    pub gamma: f64,
}

/// A finite decision problem (S, A, P, r, γ) with a start distribution, written as one that never stops: an
/// episode ends by a transition with γ = 0 to a start state. With a behaviour it becomes a [`Task`], which
/// [`Exact`](crate::Exact) solves and which generates experience.
///
/// ```
/// use emphatic::Problem;
/// let coin = Problem::builder()
///     .states(["toss"])
///     .actions(["bet", "pass"])
///     .start("toss", 1.0)
///     .end("toss", "bet", 0.5, 1.0)
///     .end("toss", "bet", 0.5, -1.0)
///     .end("toss", "pass", 1.0, 0.0)
///     .build()?;
/// assert_eq!(coin.transitions(0, 0).len(), 2);
/// # Ok::<(), emphatic::ProblemError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    pub(crate) states: Vec<String>,
    pub(crate) actions: Vec<String>,
    pub(crate) start: Vec<(usize, f64)>,
    /// A list for each state and action.
    pub(crate) transitions: CompressedRows<Transition>,
}

impl Problem {
    /// A builder for a new problem.
    pub fn builder() -> ProblemBuilder {
        ProblemBuilder::default()
    }

    /// The names of the states.
    pub fn states(&self) -> &[String] {
        &self.states
    }

    /// The names of the actions.
    pub fn actions(&self) -> &[String] {
        &self.actions
    }

    /// The states in which an episode may start, with their probabilities.
    pub fn start(&self) -> &[(usize, f64)] {
        &self.start
    }

    /// The possible outcomes of an action; empty if there is no such state or action.
    pub fn transitions(&self, state: usize, action: usize) -> &[Transition] {
        if state >= self.states.len() || action >= self.actions.len() {
            return &[];
        }
        self.transitions.row(state * self.actions.len() + action)
    }

    /// The possible outcomes of all actions, state by state.
    pub fn all_transitions(&self) -> &[Transition] {
        &self.transitions.entries
    }
}
