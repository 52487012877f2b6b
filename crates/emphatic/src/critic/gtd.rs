//! GTD(λ): gradient temporal-difference learning of v̂.

use super::gradient_td::{GradientTd, StepSizes};
use super::{Critic, linear_methods, linear_values};
use crate::catalogue::{Extent, Inner, Role, Signal, Size};
use crate::settings::settings;
use crate::{
    Built, ComposeError, Declaration, Declared, Features, Part, PartBuilder, Real, Schedule, Seen,
    SettingError, Settings, StateError, Visitor,
};

settings! {
    Gtd<R>(features) => GtdBuilder;
    alpha_v: StepSize, "step-size of v, the weights of the values";
    alpha_w: StepSize, "step-size of w, the second weights";
    lambda: Fraction = 0.0, "λ of the trace: 1 means full returns (it has nothing to do with λ_a)";
}

impl Declared for Gtd {
    const DECLARATION: Declaration = Declaration {
        source: "Maei 2011",
        signals: &[Signal::Delta],
        settings: SETTINGS,
        features: true,
        inner: &[Inner::schedule("constant")],
        ..Declaration::new(Role::Critic, "gtd", "GTD", "GTD(λ): gradient temporal-difference learning of v̂")
    };

    fn size(of: &Extent) -> Size {
        Size { in_lanes: 3.0 * of.features, shared: 5.0 * of.features }
    }

    fn build<R: Real>(with: &PartBuilder<R>) -> Result<Built<R>, ComposeError> {
        with.critic(Gtd::new(with.features()?, with.settings())?.with_schedule(with.schedule()?))
    }
}

/// GTD(λ) (Maei 2011), with v̂(s) = v·x(s):
///
/// ```text
/// e ← ρ_t (γ_t λ e + x_t)
/// v ← v + α_v (δ_t e − γ_{t+1} (1 − λ) (e·w) x_{t+1})
/// w ← w + α_w (δ_t e − (x_t·w) x_t)
/// ```
///
/// λ = 1 means full returns here; it has nothing to do with λ_a.
#[derive(Clone, Debug)]
pub struct Gtd<R = f64> {
    features: Features,
    settings: Settings<R>,
    td: GradientTd<R>,
}

impl<R: Real> Gtd<R> {
    pub(crate) fn new(features: Features, settings: Settings<R>) -> Result<Self, SettingError> {
        let sizes = StepSizes {
            alpha: settings.number("alpha_v")?,
            alpha_h: settings.number("alpha_w")?,
            lambda: settings.number("lambda")?,
            beta: R::zero(),
        };
        Ok(Self { td: GradientTd::new(&features, 1, sizes), features, settings })
    }

    linear_methods!();
}

impl<R: Real> Part<R> for Gtd<R> {
    #[inline(always)]
    fn features(&self) -> Option<&Features> {
        Some(&self.features)
    }

    fn tensors(&mut self, visitor: &mut Visitor) -> Result<(), StateError> {
        visitor.settings(&self.settings)?;
        self.td.tensors(visitor, ["v", "w", "e"])
    }
}

impl<R: Real> Gtd<R> {
    /// Learns from the step. Returns the sum of [`Real::nan_unless_finite`] over the weights it changed.
    #[inline(always)]
    fn learn(&mut self, step: &Seen, rho: R, delta: R) -> R {
        self.td.learn_state(step, self.features.are_dense(), rho, delta)
    }
}

impl<R: Real> Critic<R> for Gtd<R> {
    linear_values!();
}
