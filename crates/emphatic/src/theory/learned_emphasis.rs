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
//!
//! X-ETD looks back n steps at once, with the product of their γ ρ. COP-TD has a discount of its own in place of γ_t, and 1 in place of i_t. A density ratio is
//! (1 − γ̂) times what is meant by u here.

use super::Exact;
use super::emphasis_weighting::{at_least_one, fraction, not_negative, positive};
use super::expected_update::{
    ExpectedUpdate, LearningRule, Matrix, PenalisedMean, check_features, columns, products, updated, weighted,
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
    /// How many steps it looks back at once.
    pub steps: usize,
    /// γ̂, in place of the discount wherever that is not 0, with 1 in place of the interest.
    pub discount: Option<f64>,
    /// What draws the mean of u·x to where it should be.
    pub mean_penalty: Option<MeanPenalty>,
    /// How u learns. Unless the mean is penalised, all rules have the same fixed point.
    pub rule: LearningRule,
    /// What is taken for the emphasis of a step.
    pub read: EmphasisRead,
}

impl LearnedEmphasis {
    /// û(S_t), learned toward the λ-return of one step.
    pub fn direct(features: Table, lambda_e: f64) -> Self {
        Self {
            features,
            lambda_e,
            steps: 1,
            discount: None,
            mean_penalty: None,
            rule: LearningRule::SemiGradient,
            read: EmphasisRead::Estimate,
        }
    }
}

/// How the mean of a density ratio is drawn to that of the interest, and so that of its emphasis to as much over 1 − γ̂ (or to the same, for γ̂ = 1).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeanPenalty {
    /// γ̂.
    pub gamma: f64,
    /// How strongly.
    pub penalty: f64,
    /// The step-size of the mean's own estimate relative to that of u.
    pub rate: f64,
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
        learned.check(self.model.states())?;
        let LearnedEmphasis { lambda_e, steps, discount, .. } = *learned;
        let x = columns(&learned.features);
        let stationary = self.stationary().to_vec();
        let discounted = |gamma| discount.unwrap_or(gamma);
        let p = self.trace_matrix(|s, a| self.observed(s, a), discounted);
        // So that the look back over all steps is multiplied by λ_e.
        let each_step = lambda_e.powf(1.0 / steps as f64);
        let trace = self.trace_matrix(|s, a| each_step * self.observed(s, a), discounted);
        let accumulation = trace.accumulation_of_power(steps)?;
        let looked_back = |x: &Vec<f64>| {
            let passed = (0..steps).fold(x.clone(), |passed, _| p.passed_on(&passed));
            accumulation.of(&passed.into_iter().map(|y| (1.0 - lambda_e) * y).collect::<Vec<_>>())
        };
        let looked_back = weighted(&stationary, &x).iter().map(looked_back).collect();
        let interest = match discount {
            None => self.interest(),
            // Nothing is new in a ratio that only has to be passed on.
            Some(1.0) => vec![0.0; stationary.len()],
            Some(_) => stationary.clone(),
        };
        let mean_interest = if discount.is_some() { 1.0 } else { self.interest().iter().sum() };
        let mean = learned.mean_penalty.map(|MeanPenalty { gamma, penalty, rate }| PenalisedMean {
            features: x.iter().map(|x| dot(x, &stationary)).collect(),
            strength: penalty,
            mean: if gamma < 1.0 { mean_interest / (1.0 - gamma) } else { mean_interest },
            rate,
        });
        Ok(LambdaReturn { own: accumulation.of(&interest), looked_back, x, stationary, mean })
    }
}

impl LearnedEmphasis {
    fn check(&self, states: usize) -> Result<(), ProblemError> {
        fraction("lambda_e", self.lambda_e)?;
        at_least_one("n of the emphasis", self.steps)?;
        self.discount.map_or(Ok(()), |gamma| fraction("gamma of the emphasis", gamma))?;
        if let Some(MeanPenalty { gamma, penalty, rate }) = self.mean_penalty {
            fraction("gamma of the emphasis", gamma)?;
            not_negative("penalty of the emphasis", penalty)?;
            positive("the rate of the mean", rate)?;
        }
        self.rule.check()?;
        check_features(&self.features, states)
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
    mean: Option<PenalisedMean>,
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
            mean: self.mean.clone(),
            updated: updated(&self.stationary, &self.x),
        }
    }
}

#[cfg(test)]
mod tests;
