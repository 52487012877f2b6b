//! Errors against a high-precision reference, special values, and bits in lanes.

use super::*;
use crate::instruction_set::Isa;
use crate::real::{Lanes, Real};
use astro_float::{BigFloat, Consts, RoundingMode};

const PRECISION: usize = 192;
const NEAREST: RoundingMode = RoundingMode::ToEven;

// The operations of full precision are avoided: they misread zero operands.

/// Scaled by a power of two, as `BigFloat::from_f64` misreads subnormal numbers.
fn number(x: f64) -> BigFloat {
    let power = if x.abs() < 1.0 { 100 } else { 0 };
    let scale = BigFloat::from_f64(2f64.powi(-power), PRECISION);
    BigFloat::from_f64(x * 2f64.powi(power), PRECISION).mul(&scale, PRECISION, NEAREST)
}

/// High-precision arithmetic for the references.
struct Exact {
    constants: Consts,
}

impl Exact {
    fn new() -> Self {
        let constants = Consts::new().expect("constant cache");
        Self { constants }
    }

    fn add(&self, a: &BigFloat, b: &BigFloat) -> BigFloat {
        a.add(b, PRECISION, NEAREST)
    }

    fn multiply(&self, a: &BigFloat, b: &BigFloat) -> BigFloat {
        a.mul(b, PRECISION, NEAREST)
    }

    fn divide(&self, a: &BigFloat, b: &BigFloat) -> BigFloat {
        a.div(b, PRECISION, NEAREST)
    }

    fn exp(&mut self, x: &BigFloat) -> BigFloat {
        x.exp(PRECISION, NEAREST, &mut self.constants)
    }

    fn ln(&mut self, x: &BigFloat) -> BigFloat {
        x.ln(PRECISION, NEAREST, &mut self.constants)
    }

    fn ln_1p(&mut self, x: &BigFloat) -> BigFloat {
        if x.is_zero() || x.exponent().expect("finite") > -60 {
            return self.ln(&self.add(x, &number(1.0)));
        }
        // 1 + x would not fit; x - x^2/2 + x^3/3 is exact to 2^-180.
        let third = self.divide(x, &number(3.0));
        let bracket = self.add(&third, &number(-0.5));
        let factor = self.add(&self.multiply(&bracket, x), &number(1.0));
        self.multiply(x, &factor)
    }

    fn sigmoid(&mut self, x: &BigFloat) -> BigFloat {
        let e = self.exp(&x.neg());
        let one = number(1.0);
        self.divide(&one, &self.add(&one, &e))
    }

    fn softplus(&mut self, x: &BigFloat) -> BigFloat {
        let e = self.exp(x);
        self.ln_1p(&e)
    }

    fn normal_density(&mut self, x: f64, mean: f64, deviation: f64) -> BigFloat {
        let deviation = number(deviation);
        let difference = self.add(&number(x), &number(-mean));
        let z = self.divide(&difference, &deviation);
        let square = self.multiply(&z, &z);
        let e = self.exp(&self.multiply(&square, &number(-0.5)));
        let pi = self.constants.pi(PRECISION, NEAREST);
        let tau = self.multiply(&pi, &number(2.0));
        let norm = self.multiply(&tau.sqrt(PRECISION, NEAREST), &deviation);
        self.divide(&e, &norm)
    }
}

/// Distance of `y` from `exact` in units in the last place of `exact`.
fn ulps(y: f64, exact: &BigFloat) -> f64 {
    // 2^1024 stands for inf, which is right from there on.
    let infinite = y.is_infinite();
    let near = if infinite {
        number(y.signum() * 2f64.powi(1023)).mul(&number(2.0), PRECISION, NEAREST)
    } else {
        number(y)
    };
    let magnitude = if exact.is_zero() { -1073 } else { exact.exponent().expect("finite") };
    if infinite && magnitude > 1024 && exact.is_positive() == (y > 0.0) {
        return 0.0;
    }
    let unit = (magnitude - 1).max(-1022) - 52;
    let error = near.sub(exact, PRECISION, NEAREST);
    match error.as_raw_parts() {
        Some((words, _, _, exponent, _)) if !error.is_zero() => {
            let leading = *words.last().expect("mantissa") as f64 / 2f64.powi(64);
            leading * 2f64.powi(exponent - unit)
        }
        Some(_) => 0.0,
        None => f64::INFINITY,
    }
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * ((self.bits() >> 11) as f64 / 2f64.powi(53))
    }

    /// Of random sign and an exponent between the two.
    fn magnitude(&mut self, low: f64, high: f64) -> f64 {
        let sign = if self.bits() & 1 == 0 { 1.0 } else { -1.0 };
        sign * self.between(low, high).exp2()
    }
}

