//! What critics and emphases have in common.

mod either;

pub use either::Either;

use crate::features::FeatureError;
use crate::policy::{FinitePolicy, Policy};
use crate::problem::ProblemError;
use crate::real::Real;
use crate::state::{SettingError, Stateful};
use crate::step::Step;
use thiserror::Error;

/// A step as a part of a learner sees it under the policy `P`.
pub type StepOf<'a, P> = Step<&'a <P as Policy>::State, <P as Policy>::Action>;

/// Parts that cannot be put together.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum ComposeError {
    /// A setting out of its range.
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// A policy that does not fit the problem.
    #[error(transparent)]
    Problem(#[from] ProblemError),
    /// More weights than any memory holds.
    #[error("the policy has {0} weights, more than any memory holds")]
    TooMany(usize),
    /// A critic for another number of actions.
    #[error("the critic is for {critic} actions; the policy has {policy}")]
    Actions {
        /// The critic's number of actions.
        critic: usize,
        /// The policy's.
        policy: usize,
    },
}

/// Whether a critic of actions has as many as the policy.
pub(crate) fn check_actions<P: FinitePolicy>(critic: usize, policy: &P) -> Result<(), ComposeError> {
    let policy = policy.actions();
    if critic == policy { Ok(()) } else { Err(ComposeError::Actions { critic, policy }) }
}

/// Makes the weights of a lane NaN.
pub(crate) fn set_nan<R: Real>(weights: &mut [R], lane: usize) {
    for weight in weights {
        *weight = weight.with_lane(lane, f64::NAN);
    }
}

/// A part of a learner beside its policy: a critic or an emphasis.
pub trait Part<R: Real, P: Policy>: Stateful {
    /// Whether the part can deal with this state; everything else may assume that it can.
    fn check_state(&self, state: &P::State) -> Result<(), FeatureError>;

    /// Makes the part ready for the policy it is to work with, or says why they do not go together. Called once, when a
    /// learner is put together.
    fn adopt(&mut self, _policy: &P) -> Result<(), ComposeError> {
        Ok(())
    }

    /// Takes up that the policy changed by an update in `state`, or altogether.
    #[inline(always)]
    fn follow(&mut self, _policy: &P, _weights: &[R], _state: Option<&P::State>) {}

    /// Takes up that the learner in a lane has diverged: its weights are NaN from now on, all of them. (Which of them a number
    /// that is not finite reaches next may depend on what the other lanes still trace.) What its traces are matters no more.
    fn give_up(&mut self, _lane: usize) {}
}
