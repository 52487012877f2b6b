//! Deterministic policy gradients.

use super::{ActionOf, Actor, Learner, LearnerState, Parts, SeenBy, Update, state_of_parts};
use crate::critic::SlopeCritic;
use crate::emphasis::{Emphasis, RatioFree};
use crate::part::ComposeError;
use crate::policy::DeterministicPolicy;
use crate::real::Real;
use crate::state::{RestoreError, Stateful};
use crate::step::{Step, StepError};
use std::borrow::Borrow;

/// θ ← θ + α M_t ∂q(S_t,a)/∂a|_{a=π(S_t)} ∇π(S_t), in the states that the behaviour visits.
///
/// This is DPG without emphasis, True-DPGE with the exact one. The critic learns from the actions that the behaviour takes;
/// an action-value needs no ratio for that.
#[derive(Clone, Debug)]
pub struct DeterministicActorCritic<R: Real, P: DeterministicPolicy, C, E>(Parts<R, P, C, E>);

impl<R, P, C, E> DeterministicActorCritic<R, P, C, E>
where
    R: Real,
    P: DeterministicPolicy,
    C: SlopeCritic<R, P>,
    E: Emphasis<R, P> + RatioFree,
{
    /// A learner whose policy starts from zero weights. α is divided by the number of active features.
    pub fn new(policy: P, critic: C, emphasis: E, alpha: R) -> Result<Self, ComposeError> {
        Parts::new(policy, critic, emphasis, alpha).map(Self)
    }
}

impl<R, P, C, E> Learner for DeterministicActorCritic<R, P, C, E>
where
    R: Real,
    P: DeterministicPolicy,
    C: SlopeCritic<R, P>,
    E: Emphasis<R, P> + RatioFree,
{
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
        let action = actor.policy.action(&actor.at);
        let slope = critic.slope(step.state, action);
        let emphasis = emphasis.weigh(step, R::one());
        let scale = actor.alpha * emphasis * slope;
        let changed = actor.policy.add_gradient(step.state, &actor.at, scale, &mut actor.weights);
        let changed = changed + critic.learn(step, action);
        self.0.updated(step.state, changed);
        Ok(Update { rho: R::one(), emphasis, delta: slope })
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

impl<R, P, C, E> Stateful for DeterministicActorCritic<R, P, C, E>
where
    R: Real,
    P: DeterministicPolicy,
    C: SlopeCritic<R, P>,
    E: Emphasis<R, P> + RatioFree,
{
    type State = LearnerState<R, C::State, E::State>;

    state_of_parts!();
}
