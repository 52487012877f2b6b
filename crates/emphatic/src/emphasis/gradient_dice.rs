//! GradientDICE: the density ratio by a convex-concave saddle point.

use super::Emphasis;
use super::time_reversed::{Cell, TimeReversed};
use crate::catalogue::{Extent, Inner, Need, Role, Size};
use crate::settings::settings;
use crate::{
    Built, ComposeError, Declaration, Declared, Features, Part, PartBuilder, Real, Schedule, Seen,
    SettingError, Settings, StateError, Visitor,
};

settings! {
    GradientDice<R>(features, schedule: Schedule<R>) => GradientDiceBuilder;
    lambda_a: Fraction = 1.0, "λ_a: 1 is full emphasis, 0 none";
    read: Fraction = 0.0, "the share of the return F_t in what is read; 0 reads û(S_t)";
    gamma: Discount, "the discount γ̂ by which the ratio is normalised";
    penalty: Amount = 1.0, "how strongly the ratio's mean is drawn to that of the interest; 0 where discounts vary or episodes end";
    alpha_u: StepSize, "step-size of u";
    eta: Amount = 1.0, "the step-size of κ, the second weights, and of the multiplier of the mean, as a multiple of that of u";
}

impl Declared for GradientDice {
    const DECLARATION: Declaration = Declaration {
        source: "Zhang, Liu and Whiteson 2020",
        settings: SETTINGS,
        features: true,
        inner: &[Inner::schedule("constant")],
        needs: &[Need::Ratio],
        ..Declaration::new(
            Role::Emphasis,
            "gradient-dice",
            "GradientDICE",
            "the discounted density ratio (1 − γ̂) m/d_μ, linear in features, by GradientDICE",
        )
    };

    fn size(of: &Extent) -> Size {
        Size { in_lanes: 5.0 * of.features, shared: 0.0 }
    }

    fn build<R: Real>(with: &PartBuilder<R>) -> Result<Built<R>, ComposeError> {
        with.emphasis(GradientDice::new(with.features()?, with.schedule()?, with.settings())?)
    }
}

/// The ratio τ(s) = u·x(s) of d_γ̂ to d_μ, f(s) = κ·x(s) and a multiplier η of the mean, by stochastic steps towards
///
/// ```text
/// max over f, η  min over τ   (1 − γ̂) E[i f] + E[τ (γ ρ f′ − f)] − E[f²]/2 + penalty (E[η (τ − i)] − η²/2)
/// ```
///
/// M_t is τ(S_t)/(1 − γ̂). Without the penalty this is GEM with 1 − γ̂ of the interest.
#[derive(Clone, Debug)]
pub struct GradientDice<R = f64> {
    learned: TimeReversed<R>,
    /// 1 − γ̂.
    share: R,
    penalty: R,
    alpha_m: R,
    multiplier: R,
}

impl<R: Real> GradientDice<R> {
    fn new(features: Features, schedule: Schedule<R>, settings: Settings<R>) -> Result<Self, SettingError> {
        let (share, penalty) = (R::one() - settings.number("gamma")?, settings.number("penalty")?);
        let alpha_m = settings.number("alpha_u")? * settings.number("eta")?;
        let learned = TimeReversed::new(features, schedule, settings, R::zero())?;
        Ok(Self { learned, share, penalty, alpha_m, multiplier: R::zero() })
    }
}

impl<R: Real> Part<R> for GradientDice<R> {
    fn features(&self) -> Option<&Features> {
        Some(&self.learned.estimate.features)
    }

    fn tensors(&mut self, visitor: &mut Visitor) -> Result<(), StateError> {
        self.learned.tensors(visitor)?;
        visitor.weights("multiplier", std::iter::once(&mut self.multiplier))
    }
}

impl<R: Real> Emphasis<R> for GradientDice<R> {
    #[inline(always)]
    fn weigh(&mut self, step: &Seen, rho: R) -> R {
        let interest = R::splat(step.interest);
        let (drawn, old) = (self.penalty * self.multiplier, self.learned.estimate.value(step.x));
        let [ratio, follow_on] = self.learned.learn(
            step,
            self.share * interest,
            rho,
            #[inline(always)]
            |cell: Cell<R>, delta: R, x_kappa: R| {
                let Cell { u, kappa, step, step_k, x, y, .. } = cell;
                *u += step * (x_kappa * (x - y) - drawn * x);
                *kappa += step_k * (delta - x_kappa) * x;
            },
        );
        self.multiplier += self.alpha_m * self.penalty * (old - interest - self.multiplier);
        self.learned.changed += self.multiplier.nan_unless_finite();
        self.learned.estimate.read(interest, ratio / self.share, follow_on / self.share)
    }

    #[inline(always)]
    fn learn(&mut self, _step: &Seen, _rho: R) -> R {
        self.learned.changed
    }
}
