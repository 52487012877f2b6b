//! Problems that are known exactly.

use super::{ContinuousCounterexample, Task};
use crate::emphasis::{Emphasis, ExactEmphasis};
use crate::instruction_set::Isa;
use crate::leaf::Leaf;
use crate::part::ComposeError;
use crate::policy::{DeterministicLinear, Gaussian, Policy, Softmax};
use crate::real::Real;
use crate::theory::{Judge, Model};
use std::any::Any;
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
    /// The problem with a policy of any type.
    pub(crate) fn with_policy<'a>(&self, policy: &'a dyn Any) -> Result<Fit<'a>, ComposeError> {
        let unfit = |message: &str| Err(ComposeError::Incompatible(message.to_owned()));
        match self {
            Self::Finite(task) => match policy.downcast_ref() {
                Some(policy) => Ok(Fit::Softmax(task.clone(), policy)),
                None => unfit("this problem has finitely many actions: it needs a Softmax policy"),
            },
            Self::Continuous(problem) => match (policy.downcast_ref(), policy.downcast_ref()) {
                (Some(policy), _) => Ok(Fit::Gaussian(problem.clone(), policy)),
                (_, Some(policy)) => Ok(Fit::Deterministic(problem.clone(), policy)),
                _ => unfit(
                    "this problem has a real action: it needs a Gaussian or a DeterministicLinear policy",
                ),
            },
        }
    }

    /// What tells J_μ of one policy after another, all of this form.
    pub(crate) fn objective<R: Real>(&self, policy: &dyn Any) -> Result<Box<dyn Objective<R>>, ComposeError> {
        Ok(match self.with_policy(policy)? {
            Fit::Softmax(task, policy) => judge(task, policy)?,
            Fit::Gaussian(problem, policy) => judge(problem, policy)?,
            Fit::Deterministic(problem, policy) => judge(problem, policy)?,
        })
    }

    /// m(S_t)/d_μ(S_t) of policies of this form.
    pub(crate) fn exact_emphasis<R: Real>(
        &self,
        policy: &dyn Any,
        isa: Isa,
    ) -> Result<Box<dyn Emphasis<R>>, ComposeError> {
        Ok(match self.with_policy(policy)? {
            Fit::Softmax(task, policy) => Box::new(Leaf { isa, part: ExactEmphasis::new(task, policy)? }),
            Fit::Gaussian(problem, policy) => {
                Box::new(Leaf { isa, part: ExactEmphasis::new(problem, policy)? })
            }
            Fit::Deterministic(problem, policy) => {
                Box::new(Leaf { isa, part: ExactEmphasis::new(problem, policy)? })
            }
        })
    }
}

/// Tells the objective of one policy after another.
pub trait Objective<R>: Send {
    /// J_μ for these weights. A lane in which it is not defined (weights that are not finite, episodes that never
    /// end) is not finite.
    fn of(&mut self, isa: Isa, weights: &[R]) -> R;
}

fn judge<R: Real, P: Policy, M: Model<P> + 'static>(
    model: Arc<M>,
    policy: &P,
) -> Result<Box<dyn Objective<R>>, ComposeError> {
    Ok(Box::new(Judge::new(model, policy)?))
}

impl<R: Real, P: Policy, M: Model<P>> Objective<R> for Judge<R, M, P> {
    fn of(&mut self, isa: Isa, weights: &[R]) -> R {
        self.objective(isa, weights).unwrap_or(R::splat(f64::NAN))
    }
}
