//! LSTD(λ): values by least squares.

use super::Critic;
use super::least_squares::{LeastSquares, least_squares_size, least_squares_values};
use super::linear_td::decay;
use crate::catalogue::{Extent, Role, Signal, Size};
use crate::settings::settings;
use crate::{
    Built, ComposeError, Declaration, Declared, Features, Part, PartBuilder, Real, Seen, SettingError,
    Settings, StateError, Visitor,
};

settings! {
    Lstd<R>(features) => LstdBuilder;
    lambda: Fraction = 0.0, "λ of the trace: 1 means full returns (it has nothing to do with λ_a)";
    forgetting: Fraction = 0.0, "the share of the past that each step forgets: ratios of old policies are stale; 0 for a policy that stays";
    solve_every: Count = 1000.0, "after how many steps v is solved for anew; also where an episode starts";
}

impl Declared for Lstd {
    const DECLARATION: Declaration = Declaration {
        source: "Bradtke and Barto 1996; Boyan 2002; Yu 2010",
        signals: &[Signal::Delta],
        settings: SETTINGS,
        features: true,
        ..Declaration::new(
            Role::Critic,
            "lstd",
            "LSTD",
            "LSTD(λ): v̂ by least squares, without a step-size, with forgetting",
        )
    };

    fn size(of: &Extent) -> Size {
        least_squares_size(of.features)
    }

    fn build<R: Real>(with: &PartBuilder<R>) -> Result<Built<R>, ComposeError> {
        with.critic(Lstd::new(with.features()?, with.settings())?)
    }
}

/// Off-policy LSTD(λ) (Bradtke and Barto 1996; with traces Boyan 2002; off-policy Yu 2010), with v̂(s) = v·x(s) and a forgetting φ:
///
/// ```text
/// e ← ρ_t (γ_t λ e + x_t)
/// A ← (1 − φ) A + e (x_t − γ_{t+1} x_{t+1})ᵀ          b ← (1 − φ) b + R_{t+1} e
/// (A + ε I) v = b,  ε = 0.001
/// ```
///
/// λ = 1 means full returns; it has nothing to do with λ_a. v is solved for where an episode starts and after `solve_every` steps, from all steps before, and before δ_t is computed. It costs d² numbers
/// and d³ operations a solution.
#[derive(Clone, Debug)]
pub struct Lstd<R = f64> {
    features: Features,
    settings: Settings<R>,
    lambda: R,
    td: LeastSquares<R>,
}

impl<R: Real> Lstd<R> {
    fn new(features: Features, settings: Settings<R>) -> Result<Self, SettingError> {
        let lambda = settings.number("lambda")?;
        Ok(Self { td: LeastSquares::new(features.len(), &settings)?, features, settings, lambda })
    }

    /// A copy of v, the weights of the value estimate.
    pub fn weights(&self) -> Vec<R> {
        self.td.weights.clone()
    }
}

impl<R: Real> Part<R> for Lstd<R> {
    #[inline(always)]
    fn features(&self) -> Option<&Features> {
        Some(&self.features)
    }

    fn tensors(&mut self, visitor: &mut Visitor) -> Result<(), StateError> {
        visitor.settings(&self.settings)?;
        self.td.tensors(visitor, ["v", "e"])
    }
}

impl<R: Real> Critic<R> for Lstd<R> {
    least_squares_values!();

    #[inline(always)]
    fn learn(&mut self, step: &Seen, rho: R, _delta: R) -> R {
        self.td.solve_if_due(step);
        self.td.learn_state(decay(step.gamma, self.lambda, rho), rho, step)
    }
}
