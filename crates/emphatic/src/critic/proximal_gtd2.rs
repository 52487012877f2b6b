//! Proximal GTD2(λ).

use super::corrected_td::CorrectedTd;
use super::gtd2::direction;
use super::linear_td::decay;
use super::{Critic, linear_methods, linear_values};
use crate::catalogue::{Extent, Inner, Role, Signal, Size};
use crate::settings::settings;
use crate::{
    Built, ComposeError, Declaration, Declared, Features, Part, PartBuilder, Real, Schedule, Seen,
    SettingError, Settings, StateError, Visitor,
};

settings! {
    ProximalGtd2<R>(features) => ProximalGtd2Builder;
    alpha_v: StepSize, "step-size of v, the weights of the values";
    alpha_w: StepSize, "step-size of w, the second weights";
    lambda: Fraction = 0.0, "λ of the trace: 1 means full returns (it has nothing to do with λ_a)";
}

impl Declared for ProximalGtd2 {
    const DECLARATION: Declaration = Declaration {
        source: "Liu et al. 2015 (GTD2-MP)",
        signals: &[Signal::Delta],
        settings: SETTINGS,
        features: true,
        inner: &[Inner::schedule("constant")],
        ..Declaration::new(
            Role::Critic,
            "proximal-gtd2",
            "ProximalGTD2",
            "proximal GTD2(λ): GTD2(λ) with the gradient at the point that a first step leads to",
        )
    };

    fn size(of: &Extent) -> Size {
        Size { in_lanes: 5.0 * of.features, shared: 5.0 * of.features }
    }

    fn build<R: Real>(with: &PartBuilder<R>) -> Result<Built<R>, ComposeError> {
        with.critic(ProximalGtd2::new(with.features()?, with.settings())?.with_schedule(with.schedule()?))
    }
}

/// GTD2(λ) as an extragradient method (GTD2-MP: Liu et al. 2015). With e as in GTD2(λ):
///
/// ```text
/// ṽ = v + α_v ((x_t·w) x_t − γ_{t+1} (1 − λ) (e·w) x_{t+1})
/// w̃ = w + α_w (δ_t e − (x_t·w) x_t)
/// δ̃ = R_{t+1} + γ_{t+1} ṽ·x_{t+1} − ṽ·x_t
/// v ← v + α_v ((x_t·w̃) x_t − γ_{t+1} (1 − λ) (e·w̃) x_{t+1})
/// w ← w + α_w (δ̃ e − (x_t·w̃) x_t)
/// ```
///
/// λ = 1 means full returns; it has nothing to do with λ_a.
#[derive(Clone, Debug)]
pub struct ProximalGtd2<R = f64> {
    features: Features,
    settings: Settings<R>,
    /// v and w, and room for ṽ and w̃.
    td: CorrectedTd<R, 4, 1>,
}

impl<R: Real> ProximalGtd2<R> {
    fn new(features: Features, settings: Settings<R>) -> Result<Self, SettingError> {
        Ok(Self { td: CorrectedTd::new(&features, &settings)?, features, settings })
    }

    linear_methods!();
}

impl<R: Real> Part<R> for ProximalGtd2<R> {
    #[inline(always)]
    fn features(&self) -> Option<&Features> {
        Some(&self.features)
    }

    fn tensors(&mut self, visitor: &mut Visitor) -> Result<(), StateError> {
        visitor.settings(&self.settings)?;
        self.td.tensors(visitor, ["e"])
    }
}

impl<R: Real> ProximalGtd2<R> {
    /// Learns from the step. Returns the sum of [`Real::nan_unless_finite`] over the weights it changed.
    #[inline(always)]
    fn learn(&mut self, step: &Seen, rho: R, delta: R) -> R {
        let Self { td, .. } = self;
        td.begin(step, decay(step.gamma, td.lambda, rho).map(|decay| [decay]), [rho]);
        // All that the first step changes; x_t is among what is traced.
        td.traced.each(
            #[inline(always)]
            |_, cell| copy(&mut cell.weights),
        );
        step.x_next.iter().for_each(|(k, _)| copy(&mut td.traced.cells[k].weights));
        let [e_w] = td.along_traces(1);
        let first = direction(step, td.lambda, delta, td.traced.dot(1, step.x.iter()), e_w);
        let mut sum = rho.nan_unless_finite() + td.change(2, first, step);

        let next = td.traced.dot(2, step.x_next.iter());
        let delta =
            R::splat(step.reward) + R::splat(step.gamma_next) * next - td.traced.dot(2, step.x.iter());
        let [e_w] = td.along_traces(3);
        let second = direction(step, td.lambda, delta, td.traced.dot(3, step.x.iter()), e_w);
        sum += td.change(0, second, step);
        sum
    }
}

impl<R: Real> Critic<R> for ProximalGtd2<R> {
    linear_values!();
}

/// ṽ = v and w̃ = w.
#[inline(always)]
fn copy<R: Real>(weights: &mut [R; 4]) {
    [weights[2], weights[3]] = [weights[0], weights[1]];
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::critic::testing::{learn, numbers, two_steps};

    #[test]
    fn by_hand() {
        let critic = ProximalGtd2::builder(Features::dense(1)).alpha_v(0.5).alpha_w(0.25);
        let mut critic = critic.lambda(0.5).build().unwrap();
        assert_eq!(learn(&mut critic, &two_steps()), [1.0, 0.0]);
        // ṽ = 0, w̃ = 0.5, δ̃ = 1: v = 0 and w = 0.375. Then ṽ = 0.69140625, w̃ = 0, δ̃ = −1.037109375.
        assert_eq!((critic.weights(), numbers(&mut critic, "w")), (vec![0.0], vec![0.0509033203125]));
    }
}
