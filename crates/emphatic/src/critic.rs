//! Critics: how good was it?
//!
//! | kind | what it tells the actor | critics |
//! |---|---|---|
//! | [`Critic`] | δ_t, from v̂ | [`ExactCritic`], [`Gtd`] |
//! | [`ActionCritic`] | q̂(s,b) − v̂(s) for every action | [`ExactCritic`], [`ActionValues`], [`LearnedAdvantage`] |
//! | [`SlopeCritic`] | ∂q/∂a | [`ExactCritic`], [`Compatible`] |

mod action_values;
mod advantage;
mod compatible;
mod exact;
mod gradient_td;
mod gtd;

pub use action_values::ActionValues;
pub use advantage::LearnedAdvantage;
pub use compatible::{Compatible, CompatibleState};
pub use exact::ExactCritic;
pub use gradient_td::GradientTdState;
pub use gtd::Gtd;

use crate::part::{Part, StepOf};
use crate::policy::{DeterministicPolicy, FinitePolicy, Policy};
use crate::real::Real;

/// A critic that estimates v_π.
pub trait Critic<R: Real, P: Policy>: Part<R, P> {
    /// v̂(s).
    fn value(&mut self, state: &P::State) -> R;

    /// δ_t = R_{t+1} + γ_{t+1} v̂(S_{t+1}) − v̂(S_t), from the weights before this step's updates.
    #[inline(always)]
    fn delta(&mut self, step: &StepOf<P>) -> R {
        let mut target = R::splat(step.reward);
        if step.gamma_next > 0.0 {
            target += R::splat(step.gamma_next) * self.value(step.next);
        }
        target - self.value(step.state)
    }

    /// Learns from the step. Returns the sum of [`Real::nan_unless_finite`] over the weights it changed.
    fn learn(&mut self, step: &StepOf<P>, rho: R, delta: R) -> R;
}

/// A critic that compares actions.
pub trait ActionCritic<R: Real, P: FinitePolicy>: Part<R, P> {
    /// q̂(s,b) − v̂(s) for every action b, from the weights before this step's updates.
    fn advantages(&mut self, state: &P::State, out: &mut [R]);

    /// Learns from the step, given the policy's weights before its update. Returns the sum of
    /// [`Real::nan_unless_finite`] over the weights it changed.
    ///
    /// `room` is for the policy's distribution in another state, should the critic need it.
    fn learn(
        &mut self,
        step: &StepOf<P>,
        policy: &P,
        weights: &[R],
        room: &mut P::Distribution<R>,
        rho: R,
    ) -> R;
}

/// A critic that tells in which direction a real action improves.
pub trait SlopeCritic<R: Real, P: DeterministicPolicy>: Part<R, P> {
    /// ∂q(s,a)/∂a, from the weights before this step's updates.
    fn slope(&mut self, state: &P::State, action: R) -> R;

    /// Learns from the step, given π(S_t) before the policy's update. Returns the sum of [`Real::nan_unless_finite`]
    /// over the weights it changed.
    fn learn(&mut self, step: &StepOf<P>, action: R) -> R;
}
