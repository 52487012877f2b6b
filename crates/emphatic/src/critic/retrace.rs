//! Retrace(λ), for values of actions.

use super::ActionCritic;
use super::linear_td::{LinearTd, decay};
use super::pairs::{advantages, expected_td_error, expected_value, pair};
use crate::action::number;
use crate::catalogue::{Extent, Inner, Role, Signal, Size};
use crate::settings::settings;
use crate::{
    Built, ComposeError, Declaration, Declared, Features, Part, PartBuilder, Real, Row, Schedule, Seen,
    SettingError, Settings, StateError, Visitor,
};

settings! {
    Retrace<R>(features, actions: usize) => RetraceBuilder;
    alpha_q: StepSize, "step-size of the action-values";
    lambda_q: Fraction = 1.0, "λ of the trace of the action-values: 1 means the longest";
}

impl Declared for Retrace {
    const DECLARATION: Declaration = Declaration {
        source: "Munos, Stepleton, Harutyunyan and Bellemare 2016",
        signals: &[Signal::Advantages],
        settings: SETTINGS,
        features: true,
        inner: &[Inner::schedule("constant")],
        ..Declaration::new(
            Role::Critic,
            "retrace",
            "Retrace",
            "q̂(s,b) by Retrace(λ): ratios in the trace are cut at 1, and all actions are expected",
        )
    };

    fn size(of: &Extent) -> Size {
        Size { in_lanes: 2.0 * of.features * of.actions, shared: 5.0 * of.features * of.actions }
    }

    fn build<R: Real>(with: &PartBuilder<R>) -> Result<Built<R>, ComposeError> {
        let critic = Retrace::new(with.features()?, with.actions()?, with.settings())?;
        with.action_critic(critic.with_schedule(with.schedule()?))
    }
}

/// Retrace(λ) (Munos et al. 2016) as an online method with a trace, with q̂(s,a) = w·φ(s,a), where φ(s,a) holds the features of s in the place of a:
///
/// ```text
/// z ← φ_t + γ_t λ min(1, ρ_t) z
/// δ = R_{t+1} + γ_{t+1} Σ_b π(b|S_{t+1}) q̂(S_{t+1},b) − q̂(S_t,A_t)
/// w ← w + α δ z
/// ```
///
/// λ = 1 means the longest trace; it has nothing to do with λ_a. Cutting the ratios adds no bias, since δ expects all actions. With function approximation it can diverge.
/// The baseline is v̂(s) = Σ_b π(b|s) q̂(s,b), with the policy of the step: no other critic is needed.
#[derive(Clone, Debug)]
pub struct Retrace<R = f64> {
    features: Features,
    actions: usize,
    settings: Settings<R>,
    lambda: R,
    td: LinearTd<R>,
}

impl<R: Real> Retrace<R> {
    fn new(features: Features, actions: usize, settings: Settings<R>) -> Result<Self, SettingError> {
        let (alpha, lambda) = (settings.number("alpha_q")?, settings.number("lambda_q")?);
        Ok(Self { td: LinearTd::new(&features, actions, alpha), features, actions, settings, lambda })
    }

    /// The same with this schedule of its step-sizes.
    pub fn with_schedule(mut self, schedule: impl Into<Schedule<R>>) -> Self {
        self.td.set_schedule(schedule.into(), &self.features, self.actions);
        self
    }

    /// A copy of w: the weight of feature `f` for action `a` is number `f · actions + a`.
    pub fn weights(&self) -> Vec<R> {
        self.td.weights()
    }

    /// q̂(s,a).
    #[inline(always)]
    fn estimate(&self, x: Row, action: usize) -> R {
        self.td.estimate(pair(x, self.actions, action))
    }
}

impl<R: Real> Part<R> for Retrace<R> {
    fn features(&self) -> Option<&Features> {
        Some(&self.features)
    }

    fn tensors(&mut self, visitor: &mut Visitor) -> Result<(), StateError> {
        visitor.settings(&self.settings)?;
        self.td.tensors(visitor, ["q", "z"])
    }
}

impl<R: Real> ActionCritic<R> for Retrace<R> {
    fn actions(&self) -> usize {
        self.actions
    }

    fn wants_next(&self) -> bool {
        true
    }

    #[inline(always)]
    fn value(&mut self, step: &Seen, policy: &[R]) -> R {
        expected_value(policy, |b| self.estimate(step.x, b))
    }

    #[inline(always)]
    fn advantages(&mut self, step: &Seen, policy: &[R], out: &mut [R]) {
        advantages(policy, out, |b| self.estimate(step.x, b));
    }

    #[inline(always)]
    fn next_advantages(&mut self, step: &Seen, next: &[R], out: &mut [R]) {
        advantages(next, out, |b| self.estimate(step.x_next, b));
    }

    #[inline(always)]
    fn learn(&mut self, step: &Seen, _policy: &[R], next: &[R], rho: R) -> R {
        let delta = expected_td_error(step, next, |x, b| self.estimate(x, b));
        let decay = decay(step.gamma, self.lambda, rho.smaller(R::one()));
        let phi = pair(step.x, self.actions, number(step.action));
        self.td.learn(decay, R::one(), delta, phi)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::critic::testing::{learn_actions, two_steps};

    #[test]
    fn by_hand() {
        let mut critic = Retrace::builder(Features::dense(1), 2).alpha_q(0.5).build().unwrap();
        let [mut first, mut second] = two_steps();
        (first.policy[1], second.policy[0]) = (vec![0.5, 0.5], vec![0.5, 0.5]);
        second.rho = 2.0;
        // δ = 1, w = (0.5, 0). Then q̂ = (1, 0) less their mean; δ = 0.5 · 0.25 · 0.5 and z = (½ · 1, 2): ρ is cut to 1.
        assert_eq!(learn_actions(&mut critic, &[first, second]), [[0.0, 0.0], [0.5, -0.5]]);
        assert_eq!(critic.weights(), [0.515625, 0.0625]);
    }
}
