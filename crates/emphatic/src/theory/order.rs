//! In which order states are eliminated, and what that leaves where.

use crate::features::{FeatureError, check_state};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Lists of entries, one list for each row, stored one after the other.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Lists<T> {
    starts: Vec<usize>,
    entries: Vec<T>,
}

impl<T> Lists<T> {
    pub(crate) fn new(rows: impl IntoIterator<Item = impl IntoIterator<Item = T>>) -> Self {
        let mut lists = Self { starts: vec![0], entries: Vec::new() };
        for row in rows {
            lists.entries.extend(row);
            lists.starts.push(lists.entries.len());
        }
        lists
    }

    #[inline(always)]
    pub(crate) fn range(&self, row: usize) -> std::ops::Range<usize> {
        self.starts[row]..self.starts[row + 1]
    }

    #[inline(always)]
    pub(crate) fn entry(&self, slot: usize) -> T
    where
        T: Copy,
    {
        self.entries[slot]
    }

    #[inline(always)]
    pub(crate) fn row(&self, row: usize) -> &[T] {
        &self.entries[self.range(row)]
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }
}

/// An entry of the eliminated matrix: which place it concerns, and where its transposed twin is stored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Entry {
    pub(crate) place: usize,
    pub(crate) twin: usize,
}

/// The order in which the states of a chain are eliminated, worked out once from which states lead where.
///
/// States of few neighbours go first (minimum degree), so that a sparse chain stays sparse; among equals those
/// with the least eliminated behind them, so that the tree of dependencies is shallow and a change in one
/// state reaches few others. All below is told in *places*: place 0 is eliminated first.
#[derive(Clone, Debug, PartialEq)]
pub struct Order {
    /// Which states each state leads to, itself included if it does, in ascending order.
    pub(crate) successors: Lists<usize>,
    /// The place of each state.
    pub(crate) place: Vec<usize>,
    /// The state in each place.
    pub(crate) state: Vec<usize>,
    /// The next place that depends on each place: the root of a tree has none.
    pub(crate) parent: Vec<Option<usize>>,
    /// For each place, the later places it is linked with, ascending; the twin lies in `lower`.
    pub(crate) upper: Lists<Entry>,
    /// For each place, the earlier places it is linked with, ascending; the twin lies in `upper`.
    pub(crate) lower: Lists<Entry>,
}

impl Order {
    /// The order for a chain in which `successors[s]` are the states that `s` leads to.
    pub fn new(successors: &[Vec<usize>]) -> Result<Self, FeatureError> {
        let n = successors.len();
        successors.iter().flatten().try_for_each(|&t| check_state(t, n))?;
        let (state, later) = minimum_degree(neighbours(successors));
        let mut place = vec![0; n];
        for (k, &s) in state.iter().enumerate() {
            place[s] = k;
        }
        let later: Vec<Vec<usize>> = later
            .into_iter()
            .map(|row| {
                let mut row: Vec<usize> = row.into_iter().map(|s| place[s]).collect();
                row.sort_unstable();
                row
            })
            .collect();

        // Walking the upper lists in order of places fills the lower lists in order of places too.
        let mut lower: Vec<Vec<Entry>> = vec![Vec::new(); n];
        let mut slot = 0;
        for (k, row) in later.iter().enumerate() {
            for &j in row {
                lower[j].push(Entry { place: k, twin: slot });
                slot += 1;
            }
        }
        let lower = Lists::new(lower);
        let mut twins = vec![0; slot];
        for (k, entry) in lower.entries.iter().enumerate() {
            twins[entry.twin] = k;
        }
        let mut twins = twins.into_iter();
        let parent = later.iter().map(|row| row.first().copied()).collect();
        let upper = Lists::new(later.into_iter().map(|row| {
            row.into_iter().zip(&mut twins).map(|(place, twin)| Entry { place, twin }).collect::<Vec<_>>()
        }));
        let successors = Lists::new(successors.iter().map(|row| {
            let mut row = row.clone();
            row.sort_unstable();
            row.dedup();
            row
        }));
        Ok(Self { successors, place, state, parent, upper, lower })
    }

    /// The number of states.
    pub fn states(&self) -> usize {
        self.state.len()
    }
}

/// Which states are linked, in either direction, without loops; each list ascending.
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

/// The states in the order of elimination, and for each those that it is linked with when its turn comes.
fn minimum_degree(mut linked: Vec<Vec<usize>>) -> (Vec<usize>, Vec<Vec<usize>>) {
    let n = linked.len();
    let mut height = vec![0usize; n];
    let mut done = vec![false; n];
    let mut queue: BinaryHeap<_> = (0..n).map(|s| Reverse((linked[s].len(), 0, s))).collect();
    let (mut order, mut later) = (Vec::with_capacity(n), Vec::with_capacity(n));
    while let Some(Reverse((degree, at_height, s))) = queue.pop() {
        if done[s] || degree != linked[s].len() || at_height != height[s] {
            continue; // An outdated entry; the current one is still in the queue.
        }
        done[s] = true;
        let clique = std::mem::take(&mut linked[s]);
        for &t in &clique {
            linked[t] = merge_without(&linked[t], &clique, s, t);
            height[t] = height[t].max(height[s] + 1);
            queue.push(Reverse((linked[t].len(), height[t], t)));
        }
        order.push(s);
        later.push(clique);
    }
    (order, later)
}

/// The union of two ascending lists, without `s` and `t`.
fn merge_without(a: &[usize], b: &[usize], s: usize, t: usize) -> Vec<usize> {
    let mut out = Vec::with_capacity(a.len() + b.len());
    let (mut a, mut b) = (a.iter().peekable(), b.iter().peekable());
    loop {
        let next = match (a.peek(), b.peek()) {
            (Some(x), Some(y)) => **x.min(y),
            (Some(x), None) | (None, Some(x)) => **x,
            (None, None) => return out,
        };
        a.next_if(|x| **x == next);
        b.next_if(|x| **x == next);
        if next != s && next != t {
            out.push(next);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_eliminated_from_both_ends() {
        // S4 – S2 – S0 – S1 – S3: no fill, and the middle is the root of a tree of depth two.
        let order = Order::new(&[vec![1, 2], vec![0, 3], vec![0, 4], vec![], vec![2]]).unwrap();
        assert_eq!(order.upper.len(), 4);
        assert_eq!(order.state, [3, 4, 1, 2, 0]);
        assert_eq!(order.parent, [Some(2), Some(3), Some(4), Some(4), None]);
    }

    #[test]
    fn a_state_that_does_not_exist_is_named() {
        assert_eq!(Order::new(&[vec![5]]), Err(FeatureError::State { state: 5, states: 1 }));
    }

    #[test]
    fn twins_point_at_each_other() {
        let order = Order::new(&[vec![1, 3], vec![2, 4], vec![3, 0], vec![4], vec![0, 4]]).unwrap();
        for k in 0..5 {
            for slot in order.upper.range(k) {
                let entry = order.upper.entries[slot];
                let twin = order.lower.entries[entry.twin];
                assert_eq!((twin.place, twin.twin), (k, slot));
                assert!(order.lower.range(entry.place).contains(&entry.twin));
            }
        }
    }
}
