//! The expected update of a linear estimate, where it comes to rest, and how far from its goal it does.
//!
//! The expected update of every linear method is E[Δw] = α (b − A w). A is its key matrix; it comes to rest in the fixed point A⁻¹b, which a
//! method reaches if all eigenvalues of A have positive real parts. Gradient methods have second weights h with a step-size η α; theirs is
//! E[Δ(w, h)] = α (g − G (w, h)), and G decides. With C = E[x xᵀ] and N = E[γ_{t+1} (1 − λ) x_{t+1} zᵀ], the correction, which is C − Aᵀ if
//! the behaviour takes all actions that the target does:
//!
//! | rule | G | of values | of emphases |
//! |---|---|---|---|
//! | semi-gradient | A | TD(λ), ETD(λ) | direct |
//! | GTD | ((A, N), (ηA, ηC)) | GTD(λ), also called TDC(λ) | TDEC |
//! | GTD2 | ((0, N − C), (ηA, ηC)) | GTD2(λ), proximal GTD2 | GEM |
//! | TDRC | ((A, N), (ηA, η(C + β))) | TDRC(λ) | TDERC |
//! | hybrid | ((A, A_μᵀ − Aᵀ), (ηA, ηA_μᵀ)), with A_μ of TD(λ) for the behaviour | HTD(λ) | |
//! | least squares | none: A w = b is solved | LSTD(λ), ELSTD(λ) | LSTD |
//!
//! All rules have the same fixed point, with h = 0.

use super::emphasis_weighting::{not_negative, positive};
use super::feature_span::{dot, feature_span};
use super::lu_decomposition::LuDecomposition;
use crate::features::Table;
use crate::problem::ProblemError;

/// What is smaller than this beside the numbers that it is the difference of may be rounding.
const ROUNDING: f64 = 1e-14;

/// A matrix, row by row.
pub(super) type Matrix = Vec<Vec<f64>>;

/// How a linear estimate learns. η is the step-size of the second weights relative to that of the first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LearningRule {
    /// Δw = α δ z.
    SemiGradient,
    /// With the correction of the gradient, as GTD(λ) and TDC(λ) make it.
    Gtd {
        /// η.
        eta: f64,
    },
    /// Along the gradient as the second weights know it, as GTD2(λ), its proximal form (whose steps differ by α² only) and GEM do.
    Gtd2 {
        /// η.
        eta: f64,
    },
    /// GTD whose second weights decay.
    Tdrc {
        /// η.
        eta: f64,
        /// β, the rate of decay relative to the step-size of the second weights.
        beta: f64,
    },
    /// A w = b is solved.
    LeastSquares,
}

impl LearningRule {
    pub(super) fn check(self) -> Result<(), ProblemError> {
        let eta = |eta: f64| positive("eta", eta);
        match self {
            Self::SemiGradient | Self::LeastSquares => Ok(()),
            Self::Gtd { eta: ratio } | Self::Gtd2 { eta: ratio } => eta(ratio),
            Self::Tdrc { eta: ratio, beta } => eta(ratio).and_then(|()| not_negative("beta", beta)),
        }
    }
}

/// A further number ν, which learns the mean of the estimate and draws it to where it should be:
/// Δw = α (… − strength (ν − mean) x̄) and Δν = α rate (x̄·w − ν).
#[derive(Clone, Debug)]
pub(super) struct PenalisedMean {
    /// x̄ = E[x].
    pub(super) features: Vec<f64>,
    pub(super) strength: f64,
    pub(super) mean: f64,
    pub(super) rate: f64,
}

/// The expected update of a linear estimate.
#[derive(Clone, Debug)]
pub struct ExpectedUpdate {
    /// A.
    pub(super) key_matrix: Matrix,
    /// b.
    pub(super) key_vector: Vec<f64>,
    /// C.
    pub(super) gram: Matrix,
    /// N.
    pub(super) correction: Matrix,
    pub(super) rule: LearningRule,
    /// A_μ and η, for the hybrid rule, which takes the place of the other.
    pub(super) hybrid: Option<(Matrix, f64)>,
    pub(super) mean: Option<PenalisedMean>,
    /// The features of all that is updated.
    pub(super) updated: Vec<Vec<f64>>,
}

impl ExpectedUpdate {
    /// A, row by row.
    pub fn key_matrix(&self) -> &[Vec<f64>] {
        &self.key_matrix
    }

    /// b.
    pub fn key_vector(&self) -> &[f64] {
        &self.key_vector
    }

