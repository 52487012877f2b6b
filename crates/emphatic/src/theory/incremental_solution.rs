//! The exact solution for a policy that changes a little at every step.

use super::Model;
use super::compressed_rows::CompressedRows;
use super::elimination::Chain;
use super::elimination_order::EliminationOrder;
use super::model::check_policy;
use crate::features::State;
use crate::part::ComposeError;
use crate::policy::Policy;
use crate::problem::ProblemError;
use crate::real::Real;
use std::any::Any;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// The exact solution, kept up to date while a policy learns.
///
/// An update in one state changes the policy in the states that share a feature with it, and so those rows of
/// P_{π,γ}. Only these rows and the places that depend on them are eliminated again, and a value is computed only when it
/// is needed, along its path to the root. On the long counterexample that is about three rows an update, where a new
/// solution would take all eleven. The arithmetic is the same as that of a new solution, to the bit (see [`Chain`]),
/// so no error builds up however long the policy learns.
#[derive(Clone, Debug)]
pub(crate) struct IncrementalSolution<R: Real, M, P: Policy> {
    pub(crate) model: Arc<M>,
    policy: P,
    pub(crate) solution: Solution<R>,
    /// States that change together: the group of each state, the states of each group, and the places to
    /// eliminate again when it changes, up to where their paths to the root meet.
    group: Vec<usize>,
    members: CompressedRows<usize>,
    outdated: CompressedRows<usize>,
    at: P::Distribution<R>,
}

/// v or m for the current policy, computed where it is needed.
#[derive(Clone, Debug)]
pub(crate) struct Solution<R> {
    chain: Chain<R>,
    quantity: Quantity,
    /// v or m by place, and the version of the chain it was computed from.
    solved: Vec<R>,
    solved_version: Vec<u64>,
    version: u64,
    /// Scratch space for the path to the root, which is no longer than there are places.
    path: Vec<usize>,
}

/// The quantity that is kept up to date.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Quantity {
    /// v.
    Values,
    /// m.
    EmphaticWeighting,
}

impl<R: Real, P: Policy, M: Model<P>> IncrementalSolution<R, M, P> {
    /// The solution for a policy that starts from zero weights.
    pub(crate) fn new(model: Arc<M>, policy: &P, quantity: Quantity) -> Result<Self, ProblemError> {
        check_policy(&*model, policy)?;
        let order = model.order();
        let n = order.states();
        let Groups { group, members } = Groups::new(policy, n);
        let outdated = CompressedRows::new(members.iter().map(|states| paths_to_meeting(order, states)));
        let solution = Solution {
            chain: Chain::of_model(&*model),
            quantity,
            solved: vec![R::zero(); n],
            solved_version: vec![0; n],
            version: 0,
            path: vec![0; n],
        };
        let (at, policy) = (policy.room(), policy.clone());
        let mut incremental =
            Self { solution, group, members: CompressedRows::new(members), outdated, at, policy, model };
        incremental.solve_anew(&vec![R::zero(); incremental.policy.len()]);
        Ok(incremental)
    }

    /// Changes to another policy, which must be of the same type.
    pub(crate) fn set_policy(&mut self, policy: &dyn Any) -> Result<(), ComposeError> {
        let policy: &P = policy.downcast_ref().ok_or(ComposeError::Policy)?;
        *self = Self::new(self.model.clone(), policy, self.solution.quantity)?;
        Ok(())
    }

    /// Updates the solution after the policy's weights have changed by an update in a state, or altogether.
    #[inline(always)]
    pub(crate) fn policy_changed(&mut self, weights: &[R], state: Option<State>) {
        if weights.is_empty() && state.is_some() {
            return; // An update leaves a policy without weights as it is.
        }
        self.solution.version += 1;
        match state {
            Some(State::Number(state)) => {
                let group = self.group[state];
                for k in self.members.range(group) {
                    self.set_row(weights, self.members.entries[k]);
                }
                let mut next = None;
                for k in self.outdated.range(group) {
                    let place = self.outdated.entries[k];
                    self.solution.eliminate(place);
                    next = self.solution.chain.order.parent[place];
                }
                while let Some(place) = next {
                    self.solution.eliminate(place);
                    next = self.solution.chain.order.parent[place];
                }
            }
            _ => self.solve_anew(weights),
        }
    }

    #[inline(never)] // Rare, and too much code to copy everywhere.
    fn solve_anew(&mut self, weights: &[R]) {
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
        model.bellman(policy, at, state, solution.chain.bellman_mut(state));
    }
}

/// The groups of states that change together: the group of each state, and the members of each group, ascending.
struct Groups {
    group: Vec<usize>,
    members: Vec<Vec<usize>>,
}

