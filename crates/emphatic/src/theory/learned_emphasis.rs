//! An emphasis that is learned as a linear function of features, û(s) = u·x(s).
//!
//! The emphasis λ-return looks back one step to what it has learned, or further:
//!
//! ```text
//! F^λ_t = i_t + γ_t ρ_{t−1} [(1 − λ_e) u·x_{t−1} + λ_e F^λ_{t−1}] = c_t + y_t·u
//! c_t = i_t + γ_t ρ_{t−1} λ_e c_{t−1},    y_t = γ_t ρ_{t−1} [(1 − λ_e) x_{t−1} + λ_e y_{t−1}]
//! ```
//!
//! and u learns to predict it: E[Δu] = α (b − A u) with A = E[x_t (x_t − y_t)ᵀ] and b = E[c_t x_t]. Learning backwards in time, A is the
//! transposed key matrix of off-policy TD(λ_e): so the one is stable exactly where the other is.

use super::Exact;
use super::emphasis_weighting::fraction;
use super::expected_update::{
    ExpectedUpdate, LearningRule, Matrix, check_features, columns, products, updated, weighted,
};
use super::feature_span::dot;
use crate::features::Table;
use crate::policy::FinitePolicy;
use crate::problem::{ProblemError, Task};

/// An emphasis that is learned as a linear function of features.
#[derive(Clone, Debug, PartialEq)]
pub struct LearnedEmphasis {
    /// x, the features.
    pub features: Table,
    /// λ_e: 0 looks back one step, 1 is the follow-on trace.
    pub lambda_e: f64,
    /// How u learns. All rules have the same fixed point.
    pub rule: LearningRule,
    /// What is taken for the emphasis of a step.
    pub read: EmphasisRead,
}

/// What of a learned emphasis is taken for the emphasis of a step. (A floor at the interest does not matter where û is nowhere
/// below it.)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EmphasisRead {
    /// û(S_t).
    Estimate,
    /// F^λ_t.
    Return,
}

impl<P: FinitePolicy> Exact<'_, f64, Task, P> {
    /// The expected update of a learned emphasis.
    pub fn emphasis_update(&self, learned: &LearnedEmphasis) -> Result<ExpectedUpdate, ProblemError> {
        Ok(self.lambda_return(learned)?.update(learned.rule))
    }

    /// f(s) = d_μ(s) E[F_t | S_t = s] once u has come to rest.
    pub(super) fn learned_weighting(&self, learned: &LearnedEmphasis) -> Result<Vec<f64>, ProblemError> {
        let parts = self.lambda_return(learned)?;
        let u = parts.update(learned.rule).fixed_point().ok_or(ProblemError::Singular("the emphasis"))?;
        let at = |columns: &Matrix, s: usize| columns.iter().zip(&u).map(|(x, u)| x[s] * u).sum::<f64>();
        let of = |s: usize| match learned.read {
            EmphasisRead::Estimate => parts.stationary[s] * at(&parts.x, s),
            EmphasisRead::Return => parts.own[s] + at(&parts.looked_back, s),
        };
        Ok((0..parts.own.len()).map(of).collect())
    }

    fn lambda_return(&self, learned: &LearnedEmphasis) -> Result<LambdaReturn, ProblemError> {
        let LearnedEmphasis { features, lambda_e, rule, .. } = learned;
        fraction("lambda_e", *lambda_e)?;
        rule.check()?;
        check_features(features, self.model.states())?;
        let x = columns(features);
        let (stationary, p) = (self.stationary().to_vec(), self.observed_transitions());
        let accumulation =
            self.trace_matrix(|s, a| lambda_e * self.observed(s, a), |gamma| gamma).accumulation()?;
        let looked_back = |x: &Vec<f64>| {
            let one_step: Vec<f64> = p.passed_on(x).into_iter().map(|y| (1.0 - lambda_e) * y).collect();
            accumulation.of(&one_step)
        };
        let looked_back = weighted(&stationary, &x).iter().map(looked_back).collect();
        Ok(LambdaReturn { own: accumulation.of(&self.interest()), looked_back, x, stationary })
    }
}

/// The expectations of the λ-return's parts, times d_μ.
struct LambdaReturn {
    /// d_μ.
    stationary: Vec<f64>,
    /// x, column by column.
    x: Matrix,
    /// d_μ E[c_t | s].
    own: Vec<f64>,
    /// d_μ E[y_t | s], column by column.
    looked_back: Matrix,
}

impl LambdaReturn {
    fn update(&self, rule: LearningRule) -> ExpectedUpdate {
        let gram = products(&weighted(&self.stationary, &self.x), &self.x);
        let from_past = products(&self.x, &self.looked_back); // E[x_t y_tᵀ].
        let key_matrix = gram.iter().zip(&from_past);
        ExpectedUpdate {
            key_matrix: key_matrix.map(|(c, y)| c.iter().zip(y).map(|(c, y)| c - y).collect()).collect(),
            key_vector: self.x.iter().map(|x| dot(x, &self.own)).collect(),
            correction: products(&self.looked_back, &self.x),
            gram,
            rule,
            hybrid: None,
            updated: updated(&self.stationary, &self.x),
        }
    }
}

#[cfg(test)]
mod tests;
