//! Deterministic policy gradients.

use super::{ActionOf, Actor, Learner, LearnerState, SeenBy, Update, common_to_learners};
use crate::critic::SlopeCritic;
use crate::emphasis::{Emphasis, RatioFree};
use crate::policy::DeterministicPolicy;
use crate::real::Real;
use crate::state::{RestoreError, SettingError, Stateful, check_len};
use crate::step::{Step, StepError};
use std::borrow::Borrow;

/// θ ← θ + α M_t ∂q(S_t,a)/∂a|_{a=π(S_t)} ∇π(S_t), in the states that the behaviour visits.
///
/// This is DPG without emphasis, True-DPGE with the exact one.
#[derive(Clone, Debug)]
pub struct DeterministicActorCritic<R: Real, P: DeterministicPolicy, C, E> {
    actor: Actor<R, P>,
    critic: C,
    emphasis: E,
}

impl<R, P, C, E> DeterministicActorCritic<R, P, C, E>
where
    R: Real,
    P: DeterministicPolicy,
    C: SlopeCritic<R, P>,
    E: Emphasis<R, P> + RatioFree,
{
    /// A learner whose policy starts from zero weights. α is divided by the number of active features.
    pub fn new(policy: P, critic: C, emphasis: E, alpha: R) -> Result<Self, SettingError> {
        let mut learner = Self { actor: Actor::new(policy, alpha)?, critic, emphasis };
        learner.follow(None);
        Ok(learner)
    }

    #[inline(always)]
    fn follow(&mut self, state: Option<&P::State>) {
        self.critic.follow(&self.actor.policy, &self.actor.weights, state);
        self.emphasis.follow(&self.actor.policy, &self.actor.weights, state);
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

    #[inline(always)]
    fn step<S: Borrow<SeenBy<Self>>>(
        &mut self,
        step: &Step<S, ActionOf<Self>>,
    ) -> Result<Update<R>, StepError> {
        let step = &step.view();
        let Self { actor, critic, emphasis } = self;
        critic.check_state(step.state)?;
        emphasis.check_state(step.state)?;
        actor.look(step)?;

        let slope = critic.slope(step.state, actor.policy.action(&actor.at));
        let emphasis = emphasis.weigh(step, R::one());
        let scale = actor.alpha * emphasis * slope;
        let changed = actor.policy.add_gradient(step.state, &actor.at, scale, &mut actor.weights);
        actor.watch.step(changed);
        self.follow(Some(step.state));
        Ok(Update { rho: R::one(), emphasis, delta: slope })
    }

    common_to_learners!();
}

impl<R, P, C, E> Stateful for DeterministicActorCritic<R, P, C, E>
where
    R: Real,
    P: DeterministicPolicy,
    C: SlopeCritic<R, P>,
    E: Emphasis<R, P> + RatioFree,
{
    type State = LearnerState<R, C::State, E::State>;

    fn state(&self) -> Self::State {
        self.actor.state(self.critic.state(), self.emphasis.state())
    }

    fn fits(&self, state: &Self::State) -> Result<(), RestoreError> {
        self.actor.fits(state)?;
        self.critic.fits(&state.critic)?;
        self.emphasis.fits(&state.emphasis)
    }

    fn put(&mut self, state: Self::State) {
        let (critic, emphasis) = self.actor.put(state);
        self.critic.put(critic);
        self.emphasis.put(emphasis);
        self.follow(None);
    }
}
