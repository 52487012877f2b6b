//! The follow-on trace that decays by β in place of γ.

use super::Emphasis;
use super::lambda_a::{LambdaA, product};
use crate::catalogue::{Need, Role};
use crate::settings::settings;
use crate::{
    Built, ComposeError, Declaration, Declared, Part, PartBuilder, Real, Seen, SettingError, Settings,
    StateError, Visitor,
};

settings! {
    Decayed<R>() => DecayedBuilder;
    lambda_a: Fraction = 1.0, "λ_a: 1 is full emphasis, 0 none";
    beta: Fraction, "β: by what the trace decays in place of γ; 0 is no emphasis";
}

impl Declared for Decayed {
    const DECLARATION: Declaration = Declaration {
        source: "Hallak, Tamar, Munos and Mannor 2016",
        settings: SETTINGS,
        needs: &[Need::Ratio],
        ..Declaration::new(
            Role::Emphasis,
            "decayed",
            "Decayed",
            "the follow-on trace that decays by β: F_t = β ρ_{t−1} F_{t−1} + i_t, anew where an episode starts",
        )
    };

    fn build<R: Real>(with: &PartBuilder<R>) -> Result<Built<R>, ComposeError> {
        with.emphasis(Decayed::new(with.settings())?)
    }
}

/// F_t = β ρ_{t−1} F_{t−1} + i(S_t), and i(S_t) where an episode starts. Less variance for β < γ, and a bias.
#[derive(Clone, Debug)]
pub struct Decayed<R = f64> {
    settings: Settings<R>,
    lambda_a: LambdaA<R>,
    beta: R,
    /// ρ_{t−1} F_{t−1}.
    carried: R,
}

impl<R: Real> Decayed<R> {
    fn new(settings: Settings<R>) -> Result<Self, SettingError> {
        let (lambda_a, beta) = (LambdaA::new(&settings)?, settings.number("beta")?);
        Ok(Self { settings, lambda_a, beta, carried: R::zero() })
    }
}

impl<R: Real> Part<R> for Decayed<R> {
    fn tensors(&mut self, visitor: &mut Visitor) -> Result<(), StateError> {
        visitor.settings(&self.settings)?;
        visitor.numbers("rho_f", std::iter::once(&mut self.carried))
    }
}

impl<R: Real> Emphasis<R> for Decayed<R> {
    #[inline(always)]
    fn weigh(&mut self, step: &Seen, rho: R) -> R {
        let interest = R::splat(step.interest);
        let follow_on = if step.gamma > 0.0 { product(self.beta, self.carried) + interest } else { interest };
        self.carried = product(rho, follow_on);
        self.lambda_a.mix(interest, follow_on)
    }

    fn learns(&self) -> bool {
        false
    }
}
