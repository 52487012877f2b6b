//! The normalised follow-on trace.

use super::Emphasis;
use super::lambda_a::{LambdaA, product};
use crate::catalogue::{Need, Role};
use crate::settings::settings;
use crate::{
    Built, ComposeError, Declaration, Declared, Part, PartBuilder, Real, Seen, SettingError, Settings,
    StateError, Visitor,
};

settings! {
    Normalised<R>() => NormalisedBuilder;
    lambda_a: Fraction = 1.0, "λ_a: 1 is full emphasis, 0 none";
}

impl Declared for Normalised {
    const DECLARATION: Declaration = Declaration {
        source: "Graves, Imani, Kumaraswamy and White 2023",
        settings: SETTINGS,
        needs: &[Need::Ratio],
        ..Declaration::new(
            Role::Emphasis,
            "normalised",
            "Normalised",
            "the follow-on trace with less interest: F_t = γ_t ρ_{t−1} F_{t−1} + (1 − γ_t) i_t",
        )
    };

    fn build<R: Real>(with: &PartBuilder<R>) -> Result<Built<R>, ComposeError> {
        with.emphasis(Normalised::new(with.settings())?)
    }
}

/// F_t = γ_t ρ_{t−1} F_{t−1} + (1 − γ_t) i(S_t).
///
/// With one discount everywhere and no ends this is 1 − γ times the follow-on trace. With ends it is not: the first state of an episode,
/// which is entered with γ_t = 0, keeps its whole interest.
#[derive(Clone, Debug)]
pub struct Normalised<R = f64> {
    settings: Settings<R>,
    lambda_a: LambdaA<R>,
    /// ρ_{t−1} F_{t−1}.
    carried: R,
}

impl<R: Real> Normalised<R> {
    fn new(settings: Settings<R>) -> Result<Self, SettingError> {
        Ok(Self { lambda_a: LambdaA::new(&settings)?, settings, carried: R::zero() })
    }
}

impl<R: Real> Part<R> for Normalised<R> {
    fn tensors(&mut self, visitor: &mut Visitor) -> Result<(), StateError> {
        visitor.settings(&self.settings)?;
        visitor.numbers("rho_f", std::iter::once(&mut self.carried))
    }
}

impl<R: Real> Emphasis<R> for Normalised<R> {
    #[inline(always)]
    fn weigh(&mut self, step: &Seen, rho: R) -> R {
        let interest = R::splat((1.0 - step.gamma) * step.interest);
        let follow_on = product(R::splat(step.gamma), self.carried) + interest;
        self.carried = product(rho, follow_on);
        self.lambda_a.mix(R::splat(step.interest), follow_on)
    }

    fn learns(&self) -> bool {
        false
    }
}
