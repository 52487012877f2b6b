//! GTD2(λ): gradient temporal-difference learning, version two.

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
    Gtd2<R>(features) => Gtd2Builder;
    alpha_v: StepSize, "step-size of v, the weights of the values";
    alpha_w: StepSize, "step-size of w, the second weights";
    lambda: Fraction = 0.0, "λ of the trace: 1 means full returns (it has nothing to do with λ_a)";
}

impl Declared for Gtd2 {
    const DECLARATION: Declaration = Declaration {
        source: "Sutton et al. 2009; Maei 2011",
        signals: &[Signal::Delta],
        settings: SETTINGS,
        features: true,
        inner: &[Inner::schedule("constant")],
        ..Declaration::new(
            Role::Critic,
            "gtd2",
            "GTD2",
            "GTD2(λ): as GTD(λ), but v learns from its second weights alone",
        )
    };

    fn size(of: &Extent) -> Size {
        Size { in_lanes: 3.0 * of.features, shared: 5.0 * of.features }
    }

    fn build<R: Real>(with: &PartBuilder<R>) -> Result<Built<R>, ComposeError> {
        with.critic(Gtd2::new(with.features()?, with.settings())?.with_schedule(with.schedule()?))
    }
}

/// GTD2(λ) (Sutton et al. 2009; with traces Maei 2011), with v̂(s) = v·x(s):
///
/// ```text
/// e ← ρ_t (γ_t λ e + x_t)
/// v ← v + α_v ((x_t·w) x_t − γ_{t+1} (1 − λ) (e·w) x_{t+1})
/// w ← w + α_w (δ_t e − (x_t·w) x_t)
/// ```
///
/// λ = 1 means full returns; it has nothing to do with λ_a. Once w has converged, v changes in the mean as with GTD(λ).
#[derive(Clone, Debug)]
pub struct Gtd2<R = f64> {
    features: Features,
    settings: Settings<R>,
    td: CorrectedTd<R, 2, 1>,
}

impl<R: Real> Gtd2<R> {
    fn new(features: Features, settings: Settings<R>) -> Result<Self, SettingError> {
        Ok(Self { td: CorrectedTd::new(&features, &settings)?, features, settings })
    }

    linear_methods!();
}

impl<R: Real> Part<R> for Gtd2<R> {
    #[inline(always)]
    fn features(&self) -> Option<&Features> {
        Some(&self.features)
    }

    fn tensors(&mut self, visitor: &mut Visitor) -> Result<(), StateError> {
        visitor.settings(&self.settings)?;
        self.td.tensors(visitor, ["e"])
    }
}

impl<R: Real> Gtd2<R> {
    /// Learns from the step. Returns the sum of [`Real::nan_unless_finite`] over the weights it changed.
    #[inline(always)]
    fn learn(&mut self, step: &Seen, rho: R, delta: R) -> R {
        self.td.begin(step, decay(step.gamma, self.td.lambda, rho).map(|decay| [decay]), [rho]);
        let x_w = self.td.traced.dot(1, step.x.iter());
        let [e_w] = self.td.along_traces(1);
        let direction = direction(step, self.td.lambda, delta, x_w, e_w);
        rho.nan_unless_finite() + self.td.change(0, direction, step)
    }
}

impl<R: Real> Critic<R> for Gtd2<R> {
    linear_values!();
}

/// The direction in which v and w change.
#[inline(always)]
pub(super) fn direction<R: Real>(step: &Seen, lambda: R, delta: R, x_w: R, e_w: R) -> Direction<R, 1> {
    let back = R::splat(step.gamma_next) * (R::one() - lambda) * e_w;
    Direction { traces: [[R::zero(), delta]], x: [x_w, -x_w], next: [-back, R::zero()] }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::critic::testing::{learn, numbers, two_steps};

    #[test]
    fn by_hand() {
        let mut critic =
            Gtd2::builder(Features::dense(1)).alpha_v(0.5).alpha_w(0.25).lambda(0.5).build().unwrap();
        assert_eq!(learn(&mut critic, &two_steps()), [1.0, 0.0]);
        // v = 0 and w = 0.5; then x·w = 1 and e·w = 0.625.
        assert_eq!((critic.weights(), numbers(&mut critic, "w")), (vec![0.921875], vec![0.0]));
    }
}
