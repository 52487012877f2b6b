//! The order in which states are eliminated, and the entries that elimination fills.

use super::compressed_rows::CompressedRows;
use super::minimum_degree::{FEW, minimum_degree};
use crate::features::check_state;
use crate::problem::ProblemError;

/// The most entries on either side of the diagonal; a gigabyte and a half in all.
const MOST_ENTRIES: usize = 50_000_000;

/// An entry of the eliminated matrix: its place, and where the transposed entry (its twin) is stored. 32 bits each,
/// since there are many.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Entry {
    place: u32,
    twin: u32,
}

impl Entry {
    #[inline(always)]
    pub(crate) fn place(self) -> usize {
        self.place as usize
    }

    #[inline(always)]
    pub(crate) fn twin(self) -> usize {
        self.twin as usize
    }
}

/// A range of consecutive places that a place is linked with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Run {
    start: u32,
    end: u32,
}

impl Run {
    #[inline(always)]
    pub(crate) fn places(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }

    #[inline(always)]
    pub(crate) fn len(self) -> usize {
        (self.end - self.start) as usize
    }
}

/// The order in which the states of a chain are eliminated, computed once from the successors of each state.
///
/// States with few neighbours come first (minimum degree), so that a sparse chain stays sparse. The fields speak of
/// *places*: the state in place 0 is eliminated first.
#[derive(Clone, Debug, PartialEq)]
pub struct EliminationOrder {
    /// The states that each state leads to, in ascending order; itself, too, if it does.
    pub(crate) successors: CompressedRows<usize>,
    /// The place of each state.
    pub(crate) place: Vec<usize>,
    /// The state in each place.
    pub(crate) state: Vec<usize>,
    /// The next place that depends on each place; `None` for the root of a tree.
    pub(crate) parent: Vec<Option<usize>>,
    /// For each place, the later places it is linked with, ascending; the twin lies in `lower`.
    pub(crate) upper: CompressedRows<Entry>,
    /// The same as runs.
    pub(crate) runs: CompressedRows<Run>,
    /// For each place, the earlier places it is linked with, ascending; the twin lies in `upper`.
    pub(crate) lower: CompressedRows<Entry>,
}

impl EliminationOrder {
    /// The order for a chain in which `successors[s]` are the states that `s` leads to.
    ///
    /// Refuses chains whose elimination would fill more than 50 million entries on either side of the diagonal, as many as
    /// 10,000 states have that all lead to each other. (A grid of 100,000 states fills 3 million.)
    pub fn new(successors: &[Vec<usize>]) -> Result<Self, ProblemError> {
        let n = successors.len();
        successors.iter().flatten().try_for_each(|&t| check_state(t, n))?;
        let linked = neighbours(successors);
        let most = MOST_ENTRIES;
        let states = minimum_degree(linked.clone(), most).ok_or(ProblemError::Fill { states: n, most })?;
        let mut tree = Tree::new(&linked, states);
        if n > FEW {
            tree = Tree::new(&linked, tree.branch_by_branch());
        }
        let (upper, lower) = tree.fill(most)?;
        let successors = CompressedRows::new(successors.iter().map(|row| {
            let mut row = row.clone();
            row.sort_unstable();
            row.dedup();
            row
        }));
        let runs = CompressedRows::new((0..n).map(|k| runs(upper.row(k))));
        let Tree { state, place, parent, .. } = tree;
        Ok(Self { successors, parent, place, state, upper, runs, lower })
    }

    /// Refuses a random chain in which each state has this many successors, if its elimination is sure to fill too much.
    /// It can be asked before the chain is built: the elimination itself finds out late.
    pub fn check_random(states: usize, successors: usize) -> Result<(), ProblemError> {
        let core = random_core(states, successors);
        // Four times as much, to be sure.
        if core * core / 2.0 <= 4.0 * MOST_ENTRIES as f64 {
            return Ok(());
        }
        Err(ProblemError::Fill { states, most: MOST_ENTRIES })
    }

    /// The same order for the reversed chain, in which the same states are linked.
    pub(crate) fn transposed(&self) -> Self {
        let mut predecessors = vec![Vec::new(); self.states()];
        for s in 0..self.states() {
            self.successors.row(s).iter().for_each(|&t| predecessors[t].push(s));
        }
        Self { successors: CompressedRows::new(predecessors), ..self.clone() }
    }

    /// The number of states.
    pub fn states(&self) -> usize {
        self.state.len()
    }
}

/// How many states of a random chain are linked with all others in the end: a fraction that hardly depends on their
/// number. Elimination fills at least this core, as the tests measure.
fn random_core(states: usize, successors: usize) -> f64 {
    let k = successors as f64;
    states as f64 * ((k - 1.0) / (k + 4.0)).max(0.0)
}

