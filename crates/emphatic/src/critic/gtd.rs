//! GTD(λ): gradient temporal-difference learning of v̂.

use super::Critic;
use super::gradient_td::GradientTd;
use crate::catalogue::{Declaration, Declared, Extent, Role, Setting, Size, Tells};
use crate::compose::{Built, PartBuilder};
use crate::features::{Features, Row};
use crate::part::{ComposeError, Part, Seen};
use crate::real::Real;
use crate::setting::{Range, SettingError};
use crate::tensors::{StateError, Visitor};

/// [`Gtd`] in the catalogue.
#[derive(Debug)]
pub struct InCatalogue;

impl Declared for InCatalogue {
    const DECLARATION: Declaration = Declaration {
        source: "Maei 2011",
        tells: &[Tells::Delta],
        settings: &[
            Setting {
                name: "alpha_v",
                range: Range::StepSize,
                default: None,
                about: "step-size of v, the weights of the values",
            },
            Setting {
                name: "alpha_w",
                range: Range::StepSize,
                default: None,
                about: "step-size of w, the second weights",
            },
            Setting {
                name: "lambda",
                range: Range::Fraction,
                default: Some(0.0),
                about: "λ of the trace: 1 means full returns (it has nothing to do with λ_a)",
            },
        ],
        features: true,
        ..Declaration::new(Role::Critic, "gtd", "GTD", "GTD(λ): gradient temporal-difference learning of v̂")
    };

    fn size(of: &Extent) -> Size {
        Size { in_lanes: 3.0 * of.features, shared: 5.0 * of.features }
    }

    fn build<R: Real>(with: &PartBuilder<R>) -> Result<Built<R>, ComposeError> {
        let [alpha_v, alpha_w, lambda] = ["alpha_v", "alpha_w", "lambda"].map(|name| with.number(name));
        with.critic(Gtd::new(with.features()?, alpha_v?, alpha_w?, lambda?)?)
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
pub struct Gtd<R> {
    features: Features,
    td: GradientTd<R>,
}

impl<R: Real> Gtd<R> {
    /// A critic that starts from zero weights. The step-sizes are divided by the number of active features.
    pub fn new(
        features: impl Into<Features>,
        alpha_v: R,
        alpha_w: R,
        lambda: R,
    ) -> Result<Self, SettingError> {
        let features = features.into();
        let names = ["alpha_v", "alpha_w", "lambda"];
        let td = GradientTd::new(features.len(), features.most_active(), names, [alpha_v, alpha_w], lambda)?;
        Ok(Self { features, td })
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
        let (gammas, scales) = ([step.gamma, step.gamma_next], [rho, rho, delta]);
        if let Some(feature) = step.x.one::<R>() {
            // So has the next state, unless an episode ends.
            let next = || step.x_next.one::<R>().map(|f| (f, R::one())).into_iter();
            return self.td.learn(gammas, scales, std::iter::once((feature, 1.0)), next);
        }
        if !self.features.are_dense() {
            return self.td.learn(gammas, scales, step.x.iter(), next);
        }
        // In lanes it must be inlined to be compiled for the instruction set; one number at a time is better off with a short loop.
        if R::LANES == 1 {
            self.learn_dense(step, rho, delta)
        } else {
            self.td.learn_all(gammas, scales, step.x.iter(), next)
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
        self.td.learn_all([step.gamma, step.gamma_next], [rho, rho, delta], step.x.iter(), next)
    }
}
