//! Minimum-degree ordering: states with few neighbours are eliminated first, so that a sparse chain stays sparse.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Up to this many states the order is by exact degree, with a shallow tree; above, by fast bounds of the degree.
pub(super) const FEW: usize = 1000;

/// The states in the order of elimination, given the states that each is linked with: ascending lists, symmetric, without
/// loops. `None` as soon as it is clear that more than `most` entries would be filled.
pub(super) fn minimum_degree(linked: Vec<Vec<usize>>, most: usize) -> Option<Vec<usize>> {
    if linked.len() <= FEW { Some(by_degree(linked)) } else { Quotient::new(linked).order(most) }
}

/// Among states of the same degree those with the least eliminated behind them go first, so that the tree of
/// dependencies is shallow and a change in one state reaches few others.
fn by_degree(mut linked: Vec<Vec<usize>>) -> Vec<usize> {
    let n = linked.len();
    let mut height = vec![0usize; n];
    let mut done = vec![false; n];
    let mut queue: BinaryHeap<_> = (0..n).map(|s| Reverse((linked[s].len(), 0, s))).collect();
    let mut order = Vec::with_capacity(n);
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
    }
    order
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

/// The links between the states that are left, in no more room than at the start: an eliminated state leaves a
/// clique of its neighbours, of which only the members are listed. Degrees are bounds, after Amestoy, Davis and Duff's
/// approximate minimum degree.
struct Quotient {
    /// By state, the states it is linked with apart from cliques, and the cliques that it belongs to.
    linked: Vec<Vec<usize>>,
    cliques: Vec<Vec<usize>>,
    /// By clique (numbered by the eliminated state) its members, and the number of states they stand for. Cliques within
    /// later ones are empty.
    members: Vec<Vec<usize>>,
    size: Vec<usize>,
    /// The states with the same neighbours, which are eliminated with this one; empty if it is gone.
    alike: Vec<Vec<usize>>,
    degree: Vec<usize>,
    /// The height of the tree of eliminated states below it.
    height: Vec<usize>,
    /// Degree, height and number; and the degree and height with which each state is in the queue, which may be outdated.
    queue: BinaryHeap<Reverse<(usize, usize, usize)>>,
    queued: Vec<(usize, usize)>,
    /// States with so many neighbours that they are best left to the end.
    hubs: Vec<usize>,
    /// The number of entries that are filled for sure, without those of hubs.
    entries: usize,
    /// By state, the last clique it was found in; by clique, the later one it was last compared with, and the number of its
    /// states outside of that one.
    found: Vec<usize>,
    compared: Vec<usize>,
    outside: Vec<usize>,
}

/// The number of pairs of this many states.
fn pairs(states: usize) -> usize {
    states * states.saturating_sub(1) / 2
}

/// No state and no clique.
const NONE: usize = usize::MAX;

impl Quotient {
    fn new(mut linked: Vec<Vec<usize>>) -> Self {
        let n = linked.len();
        let is_hub: Vec<bool> = linked.iter().map(|row| row.len() * row.len() > 100 * n).collect();
        let mut hubs: Vec<usize> = (0..n).filter(|&s| is_hub[s]).collect();
        hubs.sort_by_key(|&s| linked[s].len());
        for row in &mut linked {
            row.retain(|&t| !is_hub[t]);
        }
        let degree: Vec<usize> = linked.iter().map(Vec::len).collect();
        Self {
            cliques: vec![Vec::new(); n],
            members: vec![Vec::new(); n],
            size: vec![0; n],
            alike: (0..n).map(|s| if is_hub[s] { vec![] } else { vec![s] }).collect(),
            queued: degree.iter().map(|&degree| (degree, 0)).collect(),
            queue: (0..n).filter(|&s| !is_hub[s]).map(|s| Reverse((degree[s], 0, s))).collect(),
            found: vec![NONE; n],
            compared: vec![NONE; n],
            outside: vec![0; n],
            height: vec![0; n],
            linked,
            degree,
            hubs,
            entries: 0,
        }
    }