    /// C = Σ x xᵀ, weighted as the updates are: the directions in which it is zero are never updated.
    pub fn gram(&self) -> &[Vec<f64>] {
        &self.gram
    }

    /// G, row by row: A itself, or for a rule with second weights a matrix of twice the size; one more row if the mean is penalised. `None` for
    /// least squares, which takes no steps that could be unstable.
    pub fn system_matrix(&self) -> Option<Vec<Vec<f64>>> {
        let mut g = self.system_matrix_without_mean()?;
        if let Some(PenalisedMean { features, strength, rate, .. }) = &self.mean {
            let of = |f: usize| features.get(f).copied().unwrap_or(0.0);
            let last = (0..g.len()).map(|f| -rate * of(f)).chain([*rate]).collect();
            g.iter_mut().enumerate().for_each(|(f, row)| row.push(strength * of(f)));
            g.push(last);
        }
        Some(g)
    }

    fn system_matrix_without_mean(&self) -> Option<Matrix> {
        let (a, n, c) = (&self.key_matrix, &self.correction, &self.gram);
        let entries = |f: fn(f64, f64) -> f64, x: &Matrix, y: &Matrix| -> Matrix {
            x.iter().zip(y).map(|(x, y)| x.iter().zip(y).map(|(x, y)| f(*x, *y)).collect()).collect()
        };
        let minus = |x: &Matrix, y: &Matrix| entries(|x, y| x - y, x, y);
        if let Some((behaviour, eta)) = &self.hybrid {
            let behaviour = transposed(behaviour);
            return Some(blocks(a, &minus(&behaviour, &transposed(a)), a, &behaviour, *eta));
        }
        Some(match self.rule {
            LearningRule::SemiGradient => a.clone(),
            LearningRule::Gtd { eta } => blocks(a, n, a, c, eta),
            LearningRule::Gtd2 { eta } => blocks(&minus(a, a), &minus(n, c), a, c, eta),
            LearningRule::Tdrc { eta, beta } => {
                let mut regularised = c.clone();
                regularised.iter_mut().enumerate().for_each(|(f, row)| row[f] += beta);
                blocks(a, n, a, &regularised, eta)
            }
            LearningRule::LeastSquares => return None,
        })
    }

    /// The weights that the expected update, starting from zero, leaves as they are, whether or not it leads to them; `None` if there are none, or
    /// more than one. In directions in which nothing is updated they stay zero.
    pub fn fixed_point(&self) -> Option<Vec<f64>> {
        let Some(PenalisedMean { features, strength, mean, .. }) = &self.mean else {
            return self.solved(&self.key_matrix, &self.key_vector);
        };
        // A compromise between the error of the rule and that of the mean, which depends on how the rule weighs its own.
        let (mut matrix, mut vector) = match self.rule {
            LearningRule::SemiGradient => (self.key_matrix.clone(), self.key_vector.clone()),
            LearningRule::Gtd { .. } | LearningRule::Gtd2 { .. } => self.normal_equations()?,
            LearningRule::Tdrc { .. } | LearningRule::LeastSquares => return None,
        };
        for ((row, rhs), x) in matrix.iter_mut().zip(&mut vector).zip(features) {
            row.iter_mut().zip(features).for_each(|(entry, y)| *entry += strength * x * y);
            *rhs += strength * mean * x;
        }
        self.solved(&matrix, &vector)
    }

    /// AᵀC⁻¹A and AᵀC⁻¹b.
    fn normal_equations(&self) -> Option<(Matrix, Vec<f64>)> {
        let columns = transposed(&self.key_matrix);
        let weighed = |x: &Vec<f64>| self.solved(&self.gram, x);
        let inner: Option<Matrix> = columns.iter().map(weighed).collect();
        let b = weighed(&self.key_vector)?;
        Some((products(&columns, &inner?), columns.iter().map(|column| dot(column, &b)).collect()))
    }

    /// √(gᵀC⁻¹g) with g = b − A w, the root of the mean square of the projected Bellman error: how far the estimate is from what one step of its own bootstrapping
    /// makes of it, as far as its features can tell. `None` if it cannot be computed.
    ///
    /// # Panics
    ///
    /// If there is not a weight for each feature.
    pub fn projected_bellman_error(&self, weights: &[f64]) -> Option<f64> {
        assert_eq!(weights.len(), self.key_vector.len(), "a weight for each feature");
        let g: Vec<f64> =
            self.key_vector.iter().zip(&self.key_matrix).map(|(b, row)| b - dot(row, weights)).collect();
        let square = dot(&g, &self.solved(&self.gram, &g)?);
        // Rounding can make a zero negative.
        square.is_finite().then(|| square.max(0.0).sqrt())
    }

