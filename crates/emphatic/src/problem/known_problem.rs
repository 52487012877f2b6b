//! Problems that are known exactly, of any kind, with policies of any kind.

use super::{ContinuousCounterexample, Task};
use crate::boxed::WithIsa;
use crate::emphasis::{Emphasis, ExactEmphasis};
use crate::instruction_set::Isa;
use crate::part::ComposeError;
use crate::policy::{DeterministicLinear, Gaussian, Softmax};
use crate::real::Real;
use crate::theory::{ExactObjective, Objective};
use std::any::Any;
use std::sync::Arc;

/// A problem that is known exactly, of either kind.
#[derive(Clone, Debug)]
pub enum KnownProblem {
    /// Finitely many actions.
    Finite(Arc<Task>),
    /// One real action.
    Continuous(Arc<ContinuousCounterexample>),
}

/// A problem with a policy for which its Bellman equations can be written out.
pub(crate) enum Solvable<'a> {
    Softmax(Arc<Task>, &'a Softmax),
    Gaussian(Arc<ContinuousCounterexample>, &'a Gaussian),
    Deterministic(Arc<ContinuousCounterexample>, &'a DeterministicLinear),
}

impl KnownProblem {
    /// The problem with a policy of any type.
    pub(crate) fn with_policy<'a>(&self, policy: &'a dyn Any) -> Result<Solvable<'a>, ComposeError> {
        let refuse = |message: &str| Err(ComposeError::Incompatible(message.to_owned()));
        match self {
            Self::Finite(task) => match policy.downcast_ref() {
                Some(policy) => Ok(Solvable::Softmax(task.clone(), policy)),
                None => refuse("this problem has finitely many actions: it needs a Softmax policy"),
            },
            Self::Continuous(problem) => match (policy.downcast_ref(), policy.downcast_ref()) {
                (Some(policy), _) => Ok(Solvable::Gaussian(problem.clone(), policy)),
                (_, Some(policy)) => Ok(Solvable::Deterministic(problem.clone(), policy)),
                _ => refuse(
                    "this problem has a real action: it needs a Gaussian or a DeterministicLinear policy",
                ),
            },
        }
    }

    /// J_μ of policies of this form.
    pub(crate) fn objective<R: Real>(&self, policy: &dyn Any) -> Result<Box<dyn Objective<R>>, ComposeError> {
        Ok(match self.with_policy(policy)? {
            Solvable::Softmax(task, policy) => Box::new(ExactObjective::new(task, policy)?),
            Solvable::Gaussian(problem, policy) => Box::new(ExactObjective::new(problem, policy)?),
            Solvable::Deterministic(problem, policy) => Box::new(ExactObjective::new(problem, policy)?),
        })
    }

    /// m(S_t)/d_μ(S_t) of policies of this form.
    pub(crate) fn exact_emphasis<R: Real>(
        &self,
        policy: &dyn Any,
        isa: Isa,
    ) -> Result<Box<dyn Emphasis<R>>, ComposeError> {
        Ok(match self.with_policy(policy)? {
            Solvable::Softmax(task, policy) => {
                Box::new(WithIsa { isa, part: ExactEmphasis::new(task, policy)? })
            }
            Solvable::Gaussian(problem, policy) => {
                Box::new(WithIsa { isa, part: ExactEmphasis::new(problem, policy)? })
            }
            Solvable::Deterministic(problem, policy) => {
                Box::new(WithIsa { isa, part: ExactEmphasis::new(problem, policy)? })
            }
        })
    }
}
