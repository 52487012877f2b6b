//! Learners: a policy, a critic and an emphasis, put together.
//!
//! | learner | Algorithm 1 | the critic gives |
//! |---|---|---|
//! | [`ActorCritic`] | first branch | δ_t |
//! | [`AllActions`] | second branch | q̂(s,b) − v̂(s) |
//! | [`DeterministicActorCritic`] | DPG | ∂q/∂a |
//!
//! The paper's algorithms are names for compositions: [`off_pac`], [`ace`], [`true_ace`], [`dpg`], [`true_dpge`].

mod actor_critic;
mod all_actions;
mod deterministic;
mod named;
mod watch;

pub use actor_critic::ActorCritic;
pub use all_actions::AllActions;
pub use deterministic::DeterministicActorCritic;
pub use named::{Ace, Dpg, OffPac, TrueAce, TrueDpge, ace, dpg, off_pac, true_ace, true_dpge};
pub use watch::Diverged;

use crate::features::FeatureError;
use crate::isa::{Isa, Kernel};
use crate::part::{ComposeError, Part, StepOf, set_nan};
use crate::policy::Policy;
use crate::real::Real;
use crate::state::{InLanes, RestoreError, Stateful, check_len, check_step_size, not_finite};
use crate::step::{Step, StepError};
use serde::{Deserialize, Serialize};
use std::borrow::Borrow;
use thiserror::Error;
use watch::Watch;

/// The action type of a learner's policy.
pub type ActionOf<L> = <<L as Learner>::Policy as Policy>::Action;

/// What is seen of a state by a learner's policy.
pub type SeenBy<L> = <<L as Learner>::Policy as Policy>::State;

/// What one step did. All from the weights before the step's updates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Update<R> {
    /// ρ_t; one where the target is deterministic and there is no ratio.
    pub rho: R,
    /// M_t.
    pub emphasis: R,
    /// What the critic said of the action: δ_t, the advantage of the action taken, or ∂q/∂a.
    pub delta: R,
}

/// Learns a policy from steps, one at a time; the caller drives the loop.
pub trait Learner: Stateful + Sized {
    /// The number type: `f64` for one learner, `Lanes<N>` for `N`.
    type Number: Real;

    /// The form of the policy.
    type Policy: Policy;

    /// The critic's type.
    type Critic;

    /// Learns from one step. A step that makes no sense is refused and changes nothing.
    fn step<S: Borrow<SeenBy<Self>>>(
        &mut self,
        step: &Step<S, ActionOf<Self>>,
    ) -> Result<Update<Self::Number>, StepError>;

    /// The actor: the policy with its weights.
    fn actor(&self) -> &Actor<Self::Number, Self::Policy>;

    /// The critic.
    fn critic(&self) -> &Self::Critic;

    /// The same learner with these weights for its policy instead of zero. (One that has diverged needs a new critic too.)
    fn with_weights(self, weights: Vec<Self::Number>) -> Result<Self, RestoreError>;

    /// The policy's weights θ.
    fn weights(&self) -> &[Self::Number] {
        &self.actor().weights
    }

    /// How many steps the learner has taken.
    fn steps(&self) -> u64 {
        self.actor().watch.steps
    }

    /// The number of the step (the first is 1) after which a lane's weights were no longer finite. From then on they are
    /// all NaN, the critic's too.
    fn diverged(&self, lane: usize) -> Option<u64> {
        self.actor().watch.diverged.get(lane).copied().flatten()
    }

    /// An error if any lane has left the finite numbers.
    fn check(&self) -> Result<(), Diverged> {
        self.actor().watch.check()
    }

    /// Learns from many steps, compiled for an instruction set: [`Isa::best`] is the fastest. The results are
    /// those of [`Learner::step`], to the bit.
    ///
    /// A step that makes no sense ends it; what came before has been learned.
    #[inline(never)] // A whole step is inlined into it, once for each instruction set: that is enough code.
    fn learn<S: Borrow<SeenBy<Self>>>(
        &mut self,
        isa: Isa,
        steps: &[Step<S, ActionOf<Self>>],
    ) -> Result<(), LearnError> {
        isa.run(Learn { learner: self, steps })
    }
}

/// A step in a list that no learner can learn from.
#[derive(Clone, Debug, PartialEq, Error)]
#[error("step {index} of the list (the first is 0): {source}")]
pub struct LearnError {
    /// Its place in the list.
    pub index: usize,
    /// What is wrong with it.
    pub source: StepError,
}

/// Many steps as one piece of work.
struct Learn<'a, L: Learner, S> {
    learner: &'a mut L,
    steps: &'a [Step<S, ActionOf<L>>],
}

impl<L: Learner, S: Borrow<SeenBy<L>>> Kernel for Learn<'_, L, S> {
    type Output = Result<(), LearnError>;

    #[inline(always)]
    fn run(self) -> Self::Output {
        for (index, step) in self.steps.iter().enumerate() {
            self.learner.step(step).map_err(|source| LearnError { index, source })?;
        }
        Ok(())
    }
}

/// The part that acts: a policy with its weights and its step-size.
#[derive(Clone, Debug)]
pub struct Actor<R: Real, P: Policy> {
    policy: P,
    weights: Vec<R>,
    /// α, divided by the number of active features.
    alpha: R,
    /// π(·|S_t).
    at: P::Distribution<R>,
    watch: Watch<R>,
}

impl<R: Real, P: Policy> Actor<R, P> {
    /// The form of the policy.
    pub fn policy(&self) -> &P {
        &self.policy
    }

    /// π(·|s) as it is now: for a softmax the probability of each action, for a Gaussian its mean and deviation, for a
    /// deterministic policy the action.
    pub fn distribution(&self, state: &P::State) -> Result<P::Distribution<R>, FeatureError> {
        self.policy.check_state(state)?;
        let mut at = self.policy.room();
        self.policy.distribution(&self.weights, state, &mut at);
        Ok(at)
    }
}