const RANDOM_POINTS: usize = if cfg!(debug_assertions) { 100 } else { 1000 };

/// The numbers around `x`, down and up three steps.
fn neighbours(x: f64) -> impl Iterator<Item = f64> {
    (0..7_u64).map(move |step| f64::from_bits(x.to_bits() + step - 3))
}

fn exponential_inputs() -> Vec<f64> {
    let mut random = Random(1);
    let mut inputs = vec![0.0, -0.0, f64::MIN_POSITIVE, 5e-324, -5e-324];
    for centre in [
        1.0, 40.0, 36.7, 37.4, 708.3964, 709.7827, 709.09, 744.4400, 745.1332, 745.14, 1e-17, 1.1e-16,
        2.2e-16,
    ] {
        inputs.extend(neighbours(centre).flat_map(|x| [x, -x]));
    }
    for n in [-1075, -1022, -1021, -54, -53, -2, -1, 0, 1, 2, 52, 1022, 1023] {
        // Where the reduction turns over, and where it cancels.
        let n = f64::from(n);
        inputs.extend(neighbours((n + 0.5) * std::f64::consts::LN_2));
        inputs.extend(neighbours((n + 0.01) * std::f64::consts::LN_2));
    }
    for k in 1..60 {
        // Where a sum 1 + e^-x and its parts change binade.
        inputs.extend(neighbours(f64::from(k) * std::f64::consts::LN_2).flat_map(|x| [x, -x]));
    }
    for _ in 0..RANDOM_POINTS {
        inputs.push(random.between(-1.0, 1.0));
        inputs.push(random.between(-40.0, 40.0));
        inputs.push(random.between(-750.0, 710.0));
        inputs.push(random.magnitude(-1060.0, 9.4));
    }
    inputs
}

fn logarithm_inputs() -> Vec<f64> {
    let mut random = Random(2);
    let mut inputs = vec![5e-324, 1e-323, 3e-310, f64::MAX];
    for power in [-1022, -1021, -54, -2, -1, 0, 1, 2, 53, 1022, 1023] {
        for mantissa in [1.0, SQRT_2, 1.9999999] {
            inputs.extend(neighbours(mantissa * 2f64.powi(power)));
        }
    }
    for _ in 0..RANDOM_POINTS {
        inputs.push(random.between(0.5, 2.0));
        inputs.push(1.0 + random.magnitude(-52.0, -2.0));
        inputs.push(f64::from_bits(random.bits() % f64::INFINITY.to_bits()));
        inputs.push(f64::from_bits(random.bits() >> 13));
    }
    inputs
}

/// The largest error over the inputs.
fn largest_error(
    inputs: &[f64],
    function: impl Fn(f64) -> f64,
    mut reference: impl FnMut(&mut Exact, &BigFloat) -> BigFloat,
) -> f64 {
    let mut exact = Exact::new();
    let mut largest = 0.0_f64;
    for &x in inputs {
        let expected = reference(&mut exact, &number(x));
        let error = ulps(function(x), &expected);
        assert!(error < 2.0, "{error} ulp at {x:e}");
        largest = largest.max(error);
    }
    largest
}

#[test]
fn exp_is_accurate() {
    let (normal, subnormal): (Vec<_>, Vec<_>) = exponential_inputs().into_iter().partition(|&x| x > -708.3);
    let error = largest_error(&normal, exp, |e, x| e.exp(x));
    assert!(error < 1.1, "{error}");
    let error = largest_error(&subnormal, exp, |e, x| e.exp(x));
    assert!(error < 1.1, "{error}");
}

#[test]
fn ln_is_accurate() {
    let error = largest_error(&logarithm_inputs(), ln, |e, x| e.ln(x));
    assert!(error < 0.75, "{error}");
}

#[test]
fn sigmoid_is_accurate() {
    let error = largest_error(&exponential_inputs(), sigmoid, |e, x| e.sigmoid(x));
    assert!(error < 1.25, "{error}");
}

#[test]
fn softplus_is_accurate() {
    let error = largest_error(&exponential_inputs(), softplus, |e, x| e.softplus(x));
    assert!(error < 0.85, "{error}");
}

