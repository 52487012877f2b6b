//! Linear critics of state values, v̂(s) = w·x(s): their expected updates.
//!
//! With a trace z_t = M_t x_t + γ_t c_{t−1} z_{t−1} and the update Δw = α κ_t δ_t z_t, where κ_t and c_t depend on S_t and A_t,
//!
//! ```text
//! A = Xᵀ diag(f) (I − C)⁻¹ (K − B) X,    b = Xᵀ diag(f) (I − C)⁻¹ r
//! C = Σ_a μ c P γ,    B = Σ_a μ κ P γ,    K = diag(Σ_a μ κ),    r = Σ_a μ κ P r,    f(s) = d_μ(s) E[M_t | S_t = s]
//! ```
//!
//! (A trace z = ρ_t (γ_t λ z + x_t) with the update α δ_t z is the same with c = λ ρ and κ = ρ.)
//!
//! | critic | μ κ | μ c | f |
//! |---|---|---|---|
//! | TD(λ) and its gradient forms, LSTD(λ) | π | λ π | d_μ |
//! | V-trace | min(π, ρ̄ μ) | λ min(π, c̄ μ) | d_μ |
//! | tree backup | π | λ μ π | d_μ |
//! | ABTD(ζ) | π | μ π min(ξ, 1/max(μ, π)) | d_μ |
//! | ETD(λ), ELSTD(λ) | π | λ π | λ d_μ i + (1 − λ) d_μ E\[F_t\] |
//! | n-step TD, with an emphasis | π, over n steps | 0 | d_μ E\[F_t\] |

use super::emphasis_weighting::{at_least_one, fraction, not_negative, positive};
use super::expected_update::{
    ExpectedUpdate, LearningRule, Matrix, check_features, columns, products, updated, weighted,
};
use super::feature_span::dot;
use super::trace_matrix::TraceMatrix;
use super::{EmphasisKind, Exact, LearnedEmphasis};
use crate::features::Table;
use crate::policy::FinitePolicy;
use crate::problem::{ProblemError, Task};

/// A linear critic of state values.
#[derive(Clone, Debug, PartialEq)]
pub enum LinearCritic {
    /// Off-policy TD(λ); by its rule GTD(λ), GTD2(λ), TDRC(λ) or LSTD(λ).
    Td {
        /// λ of the trace.
        lambda: f64,
        /// How it learns.
        rule: LearningRule,
    },
    /// HTD(λ), which is TD(λ) if the policies are the same.
    Hybrid {
        /// λ of the trace.
        lambda: f64,
        /// The step-size of the second weights, relative to that of the first.
        eta: f64,
    },
    /// V-trace.
    VTrace {
        /// λ of the trace.
        lambda: f64,
        /// ρ̄, the largest ratio of an error.
        rho_max: f64,
        /// c̄, the largest ratio of a trace.
        c_max: f64,
    },
    /// Tree backup, whose trace fades by the target's probability of the action.
    TreeBackup {
        /// λ of the trace.
        lambda: f64,
    },
    /// ABTD(ζ), whose trace has the largest ratios at which it does not vary: see [`LinearCritic::abtd`].
    AbTd {
        /// ξ_ζ.
        xi: f64,
    },
    /// ETD(λ), with any emphasis for its F_t; by its rule ELSTD(λ), or a gradient form.
    Emphatic {
        /// λ of the trace, and of the interest in M_t = λ i_t + (1 − λ) F_t.
        lambda: f64,
        /// What F_t is.
        emphasis: EmphasisKind,
        /// How it learns.
        rule: LearningRule,
    },
    /// n-step TD, each update multiplied by F_t.
    NStep {
        /// The number of steps until it bootstraps.
        n: usize,
        /// What F_t is.
        emphasis: EmphasisKind,
    },
}

impl LinearCritic {
    /// Off-policy TD(λ).
    pub fn td(lambda: f64) -> Self {
        Self::Td { lambda, rule: LearningRule::SemiGradient }
    }

    /// ETD(λ) with the follow-on trace.
    pub fn etd(lambda: f64) -> Self {
        Self::Emphatic { lambda, emphasis: EmphasisKind::FollowOn, rule: LearningRule::SemiGradient }
    }

    /// ABTD(ζ) with ξ_ζ = 2ζξ₀ + max(0, 2ζ − 1)(ξ_max − 2ξ₀), where 1/ξ₀ and 1/ξ_max are the largest and the smallest of max(μ, π).
    pub fn abtd(zeta: f64, [xi_0, xi_max]: [f64; 2]) -> Self {
        Self::AbTd { xi: 2.0 * zeta * xi_0 + (2.0 * zeta - 1.0).max(0.0) * (xi_max - 2.0 * xi_0) }
    }

