//! The follow-on trace.

use super::Emphasis;
use crate::catalogue::{Declaration, Declared, Need, Role, Setting};
use crate::compose::{Built, PartBuilder};
use crate::part::{ComposeError, Part, Seen};
use crate::real::Real;
use crate::setting::{Range, SettingError};
use crate::tensors::{StateError, Visitor};

/// [`FollowOn`] in the catalogue.
#[derive(Debug)]
pub struct InCatalogue;

impl Declared for InCatalogue {
    const DECLARATION: Declaration = Declaration {
        source: "Sutton, Mahmood and White 2016; Imani, Graves and White 2018",
        settings: &[Setting {
            name: "lambda_a",
            range: Range::Fraction,
            default: Some(0.9),
            about: "λ_a: 1 is full emphasis, 0 none",
        }],
        needs: &[Need::Ratio],
        ..Declaration::new(
            Role::Emphasis,
            "follow-on",
            "FollowOn",
            "the follow-on trace: F_t = γ_t ρ_{t−1} F_{t−1} + i_t and M_t = (1 − λ_a) i_t + λ_a F_t",
        )
    };

    fn build<R: Real>(with: &PartBuilder<R>) -> Result<Built<R>, ComposeError> {
        with.emphasis(FollowOn::new(with.number("lambda_a")?)?)
    }
}

/// F_t = γ_t ρ_{t−1} F_{t−1} + i(S_t) and M_t = (1 − λ_a) i(S_t) + λ_a F_t.
///
/// λ_a = 1 is full emphasis, λ_a = 0 none. (The λ of emphatic TD runs the other way: λ = 1 − λ_a.)
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FollowOn<R> {
    lambda_a: R,
    /// 1 − λ_a.
    rest: R,
    /// ρ_{t−1} F_{t−1}.
    carried: R,
}

impl<R: Real> FollowOn<R> {
    /// A trace that starts from F = 0.
    pub fn new(lambda_a: R) -> Result<Self, SettingError> {
        Range::Fraction.check("lambda_a", lambda_a)?;
        Ok(Self { lambda_a, rest: R::one() - lambda_a, carried: R::zero() })
    }

    /// The same with this for ρ_{t−1} F_{t−1}.
    pub fn carrying(mut self, carried: R) -> Self {
        self.carried = carried;
        self
    }

    /// M_t, given γ_t, i(S_t) and ρ_t, which counts for the steps after this one.
    #[inline(always)]
    pub fn next(&mut self, gamma: f64, interest: f64, rho: R) -> R {
        let interest = R::splat(interest);
        // A factor of 0 starts afresh, even from a trace that has overflowed, and λ_a = 0 has no use for one.
        let follow_on = if gamma > 0.0 { R::splat(gamma) * self.carried + interest } else { interest };
        self.carried = R::zero().if_less(rho, rho * follow_on, rho);
        let emphasised = R::zero().if_less(self.lambda_a, self.lambda_a * follow_on, R::zero());
        self.rest * interest + emphasised
    }
}

impl<R: Real> Part<R> for FollowOn<R> {
    fn tensors(&mut self, visitor: &mut Visitor) -> Result<(), StateError> {
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
        let mut trace = FollowOn::new(1.0).unwrap();
        assert_eq!(trace.next(0.0, f64::MAX, 2.0), f64::MAX);
        assert_eq!(trace.next(1.0, 1.0, 0.0), f64::INFINITY);
        assert_eq!(trace.next(1.0, 3.0, 1.0), 3.0);
        assert!(trace.next(1.0, 1.0, f64::NAN).is_finite() && trace.next(1.0, 1.0, 1.0).is_nan());
    }
}
