//! The weighting of states that each estimator of the emphasis leads to.
//!
//! For a fixed policy, every F_t has a mean in the limit, f(s) = d_μ(s) E[F_t | S_t = s]: the weighting that an actor or a critic
//! has that multiplies its updates by F_t. Only some of them are m. (They are written with i for d_μ · i and P for P_{π,γ}.)
//!
//! | emphasis | F_t | f |
//! |---|---|---|
//! | none | i_t | i |
//! | follow-on, exact | i_t + γ_t ρ_{t−1} F_{t−1} | m = (I − Pᵀ)⁻¹ i |
//! | normalised | (1 − γ_t) i_t + γ_t ρ_{t−1} F_{t−1} | (I − Pᵀ)⁻¹ E\[(1 − γ_t) i_t\] |
//! | truncated | the last n terms of the follow-on trace, and i_t | Σ_{j ≤ n} (Pᵀ)ʲ i |
//! | periodic | restarts every b steps, and only the last of them is an update | (1/b) Σ_{j < b} (Pᵀ)ʲ i |
//! | n-step | i_t + (Π of the last n γ ρ) F_{t−n} | (I − (Pⁿ)ᵀ)⁻¹ i |
//! | decayed | i_t + β ρ_{t−1} F_{t−1}, restarted where γ_t = 0 | (I − P_{π,β}ᵀ)⁻¹ i |
//! | clipped | i_t + γ_t min(ρ_{t−1}, ρ̄) F_{t−1} | (I − P_{min(π, ρ̄ μ),γ}ᵀ)⁻¹ i |
//! | lc | (1 − c_t) ρ_{t−1} F_{t−1} + c_t i_t, with c_t = c_1 t^−p | where nothing ends, d_π times E\[i\] |
//! | learned | û(S_t), or a λ-return that looks back to û | see [`LearnedEmphasis`] |

use super::trace_matrix::TraceMatrix;
use super::{Exact, LearnedEmphasis};
use crate::policy::FinitePolicy;
use crate::problem::{ProblemError, Task};

/// What estimates the emphasis.
#[derive(Clone, Debug, PartialEq)]
pub enum EmphasisKind {
    /// The interest alone.
    None,
    /// m/d_μ itself.
    Exact,
    /// The follow-on trace, with the ratios of the time or recomputed for the present policy: for a fixed one they are the same. Its
    /// weighting is m unless the target takes actions that the behaviour never does.
    FollowOn,
    /// The follow-on trace in which interest counts (1 − γ_t) times.
    Normalised,
    /// The follow-on trace truncated to the last `n` steps.
    Truncated {
        /// How many steps it looks back.
        n: usize,
    },
    /// The follow-on trace restarted in each period, which ends with its only update. (In a periodic chain whose period has a
    /// common factor with this one, which states are updated depends on the start; this is the mean over starts.)
    Periodic {
        /// The number of steps from update to update.
        period: usize,
    },
    /// The follow-on trace that looks back n steps at once.
    NStep {
        /// How many steps it looks back.
        n: usize,
    },
    /// The follow-on trace that decays by β in place of the discount.
    Decayed {
        /// β.
        beta: f64,
    },
    /// The follow-on trace of clipped ratios.
    Clipped {
        /// ρ̄, the largest ratio.
        rho_max: f64,
    },
    /// The trace of LC-ETD, whose share of what is new, c_t, falls with the steps since an episode began.
    Lc {
        /// c_1.
        first: f64,
        /// p in c_t = c_1 t^−p.
        power: f64,
    },
    /// What is learned as a linear function of features.
    Learned(LearnedEmphasis),
}

