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

impl<R: Real> Tdrc<R> {
    /// Learns from the step. Returns the sum of [`Real::nan_unless_finite`] over the weights it changed.
    #[inline(always)]
    fn learn(&mut self, step: &Seen, rho: R, delta: R) -> R {
        self.td.learn_state(step, self.features.are_dense(), rho, delta)
    }
}

impl<R: Real> Critic<R> for Tdrc<R> {
    linear_values!();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::critic::testing::{Row, assert_near, episodes, kinds, learn, numbers, two_steps};
    use crate::{Gtd, Polynomial, Td};

    #[test]
    fn by_hand() {
        let critic = Tdrc::builder(Features::dense(1)).alpha_v(0.5).eta(0.5);
        let mut critic = critic.lambda(0.5).build().unwrap();
        assert_eq!(learn(&mut critic, &two_steps()), [1.0, -1.5]);
        assert_eq!(critic.weights(), [-0.015625]);
        let w = numbers(&mut critic, "w")[0] * numbers(&mut critic, "w.common")[0];
        assert_near(&[w], &[-0.59375], 1e-15);
    }

    #[test]
    fn without_regularisation_it_is_gtd_to_the_bit() {
        for features in kinds() {
            let own = Tdrc::builder(features.clone()).alpha_v(0.1).eta(0.5).beta(0.0).lambda(0.7);
            let gtd = Gtd::builder(features.clone()).alpha_v(0.1).alpha_w(0.05).lambda(0.7);
            let (mut own, mut gtd) = (own.build().unwrap(), gtd.build().unwrap());
            for episode in episodes(&features, 40, 5.0) {
                assert_eq!(learn(&mut own, &episode), learn(&mut gtd, &episode));
            }
            assert_eq!(own.weights(), gtd.weights());
            assert_eq!(numbers(&mut own, "w"), numbers(&mut gtd, "w"));
        }
    }

    #[test]
    fn with_much_regularisation_it_is_td() {
        for features in kinds() {
            // η α_v β = ½.
            let own = Tdrc::builder(features.clone()).alpha_v(0.1).eta(5e-9).beta(1e9).lambda(0.7);
            let (mut own, mut td) = (
                own.build().unwrap(),
                Td::builder(features.clone()).alpha_v(0.1).lambda(0.7).build().unwrap(),
            );
            for episode in episodes(&features, 40, 5.0) {
                assert_near(&learn(&mut own, &episode), &learn(&mut td, &episode), 1e-6);
            }
        }
    }

    /// A schedule that stays at one is none, and one that falls is the same for all features.
    #[test]
    fn schedules() {
        for features in kinds() {
            let make = || Tdrc::builder(features.clone()).alpha_v(0.1).lambda(0.7).build().unwrap();
            let one = Polynomial::builder().power(0.0).build().unwrap();
            let (mut plain, mut scheduled) = (make(), make().with_schedule(one));
            for episode in episodes(&features, 40, 5.0) {
                assert_near(&learn(&mut plain, &episode), &learn(&mut scheduled, &episode), 1e-12);
            }
            // Where steps are halved at once, a first step is half of what it was.
            let half = Polynomial::builder().power(1.0).over(1.0).build().unwrap();
            let (mut plain, mut scheduled) = (make(), make().with_schedule(half));
            let episode = &episodes(&features, 1, 5.0)[0][..1];
            learn(&mut scheduled, &[Row { rho: 0.0, ..episode[0].clone() }, episode[0].clone()]);
            learn(&mut plain, episode);
            let halves: Vec<f64> = plain.weights().iter().map(|v| v / 2.0).collect();
            assert_near(&scheduled.weights(), &halves, 1e-15);
        }
    }
}
