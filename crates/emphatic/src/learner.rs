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

pub use actor_critic::{ActorCritic, Taken};
pub use all_actions::{All, AllActions};
pub use deterministic::{Deterministic, DeterministicActorCritic};
pub use named::{Ace, Dpg, OffPac, TrueAce, TrueDpge, ace, dpg, off_pac, true_ace, true_dpge};
pub use watch::Diverged;

use crate::action::{Action, Acts};
use crate::features::{AsState, FeatureError, Features, Scratch, State};
use crate::isa::{Isa, Kernel};
use crate::part::{ComposeError, Part, Slot};
use crate::policy::Policy;
use crate::random::Draw;
use crate::real::Real;
use crate::setting::{Range, not_finite};
use crate::step::{Step, StepError};
use crate::tensors::{StateError, Tensors, Visitor};
use std::any::Any;
use thiserror::Error;
use watch::Watch;

/// What one step did. All from the weights before the step's updates.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Update<R> {
    /// ρ_t; one where the target is deterministic and there is no ratio.
    pub rho: R,
    /// M_t.
    pub emphasis: R,
    /// What the critic said of the action: δ_t, the advantage of the action taken, or ∂q/∂a.
    pub delta: R,
}

/// Learns a policy from steps, one at a time; the caller drives the loop. `R` is the number type: `f64` for one learner,
/// `Lanes<N>` for `N`.
pub trait Learner<R: Real>: Send {
    /// Learns from one step. A step that makes no sense is refused and changes nothing.
    fn update(&mut self, step: &Step<State, Action>) -> Result<Update<R>, StepError>;

    /// Learns from one step, whatever form its states and its action have. Behind a pointer, where the type of a step cannot be
    /// left open, this is `learner.update(&step.view())`.
    #[inline(always)]
    fn step<S: AsState, A: Copy + Into<Action>>(&mut self, step: &Step<S, A>) -> Result<Update<R>, StepError>
    where
        Self: Sized,
    {
        self.update(&step.view())
    }

    /// Learns from many steps, compiled for an instruction set: [`Isa::best`] is the fastest. The results are
    /// those of [`Learner::update`], to the bit.
    ///
    /// A step that makes no sense ends it; what came before has been learned.
    fn learn(&mut self, isa: Isa, steps: &[Step<State, Action>]) -> Result<(), LearnError> {
        self.learn_watched(isa, steps, None)
    }

    /// Learns from many steps while somebody watches.
    fn learn_watched(
        &mut self,
        isa: Isa,
        steps: &[Step<State, Action>],
        watcher: Option<&mut dyn Watcher<R>>,
    ) -> Result<(), LearnError>;

    /// π(·|s) as it is now, as numbers: see [`Policy::numbers`].
    fn distribution(&self, state: State) -> Result<Vec<R>, FeatureError>;

    /// π(a|s) as it is now: the probability, or the density, of an action; `None` if the policy computes its action.
    fn probability(&self, state: State, action: Action) -> Result<Option<R>, StepError>;

    /// Draws an action, or computes it, as the learner in one lane would act.
    fn sample(&self, lane: usize, state: State, draw: &mut dyn Draw) -> Result<Action, StepError>;

    /// The form of the policy.
    fn policy(&self) -> &dyn Any;

    /// The policy's weights θ.
    fn weights(&self) -> &[R];

    /// Gives the policy these weights. (A learner that has diverged needs a new critic too.)
    fn set_weights(&mut self, weights: Vec<R>) -> Result<(), StateError>;

    /// The same learner with these weights for its policy.
    fn with_weights(mut self, weights: Vec<R>) -> Result<Self, StateError>
    where
        Self: Sized,
    {
        self.set_weights(weights).map(|()| self)
    }

    /// How many steps the learner has taken.
    fn steps(&self) -> u64;

    /// The number of the step (the first is 1) after which a lane's weights were no longer finite. From then on they are
    /// all NaN, the critic's too.
    fn diverged(&self, lane: usize) -> Option<u64>;

    /// An error if any lane has left the finite numbers.
    fn check(&self) -> Result<(), Diverged> {
        let first = (0..R::LANES).find_map(|lane| self.diverged(lane).map(|step| Diverged { lane, step }));
        first.map_or(Ok(()), Err)
    }

    /// Shows all numbers that change to a visitor.
    fn tensors(&mut self, visitor: &mut Visitor) -> Result<(), StateError>;

    /// Takes up that its numbers were replaced.
    fn restored(&mut self);

