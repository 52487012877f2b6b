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
//! transposed key matrix of off-policy TD(λ_e): so the one is stable exactly where the other is. If each step is divided by ‖x_t‖², as the schedule `per-feature` does,
//! both expectations are of what is divided by it, and A is another matrix unless all features have the same length.
//!
//! The model emphasis has A = C − Σ_b W_b H_b with C = E[x xᵀ], H_b = E[π(b|S) x xᵀ] and W_b x the regression of E[γ x′ | S, b]: the same as for λ_e = 0 if there is a
//! feature for each state, or if the policy is the same wherever features overlap.
//!
//! X-ETD looks back n steps at once, with the product of their γ ρ. COP-TD has a discount of its own in place of γ_t, and 1 in place of i_t. A density ratio is
//! (1 − γ̂) times what is meant by u here.

use super::Exact;
use super::emphasis_weighting::{at_least_one, fraction, not_negative, positive};
use super::expected_update::{
    ExpectedUpdate, LearningRule, Matrix, PenalisedMean, check_features, columns, products, solved_in_span,
    updated, weighted,
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
    /// Whether each step is divided by the square of the length of x_t.
    pub divided_by_length: bool,
    /// Whether it is solved for from a model of each action, in place of what was seen to follow.
    pub from_model: bool,
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
            divided_by_length: false,
            from_model: false,
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

/// What of a learned emphasis is taken for the emphasis of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EmphasisRead {
    /// û(S_t), and at least the interest (but for a ratio without a discount, γ̂ = 1).
    Estimate,
    /// F^λ_t, and at least the interest. Its mean is known where û is nowhere negative, and for λ_e = 0 and 1.
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
        let u = parts.update(learned.rule).fixed_point().ok_or(SINGULAR)?;
        let at = |columns: &Matrix, s: usize| columns.iter().zip(&u).map(|(x, u)| x[s] * u).sum::<f64>();
        let (interest, states) = (self.interest(), 0..parts.own.len());
        let estimate: Vec<f64> = states.clone().map(|s| parts.stationary[s] * at(&parts.x, s)).collect();
        match learned.read {
            EmphasisRead::Estimate if learned.discount == Some(1.0) => Ok(estimate),
            EmphasisRead::Estimate => Ok(estimate.iter().zip(&interest).map(|(u, i)| u.max(*i)).collect()),
            EmphasisRead::Return if learned.lambda_e == 1.0 || is_nowhere_negative(&estimate) => {
                Ok(states.map(|s| parts.own[s] + at(&parts.looked_back, s)).collect())
            }
            // Looking back once, F_t is below the interest exactly where it looks back to a negative û.
            EmphasisRead::Return if learned.lambda_e == 0.0 => {
                let positive = estimate.into_iter().map(|u| u.max(0.0)).collect();
                let passed = self.looked_back_once(learned, positive);
                Ok(parts.own.iter().zip(passed).map(|(own, passed)| own + passed).collect())
            }
            EmphasisRead::Return => Err(ProblemError::NegativeEmphasis),
        }
    }

    /// Passes a weighting on over as many steps as the emphasis looks back at once.
    fn looked_back_once(&self, learned: &LearnedEmphasis, weighting: Vec<f64>) -> Vec<f64> {
        let p = self.trace_matrix(|s, a| self.observed(s, a), |gamma| learned.discount.unwrap_or(gamma));
        (0..learned.steps).fold(weighting, |passed, _| p.passed_on(&passed))
    }

    fn lambda_return(&self, learned: &LearnedEmphasis) -> Result<LambdaReturn, ProblemError> {
        learned.check(self.model.states())?;
        let LearnedEmphasis { lambda_e, steps, discount, .. } = *learned;
        let x = columns(&learned.features);
        let stationary = self.stationary().to_vec();
        let discounted = |gamma| discount.unwrap_or(gamma);
        // So that the look back over all steps is multiplied by λ_e.
        let each_step = lambda_e.powf(1.0 / steps as f64);
        let trace = self.trace_matrix(|s, a| each_step * self.observed(s, a), discounted);
        let accumulation = trace.accumulation_of_power(steps)?;
        let looked_back = |x: &Vec<f64>| {
            let passed = self.looked_back_once(learned, x.clone());
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
        let updating = match learned.divided_by_length {
            true => {
                let square = |s: usize| x.iter().map(|x| x[s] * x[s]).sum::<f64>();
                // A state without features updates nothing.
                let inverse = |s: usize| if square(s) > 0.0 { 1.0 / square(s) } else { 0.0 };
                weighted(&(0..stationary.len()).map(inverse).collect::<Vec<_>>(), &x)
            }
            false => x.clone(),
        };
        let from_past = if learned.from_model {
            self.modelled_past(&x)?
        } else {
            products(&updating, &looked_back) // E[x_t y_tᵀ].
        };
        let own = accumulation.of(&interest);
        Ok(LambdaReturn { own, looked_back, from_past, x, updating, stationary, mean })
    }

    /// Σ_b W_b H_b: what a model of each action expects to follow, where the target takes it. The model is of the states in which the behaviour takes it; elsewhere it is
    /// what their features say.
    fn modelled_past(&self, x: &Matrix) -> Result<Matrix, ProblemError> {
        let (task, n) = (self.model, x.len());
        let mut sum = vec![vec![0.0; n]; n];
        for b in 0..task.actions() {
            let is_seen = |s: usize| task.behaviour(s)[b] > 0.0;
            let seen: Vec<f64> = self
                .stationary()
                .iter()
                .enumerate()
                .map(|(s, d)| if is_seen(s) { *d } else { 0.0 })
                .collect();
            let next = |x: &Vec<f64>| -> Vec<f64> {
                let outcomes = |s: usize| task.problem().transitions(s, b).iter();
                (0..seen.len())
                    .map(|s| outcomes(s).map(|t| t.probability * t.gamma * x[t.next]).sum::<f64>())
                    .collect()
            };
            let next: Matrix = x.iter().map(next).collect();
            let gram = products(&weighted(&seen, x), x);
            // The model of an action is asked wherever the target takes it, seen there or not.
            let target: Vec<f64> =
                self.stationary().iter().enumerate().map(|(s, d)| d * self.target(s)[b]).collect();
            let shares = products(&weighted(&target, x), x);
            let rows = updated(&seen, x);
            // C⁻¹ H_b, column by column; both are symmetric.
            let inverse: Option<Matrix> =
                shares.iter().map(|column| solved_in_span(&rows, &gram, &gram, column)).collect();
            let followed = products(&next, &weighted(&seen, x));
            let product = products(&followed, &inverse.ok_or(SINGULAR)?);
            sum.iter_mut().zip(&product).for_each(|(row, add)| {
                row.iter_mut().zip(add).for_each(|(entry, add)| *entry += add);
            });
        }
        Ok(sum)
    }
}

/// Whether no number is negative, up to rounding.
fn is_nowhere_negative(numbers: &[f64]) -> bool {
    let size = numbers.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    numbers.iter().all(|x| *x >= -1e-12 * size)
}

const SINGULAR: ProblemError = ProblemError::Singular("the emphasis");

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
    /// E[x_t y_tᵀ], or what a model says it is.
    from_past: Matrix,
    /// The features by which u is updated, column by column: x, or x divided by the square of its length.
    updating: Matrix,
    mean: Option<PenalisedMean>,
}

impl LambdaReturn {
    fn update(&self, rule: LearningRule) -> ExpectedUpdate {
        let gram = products(&weighted(&self.stationary, &self.updating), &self.x);
        let key_matrix = gram.iter().zip(&self.from_past);
        ExpectedUpdate {
            key_matrix: key_matrix.map(|(c, y)| c.iter().zip(y).map(|(c, y)| c - y).collect()).collect(),
            key_vector: self.updating.iter().map(|x| dot(x, &self.own)).collect(),
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
