//! Elementary functions with the same bits on every instruction set, scalar or vector.
//!
//! Only IEEE add, subtract, multiply, divide, compare and bit operations, in a fixed
//! order: no fused multiply-add, no libm, no tables, no branches. Each function
//! vectorises when called in a loop over lanes. Errors are in units in the last place
//! of the exact result; every NaN returned is `f64::NAN`.

use super::{Lanes, Real};
use std::f64::consts::{FRAC_1_SQRT_2, LOG2_E, SQRT_2};

mod trigonometric;

pub use trigonometric::{cos, sin, sin_cos};

/// Adding this rounds to an integer n and holds n + 2046 in the low mantissa bits:
/// the sum of two biased exponents whose powers of two multiply to 2^n.
const ROUND: f64 = 6755399441055744.0 + 2046.0; // 1.5 * 2^52 + 2046

/// ln 2 in two parts; a multiple of 2^-42 makes `n * LN_2_HIGH` exact below 2^11.
const LN_2_HIGH: f64 = f64::from_bits(0x3fe6_2e42_fefa_3800);
const LN_2_LOW: f64 = 5.497923018708371e-14;

/// ln sqrt(2 pi) in two parts.
const LN_SQRT_TAU: f64 = 0.9189385332046728;
const LN_SQRT_TAU_LOW: f64 = -3.8782941580672414e-17;

const TWO_POW_52: f64 = 4503599627370496.0;
const TWO_POW_54: f64 = 18014398509481984.0;
const MANTISSA_BITS: u32 = 52;
const MANTISSA_MASK: u64 = (1 << MANTISSA_BITS) - 1;
const TWO_POW_500: f64 = f64::from_bits((1023 + 500) << MANTISSA_BITS);
const TWO_POW_600: f64 = f64::from_bits((1023 + 600) << MANTISSA_BITS);
const TWO_POW_MINUS_500: f64 = f64::from_bits((1023 - 500) << MANTISSA_BITS);
const TWO_POW_MINUS_600: f64 = f64::from_bits((1023 - 600) << MANTISSA_BITS);

/// e^x; error < 1.1 ulp.
///
/// -inf gives 0, inf gives inf, 0 gives 1, NaN gives NaN.
#[inline(always)]
pub fn exp(x: f64) -> f64 {
    exp_of(Lanes([x])).0[0]
}

/// [`exp`] of a few numbers, one operation after the other on all of them. A learner spends much of its time here, so it
/// does without the low parts that the others need, and has a form that compiles to better code for a register of
/// numbers than a loop over [`exp`].
#[inline(always)]
pub(super) fn exp_of<const W: usize>(x: Lanes<W>) -> Lanes<W> {
    let c = Lanes::<W>::splat;
    let x = x.map(exp_range);
    let shifted = x * c(LOG2_E) + c(ROUND);
    let n = shifted - c(ROUND);
    let r = (x - n * c(LN_2_HIGH)) - n * c(LN_2_LOW);

    let y = c(1.0) + (r + exp_tail(r));
    let first = shifted.map(|shifted| powers_of_two(shifted)[0]);
    let second = shifted.map(|shifted| powers_of_two(shifted)[1]);
    (y * first * second).map(canonical)
}

/// ln x; error < 0.75 ulp.
///
/// 0 gives -inf, inf gives inf, 1 gives 0, negative and NaN give NaN.
#[inline(always)]
pub fn ln(x: f64) -> f64 {
    let subnormal = x < f64::MIN_POSITIVE;
    let normal = if subnormal { x * TWO_POW_54 } else { x };
    let (mantissa, exponent) = split_exponent(normal);
    let exponent = exponent - if subnormal { 54.0 } else { 0.0 };
    let (high, low) = ln_reduced(mantissa - 1.0, exponent);
    ln_special(high + low, x)
}

/// 1 / (1 + e^-x); error < 1.25 ulp.
///
/// -inf gives 0, inf gives 1, 0 gives 1/2, NaN gives NaN.
#[inline(always)]
pub fn sigmoid(x: f64) -> f64 {
    // e^-|x| never overflows; for negative x expand by e^x.
    let (e, e_low) = exp_pair(-x.abs());
    let numerator = if x < 0.0 { e } else { 1.0 };
    let numerator_low = if x < 0.0 { e_low } else { 0.0 };
    let denominator = 1.0 + e;
    let denominator_low = (e - (denominator - 1.0)) + e_low;
    let quotient = numerator / denominator;
    // 1 / (1 + e), without a second division.
    let complement = 1.0 - quotient;
    let reciprocal = if quotient > complement { quotient } else { complement };
    canonical(quotient + reciprocal * (numerator_low - quotient * denominator_low))
}