/// The three parts of every learner.
#[derive(Clone, Debug)]
struct Parts<R: Real, P: Policy, C, E> {
    actor: Actor<R, P>,
    critic: C,
    emphasis: E,
}

impl<R: Real, P: Policy, C: Part<R, P>, E: Part<R, P>> Parts<R, P, C, E> {
    /// With zero weights for the policy.
    fn new(policy: P, mut critic: C, mut emphasis: E, alpha: R) -> Result<Self, ComposeError> {
        check_step_size("alpha", alpha)?;
        if policy.len() > isize::MAX as usize / size_of::<R>() {
            return Err(ComposeError::TooMany(policy.len()));
        }
        critic.adopt(&policy)?;
        emphasis.adopt(&policy)?;
        let alpha = alpha / R::splat(policy.most_active() as f64);
        let (weights, at) = (vec![R::zero(); policy.len()], policy.room());
        let actor = Actor { policy, weights, alpha, at, watch: Watch::default() };
        let mut parts = Self { actor, critic, emphasis };
        parts.follow(None);
        Ok(parts)
    }

    fn set_weights(&mut self, weights: Vec<R>) -> Result<(), RestoreError> {
        check_len("weights", weights.len(), self.actor.weights.len())?;
        if let Some((index, value)) = not_finite(&weights) {
            return Err(RestoreError::Weight { index, value });
        }
        self.actor.weights = weights;
        self.actor.watch.put(self.actor.watch.steps, vec![None; R::LANES]);
        self.follow(None);
        Ok(())
    }

    /// Refuses a step that makes no sense; otherwise looks at π(·|S_t).
    #[inline(always)]
    fn look(&mut self, step: &StepOf<P>) -> Result<(), StepError> {
        let Self { actor, critic, emphasis } = self;
        step.check()?;
        actor.policy.check_action(step.action)?;
        actor.policy.check_mu(step.mu)?;
        actor.policy.check_state(step.state)?;
        critic.check_state(step.state)?;
        emphasis.check_state(step.state)?;
        if step.gamma_next > 0.0 {
            actor.policy.check_state(step.next)?;
            critic.check_state(step.next)?;
        }
        actor.policy.distribution(&actor.weights, step.state, &mut actor.at);
        Ok(())
    }

    /// Takes up an update in a state, given the sum of [`Real::nan_unless_finite`] over all weights that it changed.
    #[inline(always)]
    fn updated(&mut self, state: &P::State, changed: R) {
        if self.actor.watch.step(changed) {
            return self.give_up();
        }
        self.follow(Some(state));
    }

    /// Lets all the weights of lanes that have just diverged be NaN.
    #[cold]
    #[inline(never)]
    fn give_up(&mut self) {
        for lane in self.actor.watch.diverged_now() {
            set_nan(&mut self.actor.weights, lane);
            self.critic.give_up(lane);
            self.emphasis.give_up(lane);
        }
        self.follow(None);
    }

    /// Lets the exact parts take up a change of the policy.
    #[inline(always)]
    fn follow(&mut self, state: Option<&P::State>) {
        self.critic.follow(&self.actor.policy, &self.actor.weights, state);
        self.emphasis.follow(&self.actor.policy, &self.actor.weights, state);
    }
}

/// The whole state of a learner: plain data. See [`Stateful`] for how to save it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(
    bound = "R: Real, C: Serialize + serde::de::DeserializeOwned, E: Serialize + serde::de::DeserializeOwned"
)]
pub struct LearnerState<R, C, E> {
    weights: Vec<R>,
    steps: u64,
    diverged: Vec<Option<u64>>,
    critic: C,
    emphasis: E,
}

impl<R: Real, C: InLanes, E: InLanes> InLanes for LearnerState<R, C, E> {
    type One = LearnerState<f64, C::One, E::One>;

    fn lane(&self, lane: usize) -> Self::One {
        LearnerState {
            weights: self.weights.lane(lane),
            steps: self.steps,
            diverged: vec![self.diverged[lane]],
            critic: self.critic.lane(lane),
            emphasis: self.emphasis.lane(lane),
        }
    }
}

impl<R: Real, P: Policy, C: Part<R, P>, E: Part<R, P>> Stateful for Parts<R, P, C, E> {
    type State = LearnerState<R, C::State, E::State>;

    fn state(&self) -> Self::State {
        LearnerState {
            weights: self.actor.weights.clone(),
            steps: self.actor.watch.steps,
            diverged: self.actor.watch.diverged.clone(),
            critic: self.critic.state(),
            emphasis: self.emphasis.state(),
        }
    }

    fn fits(&self, state: &Self::State) -> Result<(), RestoreError> {
        check_len("weights", state.weights.len(), self.actor.weights.len())?;
        check_len("lanes", state.diverged.len(), R::LANES)?;
        self.critic.fits(&state.critic)?;
        self.emphasis.fits(&state.emphasis)
    }

    fn put(&mut self, state: Self::State) {
        self.actor.weights = state.weights;
        self.actor.watch.put(state.steps, state.diverged);
        self.critic.put(state.critic);
        self.emphasis.put(state.emphasis);
        self.follow(None);
    }
}

/// A learner that is its three parts and nothing else has their state.
macro_rules! state_of_parts {
    () => {
        fn state(&self) -> Self::State {
            self.0.state()
        }

        fn fits(&self, state: &Self::State) -> Result<(), RestoreError> {
            self.0.fits(state)
        }

        fn put(&mut self, state: Self::State) {
            self.0.put(state);
        }
    };
}
use state_of_parts;
