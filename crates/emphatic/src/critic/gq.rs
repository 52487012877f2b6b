//! The first way to a baseline: estimate q_π and v_π.

use super::gradient_td::GradientTd;
use super::{ActionCritic, Critic};
use crate::action::{Action, Acts};
use crate::catalogue::{Declaration, Declared, Extent, Inner, Role, Setting, Size, Tells};
use crate::compose::{Built, PartBuilder};
use crate::features::{Features, Row, State};
use crate::part::{ComposeError, Part, Seen, Slot};
use crate::real::Real;
use crate::setting::{Range, SettingError};
use crate::tensors::{StateError, Visitor};
use std::any::Any;

/// [`Gq`] in the catalogue.
#[derive(Debug)]
pub struct InCatalogue;

impl Declared for InCatalogue {
    const DECLARATION: Declaration = Declaration {
        source: "Maei and Sutton 2010",
        tells: &[Tells::Advantages],
        settings: &[
            Setting {
                name: "alpha_q",
                range: Range::StepSize,
                default: None,
                about: "step-size of the action-values",
            },
            Setting {
                name: "alpha_h",
                range: Range::StepSize,
                default: None,
                about: "step-size of h, the second weights",
            },
            Setting {
                name: "lambda_q",
                range: Range::Fraction,
                default: Some(0.0),
                about: "λ of the trace of the action-values",
            },
        ],
        features: true,
        inner: Some(Inner {
            name: "values",
            tells: Tells::Delta,
            default: "gtd",
            about: "the critic of values that gives the baseline v̂",
        }),
        ..Declaration::new(Role::Critic, "gq", "GQ", "q̂(s,b) by GQ(λ), less the v̂ of another critic")
    };

    fn size(of: &Extent) -> Size {
        Size { in_lanes: 3.0 * of.features * of.actions, shared: 5.0 * of.features * of.actions }
    }

    fn build<R: Real>(with: &PartBuilder<R>) -> Result<Built<R>, ComposeError> {
        let [alpha, alpha_h, lambda] = ["alpha_q", "alpha_h", "lambda_q"].map(|name| with.number(name));
        let (features, actions) = (with.features()?, with.actions()?);
        with.action_critic(Gq::new(features, actions, alpha?, alpha_h?, lambda?, with.inner()?)?)
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
pub struct Gq<R, V> {
    features: Features,
    actions: usize,
    td: GradientTd<R>,
    baseline: Slot<V>,
}

impl<R: Real, V: Critic<R>> Gq<R, V> {
    /// A critic that starts from zero weights. The step-sizes are divided by the number of active features.
    pub fn new(
        features: impl Into<Features>,
        actions: usize,
        alpha: R,
        alpha_h: R,
        lambda: R,
        baseline: V,
    ) -> Result<Self, SettingError> {
        let features = features.into();
        let names = ["alpha_q", "alpha_h", "lambda_q"];
        let len = features.len() * actions;
        let td = GradientTd::new(len, features.most_active(), names, [alpha, alpha_h], lambda)?;
        Ok(Self { features, actions, td, baseline: Slot::new(baseline) })
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

/// The number of an action that has been checked.
#[inline(always)]
pub(super) fn number(action: Action) -> usize {
    usize::of(action).unwrap_or(0)
}

impl<R: Real, V: Critic<R>> Part<R> for Gq<R, V> {
    fn features(&self) -> Option<&Features> {
        Some(&self.features)
    }

    fn all_features<'a>(&'a self, list: &mut Vec<&'a Features>) {
        list.push(&self.features);
        self.baseline.part.all_features(list);
    }

    fn set_policy(&mut self, policy: &dyn Any) -> Result<(), ComposeError> {
        self.baseline.part.set_policy(policy)
    }

    fn follows_policy(&self) -> bool {
        self.baseline.follows_policy
    }

    #[inline(always)]
    fn policy_changed(&mut self, weights: &[R], state: Option<State>) {
        self.baseline.policy_changed(weights, state);
    }

    fn tensors(&mut self, visitor: &mut Visitor) -> Result<(), StateError> {
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
        let value = self.baseline.value(step);
        for (b, out) in out.iter_mut().enumerate() {
            *out = self.estimate(step.x, b) - value;
        }
    }

    #[inline(always)]
    fn learn(&mut self, step: &Seen, next: &[R], rho: R) -> R {
        let [_, sum] = self.baseline.update(step, rho);

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
        sum + td.learn([step.gamma, step.gamma_next], [rho, R::one(), delta], pair, mean)
    }
}
