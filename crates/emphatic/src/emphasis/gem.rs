//! GEM: gradient emphasis learning.

use super::Emphasis;
use super::time_reversed::{Cell, TimeReversed, time_reversed_part};
use crate::catalogue::{Extent, Inner, Need, Role, Size};
use crate::settings::settings;
use crate::{
    Built, ComposeError, Declaration, Declared, Features, Part, PartBuilder, Real, Schedule, Seen,
    SettingError, Settings, StateError, Visitor,
};

settings! {
    Gem<R>(features, schedule: Schedule<R>) => GemBuilder;
    lambda_a: Fraction = 1.0, "λ_a: 1 is full emphasis, 0 none";
    lambda_e: Fraction = 0.0, "λ_e of the return: 1 is the follow-on trace, 0 looks one step back";
    read: Fraction = 0.0, "the share of the return F_t in what is read; 0 reads û(S_t)";
    alpha_u: StepSize, "step-size of u";
    eta: Amount = 1.0, "the step-size of κ, the second weights, as a multiple of that of u";
    ridge: Amount = 0.0, "how strongly u is drawn to zero, for a policy that changes";
}

impl Declared for Gem {
    const DECLARATION: Declaration = Declaration {
        source: "Zhang, Liu, Yao and Whiteson 2020",
        settings: SETTINGS,
        features: true,
        inner: &[Inner::schedule("constant")],
        needs: &[Need::Ratio],
        ..Declaration::new(
            Role::Emphasis,
            "gem",
            "GEM",
            "û(s) = u·x(s) by gradient emphasis learning: GTD2 on the time-reversed chain",
        )
    };

    fn size(of: &Extent) -> Size {
        Size { in_lanes: 5.0 * of.features, shared: 0.0 }
    }

    fn build<R: Real>(with: &PartBuilder<R>) -> Result<Built<R>, ComposeError> {
        with.emphasis(Gem::new(with.features()?, with.schedule()?, with.settings())?)
    }
}

/// GTD2 on the time-reversed chain. With c_t and y_t such that F_t = c_t + y_t·u is the emphasis's λ-return:
///
/// ```text
/// δ̄ = c_t + (y_t − x_t)·u
/// u ← u + α ((x_t·κ) (x_t − y_t) − ridge u)
/// κ ← κ + η α (δ̄ − x_t·κ) x_t
/// ```
///
/// Both from the old weights. F_t is read with the old u too, û(S_t) with the new one.
#[derive(Clone, Debug)]
pub struct Gem<R = f64> {
    learned: TimeReversed<R>,
    ridge: R,
}

impl<R: Real> Gem<R> {
    fn new(features: Features, schedule: Schedule<R>, settings: Settings<R>) -> Result<Self, SettingError> {
        let (ridge, lambda_e) = (settings.number("ridge")?, settings.number("lambda_e")?);
        Ok(Self { learned: TimeReversed::new(features, schedule, settings, lambda_e)?, ridge })
    }
}

impl<R: Real> Part<R> for Gem<R> {
    time_reversed_part!();
}

impl<R: Real> Emphasis<R> for Gem<R> {
    #[inline(always)]
    fn weigh(&mut self, step: &Seen, rho: R) -> R {
        let (ridge, interest) = (self.ridge, R::splat(step.interest));
        let [estimate, follow_on] = self.learned.learn(
            step,
            interest,
            rho,
            #[inline(always)]
            |cell: Cell<R>, delta: R, x_kappa: R| {
                let Cell { u, kappa, step, step_k, x, y, is_drawn } = cell;
                let drawn = if is_drawn { ridge * *u } else { R::zero() };
                *u += step * (x_kappa * (x - y) - drawn);
                *kappa += step_k * (delta - x_kappa) * x;
            },
        );
        self.learned.estimate.read(interest, estimate, follow_on)
    }

    #[inline(always)]
    fn learn(&mut self, _step: &Seen, _rho: R) -> R {
        self.learned.changed
    }
}
