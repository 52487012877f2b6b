//! A model of the features' expectations: B̂(s,b) = W_b x(s) estimates E[γ_{t+1} x_{t+1} | S_t = s, A_t = b].

use crate::linear_system::eliminate;
use crate::{Acts, Real, Row, Seen, StateError, Visitor};

/// The ridge by which the model is drawn to 0.
const RIDGE: f64 = 1e-6;

/// W_b for every action: a regression of γ_{t+1} x_{t+1} on x_t, weighted by 1/μ. It does not depend on the policy, so all lanes share it.
#[derive(Clone, Debug)]
pub(crate) struct ExpectationModel {
    len: usize,
    /// Σ x_t x_tᵀ/μ and Σ γ_{t+1} x_{t+1} x_tᵀ/μ of every action.
    gram: Vec<f64>,
    next: Vec<f64>,
    /// W_b of every action, column by column: what a feature adds to the expectation.
    columns: Vec<f64>,
    room: Vec<f64>,
}

impl ExpectationModel {
    pub(crate) fn new(len: usize, actions: usize) -> Self {
        let zeros = vec![0.0; actions * len * len];
        Self { len, gram: zeros.clone(), next: zeros.clone(), columns: zeros, room: vec![0.0; 2 * len * len] }
    }

    #[inline(always)]
    pub(crate) fn observe(&mut self, step: &Seen) {
        let action = usize::of(step.action).unwrap_or(0);
        let (len, weight) = (self.len, 1.0 / step.mu);
        let of_action = action * len * len;
        for (k, y) in step.x.iter() {
            for (j, x) in step.x.iter() {
                self.gram[of_action + j * len + k] += weight * x * y;
            }
            for (j, x) in step.x_next.iter() {
                self.next[of_action + j * len + k] += weight * step.gamma_next * x * y;
            }
        }
    }

    /// Solves (Σ x xᵀ/μ + ε I) W_bᵀ = (Σ γ x′ xᵀ/μ)ᵀ of every action.
    pub(crate) fn solve(&mut self) {
        let len = self.len;
        for of_action in (0..self.gram.len()).step_by((len * len).max(1)) {
            for (k, row) in self.room.chunks_exact_mut(2 * len).enumerate() {
                row[..len].copy_from_slice(&self.gram[of_action + k * len..][..len]);
                row[k] += RIDGE;
                for (j, cell) in row[len..].iter_mut().enumerate() {
                    *cell = self.next[of_action + j * len + k];
                }
            }
            if eliminate(&mut self.room, 2 * len) {
                for (k, row) in self.room.chunks_exact(2 * len).enumerate() {
                    self.columns[of_action + k * len..][..len].copy_from_slice(&row[len..]);
                }
            }
        }
    }

    /// matrix ← matrix − Σ_b share_b W_b x xᵀ.
    pub(crate) fn subtract<R: Real>(&self, x: Row, shares: impl Iterator<Item = R>, matrix: &mut [R]) {
        let len = self.len;
        for (share, columns) in shares.zip(self.columns.chunks_exact((len * len).max(1))) {
            for (l, y) in x.iter() {
                let column = &columns[l * len..][..len];
                for (k, x) in x.iter() {
                    let scale = share * R::splat(x * y);
                    for (j, w) in column.iter().enumerate() {
                        matrix[j * len + k] -= scale * R::splat(*w);
                    }
                }
            }
        }
    }

    /// out ← Σ_b π(b|s) B̂(s,b).
    pub(crate) fn expect<R: Real>(&self, x: Row, policy: impl Iterator<Item = R>, out: &mut [R]) {
        let len = self.len;
        out.fill(R::zero());
        for (probability, columns) in policy.zip(self.columns.chunks_exact((len * len).max(1))) {
            for (l, x) in x.iter() {
                let scale = probability * R::splat(x);
                for (out, w) in out.iter_mut().zip(&columns[l * len..]) {
                    *out += scale * R::splat(*w);
                }
            }
        }
    }

    /// matrix ← matrix − Σ_b W_b H_b.
    pub(crate) fn subtract_mixed<R: Real>(&self, mixed: &[R], matrix: &mut [R]) {
        let len = self.len;
        let square = (len * len).max(1);
        for (mixed, columns) in mixed.chunks_exact(square).zip(self.columns.chunks_exact(square)) {
            for l in 0..len {
                for (j, w) in columns[l * len..][..len].iter().enumerate() {
                    for (k, h) in mixed[l * len..][..len].iter().enumerate() {
                        matrix[j * len + k] -= R::splat(*w) * *h;
                    }
                }
            }
        }
    }

    pub(crate) fn tensors(&mut self, visitor: &mut Visitor) -> Result<(), StateError> {
        visitor.shared("model_gram", &mut self.gram)?;
        visitor.shared("model_next", &mut self.next)
    }
}
