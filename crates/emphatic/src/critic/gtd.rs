//! GTD(λ): gradient temporal-difference learning of v̂.

use super::Critic;
use super::gradient_td::{GradientTd, StepSizes, TdStep};
use crate::catalogue::{Extent, Role, Signal, Size};
use crate::settings::settings;
use crate::{
    Built, ComposeError, Declaration, Declared, Features, Part, PartBuilder, Real, Row, Seen, SettingError,
    Settings, StateError, Visitor,
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
        ..Declaration::new(Role::Critic, "gtd", "GTD", "GTD(λ): gradient temporal-difference learning of v̂")
    };

    fn size(of: &Extent) -> Size {
        Size { in_lanes: 3.0 * of.features, shared: 5.0 * of.features }
    }

    fn build<R: Real>(with: &PartBuilder<R>) -> Result<Built<R>, ComposeError> {
        with.critic(Gtd::new(with.features()?, with.settings())?)
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
        let td = GradientTd::new(
            features.len(),
            features.most_active(),
            StepSizes {
                alpha: settings.number("alpha_v")?,
                alpha_h: settings.number("alpha_w")?,
                lambda: settings.number("lambda")?,
            },
        );
        Ok(Self { features, settings, td })
    }

    /// A copy of v, the weights of the value estimate.
    pub fn weights(&self) -> Vec<R> {
        self.td.weights()
    }
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

impl<R: Real> Critic<R> for Gtd<R> {
    #[inline(always)]
    fn value(&mut self, step: &Seen) -> R {
        self.estimate(step.x)
    }

    #[inline(always)]
    fn next_value(&mut self, step: &Seen) -> R {
        self.estimate(step.x_next)
    }

    #[inline(always)]
    fn learn(&mut self, step: &Seen, rho: R, delta: R) -> R {
        let next = || step.x_next.iter().map(|(f, x)| (f, R::splat(x)));
        let numbers = TdStep { gamma: step.gamma, gamma_next: step.gamma_next, rho, scale: rho, delta };
        if let Some(feature) = step.x.one::<R>() {
            // The next state has one feature too, unless an episode ends.
            let next = || step.x_next.one::<R>().map(|f| (f, R::one())).into_iter();
            return self.td.learn(numbers, std::iter::once((feature, 1.0)), next);
        }
        if !self.features.are_dense() {
            return self.td.learn(numbers, step.x.iter(), next);
        }
        // In lanes it must be inlined to be compiled for the instruction set; for `f64` a short loop is faster.
        if R::LANES == 1 {
            self.learn_dense(step, rho, delta)
        } else {
            self.td.learn_all(numbers, step.x.iter(), next)
        }
    }
}

impl<R: Real> Gtd<R> {
    /// v·x.
    #[inline(always)]
    fn estimate(&self, x: Row) -> R {
        match x.one::<R>() {
            Some(feature) => self.td.estimate(std::iter::once((feature, 1.0))),
            None => self.td.estimate(x.iter()),
        }
    }

    #[inline(never)]
    fn learn_dense(&mut self, step: &Seen, rho: R, delta: R) -> R {
        let next = || step.x_next.iter().map(|(f, x)| (f, R::splat(x)));
        let numbers = TdStep { gamma: step.gamma, gamma_next: step.gamma_next, rho, scale: rho, delta };
        self.td.learn_all(numbers, step.x.iter(), next)
    }
}
