//! Linear critics of action-values, q̂(s, a) = w·φ(s, a), with features of their own for each action: their expected updates.
//!
//! φ(s, a) has x(s) in the places of action a, weight f · actions + a for feature f, and zeros elsewhere. With a trace
//! z_t = φ_t + γ_t c_t z_{t−1} and δ_t = R_{t+1} + γ_{t+1} Σ_b π(b|S_{t+1}) q̂(S_{t+1}, b) − q̂(S_t, A_t), which has no ratio,
//!
//! ```text
//! A = Φᵀ D (I − C)⁻¹ (I − P) Φ,    b = Φᵀ D (I − C)⁻¹ r,    D = diag(d_μ μ)
//! C((s, a), (s′, a′)) = P(s′|s,a) γ μ(a′|s′) c(s′, a′),    P((s, a), (s′, a′)) = P(s′|s,a) γ π(a′|s′)
//! ```
//!
//! | critic | μ c |
//! |---|---|
//! | GQ(λ), expected TD(λ) and TDRC(λ), LSTD-Q(λ) | λ π |
//! | Retrace(λ) | λ min(μ, π) |
//! | tree backup | λ μ π |
//!
//! A linear model of one step, r̂ and the expected next features as least squares fit them to φ, solved for its own values, has the fixed
//! point of LSTD-Q(0) if each state has one feature and the policy is the same in states that share it; with a feature for each state, q_π. For other features it is not known here.

use super::Exact;
use super::emphasis_weighting::fraction;
use super::expected_update::{
    ExpectedUpdate, LearningRule, Matrix, check_features, columns, products, updated, weighted,
};
use super::feature_span::dot;
use crate::features::Table;
use crate::policy::FinitePolicy;
use crate::problem::{ProblemError, Task};

/// A linear critic of action-values.
#[derive(Clone, Debug, PartialEq)]
pub enum LinearActionCritic {
    /// TD(λ) to the expectation under the target; by its rule GQ(λ), TDRC(λ) or LSTD-Q(λ).
    Expected {
        /// λ of the trace.
        lambda: f64,
        /// How it learns.
        rule: LearningRule,
    },
    /// Retrace(λ).
    Retrace {
        /// λ of the trace.
        lambda: f64,
    },
    /// Tree backup.
    TreeBackup {
        /// λ of the trace.
        lambda: f64,
    },
    /// Least squares models of the reward and the next features, solved for their values.
    Model,
}

impl LinearActionCritic {
    fn lambda(&self) -> f64 {
        match *self {
            Self::Expected { lambda, .. } | Self::Retrace { lambda } | Self::TreeBackup { lambda } => lambda,
            Self::Model => 0.0,
        }
    }

    fn rule(&self) -> LearningRule {
        match *self {
            Self::Expected { rule, .. } => rule,
            Self::Retrace { .. } | Self::TreeBackup { .. } => LearningRule::SemiGradient,
            Self::Model => LearningRule::LeastSquares,
        }
    }
}