    /// The emphasis inside it, if that is learned.
    pub fn learned_emphasis(&self) -> Option<&LearnedEmphasis> {
        match self {
            Self::Emphatic { emphasis: EmphasisKind::Learned(learned), .. }
            | Self::NStep { emphasis: EmphasisKind::Learned(learned), .. } => Some(learned),
            _ => None,
        }
    }

    fn check(&self) -> Result<(), ProblemError> {
        let lambda = |lambda: f64| fraction("lambda", lambda);
        match *self {
            Self::Td { lambda: l, rule } | Self::Emphatic { lambda: l, rule, .. } => {
                lambda(l).and_then(|()| rule.check())
            }
            Self::Hybrid { lambda: l, eta } => lambda(l).and_then(|()| positive("eta", eta)),
            Self::VTrace { lambda: l, rho_max, c_max } => lambda(l)
                .and_then(|()| not_negative("rho_max", rho_max))
                .and_then(|()| not_negative("c_max", c_max)),
            Self::TreeBackup { lambda: l } => lambda(l),
            Self::AbTd { xi } => not_negative("xi", xi),
            Self::NStep { n, .. } => at_least_one("n", n),
        }
    }

    fn rule(&self) -> LearningRule {
        match *self {
            Self::Td { rule, .. } | Self::Emphatic { rule, .. } => rule,
            _ => LearningRule::SemiGradient,
        }
    }

    /// 1 − λ, where the correction of gradient methods depends on it.
    fn bootstrapping(&self) -> f64 {
        match *self {
            Self::Td { lambda, .. } | Self::Emphatic { lambda, .. } => 1.0 - lambda,
            _ => 1.0,
        }
    }
}