/// (x, mean, standard deviation) over all magnitudes.
fn density_inputs() -> Vec<[f64; 3]> {
    let mut random = Random(4);
    let mut inputs = vec![
        [f64::MAX, -f64::MAX, f64::MAX],
        [f64::MAX, f64::MAX, 1.0],
        [5e-324, 0.0, 5e-324],
        [54.0 * 5e-324, 0.0, 5e-324],
        [1e-322, 5e-324, 2e-323],
        [1.0, 1.0, 3e-308],
        [1e300, 1e300, 1e-300],
        [37.0, 0.0, 1.0],
        [41.0e-300, 0.0, 1e-300],
    ];
    for _ in 0..RANDOM_POINTS {
        for (low, high, reach) in [
            (-3.0, 3.0, 5.0),
            (-3.0, 3.0, 39.0),
            (-505.0, -495.0, 40.0),
            (495.0, 505.0, 30.0),
            (-1070.0, -1000.0, 54.0),
            (1000.0, 1020.0, 3.0),
        ] {
            let deviation = random.magnitude(low, high).abs();
            let mean = deviation * random.between(-100.0, 100.0).clamp(-8.0, 8.0);
            let x = mean + deviation * random.between(-reach, reach);
            inputs.push([x, mean, deviation]);
        }
        let mean = random.between(-1e6, 1e6);
        inputs.push([mean + random.between(-3.0, 3.0), mean, 0.7]);
    }
    inputs
}

#[test]
fn normal_density_is_accurate() {
    let mut exact = Exact::new();
    for [x, mean, deviation] in density_inputs() {
        let expected = exact.normal_density(x, mean, deviation);
        let error = ulps(normal_density(x, mean, deviation), &expected);
        assert!(error < 1.66, "{error} ulp at {x:e} {mean:e} {deviation:e}");
    }
}

#[test]
fn normal_cdf_is_accurate() {
    // By mpmath.
    for (x, expected) in [
        (-37.5, 4.605353009581955e-308),
        (-30.0, 4.906713927148187e-198),
        (-20.0, 2.7536241186062337e-89),
        (-10.0, 7.619853024160525e-24),
        (-5.5, 1.8989562465887718e-8),
        (-3.0, 0.0013498980316300946),
        (-1.96, 0.024997895148220435),
        (-1.0, 0.15865525393145705),
        (-0.5, 0.3085375387259869),
        (-0.001, 0.49960105778608893),
        (0.25, 0.5987063256829237),
        (1.0, 0.8413447460685429),
        (2.5, 0.9937903346742238),
        (4.0, 0.9999683287581669),
        (8.0, 0.9999999999999993),
    ] {
        let error = normal_cdf(x) / expected - 1.0;
        assert!(error.abs() < 2e-13, "{error:e} at {x}");
    }
}

#[test]
fn reference_agrees_with_known_digits() {
    let mut exact = Exact::new();
    let one = number(1.0);
    assert!(ulps(std::f64::consts::E, &exact.exp(&one)) < 0.5);
    assert!(ulps(std::f64::consts::LN_2, &exact.ln_1p(&one)) < 0.5);
    assert!(ulps(0.3989422804014327, &exact.normal_density(0.0, 0.0, 1.0)) <= 0.5);
    assert_eq!(ulps(1.0 + f64::EPSILON, &one), 1.0);
    assert_eq!(ulps(0.0, &number(1.5e-323)), 3.0);
    assert_eq!(ulps(1e-323, &number(0.0)), 2.0);
    assert_eq!(ulps(0.0, &one), 2f64.powi(52));
    assert_eq!(ulps(-1.0, &one), 2f64.powi(53));
    assert_eq!(ulps(f64::INFINITY, &number(f64::MAX)), 1.0);
    assert_eq!(ulps(f64::INFINITY, &number(f64::MIN)), 2f64.powi(54) - 1.0);
    assert_eq!(ulps(f64::NAN, &one), f64::INFINITY);
}

#[track_caller]
fn same(a: f64, b: f64) {
    assert_eq!(a.to_bits(), b.to_bits(), "{a:e} is not {b:e}");
}

#[test]
fn special_values_of_exp() {
    same(exp(0.0), 1.0);
    same(exp(-0.0), 1.0);
    same(exp(f64::INFINITY), f64::INFINITY);
    same(exp(f64::MAX), f64::INFINITY);
    same(exp(709.782712893384), 1.7976931348622732e308);
    same(exp(709.7827128933841), f64::INFINITY);
    same(exp(-745.1), 5e-324);
    same(exp(-745.2), 0.0);
    same(exp(f64::NEG_INFINITY), 0.0);
    same(exp(f64::NAN), f64::NAN);
    same(exp(-f64::NAN), f64::NAN);
}

