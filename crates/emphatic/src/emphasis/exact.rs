//! The emphasis that knows.

use super::{Emphasis, RatioFree};
use crate::features::{FeatureError, check_state};
use crate::part::{ComposeError, Part, StepOf};
use crate::policy::Policy;
use crate::problem::ProblemError;
use crate::real::Real;
use crate::state::{RestoreError, Stateful};
use crate::theory::Model;
use crate::theory::tracker::Tracker;
use std::sync::Arc;

/// The emphatic density m(S_t)/d_μ(S_t) of the *current* target policy, computed from the problem itself
/// (True-ACE, True-DPGE). The interest is the problem's.
#[derive(Clone, Debug)]
pub struct ExactEmphasis<R: Real, M, P: Policy> {
    inverse_stationary: Vec<f64>,
    weighting: Tracker<R, M, P>,
}

impl<R: Real, P: Policy<State = usize>, M: Model<P>> ExactEmphasis<R, M, P> {
    /// The exact emphasis of a problem for policies of this form.
    pub fn new(model: Arc<M>, policy: &P) -> Result<Self, ProblemError> {
        // A state that the behaviour never sees again has no density, and no step of its own to be weighed.
        let inverse = |d: &f64| if *d > 0.0 { 1.0 / d } else { 0.0 };
        let inverse_stationary = model.stationary().iter().map(inverse).collect();
        Ok(Self { inverse_stationary, weighting: Tracker::new(model, policy, true)? })
    }
}

impl<R: Real, M, P: Policy> RatioFree for ExactEmphasis<R, M, P> {}

impl<R: Real, P: Policy<State = usize>, M: Model<P>> Part<R, P> for ExactEmphasis<R, M, P> {
    #[inline(always)]
    fn check_state(&self, state: &usize) -> Result<(), FeatureError> {
        check_state(*state, self.inverse_stationary.len())
    }

    fn adopt(&mut self, policy: &P) -> Result<(), ComposeError> {
        self.weighting = Tracker::new(self.weighting.model.clone(), policy, true)?;
        Ok(())
    }

    #[inline(always)]
    fn follow(&mut self, policy: &P, weights: &[R], state: Option<&usize>) {
        self.weighting.follow(policy, weights, state.copied());
    }
}

impl<R: Real, P: Policy<State = usize>, M: Model<P>> Emphasis<R, P> for ExactEmphasis<R, M, P> {
    #[inline(always)]
    fn weigh(&mut self, step: &StepOf<P>, _rho: R) -> R {
        self.weighting.solution.at(*step.state) * R::splat(self.inverse_stationary[*step.state])
    }
}

impl<R: Real, M, P: Policy> Stateful for ExactEmphasis<R, M, P> {
    type State = ();

    fn state(&self) {}

    fn fits(&self, (): &()) -> Result<(), RestoreError> {
        Ok(())
    }

    fn put(&mut self, (): ()) {}
}
