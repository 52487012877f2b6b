//! The follow-on trace that is restarted periodically.

use super::Emphasis;
use super::lambda_a::{LambdaA, product};
use crate::catalogue::{Need, Role};
use crate::settings::settings;
use crate::{
    Built, ComposeError, Declaration, Declared, Part, PartBuilder, Real, Seen, SettingError, Settings,
    StateError, Visitor,
};

settings! {
    Periodic<R>() => PeriodicBuilder;
    lambda_a: Fraction = 1.0, "λ_a: 1 is full emphasis, 0 none";
    period: Count, "after how many steps the trace starts anew; 1 is no emphasis";
}

impl Declared for Periodic {
    const DECLARATION: Declaration = Declaration {
        source: "Guan, Xu and Liang 2022 (PER-ETD)",
        settings: SETTINGS,
        needs: &[Need::Ratio],
        ..Declaration::new(
            Role::Emphasis,
            "periodic",
            "Periodic",
            "the follow-on trace, restarted every few steps; only the last step of each period counts",
        )
    };

    fn build<R: Real>(with: &PartBuilder<R>) -> Result<Built<R>, ComposeError> {
        with.emphasis(Periodic::new(with.settings())?)
    }
}

/// F_t = γ_t ρ_{t−1} F_{t−1} + i(S_t), and i(S_t) where a period or an episode starts. M_t is F_t at the last step of a period and 0 at all
/// others: so one step in b is learned from, and step-sizes are to be chosen accordingly.
#[derive(Clone, Debug)]
pub struct Periodic<R = f64> {
    settings: Settings<R>,
    lambda_a: LambdaA<R>,
    period: u64,
    /// How many steps of the period have passed.
    passed: u64,
    /// ρ_{t−1} F_{t−1}.
    carried: R,
}

impl<R: Real> Periodic<R> {
    fn new(settings: Settings<R>) -> Result<Self, SettingError> {
        let (lambda_a, period) = (LambdaA::new(&settings)?, settings.count("period")? as u64);
        Ok(Self { settings, lambda_a, period, passed: 0, carried: R::zero() })
    }
}

impl<R: Real> Part<R> for Periodic<R> {
    fn tensors(&mut self, visitor: &mut Visitor) -> Result<(), StateError> {
        visitor.settings(&self.settings)?;
        visitor.counts("passed", std::slice::from_mut(&mut self.passed))?;
        visitor.numbers("rho_f", std::iter::once(&mut self.carried))
    }
}

impl<R: Real> Emphasis<R> for Periodic<R> {
    #[inline(always)]
    fn weigh(&mut self, step: &Seen, rho: R) -> R {
        let interest = R::splat(step.interest);
        let goes_on = self.passed > 0 && step.gamma > 0.0;
        let follow_on = if goes_on { R::splat(step.gamma) * self.carried + interest } else { interest };
        self.carried = product(rho, follow_on);
        // A saved state may have any number.
        self.passed = self.passed.saturating_add(1);
        if self.passed < self.period {
            return R::zero();
        }
        self.passed = 0;
        self.lambda_a.mix(interest, follow_on)
    }

    fn learns(&self) -> bool {
        false
    }
}
