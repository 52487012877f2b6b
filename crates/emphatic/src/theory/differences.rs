//! Accurate differences between the solutions of a chain in neighbouring states.
//!
//! Where hardly anything leaks, the solution is huge and hardly differs between states that lead to each other, so subtracting
//! loses most of the digits. When a state is eliminated, its value becomes a part of its own plus shares of later states' values,
//! and one less the sum of these shares is known without subtracting. So the differences follow from those between later states:
//!
//! ```text
//! x_i = own_i + Σ_k share_ik x_k
//! x_i − x_j = own_i − missing_i x_j + Σ_k share_ik (x_k − x_j)
//! ```

use super::elimination::Chain;
use super::elimination_order::EliminationOrder;
use crate::real::Wide;
use std::sync::Arc;

/// The inverse of a pivot above which differences are worth the work, which is that of one more elimination: subtraction would leave
/// ten digits.
const LARGE: f64 = 1e6;

/// A solution, by state, and its differences.
#[derive(Clone, Debug)]
pub(super) struct Differences {
    order: Arc<EliminationOrder>,
    pub(super) x: Vec<Wide>,
    /// x_i − x_j for each place i and later place j that it is linked with, where they are worth the work.
    fine: Option<Vec<Wide>>,
}

impl Differences {
    /// x(s) − x(t), by subtraction if neither state leads to the other.
    pub(super) fn between(&self, s: usize, t: usize) -> Wide {
        self.between_with_size(s, t).0
    }

    /// The same, and the size of the numbers it was computed from.
    pub(super) fn between_with_size(&self, s: usize, t: usize) -> (Wide, Wide) {
        if s == t {
            return (Wide::ZERO, Wide::ZERO);
        }
        let coarse = (self.x[s] - self.x[t], self.x[s].abs() + self.x[t].abs());
        let Some(fine) = &self.fine else { return coarse };
        let (i, j) = (self.order.place[s], self.order.place[t]);
        let later = self.order.upper.row(i.min(j));
        let Ok(slot) = later.binary_search_by_key(&i.max(j), |entry| entry.place()) else { return coarse };
        let difference = fine[self.order.upper.range(i.min(j)).start + slot];
        (if i < j { difference } else { Wide::ZERO - difference }, difference.abs())
    }
}

/// The terms of each value, by place; shares as the order lists later places.
struct Parts {
    own: Vec<Wide>,
    missing: Vec<Wide>,
    shares: Vec<Wide>,
    /// Where these are more accurate than subtraction.
    fine: Vec<bool>,
}

impl Chain<Wide> {
    /// Solves x = rhs + P x.
    pub(super) fn solve_with_differences(&self, rhs: &[Wide]) -> Differences {
        let x = self.solve(rhs);
        let parts = || {
            let order = &*self.order;
            let mut own = self.substitute_forwards(rhs);
            own.iter_mut().zip(&self.inverse_pivot).for_each(|(own, inverse)| *own *= *inverse);
            let missing = self.leak.iter().zip(&self.inverse_pivot).map(|(leak, inverse)| *leak * *inverse);
            let shares = (0..x.len()).flat_map(|i| order.upper.range(i).map(move |slot| (i, slot)));
            let shares = shares.map(|(i, slot)| self.onward[slot] * self.inverse_pivot[i]).collect();
            Parts { own, missing: missing.collect(), shares, fine: vec![true; x.len()] }
        };
        let fine = self.is_delicate().then(|| differences(&self.order, &parts(), &x));
        Differences { order: self.order.clone(), x, fine }
    }

