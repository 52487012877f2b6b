//! The exact solution for a policy that keeps changing.

use super::chain::Chain;
use super::order::Lists;
use super::{Bellman, Model, check_policy};
use crate::policy::Policy;
use crate::problem::ProblemError;
use crate::real::Real;
use std::collections::HashMap;
use std::sync::Arc;

/// Keeps the exact solution up to date while a policy learns.
///
/// An update in one state changes the policy in the states that share a feature with it, and so those rows of
/// P_{π,γ}. Only these rows and what depends on them are eliminated again, and a value is computed only when it
/// is asked for, along its way to the root. On the long counterexample that is some three rows an update, where
/// solving afresh would take all eleven. It is the same arithmetic as solving afresh, to the bit (see [`Chain`]),
/// so no error builds up however long the policy learns.
#[derive(Clone, Debug)]
pub(crate) struct Tracker<R: Real, M, P: Policy> {
    pub(crate) model: Arc<M>,
    pub(crate) solution: Solution<R>,
    /// States that change together: the group of each state, the states of each group, and the places to
    /// eliminate again when it changes.
    group: Vec<usize>,
    changes: Lists<usize>,
    again: Lists<usize>,
    at: P::Distribution<R>,
}

/// v or m for the policy last followed, computed where it is asked for.
#[derive(Clone, Debug)]
pub(crate) struct Solution<R> {
    chain: Chain<R>,
    /// Whether it is m that is asked for, rather than v.
    weightings: bool,
    /// By place, and in which version of the chain it was computed.
    known: Vec<R>,
    computed: Vec<u64>,
    version: u64,
    /// Room for the way to the root; never longer than there are places.
    way: Vec<usize>,
}

impl<R: Real, P: Policy<State = usize>, M: Model<P>> Tracker<R, M, P> {
    /// Tracks v, or m if `weightings`, for a policy that starts from zero weights.
    pub(crate) fn new(model: Arc<M>, policy: &P, weightings: bool) -> Result<Self, ProblemError> {
        check_policy(&*model, policy)?;
        let order = model.order().clone();
        let n = order.states();
        let mut groups: HashMap<Vec<usize>, usize> = HashMap::new();
        let mut changes: Vec<Vec<usize>> = Vec::new();
        let mut group = Vec::with_capacity(n);
        for s in 0..n {
            let together: Vec<usize> = (0..n).filter(|t| policy.overlap(&s, t)).collect();
            group.push(*groups.entry(together).or_insert_with_key(|together| {
                changes.push(together.clone());
                changes.len() - 1
            }));
        }
        let again = Lists::new(changes.iter().map(|states| {
            let to_root = |&s: &usize| std::iter::successors(Some(order.place[s]), |&k| order.parent[k]);
            let mut places: Vec<usize> = states.iter().flat_map(to_root).collect();
            places.sort_unstable();
            places.dedup();
            places
        }));
        let interest = model.stationary().iter().zip(model.interest()).map(|(d, i)| d * i).collect();
        let solution = Solution {
            chain: Chain::new(order, interest),
            weightings,
            known: vec![R::zero(); n],
            computed: vec![0; n],
            version: 0,
            way: vec![0; n],
        };
        let mut tracker =
            Self { solution, group, changes: Lists::new(changes), again, at: policy.room(), model };
        tracker.follow(policy, &vec![R::zero(); policy.len()], None);
        Ok(tracker)
    }

    /// Takes up that the policy has changed by an update in a state, or altogether.
    #[inline(always)]
    pub(crate) fn follow(&mut self, policy: &P, weights: &[R], state: Option<usize>) {
        self.solution.version += 1;
        match state {
            Some(state) => {
                let group = self.group[state];
                for k in self.changes.range(group) {
                    self.set_row(policy, weights, self.changes.entry(k));
                }
                for k in self.again.range(group) {
                    self.solution.eliminate(self.again.entry(k));
                }
            }
            None => self.start_afresh(policy, weights),
        }
    }

    #[inline(never)] // Rare: one copy of so much code is enough.
    fn start_afresh(&mut self, policy: &P, weights: &[R]) {
        let n = self.group.len();
        for state in 0..n {
            self.set_row(policy, weights, state);
        }
        for place in 0..n {
            self.solution.eliminate(place);
        }
    }

    #[inline(always)]
    fn set_row(&mut self, policy: &P, weights: &[R], state: usize) {
        policy.distribution(weights, &state, &mut self.at);
        let (row, leak, reward) = self.solution.chain.row_mut(state);
        self.model.bellman(policy, &self.at, state, Bellman { row, leak, reward });
    }
}

impl<R: Real> Solution<R> {
    #[inline(always)]
    fn eliminate(&mut self, place: usize) {
        self.chain.eliminate(place);
        if self.weightings {
            self.chain.carry(place);
        }
    }

    /// v(s), or m(s).
    #[inline(always)]
    pub(crate) fn at(&mut self, state: usize) -> R {
        let place = self.chain.order.place[state];
        let mut depth = 0;
        let mut next = Some(place);
        while let Some(k) = next
            && self.computed[k] != self.version
        {
            self.way[depth] = k;
            depth += 1;
            next = self.chain.order.parent[k];
        }
        for &k in self.way[..depth].iter().rev() {
            self.known[k] = if self.weightings {
                self.chain.weighting(k, &self.known)
            } else {
                self.chain.value(k, &self.known)
            };
            self.computed[k] = self.version;
        }
        self.known[place]
    }
}
