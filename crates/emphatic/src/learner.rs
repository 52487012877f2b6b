//! Learners: a policy, a critic and an emphasis, composed.
//!
//! | learner | Algorithm 1 | the critic's signal |
//! |---|---|---|
//! | [`ActorCritic`] | first branch | δ_t |
//! | [`AllActions`] | second branch | q̂(s,b) − v̂(s) |
//! | [`DeterministicActorCritic`] | DPG | ∂q/∂a |
//! | [`WithActor`], [`WithActionsActor`] | another [actor](crate::actor) | δ_t, or q̂(s,b) − v̂(s) |
//!
//! The paper's algorithms are names for compositions: [`off_pac`], [`ace`], [`true_ace`], [`dpg`], [`true_dpge`].

mod actor_critic;
mod algorithms;
mod all_actions;
mod builder;
mod by_actor;
mod deterministic;
mod divergence;
mod effective_sample;
mod warm_up;

pub use actor_critic::{ActorCritic, TakenAction};
pub use algorithms::{
    Ace, Dpg, FollowOnAce, OffPac, TrueAce, TrueDpge, ace, dpg, follow_on_ace, off_pac, true_ace, true_dpge,
};
pub use all_actions::{AllActions, EveryAction};
pub use builder::{ALPHA, LearnerBuilder, RuleSetup};
pub use by_actor::{ByActor, WithActionsActor, WithActor};
pub use deterministic::{DeterministicAction, DeterministicActorCritic};
pub use divergence::Diverged;
pub use effective_sample::{effective_share, uneven_emphasis};
pub use warm_up::{TimeUnit, WARM_UP};

use crate::boxed::forward;
use crate::importance_ratio::importance_ratio;
use crate::part::CachedPart;
use crate::policy::not_finite;
use crate::{
    Action, Acts, AsState, ComposeError, Draw, Emphasis, FeatureError, Features, Isa, Part, Policy, Real,
    Row, SavedState, Scratch, Seen, State, StateError, Step, StepError, Visitor,
};
use divergence::Divergence;
use effective_sample::EffectiveSample;
use std::any::{Any, type_name};
use thiserror::Error;
use warm_up::WarmUp;

/// The numbers of one update, all from the weights before it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Update<R> {
    /// ρ_t; one where the target is deterministic and there is no ratio.
    pub rho: R,
    /// M_t.
    pub emphasis: R,
    /// The critic's signal: δ_t, the advantage of the action taken, or ∂q/∂a.
    pub delta: R,
}

/// Learns a policy from steps, one at a time; the caller drives the loop. `R` is the number type: `f64` for one learner,
/// `Lanes<N>` for `N`.
pub trait Learner<R: Real>: Send {
    /// Learns from one step. An invalid step is refused and changes nothing.
    fn update(&mut self, step: &Step<State, Action>) -> Result<Update<R>, StepError>;

    /// Learns from one step, whatever form its states and its action have.
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
    /// An invalid step is an error; the steps before it have been learned.
    fn learn(&mut self, isa: Isa, steps: &[Step<State, Action>]) -> Result<(), LearnError> {
        self.learn_watched(isa, steps, None)
    }

    /// Learns from many steps, and shows each of them to a watcher.
    fn learn_watched(
        &mut self,
        isa: Isa,
        steps: &[Step<State, Action>],
        watcher: Option<&mut dyn Watcher<R>>,
    ) -> Result<(), LearnError>;

    /// Returns the present π(·|s) as numbers: see [`Policy::numbers`].
    fn distribution(&self, state: State) -> Result<Vec<R>, FeatureError>;

    /// Returns the present π(a|s), the probability or the density of an action; `None` if the policy computes its action.
    fn probability(&self, state: State, action: Action) -> Result<Option<R>, StepError>;

    /// Draws an action, or computes it, as the learner in one lane would act.
    fn sample(&self, lane: usize, state: State, draw: &mut dyn Draw) -> Result<Action, StepError>;

    /// Returns the critic's present v̂(s); `None` if it estimates no values, or the state has no features. (The learner is not changed, but
    /// room for features is used.)
    fn value(&mut self, state: State) -> Option<R>;

    /// The form of the policy.
    fn policy(&self) -> &dyn Any;

    /// The policy's weights θ.
    fn weights(&self) -> &[R];

    /// Replaces the policy's weights. (A learner that has diverged needs a new critic too.)
    fn set_weights(&mut self, weights: Vec<R>) -> Result<(), StateError>;

