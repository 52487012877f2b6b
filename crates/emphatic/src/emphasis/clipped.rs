//! The follow-on trace with clipped ratios.

use super::Emphasis;
use super::lambda_a::{LambdaA, product};
use crate::catalogue::{Need, Role};
use crate::settings::settings;
use crate::{
    Built, ComposeError, Declaration, Declared, Part, PartBuilder, Real, Seen, SettingError, Settings,
    StateError, Visitor,
};

settings! {
    Clipped<R>() => ClippedBuilder;
    lambda_a: Fraction = 1.0, "λ_a: 1 is full emphasis, 0 none";
    rho_max: Amount = 1.0, "the largest ratio; larger ones are clipped to it";
}

impl Declared for Clipped {
    const DECLARATION: Declaration = Declaration {
        source: "Jiang, Zahavy, Xu, White, Hessel, Blundell and van Hasselt 2021",
        settings: SETTINGS,
        needs: &[Need::Ratio],
        ..Declaration::new(
            Role::Emphasis,
            "clipped",
            "Clipped",
            "the follow-on trace with clipped ratios: F_t = γ_t min(ρ_{t−1}, ρ_max) F_{t−1} + i_t",
        )
    };

    fn build<R: Real>(with: &PartBuilder<R>) -> Result<Built<R>, ComposeError> {
        with.emphasis(Clipped::new(with.settings())?)
    }
}

/// F_t = γ_t min(ρ_{t−1}, ρ_max) F_{t−1} + i(S_t). For ρ_max ≤ 1 and γ < 1 it is bounded by i/(1 − γ), and biased.
#[derive(Clone, Debug)]
pub struct Clipped<R = f64> {
    settings: Settings<R>,
    lambda_a: LambdaA<R>,
    rho_max: R,
    /// min(ρ_{t−1}, ρ_max) F_{t−1}.
    carried: R,
}

impl<R: Real> Clipped<R> {
    fn new(settings: Settings<R>) -> Result<Self, SettingError> {
        let (lambda_a, rho_max) = (LambdaA::new(&settings)?, settings.number("rho_max")?);
        Ok(Self { settings, lambda_a, rho_max, carried: R::zero() })
    }
}

impl<R: Real> Part<R> for Clipped<R> {
    fn tensors(&mut self, visitor: &mut Visitor) -> Result<(), StateError> {
        visitor.settings(&self.settings)?;
        visitor.numbers("rho_f", std::iter::once(&mut self.carried))
    }
}

impl<R: Real> Emphasis<R> for Clipped<R> {
    #[inline(always)]
    fn weigh(&mut self, step: &Seen, rho: R) -> R {
        let interest = R::splat(step.interest);
        let follow_on = product(R::splat(step.gamma), self.carried) + interest;
        self.carried = product(self.rho_max.if_less(rho, self.rho_max, rho), follow_on);
        self.lambda_a.mix(interest, follow_on)
    }

    fn learns(&self) -> bool {
        false
    }
}