    /// A copy of the whole state. (It is not changed, but a visitor could.) An error if a part cannot show its numbers.
    fn state(&mut self) -> Result<Tensors, StateError> {
        let mut tensors = Tensors::default();
        self.tensors(&mut Visitor::save(&mut tensors))?;
        Ok(tensors)
    }

    /// Puts back a state, into a learner that was made with the same settings. What follows is, to the bit, what would have
    /// followed where it was taken. A state that does not fit changes nothing.
    fn restore(&mut self, state: &Tensors) -> Result<(), StateError> {
        let before = self.state()?;
        let mut visitor = Visitor::restore(state);
        let restored = self.tensors(&mut visitor).and_then(|()| visitor.check_all_taken());
        if restored.is_err() {
            // What was its own fits.
            let _ = self.tensors(&mut Visitor::restore(&before));
        }
        self.restored();
        restored
    }

    /// What the critic and the emphasis have learned in the first lane, by name.
    fn estimates(&mut self) -> Result<Vec<(String, Vec<f64>)>, StateError> {
        let mut list = Vec::new();
        self.tensors(&mut Visitor::list(&mut list))?;
        Ok(list)
    }
}

/// Watches a learner step by step.
pub trait Watcher<R: Real> {
    /// Sees a step before it is learned from.
    fn before(&mut self, step: &Step<State, Action>);

    /// Sees what a step did.
    fn after(&mut self, step: &Step<State, Action>, update: &Update<R>, learner: &dyn Learner<R>);
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

/// A policy, a critic and an emphasis, put together by the rule by which the actor learns.
#[derive(Clone, Debug)]
pub struct Composed<R: Real, P: Policy, C, E, K> {
    actor: Actor<R, P>,
    critic: Slot<C>,
    emphasis: Slot<E>,
    /// Every kind of features that a part looks at: a state is checked once, by all of them.
    features: Vec<Features>,
    /// How many states there are, if all parts know them by their numbers.
    states: Option<usize>,
    rule: K,
}

/// How the actor learns.
pub trait Rule<R: Real, P: Policy, C, E>: Send + Sized {
    /// Learns from one step, and tells what it did if somebody asks.
    fn update(
        learner: &mut Composed<R, P, C, E, Self>,
        step: &Step<State, Action>,
        told: Option<&mut Update<R>>,
    ) -> Result<(), StepError>;

    /// π(a|s); `None` if the policy computes its action.
    fn probability(policy: &P, at: &P::Distribution<R>, action: P::Action) -> Option<R>;

    /// Shows the numbers of its own that change.
    fn tensors(&mut self, _visitor: &mut Visitor) -> Result<(), StateError> {
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
    /// Room for the features of S_t and S_{t+1}.
    x: Scratch,
    x_next: Scratch,
    watch: Watch<R>,
}

impl<R: Real, P: Policy> Actor<R, P> {
    /// The form of the policy.
    pub fn policy(&self) -> &P {
        &self.policy
    }

    /// π(·|s) as it is now: for a softmax the probability of each action, for a Gaussian its mean and deviation, for a
    /// deterministic policy the action.
    pub fn distribution(&self, state: impl AsState) -> Result<P::Distribution<R>, FeatureError> {
        let state = state.as_state();
        self.policy.features().check(state)?;
        let mut at = self.policy.room();
        let mut scratch = Scratch::default();
        self.policy.distribution(&self.weights, self.policy.features().row(state, &mut scratch), &mut at);
        Ok(at)
    }
}

impl<R: Real, P: Policy, C: Part<R>, E: Part<R>, K> Composed<R, P, C, E, K> {
    /// With zero weights for the policy.
    fn compose(policy: P, mut critic: C, mut emphasis: E, alpha: R, rule: K) -> Result<Self, ComposeError> {
        Range::StepSize.check("alpha", alpha)?;
        if policy.len() > isize::MAX as usize / size_of::<R>() {
            return Err(ComposeError::TooMany(policy.len()));
        }
        critic.set_policy(policy.form())?;
        emphasis.set_policy(policy.form())?;
        let features = distinct(&policy, &critic, &emphasis);
        let alpha = alpha / R::splat(policy.features().most_active() as f64);
        let (weights, at) = (vec![R::zero(); policy.len()], policy.room());
        let (x, x_next) = (policy.features().scratch(), policy.features().scratch());
        let actor = Actor { policy, weights, alpha, at, x, x_next, watch: Watch::default() };
        let (critic, emphasis) = (Slot::new(critic), Slot::new(emphasis));
        let states = match &features[..] {
            [Features::Table(table)] => Some(table.states()),
            _ => None,
        };
        let mut learner = Self { actor, critic, emphasis, features, states, rule };
        learner.policy_changed(None);
        Ok(learner)
    }