impl<P: FinitePolicy> Exact<'_, f64, Task, P> {
    /// The expected update of a linear critic of action-values with these features of the states.
    pub fn action_critic_update(
        &self,
        critic: &LinearActionCritic,
        features: &Table,
    ) -> Result<ExpectedUpdate, ProblemError> {
        fraction("lambda", critic.lambda())?;
        critic.rule().check()?;
        check_features(features, self.model.states())?;
        if *critic == LinearActionCritic::Model && !self.shares_features_and_policy(features) {
            return Err(ProblemError::ModelOfFeatures);
        }
        let (task, actions) = (self.model, self.model.actions());
        let phi = self.pair_columns(features);
        let pairs: Vec<(usize, usize)> =
            (0..task.states()).flat_map(|s| (0..actions).map(move |a| (s, a))).collect();
        let share = |s: usize, a: usize| self.action_trace_share(critic, s, a);
        let trace = self.trace_matrix(share, |gamma| gamma).accumulation()?;
        let d: Vec<f64> = pairs.iter().map(|&(s, a)| self.stationary()[s] * task.behaviour(s)[a]).collect();
        // Between two actions a trace is a property of the state: what enters it.
        let traced = |x: &Vec<f64>| -> Vec<f64> {
            let entering = trace.of(&self.entering(x));
            pairs.iter().zip(x).map(|(&(s, a), x)| x + share(s, a) * entering[s]).collect()
        };
        let z: Matrix = weighted(&d, &phi).iter().map(traced).collect();
        let next: Matrix = phi.iter().map(|phi| self.expected_next(phi)).collect();
        let less = |(x, y): (&Vec<f64>, &Vec<f64>)| x.iter().zip(y).map(|(x, y)| x - y).collect();
        let errors = phi.iter().zip(&next).map(less).collect();
        let reward: Vec<f64> = pairs.iter().map(|&(s, a)| task.action_value(s, a, |_| 0.0)).collect();
        let correction = products(&next, &z);
        let bootstrapping = 1.0 - critic.lambda();
        Ok(ExpectedUpdate {
            key_matrix: products(&z, &errors),
            key_vector: z.iter().map(|z| dot(z, &reward)).collect(),
            gram: products(&weighted(&d, &phi), &phi),
            correction: correction
                .into_iter()
                .map(|row| row.into_iter().map(|n| bootstrapping * n).collect())
                .collect(),
            rule: critic.rule(),
            hybrid: None,
            mean: None,
            updated: updated(&d, &phi),
        })
    }

    /// Whether each state has one feature, and states that share it have the same value of it and the same policy.
    fn shares_features_and_policy(&self, features: &Table) -> bool {
        let mut first: Vec<Option<(usize, f64)>> = vec![None; features.len()];
        (0..features.states()).all(|s| {
            let mut active = features.active(s).filter(|(_, x)| *x != 0.0);
            let (Some((f, x)), None) = (active.next(), active.next()) else { return false };
            let (other, value) = *first[f].get_or_insert((s, x));
            value == x && self.target(other) == self.target(s)
        })
    }

    /// μ c.
    fn action_trace_share(&self, critic: &LinearActionCritic, s: usize, a: usize) -> f64 {
        match *critic {
            LinearActionCritic::Expected { lambda, .. } => lambda * self.observed(s, a),
            LinearActionCritic::Retrace { lambda } => lambda * self.clipped(s, a, 1.0),
            LinearActionCritic::TreeBackup { lambda } => {
                lambda * self.model.behaviour(s)[a] * self.observed(s, a)
            }
            LinearActionCritic::Model => 0.0,
        }
    }

    /// Φ, column by column, with a row for each state and action.
    fn pair_columns(&self, features: &Table) -> Matrix {
        let actions = self.model.actions();
        let of_action = |x: &Vec<f64>, action: usize| {
            x.iter().flat_map(|x| (0..actions).map(move |a| if a == action { *x } else { 0.0 })).collect()
        };
        columns(features).iter().flat_map(|x| (0..actions).map(move |a| of_action(x, a))).collect()
    }

    /// Σ_{s,a} x(s, a) P(s′|s,a) γ, by s′.
    fn entering(&self, x: &[f64]) -> Vec<f64> {
        let task = self.model;
        let mut entering = vec![0.0; task.states()];
        for (k, x) in x.iter().enumerate() {
            let outcomes = task.problem().transitions(k / task.actions(), k % task.actions());
            outcomes.iter().for_each(|t| entering[t.next] += x * t.probability * t.gamma);
        }
        entering
    }

    /// Σ_{s′} P(s′|s,a) γ Σ_b π(b|s′) x(s′, b), by state and action.
    fn expected_next(&self, x: &[f64]) -> Vec<f64> {
        let (task, actions) = (self.model, self.model.actions());
        let mean: Vec<f64> = x.chunks(actions).enumerate().map(|(s, x)| dot(self.target(s), x)).collect();
        let of = |k: usize| {
            let outcomes = task.problem().transitions(k / actions, k % actions);
            outcomes.iter().map(|t| t.probability * t.gamma * mean[t.next]).sum()
        };
        (0..x.len()).map(of).collect()
    }
}

#[cfg(test)]
mod tests;
