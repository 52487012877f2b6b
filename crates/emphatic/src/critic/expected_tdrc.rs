//! Expected TDRC(λ), for values of actions.

use super::ActionCritic;
use super::gradient_td::{GradientTd, StepSizes};
use super::pairs::{advantages, expected_td_error, expected_value, pair};
use crate::catalogue::{Extent, Inner, Role, Signal, Size};
use crate::settings::settings;
use crate::{
    Built, ComposeError, Declaration, Declared, Features, Part, PartBuilder, Real, Row, Schedule, Seen,
    SettingError, Settings, StateError, Visitor,
};

settings! {
    ExpectedTdrc<R>(features, actions: usize) => ExpectedTdrcBuilder;
    alpha_q: StepSize, "step-size of the action-values";
    eta: Amount = 1.0, "η: the step-size of h, the second weights, as a multiple of that of the action-values";
    beta: Amount = 1.0, "β: how strongly h is drawn to zero; 0 is GQ(λ)";
    lambda_q: Fraction = 0.0, "λ of the trace of the action-values";
}

impl Declared for ExpectedTdrc {
    const DECLARATION: Declaration = Declaration {
        source: "after Ghiassian et al. 2020",
        signals: &[Signal::Advantages],
        settings: SETTINGS,
        features: true,
        inner: &[Inner::schedule("constant")],
        ..Declaration::new(
            Role::Critic,
            "expected-tdrc",
            "ExpectedTDRC",
            "q̂(s,b) by GQ(λ) with a regularised gradient correction; its defaults need no tuning",
        )
    };

    fn size(of: &Extent) -> Size {
        Size { in_lanes: 3.0 * of.features * of.actions, shared: 5.0 * of.features * of.actions }
    }

    fn build<R: Real>(with: &PartBuilder<R>) -> Result<Built<R>, ComposeError> {
        let critic = ExpectedTdrc::new(with.features()?, with.actions()?, with.settings())?;
        with.action_critic(critic.with_schedule(with.schedule()?))
    }
}

/// GQ(λ) with a regularised correction, as TDRC (Ghiassian et al. 2020) has it, with q̂(s,a) = w·φ(s,a), where φ(s,a) holds the features of s in the place of a:
///
/// ```text
/// z ← φ_t + γ_t λ ρ_t z          φ̄ = Σ_b π(b|S_{t+1}) φ(S_{t+1}, b)
/// δ = R_{t+1} + γ_{t+1} w·φ̄ − w·φ_t
/// w ← w + α (δ z − γ_{t+1} (1 − λ) (z·h) φ̄)
/// h ← h + η α (δ z − (φ_t·h) φ_t − β h)
/// ```
///
/// All of h is drawn to zero at every step, that of other actions too; what this costs is said at [`Tdrc`](crate::Tdrc). If each feature has a step-size of its own, h is drawn to zero in the features that are active, for the
/// action taken.
/// The baseline is v̂(s) = Σ_b π(b|s) q̂(s,b), with the policy of the step: no other critic is needed.
#[derive(Clone, Debug)]
pub struct ExpectedTdrc<R = f64> {
    features: Features,
    actions: usize,
    settings: Settings<R>,
    td: GradientTd<R, true>,
}

impl<R: Real> ExpectedTdrc<R> {
    fn new(features: Features, actions: usize, settings: Settings<R>) -> Result<Self, SettingError> {
        let alpha = settings.number("alpha_q")?;
        let sizes = StepSizes {
            alpha,
            alpha_h: alpha * settings.number("eta")?,
            lambda: settings.number("lambda_q")?,
            beta: settings.number("beta")?,
        };
        Ok(Self { td: GradientTd::new(&features, actions, sizes), features, actions, settings })
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

impl<R: Real> Part<R> for ExpectedTdrc<R> {
    fn features(&self) -> Option<&Features> {
        Some(&self.features)
    }

    fn tensors(&mut self, visitor: &mut Visitor) -> Result<(), StateError> {
        visitor.settings(&self.settings)?;
        self.td.tensors(visitor, ["q", "h", "z"])
    }
}

impl<R: Real> ActionCritic<R> for ExpectedTdrc<R> {
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
        self.td.learn_pair(step, self.actions, next, rho, delta)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::critic::testing::{assert_near, episodes, kinds, learn_actions, numbers, two_steps};

    use crate::{Gq, Gtd};

    #[test]
    fn by_hand() {
        let critic = ExpectedTdrc::builder(Features::dense(1), 2).alpha_q(0.5).eta(0.5).lambda_q(1.0);
        let mut critic = critic.build().unwrap();
        learn_actions(&mut critic, &two_steps());
        // w = (0.5, 0) and h = (0.25, 0); then δ = 0.0625 and z = (0.25, 2).
        assert_eq!(critic.weights(), [0.5078125, 0.0625]);
        let common = numbers(&mut critic, "h.common")[0];
        let h: Vec<f64> = numbers(&mut critic, "h").iter().map(|h| h * common).collect();
        assert_near(&h, &[0.19140625, 0.03125], 1e-15);
    }

    #[test]
    fn without_regularisation_it_is_gq_to_the_bit() {
        for features in kinds() {
            let own =
                ExpectedTdrc::builder(features.clone(), 2).alpha_q(0.1).eta(0.5).beta(0.0).lambda_q(0.7);
            let values = Gtd::builder(features.clone()).alpha_v(0.1).alpha_w(0.1).build().unwrap();
            let gq = Gq::builder(features.clone(), 2, values).alpha_q(0.1).alpha_h(0.05).lambda_q(0.7);
            let (mut own, mut gq) = (own.build().unwrap(), gq.build().unwrap());
            for episode in episodes(&features, 40, 2.0) {
                learn_actions(&mut own, &episode);
                learn_actions(&mut gq, &episode);
                assert_eq!(own.weights(), gq.weights());
            }
        }
    }

    /// The baseline is the mean of q̂ under the policy.
    #[test]
    fn the_mean_advantage_is_zero() {
        let features = Features::dense(3);
        let mut critic = ExpectedTdrc::builder(features.clone(), 2).alpha_q(0.1).build().unwrap();
        for episode in episodes(&features, 10, 2.0) {
            for (row, advantages) in episode.iter().zip(learn_actions(&mut critic, &episode)) {
                let mean: f64 = advantages.iter().zip(&row.policy[0]).map(|(a, pi)| a * pi).sum();
                assert!(mean.abs() < 1e-15);
            }
        }
    }
}
