//! Expectations of the sigmoid under a Gaussian.

use crate::instruction_set::Isa;
use crate::policy::Normal;
use crate::real::{Real, elementary};

/// The expectation of the logistic sigmoid under Gaussians, to 2·10⁻¹², and its derivatives, to 2·10⁻¹¹.
///
/// Under a narrow Gaussian the sigmoid is nearly a polynomial, so Gauss–Hermite quadrature is used; under a wide one a fixed
/// lattice of points. Each lane uses the rule for its own deviation, so its result does not depend on its neighbours.
#[derive(Clone, Debug, PartialEq)]
pub struct SigmoidQuadrature {
    narrow: GaussHermite,
    wide: Lattice,
}

/// The deviation above which a Gaussian is wide.
const WIDE: f64 = 0.75;

impl Default for SigmoidQuadrature {
    fn default() -> Self {
        Self { narrow: GaussHermite::new(20), wide: Lattice::default() }
    }
}

impl SigmoidQuadrature {
    /// E[σ(a)].
    ///
    /// It chooses the instruction set itself and is not inlined: inlined in every learner that needs it, so much code would
    /// take minutes to compile.
    #[inline(never)]
    pub fn sigmoid<R: Real>(&self, at: &Normal<R>) -> R {
        Isa::best().run(
            #[inline(always)]
            || self.inlined(at),
        )
    }

    /// E[σ(a)], to be compiled for an instruction set.
    #[inline(always)]
    fn inlined<R: Real>(&self, at: &Normal<R>) -> R {
        let (mean, deviation) = (at.mean.abs(), at.standard_deviation);
        // One where a lane's Gaussian is wide; zero where it is not, or is no Gaussian.
        let is_wide = R::splat(WIDE).if_less(deviation, R::one(), R::zero());
        let mut tail = R::zero();
        if !(R::one() - is_wide).all_zero() {
            tail = self.narrow.tail(mean, deviation);
        }
        if !is_wide.all_zero() {
            tail = R::splat(WIDE).if_less(deviation, self.wide.tail(mean, deviation), tail);
        }
        at.mean.if_less(R::zero(), tail, R::one() - tail)
    }

    /// The derivatives of E[σ(a)] by the mean and by the standard deviation: E[σ′(a)] and E[σ′(a) z], a = mean + sd z.
    pub fn slopes<R: Real>(&self, at: &Normal<R>) -> [R; 2] {
        let (mean, deviation) = (at.mean.abs(), at.standard_deviation);
        let narrow = self.narrow.slopes(mean, deviation);
        let wide = self.wide.slopes(mean, deviation);
        let choose = |k: usize| R::splat(WIDE).if_less(deviation, wide[k], narrow[k]);
        let [by_mean, by_deviation] = [choose(0), choose(1)];
        [by_mean, at.mean.if_less(R::zero(), -by_deviation, by_deviation)]
    }
}

/// Nodes and weights for the standard normal distribution: the positive half of them.
#[derive(Clone, Debug, PartialEq)]
struct GaussHermite {
    nodes: Vec<f64>,
    weights: Vec<f64>,
}

impl GaussHermite {
    /// The rule with `order` nodes (an even number).
    fn new(order: usize) -> Self {
        let n = order as f64;
        let (mut nodes, mut weights) = (Vec::new(), Vec::new());
        // Roots of the Hermite function from the middle outwards, each found from a guess by the local spacing.
        let spacing = |x: f64| std::f64::consts::PI / (2.0 * n + 1.0 - x * x).sqrt();
        let mut guess = spacing(0.0) / 2.0;
        while nodes.len() < order / 2 {
            let mut x = guess;
            for _ in 0..20 {
                let (here, before) = hermite_functions(order, x);
                let newton = here / ((2.0 * n).sqrt() * before - x * here);
                x -= newton;
                if newton.abs() < 1e-15 * (1.0 + x) {
                    break;
                }
            }
            let before = hermite_functions(order, x).1;
            nodes.push(x * std::f64::consts::SQRT_2);
            weights.push(elementary::exp(-x * x) / (n * before * before));
            guess = x + spacing(x);
        }
        let total = 2.0 * weights.iter().sum::<f64>();
        weights.iter_mut().for_each(|w| *w /= total);
        Self { nodes, weights }
    }

