//! ABTD(ζ): TD with a λ that depends on the action.

use super::linear_td::{LinearTd, decay};
use super::{Critic, linear_methods, linear_values};
use crate::catalogue::{Extent, Inner, Role, Signal, Size};
use crate::settings::settings;
use crate::{
    Built, ComposeError, Declaration, Declared, Features, Part, PartBuilder, Real, Schedule, Seen,
    SettingError, Settings, StateError, Visitor,
};

settings! {
    Abtd<R>(features) => AbtdBuilder;
    alpha_v: StepSize, "step-size of v, the weights of the values";
    zeta: Fraction, "ζ: how much is bootstrapped; 0 is everything, 1 as little as ξ_max allows";
    xi_0: Amount = 1.0, "ξ_0: the bound on ν at ζ = ½";
    xi_max: Amount = 2.0, "ξ_max: the bound on ν at ζ = 1";
}

impl Declared for Abtd {
    const DECLARATION: Declaration = Declaration {
        source: "Mahmood, Yu and Sutton 2017",
        signals: &[Signal::Delta],
        settings: SETTINGS,
        features: true,
        inner: &[Inner::schedule("constant")],
        ..Declaration::new(
            Role::Critic,
            "abtd",
            "ABTD",
            "ABTD(ζ): a trace without ratios, by a λ that depends on the action",
        )
    };

    fn size(of: &Extent) -> Size {
        Size { in_lanes: 2.0 * of.features, shared: 5.0 * of.features }
    }

    fn build<R: Real>(with: &PartBuilder<R>) -> Result<Built<R>, ComposeError> {
        with.critic(Abtd::new(with.features()?, with.settings())?.with_schedule(with.schedule()?))
    }
}

/// ABTD(ζ) (Mahmood, Yu and Sutton 2017), with v̂(s) = v·x(s), π_t = π(A_t|S_t) and μ_t likewise:
///
/// ```text
/// ν_t = min(ξ, 1/max(μ_t, π_t))          ξ = 2ζ ξ_0 + max(0, 2ζ − 1) (ξ_max − 2 ξ_0)
/// e ← γ_t ν_{t−1} π_{t−1} e + x_t
/// v ← v + α_v ρ_t δ_t e
/// ```
///
/// ζ = 0 is TD(0). It is TD with λ = ν_t μ_t, which depends on the action: so ν_t π_t = λ ρ_t, and it is at most 1.
#[derive(Clone, Debug)]
pub struct Abtd<R = f64> {
    features: Features,
    settings: Settings<R>,
    xi: R,
    /// ν_{t−1} π_{t−1}.
    carried: R,
    td: LinearTd<R>,
}

impl<R: Real> Abtd<R> {
    fn new(features: Features, settings: Settings<R>) -> Result<Self, SettingError> {
        let [zeta, xi_0, xi_max] =
            [settings.number("zeta")?, settings.number("xi_0")?, settings.number("xi_max")?];
        let two = R::splat(2.0);
        Ok(Self {
            td: LinearTd::new(&features, 1, settings.number("alpha_v")?),
            // Rounding must not make it negative.
            xi: (two * zeta * xi_0 + (two * zeta - R::one()).larger(R::zero()) * (xi_max - two * xi_0))
                .larger(R::zero()),
            carried: R::zero(),
            features,
            settings,
        })
    }

    linear_methods!();
}

impl<R: Real> Part<R> for Abtd<R> {
    #[inline(always)]
    fn features(&self) -> Option<&Features> {
        Some(&self.features)
    }

    fn tensors(&mut self, visitor: &mut Visitor) -> Result<(), StateError> {
        visitor.settings(&self.settings)?;
        visitor.numbers("nu_pi", std::iter::once(&mut self.carried))?;
        self.td.tensors(visitor, ["v", "e"])
    }
}

impl<R: Real> Abtd<R> {
    /// Learns from the step. Returns the sum of [`Real::nan_unless_finite`] over the weights it changed.
    #[inline(always)]
    fn learn(&mut self, step: &Seen, rho: R, delta: R) -> R {
        let decay = decay(step.gamma, R::one(), self.carried);
        let (mu, pi) = (R::splat(step.mu), rho * R::splat(step.mu));
        self.carried = (R::one() / pi.larger(mu)).smaller(self.xi) * pi;
        self.td.learn(decay, R::one(), rho * delta, step.x.iter())
    }
}

impl<R: Real> Critic<R> for Abtd<R> {
    linear_values!();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::critic::testing::{assert_near, episodes, kinds, learn, two_steps};

    use crate::{Td, TreeBackup};

    #[test]
    fn by_hand() {
        let mut critic = Abtd::builder(Features::dense(1)).alpha_v(0.5).zeta(0.5).build().unwrap();
        assert_eq!(learn(&mut critic, &two_steps()), [1.0, -1.5]);
        // ξ = 1, so that ν π = ½ in the first step: e = ½ · ½ + 2.
        assert_eq!(critic.weights(), [0.15625]);
    }

    #[test]
    fn its_relatives() {
        for features in kinds() {
            let own = |zeta: f64| Abtd::builder(features.clone()).alpha_v(0.1).zeta(zeta).build().unwrap();
            let (mut zero, mut half) = (own(0.0), own(0.5));
            let mut td = Td::builder(features.clone()).alpha_v(0.1).build().unwrap();
            // ξ = 1 is never above 1/max(μ, π).
            let mut tree = TreeBackup::builder(features.clone()).alpha_v(0.1).lambda(1.0).build().unwrap();
            for episode in episodes(&features, 40, 1.0) {
                assert_near(&learn(&mut zero, &episode), &learn(&mut td, &episode), 1e-13);
                assert_near(&learn(&mut half, &episode), &learn(&mut tree, &episode), 1e-13);
            }
        }
    }
}
