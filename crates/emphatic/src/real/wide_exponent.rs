//! Numbers whose exponent is practically unbounded.

use std::cmp::Ordering;
use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Sub};

/// A number with the digits of an `f64` and room for any exponent: `digits` · 2^(512 · `scale`).
///
/// The visits of different states, and the size of the trace there, may span more than the range of `f64`: a few rare transitions
/// in a row suffice, or a drift along a long chain. Powers of two are exact, so within the range of `f64` the bits are the same.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wide {
    /// Between 2^−256 and 2^256, or zero, or not finite.
    digits: f64,
    scale: i32,
}

const fn power_of_two(exponent: i64) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

const LEAST: f64 = power_of_two(-256);
const MOST: f64 = power_of_two(256);
const UP: f64 = power_of_two(512);
const DOWN: f64 = power_of_two(-512);
/// The scale of zero, below all others, and of numbers that are not finite, above all others.
const BOTTOM: i32 = -1 << 28;
const TOP: i32 = 1 << 28;

impl Wide {
    pub(crate) const ZERO: Self = Self { digits: 0.0, scale: BOTTOM };
    pub(crate) const ONE: Self = Self { digits: 1.0, scale: 0 };

    /// The number as a wide one.
    pub fn new(x: f64) -> Self {
        Self::normal(x, 0)
    }

    /// A power of two that is at least the number and not far above it; one if the number is not tiny.
    pub(crate) fn unit(self) -> Self {
        let is_tiny = self.digits != 0.0 && self.scale < 0;
        if is_tiny { Self { digits: LEAST, scale: self.scale + 1 } } else { Self::ONE }
    }

    #[inline(always)]
    fn normal(digits: f64, scale: i32) -> Self {
        let size = digits.abs();
        if (LEAST..MOST).contains(&size) {
            Self { digits, scale }
        } else if size == 0.0 {
            Self::ZERO
        } else {
            Self::rescaled(digits, scale)
        }
    }

    #[cold]
    fn rescaled(digits: f64, scale: i32) -> Self {
        match digits.abs() {
            size if size < LEAST => Self::normal(digits * UP, scale - 1),
            size if size < f64::INFINITY => Self::normal(digits * DOWN, scale + 1),
            _ => Self { digits, scale: TOP },
        }
    }

    /// A number far from the limits of `f64`, so that no product of three such numbers underflows or overflows. `None` if it is
    /// closer to them.
    pub(crate) fn near(x: f64) -> Option<Self> {
        let wide = Self::new(x);
        (wide.scale == 0 || x == 0.0).then_some(wide)
    }

    /// The number as an `f64` if it is [far from its limits](Wide::near), otherwise NaN.
    pub(crate) fn narrow(self) -> f64 {
        if self.scale == 0 || self.digits == 0.0 { self.digits } else { f64::NAN }
    }

    /// The nearest `f64`, which may be zero or infinite.
    pub fn get(self) -> f64 {
        match self.scale {
            0 | TOP => self.digits,
            1 => self.digits * UP,
            2 => self.digits * UP * UP,
            -1 => self.digits * DOWN,
            -2 => self.digits * DOWN * DOWN,
            scale if scale > 0 => self.digits * f64::INFINITY,
            _ => 0.0,
        }
    }

    pub(crate) fn is_positive(self) -> bool {
        self.digits > 0.0
    }

    pub(crate) fn abs(self) -> Self {
        Self { digits: self.digits.abs(), ..self }
    }

    pub(crate) fn sqrt(self) -> Self {
        let odd = self.scale & 1;
        Self::normal(self.digits.sqrt() * if odd == 1 { MOST } else { 1.0 }, (self.scale - odd) / 2)
    }

    pub(crate) fn max(self, other: Self) -> Self {
        if other > self { other } else { self }
    }

    pub(crate) fn min(self, other: Self) -> Self {
        if other < self { other } else { self }
    }
}

impl Add for Wide {
    type Output = Self;

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        if self.scale == other.scale {
            return Self::normal(self.digits + other.digits, self.scale);
        }
        let (large, small) = if self.scale > other.scale { (self, other) } else { (other, self) };
        // Two scales apart, the smaller one is below half a unit in the last place.
        if large.scale - small.scale > 1 {
            return large;
        }
        Self::normal(large.digits + small.digits * DOWN, large.scale)
    }
}

impl Sub for Wide {
    type Output = Self;

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self + Self { digits: -other.digits, ..other }
    }
}

impl Mul for Wide {
    type Output = Self;

    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        Self::normal(self.digits * other.digits, self.scale + other.scale)
    }
}

impl Div for Wide {
    type Output = Self;

    #[inline(always)]
    fn div(self, other: Self) -> Self {
        Self::normal(self.digits / other.digits, self.scale - other.scale)
    }
}

impl AddAssign for Wide {
    #[inline(always)]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl MulAssign for Wide {
    #[inline(always)]
    fn mul_assign(&mut self, other: Self) {
        *self = *self * other;
    }
}

impl PartialOrd for Wide {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        (*self - *other).digits.partial_cmp(&0.0)
    }
}

impl std::iter::Sum for Wide {
    fn sum<I: Iterator<Item = Self>>(numbers: I) -> Self {
        numbers.fold(Self::ZERO, Add::add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random_stream::Random;

    #[test]
    fn the_same_bits_within_the_range_of_f64() {
        let mut random = Random::new(17, 0);
        let mut number = || random.normal() * 2f64.powi(random.below(600) as i32 - 300);
        for _ in 0..10_000 {
            let (x, y) = (number(), number());
            let (a, b) = (Wide::new(x), Wide::new(y));
            let found = [a + b, a - b, a * b, a / b, a.abs().sqrt()].map(Wide::get);
            assert_eq!(found, [x + y, x - y, x * y, x / y, x.abs().sqrt()], "{x} {y}");
            assert_eq!(a < b, x < y);
        }
    }

    #[test]
    fn beyond_the_range_of_f64() {
        let tiny = Wide::new(power_of_two(-1000));
        let product = tiny * tiny * tiny;
        assert_eq!((product.get(), (product / tiny / tiny).get()), (0.0, power_of_two(-1000)));
        assert_eq!((Wide::ONE / product).get(), f64::INFINITY);
        assert_eq!((product * product).sqrt(), product);
        assert!(product > Wide::ZERO && product < tiny && product + tiny == tiny);
        assert!(Wide::ZERO - product < Wide::ZERO);
        assert_eq!((Wide::new(5e-324).get(), Wide::new(f64::MAX).get()), (5e-324, f64::MAX));
    }

    #[test]
    fn nan_stays_nan() {
        assert!((Wide::ZERO / Wide::ZERO).get().is_nan() && Wide::new(f64::NAN).get().is_nan());
        assert_eq!((Wide::ONE / Wide::ZERO).get(), f64::INFINITY);
        assert_eq!(Wide::new(f64::NAN).partial_cmp(&Wide::ONE), None);
    }
}
