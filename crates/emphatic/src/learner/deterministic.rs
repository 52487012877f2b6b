//! Deterministic policy gradients.

use super::{Composed, Rule, Update};
use crate::action::Action;
use crate::critic::SlopeCritic;
use crate::emphasis::Emphasis;
use crate::features::State;
use crate::part::ComposeError;
use crate::policy::DeterministicPolicy;
use crate::real::Real;
use crate::step::{Step, StepError};

/// θ ← θ + α M_t ∂q(S_t,a)/∂a|_{a=π(S_t)} ∇π(S_t), in the states that the behaviour visits.
///
/// This is DPG without emphasis, True-DPGE with the exact one. The critic learns from the actions that the behaviour takes;
/// an action-value needs no ratio for that.
pub type DeterministicActorCritic<R, P, C, E> = Composed<R, P, C, E, Deterministic>;

/// The actor follows ∂q/∂a: see [`DeterministicActorCritic`].
#[derive(Clone, Copy, Debug)]
pub struct Deterministic {
    emphasis_learns: bool,
}

impl<R, P, C, E> DeterministicActorCritic<R, P, C, E>
where
    R: Real,
    P: DeterministicPolicy,
    C: SlopeCritic<R>,
    E: Emphasis<R>,
{
    /// A learner whose policy starts from zero weights. α is divided by the number of active features.
    pub fn new(policy: P, critic: C, emphasis: E, alpha: R) -> Result<Self, ComposeError> {
        if emphasis.needs_ratio() {
            return Err(ComposeError::Ratio);
        }
        let rule = Deterministic { emphasis_learns: emphasis.learns() };
        Self::compose(policy, critic, emphasis, alpha, rule)
    }
}

impl<R, P, C, E> Rule<R, P, C, E> for Deterministic
where
    R: Real,
    P: DeterministicPolicy,
    C: SlopeCritic<R>,
    E: Emphasis<R>,
{
    #[inline(always)]
    fn update(
        learner: &mut DeterministicActorCritic<R, P, C, E>,
        step: &Step<State, Action>,
        told: Option<&mut Update<R>>,
    ) -> Result<(), StepError> {
        learner.check_step(step)?;
        let Composed { actor, critic, emphasis, rule, .. } = learner;
        let x = actor.policy.features().row(step.state, &mut actor.x);
        actor.policy.distribution(&actor.weights, x, &mut actor.at);
        let (critic, seen) = critic.see(step);
        let (emphasis, weighed) = emphasis.see(step);
        let action = actor.policy.action(&actor.at);
        let slope = critic.slope(&seen, action);
        let weight = emphasis.weigh(&weighed, R::one());
        let scale = actor.alpha * weight * slope;
        let changed = actor.policy.add_gradient(x, &actor.at, scale, &mut actor.weights);
        let mut changed = changed + critic.learn(&seen, action);
        if rule.emphasis_learns {
            changed += emphasis.learn(&weighed, R::one());
        }
        if let Some(told) = told {
            *told = Update { rho: R::one(), emphasis: weight, delta: slope };
        }
        learner.updated(step.state, changed);
        Ok(())
    }

    fn probability(_policy: &P, _at: &P::Distribution<R>, _action: f64) -> Option<R> {
        None
    }
}
