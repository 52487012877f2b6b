//! Deterministic policy gradients.

use super::{Composed, Rule, RuleInput, RuleSetup, unless_waiting};
use crate::{ComposeError, DeterministicPolicy, Real, SlopeCritic};

/// θ ← θ + α M_t ∂q(S_t,a)/∂a|_{a=π(S_t)} ∇π(S_t), in the states that the behaviour visits.
///
/// This is DPG without emphasis, True-DPGE with the exact one. The critic learns from the actions that the behaviour takes;
/// an action-value needs no ratio for that.
pub type DeterministicActorCritic<R, P, C, E> = Composed<R, P, C, E, DeterministicAction>;

/// The actor follows ∂q/∂a: see [`DeterministicActorCritic`].
#[derive(Clone, Copy, Debug)]
pub struct DeterministicAction;

impl<R: Real, P: DeterministicPolicy, C: SlopeCritic<R>> Rule<R, P, C> for DeterministicAction {
    const HAS_RATIO: bool = false;

    fn new(_policy: &P, _critic: &C, _setup: RuleSetup<R>) -> Result<Self, ComposeError> {
        Ok(Self)
    }

    #[inline(always)]
    fn probability(_policy: &P, _at: &P::Distribution<R>, _action: f64) -> Option<R> {
        None
    }

    #[inline(always)]
    fn learn(&mut self, input: RuleInput<R, P>, critic: &mut C) -> [R; 2] {
        let RuleInput { policy, weights, step_size, x, at, step, emphasis, .. } = input;
        let action = policy.action(at);
        let slope = critic.slope(&step, action);
        let scale = unless_waiting(step_size, step_size * emphasis * slope);
        let changed = policy.add_gradient(x, at, scale, weights);
        [slope, changed + critic.learn(&step, action)]
    }
}
