//! Eligibility traces.

use crate::real::Real;
use crate::state::{RestoreError, Stateful};
use serde::{Deserialize, Serialize};

/// A trace over features: zero but for what was active since it last started afresh.
///
/// Which entries may be other than zero depends on the steps alone, not on a lane's settings, so all lanes
/// and `f64` add up in the same order.
#[derive(Clone, Debug)]
pub(crate) struct Trace<R> {
    values: Vec<R>,
    support: Vec<usize>,
    within: Vec<bool>,
}

/// What there is to save of a trace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "R: Real")]
pub struct TraceState<R> {
    len: usize,
    entries: Vec<(usize, R)>,
}

impl<R: Real> Trace<R> {
    pub(crate) fn new(len: usize) -> Self {
        Self { values: vec![R::zero(); len], support: Vec::with_capacity(len), within: vec![false; len] }
    }

    /// All zero again.
    #[inline(always)]
    pub(crate) fn clear(&mut self) {
        for k in self.support.drain(..) {
            self.values[k] = R::zero();
            self.within[k] = false;
        }
    }

    #[inline(always)]
    pub(crate) fn scale(&mut self, by: R) {
        for &k in &self.support {
            self.values[k] *= by;
        }
    }

    #[inline(always)]
    pub(crate) fn add(&mut self, k: usize, x: R) {
        if !self.within[k] {
            self.within[k] = true;
            self.support.push(k);
        }
        self.values[k] += x;
    }

    /// The entries that may be other than zero.
    #[inline(always)]
    pub(crate) fn entries(&self) -> impl Iterator<Item = (usize, R)> {
        self.support.iter().map(|&k| (k, self.values[k]))
    }

    #[inline(always)]
    pub(crate) fn dot(&self, weights: &[R]) -> R {
        let mut sum = R::zero();
        for (k, e) in self.entries() {
            sum += e * weights[k];
        }
        sum
    }
}

impl<R: Real> Stateful for Trace<R> {
    type State = TraceState<R>;

    fn state(&self) -> TraceState<R> {
        TraceState { len: self.values.len(), entries: self.entries().collect() }
    }

    fn fits(&self, state: &TraceState<R>) -> Result<(), RestoreError> {
        let n = self.values.len();
        if state.len != n || state.entries.iter().any(|(k, _)| *k >= n) {
            return Err(RestoreError { what: "entries in a trace", got: state.len, right: n });
        }
        Ok(())
    }

    fn put(&mut self, state: TraceState<R>) {
        self.clear();
        for (k, x) in state.entries {
            self.add(k, R::zero());
            self.values[k] = x;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_in_the_order_in_which_they_became_active() {
        let mut trace = Trace::new(4);
        trace.add(2, 1.0);
        trace.add(0, 3.0);
        trace.scale(0.5);
        trace.add(2, 1.0);
        assert_eq!(trace.entries().collect::<Vec<_>>(), [(2, 1.5), (0, 1.5)]);
        assert_eq!(trace.dot(&[2.0, 9.0, 4.0, 9.0]), 9.0);
        trace.clear();
        assert_eq!((trace.entries().count(), trace.values), (0, vec![0.0; 4]));
    }

    #[test]
    fn a_state_of_another_trace_is_refused() {
        let mut trace = Trace::new(4);
        let other = TraceState { len: 3, entries: vec![(1, 1.0)] };
        assert!(trace.restore(other).is_err());
        assert!(trace.restore(TraceState { len: 4, entries: vec![(4, 1.0)] }).is_err());
    }
}