    fn order(mut self, most: usize) -> Option<Vec<usize>> {
        let mut order = Vec::with_capacity(self.linked.len());
        while let Some(Reverse((degree, height, s))) = self.queue.pop() {
            if self.alike[s].is_empty() {
                continue;
            }
            if (degree, height) != (self.degree[s], self.height[s]) {
                self.enqueue(s); // It comes later.
                continue;
            }
            if self.eliminate(s, &mut order) > most {
                return None;
            }
        }
        order.append(&mut self.hubs);
        Some(order)
    }

    /// Eliminates a state, and counts the entries that are filled by now or will be in any order.
    fn eliminate(&mut self, pivot: usize, order: &mut Vec<usize>) -> usize {
        let clique = self.neighbours(pivot);
        let before = order.len();
        order.append(&mut self.alike[pivot]);
        self.compare(pivot, &clique);
        for &s in &clique {
            self.tidy(pivot, s);
        }
        // A state without neighbours outside of the clique adds none, and can be eliminated at once.
        let (inside, clique): (Vec<usize>, Vec<usize>) =
            clique.into_iter().partition(|&s| self.linked[s].is_empty() && self.cliques[s].is_empty());
        for s in inside {
            order.append(&mut self.alike[s]);
        }
        let height = self.height[pivot] + order.len() - before;
        let left = self.linked.len() - self.hubs.len() - order.len();
        let size = clique.iter().map(|&s| self.alike[s].len()).sum();
        for &s in &clique {
            self.bound_degree(s, size, left);
            self.height[s] = self.height[s].max(height);
            self.cliques[s].push(pivot);
        }
        self.join(&clique);
        for &s in &clique {
            if (self.degree[s], self.height[s]) < self.queued[s] {
                self.enqueue(s);
            }
        }
        self.members[pivot] = clique;
        self.size[pivot] = size;
        // The eliminated states are linked with each other and with the clique, whose members are linked with each other.
        let gone = order.len() - before;
        self.entries += pairs(gone) + gone * size;
        self.entries + pairs(size)
    }

    fn enqueue(&mut self, s: usize) {
        self.queued[s] = (self.degree[s], self.height[s]);
        self.queue.push(Reverse((self.degree[s], self.height[s], s)));
    }

    /// The neighbours of a state; its cliques are absorbed in the one it leaves.
    fn neighbours(&mut self, pivot: usize) -> Vec<usize> {
        self.found[pivot] = pivot;
        let mut all = std::mem::take(&mut self.linked[pivot]);
        for clique in std::mem::take(&mut self.cliques[pivot]) {
            all.append(&mut self.members[clique]);
        }
        all.retain(|&s| !self.alike[s].is_empty() && std::mem::replace(&mut self.found[s], pivot) != pivot);
        all
    }

    /// Counts the states of other cliques outside of this one.
    fn compare(&mut self, pivot: usize, clique: &[usize]) {
        for &s in clique {
            for &other in &self.cliques[s] {
                if std::mem::replace(&mut self.compared[other], pivot) != pivot {
                    self.outside[other] = self.size[other];
                }
                self.outside[other] -= self.alike[s].len();
            }
        }
    }

    /// Removes the links of a member that the new clique replaces.
    fn tidy(&mut self, pivot: usize, s: usize) {
        let Self { linked, cliques, members, alike, found, outside, .. } = self;
        linked[s].retain(|&t| !alike[t].is_empty() && found[t] != pivot);
        cliques[s].retain(|&other| {
            if outside[other] == 0 {
                members[other] = Vec::new();
            }
            !members[other].is_empty()
        });
    }

    /// Bounds the degree of a member of a new clique, apart from states with the same neighbours. Members of several other
    /// cliques count several times.
    fn bound_degree(&mut self, s: usize, size: usize, left: usize) {
        let others = size - self.alike[s].len();
        let linked: usize = self.linked[s].iter().map(|&t| self.alike[t].len()).sum();
        let outside: usize = self.cliques[s].iter().map(|&other| self.outside[other]).sum();
        let bound = others + linked + outside;
        self.degree[s] = bound.min(self.degree[s] + others).min(left - self.alike[s].len());
    }

