//! The linear systems of the theory, solved by eliminating states.
//!
//! All are about the matrix I − P of a chain whose rows may leak: P ≥ 0, and what is missing from a row's sum to
//! one is its leak (the probability of ending, or of being discounted away). It is a diagonally dominant
//! M-matrix, so elimination needs no pivoting. More: written with off-diagonal entries and leaks instead of the
//! diagonal, elimination only ever adds, multiplies and divides non-negative numbers (the idea of Grassmann,
//! Taksar and Heyman). Nothing cancels, so every entry is accurate to a few units in the last place however
//! nearly singular the matrix is, and a pivot is zero exactly when the matrix *is* singular.
//!
//! Eliminating a state replaces each path through it by direct transitions:
//!
//! ```text
//! f_ik = p_ik / pivot_k                    how often i passes through k
//! p_ij += f_ik p_kj        leak_i += f_ik leak_k        r_i += f_ik r_k
//! pivot_i = Σ_{j later} p_ij + leak_i      the probability of leaving i for good
//! ```

use super::elimination_order::EliminationOrder;
use super::{Bellman, ModelStates};
use crate::real::{Real, Wide};
use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Sub};
use std::sync::Arc;

/// A number that chains are eliminated in.
pub(crate) trait Number:
    Copy
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + AddAssign
    + MulAssign
{
    /// A constant.
    fn constant(x: f64) -> Self;
}

impl<R: Real> Number for R {
    #[inline(always)]
    fn constant(x: f64) -> Self {
        Self::splat(x)
    }
}

impl Number for Wide {
    #[inline(always)]
    fn constant(x: f64) -> Self {
        Self::new(x)
    }
}

/// A chain for one policy (in each lane), with its states eliminated.
///
/// When rows change, [`Chain::eliminate`] is repeated for their places and those that depend on them (the path
/// to the root), in ascending order. The numbers are exactly those of a new elimination: they depend on the policy's
/// weights alone, and no error builds up.
#[derive(Clone, Debug)]
pub(crate) struct Chain<R> {
    pub(crate) order: Arc<EliminationOrder>,
    /// P, state by state, as `order.successors` lists it.
    row: Vec<R>,
    row_leak: Vec<R>,
    row_reward: Vec<R>,
    /// By place: f_ik as `order.lower` lists it, p_ij as `order.upper` does.
    pub(super) passes: Vec<R>,
    pub(super) onward: Vec<R>,
    pub(super) leak: Vec<R>,
    reward: Vec<R>,
    pub(super) inverse_pivot: Vec<R>,
    /// d_μ · i by state, and the part of it that arrives in each place from earlier ones.
    interest: Vec<f64>,
    carried: Vec<R>,
    /// Scratch space for the row that is being eliminated, by place; all zero otherwise.
    work: Vec<R>,
}

impl<R: Number> Chain<R> {
    /// A chain with all rows still to be [written](Chain::bellman_mut) and eliminated. `interest` is d_μ(s) i(s).
    pub(crate) fn new(order: Arc<EliminationOrder>, interest: Vec<f64>) -> Self {
        let n = order.states();
        let zeros = |len| vec![R::constant(0.0); len];
        Self {
            row: zeros(order.successors.len()),
            row_leak: zeros(n),
            row_reward: zeros(n),
            passes: zeros(order.lower.len()),
            onward: zeros(order.upper.len()),
            leak: zeros(n),
            reward: zeros(n),
            inverse_pivot: zeros(n),
            interest,
            carried: zeros(n),
            work: zeros(n),
            order,
        }
    }

