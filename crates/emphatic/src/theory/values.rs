//! The values v_π, the action-values q_π and the advantages a_π.

use super::{Exact, Model};
use crate::policy::{FinitePolicy, Policy};
use crate::problem::{ContinuousCounterexample, Task};
use crate::real::Real;

impl<R: Real, P: Policy, M: Model<P>> Exact<'_, R, M, P> {
    /// v_π.
    pub fn values(&self) -> &[R] {
        &self.values
    }
}

impl<R: Real, P: FinitePolicy> Exact<'_, R, Task, P> {
    /// π(·|s), a list for each state.
    pub fn probabilities(&self) -> Vec<Vec<R>> {
        let row = |at| (0..self.policy.actions()).map(|a| self.policy.probability(at, a)).collect();
        self.distributions.iter().map(row).collect()
    }

    /// q_π(s, ·), a list for each state.
    pub fn action_values(&self) -> Vec<Vec<R>> {
        let q = |s, a| self.model.action_value(s, a, |t| self.values[t]);
        (0..self.model.states()).map(|s| (0..self.model.actions()).map(|a| q(s, a)).collect()).collect()
    }

    /// a_π(s, ·) = q_π(s, ·) − v_π(s), a list for each state.
    pub fn advantages(&self) -> Vec<Vec<R>> {
        let row = |(q, v): (Vec<R>, &R)| q.into_iter().map(|q| q - *v).collect();
        self.action_values().into_iter().zip(&self.values).map(row).collect()
    }
}

impl<R: Real, P: Policy> Exact<'_, R, ContinuousCounterexample, P> {
    /// q_π(s, a); `None` if there is no such state.
    pub fn action_value(&self, state: usize, action: R) -> Option<R> {
        match state {
            0 => Some((-action).sigmoid() * self.values[1] + action.sigmoid() * self.values[2]),
            1 => Some(R::splat(2.0) * (-action).sigmoid()),
            2 => Some(action.sigmoid()),
            _ => None,
        }
    }
}
