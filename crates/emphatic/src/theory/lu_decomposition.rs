//! Small dense linear systems.

/// A matrix as the product of two triangular ones, with partial pivoting.
pub(super) struct LuDecomposition {
    rows: Vec<Vec<f64>>,
    /// The row that each row was exchanged with.
    exchanged: Vec<usize>,
}

impl LuDecomposition {
    /// `None` if the matrix is singular or not finite.
    pub(super) fn new(mut rows: Vec<Vec<f64>>) -> Option<Self> {
        let n = rows.len();
        let mut exchanged = Vec::with_capacity(n);
        for k in 0..n {
            let pivot = (k..n).max_by(|&a, &b| rows[a][k].abs().total_cmp(&rows[b][k].abs()))?;
            if !(rows[pivot][k] != 0.0 && rows[pivot][k].is_finite()) {
                return None;
            }
            rows.swap(k, pivot);
            exchanged.push(pivot);
            let (above, below) = rows.split_at_mut(k + 1);
            for row in below {
                row[k] /= above[k][k];
                let factor = row[k];
                row[k + 1..].iter_mut().zip(&above[k][k + 1..]).for_each(|(x, y)| *x -= factor * y);
            }
        }
        Some(Self { rows, exchanged })
    }

    /// The sizes of the smallest and of the largest pivot.
    pub(super) fn pivots(&self) -> [f64; 2] {
        let sizes = || self.rows.iter().enumerate().map(|(k, row)| row[k].abs());
        [sizes().fold(f64::INFINITY, f64::min), sizes().fold(0.0, f64::max)]
    }

    /// Solves A x = rhs.
    pub(super) fn solve(&self, rhs: &[f64]) -> Vec<f64> {
        let mut x = rhs.to_vec();
        self.exchanged.iter().enumerate().for_each(|(k, &pivot)| x.swap(k, pivot));
        let product = |row: &[f64], x: &[f64]| -> f64 { row.iter().zip(x).map(|(a, x)| a * x).sum() };
        for k in 0..x.len() {
            x[k] -= product(&self.rows[k][..k], &x[..k]);
        }
        for k in (0..x.len()).rev() {
            x[k] = (x[k] - product(&self.rows[k][k + 1..], &x[k + 1..])) / self.rows[k][k];
        }
        x
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_exchanged_where_a_pivot_is_zero() {
        let decomposition =
            LuDecomposition::new(vec![vec![0.0, 2.0, 1.0], vec![4.0, 0.0, 0.0], vec![2.0, 1.0, 3.0]])
                .unwrap();
        let x = decomposition.solve(&[7.0, 4.0, 13.0]); // x = (1, 2, 3).
        assert!(x.iter().zip([1.0, 2.0, 3.0]).all(|(x, right)| (x - right).abs() < 1e-14), "{x:?}");
    }

    #[test]
    fn a_singular_matrix_has_no_decomposition() {
        assert!(LuDecomposition::new(vec![vec![1.0, 2.0], vec![2.0, 4.0]]).is_none());
        assert!(LuDecomposition::new(vec![vec![f64::NAN]]).is_none());
    }
}
