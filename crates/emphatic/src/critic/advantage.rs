//! The second way to a baseline: estimate v_π, and learn the advantage from δ.

use super::gq::number;
use super::{ActionCritic, Critic};
use crate::catalogue::{Declaration, Declared, Extent, Inner, Role, Setting, Size, Tells};
use crate::compose::{Built, PartBuilder};
use crate::features::{Features, State};
use crate::part::{ComposeError, Part, Seen, Slot};
use crate::policy::any_outputs;
use crate::real::Real;
use crate::setting::{Range, SettingError};
use crate::tensors::{StateError, Visitor};
use std::any::Any;

/// [`Advantage`] in the catalogue.
#[derive(Debug)]
pub struct InCatalogue;

impl Declared for InCatalogue {
    const DECLARATION: Declaration = Declaration {
        source: "Imani, Graves and White 2018",
        tells: &[Tells::Advantages],
        settings: &[Setting {
            name: "alpha_u",
            range: Range::StepSize,
            default: None,
            about: "step-size of u, the weights of the advantage",
        }],
        features: true,
        inner: Some(Inner {
            name: "values",
            tells: Tells::Delta,
            default: "gtd",
            about: "the critic of values whose δ is learned from",
        }),
        ..Declaration::new(
            Role::Critic,
            "advantage",
            "Advantage",
            "the advantage of each action, regressed on the δ of another critic",
        )
    };

    fn size(of: &Extent) -> Size {
        Size { in_lanes: of.features * of.actions, shared: 0.0 }
    }

    fn build<R: Real>(with: &PartBuilder<R>) -> Result<Built<R>, ComposeError> {
        let (features, actions) = (with.features()?, with.actions()?);
        with.action_critic(Advantage::new(features, actions, with.number("alpha_u")?, with.inner()?)?)
    }
}

/// â(s,b) = u·φ(s,b), regressed on δ_t of any critic of values: u ← u + α (δ_t − u·φ_t) φ_t.
///
/// Given v_π, E[δ_t | S_t = s, A_t = a] is the advantage; being conditional on the action, it needs no ratio.
#[derive(Clone, Debug)]
pub struct Advantage<R, V> {
    features: Features,
    actions: usize,
    alpha: R,
    u: Vec<R>,
    values: Slot<V>,
}

impl<R: Real, V: Critic<R>> Advantage<R, V> {
    /// A critic that starts from zero weights. The step-size is divided by the number of active features.
    pub fn new(
        features: impl Into<Features>,
        actions: usize,
        alpha: R,
        values: V,
    ) -> Result<Self, SettingError> {
        Range::StepSize.check("alpha_u", alpha)?;
        let features = features.into();
        let active = R::splat(features.most_active() as f64);
        let u = vec![R::zero(); features.len() * actions];
        Ok(Self { alpha: alpha / active, u, features, actions, values: Slot::new(values) })
    }

    /// A copy of u: the weight of feature `f` for action `a` is number `f · actions + a`.
    pub fn weights(&self) -> Vec<R> {
        self.u.clone()
    }

    /// The critic whose δ is learned from.
    pub fn values(&self) -> &V {
        &self.values.part
    }
}

impl<R: Real, V: Critic<R>> Part<R> for Advantage<R, V> {
    fn features(&self) -> Option<&Features> {
        Some(&self.features)
    }

    fn all_features<'a>(&'a self, list: &mut Vec<&'a Features>) {
        list.push(&self.features);
        self.values.part.all_features(list);
    }

    fn set_policy(&mut self, policy: &dyn Any) -> Result<(), ComposeError> {
        self.values.part.set_policy(policy)
    }

    fn follows_policy(&self) -> bool {
        self.values.follows_policy
    }

    #[inline(always)]
    fn policy_changed(&mut self, weights: &[R], state: Option<State>) {
        self.values.policy_changed(weights, state);
    }

    fn tensors(&mut self, visitor: &mut Visitor) -> Result<(), StateError> {
        visitor.estimate("u", self.u.iter_mut())?;
        visitor.part("values", &mut self.values.part)
    }
}

impl<R: Real, V: Critic<R>> ActionCritic<R> for Advantage<R, V> {
    fn actions(&self) -> usize {
        self.actions
    }

    #[inline(always)]
    fn advantages(&mut self, step: &Seen, out: &mut [R]) {
        any_outputs(step.x, &self.u, out);
    }

    #[inline(always)]
    fn learn(&mut self, step: &Seen, _next: &[R], rho: R) -> R {
        let [delta, mut sum] = self.values.update(step, rho);
        let action = number(step.action);
        let pair = |f: usize| f * self.actions + action;
        let mut error = delta;
        for (f, x) in step.x.iter() {
            error -= self.u[pair(f)] * R::splat(x);
        }
        for (f, x) in step.x.iter() {
            self.u[pair(f)] += self.alpha * error * R::splat(x);
            sum += self.u[pair(f)].nan_unless_finite();
        }
        sum
    }
}
