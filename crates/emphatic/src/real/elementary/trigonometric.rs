//! Sine and cosine.
//!
//! The angle is reduced to |r| <= pi/4 by subtracting a multiple of pi/2, which is held in four parts (Cody and Waite) so that
//! nothing is lost next to a zero; both functions of r are polynomials, and the quadrant says which of the two is meant and
//! with which sign.

use super::{canonical, two_sum};
use std::f64::consts::{FRAC_2_PI, FRAC_PI_4};

/// Adding this rounds to an integer and holds its lowest bits in the lowest mantissa bits.
const ROUND: f64 = 6755399441055744.0; // 1.5 * 2^52

/// pi/2 in four parts. Three have 33 bits, so that their products with an integer below 2^20 are exact.
const HALF_PI: [f64; 4] = [
    f64::from_bits(0x3ff9_21fb_5440_0000),
    f64::from_bits(0x3dd0_b461_1a60_0000),
    f64::from_bits(0x3ba3_198a_2e00_0000),
    8.4784276603689e-32,
];

/// Below this a sine is its angle, the sign of zero included.
const SMALL: f64 = 1.4901161193847656e-8; // 2^-26

/// Above this neighbouring numbers are a quarter of a radian and more apart.
const LARGEST: f64 = 1125899906842624.0; // 2^50

/// sin x; error < 0.8 ulp for |x| <= 1e6.
///
/// Beyond that the result is as if x were off by a unit in its last place. NaN for |x| > 2^50, infinities and NaN; -0 gives -0.
#[inline(always)]
pub fn sin(x: f64) -> f64 {
    let reduced = reduce(x);
    let y = pick(&reduced, reduced.quadrant);
    defined(x, if x.abs() < SMALL { x } else { y })
}

/// cos x; error < 0.8 ulp for |x| <= 1e6.
///
/// Beyond that the result is as if x were off by a unit in its last place. NaN for |x| > 2^50, infinities and NaN.
#[inline(always)]
pub fn cos(x: f64) -> f64 {
    let reduced = reduce(x);
    defined(x, pick(&reduced, reduced.quadrant.wrapping_add(1)))
}

/// ([`sin`] x, [`cos`] x), the same bits for little more than the price of one.
#[inline(always)]
pub fn sin_cos(x: f64) -> (f64, f64) {
    let reduced = reduce(x);
    let sine = pick(&reduced, reduced.quadrant);
    let cosine = pick(&reduced, reduced.quadrant.wrapping_add(1));
    (defined(x, if x.abs() < SMALL { x } else { sine }), defined(x, cosine))
}

/// sin r and cos r, where the angle is r + quadrant pi/2. Only the lowest two bits of the quadrant count.
struct Reduced {
    sin: f64,
    cos: f64,
    quadrant: u64,
}

/// Both functions of the reduced angle.
#[inline(always)]
fn reduce(x: f64) -> Reduced {
    let shifted = x * FRAC_2_PI + ROUND;
    let n = shifted - ROUND;
    // The first difference is exact, and what the others round off is kept.
    let first = x - n * HALF_PI[0];
    let (second, second_low) = two_sum(first, -(n * HALF_PI[1]));
    let (third, third_low) = two_sum(second, -(n * HALF_PI[2]));
    let (r, low) = two_sum(third, (second_low + third_low) - n * HALF_PI[3]);
    // Beyond 1e6 rounding may leave a little more than pi/4, for which the polynomials are not made.
    const MOST: f64 = 1.5 * FRAC_PI_4;
    let r = if r > MOST { MOST } else { r };
    let r = if r < -MOST { -MOST } else { r };
    Reduced { sin: sin_reduced(r, low), cos: cos_reduced(r, low), quadrant: shifted.to_bits() }
}

/// The sine of quadrant `quadrant`: sin r, cos r, -sin r or -cos r.
#[inline(always)]
fn pick(reduced: &Reduced, quadrant: u64) -> f64 {
    let y = if quadrant & 1 == 0 { reduced.sin } else { reduced.cos };
    f64::from_bits(y.to_bits() ^ ((quadrant & 2) << 62))
}

/// sin(r + low) on |r| <= pi/4, |low| below an ulp of r; the polynomial to 2^-57.3 of it, minimax (Remez).
#[inline(always)]
fn sin_reduced(r: f64, low: f64) -> f64 {
    let z = r * r;
    let z2 = z * z;
    let c1 = 0.008333333333322425 + -0.00019841269829816912 * z;
    let c3 = 2.7557313695212267e-6 + -2.505075865093269e-8 * z + 1.5896827787618194e-10 * z2;
    let tail = -0.16666666666666632 + z * (c1 + z2 * c3);
    // The slope of the sine, 1 - z/2, is enough for the low part.
    r + (r * z * tail + low * (1.0 - 0.5 * z))
}

