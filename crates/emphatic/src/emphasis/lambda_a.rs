//! λ_a: how much of an emphasis counts.

pub(super) use crate::real::{blend, product};
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