    /// E[σ(−a)], for a mean that is not negative.
    #[inline(always)]
    fn tail<R: Real>(&self, mean: R, deviation: R) -> R {
        let e = (-mean).exp();
        let mut sum = R::zero();
        for (&z, &weight) in self.nodes.iter().zip(&self.weights) {
            // Two nodes for one exponential and one division: σ(x − mean) + σ(−x − mean) with p = eˣ.
            let p = (deviation * R::splat(z)).exp();
            let ep = e * p;
            sum += R::splat(weight) * (R::one() + p * p + (ep + ep)) / ((p + e) * (R::one() + ep));
        }
        e * sum
    }

    /// E[σ′(a)] and E[σ′(a) z].
    fn slopes<R: Real>(&self, mean: R, deviation: R) -> [R; 2] {
        let slope = |a: R| a.sigmoid() * (-a).sigmoid();
        let mut sums = [R::zero(); 2];
        for (&z, &weight) in self.nodes.iter().zip(&self.weights) {
            let x = deviation * R::splat(z);
            let (right, left) = (slope(mean + x), slope(mean - x));
            sums[0] += R::splat(weight) * (right + left);
            sums[1] += R::splat(weight * z) * (right - left);
        }
        sums
    }
}

/// ψ_n(x) and ψ_{n−1}(x), the orthonormal Hermite functions.
fn hermite_functions(n: usize, x: f64) -> (f64, f64) {
    let mut before = 0.0;
    let mut here = elementary::exp(-0.5 * x * x) * std::f64::consts::PI.sqrt().sqrt().recip();
    for k in 0..n {
        let k = k as f64;
        (before, here) = (here, x * (2.0 / (k + 1.0)).sqrt() * here - (k / (k + 1.0)).sqrt() * before);
    }
    (here, before)
}

/// The trapezoidal rule on the points kH, centred on the sigmoid, with the Gaussian's density as the weight.
///
/// σ itself does not decay, but σ(x) − Φ(x/τ) does, and E[Φ(a/τ)] = Φ(mean/√(τ² + sd²)). The poles of σ at ±iπ cause an
/// error of e^(π²/(2 sd²) − 2π²/H), and the points left out one of e^(−KH).
#[derive(Clone, Debug, PartialEq)]
struct Lattice {
    /// H (σ(x) − Φ(x/τ)) at x = H, 2H, …, KH; it is odd.
    rest: Vec<f64>,
    /// H σ′(x) there; it is even.
    slope: Vec<f64>,
    /// k H σ′(x).
    moment: Vec<f64>,
}

const SPACING: f64 = 0.5;
const POINTS: u32 = 52;
/// Φ(x/τ) is near σ(x).
const TAU: f64 = 1.7;

impl Default for Lattice {
    fn default() -> Self {
        let at_points = |f: fn(f64) -> f64| -> Vec<f64> {
            (1..=POINTS).map(|k| SPACING * f(SPACING * f64::from(k))).collect()
        };
        Self {
            rest: at_points(|x| elementary::normal_cdf(-x / TAU) - elementary::sigmoid(-x)),
            slope: at_points(slope),
            moment: at_points(|x| x / SPACING * slope(x)),
        }
    }
}

fn slope(x: f64) -> f64 {
    elementary::sigmoid(x) * elementary::sigmoid(-x)
}

impl Lattice {
    /// E[σ(−a)], for a mean that is not negative.
    #[inline(always)]
    fn tail<R: Real>(&self, mean: R, deviation: R) -> R {
        let narrowing = R::splat(TAU) / deviation;
        let u = mean / deviation / (R::one() + narrowing * narrowing).sqrt();
        let [right, left] = Terms::new(mean, deviation).sums(&self.rest);
        R::zero().larger((-u).normal_cdf() - (right - left))
    }