    /// Solves x = rhs + D⁻¹ Pᵀ D x, where D = diag(`weight`). `missing` returns one less the sums of these rows, times the weight, if
    /// it is needed; it may be negative.
    pub(super) fn solve_backwards(
        &self,
        weight: &[Wide],
        rhs: &[Wide],
        missing: impl FnOnce() -> Vec<Wide>,
    ) -> Differences {
        let per_weight = |x: Wide, s: usize| if weight[s].is_positive() { x / weight[s] } else { Wide::ZERO };
        let weighted: Vec<Wide> = rhs.iter().zip(weight).map(|(rhs, weight)| *rhs * *weight).collect();
        let solution = self.solve_transposed(&weighted);
        let x: Vec<Wide> = solution.into_iter().enumerate().map(|(s, x)| per_weight(x, s)).collect();
        let parts = || {
            let order = &*self.order;
            let missing = missing();
            let carried = |rhs: &[Wide]| -> Vec<Wide> {
                self.carry_forwards(rhs)
                    .into_iter()
                    .zip(&order.state)
                    .map(|(x, &s)| per_weight(x, s))
                    .collect()
            };
            let share = |i: usize| {
                order.upper.row(i).iter().map(move |entry| {
                    let later = weight[order.state[entry.place()]];
                    per_weight(self.passes[entry.twin()] * later, order.state[i])
                })
            };
            // Where the terms of what is missing sum to more than one, subtraction loses fewer digits.
            let sizes = carried(&missing.iter().map(|missing| missing.abs()).collect::<Vec<_>>());
            Parts {
                own: carried(&weighted),
                missing: carried(&missing),
                shares: (0..x.len()).flat_map(share).collect(),
                fine: sizes.into_iter().map(|size| size <= Wide::ONE).collect(),
            }
        };
        let fine = self.is_delicate().then(|| differences(&self.order, &parts(), &x));
        Differences { order: self.order.clone(), x, fine }
    }

    fn is_delicate(&self) -> bool {
        self.inverse_pivot.iter().any(|inverse| *inverse > Wide::new(LARGE))
    }
}

fn differences(order: &EliminationOrder, parts: &Parts, x: &[Wide]) -> Vec<Wide> {
    let n = order.states();
    let x = |place: usize| x[order.state[place]];
    let mut differences = vec![Wide::ZERO; order.upper.len()];
    let (mut sum, mut share, mut linked) = (vec![Wide::ZERO; n], vec![Wide::ZERO; n], vec![n; n]);
    for i in (0..n).rev() {
        let later =
            || order.upper.range(i).zip(order.upper.row(i)).map(|(slot, entry)| (slot, entry.place()));
        if !parts.fine[i] {
            later().for_each(|(slot, j)| differences[slot] = x(i) - x(j));
            continue;
        }
        for (slot, j) in later() {
            sum[j] = parts.own[i] - parts.missing[i] * x(j);
            (share[j], linked[j]) = (parts.shares[slot], i);
        }
        // All later places that a place is linked with are linked with each other.
        for (_, k) in later() {
            for (slot, entry) in order.upper.range(k).zip(order.upper.row(k)) {
                let j = entry.place();
                if linked[j] == i {
                    sum[j] += share[k] * differences[slot];
                    sum[k] = sum[k] - share[j] * differences[slot];
                }
            }
        }
        later().for_each(|(slot, j)| differences[slot] = sum[j]);
    }
    differences
}

#[cfg(test)]
mod tests {
    use super::super::elimination::Row;
    use super::*;

    /// Two wells of two states each, which hardly leak and hardly lead to each other.
    #[test]
    fn differences_keep_their_digits() {
        let (leak, across) = (1e-200, 1e-150);
        let order = Arc::new(EliminationOrder::new(&vec![vec![0, 1, 2, 3]; 4]).unwrap());
        let row = |s: usize| {
            let p = |t: usize| if s / 2 == t / 2 { 0.5 } else { 0.5 * across };
            Row::leaking((0..4).map(|t| (t, Wide::new(p(t)))).collect(), Wide::new(leak))
        };
        let chain = Chain::leaking(order, row).unwrap();
        let solution = chain.solve_with_differences(&[1.0, 0.25, 0.0, 0.5].map(Wide::new));
        // In a well all rows are alike, so values differ by rewards; the wells' means of 5/8 and 1/4 meet half-way at any
        // crossing, (5/8 − 1/4)/(2 · across) apart.
        let near = |s, t, right: f64| {
            let found = solution.between(s, t).get();
            assert!((found / right - 1.0).abs() < 1e-14, "{s} {t}: {found} {right}");
            assert_eq!(solution.between(t, s).get(), -found);
        };
        near(0, 1, 0.75);
        near(2, 3, -0.5);
        near(1, 2, 0.375 / (2.0 * across));
        assert!((solution.x[0].get() * leak / 0.4375 - 1.0).abs() < 1e-14);
    }
}
