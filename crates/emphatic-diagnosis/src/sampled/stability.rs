//! Stability: are TD(0) and ETD(0) stable with these features, as far as a sample tells?

use super::Experience;
use super::activity::Activity;
use super::blocks::{BLOCKS, Estimate, block_of, standard_error};
use crate::critic_stability::schur;
use emphatic::{Features, Scratch, State};
use nalgebra::{DMatrix, DVector, SymmetricEigen};
use serde::Serialize;

/// The most features that are active of which eigenvalues are computed: the time grows with the cube of their number.
pub(super) const MOST_FEATURES: usize = 600;

/// The most directions that are looked at.
const MOST_DIRECTIONS: usize = 80;

/// Directions in which the features vary less than this beside the first are left out: there is too little experience to tell what happens in them.
const LEAST_VARIATION: f64 = 1e-3;

/// The most multiplications for the features' variation, and for the matrices of one policy.
const WORK: f64 = 2e9;

/// The directions of feature space in which the experience varies most.
pub(super) struct Directions<'a> {
    experience: &'a Experience<'a>,
    /// Each feature's row in `basis`; `None` if it is never active.
    row_of: Vec<Option<usize>>,
    /// A column for each direction.
    basis: DMatrix<f64>,
}

/// The key matrices of linear critics, estimated from a sample.
#[derive(Clone, Debug, Serialize)]
pub struct SampledCritics {
    /// In how many directions, those in which the features vary most.
    pub directions: usize,
    /// Off-policy TD(0).
    pub td: SampledStability,
    /// ETD(0).
    pub etd: SampledStability,
    /// The root of the mean of (ρδ)², where TD(0) comes to rest; `None` if it does not.
    pub error_size: Option<f64>,
}

/// Whether the expected update of a critic is stable.
#[derive(Clone, Debug, Serialize)]
pub struct SampledStability {
    /// The smallest real part of an eigenvalue of the key matrix.
    pub smallest: Estimate,
    /// Whether that is above zero by two standard errors; `None` if it is within two, or below zero by chance: the expected key matrix of ETD(0) never is.
    pub stable: Option<bool>,
}

impl<'a> Directions<'a> {
    /// Returns the directions; `None` if too many features are active.
    pub(super) fn new(experience: &'a Experience<'a>, activity: &Activity) -> Option<Self> {
        let active = &activity.active;
        if active.is_empty() || active.len() > MOST_FEATURES {
            return None;
        }
        let mut row_of = vec![None; experience.features.len()];
        active.iter().enumerate().for_each(|(row, j)| row_of[*j] = Some(row));
        let mut gram = DMatrix::<f64>::zeros(active.len(), active.len());
        let mut scratch = experience.features.scratch();
        let each = (activity.mean_active * activity.mean_active).max(1.0);
        let sparsely = (experience.steps.len() as f64 * each / WORK).ceil().max(1.0) as usize;
        for step in experience.steps.iter().step_by(sparsely) {
            let row = experience.features.row(step.state, &mut scratch);
            for (i, x) in row.iter().filter(|(_, x)| *x != 0.0) {
                for (j, y) in row.iter() {
                    if let (Some(i), Some(j)) = (row_of[i], row_of[j]) {
                        gram[(i, j)] += x * y;
                    }
                }
            }
        }
        let count = active.len();
        let found = SymmetricEigen::try_new(gram, f64::EPSILON, 1000 * count)?;
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_by(|a, b| found.eigenvalues[*b].total_cmp(&found.eigenvalues[*a]));
        let least = LEAST_VARIATION * found.eigenvalues.max();
        order.retain(|direction| found.eigenvalues[*direction] > least);
        order.truncate(MOST_DIRECTIONS);
        let basis = found.eigenvectors.select_columns(&order);
        (basis.ncols() > 0).then_some(Self { experience, row_of, basis })
    }

    /// z = Qᵀ x(s).
    fn project(&self, state: State, scratch: &mut Scratch, z: &mut DVector<f64>) {
        z.fill(0.0);
        let features: &Features = self.experience.features;
        for (j, x) in features.row(state, scratch).iter() {
            if let Some(row) = self.row_of[j].filter(|_| x != 0.0) {
                z.iter_mut().zip(self.basis.row(row).iter()).for_each(|(z, q)| *z += x * q);
            }
        }
    }

