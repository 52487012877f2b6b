//! The first branch of Algorithm 1: the actor learns from δ.

use super::{ActionOf, Actor, Learner, LearnerState, Parts, SeenBy, Update, state_of_parts};
use crate::critic::Critic;
use crate::emphasis::Emphasis;
use crate::part::ComposeError;
use crate::policy::StochasticPolicy;
use crate::real::Real;
use crate::state::{RestoreError, Stateful};
use crate::step::{Step, StepError};
use std::borrow::Borrow;

/// θ ← θ + α ρ_t M_t δ_t ∇ ln π(A_t|S_t).
///
/// This is OffPAC, ACE or True-ACE, depending on the emphasis. δ_t, ρ_t and M_t are computed from the weights before the
/// step's updates; then actor and critic learn from the same δ_t.
#[derive(Clone, Debug)]
pub struct ActorCritic<R: Real, P: StochasticPolicy, C, E>(Parts<R, P, C, E>);

impl<R: Real, P: StochasticPolicy, C: Critic<R, P>, E: Emphasis<R, P>> ActorCritic<R, P, C, E> {
    /// A learner whose policy starts from zero weights. α is divided by the number of active features.
    pub fn new(policy: P, critic: C, emphasis: E, alpha: R) -> Result<Self, ComposeError> {
        Parts::new(policy, critic, emphasis, alpha).map(Self)
    }
}

impl<R: Real, P: StochasticPolicy, C: Critic<R, P>, E: Emphasis<R, P>> Learner for ActorCritic<R, P, C, E> {
    type Number = R;
    type Policy = P;
    type Critic = C;

    #[inline(always)]
    fn step<S: Borrow<SeenBy<Self>>>(
        &mut self,
        step: &Step<S, ActionOf<Self>>,
    ) -> Result<Update<R>, StepError> {
        let step = &step.view();
        self.0.look(step)?;
        let Parts { actor, critic, emphasis } = &mut self.0;
        let rho = actor.policy.probability(&actor.at, step.action) * R::splat(1.0 / step.mu);
        let delta = critic.delta(step);
        let emphasis = emphasis.weigh(step, rho);
        let scale = actor.alpha * rho * emphasis * delta;
        let changed = actor.policy.add_score(step.state, &actor.at, step.action, scale, &mut actor.weights);
        let changed = changed + critic.learn(step, rho, delta);
        self.0.updated(step.state, changed);
        Ok(Update { rho, emphasis, delta })
    }

    fn actor(&self) -> &Actor<R, P> {
        &self.0.actor
    }

    fn critic(&self) -> &C {
        &self.0.critic
    }

    fn with_weights(mut self, weights: Vec<R>) -> Result<Self, RestoreError> {
        self.0.set_weights(weights).map(|()| self)
    }
}

impl<R: Real, P: StochasticPolicy, C: Critic<R, P>, E: Emphasis<R, P>> Stateful for ActorCritic<R, P, C, E> {
    type State = LearnerState<R, C::State, E::State>;

    state_of_parts!();
}