fn runs(row: &[Entry]) -> impl Iterator<Item = Run> {
    let run = |row: &[Entry]| Run { start: row[0].place, end: row[0].place + row.len() as u32 };
    row.chunk_by(|a, b| a.place + 1 == b.place).map(run)
}

/// The states that each state is linked with in either direction, itself excluded, in ascending order.
fn neighbours(successors: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut linked = vec![Vec::new(); successors.len()];
    for (s, row) in successors.iter().enumerate() {
        for &t in row.iter().filter(|&&t| t != s) {
            linked[s].push(t);
            linked[t].push(s);
        }
    }
    for row in &mut linked {
        row.sort_unstable();
        row.dedup();
    }
    linked
}

/// The elimination tree: the dependencies between places when states are eliminated in a given order.
struct Tree<'a> {
    linked: &'a [Vec<usize>],
    state: Vec<usize>,
    place: Vec<usize>,
    parent: Vec<Option<usize>>,
}

impl<'a> Tree<'a> {
    /// The parent of a place is the first that it is linked with when it is eliminated. (Liu's algorithm: each place
    /// remembers the latest that was found to depend on it, so that no path is walked twice.)
    fn new(linked: &'a [Vec<usize>], state: Vec<usize>) -> Self {
        let mut place = vec![0; state.len()];
        for (k, &s) in state.iter().enumerate() {
            place[s] = k;
        }
        let mut parent = vec![None; state.len()];
        let mut latest = parent.clone();
        for (i, &s) in state.iter().enumerate() {
            for &t in &linked[s] {
                let mut k = place[t];
                while k < i {
                    let Some(next) = latest[k].replace(i) else {
                        parent[k] = Some(i);
                        break;
                    };
                    k = next;
                }
            }
        }
        Self { linked, state, place, parent }
    }

    /// The states in an order that fills the same entries, one branch of the tree after the other, so that places that depend
    /// on each other are close in memory.
    fn branch_by_branch(&self) -> Vec<usize> {
        let n = self.state.len();
        let mut size = vec![1; n];
        for (k, parent) in self.parent.iter().enumerate() {
            parent.iter().for_each(|&parent| size[parent] += size[k]);
        }
        // From the roots down, each branch takes the last places that are left of its parent's.
        let (mut left_of, mut left) = (vec![0; n], n);
        let mut state = vec![0; n];
        for (k, parent) in self.parent.iter().enumerate().rev() {
            let left = parent.map_or(&mut left, |parent| &mut left_of[parent]);
            let last = *left - 1;
            *left -= size[k];
            left_of[k] = last;
            state[last] = self.state[k];
        }
        state
    }

    /// Visits each pair of an earlier and a later place that are linked when the earlier one is eliminated, in ascending
    /// order of the later one: the earlier ones are on the paths to it from those linked with it at the start.
    fn visit(
        &self,
        mut visit: impl FnMut(usize, usize) -> Result<(), ProblemError>,
    ) -> Result<(), ProblemError> {
        let mut visited = vec![usize::MAX; self.state.len()];
        for (i, &s) in self.state.iter().enumerate() {
            for &t in &self.linked[s] {
                let mut next = Some(self.place[t]);
                while let Some(k) = next
                    && k < i
                    && visited[k] != i
                {
                    visited[k] = i;
                    visit(k, i)?;
                    next = self.parent[k];
                }
            }
        }
        Ok(())
    }

