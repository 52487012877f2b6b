//! TDRC(λ): TD with a regularised correction.

use super::gradient_td::{GradientTd, StepSizes};
use super::{Critic, linear_methods, linear_values};
use crate::catalogue::{Extent, Inner, Role, Signal, Size};
use crate::settings::settings;
use crate::{
    Built, ComposeError, Declaration, Declared, Features, Part, PartBuilder, Real, Schedule, Seen,
    SettingError, Settings, StateError, Visitor,
};

settings! {
    Tdrc<R>(features) => TdrcBuilder;
    alpha_v: StepSize, "step-size of v, the weights of the values";
    eta: Amount = 1.0, "η: the step-size of w, the second weights, as a multiple of that of v";
    beta: Amount = 1.0, "β: how strongly w is drawn to zero; 0 is GTD(λ), much is TD(λ)";
    lambda: Fraction = 0.0, "λ of the trace: 1 means full returns (it has nothing to do with λ_a)";
}

impl Declared for Tdrc {
    const DECLARATION: Declaration = Declaration {
        source: "Ghiassian et al. 2020",
        signals: &[Signal::Delta],
        settings: SETTINGS,
        features: true,
        inner: &[Inner::schedule("constant")],
        ..Declaration::new(
            Role::Critic,
            "tdrc",
            "TDRC",
            "TDRC(λ): TD with a regularised gradient correction; its defaults need no tuning",
        )
    };

    fn size(of: &Extent) -> Size {
        Size { in_lanes: 3.0 * of.features, shared: 5.0 * of.features }
    }

    fn build<R: Real>(with: &PartBuilder<R>) -> Result<Built<R>, ComposeError> {
        with.critic(Tdrc::new(with.features()?, with.settings())?.with_schedule(with.schedule()?))
    }
}

/// TDRC(λ) (Ghiassian et al. 2020), with v̂(s) = v·x(s):
///
/// ```text
/// e ← ρ_t (γ_t λ e + x_t)
/// v ← v + α_v (δ_t e − γ_{t+1} (1 − λ) (e·w) x_{t+1})
/// w ← w + η α_v (δ_t e − (x_t·w) x_t − β w)
/// ```
///
/// λ = 1 means full returns; it has nothing to do with λ_a. β = 0 is GTD(λ) with α_w = η α_v. As β grows it becomes TD(λ), as long as η α_v β stays below 2, lest w diverge.
///
/// All second weights are drawn to zero at every step, those of features that are not active too, but this costs no more than a few operations: they are saved without a factor
/// `w.common` that all of them have. Only if η α_v β is above 15/16 for a feature is every feature gone through at every step. If each feature has a step-size of its
/// own, w is drawn to zero in the features that are active.
#[derive(Clone, Debug)]
pub struct Tdrc<R = f64> {
    features: Features,
    settings: Settings<R>,
    td: GradientTd<R, true>,
}

impl<R: Real> Tdrc<R> {
    fn new(features: Features, settings: Settings<R>) -> Result<Self, SettingError> {
        let alpha = settings.number("alpha_v")?;
        let sizes = StepSizes {
            alpha,
            alpha_h: alpha * settings.number("eta")?,
            lambda: settings.number("lambda")?,
            beta: settings.number("beta")?,
        };
        Ok(Self { td: GradientTd::new(&features, 1, sizes), features, settings })
    }

    linear_methods!();
}

impl<R: Real> Part<R> for Tdrc<R> {
    #[inline(always)]
    fn features(&self) -> Option<&Features> {
        Some(&self.features)
    }

    fn tensors(&mut self, visitor: &mut Visitor) -> Result<(), StateError> {
        visitor.settings(&self.settings)?;
        self.td.tensors(visitor, ["v", "w", "e"])
    }
}

impl<R: Real> Critic<R> for Tdrc<R> {
    linear_values!();

    #[inline(always)]
    fn learn(&mut self, step: &Seen, rho: R, delta: R) -> R {
        self.td.learn_state(step, self.features.are_dense(), rho, delta)
    }
}
