//! Linear systems that grow step by step: what least-squares parts have in common.

use crate::{Real, Row, Seen, SettingError, Settings, StateError, Visitor};

/// A w = b with sums A and b, solved in each lane by elimination with partial pivoting. Nothing is allocated after it was made.
#[derive(Clone, Debug)]
pub(crate) struct LinearSystem<R> {
    /// A, row by row.
    pub(crate) matrix: Vec<R>,
    pub(crate) rhs: Vec<R>,
    /// Room for the matrix of one lane with its right-hand side.
    room: Vec<f64>,
}

impl<R: Real> LinearSystem<R> {
    /// Zeros for this many unknowns.
    pub(crate) fn new(len: usize) -> Self {
        Self {
            matrix: vec![R::zero(); len * len],
            rhs: vec![R::zero(); len],
            room: vec![0.0; len * (len + 1)],
        }
    }

    fn len(&self) -> usize {
        self.rhs.len()
    }

    /// A ← keep A and b ← keep b.
    #[inline(always)]
    pub(crate) fn keep(&mut self, keep: R) {
        // −0 becomes 0, as it would where only other lanes trace a feature and nothing is added.
        self.matrix.iter_mut().chain(&mut self.rhs).for_each(|x| *x = *x * keep + R::zero());
    }

    /// A ← A + x yᵀ and b ← b + c x.
    #[inline(always)]
    pub(crate) fn add(&mut self, x: Row, y: &[R], c: R) {
        let len = self.len();
        for (j, x) in x.iter() {
            let x = R::splat(x);
            for (cell, y) in self.matrix[j * len..][..len].iter_mut().zip(y) {
                *cell += x * *y;
            }
            self.rhs[j] += c * x;
        }
    }

    /// A_j ← A_j + z dᵀ and b_j ← b_j + c z, where A_j is row j. Returns the sum of [`Real::nan_unless_finite`] over what it changed.
    #[inline(always)]
    pub(crate) fn add_to_row(&mut self, j: usize, z: R, d: impl Iterator<Item = (usize, R)>, c: R) -> R {
        let len = self.len();
        self.rhs[j] += c * z;
        let mut sum = self.rhs[j].nan_unless_finite();
        for (k, d) in d {
            let cell = &mut self.matrix[j * len + k];
            *cell += z * d;
            sum += cell.nan_unless_finite();
        }
        sum
    }

    /// Solves (A + ridge I) w = b + ridge toward. Where this has no solution, w stays as it is.
    pub(crate) fn solve(&mut self, ridge: f64, toward: f64, w: &mut [R]) {
        for lane in 0..R::LANES {
            self.write(lane, ridge, toward);
            let width = self.len() + 1;
            if eliminate(&mut self.room, width) {
                for (j, w) in w.iter_mut().enumerate() {
                    *w = w.with_lane(lane, self.room[j * width + width - 1]);
                }
            }
        }
    }

    /// Writes the matrix of one lane, with its right-hand side as the last column, to the room.
    fn write(&mut self, lane: usize, ridge: f64, toward: f64) {
        let len = self.len();
        for (j, row) in self.room.chunks_exact_mut(len + 1).enumerate() {
            for (k, cell) in row[..len].iter_mut().enumerate() {
                *cell = self.matrix[j * len + k].lane(lane);
            }
            row[j] += ridge;
            row[len] = self.rhs[j].lane(lane) + ridge * toward;
        }
    }

    pub(crate) fn tensors(&mut self, visitor: &mut Visitor) -> Result<(), StateError> {
        visitor.weights("a", self.matrix.iter_mut())?;
        visitor.weights("b", self.rhs.iter_mut())
    }
}

/// When a part solves for its weights: where an episode starts, and after `solve_every` steps.
#[derive(Clone, Debug)]
pub(crate) struct Due {
    solve_every: u64,
    /// How many steps were counted since.
    since: u64,
}

impl Due {
    /// As the settings of a part say.
    pub(crate) fn new<R: Real>(settings: &Settings<R>) -> Result<Self, SettingError> {
        Ok(Self { solve_every: settings.count("solve_every")? as u64, since: 0 })
    }

    /// Whether it is time, and there is a step to learn from. If so, steps are counted afresh.
    #[inline(always)]
    pub(crate) fn is_now(&mut self, step: &Seen) -> bool {
        let is_now = self.since > 0 && (step.gamma == 0.0 || self.since >= self.solve_every);
        if is_now {
            self.since = 0;
        }
        is_now
    }

    /// Counts a step.
    #[inline(always)]
    pub(crate) fn count(&mut self) {
        self.since = self.since.saturating_add(1);
    }

    pub(crate) fn tensors(&mut self, visitor: &mut Visitor) -> Result<(), StateError> {
        visitor.counts("since", std::slice::from_mut(&mut self.since))
    }
}

/// Reduces a matrix with right-hand sides beside it to the identity, so that the solutions stand there. Rows have this width. Returns whether
/// there is a solution.
pub(crate) fn eliminate(room: &mut [f64], width: usize) -> bool {
    let len = room.len() / width;
    for k in 0..len {
        let size = |j: usize, room: &[f64]| room[j * width + k].abs();
        // The first of the largest. (A row that holds what is not a number makes all of them so, whichever is chosen.)
        let pivot = (k + 1..len).fold(k, |best, j| if size(j, room) > size(best, room) { j } else { best });
        if room[pivot * width + k] == 0.0 {
            return false;
        }
        // What stands before column k is never read again.
        let (before, from) = room.split_at_mut(k * width);
        if pivot != k {
            let (top, rest) = from.split_at_mut((pivot - k) * width);
            top[k..width].swap_with_slice(&mut rest[k..width]);
        }
        let (row, after) = from.split_at_mut(width);
        let row = &mut row[k..];
        let inverse = 1.0 / row[0];
        row.iter_mut().for_each(|x| *x *= inverse);
        for other in before.chunks_exact_mut(width).chain(after.chunks_exact_mut(width)) {
            let other = &mut other[k..];
            let factor = other[0];
            if factor != 0.0 {
                other.iter_mut().zip(&*row).for_each(|(x, y)| *x -= factor * y);
            }
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Features, Lanes};

    #[test]
    fn a_system_in_lanes_is_solved_as_by_hand() {
        let features = Features::one_hot(2);
        let mut system = LinearSystem::new(2);
        // (0, 2; 4, 1) w = (2, 9) and the same with twice the matrix.
        let twice = Lanes([1.0, 2.0]);
        system.add(features.of_number(0), &[Lanes::splat(0.0), twice * Lanes::splat(2.0)], Lanes::splat(2.0));
        system.add(features.of_number(1), &[twice * Lanes::splat(4.0), twice], Lanes::splat(9.0));
        let mut w = [Lanes::splat(7.0); 2];
        system.solve(0.0, 0.0, &mut w);
        assert_eq!(w, [Lanes([2.0, 1.0]), Lanes([1.0, 0.5])]);
        system.keep(Lanes::splat(0.0));
        system.solve(0.0, 0.0, &mut w);
        assert_eq!(w, [Lanes([2.0, 1.0]), Lanes([1.0, 0.5])], "no solution changes nothing");
        system.solve(1e-3, 1.0, &mut w);
        assert_eq!(w, [Lanes::splat(1.0); 2]);
    }
}