impl Groups {
    fn new<P: Policy>(policy: &P, n: usize) -> Self {
        let row = |s: usize| policy.features().of_number(s);
        let seen: Vec<Vec<usize>> = (0..n).map(|s| row(s).iter().map(|(f, _)| f).collect()).collect();
        let mut states: HashMap<usize, Vec<usize>> = HashMap::new();
        for (s, features) in seen.iter().enumerate() {
            features.iter().for_each(|&f| states.entry(f).or_default().push(s));
        }
        // Many states may have the same features, so each list is built once.
        let (mut by_features, mut by_states) = (HashMap::new(), HashMap::new());
        let mut members = Vec::new();
        let mut group_of = |features: Vec<usize>| {
            *by_features.entry(features).or_insert_with_key(|features| {
                let mut together: Vec<usize> = features.iter().flat_map(|f| &states[f]).copied().collect();
                together.sort_unstable();
                together.dedup();
                *by_states.entry(together).or_insert_with_key(|together: &Vec<usize>| {
                    members.push(together.clone());
                    members.len() - 1
                })
            })
        };
        let group = seen.iter().map(|features| group_of(features.clone())).collect();
        Self { group, members }
    }
}

/// The places on the paths from some states to the root, ascending, up to where all of them have met.
fn paths_to_meeting(order: &EliminationOrder, states: &[usize]) -> Vec<usize> {
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
        if self.quantity == Quantity::EmphaticWeighting {
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
            && self.solved_version[k] != self.version
        {
            self.path[depth] = k;
            depth += 1;
            next = self.chain.order.parent[k];
        }
        for &k in self.path[..depth].iter().rev() {
            self.solved[k] = match self.quantity {
                Quantity::Values => self.chain.value(k, &self.solved),
                Quantity::EmphaticWeighting => self.chain.weighting(k, &self.solved),
            };
            self.solved_version[k] = self.version;
        }
        self.solved[place]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theory::tests::numbers;
    use crate::{Exact, ExactCritic, Learner, Random, Softmax, Step, Table, Task, follow_on_ace};

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
            let Groups { group, members } =
                Groups::new(&Softmax { features: (&features).into(), actions: 2 }, n);
            // In the order in which they are first met.
            let mut expected: Vec<Vec<usize>> = Vec::new();
            for (s, &group) in group.iter().enumerate() {
                let together: Vec<usize> = (0..n).filter(|&t| shared(&features, s, t)).collect();
                if !expected.contains(&together) {
                    expected.push(together.clone());
                }
                assert_eq!(members[group], together);
            }
            assert_eq!(members, expected);
        }
    }

    #[test]
    fn paths_end_where_they_meet() {
        // Places 0 to 6 in two trees: 0 and 1 lead to 3, 2 and 3 to 5; 4 leads to 6.
        let links = [vec![3], vec![3], vec![5], vec![5], vec![6], vec![], vec![]];
        let mut order = EliminationOrder::new(&links).unwrap();
        order.place = (0..7).collect();
        order.parent = vec![Some(3), Some(3), Some(5), Some(5), Some(6), None, None];
        assert_eq!(paths_to_meeting(&order, &[1]), [1]);
        assert_eq!(paths_to_meeting(&order, &[1, 0]), [0, 1, 3]);
        assert_eq!(paths_to_meeting(&order, &[1, 2]), [1, 2, 3, 5]);
        assert_eq!(paths_to_meeting(&order, &[0, 3]), [0, 3]);
        assert_eq!(paths_to_meeting(&order, &[0, 4]), [0, 3, 4, 5, 6]);
    }

    #[test]
    fn a_policy_that_changes_step_by_step_keeps_the_exact_value() {
        for seed in 0..8 {
            let mut random = Random::new(505, seed);
            let task = Arc::new(Task::random(&mut random));
            let policy = task.softmax();
            let critic = ExactCritic::<f64, _, _>::new(task.clone(), &policy).unwrap();
            let mut learner =
                follow_on_ace(policy.clone(), critic).lambda_a(0.5).alpha(0.05).build().unwrap();
            for step in task.stream(1, seed).take(2000) {
                let before = learner.weights().to_vec();
                let ([state, _, next], Step { reward, gamma_next, .. }) = (numbers(&step), step);
                let delta = learner.step(&step).unwrap().delta;
                // Solved anew, the values are the same to the last bit.
                let exact = Exact::new(&*task, &policy, &before).unwrap();
                let mut target = reward;
                if gamma_next > 0.0 {
                    target += gamma_next * exact.values()[next];
                }
                assert_eq!(delta.to_bits(), (target - exact.values()[state]).to_bits());
            }
        }
    }
}