    /// The same learner with these weights for its policy.
    fn with_weights(mut self, weights: Vec<R>) -> Result<Self, StateError>
    where
        Self: Sized,
    {
        self.set_weights(weights).map(|()| self)
    }

    /// The number of steps that the learner has learned from.
    fn steps(&self) -> u64;

    /// Returns the number of the step (the first is 1) after which a lane's weights were no longer finite; `None` if they are.
    /// From that step on they are all NaN, the critic's too.
    fn diverged(&self, lane: usize) -> Option<u64>;

    /// Returns how many of the steps at which the actor learned the updates count like, as a share of them: (Σ|M|)² / (n Σ M²), estimated from one step
    /// in sixteen. It is 1 if all count alike, near 0 if the emphasis of a few outweighs all others: see [`uneven_emphasis`]. `None` if the actor has
    /// not learned, or the lane has diverged.
    fn effective_sample(&self, lane: usize) -> Option<f64>;

    /// Returns an error if any lane has diverged.
    fn check(&self) -> Result<(), Diverged> {
        let first = (0..R::LANES).find_map(|lane| self.diverged(lane).map(|step| Diverged { lane, step }));
        first.map_or(Ok(()), Err)
    }

    /// Shows all settings, and all numbers that change, to a visitor.
    fn tensors(&mut self, visitor: &mut Visitor) -> Result<(), StateError>;

    /// Called after a visitor has replaced its numbers.
    fn restored(&mut self);

    /// Returns a copy of the whole state, or an error if a part cannot show its numbers. (The learner is not changed, but a
    /// visitor could change it.)
    fn state(&mut self) -> Result<SavedState, StateError> {
        let mut state = SavedState::empty();
        self.tensors(&mut Visitor::save(&mut state))?;
        Ok(state)
    }

    /// Puts back a state of a learner with the same settings. What follows is, to the bit, what would have followed where it
    /// was saved. A state of a learner with other settings is refused by an error that names the setting, and changes nothing.
    fn restore(&mut self, state: &SavedState) -> Result<(), StateError> {
        let before = self.state()?;
        let mut visitor = Visitor::restore(state);
        let restored = self.tensors(&mut visitor).and_then(|()| visitor.check_complete());
        if restored.is_err() {
            // Its own state always fits.
            let _ = self.tensors(&mut Visitor::restore(&before));
        }
        self.restored();
        restored
    }

    /// Returns the estimates of the parts in the first lane, by name.
    fn estimates(&mut self) -> Result<Vec<(String, Vec<f64>)>, StateError> {
        self.estimates_in(0)
    }

    /// Replaces the weights of an estimate of this name, such as `critic.v`, in all lanes: where it starts from, if not from zero. Other numbers,
    /// traces for instance, stay as they are.
    fn set_estimate(&mut self, name: &str, weights: &[f64]) -> Result<(), StateError> {
        if let Some(index) = weights.iter().position(|w| !w.is_finite()) {
            return Err(StateError::Weight { index, value: weights[index] });
        }
        let mut visitor = Visitor::set(name, weights);
        self.tensors(&mut visitor)?;
        visitor.check_found()
    }

    /// Returns the estimates of the critic and the emphasis in a lane, by name.
    fn estimates_in(&mut self, lane: usize) -> Result<Vec<(String, Vec<f64>)>, StateError> {
        let mut list = Vec::new();
        self.tensors(&mut Visitor::list(lane, &mut list))?;
        Ok(list)
    }
}

/// A learner whose type is not known, such as one that a service makes from a recipe, is a learner all the same.
impl<R: Real, L: Learner<R> + ?Sized> Learner<R> for Box<L> {
    forward! {
        mut update(step: &Step<State, Action>) -> Result<Update<R>, StepError>;
        mut learn_watched(
            isa: Isa,
            steps: &[Step<State, Action>],
            watcher: Option<&mut dyn Watcher<R>>
        ) -> Result<(), LearnError>;
        ref distribution(state: State) -> Result<Vec<R>, FeatureError>;
        ref probability(state: State, action: Action) -> Result<Option<R>, StepError>;
        ref sample(lane: usize, state: State, draw: &mut dyn Draw) -> Result<Action, StepError>;
        mut value(state: State) -> Option<R>;
        ref policy() -> &dyn Any;
        ref weights() -> &[R];
        mut set_weights(weights: Vec<R>) -> Result<(), StateError>;
        ref steps() -> u64;
        ref diverged(lane: usize) -> Option<u64>;
        ref effective_sample(lane: usize) -> Option<f64>;
        mut tensors(visitor: &mut Visitor) -> Result<(), StateError>;
        mut restored();
    }
}

