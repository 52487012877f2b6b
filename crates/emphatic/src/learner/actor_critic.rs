//! The first branch of Algorithm 1: the actor learns from δ.

use super::{ActionOf, Actor, Learner, LearnerState, SeenBy, Update, common_to_learners};
use crate::critic::Critic;
use crate::emphasis::Emphasis;
use crate::policy::StochasticPolicy;
use crate::real::Real;
use crate::state::{RestoreError, SettingError, Stateful, check_len};
use crate::step::{Step, StepError};
use std::borrow::Borrow;

/// θ ← θ + α ρ_t M_t δ_t ∇ ln π(A_t|S_t).
///
/// This is OffPAC, ACE or True-ACE, depending on the emphasis. δ_t, ρ_t and M_t are computed from the weights before the
/// step's updates; then actor and critic learn from the same δ_t.
#[derive(Clone, Debug)]
pub struct ActorCritic<R: Real, P: StochasticPolicy, C, E> {
    actor: Actor<R, P>,
    critic: C,
    emphasis: E,
}

impl<R: Real, P: StochasticPolicy, C: Critic<R, P>, E: Emphasis<R, P>> ActorCritic<R, P, C, E> {
    /// A learner whose policy starts from zero weights. α is divided by the number of active features.
    pub fn new(policy: P, critic: C, emphasis: E, alpha: R) -> Result<Self, SettingError> {
        let mut learner = Self { actor: Actor::new(policy, alpha)?, critic, emphasis };
        learner.follow(None);
        Ok(learner)
    }

    /// The critic.
    pub fn critic(&self) -> &C {
        &self.critic
    }

    /// Lets the exact parts take up a change of the policy.
    #[inline(always)]
    fn follow(&mut self, state: Option<&P::State>) {
        self.critic.follow(&self.actor.policy, &self.actor.weights, state);
        self.emphasis.follow(&self.actor.policy, &self.actor.weights, state);
    }
}

impl<R: Real, P: StochasticPolicy, C: Critic<R, P>, E: Emphasis<R, P>> Learner for ActorCritic<R, P, C, E> {
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
        if step.gamma_next > 0.0 {
            critic.check_state(step.next)?;
        }
        actor.look(step)?;

        let rho = actor.policy.probability(&actor.at, step.action) * R::splat(1.0 / step.mu);
        let delta = critic.delta(step);
        let emphasis = emphasis.weigh(step, rho);
        let scale = actor.alpha * rho * emphasis * delta;
        let changed = actor.policy.add_score(step.state, &actor.at, step.action, scale, &mut actor.weights);
        let changed = changed + critic.learn(step, rho, delta);
        actor.watch.step(changed);
        self.follow(Some(step.state));
        Ok(Update { rho, emphasis, delta })
    }

    common_to_learners!();
}

impl<R: Real, P: StochasticPolicy, C: Critic<R, P>, E: Emphasis<R, P>> Stateful for ActorCritic<R, P, C, E> {
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
