//! A value with its derivative in one direction.

use super::{Real, elementary};
use serde::{Deserialize, Serialize};
use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub, SubAssign};

/// A dual number: a value and its derivative, carried through every operation by the chain rule.
///
/// This is how derivatives are checked independently of the theorems that give them.
///
/// ```
/// use emphatic::{Dual, Real};
/// let x = Dual::variable(3.0);
/// let y = x * x.exp();
/// assert!((y.slope - (1.0 + 3.0) * 3f64.exp()).abs() < 1e-12);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Dual {
    /// The value.
    pub value: f64,
    /// The derivative.
    pub slope: f64,
}

impl Dual {
    /// The variable that is differentiated by: its derivative is one.
    pub fn variable(value: f64) -> Self {
        Self { value, slope: 1.0 }
    }

    /// A function's value here, and its derivative times this number's own.
    fn chain(self, value: f64, derivative: f64) -> Self {
        Self { value, slope: derivative * self.slope }
    }
}

impl Add for Dual {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self { value: self.value + other.value, slope: self.slope + other.slope }
    }
}

impl Sub for Dual {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self { value: self.value - other.value, slope: self.slope - other.slope }
    }
}

impl Mul for Dual {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        Self { value: self.value * other.value, slope: self.slope * other.value + self.value * other.slope }
    }
}

impl Div for Dual {
    type Output = Self;
    fn div(self, other: Self) -> Self {
        let value = self.value / other.value;
        Self { value, slope: (self.slope - value * other.slope) / other.value }
    }
}

impl Neg for Dual {
    type Output = Self;
    fn neg(self) -> Self {
        Self { value: -self.value, slope: -self.slope }
    }
}

impl AddAssign for Dual {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl SubAssign for Dual {
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

impl MulAssign for Dual {
    fn mul_assign(&mut self, other: Self) {
        *self = *self * other;
    }
}

impl Real for Dual {
    const LANES: usize = 1;

    fn splat(value: f64) -> Self {
        Self { value, slope: 0.0 }
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
        self.value.is_finite() && self.slope.is_finite()
    }

    fn all_zero(self) -> bool {
        self.value == 0.0 && self.slope == 0.0
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
        Self {
            value: density,
            slope: -density * (z.value * z.slope + standard_deviation.slope / standard_deviation.value),
        }
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
                let slope = f(Dual::variable(x)).slope;
                assert!(
                    (slope - difference).abs() < 1e-8 * (1.0 + slope.abs()),
                    "function {k} at {x}: {slope} {difference}"
                );
            }
        }
    }
}
