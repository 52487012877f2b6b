//! The exact solution for a policy that keeps changing.

use super::chain::Chain;
use super::order::{Lists, Order};
use super::{Bellman, Model, check_policy};
use crate::features::State;
use crate::part::ComposeError;
use crate::policy::Policy;
use crate::problem::ProblemError;
use crate::real::Real;
use std::any::Any;
use std::collections::{BTreeSet, HashMap};
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
    policy: P,
    pub(crate) solution: Solution<R>,
    /// States that change together: the group of each state, the states of each group, and the places to
    /// eliminate again when it changes, up to where their ways to the root meet.
    group: Vec<usize>,
    changes: Lists<usize>,
    again: Lists<usize>,
    at: P::Distribution<R>,
}

/// v or m for the policy as it is now, computed where it is asked for.
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

impl<R: Real, P: Policy, M: Model<P>> Tracker<R, M, P> {
    /// Tracks v, or m if `weightings`, for a policy that starts from zero weights.
    pub(crate) fn new(model: Arc<M>, policy: &P, weightings: bool) -> Result<Self, ProblemError> {
        check_policy(&*model, policy)?;
        let order = model.order().clone();
        let n = order.states();
        let Groups { group, changes } = Groups::new(policy, n);
        let again = Lists::new(changes.iter().map(|states| ways_to_meet(&order, states)));
        let interest = model.stationary().iter().zip(model.interest()).map(|(d, i)| d * i).collect();
        let solution = Solution {
            chain: Chain::new(order, interest),
            weightings,
            known: vec![R::zero(); n],
            computed: vec![0; n],
            version: 0,
            way: vec![0; n],
        };
        let (at, policy) = (policy.room(), policy.clone());
        let mut tracker = Self { solution, group, changes: Lists::new(changes), again, at, policy, model };
        tracker.start_afresh(&vec![R::zero(); tracker.policy.len()]);
        Ok(tracker)
    }

    /// Takes up another policy, which must be of the same type.
    pub(crate) fn set_policy(&mut self, policy: &dyn Any) -> Result<(), ComposeError> {
        let policy: &P = policy.downcast_ref().ok_or(ComposeError::Policy)?;
        *self = Self::new(self.model.clone(), policy, self.solution.weightings)?;
        Ok(())
    }

    /// Takes up that the policy's weights have changed by an update in a state, or altogether.
    #[inline(always)]
    pub(crate) fn policy_changed(&mut self, weights: &[R], state: Option<State>) {
        self.solution.version += 1;
        match state {
            Some(State::Number(state)) => {
                let group = self.group[state];
                for k in self.changes.range(group) {
                    self.set_row(weights, self.changes.entry(k));
                }
                let mut next = None;
                for k in self.again.range(group) {
                    let place = self.again.entry(k);
                    self.solution.eliminate(place);
                    next = self.solution.chain.order.parent[place];
                }
                while let Some(place) = next {
                    self.solution.eliminate(place);
                    next = self.solution.chain.order.parent[place];
                }
            }
            _ => self.start_afresh(weights),
        }
    }

    #[inline(never)] // Rare: one copy of so much code is enough.
    fn start_afresh(&mut self, weights: &[R]) {
        let n = self.group.len();
        for state in 0..n {
            self.set_row(weights, state);
        }
        for place in 0..n {
            self.solution.eliminate(place);
        }
    }

    #[inline(always)]
    fn set_row(&mut self, weights: &[R], state: usize) {
        let Self { policy, model, solution, at, .. } = self;
        policy.distribution(weights, policy.features().of_number(state), at);
        let (row, leak, reward) = solution.chain.row_mut(state);
        model.bellman(policy, at, state, Bellman { row, leak, reward });
    }
}

/// Which states change together: the group of each state, and the states of each group, ascending.
struct Groups {
    group: Vec<usize>,
    changes: Vec<Vec<usize>>,
}

