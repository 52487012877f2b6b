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

use super::order::Order;
use super::wide::{Number, Wide};
use std::sync::Arc;

/// A chain for one policy (in each lane), with its states eliminated.
///
/// When rows change, [`Chain::eliminate`] is repeated for their places and those that depend on them (the way
/// to the root), in ascending order. That gives exactly the numbers that starting afresh would: nothing drifts, so nothing needs to
/// be corrected from time to time, and the state of a chain is a function of the policy's weights alone.
#[derive(Clone, Debug)]
pub(crate) struct Chain<R> {
    pub(crate) order: Arc<Order>,
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
    /// d_μ · i by state, and what has been passed on of it, by place.
    interest: Vec<f64>,
    carried: Vec<R>,
    /// A row while it is worked on, by place; zero in between.
    work: Vec<R>,
}

impl<R: Number> Chain<R> {
    /// A chain with all rows still to be [set](Chain::row_mut) and eliminated. `interest` is d_μ(s) i(s).
    pub(crate) fn new(order: Arc<Order>, interest: Vec<f64>) -> Self {
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

    /// The row of a state: its transitions, as the order lists its successors, its leak and its reward.
    #[inline(always)]
    pub(crate) fn row_mut(&mut self, state: usize) -> (&mut [R], &mut R, &mut R) {
        (
            &mut self.row[self.order.successors.range(state)],
            &mut self.row_leak[state],
            &mut self.row_reward[state],
        )
    }

    /// The transitions of a state, as they were set.
    pub(crate) fn transitions(&self, state: usize) -> Vec<(usize, R)> {
        if state >= self.order.states() {
            return Vec::new();
        }
        let row = &self.row[self.order.successors.range(state)];
        self.order.successors.row(state).iter().copied().zip(row.iter().copied()).collect()
    }

    /// Eliminates the state in place `i`; all earlier places have been eliminated. Gives the pivot.
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

    /// Replaces the ways of place `i` through earlier places by direct ones. Gives the probability of returning to itself, which is
    /// not leaving.
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

    /// Passes the interest on to place `i`, which has been eliminated.
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

    /// x = rhs + P x, by state, when all places have been eliminated.
    pub(crate) fn solve(&self, rhs: &[R]) -> Vec<R> {
        let mut x = self.passed(rhs);
        self.substitute(&mut x);
        self.by_state(&x)
    }

    /// What is left of x = rhs + P x for later places, by place.
    pub(super) fn passed(&self, rhs: &[R]) -> Vec<R> {
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

    fn substitute(&self, x: &mut [R]) {
        let order = &*self.order;
        for i in (0..x.len()).rev() {
            for (slot, entry) in order.upper.range(i).zip(order.upper.row(i)) {
                let onward = self.onward[slot] * x[entry.place()];
                x[i] += onward;
            }
            x[i] *= self.inverse_pivot[i];
        }
    }

    /// x = rhs + Pᵀ x, by state, when all places have been eliminated.
    pub(crate) fn solve_transposed(&self, rhs: &[R]) -> Vec<R> {
        let order = &*self.order;
        let mut x = self.carried_on(rhs);
        for i in (0..x.len()).rev() {
            for entry in order.upper.row(i) {
                let passed = self.passes[entry.twin()] * x[entry.place()];
                x[i] += passed;
            }
        }
        self.by_state(&x)
    }

    /// What x = rhs + Pᵀ x is in each place without what comes back from later ones.
    pub(super) fn carried_on(&self, rhs: &[R]) -> Vec<R> {
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

/// A row of a chain: its entries, what its leak gains and what it loses.
pub(crate) type Row<N> = (Vec<(usize, N)>, [N; 2]);

impl<N: Number + PartialOrd> Chain<N> {
    fn set(&mut self, state: usize, (entries, [gain, loss]): Row<N>) {
        let first = self.order.successors.range(state).start;
        for (next, p) in entries {
            self.row[first + self.order.successors.row(state).partition_point(|&t| t < next)] += p;
        }
        self.row_leak[state] = gain - loss;
        self.row_reward[state] = gain + loss; // The size of what is summed up in the leak.
    }

    /// Eliminates all states, and gives the pivot of each.
    fn with_rows(order: Arc<Order>, row: impl Fn(usize) -> Row<N>) -> (Self, Vec<N>) {
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
    /// Rows need not be probabilities: what is missing from a row's sum to one is what its leak gains less what it loses. A pivot
    /// is one less what returns, or what leaves; the sum of the smaller numbers loses fewer digits.
    pub(crate) fn with_pivots(order: Arc<Order>, row: impl Fn(usize) -> Row<Wide>) -> (Self, Vec<Wide>) {
        let narrow = |s: usize| -> Row<f64> {
            let (entries, leak) = row(s);
            (entries.into_iter().map(|(next, p)| (next, p.narrow())).collect(), leak.map(Wide::narrow))
        };
        let (chain, pivots) = Chain::with_rows(order.clone(), narrow);
        match chain.widened() {
            Some(chain) => (chain, pivots.into_iter().map(Wide::new).collect()),
            None => Self::with_rows(order, row),
        }
    }

    /// The same for a chain whose rows are probabilities; nothing if a state is never left.
    pub(crate) fn leaking(
        order: Arc<Order>,
        row: impl Fn(usize) -> (Vec<(usize, Wide)>, Wide),
    ) -> Option<Self> {
        let row = |s: usize| {
            let (entries, leak) = row(s);
            (entries, [leak, Wide::ZERO])
        };
        let (chain, pivots) = Self::with_pivots(order, row);
        pivots.into_iter().all(Wide::is_positive).then_some(chain)
    }
}

impl Chain<f64> {
    /// The same chain, eliminated in numbers that neither overflow nor vanish.
    pub(crate) fn wide(&self) -> Chain<Wide> {
        let row = |s: usize| {
            let entries = self.transitions(s).into_iter().map(|(next, p)| (next, Wide::new(p))).collect();
            (entries, [Wide::new(self.row_leak[s]), Wide::ZERO])
        };
        self.widened().unwrap_or_else(|| Chain::with_rows(self.order.clone(), row).0)
    }

    /// What has been eliminated, in wide numbers, which would have been the same to the bit; nothing if a number may have been too
    /// small or too large on the way.
    fn widened(&self) -> Option<Chain<Wide>> {
        let wide =
            |numbers: &[f64]| -> Option<Vec<Wide>> { numbers.iter().map(|x| Wide::near(*x)).collect() };
        Some(Chain {
            row: wide(&self.row)?,
            passes: wide(&self.passes)?,
            onward: wide(&self.onward)?,
            leak: wide(&self.leak)?,
            inverse_pivot: wide(&self.inverse_pivot)?,
            ..Chain::new(self.order.clone(), Vec::new())
        })
    }
}

/// p_ij += f_ik p_kj, run by run, since neighbours in memory can be added to side by side.
#[inline(always)]
fn pass_on<R: Number>(order: &Order, k: usize, times: R, onward: &[R], work: &mut [R]) {
    let mut onward = &onward[order.upper.range(k)];
    for run in order.runs.row(k) {
        let (now, later) = onward.split_at(run.len());
        for (to, p) in work[run.places()].iter_mut().zip(now) {
            *to += times * *p;
        }
        onward = later;
    }
}

/// The stationary distribution of a chain without leaks, or two states that are in different closed classes.
///
/// The same elimination: a state whose pivot is zero is the last of a closed class, since it leads nowhere else.
/// Transient states come out as zero.
pub(crate) fn stationary(order: &Order, probability: &[Wide]) -> Result<Vec<Wide>, (usize, usize)> {
    let narrow: Vec<f64> = probability.iter().map(|p| p.narrow()).collect();
    let widened = Closed::new(order, &narrow).ok().and_then(|closed| closed.widened());
    let Closed { passes, last, .. } = widened.map_or_else(|| Closed::new(order, probability), Ok)?;
    let mut weight = vec![Wide::ZERO; order.states()];
    if let Some(last) = last {
        weight[last] = Wide::ONE;
        for k in (0..last).rev() {
            weight[k] =
                order.upper.row(k).iter().map(|entry| passes[entry.twin()] * weight[entry.place()]).sum();
        }
    }
    let total: Wide = weight.iter().copied().sum();
    Ok(order.place.iter().map(|&k| weight[k] / total).collect())
}

/// A chain without leaks, with its states eliminated.
struct Closed<N> {
    passes: Vec<N>,
    onward: Vec<N>,
    leak: Vec<N>,
    /// The last place of the closed class.
    last: Option<usize>,
}

impl<N: Number + PartialEq> Closed<N> {
    fn new(order: &Order, probability: &[N]) -> Result<Self, (usize, usize)> {
        let n = order.states();
        let zero = N::constant(0.0);
        let (mut passes, mut onward) = (vec![zero; order.lower.len()], vec![zero; order.upper.len()]);
        let (mut leak, mut pivot, mut work) = (vec![zero; n], vec![zero; n], vec![zero; n]);
        let mut last = None;
        for i in 0..n {
            let state = order.state[i];
            for (slot, &t) in order.successors.range(state).zip(order.successors.row(state)) {
                work[order.place[t]] = probability[slot];
            }
            for (slot, entry) in order.lower.range(i).zip(order.lower.row(i)) {
                let k = entry.place();
                let into = std::mem::replace(&mut work[k], zero);
                if pivot[k] == zero {
                    leak[i] += into; // Whoever enters a closed class does not come back.
                    continue;
                }
                let times = into / pivot[k];
                passes[slot] = times;
                pass_on(order, k, times, &onward, &mut work);
                let leaks = times * leak[k];
                leak[i] += leaks;
            }
            work[i] = zero;
            pivot[i] = leak[i];
            for (slot, entry) in order.upper.range(i).zip(order.upper.row(i)) {
                onward[slot] = std::mem::replace(&mut work[entry.place()], zero);
                let more = onward[slot];
                pivot[i] += more;
            }
            if pivot[i] == zero
                && let Some(other) = last.replace(i)
            {
                return Err((order.state[other], state));
            }
        }
        Ok(Self { passes, onward, leak, last })
    }
}

impl Closed<f64> {
    /// As [`Chain::widened`].
    fn widened(self) -> Option<Closed<Wide>> {
        let wide =
            |numbers: &[f64]| -> Option<Vec<Wide>> { numbers.iter().map(|x| Wide::near(*x)).collect() };
        let (onward, leak) = (wide(&self.onward)?, wide(&self.leak)?);
        Some(Closed { passes: wide(&self.passes)?, onward, leak, last: self.last })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stationary(order: &Order, probability: &[f64]) -> Result<Vec<f64>, (usize, usize)> {
        let probability: Vec<Wide> = probability.iter().map(|p| Wide::new(*p)).collect();
        Ok(super::stationary(order, &probability)?.into_iter().map(Wide::get).collect())
    }

    fn chain_of(p: &[Vec<f64>]) -> (Order, Vec<f64>) {
        let next = |row: &Vec<f64>| (0..row.len()).filter(|&t| row[t] > 0.0).collect();
        let order = Order::new(&p.iter().map(next).collect::<Vec<Vec<usize>>>()).unwrap();
        let flat = p.iter().flatten().copied().filter(|&x| x > 0.0).collect();
        (order, flat)
    }

    #[test]
    fn a_stationary_distribution_by_hand() {
        // Flow balance: d = (b, a)/(a + b).
        let (order, p) = chain_of(&[vec![0.9, 0.1], vec![0.3, 0.7]]);
        let d = stationary(&order, &p).unwrap();
        assert!((d[0] - 0.75).abs() < 1e-15 && (d[1] - 0.25).abs() < 1e-15);
    }

    #[test]
    fn transient_states_have_no_weight_wherever_they_are_eliminated() {
        // S0 and S3 are transient; S1 and S2 alternate.
        let (order, p) = chain_of(&[
            vec![0.5, 0.25, 0.0, 0.25],
            vec![0.0, 0.0, 1.0, 0.0],
            vec![0.0, 1.0, 0.0, 0.0],
            vec![0.0, 0.5, 0.5, 0.0],
        ]);
        assert_eq!(stationary(&order, &p), Ok(vec![0.0, 0.5, 0.5, 0.0]));
    }

    /// Once the weights overflowed, and d_μ was not a number.
    #[test]
    fn states_that_are_next_to_never_visited_do_no_harm() {
        let q = 1e-160;
        let (order, p) = chain_of(&[vec![1.0 - q, q, 0.0], vec![1.0 - q, 0.0, q], vec![1.0, 0.0, 0.0]]);
        let d = stationary(&order, &p).unwrap();
        assert!((d[0] - 1.0).abs() < 1e-15 && (d[1] / q - 1.0).abs() < 1e-14 && d[2] < 1e-300, "{d:?}");
    }

    #[test]
    fn two_closed_classes_are_named() {
        let (order, p) = chain_of(&[vec![0.0, 0.5, 0.5], vec![0.0, 1.0, 0.0], vec![0.0, 0.0, 1.0]]);
        let (a, b) = stationary(&order, &p).unwrap_err();
        assert_eq!((a.min(b), a.max(b)), (1, 2));
    }

    #[test]
    fn a_nearly_singular_chain_loses_no_digits() {
        // Each of two states ends with probability 1e-15: v = 1/1e-15 with reward 1, to the last places.
        // 1 − (1 − 1e-15) in floating point would already be 11 % off.
        let order = Arc::new(Order::new(&[vec![0, 1], vec![0, 1]]).unwrap());
        let mut chain = Chain::new(order, vec![0.5, 0.5]);
        for s in 0..2 {
            let (row, leak, reward) = chain.row_mut(s);
            row.copy_from_slice(&[0.5, 0.5]);
            (*leak, *reward) = (1e-15, 1.0);
        }
        (0..2).for_each(|i| {
            chain.eliminate(i);
            chain.carry(i);
        });
        let mut values = [0.0; 2];
        let mut weightings = [0.0; 2];
        for i in [1, 0] {
            values[i] = chain.value(i, &values);
            weightings[i] = chain.weighting(i, &weightings);
        }
        for (v, m) in values.iter().zip(weightings) {
            assert!((v * 1e-15 - 1.0).abs() < 3e-15, "{v}");
            assert!((m * 2e-15 - 1.0).abs() < 3e-15, "{m}");
        }
    }
}
