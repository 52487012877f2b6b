//! A value with its derivatives in some directions.

use super::{Lanes, Real, elementary};
use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub, SubAssign};

/// A dual number: a value and its derivatives in N directions (one, unless said otherwise), carried through every operation
/// by the chain rule.
///
/// Derivatives are checked with it independently of the theorems.
///
/// ```
/// use emphatic::{Dual, Real};
/// let x: Dual = Dual::variable(3.0, 0);
/// let y = x * x.exp();
/// assert!((y.slope.0[0] - (1.0 + 3.0) * 3f64.exp()).abs() < 1e-12);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Dual<const N: usize = 1> {
    /// The value.
    pub value: f64,
    /// The derivatives.
    pub slope: Lanes<N>,
}

impl<const N: usize> Dual<N> {
    /// The variable of a direction: its derivative in that direction is one.
    pub fn variable(value: f64, direction: usize) -> Self {
        Self { value, slope: Lanes::from_lanes(|lane| if lane == direction { 1.0 } else { 0.0 }) }
    }

    /// A function's value here, and its derivative times this number's own.
    fn chain(self, value: f64, derivative: f64) -> Self {
        Self { value, slope: Lanes::splat(derivative) * self.slope }
    }
}

impl<const N: usize> Add for Dual<N> {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self { value: self.value + other.value, slope: self.slope + other.slope }
    }
}

impl<const N: usize> Sub for Dual<N> {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self { value: self.value - other.value, slope: self.slope - other.slope }
    }
}

impl<const N: usize> Mul for Dual<N> {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        Self {
            value: self.value * other.value,
            slope: self.slope * Lanes::splat(other.value) + Lanes::splat(self.value) * other.slope,
        }
    }
}

impl<const N: usize> Div for Dual<N> {
    type Output = Self;
    fn div(self, other: Self) -> Self {
        let value = self.value / other.value;
        Self { value, slope: (self.slope - Lanes::splat(value) * other.slope) / Lanes::splat(other.value) }
    }
}

impl<const N: usize> Neg for Dual<N> {
    type Output = Self;
    fn neg(self) -> Self {
        Self { value: -self.value, slope: -self.slope }
    }
}

impl<const N: usize> AddAssign for Dual<N> {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl<const N: usize> SubAssign for Dual<N> {
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

impl<const N: usize> MulAssign for Dual<N> {
    fn mul_assign(&mut self, other: Self) {
        *self = *self * other;
    }
}

impl<const N: usize> Real for Dual<N> {
    const LANES: usize = 1;

    fn splat(value: f64) -> Self {
        Self { value, slope: Lanes::zero() }
    }

    fn from_lanes(mut lane: impl FnMut(usize) -> f64) -> Self {
        Self::splat(lane(0))
    }

    fn lane(self, _lane: usize) -> f64 {
        self.value
    }

    fn if_less(self, other: Self, then: Self, otherwise: Self) -> Self {
        if self.value < other.value { then } else { otherwise }
    }

    fn all_finite(self) -> bool {
        self.value.is_finite() && self.slope.all_finite()
    }

    fn all_zero(self) -> bool {
        self.value == 0.0 && self.slope.all_zero()
    }

    fn abs(self) -> Self {
        if self.value < 0.0 { -self } else { self }
    }

    fn sqrt(self) -> Self {
        let root = self.value.sqrt();
        self.chain(root, 0.5 / root)
    }

    fn exp(self) -> Self {
        let e = elementary::exp(self.value);
        self.chain(e, e)
    }

    fn ln(self) -> Self {
        self.chain(elementary::ln(self.value), 1.0 / self.value)
    }

    fn sigmoid(self) -> Self {
        let up = elementary::sigmoid(self.value);
        self.chain(up, up * elementary::sigmoid(-self.value))
    }

    fn softplus(self) -> Self {
        self.chain(elementary::softplus(self.value), elementary::sigmoid(self.value))
    }

    fn normal_density(self, mean: Self, standard_deviation: Self) -> Self {
        let density = elementary::normal_density(self.value, mean.value, standard_deviation.value);
        let z = (self - mean) / standard_deviation;
        let relative = standard_deviation.slope / Lanes::splat(standard_deviation.value);
        Self { value: density, slope: Lanes::splat(-density) * (Lanes::splat(z.value) * z.slope + relative) }
    }

    fn normal_cdf(self) -> Self {
        self.chain(elementary::normal_cdf(self.value), elementary::normal_density(self.value, 0.0, 1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derivatives_match_central_differences() {
        let functions: [fn(Dual) -> Dual; 10] = [
            |x| x * x - x,
            |x| Dual::splat(2.0) / (x + Dual::splat(3.0)),
            |x| (x * x + Dual::one()).sqrt(),
            Real::exp,
            |x| (x * x + Dual::one()).ln(),
            Real::sigmoid,
            Real::softplus,
            Real::normal_cdf,
            |x| x.normal_density(x * x, x.exp()),
            |x| Dual::splat(0.3).normal_density(-x, Dual::one() + x * x),
        ];
        for (k, f) in functions.iter().enumerate() {
            for x in [-1.7, -0.2, 0.4, 2.1] {
                let h = 1e-5;
                let difference = (f(Dual::splat(x + h)).value - f(Dual::splat(x - h)).value) / (2.0 * h);
                let slope = f(Dual::variable(x, 0)).slope.0[0];
                assert!(
                    (slope - difference).abs() < 1e-8 * (1.0 + slope.abs()),
                    "function {k} at {x}: {slope} {difference}"
                );
            }
        }
    }
}