    /// The Bellman equation of a state, to be written: its transitions as the order lists its successors, its leak and
    /// its reward.
    #[inline(always)]
    pub(crate) fn bellman_mut(&mut self, state: usize) -> Bellman<'_, R> {
        Bellman {
            row: &mut self.row[self.order.successors.range(state)],
            leak: &mut self.row_leak[state],
            reward: &mut self.row_reward[state],
        }
    }

    /// The transitions of a state, as they were set.
    pub(crate) fn transitions(&self, state: usize) -> Vec<(usize, R)> {
        if state >= self.order.states() {
            return Vec::new();
        }
        let row = &self.row[self.order.successors.range(state)];
        self.order.successors.row(state).iter().copied().zip(row.iter().copied()).collect()
    }

    /// Eliminates the state in place `i`, once all earlier places have been eliminated. Returns the pivot.
    #[inline(always)]
    pub(crate) fn eliminate(&mut self, i: usize) -> R {
        self.pass_through(i);
        let mut pivot = self.leak[i];
        for slot in self.order.upper.range(i) {
            pivot += self.onward[slot];
        }
        self.inverse_pivot[i] = R::constant(1.0) / pivot;
        pivot
    }

    /// Replaces the paths of place `i` through earlier places by direct transitions. Returns the probability of returning to
    /// itself.
    #[inline(always)]
    fn pass_through(&mut self, i: usize) -> R {
        let order = &*self.order;
        let state = order.state[i];
        for (slot, &t) in order.successors.range(state).zip(order.successors.row(state)) {
            self.work[order.place[t]] = self.row[slot];
        }
        let mut leak = self.row_leak[state];
        let mut reward = self.row_reward[state];
        for (slot, entry) in order.lower.range(i).zip(order.lower.row(i)) {
            let k = entry.place();
            let passes = self.work[k] * self.inverse_pivot[k];
            self.work[k] = R::constant(0.0);
            self.passes[slot] = passes;
            pass_on(order, k, passes, &self.onward, &mut self.work);
            leak += passes * self.leak[k];
            reward += passes * self.reward[k];
        }
        let returns = self.work[i];
        self.work[i] = R::constant(0.0);
        for (slot, entry) in order.upper.range(i).zip(order.upper.row(i)) {
            self.onward[slot] = self.work[entry.place()];
            self.work[entry.place()] = R::constant(0.0);
        }
        self.leak[i] = leak;
        self.reward[i] = reward;
        returns
    }

    /// Carries the interest of earlier places on to place `i`, which has been eliminated.
    #[inline(always)]
    pub(crate) fn carry(&mut self, i: usize) {
        let order = &*self.order;
        let mut sum = R::constant(self.interest[order.state[i]]);
        for entry in order.lower.row(i) {
            sum += self.carried[entry.place()] * self.onward[entry.twin()];
        }
        self.carried[i] = sum * self.inverse_pivot[i];
    }

    /// v in place `i`, given v in the later places it is linked with: v = r + P v.
    #[inline(always)]
    pub(crate) fn value(&self, i: usize, values: &[R]) -> R {
        let order = &*self.order;
        let mut sum = self.reward[i];
        for (slot, entry) in order.upper.range(i).zip(order.upper.row(i)) {
            sum += self.onward[slot] * values[entry.place()];
        }
        sum * self.inverse_pivot[i]
    }

    /// m in place `i`, given m in the later places it is linked with: m = d_μ i + Pᵀ m.
    #[inline(always)]
    pub(crate) fn weighting(&self, i: usize, weightings: &[R]) -> R {
        let mut sum = self.carried[i];
        for entry in self.order.upper.row(i) {
            sum += self.passes[entry.twin()] * weightings[entry.place()];
        }
        sum
    }

    /// v and m by state, once all places have been eliminated and carried on.
    pub(super) fn values_and_weighting(&self) -> (Vec<R>, Vec<R>) {
        let zeros = vec![R::constant(0.0); self.order.states()];
        let (mut values, mut weighting) = (zeros.clone(), zeros);
        for i in (0..values.len()).rev() {
            values[i] = self.value(i, &values);
            weighting[i] = self.weighting(i, &weighting);
        }
        (self.by_state(&values), self.by_state(&weighting))
    }

    /// Solves x = rhs + P x, by state, once all places have been eliminated.
    pub(crate) fn solve(&self, rhs: &[R]) -> Vec<R> {
        let order = &*self.order;
        let mut x = self.substitute_forwards(rhs);
        for i in (0..x.len()).rev() {
            for (slot, entry) in order.upper.range(i).zip(order.upper.row(i)) {
                let onward = self.onward[slot] * x[entry.place()];
                x[i] += onward;
            }
            x[i] *= self.inverse_pivot[i];
        }
        self.by_state(&x)
    }

    /// The right-hand side of x = rhs + P x after the elimination, by place.
    pub(super) fn substitute_forwards(&self, rhs: &[R]) -> Vec<R> {
        let order = &*self.order;
        let mut x: Vec<R> = order.state.iter().map(|&s| rhs[s]).collect();
        for i in 0..x.len() {
            for (slot, entry) in order.lower.range(i).zip(order.lower.row(i)) {
                let passed = self.passes[slot] * x[entry.place()];
                x[i] += passed;
            }
        }
        x
    }

    /// Solves x = rhs + Pᵀ x, by state, once all places have been eliminated.
    pub(crate) fn solve_transposed(&self, rhs: &[R]) -> Vec<R> {
        let order = &*self.order;
        let mut x = self.carry_forwards(rhs);
        for i in (0..x.len()).rev() {
            for entry in order.upper.row(i) {
                let passed = self.passes[entry.twin()] * x[entry.place()];
                x[i] += passed;
            }
        }
        self.by_state(&x)
    }

    /// The part of the solution of x = rhs + Pᵀ x that arrives in each place from earlier ones, by place.
    pub(super) fn carry_forwards(&self, rhs: &[R]) -> Vec<R> {
        let order = &*self.order;
        let mut x: Vec<R> = order.state.iter().map(|&s| rhs[s]).collect();
        for i in 0..x.len() {
            for entry in order.lower.row(i) {
                let carried = x[entry.place()] * self.onward[entry.twin()];
                x[i] += carried;
            }
            x[i] *= self.inverse_pivot[i];
        }
        x
    }

    fn by_state(&self, by_place: &[R]) -> Vec<R> {
        self.order.place.iter().map(|&place| by_place[place]).collect()
    }
}

