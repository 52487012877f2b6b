//! TD(λ), off-policy.

use super::linear_td::{LinearTd, decay};
use super::{Critic, linear_methods, linear_values};
use crate::catalogue::{Extent, Inner, Role, Signal, Size};
use crate::settings::settings;
use crate::{
    Built, ComposeError, Declaration, Declared, Features, Part, PartBuilder, Real, Schedule, Seen,
    SettingError, Settings, StateError, Visitor,
};

settings! {
    Td<R>(features) => TdBuilder;
    alpha_v: StepSize, "step-size of v, the weights of the values";
    lambda: Fraction = 0.0, "λ of the trace: 1 means full returns (it has nothing to do with λ_a)";
}

impl Declared for Td {
    const DECLARATION: Declaration = Declaration {
        source: "Precup, Sutton and Dasgupta 2001",
        signals: &[Signal::Delta],
        settings: SETTINGS,
        features: true,
        inner: &[Inner::schedule("constant")],
        ..Declaration::new(
            Role::Critic,
            "td",
            "TD",
            "off-policy TD(λ): the semi-gradient, which can diverge with function approximation",
        )
    };

    fn size(of: &Extent) -> Size {
        Size { in_lanes: 2.0 * of.features, shared: 5.0 * of.features }
    }

    fn build<R: Real>(with: &PartBuilder<R>) -> Result<Built<R>, ComposeError> {
        with.critic(Td::new(with.features()?, with.settings())?.with_schedule(with.schedule()?))
    }
}

/// Off-policy TD(λ) (Precup, Sutton and Dasgupta 2001), with v̂(s) = v·x(s):
///
/// ```text
/// e ← ρ_t (γ_t λ e + x_t)
/// v ← v + α_v δ_t e
/// ```
///
/// λ = 1 means full returns; it has nothing to do with λ_a. With function approximation it can diverge, whatever the step-size.
#[derive(Clone, Debug)]
pub struct Td<R = f64> {
    features: Features,
    settings: Settings<R>,
    lambda: R,
    td: LinearTd<R>,
}

impl<R: Real> Td<R> {
    fn new(features: Features, settings: Settings<R>) -> Result<Self, SettingError> {
        let (alpha, lambda) = (settings.number("alpha_v")?, settings.number("lambda")?);
        Ok(Self { td: LinearTd::new(&features, 1, alpha), features, settings, lambda })
    }

    linear_methods!();
}

impl<R: Real> Part<R> for Td<R> {
    #[inline(always)]
    fn features(&self) -> Option<&Features> {
        Some(&self.features)
    }

    fn tensors(&mut self, visitor: &mut Visitor) -> Result<(), StateError> {
        visitor.settings(&self.settings)?;
        self.td.tensors(visitor, ["v", "e"])
    }
}

impl<R: Real> Td<R> {
    /// Learns from the step. Returns the sum of [`Real::nan_unless_finite`] over the weights it changed.
    #[inline(always)]
    fn learn(&mut self, step: &Seen, rho: R, delta: R) -> R {
        self.td.learn(decay(step.gamma, self.lambda, rho), rho, delta, step.x.iter())
    }
}

impl<R: Real> Critic<R> for Td<R> {
    linear_values!();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::critic::testing::{learn, two_steps};

    #[test]
    fn by_hand() {
        let mut critic = Td::builder(Features::dense(1)).alpha_v(0.5).lambda(0.5).build().unwrap();
        assert_eq!(learn(&mut critic, &two_steps()), [1.0, -1.5]);
        // e = 2, then ½ (½ · ½ · 2 + 2) = 1.25.
        assert_eq!(critic.weights(), [0.0625]);
    }
}
