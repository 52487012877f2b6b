//! GQ(λ): gradient temporal-difference learning of q̂, with a v̂ as its baseline.

use super::gradient_td::{GradientTd, StepSizes, TdStep};
use super::{ActionCritic, Critic, part_around};
use crate::catalogue::{Extent, Inner, Role, Signal, Size};
use crate::part::CachedPart;
use crate::settings::settings;
use crate::{
    Action, Acts, Built, ComposeError, Declaration, Declared, Features, Gtd, Part, PartBuilder, Real, Row,
    Seen, SettingError, Settings, State, StateError, Visitor,
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
        inner: &[Inner::values("the critic of values that gives the baseline v̂")],
        ..Declaration::new(Role::Critic, "gq", "GQ", "q̂(s,b) by GQ(λ), less the v̂ of another critic")
    };

    fn size(of: &Extent) -> Size {
        Size { in_lanes: 3.0 * of.features * of.actions, shared: 5.0 * of.features * of.actions }
    }

    fn build<R: Real>(with: &PartBuilder<R>) -> Result<Built<R>, ComposeError> {
        with.action_critic(Gq::new(
            with.features()?,
            with.actions()?,
            with.critic_inside("values")?,
            with.settings(),
        )?)
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
        let td = GradientTd::new(
            features.len() * actions,
            features.most_active(),
            StepSizes {
                alpha: settings.number("alpha_q")?,
                alpha_h: settings.number("alpha_h")?,
                lambda: settings.number("lambda_q")?,
            },
        );
        Ok(Self { features, actions, settings, td, baseline: CachedPart::new(values) })
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

/// φ(s,a).
#[inline(always)]
fn pair(x: Row, actions: usize, action: usize) -> impl Iterator<Item = (usize, f64)> + Clone {
    x.iter().map(move |(f, x)| (f * actions + action, x))
}

/// Returns the number of an action, which has been checked to be one.
#[inline(always)]
pub(super) fn number(action: Action) -> usize {
    usize::of(action).unwrap_or(0)
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
    fn advantages(&mut self, step: &Seen, out: &mut [R]) {
        let (baseline, seen) = self.baseline.see(step);
        let value = baseline.value(&seen);
        for (b, out) in out.iter_mut().enumerate() {
            *out = self.estimate(step.x, b) - value;
        }
    }

    #[inline(always)]
    fn next_advantages(&mut self, step: &Seen, out: &mut [R]) {
        let (baseline, seen) = self.baseline.see(step);
        let value = baseline.next_value(&seen);
        for (b, out) in out.iter_mut().enumerate() {
            *out = self.estimate(step.x_next, b) - value;
        }
    }

    #[inline(always)]
    fn learn(&mut self, step: &Seen, next: &[R], rho: R) -> R {
        let (baseline, seen) = self.baseline.see(step);
        let [_, sum] = baseline.update(&seen, rho);

        let mut delta = R::splat(step.reward);
        if step.gamma_next > 0.0 {
            for (b, probability) in next.iter().enumerate() {
                delta += R::splat(step.gamma_next) * *probability * self.estimate(step.x_next, b);
            }
        }
        delta -= self.estimate(step.x, number(step.action));

        let Self { actions, td, .. } = self;
        let actions = *actions;
        let pair = pair(step.x, actions, number(step.action));
        let mean = || {
            let of = move |(f, x)| (0..actions).map(move |b| (f * actions + b, b, R::splat(x)));
            step.x_next.iter().flat_map(of).map(|(k, b, x)| (k, next[b] * x))
        };
        let numbers = TdStep { gamma: step.gamma, gamma_next: step.gamma_next, rho, scale: R::one(), delta };
        sum + td.learn(numbers, pair, mean)
    }
}