/// Watches a learner step by step.
pub trait Watcher<R: Real> {
    /// Called before a step is learned from.
    fn before(&mut self, step: &Step<State, Action>);

    /// Called after a step was learned from.
    fn after(&mut self, step: &Step<State, Action>, update: &Update<R>, learner: &dyn Learner<R>);
}

/// An invalid step in a list.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
#[error("step {index} of the list (the first is 0): {source}")]
pub struct LearnError {
    /// Its place in the list.
    pub index: usize,
    /// What is wrong with it.
    pub source: StepError,
}

/// A learner: a policy, a critic and an emphasis, with the rule by which the actor learns.
#[derive(Clone, Debug)]
pub struct Composed<R: Real, P: Policy, C, E, K> {
    actor: Actor<R, P>,
    critic: CachedPart<C>,
    emphasis: CachedPart<E>,
    emphasis_learns: bool,
    /// The features of all parts, each once: every state is checked against them.
    features: Vec<Features>,
    /// The number of states, if all features are tables.
    states: Option<usize>,
    rule: K,
    effective_sample: EffectiveSample<R>,
}

/// The rule by which the actor learns.
pub trait Rule<R: Real, P: Policy, C: Part<R>>: Send + Sized {
    /// Whether there are importance ratios: whether the policy draws its actions.
    const HAS_RATIO: bool = true;

    /// Whether an update changes no other weights of the policy than those of the features of S_t.
    const STAYS_IN_STATE: bool = true;

    /// Returns the rule for these parts, or an error if they do not go together.
    fn new(policy: &P, critic: &C, setup: RuleSetup<R>) -> Result<Self, ComposeError>;

    /// Lists its features. Every step is checked against all of them.
    fn all_features(&self) -> Vec<&Features> {
        Vec::new()
    }

    /// Called after the policy's weights were changed by an update in `state`, or all of them if it is `None`.
    #[inline(always)]
    fn policy_changed(&mut self, _weights: &[R], _state: Option<State>) {}

    /// π(a|s); `None` if the policy computes its action.
    fn probability(policy: &P, at: &P::Distribution<R>, action: P::Action) -> Option<R>;

    /// Returns v̂(s) as the critic estimates it, given π(·|s) and a step in s; `None` if it estimates no values.
    fn value(_policy: &P, _at: &P::Distribution<R>, _critic: &mut C, _step: &Seen) -> Option<R> {
        None
    }

    /// Lets the actor and the critic learn from a step. Returns the critic's signal, and the sum of [`Real::nan_unless_finite`] over the
    /// weights that were changed.
    fn learn(&mut self, input: RuleInput<R, P>, critic: &mut C) -> [R; 2];

    /// Shows its settings and its numbers that change to a visitor.
    fn tensors(&mut self, _visitor: &mut Visitor) -> Result<(), StateError> {
        Ok(())
    }
}

/// What a rule computes an update from: a step, what follows from it by the weights before the update, and the policy's weights, which
/// the rule changes.
#[derive(Debug)]
pub struct RuleInput<'a, R: Real, P: Policy> {
    policy: &'a P,
    weights: &'a mut [R],
    /// α, divided by the number of active features; zero while the actor waits.
    step_size: R,
    /// The policy's features of S_t.
    x: Row<'a>,
    /// π(·|S_t).
    at: &'a P::Distribution<R>,
    /// A_t.
    action: P::Action,
    /// The step as the critic sees it.
    step: Seen<'a>,
    /// ρ_t; one where there is no ratio.
    rho: R,
    /// M_t.
    emphasis: R,
}

/// Returns a change of the actor's weights, which is a multiple of its step-size (and of a ratio or a probability, if it is part of that): zero if that is zero,
/// even where another factor has overflowed.
#[inline(always)]
pub(crate) fn unless_waiting<R: Real>(step_size: R, change: R) -> R {
    R::zero().if_less(step_size, change, R::zero())
}

/// The part that acts: a policy with its weights and its step-size.
#[derive(Clone, Debug)]
pub struct Actor<R: Real, P: Policy> {
    policy: P,
    weights: Vec<R>,
    alpha: R,
    /// α, divided by the number of active features.
    step_size: R,
    warm_up: Option<WarmUp<R>>,
    /// π(·|S_t).
    at: P::Distribution<R>,
    /// Room for the features of S_t.
    x: Scratch,
    divergence: Divergence<R>,
}

impl<R: Real, P: Policy> Actor<R, P> {
    /// The form of the policy.
    pub fn policy(&self) -> &P {
        &self.policy
    }

