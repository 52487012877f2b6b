//! The first branch of Algorithm 1: the actor learns from δ.

use super::{Composed, LearnerBuilder, Rule, Update};
use crate::action::Action;
use crate::critic::Critic;
use crate::emphasis::Emphasis;
use crate::features::State;
use crate::importance_ratio::importance_ratio;
use crate::part::ComposeError;
use crate::policy::StochasticPolicy;
use crate::real::Real;
use crate::step::{Step, StepError};

/// θ ← θ + α ρ_t M_t δ_t ∇ ln π(A_t|S_t).
///
/// This is OffPAC, ACE or True-ACE, depending on the emphasis. δ_t, ρ_t and M_t are computed from the weights before the
/// step's updates; then actor and critic learn from the same δ_t.
pub type ActorCritic<R, P, C, E> = Composed<R, P, C, E, TakenAction>;

/// The actor learns from the action taken: see [`ActorCritic`].
#[derive(Clone, Copy, Debug)]
pub struct TakenAction {
    emphasis_learns: bool,
}

impl<R: Real, P: StochasticPolicy, C: Critic<R>, E: Emphasis<R>> ActorCritic<R, P, C, E> {
    /// Builds a learner whose policy starts from zero weights. Its setting is `alpha`.
    pub fn builder(policy: P, critic: C, emphasis: E) -> LearnerBuilder<R, P, C, E, TakenAction> {
        LearnerBuilder::new(policy, critic, Ok(emphasis))
    }
}

impl<R: Real, P: StochasticPolicy, C: Critic<R>, E: Emphasis<R>> LearnerBuilder<R, P, C, E, TakenAction> {
    /// Builds the learner. Parts that do not go together, or a setting that is missing or out of its range, are an error.
    pub fn build(self) -> Result<ActorCritic<R, P, C, E>, ComposeError> {
        self.compose(|_, _, emphasis| TakenAction { emphasis_learns: emphasis.learns() })
    }
}

impl<R: Real, P: StochasticPolicy, C: Critic<R>, E: Emphasis<R>> Rule<R, P, C, E> for TakenAction {
    #[inline(always)]
    fn update(
        learner: &mut ActorCritic<R, P, C, E>,
        step: &Step<State, Action>,
        report: Option<&mut Update<R>>,
    ) -> Result<(), StepError> {
        let action = learner.check_step(step)?;
        let Composed { actor, critic, emphasis, rule, .. } = learner;
        let x = actor.policy.features().row(step.state, &mut actor.x);
        actor.policy.distribution(&actor.weights, x, &mut actor.at);
        let (critic, seen) = critic.see(step);
        let (emphasis, weighed) = emphasis.see(step);
        let rho = importance_ratio(actor.policy.probability(&actor.at, action), step.mu);
        let weight = emphasis.weigh(&weighed, rho);
        let [delta, critics] = critic.update(&seen, rho);
        let scale = actor.step_size * rho * weight * delta;
        let mut changed = actor.policy.add_score(x, &actor.at, action, scale, &mut actor.weights) + critics;
        if rule.emphasis_learns {
            changed += emphasis.learn(&weighed, rho);
        }
        if let Some(report) = report {
            *report = Update { rho, emphasis: weight, delta };
        }
        learner.finish_update(step.state, changed);
        Ok(())
    }

    fn probability(policy: &P, at: &P::Distribution<R>, action: P::Action) -> Option<R> {
        Some(policy.probability(at, action))
    }
}
