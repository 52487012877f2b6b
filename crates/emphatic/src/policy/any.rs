//! A policy that draws its actions, behind a pointer.

use super::{Policy, StochasticPolicy};
use crate::{Action, Acts, Features, Real, Row};
use std::any::Any;

/// A policy of any type that draws its actions, with room for its distribution in one state.
pub trait AnyPolicy<R: Real>: Send {
    /// The policy itself as any type.
    fn form(&self) -> &dyn Any;

    /// The features of the policy.
    fn features(&self) -> &Features;

    /// The number of weights.
    fn weights(&self) -> usize;

    /// Looks at a state, given its features.
    fn see(&mut self, weights: &[R], x: Row);

    /// Returns π(a|s), where s is the state it looked at last.
    fn probability(&self, action: Action) -> R;

    /// `out` ← `out` + `scale` ∇ ln π(a|s), where s is the state it looked at last, with these features. Returns the sum of
    /// [`Real::nan_unless_finite`] over what it changed.
    fn add_score(&self, x: Row, action: Action, scale: R, out: &mut [R]) -> R;
}

/// A policy with its distribution in the state it looked at last.
#[derive(Clone, Debug)]
pub(crate) struct Looking<R: Real, P: Policy> {
    policy: P,
    at: P::Distribution<R>,
}

impl<R: Real, P: Policy> Looking<R, P> {
    pub(crate) fn new(policy: &P) -> Self {
        Self { at: policy.room(), policy: policy.clone() }
    }
}

impl<R: Real, P: StochasticPolicy> AnyPolicy<R> for Looking<R, P> {
    fn form(&self) -> &dyn Any {
        self.policy.form()
    }

    fn features(&self) -> &Features {
        self.policy.features()
    }

    fn weights(&self) -> usize {
        self.policy.len()
    }

    fn see(&mut self, weights: &[R], x: Row) {
        self.policy.distribution(weights, x, &mut self.at);
    }

    fn probability(&self, action: Action) -> R {
        P::Action::of(action).map_or(R::zero(), |action| self.policy.probability(&self.at, action))
    }

    fn add_score(&self, x: Row, action: Action, scale: R, out: &mut [R]) -> R {
        P::Action::of(action)
            .map_or(R::zero(), |action| self.policy.add_score(x, &self.at, action, scale, out))
    }
}