impl<R: Real> Chain<R> {
    /// A chain for policies in this problem, with all rows still to be written and eliminated.
    pub(crate) fn of_model(model: &impl ModelStates) -> Self {
        let interest = model.stationary().iter().zip(model.interest()).map(|(d, i)| d * i).collect();
        Self::new(model.order().clone(), interest)
    }
}

/// A row of a non-negative matrix. One less its sum is known as a difference of two numbers, which may say more than its
/// entries: `gain` − `loss`.
#[derive(Clone, Debug)]
pub(crate) struct Row<N> {
    pub(crate) entries: Vec<(usize, N)>,
    pub(crate) gain: N,
    pub(crate) loss: N,
}

impl Row<Wide> {
    /// A row of probabilities that sum to one with the leak.
    pub(crate) fn leaking(entries: Vec<(usize, Wide)>, leak: Wide) -> Self {
        Self { entries, gain: leak, loss: Wide::ZERO }
    }

    /// The row times a number of at most one.
    pub(crate) fn times(mut self, share: Wide) -> Self {
        self.entries.retain_mut(|(_, p)| {
            *p *= share;
            p.is_positive()
        });
        Self { gain: (Wide::ONE - share) + share * self.gain, loss: share * self.loss, ..self }
    }

    /// The row of a state that leads nowhere.
    pub(crate) fn empty() -> Self {
        Self::leaking(Vec::new(), Wide::ONE)
    }
}

impl<N: Number + PartialOrd> Chain<N> {
    fn set(&mut self, state: usize, row: Row<N>) {
        let first = self.order.successors.range(state).start;
        for (next, p) in row.entries {
            self.row[first + self.order.successors.row(state).partition_point(|&t| t < next)] += p;
        }
        self.row_leak[state] = row.gain - row.loss;
        self.row_reward[state] = row.gain + row.loss; // The size of the terms in the leak.
    }

    /// The chain with all states eliminated, and the pivot of each state.
    fn with_rows(order: Arc<EliminationOrder>, row: impl Fn(usize) -> Row<N>) -> (Self, Vec<N>) {
        let mut chain = Self::new(order.clone(), Vec::new());
        (0..order.states()).for_each(|s| chain.set(s, row(s)));
        let (zero, one) = (N::constant(0.0), N::constant(1.0));
        let mut pivots = vec![zero; order.states()];
        for i in 0..order.states() {
            let returns = chain.pass_through(i);
            let mut onward = zero;
            order.upper.range(i).for_each(|slot| onward += chain.onward[slot]);
            let by_leaving = onward + chain.reward[i] < one + returns;
            let pivot = if by_leaving { onward + chain.leak[i] } else { one - returns };
            chain.inverse_pivot[i] = one / pivot;
            pivots[order.state[i]] = pivot;
        }
        (chain, pivots)
    }
}