impl<P: FinitePolicy> Exact<'_, f64, Task, P> {
    /// (1 − λ_a) d_μ i + λ_a f, where f(s) = d_μ(s) E[F_t | S_t = s] in the limit: how an actor weights states.
    /// (Between the periods of `Periodic` nothing is updated, and interest does not count either.)
    ///
    /// ```
    /// use emphatic::theory::EmphasisKind;
    /// use emphatic::{Exact, Task};
    /// let task = Task::counterexample();
    /// let policy = task.softmax();
    /// let exact = Exact::new(&task, &policy, &[0.0; 4])?;
    /// // Episodes have two steps, so one step back is all there is.
    /// let truncated = exact.emphasis_weighting(&EmphasisKind::Truncated { n: 1 }, 1.0)?;
    /// assert_eq!(truncated, exact.emphatic_weighting(1.0));
    /// # Ok::<(), emphatic::ProblemError>(())
    /// ```
    pub fn emphasis_weighting(&self, kind: &EmphasisKind, lambda_a: f64) -> Result<Vec<f64>, ProblemError> {
        let updates = if let EmphasisKind::Periodic { period } = kind { 1.0 / *period as f64 } else { 1.0 };
        self.mixed_weighting(kind, [(1.0 - lambda_a) * updates, lambda_a])
    }

    /// Shares of d_μ i and of f.
    pub(super) fn mixed_weighting(
        &self,
        kind: &EmphasisKind,
        [of_interest, of_f]: [f64; 2],
    ) -> Result<Vec<f64>, ProblemError> {
        let f = self.weighting_of(kind)?;
        Ok(self.interest().iter().zip(f).map(|(i, f)| of_interest * i + of_f * f).collect())
    }

    /// f.
    fn weighting_of(&self, kind: &EmphasisKind) -> Result<Vec<f64>, ProblemError> {
        let interest = self.interest();
        let sum = |terms: usize| partial_sum(&self.observed_transitions(), interest.clone(), terms);
        match *kind {
            EmphasisKind::None => Ok(interest),
            EmphasisKind::Exact => Ok(self.emphatic_weighting(1.0)),
            EmphasisKind::FollowOn => Ok(self.observed_transitions().accumulation()?.of(&interest)),
            EmphasisKind::Normalised => {
                Ok(self.observed_transitions().accumulation()?.of(&self.undiscounted_interest()))
            }
            EmphasisKind::Truncated { n } => Ok(sum(n.saturating_add(1))),
            EmphasisKind::Periodic { period } => {
                at_least_one("the period of the emphasis", period)?;
                Ok(sum(period).into_iter().map(|f| f / period as f64).collect())
            }
            EmphasisKind::NStep { n } => {
                at_least_one("n of the emphasis", n)?;
                Ok(self.observed_transitions().accumulation_of_power(n)?.of(&interest))
            }
            EmphasisKind::Decayed { beta } => {
                fraction("beta of the emphasis", beta)?;
                let observed = |s: usize, a: usize| self.observed(s, a);
                Ok(self.trace_matrix(observed, |_| beta).accumulation()?.of(&interest))
            }
            EmphasisKind::Clipped { rho_max } => {
                not_negative("rho_max of the emphasis", rho_max)?;
                let clipped = |s: usize, a: usize| self.clipped(s, a, rho_max);
                Ok(self.trace_matrix(clipped, |gamma| gamma).accumulation()?.of(&interest))
            }
            EmphasisKind::Lc { first, power } => self.lc_weighting(first, power),
            EmphasisKind::Learned(ref learned) => self.learned_weighting(learned),
        }
    }

    /// d_μ · i.
    pub(super) fn interest(&self) -> Vec<f64> {
        self.stationary().iter().zip(self.model.interest()).map(|(d, i)| d * i).collect()
    }

    /// d_μ(s) E[(1 − γ_t) i_t | S_t = s].
    fn undiscounted_interest(&self) -> Vec<f64> {
        let (task, interest) = (self.model, self.model.interest());
        let mut sums = vec![0.0; interest.len()];
        for (s, d) in self.stationary().iter().enumerate() {
            for (a, mu) in task.behaviour(s).iter().enumerate() {
                for t in task.problem().transitions(s, a) {
                    sums[t.next] += d * mu * t.probability * (1.0 - t.gamma) * interest[t.next];
                }
            }
        }
        sums
    }

    /// π(a|s) where the behaviour takes the action too, and so shows what comes of it; else 0.
    pub(super) fn observed(&self, state: usize, action: usize) -> f64 {
        self.clipped(state, action, f64::INFINITY)
    }

    /// μ(a|s) min(ρ, ρ̄).
    pub(super) fn clipped(&self, state: usize, action: usize, rho_max: f64) -> f64 {
        let (mu, pi) = (self.model.behaviour(state)[action], self.target(state)[action]);
        if mu > 0.0 { pi.min(rho_max * mu) } else { 0.0 }
    }

    /// π(·|s).
    pub(super) fn target(&self, state: usize) -> &[f64] {
        self.policy.probabilities(&self.distributions[state])
    }

    /// The matrix of a trace with the shares ω(s, a) ≤ π(a|s) and the discounts g(γ).
    pub(super) fn trace_matrix(
        &self,
        share: impl Fn(usize, usize) -> f64,
        discount: impl Fn(f64) -> f64,
    ) -> TraceMatrix<'_> {
        let target: Vec<Vec<f64>> = (0..self.model.states()).map(|s| self.target(s).to_vec()).collect();
        TraceMatrix::new(self.model, &target, share, discount)
    }

    /// P_{π,γ} as far as the behaviour shows it.
    pub(super) fn observed_transitions(&self) -> TraceMatrix<'_> {
        self.trace_matrix(|s, a| self.observed(s, a), |gamma| gamma)
    }
}

/// Σ_{j < terms} (Cᵀ)ʲ x.
fn partial_sum(matrix: &TraceMatrix, x: Vec<f64>, terms: usize) -> Vec<f64> {
    let (mut sum, mut term) = (vec![0.0; x.len()], x);
    for _ in 0..terms {
        let more: Vec<f64> = sum.iter().zip(&term).map(|(sum, term)| sum + term).collect();
        if more == sum {
            break; // What is left is too small to change the sum.
        }
        sum = more;
        term = matrix.passed_on(&term);
    }
    sum
}

pub(super) fn fraction(what: &str, value: f64) -> Result<(), ProblemError> {
    check(what, value, (0.0..=1.0).contains(&value), "it must lie between 0 and 1")
}

pub(super) fn not_negative(what: &str, value: f64) -> Result<(), ProblemError> {
    check(what, value, value >= 0.0, "it must not be negative")
}

pub(super) fn positive(what: &str, value: f64) -> Result<(), ProblemError> {
    check(what, value, value > 0.0 && value.is_finite(), "it must be positive")
}

pub(super) fn at_least_one(what: &str, value: usize) -> Result<(), ProblemError> {
    check(what, value as f64, value > 0, "it must be at least 1")
}

fn check(what: &str, value: f64, is_right: bool, right: &'static str) -> Result<(), ProblemError> {
    if is_right { Ok(()) } else { Err(ProblemError::Number { what: what.to_owned(), value, right }) }
}

#[cfg(test)]
mod tests;
