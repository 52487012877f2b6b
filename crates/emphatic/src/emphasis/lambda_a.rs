//! λ_a: how much of an emphasis counts.

use crate::{Real, SettingError, Settings};

/// M_t = (1 − λ_a) i(S_t) + λ_a F_t: 1 is full emphasis, 0 none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct LambdaA<R> {
    pub(super) lambda_a: R,
    /// 1 − λ_a.
    rest: R,
}

impl<R: Real> LambdaA<R> {
    pub(super) fn new(settings: &Settings<R>) -> Result<Self, SettingError> {
        let lambda_a = settings.number("lambda_a")?;
        Ok(Self { lambda_a, rest: R::one() - lambda_a })
    }

    /// Returns M_t. λ_a = 0 ignores F_t, even one that has overflowed.
    #[inline(always)]
    pub(super) fn mix(&self, interest: R, follow_on: R) -> R {
        self.rest * interest + product(self.lambda_a, follow_on)
    }
}

/// Returns factor · x, where a factor of 0 makes 0 even of an x that has overflowed. A factor that is NaN makes NaN.
#[inline(always)]
pub(super) fn product<R: Real>(factor: R, x: R) -> R {
    R::zero().if_less(factor, factor * x, factor)
}

/// Returns (1 − share) a + share b, in which what has no share is ignored.
#[inline(always)]
pub(super) fn blend<R: Real>(share: R, a: R, b: R) -> R {
    product(R::one() - share, a) + product(share, b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_share_is_ignored_even_if_it_has_overflowed() {
        assert_eq!(blend(0.25, 4.0, 8.0), 5.0);
        assert_eq!(blend(0.0, 4.0, f64::INFINITY), 4.0);
        assert_eq!(blend(1.0, f64::NAN, 8.0), 8.0);
        assert!(blend(0.5, f64::NAN, 8.0).is_nan());
        assert!(product(f64::NAN, 1.0).is_nan());
    }
}