/// ln(1 + e^x); error < 0.85 ulp.
///
/// -inf gives 0, inf gives inf, NaN gives NaN.
#[inline(always)]
pub fn softplus(x: f64) -> f64 {
    // max(x, 0) + ln(1 + e^-|x|), the logarithm of a sum in [1, 2].
    let (e, e_low) = exp_pair(-x.abs());
    let sum = 1.0 + e;
    let sum_low = (e - (sum - 1.0)) + e_low;
    let halve = sum > SQRT_2;
    let fraction = if halve { 0.5 * sum - 1.0 } else { e };
    let fraction_low = if halve { 0.5 * sum_low } else { e_low };
    let exponent = if halve { 1.0 } else { 0.0 };
    let (high, low) = ln_reduced(fraction, exponent);
    let low = low + ln_slope(fraction) * fraction_low;

    let positive = if x > 0.0 { x } else { 0.0 };
    let (total, total_low) = two_sum(positive, high);
    let y = total + (total_low + low);
    // e^-40 is below half an ulp of 40.
    canonical(if x > 40.0 { x } else { y })
}

/// exp(-((x - mean) / sd)^2 / 2) / (sd sqrt(2 pi)); error < 1.66 ulp where normal.
///
/// Infinite x or mean gives 0, both equal NaN; NaN unless 0 < sd < inf; NaN gives NaN.
#[inline(always)]
pub fn normal_density(x: f64, mean: f64, standard_deviation: f64) -> f64 {
    // Powers of two bring extreme widths into the range where nothing over- or
    // underflows: before subtracting if wide, after if narrow.
    let wide = standard_deviation > TWO_POW_500;
    let narrow = standard_deviation < TWO_POW_MINUS_500;
    let shrink = if wide { TWO_POW_MINUS_600 } else { 1.0 };
    let grow = if narrow { TWO_POW_600 } else { 1.0 };
    let power = if narrow { 600.0 } else { 0.0 };
    let power = if wide { -600.0 } else { power };

    let width = standard_deviation * shrink * grow;
    let (difference, difference_low) = two_sum(x * shrink, -mean * shrink);
    let (z, z_low) = divide(difference * grow, difference_low * grow, width);

    let (square, square_low) = two_product(z, z);
    // The factor 1 / sqrt(2 pi) costs no rounding inside the exponent.
    let (exponent, exponent_low) = two_sum(-0.5 * square, -LN_SQRT_TAU);
    let low = exponent_low - 0.5 * square_low - z * z_low - LN_SQRT_TAU_LOW;
    let (sum, tail, shifted) = exp_reduced(exponent, low);

    // width > 2^-500, so 2^-1700 already gives 0.
    const LEAST: f64 = ROUND - 1700.0;
    let shifted = shifted + power;
    let shifted = if shifted < LEAST { LEAST } else { shifted };
    let density = scale_by_power_of_two((sum + tail) / width, shifted);
    // Beyond 55 the result is 0 even for the smallest width.
    let density = if z.abs() > 55.0 { 0.0 } else { density };
    canonical(if standard_deviation > 0.0 { density } else { f64::NAN })
}

/// Φ(x), the normal distribution function; relative error < 2e-13 where normal.
///
/// -inf gives 0, inf gives 1, 0 gives 1/2, NaN gives NaN.
#[inline(always)]
pub fn normal_cdf(x: f64) -> f64 {
    normal_cdf_of(Lanes([x])).0[0]
}

/// [`normal_cdf`] of a few numbers: Φ(-|x|) = e^(-x²/2) t P(y), t = 1 / (|x| + 5), y = 1 - 10 t in [-1, 1).
#[inline(always)]
pub(super) fn normal_cdf_of<const W: usize>(x: Lanes<W>) -> Lanes<W> {
    let c = Lanes::<W>::splat;
    let t = c(1.0) / (x.abs() + c(5.0));
    let y = c(1.0) - c(10.0) * t;
    let y2 = y * y;
    let mut p = c(0.0);
    for [even, odd] in CDF.iter().rev() {
        p = p * y2 + (c(*even) + c(*odd) * y);
    }
    let tail = (c(-0.5) * x * x).exp() * t * p;
    x.if_less(c(0.0), tail, c(1.0) - tail).map(canonical)
}