    /// Solves matrix · x = rhs in the span of what is updated; `None` if it is singular, as far as rounding can tell.
    fn solved(&self, matrix: &Matrix, rhs: &[f64]) -> Option<Vec<f64>> {
        solved_in_span(&self.updated, &self.gram, matrix, rhs)
    }
}

/// Solves matrix · x = rhs in the span of some rows; `None` if it is singular, as far as rounding can tell. The matrix is made of what `gram`, which is no
/// smaller, is made of.
pub(super) fn solved_in_span(
    rows: &[Vec<f64>],
    gram: &Matrix,
    matrix: &Matrix,
    rhs: &[f64],
) -> Option<Vec<f64>> {
    if matrix.iter().chain(gram).flatten().any(|x| !x.is_finite()) {
        return None;
    }
    let basis = feature_span(rows.to_vec());
    let within = |matrix: &Matrix| -> Matrix {
        let image: Matrix = basis.iter().map(|q| matrix.iter().map(|row| dot(row, q)).collect()).collect();
        products(&basis, &image)
    };
    let mut rhs_within: Vec<f64> = basis.iter().map(|q| dot(q, rhs)).collect();
    let mut rows = within(matrix);
    // Rows may be of very different sizes: some states are hardly ever updated. A row that is hardly there beside what it is the
    // difference of is rounding.
    for ((row, rhs), gram) in rows.iter_mut().zip(&mut rhs_within).zip(within(gram)) {
        let size = |row: &[f64]| row.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
        let scale = size(row);
        if scale <= ROUNDING * size(&gram) {
            return None;
        }
        row.iter_mut().for_each(|x| *x /= scale);
        *rhs /= scale;
    }
    let decomposition = LuDecomposition::new(rows)?;
    let [smallest, largest] = decomposition.pivots();
    let shares = decomposition.solve(&rhs_within);
    let entry = |f: usize| shares.iter().zip(&basis).map(|(share, q)| share * q[f]).sum::<f64>();
    let x: Vec<f64> = (0..rhs.len()).map(entry).collect();
    let is_regular = basis.is_empty() || smallest > ROUNDING * largest;
    (is_regular && x.iter().all(|x| x.is_finite())).then_some(x)
}

/// ((a, b), (η c, η d)).
fn blocks(a: &Matrix, b: &Matrix, c: &Matrix, d: &Matrix, eta: f64) -> Matrix {
    let beside = |a: &Matrix, b: &Matrix, scale: f64| -> Matrix {
        a.iter().zip(b).map(|(a, b)| a.iter().chain(b).map(|x| scale * x).collect()).collect()
    };
    [beside(a, b, 1.0), beside(c, d, eta)].concat()
}

pub(super) fn transposed(matrix: &Matrix) -> Matrix {
    let columns = matrix.first().map_or(0, Vec::len);
    (0..columns).map(|j| matrix.iter().map(|row| row[j]).collect()).collect()
}

/// Xᵀ Y, given the columns of both.
pub(super) fn products(x: &Matrix, y: &Matrix) -> Matrix {
    x.iter().map(|x| y.iter().map(|y| dot(x, y)).collect()).collect()
}

/// diag(weighting) X, column by column.
pub(super) fn weighted(weighting: &[f64], columns: &Matrix) -> Matrix {
    columns.iter().map(|x| x.iter().zip(weighting).map(|(x, w)| x * w).collect()).collect()
}

/// X, column by column: each feature in all states.
pub(super) fn columns(features: &Table) -> Matrix {
    let mut columns = vec![vec![0.0; features.states()]; features.len()];
    let active = |s: usize| features.active(s).map(move |(f, x)| (s, f, x));
    (0..features.states()).flat_map(active).for_each(|(s, f, x)| columns[f][s] += x);
    columns
}

/// The rows of X that have weight.
pub(super) fn updated(weighting: &[f64], columns: &Matrix) -> Vec<Vec<f64>> {
    let has_weight = |s: &usize| weighting[*s] != 0.0;
    (0..weighting.len()).filter(has_weight).map(|s| columns.iter().map(|x| x[s]).collect()).collect()
}

/// Checks that there are features of each state.
pub(super) fn check_features(features: &Table, states: usize) -> Result<(), ProblemError> {
    let (what, got) = ("the table of the features".to_owned(), features.states());
    if got == states { Ok(()) } else { Err(ProblemError::Shape { what, got, right: states }) }
}
