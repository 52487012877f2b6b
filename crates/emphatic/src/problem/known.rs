//! Problems that are known exactly.

use super::{ContinuousCounterexample, Task};
use crate::compose::PartBuilder;
use crate::part::ComposeError;
use crate::policy::{DeterministicLinear, Gaussian, Softmax};
use crate::real::Real;
use std::sync::Arc;

/// A problem that is known exactly, of whichever kind.
#[derive(Clone, Debug)]
pub enum Known {
    /// Finitely many actions.
    Finite(Arc<Task>),
    /// One real action.
    Continuous(Arc<ContinuousCounterexample>),
}

/// A problem with a policy for which its Bellman equations can be written out.
pub(crate) enum Fit<'a> {
    Softmax(Arc<Task>, &'a Softmax),
    Gaussian(Arc<ContinuousCounterexample>, &'a Gaussian),
    Deterministic(Arc<ContinuousCounterexample>, &'a DeterministicLinear),
}

impl Known {
    /// The problem with the policy that an exact part is built for.
    pub(crate) fn with_policy<'a, R: Real>(&self, with: &PartBuilder<'a, R>) -> Result<Fit<'a>, ComposeError> {
        let unfit = |message: &str| Err(ComposeError::Unfit(message.to_owned()));
        match self {
            Self::Finite(task) => match with.policy() {
                Some(policy) => Ok(Fit::Softmax(task.clone(), policy)),
                None => unfit("this problem has finitely many actions: it needs a Softmax policy"),
            },
            Self::Continuous(problem) => match (with.policy(), with.policy()) {
                (Some(policy), _) => Ok(Fit::Gaussian(problem.clone(), policy)),
                (_, Some(policy)) => Ok(Fit::Deterministic(problem.clone(), policy)),
                _ => unfit("this problem has a real action: it needs a Gaussian or a DeterministicLinear policy"),
            },
        }
    }
}