    /// Returns the present π(·|s): for a softmax the probability of each action, for a Gaussian its mean and deviation, for a
    /// deterministic policy the action.
    pub fn distribution(&self, state: impl AsState) -> Result<P::Distribution<R>, FeatureError> {
        let state = state.as_state();
        self.policy.features().check(state)?;
        let mut scratch = Scratch::default();
        Ok(self.policy.distribution_at(&self.weights, self.policy.features().row(state, &mut scratch)))
    }
}

impl<R: Real, P: Policy, C: Part<R>, E: Emphasis<R>, K: Rule<R, P, C>> Composed<R, P, C, E, K> {
    /// Builds a learner whose policy starts from zero weights. Its setting is `alpha`.
    pub fn builder(policy: P, critic: C, emphasis: E) -> LearnerBuilder<R, P, C, E, K> {
        LearnerBuilder::new(policy, critic, Ok(emphasis))
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

    /// Returns the action, or an error if the policy does not have it.
    #[inline(always)]
    fn check_action(&self, action: Action) -> Result<P::Action, StepError> {
        let action = P::Action::of(action).ok_or_else(|| other_action(action))?;
        self.actor.policy.check_action(action)?;
        Ok(action)
    }

    /// Returns the action of a step, or an error if the step is invalid.
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

    /// Learns from one step, and writes the numbers of the update to `report`. Inlined into functions that are compiled for each
    /// instruction set.
    #[inline(always)]
    fn learn_step(
        &mut self,
        step: &Step<State, Action>,
        report: Option<&mut Update<R>>,
    ) -> Result<(), StepError> {
        let action = self.check_step(step)?;
        let Actor { policy, weights, step_size, warm_up, at, x, .. } = &mut self.actor;
        let x = policy.features().row(step.state, x);
        policy.distribution(weights, x, at);
        let rho = match K::probability(policy, at, action) {
            Some(pi) => importance_ratio(pi, step.mu),
            None => R::one(),
        };
        let (emphasis, weighed) = self.emphasis.see(step);
        let (critic, seen) = self.critic.see(step);
        let weight = emphasis.weigh(&weighed, rho);
        let step_size = warm_up.as_mut().map_or(*step_size, |warm_up| warm_up.step_size(step, *step_size));
        let input =
            RuleInput { policy, weights, step_size, x, at, action, step: seen, rho, emphasis: weight };
        let [delta, mut changed] = self.rule.learn(input, critic);
        if EffectiveSample::<R>::looks_at(self.actor.divergence.steps) {
            self.effective_sample.add(step_size, weight);
        }
        if self.emphasis_learns {
            changed += emphasis.learn(&weighed, rho);
        }
        if let Some(report) = report {
            *report = Update { rho, emphasis: weight, delta };
        }
        if self.actor.divergence.step(changed) {
            self.make_nan();
        } else {
            self.policy_changed(K::STAYS_IN_STATE.then_some(step.state));
        }
        Ok(())
    }

    /// [`Self::learn_step`], compiled for the plain instruction set.
    #[inline(never)] // One copy of so much code is enough.
    fn learn_step_plainly(
        &mut self,
        step: &Step<State, Action>,
        report: Option<&mut Update<R>>,
    ) -> Result<(), StepError> {
        self.learn_step(step, report)
    }

    /// Learns step by step: by [`Self::learn_step`] if it is to be inlined, otherwise by [`Self::learn_step_plainly`].
    #[inline(always)]
    fn each_step<const INLINED: bool>(
        &mut self,
        steps: &[Step<State, Action>],
        mut watcher: Option<&mut dyn Watcher<R>>,
    ) -> Result<(), LearnError> {
        let mut update = Update::default();
        for (index, step) in steps.iter().enumerate() {
            if let Some(watcher) = &mut watcher {
                watcher.before(step);
            }
            // Only for a watcher: in lanes these are many numbers.
            let report = watcher.is_some().then_some(&mut update);
            let learned =
                if INLINED { self.learn_step(step, report) } else { self.learn_step_plainly(step, report) };
            learned.map_err(|source| LearnError { index, source })?;
            if let Some(watcher) = &mut watcher {
                watcher.after(step, &update, self);
            }
        }
        Ok(())
    }

    /// Makes all weights of lanes that have just diverged NaN. (Which weights a number that is not finite would reach next may
    /// depend on what the other lanes still trace.) Their traces no longer matter.
    #[cold]
    #[inline(never)]
    fn make_nan(&mut self) {
        for lane in self.actor.divergence.diverged_now() {
            for weight in &mut self.actor.weights {
                *weight = weight.with_lane(lane, f64::NAN);
            }
            // A part that cannot show its numbers keeps them; the policy's weights are NaN all the same.
            let _ = self.critic.part.tensors(&mut Visitor::make_nan(lane));
            let _ = self.emphasis.part.tensors(&mut Visitor::make_nan(lane));
            let _ = self.rule.tensors(&mut Visitor::make_nan(lane));
            self.effective_sample.make_nan(lane);
        }
        self.policy_changed(None);
    }

    /// Tells the exact parts that the policy has changed.
    #[inline(always)]
    fn policy_changed(&mut self, state: Option<State>) {
        self.critic.policy_changed(&self.actor.weights, state);
        self.emphasis.policy_changed(&self.actor.weights, state);
        self.rule.policy_changed(&self.actor.weights, state);
    }
}

#[cold]
fn other_action(action: Action) -> StepError {
    match action {
        Action::Number(_) => StepError::ActionKind("the number of an action", "a real number"),
        Action::Real(_) => StepError::ActionKind("a real number", "the number of one of its actions"),
    }
}

/// Returns the name of a type without the modules it is in.
fn short_name(name: &str) -> &str {
    let end = name.find('<').unwrap_or(name.len());
    let start = name[..end].rfind("::").map_or(0, |at| at + 2);
    &name[start..end]
}

impl<R, P, C, E, K> Learner<R> for Composed<R, P, C, E, K>
where
    R: Real,
    P: Policy,
    C: Part<R>,
    E: Emphasis<R>,
    K: Rule<R, P, C>,
{
    fn update(&mut self, step: &Step<State, Action>) -> Result<Update<R>, StepError> {
        let mut update = Update::default();
        self.learn_step_plainly(step, Some(&mut update)).map(|()| update)
    }

    #[inline(never)] // A whole step is inlined into it, once for each instruction set: that is enough code.
    fn learn_watched(
        &mut self,
        isa: Isa,
        steps: &[Step<State, Action>],
        watcher: Option<&mut dyn Watcher<R>>,
    ) -> Result<(), LearnError> {
        // `f64` needs no wide registers.
        if R::LANES == 1 {
            return self.each_step::<true>(steps, watcher);
        }
        // The plain set shares the code of `update`: a step in lanes takes long to compile.
        isa.run_or(
            (self, watcher),
            #[inline(always)]
            |(learner, watcher)| learner.each_step::<true>(steps, watcher),
            |(learner, watcher)| learner.each_step::<false>(steps, watcher),
        )
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

    fn value(&mut self, state: State) -> Option<R> {
        self.check_state(state).ok()?;
        let Actor { policy, weights, at, x, .. } = &mut self.actor;
        policy.distribution(weights, policy.features().row(state, x), at);
        let step = Step::in_state(state);
        let (critic, seen) = self.critic.see(&step);
        K::value(policy, at, critic, &seen)
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
        self.actor.divergence.revive();
        self.effective_sample.revive();
        self.policy_changed(None);
        Ok(())
    }

    fn steps(&self) -> u64 {
        self.actor.divergence.steps
    }

    fn diverged(&self, lane: usize) -> Option<u64> {
        self.actor.divergence.diverged(lane)
    }

    fn effective_sample(&self, lane: usize) -> Option<f64> {
        self.effective_sample.share(lane)
    }

    fn tensors(&mut self, visitor: &mut Visitor) -> Result<(), StateError> {
        let Actor { policy, alpha, .. } = &self.actor;
        visitor.within("policy", |visitor| {
            visitor.kind(short_name(type_name::<P>()))?;
            visitor.features(policy.features())?;
            policy.settings(visitor)
        })?;
        visitor.setting(ALPHA.name, *alpha)?;
        if let Some(warm_up) = &mut self.actor.warm_up {
            warm_up.tensors(visitor)?;
        }
        visitor.weights("weights", self.actor.weights.iter_mut())?;
        visitor.counts("steps", std::slice::from_mut(&mut self.actor.divergence.steps))?;
        visitor.counts_in_lanes("diverged", &mut self.actor.divergence.diverged)?;
        self.effective_sample.tensors(visitor)?;
        visitor.part("critic", &mut self.critic.part)?;
        visitor.part("emphasis", &mut self.emphasis.part)?;
        self.rule.tensors(visitor)
    }

    fn restored(&mut self) {
        self.actor.divergence.set_alive();
        self.policy_changed(None);
    }
}