#[test]
fn special_values_of_ln() {
    same(ln(1.0), 0.0);
    same(ln(0.0), f64::NEG_INFINITY);
    same(ln(-0.0), f64::NEG_INFINITY);
    same(ln(f64::INFINITY), f64::INFINITY);
    same(ln(5e-324), -744.4400719213812);
    for x in [-5e-324, -1.0, f64::NEG_INFINITY, f64::NAN, -f64::NAN] {
        same(ln(x), f64::NAN);
    }
}

#[test]
fn special_values_of_sigmoid_and_softplus() {
    same(sigmoid(0.0), 0.5);
    same(sigmoid(-0.0), 0.5);
    same(sigmoid(40.0), 1.0);
    same(sigmoid(f64::INFINITY), 1.0);
    same(sigmoid(-745.1), 5e-324);
    same(sigmoid(-746.0), 0.0);
    same(sigmoid(f64::NEG_INFINITY), 0.0);
    same(sigmoid(-f64::NAN), f64::NAN);
    same(softplus(0.0), std::f64::consts::LN_2);
    same(softplus(f64::INFINITY), f64::INFINITY);
    same(softplus(f64::MAX), f64::MAX);
    same(softplus(-745.1), 5e-324);
    same(softplus(-1e300), 0.0);
    same(softplus(f64::NEG_INFINITY), 0.0);
    same(softplus(-f64::NAN), f64::NAN);
}

#[test]
fn special_values_of_normal_cdf() {
    assert!((normal_cdf(0.0) - 0.5).abs() < 1e-14);
    for (x, expected) in [(40.0, 1.0), (f64::MAX, 1.0), (f64::INFINITY, 1.0), (f64::NAN, f64::NAN)] {
        same(normal_cdf(x), expected);
        same(normal_cdf(-x), 1.0 - expected);
    }
}

#[test]
fn special_values_of_normal_density() {
    let infinity = f64::INFINITY;
    same(normal_density(0.0, 0.0, 1.0), 0.3989422804014327);
    for x in [infinity, -infinity, f64::MAX, -f64::MAX, 1e200, 60.0] {
        same(normal_density(x, 0.0, 1.0), 0.0);
        same(normal_density(x, 1.0, 1e-310), 0.0);
    }
    same(normal_density(infinity, 0.0, 1e300), 0.0);
    same(normal_density(f64::MAX, -f64::MAX, 1.0), 0.0);
    same(normal_density(1.0, infinity, 1.0), 0.0);
    same(normal_density(1e-310, 1e-310, 1e-310), infinity);
    for [x, mean, deviation] in [
        [f64::NAN, 0.0, 1.0],
        [0.0, -f64::NAN, 1.0],
        [0.0, 0.0, f64::NAN],
        [infinity, infinity, 1.0],
        [0.0, 0.0, 0.0],
        [1.0, 0.0, 0.0],
        [1.0, 0.0, -1.0],
        [1.0, 0.0, infinity],
    ] {
        same(normal_density(x, mean, deviation), f64::NAN);
    }
}

fn lanes_give_the_bits_of_f64<const N: usize>(inputs: &[[f64; 3]]) {
    for block in inputs.as_chunks::<N>().0 {
        let lanes: [Lanes<N>; 3] = std::array::from_fn(|k| Lanes(std::array::from_fn(|lane| block[lane][k])));
        for isa in [Isa::Plain, Isa::best()] {
            let [x, y, z] = lanes;
            let results = isa.run(
                #[inline(always)]
                || [x.exp(), x.ln(), x.sigmoid(), x.softplus(), x.normal_cdf(), x.normal_density(y, z)],
            );
            for (lane, &[x, y, z]) in block.iter().enumerate() {
                let alone = [exp(x), ln(x), sigmoid(x), softplus(x), normal_cdf(x), normal_density(x, y, z)];
                for (result, alone) in results.iter().zip(alone) {
                    same(result.0[lane], std::hint::black_box(alone));
                }
            }
        }
    }
}

#[test]
fn bits_do_not_depend_on_lanes_or_instruction_set() {
    let mut random = Random(5);
    let mut inputs = density_inputs();
    inputs.extend(exponential_inputs().into_iter().chain(logarithm_inputs()).map(|x| [x, 0.0, 1.0]));
    inputs.extend([f64::INFINITY, f64::NEG_INFINITY, f64::NAN, -f64::NAN, -1.0].map(|x| [x, 1.0, 2.0]));
    inputs.extend((0..20_000).map(|_| std::array::from_fn(|_| f64::from_bits(random.bits()))));
    lanes_give_the_bits_of_f64::<1>(&inputs);
    lanes_give_the_bits_of_f64::<4>(&inputs);
    lanes_give_the_bits_of_f64::<8>(&inputs);
    lanes_give_the_bits_of_f64::<16>(&inputs);
}