    /// The actor: the policy with its weights.
    pub fn actor(&self) -> &Actor<R, P> {
        &self.actor
    }

    /// The critic.
    pub fn critic(&self) -> &C {
        &self.critic.part
    }

    /// The emphasis.
    pub fn emphasis(&self) -> &E {
        &self.emphasis.part
    }

    /// Refuses an action that is none of the policy's.
    #[inline(always)]
    fn check_action(&self, action: Action) -> Result<P::Action, StepError> {
        let action = P::Action::of(action).ok_or_else(|| other_action(action))?;
        self.actor.policy.check_action(action)?;
        Ok(action)
    }

    /// Refuses a step that makes no sense. Returns the action.
    #[inline(always)]
    fn check_step(&self, step: &Step<State, Action>) -> Result<P::Action, StepError> {
        step.check()?;
        let action = self.check_action(step.action)?;
        self.actor.policy.check_mu(step.mu)?;
        self.check_state(step.state)?;
        if step.gamma_next > 0.0 {
            self.check_state(step.next)?;
        }
        Ok(action)
    }

    #[inline(always)]
    fn check_state(&self, state: State) -> Result<(), FeatureError> {
        match (state, self.states) {
            (State::Number(state), Some(states)) if state < states => Ok(()),
            _ => self.features.iter().try_for_each(|features| features.check(state)),
        }
    }

    /// Takes up an update in a state, given the sum of [`Real::nan_unless_finite`] over all weights that it changed.
    #[inline(always)]
    fn updated(&mut self, state: State, changed: R) {
        if self.actor.watch.step(changed) {
            return self.give_up();
        }
        self.policy_changed(Some(state));
    }

    /// Lets all the weights of lanes that have just diverged be NaN. (Which of them a number that is not finite reaches next may
    /// depend on what the other lanes still trace.) What their traces are matters no more.
    #[cold]
    #[inline(never)]
    fn give_up(&mut self) {
        for lane in self.actor.watch.diverged_now() {
            for weight in &mut self.actor.weights {
                *weight = weight.with_lane(lane, f64::NAN);
            }
            // A part that cannot show its numbers keeps them; the policy's weights are NaN all the same.
            let _ = self.critic.part.tensors(&mut Visitor::give_up(lane));
            let _ = self.emphasis.part.tensors(&mut Visitor::give_up(lane));
        }
        self.policy_changed(None);
    }

    /// Lets the exact parts take up a change of the policy.
    #[inline(always)]
    fn policy_changed(&mut self, state: Option<State>) {
        self.critic.policy_changed(&self.actor.weights, state);
        self.emphasis.policy_changed(&self.actor.weights, state);
    }
}

impl<R: Real, P: Policy, C: Part<R>, E: Part<R>, K: Rule<R, P, C, E>> Composed<R, P, C, E, K> {
    /// One step, compiled for the plain instruction set.
    #[inline(never)] // One copy of so much code is enough.
    fn update_plainly(
        &mut self,
        step: &Step<State, Action>,
        told: Option<&mut Update<R>>,
    ) -> Result<(), StepError> {
        K::update(self, step, told)
    }
}

/// The features of all parts, each once.
fn distinct<R: Real, P: Policy>(policy: &P, critic: &impl Part<R>, emphasis: &impl Part<R>) -> Vec<Features> {
    let mut all = vec![policy.features()];
    critic.all_features(&mut all);
    emphasis.all_features(&mut all);
    let mut once: Vec<Features> = Vec::new();
    for features in all {
        // Tables of as many states refuse the same.
        let same = |known: &Features| match (known, features) {
            (Features::Table(known), Features::Table(table)) => known.states() == table.states(),
            _ => known == features,
        };
        if !once.iter().any(same) {
            once.push(features.clone());
        }
    }
    once
}

#[cold]
fn other_action(action: Action) -> StepError {
    match action {
        Action::Number(_) => StepError::ActionKind("the number of an action", "a real number"),
        Action::Real(_) => StepError::ActionKind("a real number", "the number of one of its actions"),
    }
}

/// Learns step by step. (A macro: a function would call the update, not inline it.)
macro_rules! each_step {
    ($learn:expr, |$learner:ident, $step:ident, $told:ident| $update:expr) => {{
        let Learn { learner: $learner, steps, mut watcher } = $learn;
        let mut update = Update::default();
        for (index, $step) in steps.iter().enumerate() {
            if let Some(watcher) = &mut watcher {
                watcher.before($step);
            }
            // Nobody else wants to know: what a step did is long in lanes.
            let $told = watcher.is_some().then_some(&mut update);
            $update.map_err(|source| LearnError { index, source })?;
            if let Some(watcher) = &mut watcher {
                watcher.after($step, &update, $learner);
            }
        }
        Ok(())
    }};
}

/// Many steps as one piece of work.
struct Learn<'a, 'b, R, L> {
    learner: &'a mut L,
    steps: &'a [Step<State<'a>, Action>],
    watcher: Option<&'a mut (dyn Watcher<R> + 'b)>,
}

