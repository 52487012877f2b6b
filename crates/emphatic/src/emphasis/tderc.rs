//! TDERC(λ_e): the emphasis learned by a regularised gradient correction.

use super::Emphasis;
use super::time_reversed::{Cell, TimeReversed, time_reversed_part};
use crate::catalogue::{Extent, Inner, Need, Role, Size};
use crate::settings::settings;
use crate::{
    Built, ComposeError, Declaration, Declared, Features, Part, PartBuilder, Real, Schedule, Seen,
    SettingError, Settings, StateError, Visitor,
};

settings! {
    Tderc<R>(features, schedule: Schedule<R>) => TdercBuilder;
    lambda_a: Fraction = 1.0, "λ_a: 1 is full emphasis, 0 none";
    lambda_e: Fraction = 0.0, "λ_e of the return: 1 is the follow-on trace, 0 looks one step back";
    read: Fraction = 1.0, "the share of the return F_t in what is read; 0 reads û(S_t)";
    alpha_u: StepSize, "step-size of u";
    eta: Amount = 1.0, "the step-size of κ, the second weights, as a multiple of that of u";
    beta: Amount = 1.0, "how strongly κ is drawn to zero: 0 is TDEC, much is `direct`";
}

impl Declared for Tderc {
    const DECLARATION: Declaration = Declaration {
        source: "Cao, Feng, Wang and Li 2023",
        settings: SETTINGS,
        features: true,
        inner: &[Inner::schedule("constant")],
        needs: &[Need::Ratio],
        ..Declaration::new(
            Role::Emphasis,
            "tderc",
            "TDERC",
            "û(s) = u·x(s) by time-reversed TD with a regularised gradient correction",
        )
    };

    fn size(of: &Extent) -> Size {
        Size { in_lanes: 5.0 * of.features, shared: 0.0 }
    }

    fn build<R: Real>(with: &PartBuilder<R>) -> Result<Built<R>, ComposeError> {
        with.emphasis(Tderc::new(with.features()?, with.schedule()?, with.settings())?)
    }
}

/// Time-reversed TDRC. With c_t and y_t such that F_t = c_t + y_t·u is the emphasis's λ-return:
///
/// ```text
/// δ̄ = c_t + (y_t − x_t)·u
/// u ← u + α (δ̄ x_t − (x_t·κ) y_t)
/// κ ← κ + η α ((δ̄ − x_t·κ) x_t − β κ)
/// ```
///
/// Both from the old weights. F_t is read with the old u too, û(S_t) with the new one. If each feature has a step-size of its own, κ is drawn to
/// zero in the features that are active.
#[derive(Clone, Debug)]
pub struct Tderc<R = f64> {
    learned: TimeReversed<R>,
    beta: R,
}

impl<R: Real> Tderc<R> {
    fn new(features: Features, schedule: Schedule<R>, settings: Settings<R>) -> Result<Self, SettingError> {
        let (beta, lambda_e) = (settings.number("beta")?, settings.number("lambda_e")?);
        Ok(Self { learned: TimeReversed::new(features, schedule, settings, lambda_e)?, beta })
    }
}

impl<R: Real> Part<R> for Tderc<R> {
    time_reversed_part!();
}

impl<R: Real> Emphasis<R> for Tderc<R> {
    #[inline(always)]
    fn weigh(&mut self, step: &Seen, rho: R) -> R {
        let (beta, interest) = (self.beta, R::splat(step.interest));
        let [estimate, follow_on] = self.learned.learn(
            step,
            interest,
            rho,
            #[inline(always)]
            |cell: Cell<R>, delta: R, x_kappa: R| {
                let Cell { u, kappa, step, step_k, x, y, is_drawn } = cell;
                let drawn = if is_drawn { beta * *kappa } else { R::zero() };
                *u += step * (delta * x - x_kappa * y);
                *kappa += step_k * ((delta - x_kappa) * x - drawn);
            },
        );
        self.learned.estimate.read(interest, estimate, follow_on)
    }

    #[inline(always)]
    fn learn(&mut self, _step: &Seen, _rho: R) -> R {
        self.learned.changed
    }
}
