//! The critic that knows.

use super::{ActionCritic, Critic, SlopeCritic};
use crate::features::{FeatureError, check_state};
use crate::part::{ComposeError, Part, StepOf};
use crate::policy::{DeterministicPolicy, FinitePolicy, Policy};
use crate::problem::{ProblemError, Task};
use crate::real::Real;
use crate::state::{RestoreError, Stateful};
use crate::theory::tracker::Tracker;
use crate::theory::{ActionSlopes, Model};
use std::sync::Arc;

/// v, q or ∂q/∂a of the *current* target policy, before every update, computed from the problem itself.
///
/// It has no state of its own: what it says follows from the policy's weights.
#[derive(Clone, Debug)]
pub struct ExactCritic<R: Real, M, P: Policy> {
    states: usize,
    values: Tracker<R, M, P>,
}

impl<R: Real, P: Policy<State = usize>, M: Model<P>> ExactCritic<R, M, P> {
    /// The exact critic of a problem for policies of this form.
    pub fn new(model: Arc<M>, policy: &P) -> Result<Self, ProblemError> {
        let states = model.order().states();
        Ok(Self { states, values: Tracker::new(model, policy, false)? })
    }
}

impl<R: Real, M, P: Policy> Stateful for ExactCritic<R, M, P> {
    type State = ();

    fn state(&self) {}

    fn fits(&self, (): &()) -> Result<(), RestoreError> {
        Ok(())
    }

    fn put(&mut self, (): ()) {}
}

impl<R: Real, P: Policy<State = usize>, M: Model<P>> Part<R, P> for ExactCritic<R, M, P> {
    #[inline(always)]
    fn check_state(&self, state: &usize) -> Result<(), FeatureError> {
        check_state(*state, self.states)
    }

    fn adopt(&mut self, policy: &P) -> Result<(), ComposeError> {
        self.values = Tracker::new(self.values.model.clone(), policy, false)?;
        Ok(())
    }

    #[inline(always)]
    fn follow(&mut self, policy: &P, weights: &[R], state: Option<&usize>) {
        self.values.follow(policy, weights, state.copied());
    }
}

impl<R: Real, P: Policy<State = usize>, M: Model<P>> Critic<R, P> for ExactCritic<R, M, P> {
    #[inline(always)]
    fn value(&mut self, state: &usize) -> R {
        self.values.solution.at(*state)
    }

    #[inline(always)]
    fn learn(&mut self, _step: &StepOf<P>, _rho: R, _delta: R) -> R {
        R::zero()
    }
}

impl<R: Real, P: FinitePolicy<State = usize>> ActionCritic<R, P> for ExactCritic<R, Task, P> {
    #[inline(always)]
    fn advantages(&mut self, state: &usize, out: &mut [R]) {
        let Tracker { model, solution, .. } = &mut self.values;
        let value = solution.at(*state);
        for (action, out) in out.iter_mut().enumerate() {
            *out = model.action_value(*state, action, |s| solution.at(s)) - value;
        }
    }

    #[inline(always)]
    fn learn(&mut self, _: &StepOf<P>, _: &P, _: &[R], _: &mut P::Distribution<R>, _: R) -> R {
        R::zero()
    }
}

impl<R, P, M> SlopeCritic<R, P> for ExactCritic<R, M, P>
where
    R: Real,
    P: DeterministicPolicy<State = usize>,
    M: Model<P> + ActionSlopes,
{
    #[inline(always)]
    fn slope(&mut self, state: &usize, action: R) -> R {
        let Tracker { model, solution, .. } = &mut self.values;
        model.action_slope(*state, action, |s| solution.at(s))
    }

    #[inline(always)]
    fn learn(&mut self, _step: &StepOf<P>, _action: R) -> R {
        R::zero()
    }
}
