//! Parts: what critics and emphases have in common.

use crate::{
    Action, Features, ProblemError, Real, Row, Scratch, SettingError, State, StateError, Step, Visitor,
};
use std::any::Any;
use std::ops::Deref;
use thiserror::Error;

/// Parts that cannot be put together.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum ComposeError {
    /// A setting out of its range.
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// A policy that does not fit the problem.
    #[error(transparent)]
    Problem(#[from] ProblemError),
    /// More weights than any memory holds.
    #[error("the policy has {0} weights, more than any memory holds")]
    TooMany(usize),
    /// A critic for another number of actions.
    #[error("the critic is for {critic} actions; the policy has {policy}")]
    Actions {
        /// The critic's number of actions.
        critic: usize,
        /// The policy's.
        policy: usize,
    },
    /// A part that asks the policy for its probabilities, and is for another kind of policy.
    #[error("a part that is computed from the policy is for another kind of policy")]
    Policy,
    /// An emphasis that needs ρ beside a policy that has none.
    #[error("a deterministic policy has no ratio, which this emphasis needs")]
    Ratio,
    /// Parts that do not go together, for the reason given.
    #[error("{0}")]
    Incompatible(String),
}

/// A step as one part sees it.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    /// The part's features of S_t.
    pub x: Row<'a>,
    /// The part's features of S_{t+1}; empty where an episode ends.
    pub x_next: Row<'a>,
    step: &'a Step<State<'a>, Action>,
}

/// Room for the features of a state and of the next.
#[derive(Clone, Debug, Default)]
pub struct SeenScratch {
    x: Scratch,
    x_next: Scratch,
}

impl SeenScratch {
    /// Room for states as these features see them.
    pub(crate) fn of(features: &Features) -> Self {
        Self { x: features.scratch(), x_next: features.scratch() }
    }
}

impl<'a> Seen<'a> {
    /// A step that has been checked, with the rows of these features, if the part has any.
    #[inline(always)]
    pub fn new(
        step: &'a Step<State<'a>, Action>,
        features: Option<&'a Features>,
        scratch: &'a mut SeenScratch,
    ) -> Self {
        let Some(features) = features else { return Self::without_features(step) };
        let SeenScratch { x, x_next } = scratch;
        let x_next = if step.gamma_next > 0.0 { features.row(step.next, x_next) } else { Row::default() };
        Self { x: features.row(step.state, x), x_next, step }
    }

    /// A step as a part without features sees it.
    #[inline(always)]
    pub fn without_features(step: &'a Step<State<'a>, Action>) -> Self {
        Self { x: Row::default(), x_next: Row::default(), step }
    }

    /// The step itself.
    #[inline(always)]
    pub fn step(&self) -> &'a Step<State<'a>, Action> {
        self.step
    }

    /// The number of S_t, for parts that are computed from a problem.
    #[inline(always)]
    pub fn number(&self) -> usize {
        number(self.step.state)
    }

    /// The number of S_{t+1}.
    #[inline(always)]
    pub fn next_number(&self) -> usize {
        number(self.step.next)
    }
}

/// Returns the number of a state, which has been checked to be one.
#[inline(always)]
fn number(state: State) -> usize {
    if let State::Number(number) = state { number } else { 0 }
}

impl<'a> Deref for Seen<'a> {
    type Target = Step<State<'a>, Action>;

    #[inline(always)]
    fn deref(&self) -> &Self::Target {
        self.step
    }
}

/// A part of a learner beside its policy: a critic or an emphasis.
pub trait Part<R: Real>: Send {
    /// Its features of a state; `None` if it has none.
    fn features(&self) -> Option<&Features> {
        None
    }

    /// Lists its features and those of the parts inside it. Every step is checked against all of them.
    fn all_features(&self) -> Vec<&Features> {
        self.features().into_iter().collect()
    }

    /// Adapts the part to the policy (of any type) that it is used with, or returns an error if they do not go together.
    /// Called once, when a learner is built.
    fn set_policy(&mut self, _policy: &dyn Any) -> Result<(), ComposeError> {
        Ok(())
    }

    /// Returns whether the part depends on the policy: whether [`Part::policy_changed`] does anything.
    fn depends_on_policy(&self) -> bool {
        false
    }

    /// Called after the policy's weights were changed by an update in `state`, or all of them if it is `None`.
    fn policy_changed(&mut self, _weights: &[R], _state: Option<State>) {}

    /// Shows its settings and all its numbers that change to a visitor, which may replace the numbers.
    fn tensors(&mut self, _visitor: &mut Visitor) -> Result<(), StateError> {
        Ok(())
    }
}

/// A part with its answers that every step needs: the part itself may be behind a pointer.
#[derive(Clone, Debug)]
pub(crate) struct CachedPart<T> {
    pub(crate) part: T,
    pub(crate) features: Option<Features>,
    pub(crate) scratch: SeenScratch,
    pub(crate) depends_on_policy: bool,
}

impl<T> CachedPart<T> {
    pub(crate) fn new<R: Real>(part: T) -> Self
    where
        T: Part<R>,
    {
        let (features, depends_on_policy) = (part.features().cloned(), part.depends_on_policy());
        let scratch = features.as_ref().map(SeenScratch::of).unwrap_or_default();
        Self { part, features, scratch, depends_on_policy }
    }

    /// Returns the part, and a step as it sees it.
    #[inline(always)]
    pub(crate) fn see<'a>(&'a mut self, step: &'a Step<State<'a>, Action>) -> (&'a mut T, Seen<'a>) {
        let Self { part, features, scratch, .. } = self;
        (part, Seen::new(step, features.as_ref(), scratch))
    }

    #[inline(always)]
    pub(crate) fn policy_changed<R: Real>(&mut self, weights: &[R], state: Option<State>)
    where
        T: Part<R>,
    {
        if self.depends_on_policy {
            self.part.policy_changed(weights, state);
        }
    }
}
