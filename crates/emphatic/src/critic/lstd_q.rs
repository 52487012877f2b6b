//! LSTD-Q(λ): values of actions by least squares.

use super::ActionCritic;
use super::least_squares::{LeastSquares, least_squares_size};
use super::linear_td::decay;
use super::pairs::{advantages, expected_value, mean, pair};
use crate::action::number;
use crate::catalogue::{Extent, Role, Signal, Size};
use crate::settings::settings;
use crate::{
    Built, ComposeError, Declaration, Declared, Features, Part, PartBuilder, Real, Row, Seen, SettingError,
    Settings, StateError, Visitor,
};

settings! {
    LstdQ<R>(features, actions: usize) => LstdQBuilder;
    lambda_q: Fraction = 0.0, "λ of the trace of the action-values";
    forgetting: Fraction = 0.0, "the share of the past that each step forgets: old policies are stale; 0 for a policy that stays";
    solve_every: Count = 100.0, "after how many steps the weights are solved for anew; also where an episode starts";
}

impl Declared for LstdQ {
    const DECLARATION: Declaration = Declaration {
        source: "Lagoudakis and Parr 2003",
        signals: &[Signal::Advantages],
        settings: SETTINGS,
        features: true,
        ..Declaration::new(
            Role::Critic,
            "lstd-q",
            "LSTDQ",
            "q̂(s,b) by least squares, without a step-size, with forgetting",
        )
    };

    fn size(of: &Extent) -> Size {
        least_squares_size(of.features * of.actions)
    }

    fn build<R: Real>(with: &PartBuilder<R>) -> Result<Built<R>, ComposeError> {
        with.action_critic(LstdQ::new(with.features()?, with.actions()?, with.settings())?)
    }
}

/// LSTD-Q(λ) (Lagoudakis and Parr 2003), with q̂(s,a) = w·φ(s,a), where φ(s,a) holds the features of s in the place of a, and a forgetting f:
///
/// ```text
/// z ← φ_t + γ_t λ ρ_t z          φ̄ = Σ_b π(b|S_{t+1}) φ(S_{t+1}, b)
/// A ← (1 − f) A + z (φ_t − γ_{t+1} φ̄)ᵀ          b ← (1 − f) b + R_{t+1} z
/// (A + ε I) w = b,  ε = 0.001
/// ```
///
/// w is solved for where an episode starts and after `solve_every` steps, from all steps before, and before it is read. For d features and k actions it costs (kd)² numbers and (kd)³ operations a solution.
/// π is that of its time: if the policy changes, forgetting makes room for the new one.
/// The baseline is v̂(s) = Σ_b π(b|s) q̂(s,b), with the policy of the step: no other critic is needed.
#[derive(Clone, Debug)]
pub struct LstdQ<R = f64> {
    features: Features,
    actions: usize,
    settings: Settings<R>,
    lambda: R,
    td: LeastSquares<R>,
}

impl<R: Real> LstdQ<R> {
    fn new(features: Features, actions: usize, settings: Settings<R>) -> Result<Self, SettingError> {
        let lambda = settings.number("lambda_q")?;
        let td = LeastSquares::new(features.len() * actions, &settings)?;
        Ok(Self { features, actions, settings, lambda, td })
    }

    /// A copy of w: the weight of feature `f` for action `a` is number `f · actions + a`.
    pub fn weights(&self) -> Vec<R> {
        self.td.weights.clone()
    }

    /// q̂(s,a).
    #[inline(always)]
    fn estimate(&self, x: Row, action: usize) -> R {
        self.td.estimate(pair(x, self.actions, action))
    }
}

impl<R: Real> Part<R> for LstdQ<R> {
    fn features(&self) -> Option<&Features> {
        Some(&self.features)
    }

    fn tensors(&mut self, visitor: &mut Visitor) -> Result<(), StateError> {
        visitor.settings(&self.settings)?;
        self.td.tensors(visitor, ["q", "z"])
    }
}

impl<R: Real> ActionCritic<R> for LstdQ<R> {
    fn actions(&self) -> usize {
        self.actions
    }

    fn wants_next(&self) -> bool {
        true
    }

    #[inline(always)]
    fn value(&mut self, step: &Seen, policy: &[R]) -> R {
        self.td.solve_if_due(step);
        expected_value(policy, |b| self.estimate(step.x, b))
    }

    #[inline(always)]
    fn advantages(&mut self, step: &Seen, policy: &[R], out: &mut [R]) {
        self.td.solve_if_due(step);
        advantages(policy, out, |b| self.estimate(step.x, b));
    }

    #[inline(always)]
    fn next_advantages(&mut self, step: &Seen, next: &[R], out: &mut [R]) {
        self.td.solve_if_due(step);
        advantages(next, out, |b| self.estimate(step.x_next, b));
    }

    #[inline(always)]
    fn learn(&mut self, step: &Seen, _policy: &[R], next: &[R], rho: R) -> R {
        self.td.solve_if_due(step);
        let phi = pair(step.x, self.actions, number(step.action));
        let gamma_next = R::splat(step.gamma_next);
        // The next state lists no features where an episode ends.
        let back = mean(step.x_next, next).map(|(k, x)| (k, -gamma_next * x));
        let difference = phi.clone().map(|(k, x)| (k, R::splat(x))).chain(back);
        let decay = decay(step.gamma, self.lambda, rho);
        self.td.learn(decay, R::one(), step.reward, phi, difference)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::critic::testing::{assert_near, learn_actions, two_steps};

    #[test]
    fn by_hand() {
        let mut critic = LstdQ::builder(Features::dense(1), 2).solve_every(2.0).build().unwrap();
        let [mut first, second] = two_steps();
        first.policy[1] = vec![0.5, 0.5];
        // A = (0.5, −0.5; −0.25, 3.25) and b = (1, 0), solved before the third step is read.
        let determinant = 0.501 * 3.251 - 0.125;
        let w = [3.251 / determinant, 0.25 / determinant];
        let advantages = learn_actions(&mut critic, &[first, second.clone(), second]);
        assert_near(&critic.weights(), &w, 1e-15);
        let difference = 2.0 * (w[0] - w[1]);
        assert_near(&advantages[2], &[0.25 * difference, -0.75 * difference], 1e-15);
    }
}