/// cos(r + low) on |r| <= pi/4, |low| below an ulp of r; the polynomial to 2^-59.9, minimax (Remez).
#[inline(always)]
fn cos_reduced(r: f64, low: f64) -> f64 {
    let z = r * r;
    let z2 = z * z;
    let c0 = 0.0416666666666666 + -0.0013888888888874138 * z;
    let c2 = 2.480158728949181e-5 + -2.7557314355236436e-7 * z;
    let c4 = 2.0875723683636168e-9 + -1.1359669823446997e-11 * z;
    let half = 0.5 * z;
    let head = 1.0 - half;
    // What the head rounded off, and the slope -r for the low part.
    head + (((1.0 - head) - half) + (z2 * (c0 + z2 * (c2 + z2 * c4)) - r * low))
}

/// `y` where the functions are defined, NaN elsewhere.
#[inline(always)]
fn defined(x: f64, y: f64) -> f64 {
    canonical(if x.abs() <= LARGEST { y } else { f64::NAN })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::{FRAC_PI_2, PI};

    /// By how many steps from number to number two results differ.
    fn steps(a: f64, b: f64) -> u64 {
        let key = |x: f64| if x < 0.0 { -(x.abs().to_bits() as i64) } else { x.to_bits() as i64 };
        key(a).abs_diff(key(b))
    }

    /// The platform's functions are right to an ulp or better, so they and ours may differ by one step.
    fn check(x: f64) {
        assert!(steps(sin(x), x.sin()) <= 1, "sin {x:e}: {:e} {:e}", sin(x), x.sin());
        assert!(steps(cos(x), x.cos()) <= 1, "cos {x:e}: {:e} {:e}", cos(x), x.cos());
        let (sine, cosine) = sin_cos(x);
        assert_eq!((sine.to_bits(), cosine.to_bits()), (sin(x).to_bits(), cos(x).to_bits()), "{x:e}");
        assert_eq!((sin(-x).to_bits(), cos(-x).to_bits()), ((-sine).to_bits(), cosine.to_bits()), "{x:e}");
    }

    #[test]
    fn grids_agree_with_the_platform() {
        for k in 0..60_000 {
            let k = f64::from(k);
            check(k * 1.6e-4);
            check(k * 1.667_37);
            check(1e6 - k * 3.3);
            check((-k * 0.015).exp2());
        }
    }

    #[test]
    fn next_to_multiples_of_a_right_angle() {
        for k in 1..40_000 {
            let x = f64::from(k) * FRAC_PI_2;
            let eighth = f64::from(k) * FRAC_PI_4;
            for bits in [x.to_bits() - 1, x.to_bits(), x.to_bits() + 1, eighth.to_bits()] {
                check(f64::from_bits(bits));
            }
        }
    }

    #[test]
    fn literal_values() {
        // From arithmetic with 400 bits.
        assert_eq!(sin(1.0), 0.8414709848078965);
        assert_eq!(cos(1.0), 0.5403023058681398);
        assert_eq!(sin(PI), 1.2246467991473532e-16);
        assert_eq!(cos(FRAC_PI_2), 6.123233995736766e-17);
        assert_eq!((sin(0.5), cos(0.5)), (0.479425538604203, 0.8775825618903728));
    }

    #[test]
    fn special_values() {
        assert_eq!(sin(0.0).to_bits(), 0.0_f64.to_bits());
        assert_eq!(sin(-0.0).to_bits(), (-0.0_f64).to_bits());
        assert_eq!(cos(-0.0), 1.0);
        assert_eq!(sin(f64::MIN_POSITIVE / 8.0), f64::MIN_POSITIVE / 8.0);
        assert_eq!(cos(1e-300), 1.0);
        for x in [f64::NAN, -f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, f64::MIN, 2e15] {
            for y in [sin(x), cos(x), sin_cos(x).0, sin_cos(x).1] {
                assert_eq!(y.to_bits(), f64::NAN.to_bits(), "{x}");
            }
        }
    }

    #[test]
    fn monotone_between_their_extremes() {
        let n = 100_000;
        let at = |k: i32| f64::from(k) * (FRAC_PI_2 / f64::from(n));
        for k in -n + 1..=n {
            assert!(sin(at(k - 1)) <= sin(at(k)), "{k}");
            assert!(cos(at(k - 1) + FRAC_PI_2) >= cos(at(k) + FRAC_PI_2), "{k}");
        }
    }

    #[test]
    fn large_angles_are_as_if_off_by_their_last_place() {
        let mut x = 1e6;
        while x < LARGEST {
            let (sine, cosine) = sin_cos(x);
            let unit = f64::from_bits(x.to_bits() + 1) - x;
            let most = unit.max(1e-15);
            assert!((sine - x.sin()).abs() <= most && (cosine - x.cos()).abs() <= most, "{x}");
            assert!(sine.abs() <= 1.0 && cosine.abs() <= 1.0, "{x} {sine} {cosine}");
            x *= 1.000_37;
        }
    }
}
