//! The stability of linear critics.

use crate::diagnosable::Diagnosable;
use crate::linear_methods::PartOf;
use emphatic::catalogue::Role;
use emphatic::theory::ExpectedUpdate;
use emphatic::{Exact, PartRecipe, Policy, Table};
use nalgebra::{DMatrix, Dyn, Schur, SymmetricEigen};
use serde::Serialize;

/// The largest number of features for which eigenvalues are computed: the time grows with its cube.
const MOST_FEATURES: usize = 500;

/// A direction in which the features of updated states vary less than this, relative to the largest, is left out.
const NO_DIRECTION: f64 = 1e-12;

/// A real part that is smaller than this beside the matrix may be rounding.
const ROUNDING: f64 = 1e-12;

/// The key matrices of linear critics.
#[derive(Clone, Debug, Serialize)]
pub struct Critics {
    /// The number of the critic's features.
    pub features: usize,
    /// Whether each state has one feature of its own.
    pub tabular: bool,
    /// Off-policy TD(0).
    pub td: Stability,
    /// ETD(0).
    pub etd: Stability,
    /// How far the values in TD(0)'s fixed point are from the true ones, and how large these are: root mean squares, weighted by d_μ. `None` if that was not computed.
    pub limit: Option<ValueLimit>,
}

/// The values that a critic learns, if it learns for long.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct ValueLimit {
    /// The root mean square of their error.
    pub error: f64,
    /// The root mean square of the true values.
    pub size: f64,
}

/// Whether the expected update of a critic is stable.
#[derive(Clone, Debug, Serialize)]
pub struct Stability {
    /// Whether the real parts of all eigenvalues are positive; `None` if it was not decided.
    pub stable: Option<bool>,
    /// The eigenvalues of the key matrix as (real, imaginary), smallest real part first, without those of directions in which
    /// no updated state has features. Empty if they were not computed.
    pub eigenvalues: Vec<(f64, f64)>,
}

/// The stability of critics with these features.
pub(crate) fn critic_stability<P: Policy, M: Diagnosable<P>>(
    exact: &Exact<f64, M, P>,
    features: &Table,
) -> Critics {
    let one_each = |s: usize| features.active(s).eq([(s, 1.0)]);
    let tabular = features.len() == features.states() && (0..features.states()).all(one_each);
    let m = exact.emphatic_weighting(1.0);
    let stability = |weighting: &[f64]| match features.len() <= MOST_FEATURES {
        true => stability_of(&exact.key_matrix(features, weighting), &gram(features, weighting)),
        // D (I − P) is an M-matrix: its eigenvalues have positive real parts.
        false => {
            let everywhere = weighting.iter().all(|w| *w > 0.0);
            Stability { stable: (tabular && everywhere).then_some(true), eigenvalues: Vec::new() }
        }
    };
    let (td, etd) = (stability(exact.stationary()), stability(&m));
    Critics { features: features.len(), tabular, td, etd, limit: value_limit(exact) }
}

fn value_limit<P: Policy, M: Diagnosable<P>>(exact: &Exact<f64, M, P>) -> Option<ValueLimit> {
    let td = PartOf::new(Role::Critic, PartRecipe::new("td"));
    let methods = M::linear_methods(exact, std::slice::from_ref(&td))?;
    let error = methods.critics.first().filter(|critic| critic.name == td.name)?.error?;
    let squares = exact.stationary().iter().zip(exact.values()).map(|(d, v)| d * v * v);
    Some(ValueLimit { error, size: squares.sum::<f64>().sqrt() })
}

/// The stability of an expected update; `None` if there is nothing that could be unstable, since it is solved for.
pub(crate) fn update_stability(update: &ExpectedUpdate) -> Option<Stability> {
    Some(stability_of(&update.system_matrix()?, update.gram()))
}

/// Xᵀ diag(weighting) X.
fn gram(features: &Table, weighting: &[f64]) -> Vec<Vec<f64>> {
    let mut gram = vec![vec![0.0; features.len()]; features.len()];
    for (s, weight) in weighting.iter().enumerate() {
        for (f, x) in features.active(s) {
            features.active(s).for_each(|(g, y)| gram[f][g] += weight * x * y);
        }
    }
    gram
}

/// The stability of a system of one set of weights, or of several of the same features, in the directions that are updated. Further rows, of single numbers, may follow.
fn stability_of(system: &[Vec<f64>], gram: &[Vec<f64>]) -> Stability {
    let (k, sets) = (gram.len(), system.len() / gram.len().max(1));
    let undecided = Stability { stable: None, eigenvalues: Vec::new() };
    if k == 0 || gram.iter().chain(system).flatten().any(|x| !x.is_finite()) {
        return undecided;
    }
    let gram = DMatrix::from_fn(k, k, |i, j| gram[i][j]);
    // In directions in which no updated state has features nothing is learned, and nothing can grow.
    let Some(directions) = SymmetricEigen::try_new(gram, f64::EPSILON, 1000 * k) else { return undecided };
    let largest = directions.eigenvalues.max();
    let kept: Vec<usize> = (0..k).filter(|&j| directions.eigenvalues[j] > NO_DIRECTION * largest).collect();
    if kept.is_empty() {
        return undecided;
    }
    let basis = directions.eigenvectors.select_columns(&kept);
    let (n, single) = (kept.len(), system.len() - sets * k);
    let mut directions = DMatrix::zeros(system.len(), sets * n + single);
    (0..sets).for_each(|i| directions.view_mut((i * k, i * n), (k, n)).copy_from(&basis));
    (0..single).for_each(|i| directions[(sets * k + i, sets * n + i)] = 1.0);
    let system = DMatrix::from_fn(system.len(), system.len(), |i, j| system[i][j]);
    let matrix = directions.transpose() * system * directions;
    let scale = matrix.amax();
    let Some(schur) = schur(&matrix) else { return undecided };
    let mut eigenvalues: Vec<(f64, f64)> = schur.complex_eigenvalues().iter().map(|z| (z.re, z.im)).collect();
    eigenvalues.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    // An eigenvalue within rounding of zero decides nothing.
    let smallest = eigenvalues.first().map_or(0.0, |z| z.0);
    let stable = (smallest.abs() > ROUNDING * scale).then_some(smallest > 0.0);
    Stability { stable, eigenvalues }
}

/// The Schur form of a matrix. The iteration may miss its goal where eigenvalues are the same, so it is given easier ones in turn.
pub(crate) fn schur(matrix: &DMatrix<f64>) -> Option<Schur<f64, Dyn>> {
    let goals = [f64::EPSILON, 1e-15, 1e-14, 1e-13];
    goals.into_iter().find_map(|goal| Schur::try_new(matrix.clone(), goal, 100 * matrix.nrows()))
}
