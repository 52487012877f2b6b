//! The number type every algorithm is written in.
//!
//! An algorithm is written once, over [`Real`], and runs with three kinds of numbers: `f64` (one learner),
//! [`Lanes`] (`N` learners side by side, each with its own settings) and [`Dual`] (a value with its derivative).
//!
//! Only IEEE addition, subtraction, multiplication, division, square root and comparison are used, never a
//! fused multiply-add and never the platform's `libm`. So a lane holds the bits that `f64` would, on every
//! instruction set.

mod dual;
pub mod elementary;
mod lanes;
mod wide_exponent;

pub use dual::Dual;
pub use lanes::Lanes;
pub use wide_exponent::Wide;

use std::fmt::Debug;
use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub, SubAssign};

/// A number, or several numbers side by side that are all treated alike.
///
/// There is no branching on a value: [`Real::if_less`] chooses lane by lane.
pub trait Real:
    Copy
    + Debug
    + Default
    + PartialEq
    + Send
    + Sync
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
    + MulAssign
    + 'static
{
    /// How many numbers stand side by side.
    const LANES: usize;

    /// The same constant in every lane.
    fn splat(x: f64) -> Self;

    /// A number from its lanes.
    fn from_lanes(lane: impl FnMut(usize) -> f64) -> Self;

    /// The value in one lane. `lane` must be less than [`Real::LANES`].
    fn lane(self, lane: usize) -> f64;

    /// `then` where `self < other`, `otherwise` elsewhere (also where either is NaN).
    fn if_less(self, other: Self, then: Self, otherwise: Self) -> Self;

    /// Whether no lane is infinite or NaN.
    fn all_finite(self) -> bool;

    /// Whether every lane is zero.
    fn all_zero(self) -> bool;

    /// |x|.
    fn abs(self) -> Self;

    /// √x, correctly rounded.
    fn sqrt(self) -> Self;

    /// eˣ. See [`elementary::exp`].
    fn exp(self) -> Self;

    /// The natural logarithm. See [`elementary::ln`].
    fn ln(self) -> Self;

    /// 1 / (1 + e⁻ˣ). See [`elementary::sigmoid`].
    fn sigmoid(self) -> Self;

    /// ln(1 + eˣ). See [`elementary::softplus`].
    fn softplus(self) -> Self;

    /// The density of the Gaussian at `self`. See [`elementary::normal_density`].
    fn normal_density(self, mean: Self, standard_deviation: Self) -> Self;

    /// The probability that a standard normal number is at most `self`. See [`elementary::normal_cdf`].
    fn normal_cdf(self) -> Self;

    /// Zero in every lane.
    #[inline(always)]
    fn zero() -> Self {
        Self::splat(0.0)
    }

    /// One in every lane.
    #[inline(always)]
    fn one() -> Self {
        Self::splat(1.0)
    }

    /// Zero where the number is finite, NaN where it is infinite or NaN. A sum of such is NaN exactly where one of the
    /// numbers is not finite: unlike the sum of the numbers themselves, it cannot overflow.
    #[inline(always)]
    fn nan_unless_finite(self) -> Self {
        self * Self::zero()
    }

    /// The same but for one lane. `lane` must be less than [`Real::LANES`].
    fn with_lane(self, lane: usize, x: f64) -> Self {
        Self::from_lanes(|other| if other == lane { x } else { self.lane(other) })
    }

    /// The larger of the two, lane by lane; `other` where either is NaN.
    #[inline(always)]
    fn larger(self, other: Self) -> Self {
        other.if_less(self, self, other)
    }

    /// The smaller of the two, lane by lane; `self` where either is NaN.
    #[inline(always)]
    fn smaller(self, other: Self) -> Self {
        other.if_less(self, other, self)
    }
}

impl Real for f64 {
    const LANES: usize = 1;

    #[inline(always)]
    fn splat(x: f64) -> Self {
        x
    }

    #[inline(always)]
    fn from_lanes(mut lane: impl FnMut(usize) -> f64) -> Self {
        lane(0)
    }

    #[inline(always)]
    fn lane(self, lane: usize) -> f64 {
        debug_assert_eq!(lane, 0);
        self
    }

    #[inline(always)]
    fn if_less(self, other: Self, then: Self, otherwise: Self) -> Self {
        if self < other { then } else { otherwise }
    }

    #[inline(always)]
    fn all_finite(self) -> bool {
        self.is_finite()
    }

    #[inline(always)]
    fn all_zero(self) -> bool {
        self == 0.0
    }

    #[inline(always)]
    fn abs(self) -> Self {
        f64::abs(self)
    }

    #[inline(always)]
    fn sqrt(self) -> Self {
        f64::sqrt(self)
    }

    #[inline(always)]
    fn exp(self) -> Self {
        elementary::exp(self)
    }

    #[inline(always)]
    fn ln(self) -> Self {
        elementary::ln(self)
    }

    #[inline(always)]
    fn sigmoid(self) -> Self {
        elementary::sigmoid(self)
    }

    #[inline(always)]
    fn softplus(self) -> Self {
        elementary::softplus(self)
    }

    #[inline(always)]
    fn normal_density(self, mean: Self, standard_deviation: Self) -> Self {
        elementary::normal_density(self, mean, standard_deviation)
    }

    #[inline(always)]
    fn normal_cdf(self) -> Self {
        elementary::normal_cdf(self)
    }
}

/// Returns factor · x, where a factor of 0 makes 0 even of an x that has overflowed. A factor that is NaN makes NaN.
#[inline(always)]
pub(crate) fn product<R: Real>(factor: R, x: R) -> R {
    R::zero().if_less(factor.abs(), factor * x, factor)
}

/// Returns (1 − share) a + share b, in which what has no share is ignored.
#[inline(always)]
pub(crate) fn blend<R: Real>(share: R, a: R, b: R) -> R {
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

    /// Once the product with a negative factor was the factor: Geoff-PAC followed v̂ itself wherever it was negative.
    #[test]
    fn a_factor_may_be_negative() {
        assert_eq!((product(-2.0, 3.0), product(-2.0, -3.0)), (-6.0, 6.0));
    }
}
