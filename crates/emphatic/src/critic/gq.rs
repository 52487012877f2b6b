//! GQ(λ): gradient temporal-difference learning of q̂, with a v̂ as its baseline.

use super::gradient_td::{GradientTd, StepSizes};
use super::pairs::{expected_td_error, expected_value, pair};
use super::{ActionCritic, Critic, part_around};
use crate::catalogue::{Extent, Inner, Role, Signal, Size};
use crate::part::CachedPart;
use crate::settings::settings;
use crate::{
    Built, ComposeError, Declaration, Declared, Features, Gtd, Part, PartBuilder, Real, Row, Schedule, Seen,
    SettingError, Settings, State, StateError, Visitor,
};
use std::any::Any;

settings! {
    Gq<R, V: Critic>(features, actions: usize, values: V) => GqBuilder;
    alpha_q: StepSize, "step-size of the action-values";
    alpha_h: StepSize, "step-size of h, the second weights";
    lambda_q: Fraction = 0.0, "λ of the trace of the action-values";
}

impl Declared for Gq {
    const DECLARATION: Declaration = Declaration {
        source: "Maei and Sutton 2010",
        signals: &[Signal::Advantages],
        settings: SETTINGS,
        features: true,
        inner: &[
            Inner::values("the critic of values that gives the baseline v̂"),
            Inner::schedule("constant"),
        ],
        ..Declaration::new(Role::Critic, "gq", "GQ", "q̂(s,b) by GQ(λ), less the v̂ of another critic")
    };

    fn size(of: &Extent) -> Size {
        Size { in_lanes: 3.0 * of.features * of.actions, shared: 5.0 * of.features * of.actions }
    }

    fn build<R: Real>(with: &PartBuilder<R>) -> Result<Built<R>, ComposeError> {
        let (features, actions) = (with.features()?, with.actions()?);
        let critic = Gq::new(features, actions, with.critic_inside("values")?, with.settings())?;
        with.action_critic(critic.with_schedule(with.schedule()?))
    }
}

/// q̂(s,b) by GQ(λ), and v̂(s) by any critic of values as the baseline.
///
/// GQ(λ) (Maei and Sutton 2010), with q̂(s,a) = w·φ(s,a), where φ(s,a) holds the features of s in the place of a:
///
/// ```text
/// z ← φ_t + γ_t λ ρ_t z          φ̄ = Σ_b π(b|S_{t+1}) φ(S_{t+1}, b)
/// δ = R_{t+1} + γ_{t+1} w·φ̄ − w·φ_t
/// w ← w + α (δ z − γ_{t+1} (1 − λ) (z·h) φ̄)
/// h ← h + α_h (δ z − (φ_t·h) φ_t)
/// ```
#[derive(Clone, Debug)]
pub struct Gq<R = f64, V = Gtd<R>> {
    features: Features,
    actions: usize,
    settings: Settings<R>,
    td: GradientTd<R>,
    baseline: CachedPart<V>,
}

impl<R: Real, V: Critic<R>> Gq<R, V> {
    fn new(
        features: Features,
        actions: usize,
        values: V,
        settings: Settings<R>,
    ) -> Result<Self, SettingError> {
        let sizes = StepSizes {
            alpha: settings.number("alpha_q")?,
            alpha_h: settings.number("alpha_h")?,
            lambda: settings.number("lambda_q")?,
            beta: R::zero(),
        };
        let td = GradientTd::new(&features, actions, sizes);
        Ok(Self { features, actions, settings, td, baseline: CachedPart::new(values) })
    }

    /// The same with this schedule of the step-sizes of the action-values. The critic of values inside has its own.
    pub fn with_schedule(mut self, schedule: impl Into<Schedule<R>>) -> Self {
        self.td.set_schedule(schedule.into(), &self.features, self.actions);
        self
    }

    /// A copy of w: the weight of feature `f` for action `a` is number `f · actions + a`.
    pub fn weights(&self) -> Vec<R> {
        self.td.weights()
    }

    /// The critic whose v̂ is the baseline.
    pub fn baseline(&self) -> &V {
        &self.baseline.part
    }

    /// q̂(s,a).
    #[inline(always)]
    fn estimate(&self, x: Row, action: usize) -> R {
        self.td.estimate(pair(x, self.actions, action))
    }
}

impl<R: Real, V: Critic<R>> Part<R> for Gq<R, V> {
    part_around!(baseline);

    fn tensors(&mut self, visitor: &mut Visitor) -> Result<(), StateError> {
        visitor.settings(&self.settings)?;
        self.td.tensors(visitor, ["q", "h", "z"])?;
        visitor.part("values", &mut self.baseline.part)
    }
}

impl<R: Real, V: Critic<R>> ActionCritic<R> for Gq<R, V> {
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
    fn advantages(&mut self, step: &Seen, _policy: &[R], out: &mut [R]) {
        let (baseline, seen) = self.baseline.see(step);
        let value = baseline.value(&seen);
        for (b, out) in out.iter_mut().enumerate() {
            *out = self.estimate(step.x, b) - value;
        }
    }

    #[inline(always)]
    fn next_advantages(&mut self, step: &Seen, _next: &[R], out: &mut [R]) {
        let (baseline, seen) = self.baseline.see(step);
        let value = baseline.next_value(&seen);
        for (b, out) in out.iter_mut().enumerate() {
            *out = self.estimate(step.x_next, b) - value;
        }
    }

    #[inline(always)]
    fn learn(&mut self, step: &Seen, _policy: &[R], next: &[R], rho: R) -> R {
        let (baseline, seen) = self.baseline.see(step);
        let [_, sum] = baseline.update(&seen, rho);
        let delta = expected_td_error(step, next, |x, b| self.estimate(x, b));
        sum + self.td.learn_pair(step, self.actions, next, rho, delta)
    }
}
