//! Deterministic policy gradients.

use super::{Composed, LearnerBuilder, Rule, Update};
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
pub type DeterministicActorCritic<R, P, C, E> = Composed<R, P, C, E, DeterministicAction>;

/// The actor follows ∂q/∂a: see [`DeterministicActorCritic`].
#[derive(Clone, Copy, Debug)]
pub struct DeterministicAction {
    emphasis_learns: bool,
}

impl<R, P, C, E> DeterministicActorCritic<R, P, C, E>
where
    R: Real,
    P: DeterministicPolicy,
    C: SlopeCritic<R>,
    E: Emphasis<R>,
{
    /// Builds a learner whose policy starts from zero weights. Its setting is `alpha`.
    pub fn builder(policy: P, critic: C, emphasis: E) -> LearnerBuilder<R, P, C, E, DeterministicAction> {
        LearnerBuilder::new(policy, critic, Ok(emphasis))
    }
}

impl<R, P, C, E> LearnerBuilder<R, P, C, E, DeterministicAction>
where
    R: Real,
    P: DeterministicPolicy,
    C: SlopeCritic<R>,
    E: Emphasis<R>,
{
    /// Builds the learner. Parts that do not go together, or a setting that is missing or out of its range, are an error.
    pub fn build(self) -> Result<DeterministicActorCritic<R, P, C, E>, ComposeError> {
        if self.emphasis.as_ref().is_ok_and(|emphasis| emphasis.needs_ratio()) {
            return Err(ComposeError::Ratio);
        }
        self.compose(|_, _, emphasis| DeterministicAction { emphasis_learns: emphasis.learns() })
    }
}

impl<R, P, C, E> Rule<R, P, C, E> for DeterministicAction
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
        report: Option<&mut Update<R>>,
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
        let scale = actor.step_size * weight * slope;
        let changed = actor.policy.add_gradient(x, &actor.at, scale, &mut actor.weights);
        let mut changed = changed + critic.learn(&seen, action);
        if rule.emphasis_learns {
            changed += emphasis.learn(&weighed, R::one());
        }
        if let Some(report) = report {
            *report = Update { rho: R::one(), emphasis: weight, delta: slope };
        }
        learner.finish_update(step.state, changed);
        Ok(())
    }

    fn probability(_policy: &P, _at: &P::Distribution<R>, _action: f64) -> Option<R> {
        None
    }
}
