//! The key matrices of linear TD and ETD, which decide whether they are stable.

use super::{Exact, Model};
use crate::features::Table;
use crate::policy::Policy;

impl<P: Policy, M: Model<P>> Exact<'_, f64, M, P> {
    /// Xᵀ diag(weighting) (I − P_{π,γ}) X, row by row: how the expected update of linear TD(0) depends on its weights
    /// if states are updated in proportion to `weighting`. It is stable if all eigenvalues have positive real parts.
    ///
    /// With d_μ it is off-policy TD(0)'s; with the emphatic weighting m it is ETD(0)'s.
    ///
    /// # Panics
    ///
    /// If the features or the weighting are not of as many states as the problem has.
    pub fn key_matrix(&self, features: &Table, weighting: &[f64]) -> Vec<Vec<f64>> {
        let k = features.len();
        let mut matrix = vec![vec![0.0; k]; k];
        for (s, weight) in weighting.iter().enumerate() {
            for (f, x) in features.active(s) {
                let row = &mut matrix[f];
                features.active(s).for_each(|(g, y)| row[g] += weight * x * y);
                for (next, p) in self.transitions(s) {
                    features.active(next).for_each(|(g, y)| row[g] -= weight * x * p * y);
                }
            }
        }
        matrix
    }
}

#[cfg(test)]
mod tests {
    use super::super::follow_on_moments::tests::{relatively_near, right, two_states};
    use super::*;

    #[test]
    fn key_matrices_as_published() {
        // Sutton, Mahmood and White (2016): θ → 2θ has −0.2 for TD(0); ETD(0)'s matrix [[0.5, −0.45], [0, 0.95]] makes it 3.4.
        let task = two_states(0.9, 0.5);
        let policy = right(&task);
        let exact = Exact::new(&task, &policy, &[]).unwrap();
        let features = Table::dense(&[vec![1.0], vec![2.0]]).unwrap();
        relatively_near(exact.key_matrix(&features, exact.stationary())[0][0], -0.2, 1e-14);
        relatively_near(exact.key_matrix(&features, &exact.emphatic_weighting(1.0))[0][0], 3.4, 1e-14);
        let states = Table::aliased(&[0, 1]);
        let matrix = exact.key_matrix(&states, &exact.emphatic_weighting(1.0));
        let right = [[0.5, -0.45], [0.0, 0.95]];
        (0..4).for_each(|k| relatively_near(matrix[k / 2][k % 2], right[k / 2][k % 2], 1e-14));
    }
}