impl<R, P, C, E, K> Kernel for Learn<'_, '_, R, Composed<R, P, C, E, K>>
where
    R: Real,
    P: Policy,
    C: Part<R>,
    E: Part<R>,
    K: Rule<R, P, C, E>,
{
    type Output = Result<(), LearnError>;

    #[inline(always)]
    fn run(self) -> Self::Output {
        each_step!(self, |learner, step, told| K::update(learner, step, told))
    }
}

impl<R, P, C, E, K> Learner<R> for Composed<R, P, C, E, K>
where
    R: Real,
    P: Policy,
    C: Part<R>,
    E: Part<R>,
    K: Rule<R, P, C, E>,
{
    fn update(&mut self, step: &Step<State, Action>) -> Result<Update<R>, StepError> {
        let mut update = Update::default();
        self.update_plainly(step, Some(&mut update)).map(|()| update)
    }

    #[inline(never)] // A whole step is inlined into it, once for each instruction set: that is enough code.
    fn learn_watched(
        &mut self,
        isa: Isa,
        steps: &[Step<State, Action>],
        watcher: Option<&mut dyn Watcher<R>>,
    ) -> Result<(), LearnError> {
        let learn = Learn { learner: self, steps, watcher };
        // One number at a time has no use for wide registers.
        if R::LANES == 1 {
            return learn.run();
        }
        // For the plain set there is `update` already: what stands in lanes is long to compile.
        isa.run_or(learn, |learn| each_step!(learn, |learner, step, told| learner.update_plainly(step, told)))
    }

    fn distribution(&self, state: State) -> Result<Vec<R>, FeatureError> {
        Ok(self.actor.policy.numbers(&self.actor.distribution(state)?))
    }

    fn probability(&self, state: State, action: Action) -> Result<Option<R>, StepError> {
        let action = self.check_action(action)?;
        let at = self.actor.distribution(state)?;
        Ok(K::probability(&self.actor.policy, &at, action))
    }

    fn sample(&self, lane: usize, state: State, draw: &mut dyn Draw) -> Result<Action, StepError> {
        let Actor { policy, .. } = &self.actor;
        let at = self.actor.distribution(state)?;
        if !policy.numbers(&at).iter().all(|number| number.lane(lane).is_finite()) {
            return Err(StepError::Acting);
        }
        Ok(policy.sample(&at, lane, draw).into())
    }

    fn policy(&self) -> &dyn Any {
        self.actor.policy.form()
    }

    fn weights(&self) -> &[R] {
        &self.actor.weights
    }

    fn set_weights(&mut self, weights: Vec<R>) -> Result<(), StateError> {
        let (got, right) = (weights.len(), self.actor.weights.len());
        if got != right {
            return Err(StateError::Weights { got, right });
        }
        if let Some((index, value)) = not_finite(&weights) {
            return Err(StateError::Weight { index, value });
        }
        self.actor.weights = weights;
        self.actor.watch.revive();
        self.policy_changed(None);
        Ok(())
    }

    fn steps(&self) -> u64 {
        self.actor.watch.steps
    }

    fn diverged(&self, lane: usize) -> Option<u64> {
        self.actor.watch.diverged(lane)
    }

    fn tensors(&mut self, visitor: &mut Visitor) -> Result<(), StateError> {
        visitor.weights("weights", self.actor.weights.iter_mut())?;
        visitor.counts("steps", std::slice::from_mut(&mut self.actor.watch.steps))?;
        visitor.counts_in_lanes("diverged", &mut self.actor.watch.diverged)?;
        visitor.part("critic", &mut self.critic.part)?;
        visitor.part("emphasis", &mut self.emphasis.part)?;
        self.rule.tensors(visitor)
    }

    fn restored(&mut self) {
        self.actor.watch.restored();
        self.policy_changed(None);
    }
}
