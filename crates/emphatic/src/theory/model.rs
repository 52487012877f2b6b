//! What the theory needs to know of a problem: its Bellman equations, d_μ, the interest, and the behaviour's transitions.

use super::elimination_order::EliminationOrder;
use crate::features::State;
use crate::policy::{Policy, not_finite};
use crate::problem::ProblemError;
use crate::real::{Real, Wide};
use std::sync::Arc;

/// Where a model writes the Bellman equation of one state.
#[derive(Debug)]
pub struct Bellman<'a, R> {
    /// P_{π,γ}(s, ·), one entry for each discounted successor of the state in ascending order.
    pub row: &'a mut [R],
    /// 1 − Σ_{s′} P_{π,γ}(s, s′), computed without subtracting: Σ_a π Σ P (1 − γ).
    pub leak: &'a mut R,
    /// r_π(s).
    pub reward: &'a mut R,
}

/// What the theory needs to know of a problem's states, whatever the policy.
pub trait ModelStates: Send + Sync {
    /// The order in which the states are eliminated.
    fn order(&self) -> &Arc<EliminationOrder>;

    /// d_μ.
    fn stationary(&self) -> &[f64];

    /// d_μ without underflow: a state may be visited more rarely than an `f64` can say.
    fn wide_stationary(&self) -> Vec<Wide> {
        self.stationary().iter().map(|d| Wide::new(*d)).collect()
    }

    /// i.
    fn interest(&self) -> &[f64];

    /// The names of the states.
    fn state_names(&self) -> &[String];
}

/// A problem whose Bellman equations can be written out for policies of the form `P`.
pub trait Model<P: Policy>: ModelStates {
    /// Checks that the policy can act in this problem.
    fn check(&self, _policy: &P) -> Result<(), ProblemError> {
        Ok(())
    }

    /// Writes the Bellman equation of a state, given the policy's distribution there.
    fn bellman<R: Real>(&self, policy: &P, at: &P::Distribution<R>, state: usize, out: Bellman<'_, R>);

    /// `gradient` ← `gradient` + `scale` Σ_a ∂π(s,a)/∂θ q(s,a), or ∂π(s)/∂θ ∂q/∂a for a deterministic policy.
    fn add_gradient<R: Real>(
        &self,
        policy: &P,
        at: &P::Distribution<R>,
        state: usize,
        values: &[R],
        scale: R,
        gradient: &mut [R],
    );
}

/// A transition out of a state under the behaviour, and the share of the follow-on trace that it passes on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OffPolicyTransition {
    /// The state it leads to.
    pub next: usize,
    /// The behaviour's probability of the action; zero if only the target takes it.
    pub behaviour: f64,
    /// The probability of the transition, given the action.
    pub probability: f64,
    /// ρ γ, or its mean; infinite if there is no ratio.
    pub passed: f64,
    /// 1 − ρ γ, computed without subtracting large numbers.
    pub lost: f64,
    /// The variance of ρ γ, where it is not the same every time.
    pub variance: f64,
}

/// A model that knows the ratios of policies of the form `P` to its behaviour.
pub trait OffPolicyModel<P: Policy>: Model<P> {
    /// The behaviour's transitions out of a state; also those that only the target takes, if they pass the trace on.
    fn off_policy_transitions(
        &self,
        policy: &P,
        at: &P::Distribution<f64>,
        state: usize,
    ) -> Vec<OffPolicyTransition>;
}

pub(super) fn check_len<P: Policy, R: Real>(policy: &P, weights: &[R]) -> Result<(), ProblemError> {
    let (got, right) = (weights.len(), policy.len());
    if got == right { Ok(()) } else { Err(ProblemError::Weights { got, right }) }
}

pub(super) fn check_weights<P: Policy, R: Real>(policy: &P, weights: &[R]) -> Result<(), ProblemError> {
    check_len(policy, weights)?;
    not_finite(weights).map_or(Ok(()), |(index, value)| Err(ProblemError::Weight { index, value }))
}

/// Checks that the policy can act in every state of the model.
pub(super) fn check_policy<P: Policy, M: Model<P>>(model: &M, policy: &P) -> Result<(), ProblemError> {
    model.check(policy)?;
    (0..model.order().states())
        .try_for_each(|s| policy.features().check(State::Number(s)))
        .map_err(Into::into)
}
