//! The follow-on trace.

use super::Emphasis;
use super::lambda_a::{LambdaA, product};
use crate::catalogue::{Need, Role};
use crate::settings::settings;
use crate::{
    Built, ComposeError, Declaration, Declared, Part, PartBuilder, Real, Seen, SettingError, Settings,
    StateError, Visitor,
};

settings! {
    FollowOn<R>() => FollowOnBuilder;
    lambda_a: Fraction = 0.9, "λ_a: 1 is full emphasis, 0 none";
}

impl Declared for FollowOn {
    const DECLARATION: Declaration = Declaration {
        source: "Sutton, Mahmood and White 2016; Imani, Graves and White 2018",
        settings: SETTINGS,
        needs: &[Need::Ratio],
        ..Declaration::new(
            Role::Emphasis,
            "follow-on",
            "FollowOn",
            "the follow-on trace: F_t = γ_t ρ_{t−1} F_{t−1} + i_t and M_t = (1 − λ_a) i_t + λ_a F_t",
        )
    };

    fn build<R: Real>(with: &PartBuilder<R>) -> Result<Built<R>, ComposeError> {
        with.emphasis(FollowOn::new(with.settings())?)
    }
}

/// F_t = γ_t ρ_{t−1} F_{t−1} + i(S_t) and M_t = (1 − λ_a) i(S_t) + λ_a F_t.
///
/// λ_a = 1 is full emphasis, λ_a = 0 none. (The λ of emphatic TD runs the other way: λ = 1 − λ_a.)
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FollowOn<R = f64> {
    lambda_a: LambdaA<R>,
    /// ρ_{t−1} F_{t−1}.
    carried: R,
}

impl<R: Real> FollowOn<R> {
    pub(crate) fn new(settings: Settings<R>) -> Result<Self, SettingError> {
        Ok(Self { lambda_a: LambdaA::new(&settings)?, carried: R::zero() })
    }

    /// The same with this value of ρ_{t−1} F_{t−1}.
    pub fn carrying(mut self, carried: R) -> Self {
        self.carried = carried;
        self
    }

    /// Returns M_t, given γ_t, i(S_t) and ρ_t, which counts for the steps after this one.
    #[inline(always)]
    pub fn next(&mut self, gamma: f64, interest: f64, rho: R) -> R {
        let interest = R::splat(interest);
        // A factor of 0 starts afresh, even from a trace that has overflowed, and λ_a = 0 ignores the trace.
        let follow_on = if gamma > 0.0 { R::splat(gamma) * self.carried + interest } else { interest };
        self.carried = product(rho, follow_on);
        self.lambda_a.mix(interest, follow_on)
    }
}

impl<R: Real> Part<R> for FollowOn<R> {
    fn tensors(&mut self, visitor: &mut Visitor) -> Result<(), StateError> {
        visitor.kind(FollowOn::<f64>::DECLARATION.name)?;
        visitor.setting("lambda_a", self.lambda_a.lambda_a)?;
        visitor.numbers("rho_f", std::iter::once(&mut self.carried))
    }
}

impl<R: Real> Emphasis<R> for FollowOn<R> {
    #[inline(always)]
    fn weigh(&mut self, step: &Seen, rho: R) -> R {
        self.next(step.gamma, step.interest, rho)
    }

    fn learns(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Once 0 · ∞ made NaN of it, here but not in the functions for arrays.
    #[test]
    fn a_ratio_of_zero_starts_afresh_from_a_trace_that_has_overflowed() {
        let mut trace = FollowOn::builder().lambda_a(1.0).build().unwrap();
        assert_eq!(trace.next(0.0, f64::MAX, 2.0), f64::MAX);
        assert_eq!(trace.next(1.0, 1.0, 0.0), f64::INFINITY);
        assert_eq!(trace.next(1.0, 3.0, 1.0), 3.0);
        assert!(trace.next(1.0, 1.0, f64::NAN).is_finite() && trace.next(1.0, 1.0, 1.0).is_nan());
    }
}