impl Groups {
    fn new<P: Policy>(policy: &P, n: usize) -> Self {
        let row = |s: usize| policy.features().of_number(s);
        let seen: Vec<Vec<usize>> = (0..n).map(|s| row(s).iter().map(|(f, _)| f).collect()).collect();
        let mut states: HashMap<usize, Vec<usize>> = HashMap::new();
        for (s, features) in seen.iter().enumerate() {
            features.iter().for_each(|&f| states.entry(f).or_default().push(s));
        }
        // Many states may have the same features, and then all of them: each list is put together once.
        let (mut by_features, mut by_states) = (HashMap::new(), HashMap::new());
        let mut changes = Vec::new();
        let mut group_of = |features: Vec<usize>| {
            *by_features.entry(features).or_insert_with_key(|features| {
                let mut together: Vec<usize> = features.iter().flat_map(|f| &states[f]).copied().collect();
                together.sort_unstable();
                together.dedup();
                *by_states.entry(together).or_insert_with_key(|together: &Vec<usize>| {
                    changes.push(together.clone());
                    changes.len() - 1
                })
            })
        };
        let group = seen.iter().map(|features| group_of(features.clone())).collect();
        Self { group, changes }
    }
}

/// The places on the ways from some states to the root, ascending, up to where all of them have met.
fn ways_to_meet(order: &Order, states: &[usize]) -> Vec<usize> {
    let mut places = Vec::new();
    let mut waiting: BTreeSet<usize> = states.iter().map(|&s| order.place[s]).collect();
    while let Some(place) = waiting.pop_first() {
        places.push(place);
        if !waiting.is_empty() {
            waiting.extend(order.parent[place]);
        }
    }
    places
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::Table;
    use crate::policy::Softmax;
    use crate::random_stream::Random;

    fn shared(table: &Table, s: usize, t: usize) -> bool {
        table.active(s).any(|(i, _)| table.active(t).any(|(j, _)| i == j))
    }

    #[test]
    fn states_that_share_a_feature_change_together() {
        for seed in 0..100 {
            let mut random = Random::new(77, seed);
            let (n, len) = (1 + random.below(30), 1 + random.below(12));
            let most = 1 + random.below(4);
            let rows: Vec<Vec<(usize, f64)>> = (0..n)
                .map(|_| (0..random.below(most + 1)).map(|_| (random.below(len), 1.0)).collect())
                .collect();
            let features = Table::new(len, &rows).unwrap();
            let Groups { group, changes } =
                Groups::new(&Softmax { features: (&features).into(), actions: 2 }, n);
            // One after the other, as they are first met.
            let mut expected: Vec<Vec<usize>> = Vec::new();
            for (s, &group) in group.iter().enumerate() {
                let together: Vec<usize> = (0..n).filter(|&t| shared(&features, s, t)).collect();
                if !expected.contains(&together) {
                    expected.push(together.clone());
                }
                assert_eq!(changes[group], together);
            }
            assert_eq!(changes, expected);
        }
    }

    #[test]
    fn ways_end_where_they_meet() {
        // Places 0 to 6 in two trees: 0 and 1 lead to 3, 2 and 3 to 5; 4 leads to 6.
        let links = [vec![3], vec![3], vec![5], vec![5], vec![6], vec![], vec![]];
        let mut order = Order::new(&links).unwrap();
        order.place = (0..7).collect();
        order.parent = vec![Some(3), Some(3), Some(5), Some(5), Some(6), None, None];
        assert_eq!(ways_to_meet(&order, &[1]), [1]);
        assert_eq!(ways_to_meet(&order, &[1, 0]), [0, 1, 3]);
        assert_eq!(ways_to_meet(&order, &[1, 2]), [1, 2, 3, 5]);
        assert_eq!(ways_to_meet(&order, &[0, 3]), [0, 3]);
        assert_eq!(ways_to_meet(&order, &[0, 4]), [0, 3, 4, 5, 6]);
    }
}
