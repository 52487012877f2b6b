//! Problems that are known exactly, of any kind, with policies of any kind.

use super::task::check_shape;
use super::{ContinuousCounterexample, ProblemError, Task};
use crate::boxed::WithIsa;
use crate::critic::{Critic, ExactCritic};
use crate::emphasis::{Emphasis, ExactEmphasis};
use crate::features::Table;
use crate::instruction_set::Isa;
use crate::part::ComposeError;
use crate::policy::{DeterministicLinear, Fixed, Gaussian, Softmax};
use crate::real::Real;
use crate::theory::{ExactObjective, ModelStates, Objective};
use std::any::Any;
use std::sync::Arc;

/// A problem that is known exactly, of either kind, with its behaviour and interest.
#[derive(Clone, Debug)]
pub enum KnownProblem {
    /// Named actions.
    Finite(Arc<Task>),
    /// One real action.
    Continuous(Arc<ContinuousCounterexample>),
}

/// A problem with a policy for which its Bellman equations can be written out.
pub(crate) enum Solvable<'a> {
    Softmax(Arc<Task>, &'a Softmax),
    Fixed(Arc<Task>, &'a Fixed),
    Gaussian(Arc<ContinuousCounterexample>, &'a Gaussian),
    Deterministic(Arc<ContinuousCounterexample>, &'a DeterministicLinear),
}

impl KnownProblem {
    fn model(&self) -> &dyn ModelStates {
        match self {
            Self::Finite(task) => &**task,
            Self::Continuous(problem) => &**problem,
        }
    }

    /// The names of the states.
    pub fn states(&self) -> &[String] {
        self.model().state_names()
    }

    /// The names of the actions; empty if the action is a real number.
    pub fn actions(&self) -> &[String] {
        match self {
            Self::Finite(task) => task.problem().actions(),
            Self::Continuous(_) => &[],
        }
    }

    /// The features of the actor.
    pub fn actor(&self) -> &Table {
        match self {
            Self::Finite(task) => task.actor(),
            Self::Continuous(problem) => problem.actor(),
        }
    }

    /// The features that a critic has by default.
    pub fn critic(&self) -> Table {
        match self {
            Self::Finite(task) => task.critic().clone(),
            Self::Continuous(_) => Table::one_hot(self.states().len()),
        }
    }

    /// The interest i, by state.
    pub fn interest(&self) -> &[f64] {
        self.model().interest()
    }

    /// The same problem with this interest in each state.
    pub fn with_interest(&self, interest: Vec<f64>) -> Result<Self, ProblemError> {
        Ok(match self {
            Self::Finite(task) => Self::Finite(Arc::new(Task::clone(task).with_interest(interest)?)),
            Self::Continuous(problem) => {
                check_shape("the interest", interest.len(), 3)?;
                let interest = [interest[0], interest[1], interest[2]];
                Self::Continuous(Arc::new(ContinuousCounterexample::clone(problem).with_interest(interest)?))
            }
        })
    }

    /// d_μ, by state.
    pub fn stationary(&self) -> &[f64] {
        self.model().stationary()
    }

    /// The mean number of steps in an episode of the behaviour; `None` if episodes never end.
    pub fn episode_length(&self) -> Option<f64> {
        let Self::Finite(task) = self else { return Some(2.0) };
        let ending = |s: usize, a: usize| -> f64 {
            let ends = task.problem().transitions(s, a).iter().filter(|t| t.gamma == 0.0);
            ends.map(|t| t.probability).sum()
        };
        let in_state =
            |s: usize| -> f64 { task.behaviour(s).iter().enumerate().map(|(a, mu)| mu * ending(s, a)).sum() };
        let rate: f64 = (0..task.states()).map(|s| task.stationary()[s] * in_state(s)).sum();
        (rate > 0.0).then(|| 1.0 / rate)
    }

    /// The problem with a policy of any type.
    pub(crate) fn with_policy<'a>(&self, policy: &'a dyn Any) -> Result<Solvable<'a>, ComposeError> {
        let refuse = |message: &str| Err(ComposeError::Incompatible(message.to_owned()));
        match self {
            Self::Finite(task) => match (policy.downcast_ref(), policy.downcast_ref()) {
                (Some(policy), _) => Ok(Solvable::Softmax(task.clone(), policy)),
                (_, Some(policy)) => Ok(Solvable::Fixed(task.clone(), policy)),
                _ => refuse("this problem has finitely many actions: it needs a Softmax or a Fixed policy"),
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
            Solvable::Fixed(task, policy) => Box::new(ExactObjective::new(task, policy)?),
            Solvable::Gaussian(problem, policy) => Box::new(ExactObjective::new(problem, policy)?),
            Solvable::Deterministic(problem, policy) => Box::new(ExactObjective::new(problem, policy)?),
        })
    }

    /// v_π of policies of this form. A deterministic policy has values too, though no actor learns from them.
    pub(crate) fn exact_critic<R: Real>(&self, policy: &dyn Any) -> Result<Box<dyn Critic<R>>, ComposeError> {
        Ok(match self.with_policy(policy)? {
            Solvable::Softmax(task, policy) => Box::new(ExactCritic::new(task, policy)?),
            Solvable::Fixed(task, policy) => Box::new(ExactCritic::new(task, policy)?),
            Solvable::Gaussian(problem, policy) => Box::new(ExactCritic::new(problem, policy)?),
            Solvable::Deterministic(problem, policy) => Box::new(ExactCritic::new(problem, policy)?),
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
            Solvable::Fixed(task, policy) => {
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
