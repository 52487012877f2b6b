//! The matrices that decide whether linear critics are stable.

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
