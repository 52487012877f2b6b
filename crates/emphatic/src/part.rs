//! What critics and emphases have in common.

use crate::action::Action;
use crate::features::{FeatureError, Features, Row, Scratch, State};
use crate::problem::ProblemError;
use crate::real::Real;
use crate::setting::SettingError;
use crate::step::Step;
use crate::tensors::{StateError, Visitor};
use std::any::Any;
use std::ops::Deref;
use thiserror::Error;

/// Parts that cannot be put together.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum ComposeError {
    /// A setting out of its range.
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// A policy that does not fit the problem.
    #[error(transparent)]
    Problem(#[from] ProblemError),
    /// A state that the features cannot describe.
    #[error(transparent)]
    Features(#[from] FeatureError),
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
    /// An exact part for another kind of policy.
    #[error("the exact critic or emphasis is for another kind of policy")]
    Policy,
    /// An emphasis that needs ρ beside a policy that has none.
    #[error("a deterministic policy has no ratio, which this emphasis needs")]
    Ratio,
    /// Parts that do not go together, in the words of whoever puts them together.
    #[error("{0}")]
    Unfit(String),
}

/// A step as one part sees it.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    /// The part's features of S_t.
    pub x: Row<'a>,
    /// The part's features of S_{t+1}; none where an episode ends.
    pub x_next: Row<'a>,
    step: &'a Step<State<'a>, Action>,
}

/// Room for the features of a state and of the next.
#[derive(Clone, Debug, Default)]
pub struct SeenScratch {
    x: Scratch,
    x_next: Scratch,
}

impl<'a> Seen<'a> {
    /// A step that has been checked, seen by these features; a part without features sees none.
    #[inline(always)]
    pub fn new(
        step: &'a Step<State<'a>, Action>,
        features: Option<&'a Features>,
        scratch: &'a mut SeenScratch,
    ) -> Self {
        let Some(features) = features else { return Self::blind(step) };
        let SeenScratch { x, x_next } = scratch;
        let x_next = if step.gamma_next > 0.0 { features.row(step.next, x_next) } else { Row::default() };
        Self { x: features.row(step.state, x), x_next, step }
    }

    /// A step as a part without features sees it.
    #[inline(always)]
    pub fn blind(step: &'a Step<State<'a>, Action>) -> Self {
        Self { x: Row::default(), x_next: Row::default(), step }
    }

    /// The number of S_t, for parts that know states by their numbers.
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

/// What has been checked is a number.
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
    /// The features by which it knows a state; `None` if it looks at none.
    fn features(&self) -> Option<&Features> {
        None
    }

    /// Lists its features and those of the parts inside it. What is given to it has been checked by all of them.
    fn all_features<'a>(&'a self, list: &mut Vec<&'a Features>) {
        list.extend(self.features());
    }

    /// Takes up the policy (of any type) that it is to work with, or says why they do not go together. Called once, when a
    /// learner is put together.
    fn set_policy(&mut self, _policy: &dyn Any) -> Result<(), ComposeError> {
        Ok(())
    }

    /// Whether [`Part::policy_changed`] does anything.
    fn follows_policy(&self) -> bool {
        false
    }

    /// Takes up that the policy's weights were changed by an update in `state`, or altogether.
    fn policy_changed(&mut self, _weights: &[R], _state: Option<State>) {}

    /// Shows all its numbers that change to a visitor, which may change them.
    fn tensors(&mut self, _visitor: &mut Visitor) -> Result<(), StateError> {
        Ok(())
    }
}

/// A part with what is asked of it at every step: it may be behind a pointer.
#[derive(Clone, Debug)]
pub(crate) struct Slot<T> {
    pub(crate) part: T,
    pub(crate) features: Option<Features>,
    pub(crate) scratch: SeenScratch,
    pub(crate) follows_policy: bool,
}

impl<T> Slot<T> {
    pub(crate) fn new<R: Real>(part: T) -> Self
    where
        T: Part<R>,
    {
        let (features, follows_policy) = (part.features().cloned(), part.follows_policy());
        let room = || features.as_ref().map(Features::scratch).unwrap_or_default();
        let scratch = SeenScratch { x: room(), x_next: room() };
        Self { part, features, scratch, follows_policy }
    }

    /// The part, and a step as it sees it.
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
        if self.follows_policy {
            self.part.policy_changed(weights, state);
        }
    }
}