impl<P: FinitePolicy> Exact<'_, f64, Task, P> {
    /// The expected update of a linear critic with these features of the states.
    ///
    /// ```
    /// use emphatic::theory::LinearCritic;
    /// use emphatic::{Exact, Task};
    /// let task = Task::counterexample();
    /// let policy = task.softmax();
    /// let exact = Exact::new(&task, &policy, &[0.0; 4])?;
    /// // A critic that sees the states learns their values.
    /// let update = exact.critic_update(&LinearCritic::td(0.9), task.critic())?;
    /// let weights = update.fixed_point().unwrap();
    /// assert!(exact.value_error(task.critic(), &weights, exact.stationary()) < 1e-12);
    /// # Ok::<(), emphatic::ProblemError>(())
    /// ```
    pub fn critic_update(
        &self,
        critic: &LinearCritic,
        features: &Table,
    ) -> Result<ExpectedUpdate, ProblemError> {
        critic.check()?;
        check_features(features, self.model.states())?;
        let (x, f) = (columns(features), self.critic_weighting(critic)?);
        let trace = self.critic_trace(critic).accumulation()?;
        let z = weighted(&f, &x).iter().map(|x| trace.of(x)).collect();
        let mut errors = match *critic {
            LinearCritic::VTrace { rho_max, .. } => self.td_errors(|s, a| self.clipped(s, a, rho_max), &x),
            _ => self.td_errors(|s, a| self.observed(s, a), &x),
        };
        if let LinearCritic::NStep { n, .. } = *critic {
            errors = errors.over_steps(n, &self.observed_transitions());
        }
        let hybrid = match *critic {
            LinearCritic::Hybrid { lambda, eta } => Some((self.behaviour_key_matrix(lambda, &x)?, eta)),
            _ => None,
        };
        let correction = products(&errors.next, &z);
        Ok(ExpectedUpdate {
            key_matrix: products(&z, &errors.features),
            key_vector: z.iter().map(|z| dot(z, &errors.reward)).collect(),
            gram: products(&weighted(&f.iter().map(|f| f.abs()).collect::<Vec<_>>(), &x), &x),
            correction: correction
                .into_iter()
                .map(|row| row.into_iter().map(|n| critic.bootstrapping() * n).collect())
                .collect(),
            rule: critic.rule(),
            hybrid,
            mean: None,
            updated: updated(&f, &x),
        })
    }

    /// ξ₀ and ξ_max of [`LinearCritic::abtd`]: one divided by the largest and by the smallest max(μ, π) of the actions that the behaviour
    /// takes in the states that it visits.
    pub fn abtd_range(&self) -> [f64; 2] {
        let visited = (0..self.model.states()).filter(|&s| self.stationary()[s] > 0.0);
        let pairs = visited.flat_map(|s| self.model.behaviour(s).iter().zip(self.target(s)));
        let taken = pairs.filter(|(mu, _)| **mu > 0.0).map(|(mu, pi)| 1.0 / mu.max(*pi));
        taken.fold([f64::INFINITY, 0.0], |[least, most], xi| [least.min(xi), most.max(xi)])
    }

    /// d_μ(s) E[M_t | S_t = s].
    fn critic_weighting(&self, critic: &LinearCritic) -> Result<Vec<f64>, ProblemError> {
        match critic {
            LinearCritic::Emphatic { lambda, emphasis, .. } => {
                self.mixed_weighting(emphasis, [*lambda, 1.0 - lambda])
            }
            LinearCritic::NStep { emphasis, .. } => self.mixed_weighting(emphasis, [0.0, 1.0]),
            _ => Ok(self.stationary().to_vec()),
        }
    }

    /// C.
    fn critic_trace(&self, critic: &LinearCritic) -> TraceMatrix<'_> {
        let (mu, pi) =
            (|s: usize, a: usize| self.model.behaviour(s)[a], |s: usize, a: usize| self.observed(s, a));
        let share = |s: usize, a: usize| match *critic {
            LinearCritic::Td { lambda, .. }
            | LinearCritic::Hybrid { lambda, .. }
            | LinearCritic::Emphatic { lambda, .. } => lambda * pi(s, a),
            LinearCritic::VTrace { lambda, c_max, .. } => lambda * self.clipped(s, a, c_max),
            LinearCritic::TreeBackup { lambda } => lambda * mu(s, a) * pi(s, a),
            LinearCritic::AbTd { xi } if mu(s, a) > 0.0 => {
                mu(s, a) * pi(s, a) * xi.min(1.0 / mu(s, a).max(pi(s, a)))
            }
            LinearCritic::AbTd { .. } | LinearCritic::NStep { .. } => 0.0,
        };
        self.trace_matrix(share, |gamma| gamma)
    }

    /// A_μ: the key matrix of TD(λ) for the behaviour's own values.
    fn behaviour_key_matrix(&self, lambda: f64, x: &Matrix) -> Result<Matrix, ProblemError> {
        let task = self.model;
        let policy: Vec<Vec<f64>> = (0..task.states()).map(|s| task.behaviour(s).to_vec()).collect();
        let trace = TraceMatrix::new(task, &policy, |s, a| lambda * policy[s][a], |gamma| gamma);
        let accumulation = trace.accumulation()?;
        let z = weighted(self.stationary(), x).iter().map(|x| accumulation.of(x)).collect();
        Ok(products(&z, &self.td_errors(|s, a| policy[s][a], x).features))
    }

    /// The expected errors of a TD update in each state, with the shares μ κ.
    fn td_errors(&self, share: impl Fn(usize, usize) -> f64, x: &Matrix) -> TdErrors {
        let (task, actions) = (self.model, self.model.actions());
        let kept: Vec<f64> = (0..task.states()).map(|s| (0..actions).map(|a| share(s, a)).sum()).collect();
        let reward = |s: usize| (0..actions).map(|a| share(s, a) * task.action_value(s, a, |_| 0.0)).sum();
        let reward = (0..task.states()).map(reward).collect();
        let onward = self.trace_matrix(&share, |gamma| gamma);
        let next: Matrix = x.iter().map(|x| onward.times(x)).collect();
        let less = |(x, next): (&Vec<f64>, &Vec<f64>)| {
            x.iter().zip(next).zip(&kept).map(|((x, next), kept)| kept * x - next).collect()
        };
        TdErrors { features: x.iter().zip(&next).map(less).collect(), next, reward }
    }
}

/// E[κ_t δ_t | S_t = s] = r(s) − Σ_f features_f(s) w_f.
struct TdErrors {
    /// (K − B) X, column by column.
    features: Matrix,
    /// B X, column by column.
    next: Matrix,
    /// r.
    reward: Vec<f64>,
}

impl TdErrors {
    /// Σ_{j<n} Bʲ: the errors of n steps.
    fn over_steps(self, n: usize, onward: &TraceMatrix) -> Self {
        let sum = |x: Vec<f64>| {
            let (mut sum, mut term) = (x.clone(), x);
            for _ in 1..n {
                term = onward.times(&term);
                sum.iter_mut().zip(&term).for_each(|(sum, term)| *sum += term);
            }
            sum
        };
        Self { features: self.features.into_iter().map(sum).collect(), reward: sum(self.reward), ..self }
    }
}

#[cfg(test)]
mod tests;