    /// E[σ′(a)] and E[σ′(a) z], for a mean that is not negative.
    fn slopes<R: Real>(&self, mean: R, deviation: R) -> [R; 2] {
        let terms = Terms::new(mean, deviation);
        let [right, left] = terms.sums(&self.slope);
        let by_mean = R::splat(SPACING * slope(0.0)) * terms.middle + (right + left);
        let [right, left] = terms.sums(&self.moment);
        [by_mean, terms.h * (right - left) - terms.u * by_mean]
    }
}

/// 1/√(2π).
const FRAC_1_SQRT_TAU: f64 = 0.3989422804014327;

/// The density of a Gaussian on the lattice: at kH it is φ(kh − u)/sd, u = mean/sd, h = H/sd.
struct Terms<R> {
    u: R,
    h: R,
    /// At 0.
    middle: R,
}

impl<R: Real> Terms<R> {
    #[inline(always)]
    fn new(mean: R, deviation: R) -> Self {
        // Farther out the terms vanish, and the middle one would underflow.
        let farthest = R::splat(8.0) + R::splat(22.0) / deviation;
        let u = mean / deviation;
        let u = farthest.if_less(u, farthest, u);
        let middle = (R::splat(-0.5) * u * u).exp() * R::splat(FRAC_1_SQRT_TAU) / deviation;
        Self { u, h: R::splat(SPACING) / deviation, middle }
    }