    /// Calls a function with each step's number, z_t and z_t − γ_{t+1} ρ_t z_{t+1}.
    fn each_step(&self, ratios: &[f64], mut then: impl FnMut(usize, &DVector<f64>, &DVector<f64>)) {
        let n = self.basis.ncols();
        let (mut z, mut next, mut difference) = (DVector::zeros(n), DVector::zeros(n), DVector::zeros(n));
        let mut scratch = self.experience.features.scratch();
        for (t, step) in self.experience.steps.iter().enumerate().take(self.used()) {
            self.project(step.state, &mut scratch, &mut z);
            difference.copy_from(&z);
            let discount = step.gamma_next * ratios[t];
            if discount > 0.0 {
                self.project(step.next, &mut scratch, &mut next);
                difference.axpy(-discount, &next, 1.0);
            }
            then(t, &z, &difference);
        }
    }

    /// How many steps the matrices are made of.
    fn used(&self) -> usize {
        let n = self.basis.ncols() as f64;
        ((WORK / (2.0 * n * n)) as usize).clamp(1, self.experience.steps.len())
    }

    /// The key matrices for a policy with these ratios and this follow-on trace: sums of w_t x_t (x_t − γ_{t+1} ρ_t x_{t+1})ᵀ, with w_t = 1 for TD(0) and F_t for ETD(0).
    pub(super) fn critics(&self, ratios: &[f64], trace: &[f64]) -> Option<SampledCritics> {
        let (n, used) = (self.basis.ncols(), self.used());
        let mut td = vec![DMatrix::<f64>::zeros(n, n); BLOCKS];
        let mut etd = td.clone();
        let mut b = DVector::<f64>::zeros(n);
        self.each_step(ratios, |t, z, difference| {
            let block = block_of(t, used);
            td[block].ger(1.0, z, difference, 1.0);
            etd[block].ger(trace[t], z, difference, 1.0);
            b.axpy(ratios[t] * self.experience.steps[t].reward, z, 1.0);
        });
        let values = td.iter().sum::<DMatrix<f64>>().lu().solve(&b);
        let error_size = values.and_then(|v| self.error_size(ratios, &v));
        let (td, mut etd) = (stability(&td, used)?, stability(&etd, used)?);
        // With any features its expectation is positive semidefinite: what says otherwise is the sample.
        etd.stable = etd.stable.filter(|stable| *stable);
        let error_size = error_size.filter(|_| td.stable != Some(false));
        Some(SampledCritics { directions: n, td, etd, error_size })
    }

    /// The root of the mean of (ρδ)² with these values, where δ = r + γ v(s′) − v(s).
    fn error_size(&self, ratios: &[f64], v: &DVector<f64>) -> Option<f64> {
        let (mut squares, mut scratch) = (0.0, self.experience.features.scratch());
        let (n, used) = (self.basis.ncols(), self.used());
        let (mut z, mut next) = (DVector::zeros(n), DVector::zeros(n));
        for (step, rho) in self.experience.steps.iter().zip(ratios).take(used) {
            self.project(step.state, &mut scratch, &mut z);
            let mut delta = step.reward - v.dot(&z);
            if step.gamma_next > 0.0 {
                self.project(step.next, &mut scratch, &mut next);
                delta += step.gamma_next * v.dot(&next);
            }
            squares += rho * delta * rho * delta;
        }
        Some((squares / used as f64).sqrt()).filter(|size| size.is_finite())
    }
}

/// The stability of an update whose key matrix is the mean of these sums; `None` if there are no eigenvalues.
fn stability(blocks: &[DMatrix<f64>], steps: usize) -> Option<SampledStability> {
    let all: DMatrix<f64> = blocks.iter().sum();
    let in_block = |k: usize| (0..steps).filter(|t| block_of(*t, steps) == k).count();
    let value = smallest(&(&all / steps as f64))?;
    let without = |(k, block): (usize, &DMatrix<f64>)| {
        let left = steps - in_block(k);
        smallest(&((&all - block) / left as f64))
    };
    let left_out = blocks.iter().enumerate().map(without).collect::<Option<Vec<f64>>>()?;
    // The smallest eigenvalue of a matrix with errors is too small on average: the jackknife takes the leading part of that off.
    let (count, mean) = (BLOCKS as f64, left_out.iter().sum::<f64>() / BLOCKS as f64);
    let value = count * value - (count - 1.0) * mean;
    let smallest = Estimate { value, standard_error: standard_error(&left_out) };
    let [low, high] = smallest.range();
    let stable = (low > 0.0 || high < 0.0).then_some(low > 0.0);
    Some(SampledStability { smallest, stable })
}

/// The smallest real part of an eigenvalue.
fn smallest(matrix: &DMatrix<f64>) -> Option<f64> {
    if matrix.iter().any(|x| !x.is_finite()) {
        return None;
    }
    let eigenvalues = schur(matrix)?.complex_eigenvalues();
    eigenvalues.iter().map(|z| z.re).reduce(f64::min)
}
