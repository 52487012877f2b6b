//! HTD(λ): hybrid temporal-difference learning.

use super::corrected_td::{CorrectedTd, Direction};
use super::linear_td::decay;
use super::{Critic, linear_methods, linear_values};
use crate::catalogue::{Extent, Inner, Role, Signal, Size};
use crate::settings::settings;
use crate::{
    Built, ComposeError, Declaration, Declared, Features, Part, PartBuilder, Real, Schedule, Seen,
    SettingError, Settings, StateError, Visitor,
};

settings! {
    Htd<R>(features) => HtdBuilder;
    alpha_v: StepSize, "step-size of v, the weights of the values";
    alpha_w: StepSize, "step-size of w, the second weights";
    lambda: Fraction = 0.0, "λ of the trace: 1 means full returns (it has nothing to do with λ_a)";
}

impl Declared for Htd {
    const DECLARATION: Declaration = Declaration {
        source: "Hackman 2012; White and White 2016",
        signals: &[Signal::Delta],
        settings: SETTINGS,
        features: true,
        inner: &[Inner::schedule("constant")],
        ..Declaration::new(
            Role::Critic,
            "htd",
            "HTD",
            "HTD(λ): gradient temporal-difference learning that is TD(λ) where the target acts like the behaviour",
        )
    };

    fn size(of: &Extent) -> Size {
        Size { in_lanes: 4.0 * of.features, shared: 5.0 * of.features }
    }

    fn build<R: Real>(with: &PartBuilder<R>) -> Result<Built<R>, ComposeError> {
        with.critic(Htd::new(with.features()?, with.settings())?.with_schedule(with.schedule()?))
    }
}

/// HTD(λ) (Hackman 2012; White and White 2016), with v̂(s) = v·x(s):
///
/// ```text
/// e ← ρ_t (γ_t λ e + x_t)          e_μ ← γ_t λ e_μ + x_t
/// v ← v + α_v (δ_t e + ((e − e_μ)·w) (x_t − γ_{t+1} x_{t+1}))
/// w ← w + α_w (δ_t e − (e_μ·w) (x_t − γ_{t+1} x_{t+1}))
/// ```
///
/// λ = 1 means full returns; it has nothing to do with λ_a. Where ρ is 1 at every step it is TD(λ).
#[derive(Clone, Debug)]
pub struct Htd<R = f64> {
    features: Features,
    settings: Settings<R>,
    td: CorrectedTd<R, 2, 2>,
}

impl<R: Real> Htd<R> {
    fn new(features: Features, settings: Settings<R>) -> Result<Self, SettingError> {
        Ok(Self { td: CorrectedTd::new(&features, &settings)?, features, settings })
    }

    linear_methods!();
}

impl<R: Real> Part<R> for Htd<R> {
    #[inline(always)]
    fn features(&self) -> Option<&Features> {
        Some(&self.features)
    }

    fn tensors(&mut self, visitor: &mut Visitor) -> Result<(), StateError> {
        visitor.settings(&self.settings)?;
        self.td.tensors(visitor, ["e", "e_mu"])
    }
}

impl<R: Real> Htd<R> {
    /// Learns from the step. Returns the sum of [`Real::nan_unless_finite`] over the weights it changed.
    #[inline(always)]
    fn learn(&mut self, step: &Seen, rho: R, delta: R) -> R {
        let Self { td, .. } = self;
        let decays = decay(step.gamma, td.lambda, R::one()).map(|decay| [rho * decay, decay]);
        td.begin(step, decays, [rho, R::one()]);
        let [e_w, mu_w] = td.along_traces(1);
        let (hybrid, gamma_next) = (e_w - mu_w, R::splat(step.gamma_next));
        let direction = Direction {
            traces: [[delta; 2], [R::zero(); 2]],
            x: [hybrid, -mu_w],
            next: [-gamma_next * hybrid, gamma_next * mu_w],
        };
        rho.nan_unless_finite() + td.change(0, direction, step)
    }
}

impl<R: Real> Critic<R> for Htd<R> {
    linear_values!();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::critic::testing::{assert_near, episodes, kinds, learn, numbers, two_steps};

    use crate::Td;

    #[test]
    fn by_hand() {
        let mut critic =
            Htd::builder(Features::dense(1)).alpha_v(0.5).alpha_w(0.25).lambda(0.5).build().unwrap();
        assert_eq!(learn(&mut critic, &two_steps()), [1.0, -1.5]);
        // e = 1.25 and e_μ = 2.25, w = 0.5.
        assert_eq!((critic.weights(), numbers(&mut critic, "w")), (vec![-0.3125], vec![-0.390625]));
    }

    #[test]
    fn where_the_target_is_the_behaviour_it_is_td() {
        for features in kinds() {
            let own = Htd::builder(features.clone()).alpha_v(0.1).alpha_w(0.05).lambda(0.7);
            let td = Td::builder(features.clone()).alpha_v(0.1).lambda(0.7);
            let (mut own, mut td) = (own.build().unwrap(), td.build().unwrap());
            for mut episode in episodes(&features, 40, 5.0) {
                episode.iter_mut().for_each(|row| row.rho = 1.0);
                assert_near(&learn(&mut own, &episode), &learn(&mut td, &episode), 1e-13);
            }
        }
    }
}