    /// Joins the members of a clique that have the same neighbours: they can be eliminated together.
    fn join(&mut self, clique: &[usize]) {
        let sum = |list: &[usize]| list.iter().fold(0usize, |sum, &x| sum.wrapping_add(x));
        let key = |s: usize| sum(&self.linked[s]).wrapping_add(sum(&self.cliques[s]));
        let mut by_key: Vec<(usize, usize)> = clique.iter().map(|&s| (key(s), s)).collect();
        by_key.sort_unstable();
        for same in by_key.chunk_by(|a, b| a.0 == b.0) {
            for (k, &(_, s)) in same.iter().enumerate() {
                if self.alike[s].is_empty() {
                    continue; // It was joined with another.
                }
                for &(_, t) in &same[k + 1..] {
                    if self.same_neighbours(s, t) {
                        let mut joined = std::mem::take(&mut self.alike[t]);
                        self.degree[s] -= joined.len();
                        self.height[s] = self.height[s].max(self.height[t]);
                        self.alike[s].append(&mut joined);
                    }
                }
            }
        }
    }

    fn same_neighbours(&self, s: usize, t: usize) -> bool {
        self.cliques[s] == self.cliques[t] && self.linked[s] == self.linked[t]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random_stream::Random;

    fn grid(width: usize, height: usize) -> Vec<Vec<usize>> {
        let near = |s: usize| {
            let (x, y) = (s % width, s / width);
            let all = [(y > 0, s.wrapping_sub(width)), (x > 0, s.wrapping_sub(1))];
            let more = [(x + 1 < width, s + 1), (y + 1 < height, s + width)];
            all.into_iter().chain(more).filter(|near| near.0).map(|near| near.1).collect()
        };
        (0..width * height).map(near).collect()
    }

    fn random_links(random: &mut Random, n: usize, links: usize) -> Vec<Vec<usize>> {
        let mut linked = vec![Vec::new(); n];
        for _ in 0..links {
            let (s, t) = (random.below(n), random.below(n));
            if s != t && !linked[s].contains(&t) {
                linked[s].push(t);
                linked[t].push(s);
            }
        }
        linked.iter_mut().for_each(|row| row.sort_unstable());
        linked
    }

    /// The number of entries after elimination in this order, those at the start included.
    fn entries(linked: &[Vec<usize>], order: &[usize]) -> usize {
        let mut linked = linked.to_vec();
        let mut entries = 0;
        for &s in order {
            let clique = std::mem::take(&mut linked[s]);
            for &t in &clique {
                linked[t] = merge_without(&linked[t], &clique, s, t);
            }
            entries += clique.len();
        }
        entries
    }

    fn check(linked: &[Vec<usize>], at_most: f64) {
        let order = Quotient::new(linked.to_vec()).order(usize::MAX).unwrap();
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..linked.len()).collect::<Vec<_>>());
        let (got, best) = (entries(linked, &order), entries(linked, &by_degree(linked.to_vec())));
        assert!(got as f64 <= at_most * best as f64, "{got} entries instead of {best}");
    }

    #[test]
    fn bounds_of_degrees_fill_hardly_more_than_degrees() {
        check(&grid(40, 25), 1.1);
        check(&grid(1, 500), 1.0);
        for seed in 0..60 {
            let mut random = Random::new(32, seed);
            let n = 2 + random.below(120);
            check(&random_links(&mut random, n, 2 * n), 1.25);
        }
    }

    /// The whole order was once computed before its entries were counted.
    #[test]
    fn an_order_that_fills_too_much_is_given_up() {
        let mut random = Random::new(34, 0);
        for linked in [grid(40, 30), random_links(&mut random, 1200, 3000)] {
            let order = minimum_degree(linked.clone(), usize::MAX).unwrap();
            let filled = entries(&linked, &order);
            assert_eq!(minimum_degree(linked.clone(), filled), Some(order));
            assert_eq!(minimum_degree(linked, filled - 1), None);
        }
    }

    #[test]
    fn hubs_go_last() {
        // Every state of a grid is linked with state 0, and half of them with state 1.
        let mut linked = grid(50, 40);
        for s in 0..2000 {
            for hub in (0..2).filter(|&hub| s > 1 && s % (hub + 1) == 0) {
                linked[s].push(hub);
                linked[hub].push(s);
            }
        }
        for row in &mut linked {
            row.sort_unstable();
            row.dedup();
        }
        assert_eq!(minimum_degree(linked.clone(), usize::MAX).unwrap()[1998..], [1, 0]);
        check(&linked, 1.0);
    }
}
