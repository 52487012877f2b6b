//! What critics and emphases have in common.

use crate::features::FeatureError;
use crate::policy::Policy;
use crate::real::Real;
use crate::state::Stateful;
use crate::step::Step;

/// A step as a part of a learner sees it under the policy `P`.
pub type StepOf<'a, P> = Step<&'a <P as Policy>::State, <P as Policy>::Action>;

/// A part of a learner beside its policy: a critic or an emphasis.
pub trait Part<R: Real, P: Policy>: Stateful {
    /// Whether the part can deal with this state; everything else may assume that it can.
    fn check_state(&self, state: &P::State) -> Result<(), FeatureError>;

    /// Takes up that the policy changed by an update in `state`, or altogether.
    #[inline(always)]
    fn follow(&mut self, _policy: &P, _weights: &[R], _state: Option<&P::State>) {}
}