    /// For each place the later places, and the earlier places, that it is linked with. They are counted before memory is
    /// allocated, since there may be too many.
    fn fill(&self, most: usize) -> Result<(CompressedRows<Entry>, CompressedRows<Entry>), ProblemError> {
        let n = self.state.len();
        let (mut later, mut earlier, mut entries) = (vec![0; n], vec![0; n], 0);
        self.visit(|k, i| {
            later[k] += 1;
            earlier[i] += 1;
            entries += 1;
            if entries > most { Err(ProblemError::Fill { states: n, most }) } else { Ok(()) }
        })?;
        let mut upper: CompressedRows<Entry> = CompressedRows::with_lengths(&later);
        let mut lower = CompressedRows::with_lengths(&earlier);
        let mut end: Vec<usize> = upper.starts[..n].to_vec();
        self.visit(|k, i| {
            upper.entries[end[k]].place = i as u32;
            end[k] += 1;
            Ok(())
        })?;
        // Walking the upper lists in order of places fills the lower lists in order of places too.
        let mut end: Vec<usize> = lower.starts[..n].to_vec();
        for k in 0..n {
            for slot in upper.range(k) {
                let entry = &mut upper.entries[slot];
                let twin = &mut end[entry.place()];
                entry.twin = *twin as u32;
                lower.entries[*twin] = Entry { place: k as u32, twin: slot as u32 };
                *twin += 1;
            }
        }
        Ok((upper, lower))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::FeatureError;
    use crate::random_stream::Random;

    #[test]
    fn a_path_is_eliminated_from_both_ends() {
        // S4 – S2 – S0 – S1 – S3: no fill, and the middle is the root of a tree of depth two.
        let order = EliminationOrder::new(&[vec![1, 2], vec![0, 3], vec![0, 4], vec![], vec![2]]).unwrap();
        assert_eq!(order.upper.len(), 4);
        assert_eq!(order.state, [3, 4, 1, 2, 0]);
        assert_eq!(order.parent, [Some(2), Some(3), Some(4), Some(4), None]);
    }

    /// Eliminates in a full table of links, and compares the links of each place when it is eliminated.
    fn check_elimination(successors: &[Vec<usize>], order: &EliminationOrder) {
        let n = order.states();
        let mut linked = vec![vec![false; n]; n];
        for (s, row) in successors.iter().enumerate() {
            for &t in row {
                linked[order.place[s]][order.place[t]] = true;
                linked[order.place[t]][order.place[s]] = true;
            }
        }
        for k in 0..n {
            let later: Vec<usize> = (k + 1..n).filter(|&i| linked[k][i]).collect();
            for (&i, &j) in later.iter().flat_map(|i| later.iter().map(move |j| (i, j))) {
                linked[i][j] = true;
            }
            let places =
                |lists: &CompressedRows<Entry>| lists.row(k).iter().map(|e| e.place()).collect::<Vec<_>>();
            assert_eq!(order.parent[k], later.first().copied());
            assert_eq!(places(&order.lower), (0..k).filter(|&i| linked[i][k]).collect::<Vec<_>>());
            assert_eq!(places(&order.upper), later);
        }
    }

    #[test]
    fn what_is_filled_is_what_elimination_fills() {
        for seed in 0..40 {
            let mut random = Random::new(31, seed);
            let n = 1 + random.below(60);
            let successors: Vec<Vec<usize>> =
                (0..n).map(|_| (0..random.below(4)).map(|_| random.below(n)).collect()).collect();
            check_elimination(&successors, &EliminationOrder::new(&successors).unwrap());
        }
        // Thirty stars around a star: enough states to be eliminated branch by branch.
        let star: Vec<Vec<usize>> = (0..1200).map(|s| vec![s / 40 * 40, 0]).collect();
        check_elimination(&star, &EliminationOrder::new(&star).unwrap());
    }

    fn random_chain(states: usize, successors: usize) -> Vec<Vec<usize>> {
        let mut random = Random::new(33, successors as u64);
        (0..states).map(|_| (0..successors).map(|_| random.below(states)).collect()).collect()
    }

    /// A random problem of a million states once took minutes and gigabytes to refuse.
    #[test]
    fn random_chains_are_refused_by_their_numbers() {
        for successors in [1, 2, 3, 5, 9, 20, 60] {
            for states in [1500, 3000] {
                let filled =
                    EliminationOrder::new(&random_chain(states, successors)).unwrap().upper.len() as f64;
                let core = random_core(states, successors);
                assert!(core * core / 2.0 < filled, "{states} {successors}: {filled}, {core}");
            }
        }
        assert!(EliminationOrder::check_random(1_000_000, 1).is_ok());
        assert!(EliminationOrder::check_random(100_000, 2).is_ok());
        assert!(EliminationOrder::check_random(10_000, 10_000).is_ok());
        for successors in [2, 3, 9] {
            assert!(EliminationOrder::check_random(1_000_000, successors).is_err());
        }
    }

    #[test]
    fn too_much_to_fill_is_refused() {
        let ring: Vec<Vec<usize>> = vec![vec![1, 3], vec![0, 2], vec![1, 3], vec![0, 2]];
        let tree = Tree::new(&ring, vec![0, 1, 2, 3]);
        assert_eq!(tree.fill(4), Err(ProblemError::Fill { states: 4, most: 4 }));
        assert_eq!(tree.fill(5).unwrap().0.len(), 5);
    }

    #[test]
    fn a_state_that_does_not_exist_is_named() {
        assert_eq!(
            EliminationOrder::new(&[vec![5]]),
            Err(FeatureError::State { state: 5, states: 1 }.into())
        );
    }

    #[test]
    fn twins_point_at_each_other() {
        let order =
            EliminationOrder::new(&[vec![1, 3], vec![2, 4], vec![3, 0], vec![4], vec![0, 4]]).unwrap();
        for k in 0..5 {
            for slot in order.upper.range(k) {
                let entry = order.upper.entries[slot];
                let twin = order.lower.entries[entry.twin()];
                assert_eq!((twin.place(), twin.twin()), (k, slot));
                assert!(order.lower.range(entry.place()).contains(&entry.twin()));
            }
        }
    }
}