/// The coefficients of y^0, y^1; y^2, y^3; ... in P: a Chebyshev series, cut where it is right to 2.2e-14.
const CDF: [[f64; 2]; 10] = [
    [0.7691930497500531, -0.6653825028900677],
    [0.4953056159719614, -0.3135331566704741],
    [0.16502036610419207, -0.06911863872479145],
    [0.020795067658225065, -0.0029933765799683002],
    [-0.0007978750700247005, 0.000544897969266198],
    [-5.935410154013549e-5, -4.975895122529546e-5],
    [1.6630675440997368e-5, 3.972127975384589e-6],
    [-2.695464785326239e-6, -3.2357714941983063e-7],
    [3.6705853867713883e-7, 2.986825140321094e-8],
    [-3.238135389011313e-8, -2.3711007497844674e-9],
];

/// Processors differ in the sign and payload of the NaN they make.
#[inline(always)]
fn canonical(y: f64) -> f64 {
    if y.is_nan() { f64::NAN } else { y }
}

/// x, but within the range beyond which e^x is inf or 0. NaN passes.
#[inline(always)]
fn exp_range(x: f64) -> f64 {
    let x = if x > 710.0 { 710.0 } else { x };
    if x < -746.0 { -746.0 } else { x }
}

/// e^x as rounded value and the part rounded off.
#[inline(always)]
fn exp_pair(x: f64) -> (f64, f64) {
    let (sum, tail, shifted) = exp_reduced(exp_range(x), 0.0);
    let y = sum + tail;
    let low = (sum - y) + tail;
    (scale_by_power_of_two(y, shifted), scale_by_power_of_two(low, shifted))
}

/// (sum, tail, ROUND + n) with (sum + tail) 2^n = e^(x + low), |low| below an ulp of x.
///
/// sum + tail is in [0.7, 1.42] and tail below 0.1.
#[inline(always)]
fn exp_reduced(x: f64, low: f64) -> (f64, f64, f64) {
    let shifted = x * LOG2_E + ROUND;
    let n = shifted - ROUND;
    let reduced = x - n * LN_2_HIGH; // exact
    let correction = n * LN_2_LOW - low;
    let r = reduced - correction;
    let r_low = (reduced - r) - correction;
    // 1 + r exactly as `sum + sum_low`, so that only the last addition rounds visibly.
    let sum = 1.0 + r;
    let sum_low = (1.0 - sum) + r;
    let tail = exp_tail(Lanes([r])).0[0] + (sum_low + r_low * sum);
    (sum, tail, shifted)
}

/// The coefficients of r^2, r^3; r^4, r^5; ... in e^r.
const EXP_TAIL: [[f64; 2]; 5] = [
    [0.5, 0.16666666666666433],
    [0.041666666666603944, 0.008333333333500049],
    [0.0013888888926801486, 0.00019841269466206005],
    [2.4801508675250944e-5, 2.755764086436184e-6],
    [2.7625190035242925e-7, 2.4978385299009622e-8],
];

/// Two neighbouring terms. (`array::map` is not always inlined, and this must be.)
#[inline(always)]
fn pair<const W: usize>(k: usize, r: Lanes<W>) -> Lanes<W> {
    Lanes::splat(EXP_TAIL[k][0]) + Lanes::splat(EXP_TAIL[k][1]) * r
}

/// e^r - 1 - r on |r| <= ln(2) / 2, to 2^-57.2 of e^r.
///
/// Minimax (Lawson-reweighted least squares), the coefficient of r^2 fixed at 1/2; in
/// Estrin's order, as the chain of dependent operations sets the speed.
#[inline(always)]
fn exp_tail<const W: usize>(r: Lanes<W>) -> Lanes<W> {
    let r2 = r * r;
    let r4 = r2 * r2;
    let (c2, c4, c6) = (pair(0, r), pair(1, r), pair(2, r));
    let (c8, c10) = (pair(3, r), pair(4, r));
    r2 * (c2 + c4 * r2) + (r2 * r4) * ((c6 + c8 * r2) + c10 * r4)
}

/// y 2^n from ROUND + n, n in [-2044, 2048]; two steps, since 2^n may not exist.
#[inline(always)]
fn scale_by_power_of_two(y: f64, shifted: f64) -> f64 {
    let [first, second] = powers_of_two(shifted);
    y * first * second
}

