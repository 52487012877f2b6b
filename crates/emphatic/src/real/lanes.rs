//! Several numbers side by side.

#![allow(clippy::needless_range_loop, reason = "one index for several arrays says what a lane does")]

use super::{Real, elementary};
use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub, SubAssign};

/// `N` numbers side by side, one for each of `N` learners.
///
/// Every operation treats each lane as `f64` would, to the bit. The loops below have a constant length and
/// no branches, so the compiler turns them into the vector instructions of the instruction set at hand
/// (see [`Isa`](crate::Isa)).
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(64))]
pub struct Lanes<const N: usize>(pub [f64; N]);

impl<const N: usize> Lanes<N> {
    #[inline(always)]
    pub(super) fn map(self, f: impl Fn(f64) -> f64) -> Self {
        let mut out = [0.0; N];
        for k in 0..N {
            out[k] = f(self.0[k]);
        }
        Self(out)
    }

    #[inline(always)]
    fn zip(self, other: Self, f: impl Fn(f64, f64) -> f64) -> Self {
        let mut out = [0.0; N];
        for k in 0..N {
            out[k] = f(self.0[k], other.0[k]);
        }
        Self(out)
    }
}

impl<const N: usize> Default for Lanes<N> {
    fn default() -> Self {
        Self([0.0; N])
    }
}

macro_rules! lanewise {
    ($trait:ident $method:ident, $assign:ident $assign_method:ident, $op:tt) => {
        impl<const N: usize> $trait for Lanes<N> {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                self.zip(other, |a, b| a $op b)
            }
        }
        impl<const N: usize> $assign for Lanes<N> {
            #[inline(always)]
            fn $assign_method(&mut self, other: Self) {
                *self = *self $op other;
            }
        }
    };
}
lanewise!(Add add, AddAssign add_assign, +);
lanewise!(Sub sub, SubAssign sub_assign, -);
lanewise!(Mul mul, MulAssign mul_assign, *);

impl<const N: usize> Div for Lanes<N> {
    type Output = Self;
    #[inline(always)]
    fn div(self, other: Self) -> Self {
        self.zip(other, |a, b| a / b)
    }
}

impl<const N: usize> Neg for Lanes<N> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        self.map(|a| -a)
    }
}

/// A function of each lane. Passed to `map`, a large one would not be inlined, nor compiled for the instruction set.
macro_rules! each_lane {
    ($function:ident, $x:expr) => {{
        let mut out = [0.0; N];
        for k in 0..N {
            out[k] = elementary::$function($x.0[k]);
        }
        Self(out)
    }};
}

impl<const N: usize> Real for Lanes<N> {
    const LANES: usize = N;

    #[inline(always)]
    fn splat(x: f64) -> Self {
        Self([x; N])
    }

    #[inline(always)]
    fn from_lanes(mut lane: impl FnMut(usize) -> f64) -> Self {
        let mut out = [0.0; N];
        for (k, x) in out.iter_mut().enumerate() {
            *x = lane(k);
        }
        Self(out)
    }

    #[inline(always)]
    fn lane(self, lane: usize) -> f64 {
        self.0[lane]
    }

    #[inline(always)]
    fn if_less(self, other: Self, then: Self, otherwise: Self) -> Self {
        let mut out = [0.0; N];
        for k in 0..N {
            out[k] = if self.0[k] < other.0[k] { then.0[k] } else { otherwise.0[k] };
        }
        Self(out)
    }

    #[inline(always)]
    fn all_finite(self) -> bool {
        // Integer "or" may be reordered, so this reduction is vectorised; a sum of floats would not be.
        const EXPONENT: u64 = 0x7ff0_0000_0000_0000;
        let mut bad = 0;
        for k in 0..N {
            bad |= u64::from(self.0[k].to_bits() & EXPONENT == EXPONENT);
        }
        bad == 0
    }

    #[inline(always)]
    fn all_zero(self) -> bool {
        let mut bits = 0;
        for k in 0..N {
            bits |= self.0[k].to_bits() << 1; // Without the sign.
        }
        bits == 0
    }

    #[inline(always)]
    fn abs(self) -> Self {
        self.map(f64::abs)
    }

    #[inline(always)]
    fn sqrt(self) -> Self {
        self.map(f64::sqrt)
    }

    #[inline(always)]
    fn exp(self) -> Self {
        let mut out = [0.0; N];
        let (blocks, rest) = self.0.as_chunks::<4>();
        let (out_blocks, out_rest) = out.as_chunks_mut::<4>();
        for (x, y) in blocks.iter().zip(out_blocks) {
            *y = elementary::exp_of(Lanes(*x)).0;
        }
        for (x, y) in rest.iter().zip(out_rest) {
            *y = elementary::exp(*x);
        }
        Self(out)
    }

    #[inline(always)]
    fn ln(self) -> Self {
        each_lane!(ln, self)
    }

    #[inline(always)]
    fn sigmoid(self) -> Self {
        each_lane!(sigmoid, self)
    }

    #[inline(always)]
    fn softplus(self) -> Self {
        each_lane!(softplus, self)
    }

    #[inline(always)]
    fn normal_density(self, mean: Self, standard_deviation: Self) -> Self {
        let mut out = [0.0; N];
        for k in 0..N {
            out[k] = elementary::normal_density(self.0[k], mean.0[k], standard_deviation.0[k]);
        }
        Self(out)
    }

    #[inline(always)]
    fn normal_cdf(self) -> Self {
        elementary::normal_cdf_of(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_do_what_f64_does() {
        let a = Lanes([1.5, -2.0, f64::NAN, f64::INFINITY]);
        let b = Lanes([0.5, 3.0, 1.0, 2.0]);
        let same = |x: Lanes<4>, f: fn(f64, f64) -> f64| {
            for k in 0..4 {
                assert_eq!(x.0[k].to_bits(), f(a.0[k], b.0[k]).to_bits());
            }
        };
        same(a + b, |x, y| x + y);
        same(a - b, |x, y| x - y);
        same(a * b, |x, y| x * y);
        same(a / b, |x, y| x / y);
        same(a.larger(b), Real::larger);
        same(a.if_less(b, a, b), |x, y| if x < y { x } else { y });
    }

    #[test]
    fn one_bad_lane_is_seen() {
        assert!(Lanes([f64::MAX, 0.0, -1.0, f64::MIN_POSITIVE]).all_finite());
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            for k in 0..4 {
                let mut x = Lanes([1.0; 4]);
                x.0[k] = bad;
                assert!(!x.all_finite());
            }
        }
    }

    #[test]
    fn one_lane_that_is_not_zero_is_seen() {
        assert!(Lanes([0.0, -0.0, 0.0, 0.0]).all_zero());
        assert!(!Lanes([0.0, 0.0, 5e-324, 0.0]).all_zero() && !Lanes([f64::NAN, 0.0]).all_zero());
    }
}
