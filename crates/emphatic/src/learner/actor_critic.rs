//! The first branch of Algorithm 1: the actor learns from δ.

use super::{Composed, Rule, RuleInput, RuleSetup, unless_waiting};
use crate::{ComposeError, Critic, Real, Seen, StochasticPolicy};

/// θ ← θ + α ρ_t M_t δ_t ∇ ln π(A_t|S_t).
///
/// This is OffPAC, ACE or True-ACE, depending on the emphasis. δ_t, ρ_t and M_t are computed from the weights before the
/// step's updates; then actor and critic learn from the same δ_t.
pub type ActorCritic<R, P, C, E> = Composed<R, P, C, E, TakenAction>;

/// The actor learns from the action taken: see [`ActorCritic`].
#[derive(Clone, Copy, Debug)]
pub struct TakenAction;

impl<R: Real, P: StochasticPolicy, C: Critic<R>> Rule<R, P, C> for TakenAction {
    fn new(_policy: &P, _critic: &C, _setup: RuleSetup<R>) -> Result<Self, ComposeError> {
        Ok(Self)
    }

    #[inline(always)]
    fn probability(policy: &P, at: &P::Distribution<R>, action: P::Action) -> Option<R> {
        Some(policy.probability(at, action))
    }

    fn value(_policy: &P, _at: &P::Distribution<R>, critic: &mut C, step: &Seen) -> Option<R> {
        Some(critic.value(step))
    }

    #[inline(always)]
    fn learn(&mut self, input: RuleInput<R, P>, critic: &mut C) -> [R; 2] {
        let RuleInput { policy, weights, step_size, x, at, action, step, rho, emphasis } = input;
        let [delta, changed] = critic.update(&step, rho);
        let scale = unless_waiting(step_size, step_size * rho * emphasis * delta);
        [delta, policy.add_score(x, at, action, scale, weights) + changed]
    }
}