impl Chain<Wide> {
    /// The chain of any non-negative matrix P with its states eliminated, and the pivot of each state. I − P is an M-matrix, that is
    /// the spectral radius of P is below one, exactly if all pivots are positive; in each of its blocks likewise.
    ///
    /// A pivot is one less the probability of returning, or the sum of the probabilities of leaving; the sum of the smaller
    /// numbers loses fewer digits.
    pub(crate) fn with_pivots(
        order: Arc<EliminationOrder>,
        row: impl Fn(usize) -> Row<Wide>,
    ) -> (Self, Vec<Wide>) {
        let narrow = |s: usize| {
            let Row { entries, gain, loss } = row(s);
            let entries = entries.into_iter().map(|(next, p)| (next, p.narrow())).collect();
            Row { entries, gain: gain.narrow(), loss: loss.narrow() }
        };
        let (chain, pivots) = Chain::with_rows(order.clone(), narrow);
        match chain.widened() {
            Some(chain) => (chain, pivots.into_iter().map(Wide::new).collect()),
            None => Self::with_rows(order, row),
        }
    }

    /// The same for a chain whose rows are probabilities; `None` if a state is never left.
    pub(crate) fn leaking(order: Arc<EliminationOrder>, row: impl Fn(usize) -> Row<Wide>) -> Option<Self> {
        let (chain, pivots) = Self::with_pivots(order, row);
        pivots.into_iter().all(Wide::is_positive).then_some(chain)
    }
}

impl Chain<f64> {
    /// The same chain, eliminated in numbers that neither overflow nor underflow.
    pub(crate) fn wide(&self) -> Chain<Wide> {
        let row = |s: usize| {
            let entries = self.transitions(s).into_iter().map(|(next, p)| (next, Wide::new(p))).collect();
            Row::leaking(entries, Wide::new(self.row_leak[s]))
        };
        self.widened().unwrap_or_else(|| Chain::with_rows(self.order.clone(), row).0)
    }

    /// The eliminated chain in wide numbers, with the bits that an elimination in them would have; `None` if a number may have
    /// underflowed or overflowed on the way.
    fn widened(&self) -> Option<Chain<Wide>> {
        Some(Chain {
            row: all_near(&self.row)?,
            passes: all_near(&self.passes)?,
            onward: all_near(&self.onward)?,
            leak: all_near(&self.leak)?,
            inverse_pivot: all_near(&self.inverse_pivot)?,
            ..Chain::new(self.order.clone(), Vec::new())
        })
    }
}

/// The numbers as wide ones; `None` if one of them is too close to underflow or overflow.
pub(super) fn all_near(numbers: &[f64]) -> Option<Vec<Wide>> {
    numbers.iter().map(|x| Wide::near(*x)).collect()
}

/// p_ij += f_ik p_kj, run by run, since neighbours in memory can be added to side by side.
#[inline(always)]
pub(super) fn pass_on<R: Number>(order: &EliminationOrder, k: usize, times: R, onward: &[R], work: &mut [R]) {
    let mut onward = &onward[order.upper.range(k)];
    for run in order.runs.row(k) {
        let (now, later) = onward.split_at(run.len());
        for (to, p) in work[run.places()].iter_mut().zip(now) {
            *to += times * *p;
        }
        onward = later;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nearly_singular_chain_loses_no_digits() {
        // Each of two states ends with probability 1e-15: v = 1/1e-15 with reward 1, to the last places.
        // 1 − (1 − 1e-15) in floating point would already be 11 % off.
        let order = Arc::new(EliminationOrder::new(&[vec![0, 1], vec![0, 1]]).unwrap());
        let mut chain = Chain::new(order, vec![0.5, 0.5]);
        for s in 0..2 {
            let equation = chain.bellman_mut(s);
            equation.row.copy_from_slice(&[0.5, 0.5]);
            (*equation.leak, *equation.reward) = (1e-15, 1.0);
        }
        (0..2).for_each(|i| {
            chain.eliminate(i);
            chain.carry(i);
        });
        let (values, weightings) = chain.values_and_weighting();
        for (v, m) in values.iter().zip(weightings) {
            assert!((v * 1e-15 - 1.0).abs() < 3e-15, "{v}");
            assert!((m * 2e-15 - 1.0).abs() < 3e-15, "{m}");
        }
    }
}
