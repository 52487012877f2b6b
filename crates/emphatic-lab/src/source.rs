//! Sources of experience: a finite problem, the counterexample with one real action, or a simulator, which may live elsewhere.
//!
//! The engine knows nothing of a problem but what [`Source`] says.

mod behaviour;
mod chunk;
mod described;
mod external;
mod interface;
mod recording;
mod saved_policy;
mod simulator;

pub(crate) use behaviour::Behaviour;
pub(crate) use chunk::Chunk;
pub(crate) use described::{Described, ENVIRONMENTS};
pub(crate) use external::{Elsewhere, Places};
pub use external::{ExternalEnvironment, ExternalError, ExternalOutcome, Session};
pub use interface::{Actions, Interface};
pub(crate) use recording::bytes;
pub(crate) use saved_policy::SavedPolicy;
pub(crate) use simulator::{Dynamics, Interest, Simulator, TRIAL};

use emphatic::basis::Observed;
use emphatic::{
    Action, ContinuousCounterexample, FeatureError, Features, KnownProblem, State, Step, Table, Task,
};
use std::fmt::Debug;
use std::sync::Arc;
use thiserror::Error;

/// A source that does not go on.
#[derive(Clone, Debug, Error)]
#[non_exhaustive]
pub enum SourceError {
    /// An environment that leaves the finite numbers.
    #[error("the environment `{name}` left the finite numbers: reward {reward}, observation {observation:?}")]
    NotFinite {
        /// The environment.
        name: String,
        /// Its reward.
        reward: f64,
        /// What was observed.
        observation: Vec<f64>,
    },
    /// An environment that lives elsewhere and fails.
    #[error("{source} ({at})")]
    External {
        /// At which step of which episode.
        at: String,
        /// What is wrong.
        source: ExternalError,
    },
    /// Experience of an environment that lives elsewhere, which takes too much memory.
    #[error(
        "the first {steps} steps of the behaviour take {most} of memory, which is all that a run may have: give fewer `episodes`"
    )]
    TooLong {
        /// The number of steps.
        steps: usize,
        /// The memory.
        most: String,
    },
    /// An observation that the features cannot describe.
    #[error("the features cannot describe an observation: {0}")]
    Features(#[from] FeatureError),
    /// A behaviour that leaves the finite numbers.
    #[error(
        "the probability of the behaviour's action is {mu} where {observation:?} is observed: its numbers are too large or too small"
    )]
    Behaviour {
        /// The probability, or density.
        mu: f64,
        /// What was observed.
        observation: Vec<f64>,
    },
}

/// A source of experience.
pub(crate) trait Source: Debug + Send + Sync {
    /// Returns the stream with this seed and number, which is the same on every machine.
    fn stream(&self, seed: u64, number: u64) -> Box<dyn Stream + '_>;

    /// Returns the features that parts may look at, with their names, which are some of [`FEATURE_NAMES`].
    fn features(&self) -> Vec<(&'static str, Features)>;

    /// Returns the bases that compute features of its observations, each at the place that its features say; empty if states are not observations.
    fn bases(&self) -> Vec<Observed> {
        Vec::new()
    }

    /// Returns the number of actions; `None` if the action is a real number.
    fn actions(&self) -> Option<usize>;

    /// Returns the problem if it is known exactly.
    fn known(self: Arc<Self>) -> Option<KnownProblem>;
}

/// Experience, step by step.
pub(crate) trait Stream {
    /// Returns the next step; `None` at the end.
    fn next(&mut self) -> Result<Option<Step<State<'_>, Action>>, SourceError>;

    /// Returns whether an episode has ended with the last step, or was cut short there.
    fn has_ended(&self) -> bool;
}

/// The steps of an iterator. States that are numbers borrow nothing from it.
struct Steps<I> {
    steps: I,
    has_ended: bool,
}

impl<I: Iterator<Item = Step<State<'static>, Action>>> Stream for Steps<I> {
    fn next(&mut self) -> Result<Option<Step<State<'_>, Action>>, SourceError> {
        let step = self.steps.next();
        self.has_ended = step.is_some_and(|step| step.gamma_next == 0.0);
        Ok(step)
    }

    fn has_ended(&self) -> bool {
        self.has_ended
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
        Box::new(Steps { steps: Task::stream(self, seed, number), has_ended: false })
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
}

impl Source for ContinuousCounterexample {
    fn stream(&self, seed: u64, number: u64) -> Box<dyn Stream + '_> {
        Box::new(Steps { steps: ContinuousCounterexample::stream(self, seed, number), has_ended: false })
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
}