    /// The sums over the points k > 0 and over their mirror images, each with the weights of the former.
    ///
    /// The ratio of neighbouring terms is geometric in k, so Horner's rule, from the farthest point inwards, needs no
    /// exponential for each, and nothing underflows.
    #[inline(always)]
    fn sums(&self, weights: &[f64]) -> [R; 2] {
        let Self { u, h, middle } = *self;
        let outermost = R::splat(weights.len() as f64 - 0.5);
        let mut ratio = (h * (u - outermost * h)).exp();
        let (growth, mirror) = ((h * h).exp(), (R::splat(-2.0) * h * u).exp());
        let (mut right, mut left) = (R::zero(), R::zero());
        for &weight in weights.iter().rev() {
            let weight = R::splat(weight);
            right = (weight + right) * ratio;
            left = (weight + left) * (ratio * mirror);
            ratio *= growth;
        }
        [middle * right, middle * left]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// E[f(mean + sd Z)] by the trapezoidal rule with so many points that only rounding is left.
    fn reference(mean: f64, deviation: f64, f: impl Fn(f64) -> f64) -> f64 {
        let h = (0.05 / deviation).min(0.05);
        let n = (12.0 / h) as i32;
        let term = |k: i32| {
            let z = f64::from(k) * h;
            (-0.5 * z * z).exp() * f(mean + deviation * z)
        };
        (-n..=n).map(term).sum::<f64>() * h / (2.0 * std::f64::consts::PI).sqrt()
    }

    fn sigmoid(x: f64) -> f64 {
        1.0 / (1.0 + (-x).exp())
    }

    #[test]
    fn a_rule_is_exact_for_polynomials() {
        // The moments of Z: 1, 1, 3, 15, 105.
        let GaussHermite { nodes, weights } = GaussHermite::new(20);
        for (power, expected) in [(0, 1.0), (2, 1.0), (4, 3.0), (6, 15.0), (8, 105.0)] {
            let moment: f64 = nodes.iter().zip(&weights).map(|(z, w)| 2.0 * w * z.powi(power)).sum();
            assert!((moment - expected).abs() < 1e-11, "{moment} is not {expected}");
        }
    }

    #[test]
    fn sigmoids_and_their_slopes_are_right_to_ten_digits() {
        let quadrature = SigmoidQuadrature::default();
        let at_border = [WIDE, WIDE + 1e-6];
        let others = [1e-8, 0.1, 0.5, 0.7, 0.8, 1.2, 2.2, 4.0, 8.0, 12.0, 20.0, 100.0];
        for deviation in others.into_iter().chain(at_border) {
            for u in [-5.0, -1.3, 0.0, 0.4, 3.0] {
                let mean = u * deviation.max(1.0);
                let at = Normal { mean, standard_deviation: deviation, slope: 0.0 };
                let close = |what: &str, got: f64, expected: f64| {
                    let miss = (got - expected).abs();
                    assert!(
                        miss < 2e-11,
                        "{what} at mean {mean}, deviation {deviation}: {got} is not {expected}"
                    );
                };
                close("E σ", quadrature.sigmoid(&at), reference(mean, deviation, sigmoid));
                let slope = |a: f64| sigmoid(a) * sigmoid(-a);
                let [by_mean, by_deviation] = quadrature.slopes(&at);
                close("E σ′", by_mean, reference(mean, deviation, slope));
                let with_z = |a: f64| slope(a) * (a - mean) / deviation;
                // Where the deviation is tiny, z is lost in a; to the first order it is E[z²] sd σ″.
                if deviation > 1e-3 {
                    close("E σ′z", by_deviation, reference(mean, deviation, with_z));
                } else {
                    close("E σ′z", by_deviation, deviation * slope(mean) * (1.0 - 2.0 * sigmoid(mean)));
                }
            }
        }
    }

    #[test]
    fn extremes_give_probabilities() {
        let quadrature = SigmoidQuadrature::default();
        for deviation in [0.0, 1e-300, WIDE, 0.76, 1.0, 30.0, 1e300, f64::MAX] {
            for mean in [0.0, 1e-300, 0.3, 25.0, 28.0, 30.0, 800.0, 1e200, f64::MAX] {
                let at = |mean| Normal { mean, standard_deviation: deviation, slope: 0.0 };
                let (up, down): (f64, f64) = (quadrature.sigmoid(&at(mean)), quadrature.sigmoid(&at(-mean)));
                assert!((0.0..0.5 + 1e-14).contains(&down), "{down} at -{mean}, {deviation}");
                assert!((0.0..=1.0).contains(&up) && (up + down - 1.0).abs() < 1e-14);
                let [by_mean, by_deviation]: [f64; 2] = quadrature.slopes(&at(mean));
                assert!((0.0..0.25 + 1e-14).contains(&by_mean) && by_deviation.is_finite());
            }
        }
    }

    #[test]
    fn the_instruction_set_changes_nothing() {
        let quadrature = SigmoidQuadrature::default();
        for (mean, standard_deviation) in [(0.3, 0.7), (-1.2, 0.74), (2.5, 0.76), (-40.0, 3.0), (7.0, 50.0)] {
            let at = Normal { mean, standard_deviation, slope: 0.0 };
            let run = |isa: Isa| {
                isa.run(
                    #[inline(always)]
                    || quadrature.inlined(&at),
                )
                .to_bits()
            };
            assert_eq!(run(Isa::Plain), run(Isa::best()));
        }
    }

    #[test]
    fn neighbours_in_other_lanes_change_nothing() {
        use crate::real::Lanes;
        let quadrature = SigmoidQuadrature::default();
        let deviations = Lanes([0.7, 20.0, f64::NAN, 4.0, 1e300, 0.0, 10.0, 2.0]);
        // Far out the expectation is tiny: a wide neighbour once changed its last bits.
        for mean in [0.3, -20.0, -40.0, -200.0] {
            let at =
                Normal { mean: Lanes([mean; 8]), standard_deviation: deviations, slope: Lanes([0.0; 8]) };
            let (together, slopes) = (quadrature.sigmoid(&at), quadrature.slopes(&at));
            for lane in 0..8 {
                let alone = Normal { mean, standard_deviation: deviations.0[lane], slope: 0.0 };
                let same = |x: f64, y: f64| x.to_bits() == y.to_bits() || (x.is_nan() && y.is_nan());
                assert!(same(together.0[lane], quadrature.sigmoid(&alone)), "mean {mean}, lane {lane}");
                let slopes_alone: [f64; 2] = quadrature.slopes(&alone);
                assert!((0..2).all(|k| same(slopes[k].0[lane], slopes_alone[k])), "mean {mean}, lane {lane}");
            }
        }
    }
}