/// Two powers of two whose product is 2^n, from ROUND + n.
#[inline(always)]
fn powers_of_two(shifted: f64) -> [f64; 2] {
    let biased = shifted.to_bits() & 0xfff;
    let half = biased >> 1;
    [f64::from_bits(half << MANTISSA_BITS), f64::from_bits((biased - half) << MANTISSA_BITS)]
}

/// (m, k) with x = m 2^k, m in [sqrt(1/2), sqrt(2)), for positive normal x.
#[inline(always)]
fn split_exponent(x: f64) -> (f64, f64) {
    // 1024 keeps the exponent nonnegative, for the logical shift.
    const LOWEST: u64 = FRAC_1_SQRT_2.to_bits();
    let offset = x.to_bits().wrapping_sub(LOWEST).wrapping_add(1024 << MANTISSA_BITS);
    let mantissa = f64::from_bits((offset & MANTISSA_MASK) + LOWEST);
    let exponent = f64::from_bits((offset >> MANTISSA_BITS) | TWO_POW_52.to_bits());
    (mantissa, exponent - (TWO_POW_52 + 1024.0))
}

/// ln((1 + f) 2^k) as an unrounded sum, for integer k and 1 + f in [sqrt(1/2), sqrt(2)].
///
/// With s = f / (2 + f): ln(1 + f) = 2 artanh s = f - f^2/2 + s (f^2/2 + R(s^2)), where
/// f - f^2/2 is kept exact and the rest is small.
#[inline(always)]
fn ln_reduced(f: f64, k: f64) -> (f64, f64) {
    let s = f / (2.0 + f);
    let (top, bottom) = split(f);
    let half_square = 0.5 * top * top; // exact
    let half_square_low = 0.5 * bottom * (f + top);
    let rest = s * ((half_square + half_square_low) + artanh_polynomial(s * s));

    let head = f - half_square;
    let head_low = (f - head) - half_square;
    let low = head_low + (rest - half_square_low);
    // |k ln 2| > |head| unless k = 0: the short exact sum applies.
    let shift = k * LN_2_HIGH; // exact
    let high = shift + head;
    let high_low = (shift - high) + head;
    (high, high_low + (low + k * LN_2_LOW))
}

/// 2 artanh(s) / s - 2 with w = s^2 on |s| <= 3 - sqrt(8), to 2^-57.8; minimax (Remez).
#[inline(always)]
fn artanh_polynomial(w: f64) -> f64 {
    let w2 = w * w;
    let c0 = 0.6666666666666734 + 0.39999999999414304 * w;
    let c2 = 0.2857142874247853 + 0.22222198563157539 * w;
    let c4 = 0.1818356488200815 + 0.15314035475729576 * w + 0.14796108781330972 * w2;
    w * (c0 + w2 * (c2 + w2 * c4))
}

/// 1 / (1 + f) to 5 %, enough for a correction of half an ulp.
#[inline(always)]
fn ln_slope(f: f64) -> f64 {
    1.0 - f + f * f
}

/// `y` = ln x, but right for x = inf, 0, negative and NaN.
#[inline(always)]
fn ln_special(y: f64, x: f64) -> f64 {
    let y = if x < f64::INFINITY { y } else { x };
    let other = if x == 0.0 { f64::NEG_INFINITY } else { f64::NAN };
    if x > 0.0 { y } else { other }
}

/// a + b as rounded sum and exact error (Knuth).
#[inline(always)]
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let b_part = sum - a;
    (sum, (a - (sum - b_part)) + (b - b_part))
}

/// The leading 26 bits and the rest; by mask, as Veltkamp's product could overflow.
#[inline(always)]
fn split(a: f64) -> (f64, f64) {
    let top = f64::from_bits(a.to_bits() & !((1 << 27) - 1));
    (top, a - top)
}

/// a * b as rounded product and its error to 2^-106 (Dekker).
#[inline(always)]
fn two_product(a: f64, b: f64) -> (f64, f64) {
    let product = a * b;
    let (a_top, a_bottom) = split(a);
    let (b_top, b_bottom) = split(b);
    let crossed = ((a_top * b_top - product) + a_top * b_bottom) + a_bottom * b_top;
    (product, crossed + a_bottom * b_bottom)
}

/// (a + a_low) / b as quotient and correction.
#[inline(always)]
fn divide(a: f64, a_low: f64, b: f64) -> (f64, f64) {
    let reciprocal = 1.0 / b;
    let quotient = a * reciprocal;
    let (product, product_low) = two_product(quotient, b);
    (quotient, ((a - product) - product_low + a_low) * reciprocal)
}

#[cfg(test)]
mod tests;
