//! Learners whose actor is a part behind a pointer.

use super::all_actions::check_actions;
use super::{Composed, LearnerBuilder, Rule, RuleInput, RuleSetup};
use crate::policy::Looking;
use crate::{
    ActionCritic, ActorInput, ActorRule, ComposeError, Critic, Features, FinitePolicy, Policy, Real, Row,
    Scratch, Seen, State, StateError, StochasticPolicy, Visitor,
};

/// A learner with an actor that learns from a critic of values.
///
/// ```
/// use emphatic::{ActorTrace, Features, Gtd, NoEmphasis, Softmax, WithActor};
/// let policy = Softmax { features: Features::dense(3), actions: 2 };
/// let critic = Gtd::builder(Features::dense(3)).alpha_v(0.05).alpha_w(1e-4).build()?;
/// let actor = ActorTrace::builder().lambda(0.6).build()?;
/// let off_pac = WithActor::builder(policy, critic, NoEmphasis).actor(actor).alpha(0.1).build()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type WithActor<R, P, C, E> = Composed<R, P, C, E, ByActor<R, P, dyn Critic<R>>>;

/// A learner with an actor that learns from a critic of actions.
pub type WithActionsActor<R, P, C, E> = Composed<R, P, C, E, ByActor<R, P, dyn ActionCritic<R>>>;

/// The policy learns as an actor says: see [`WithActor`]. `D` is `dyn Critic<R>` or `dyn ActionCritic<R>`.
pub struct ByActor<R: Real, P: Policy, D: ?Sized> {
    actor: Box<dyn ActorRule<R, D>>,
    policy: Looking<R, P>,
    /// Room for the policy's features of S_{t+1}.
    x_next: Scratch,
}

impl<R: Real, P: Policy, D: ?Sized> std::fmt::Debug for ByActor<R, P, D> {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.debug_struct("ByActor").field("policy", &self.policy).finish_non_exhaustive()
    }
}

impl<R: Real, P: Policy, C, E> LearnerBuilder<R, P, C, E, ByActor<R, P, dyn Critic<R>>> {
    /// Sets the actor.
    pub fn actor(mut self, actor: impl ActorRule<R, dyn Critic<R>> + 'static) -> Self {
        self.setup.by_values = Some(Box::new(actor));
        self
    }
}

impl<R: Real, P: Policy, C, E> LearnerBuilder<R, P, C, E, ByActor<R, P, dyn ActionCritic<R>>> {
    /// Sets the actor.
    pub fn actor(mut self, actor: impl ActorRule<R, dyn ActionCritic<R>> + 'static) -> Self {
        self.setup.by_actions = Some(Box::new(actor));
        self
    }
}

impl<R: Real, P: StochasticPolicy, D: ?Sized> ByActor<R, P, D> {
    fn with_policy(actor: Option<Box<dyn ActorRule<R, D>>>, policy: &P) -> Result<Self, ComposeError> {
        let Some(mut actor) = actor else {
            return Err(ComposeError::Incompatible("the learner has no actor".to_owned()));
        };
        let (x_next, policy) = (policy.features().scratch(), Looking::new(policy));
        actor.set_policy(&policy)?;
        Ok(Self { actor, policy, x_next })
    }

    fn learn_with(&mut self, input: RuleInput<R, P>, critic: &mut D) -> [R; 2] {
        let RuleInput { policy, weights, step_size, x, step: seen, rho, emphasis, .. } = input;
        let step = seen.step();
        let x_next = match step.gamma_next > 0.0 {
            true => policy.features().row(step.next, &mut self.x_next),
            false => Row::default(),
        };
        let policy = &mut self.policy;
        let input = ActorInput { policy, weights, step_size, x, x_next, step, seen, rho, emphasis };
        self.actor.learn(input, critic)
    }
}

/// The methods of [`Rule`] that are the same for critics of values and of actions.
macro_rules! by_actor {
    () => {
        // A trace or a learned gradient has to do with other states too.
        const STAYS_IN_STATE: bool = false;

        fn all_features(&self) -> Vec<&Features> {
            self.actor.all_features()
        }

        fn policy_changed(&mut self, weights: &[R], state: Option<State>) {
            self.actor.policy_changed(weights, state);
        }

        #[inline(always)]
        fn probability(policy: &P, at: &P::Distribution<R>, action: P::Action) -> Option<R> {
            Some(policy.probability(at, action))
        }

        fn learn(&mut self, input: RuleInput<R, P>, critic: &mut C) -> [R; 2] {
            self.learn_with(input, critic)
        }

        fn tensors(&mut self, visitor: &mut Visitor) -> Result<(), StateError> {
            visitor.within("actor", |visitor| self.actor.tensors(visitor))
        }
    };
}

impl<R: Real, P: StochasticPolicy, C: Critic<R> + 'static> Rule<R, P, C> for ByActor<R, P, dyn Critic<R>> {
    fn new(policy: &P, _critic: &C, setup: RuleSetup<R>) -> Result<Self, ComposeError> {
        Self::with_policy(setup.by_values, policy)
    }

    fn value(_policy: &P, _at: &P::Distribution<R>, critic: &mut C, step: &Seen) -> Option<R> {
        Some(critic.value(step))
    }

    by_actor!();
}

impl<R: Real, P: FinitePolicy, C: ActionCritic<R> + 'static> Rule<R, P, C>
    for ByActor<R, P, dyn ActionCritic<R>>
{
    fn new(policy: &P, critic: &C, setup: RuleSetup<R>) -> Result<Self, ComposeError> {
        check_actions(policy, critic)?;
        Self::with_policy(setup.by_actions, policy)
    }

    fn value(policy: &P, at: &P::Distribution<R>, critic: &mut C, step: &Seen) -> Option<R> {
        Some(critic.value(step, policy.probabilities(at)))
    }

    by_actor!();
}
