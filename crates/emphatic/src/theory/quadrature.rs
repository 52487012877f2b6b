//! Expectations under a Gaussian, by Gauss–Hermite quadrature.

use crate::policy::Normal;
use crate::real::{Real, elementary};

/// Nodes and weights for the standard normal distribution.
#[derive(Clone, Debug, PartialEq)]
pub struct GaussHermite {
    nodes: Vec<f64>,
    weights: Vec<f64>,
}

impl GaussHermite {
    /// The rule with `order` nodes (an even number), without those whose weight is below the rounding of the sum.
    pub fn new(order: usize) -> Self {
        let n = order as f64;
        let (mut roots, mut weights) = (Vec::new(), Vec::new());
        // Roots of the Hermite function from the middle outwards: each is guessed from the local spacing.
        let spacing = |x: f64| std::f64::consts::PI / (2.0 * n + 1.0 - x * x).sqrt();
        let mut guess = spacing(0.0) / 2.0;
        while roots.len() < order / 2 {
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
            let weight = elementary::exp(-x * x) / (n * before * before);
            if weight < 1e-19 {
                break;
            }
            roots.push(x);
            weights.push(weight);
            guess = x + spacing(x);
        }
        let total = 2.0 * weights.iter().sum::<f64>();
        let both = |half: &[f64], sign: f64| -> Vec<f64> {
            half.iter().rev().map(|x| sign * x).chain(half.iter().copied()).collect()
        };
        let scaled: Vec<f64> = roots.iter().map(|x| x * std::f64::consts::SQRT_2).collect();
        let shares: Vec<f64> = weights.iter().map(|w| w / total).collect();
        Self { nodes: both(&scaled, -1.0), weights: both(&shares, 1.0) }
    }

    /// E[f(mean + sd · Z, Z)] for several f at once.
    #[inline(always)]
    pub fn expectation<R: Real, const K: usize>(&self, at: &Normal<R>, f: impl Fn(R, R) -> [R; K]) -> [R; K] {
        let mut sums = [R::zero(); K];
        for (&z, &weight) in self.nodes.iter().zip(&self.weights) {
            let z = R::splat(z);
            let values = f(at.mean + at.standard_deviation * z, z);
            for (sum, value) in sums.iter_mut().zip(values) {
                *sum += R::splat(weight) * value;
            }
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

/// The expectation of the logistic sigmoid under Gaussians, to 10⁻¹⁰ and mostly to 10⁻¹².
///
/// The sigmoid's poles lie π from the real line: the wider the Gaussian, the nearer they come in units of its deviation,
/// and the more nodes it takes. Each lane uses the rule for its own deviation, so what it gives does not depend on its
/// neighbours. Beyond the widest rule, the sigmoid is so steep that only its integrals matter (Sommerfeld's
/// expansion): with u = mean/sd, c_k = 2η(2k) and Hermite polynomials,
///
/// ```text
/// E[σ] = Φ(u) − φ(u) Σ_k c_k He_{2k−1}(u) sd⁻²ᵏ,
/// ```
///
/// so that from a deviation of 10 with the same u it is only the difference of two such sums.
#[derive(Clone, Debug, PartialEq)]
pub struct SigmoidQuadrature {
    /// Rules, each for deviations above the bound beside it.
    rules: Vec<(f64, GaussHermite)>,
}

/// The largest deviation that the rules are for.
const WIDEST: f64 = 10.0;

/// 2η(2k) = 2 Σ_n (−1)ⁿ⁻¹ n⁻²ᵏ for k = 1, 2, …: π²/6, 7π⁴/360, …
const TWICE_ETA: [f64; 10] = [
    1.6449340668482264,
    1.8940656589944918,
    1.9711021825948702,
    1.9924660037052957,
    1.998079015196543,
    1.9995153702877164,
    1.9998783406919594,
    1.9999695284298122,
    1.9999923757392202,
    1.9999980932231631,
];

impl Default for SigmoidQuadrature {
    fn default() -> Self {
        // Each order is enough for 10⁻¹⁰ up to the bound of the next.
        let rules = [(0.0, 20), (0.8, 48), (1.4, 128), (2.5, 512), (5.0, 2048)];
        Self { rules: rules.map(|(above, order)| (above, GaussHermite::new(order))).into() }
    }
}

impl SigmoidQuadrature {
    /// E[σ(a)].
    #[inline(always)]
    pub fn sigmoid<R: Real>(&self, at: &Normal<R>) -> R {
        let [inner] = self.expectation(&narrowed(at), |a, _| [a.sigmoid()]);
        if !is_wide(at) {
            return inner;
        }
        R::splat(WIDEST).if_less(at.standard_deviation, inner + Steep::new(at).value(), inner)
    }

    /// The derivatives of E[σ(a)] by the mean and by the standard deviation: E[σ′(a)] and E[σ′(a) z], a = mean + sd z.
    pub fn slopes<R: Real>(&self, at: &Normal<R>) -> [R; 2] {
        let slope = |a: R| a.sigmoid() * (-a).sigmoid();
        let [by_mean, by_deviation] = self.expectation(&narrowed(at), |a, z| [slope(a), slope(a) * z]);
        if !is_wide(at) {
            return [by_mean, by_deviation];
        }
        // By the chain rule from a deviation of 10 at the same u.
        let inner = R::splat(WIDEST) / at.standard_deviation * by_mean;
        let steep = Steep::new(at);
        let wide = [inner + steep.by_mean(), steep.by_deviation() - steep.u * inner];
        let choose = |wide, narrow| R::splat(WIDEST).if_less(at.standard_deviation, wide, narrow);
        [choose(wide[0], by_mean), choose(wide[1], by_deviation)]
    }

    /// E[f(a, z)] by each lane's own rule.
    #[inline(always)]
    fn expectation<R: Real, const K: usize>(&self, at: &Normal<R>, f: impl Fn(R, R) -> [R; K]) -> [R; K] {
        let deviation = at.standard_deviation;
        let mut out = [R::zero(); K];
        for (k, (above, rule)) in self.rules.iter().enumerate() {
            if (0..R::LANES).any(|lane| self.rule_for(deviation.lane(lane)) == k) {
                let values = rule.expectation(at, &f);
                for (out, value) in out.iter_mut().zip(values) {
                    *out = if k == 0 { value } else { R::splat(*above).if_less(deviation, value, *out) };
                }
            }
        }
        out
    }

    /// Which rule is for a deviation; the first if it is not a number.
    #[inline(always)]
    fn rule_for(&self, deviation: f64) -> usize {
        self.rules.iter().rposition(|(above, _)| deviation > *above).unwrap_or(0)
    }
}

/// Whether any lane is beyond the rules.
#[inline(always)]
fn is_wide<R: Real>(at: &Normal<R>) -> bool {
    (0..R::LANES).any(|lane| at.standard_deviation.lane(lane) > WIDEST)
}

/// The Gaussian itself, or with the same mean/sd and a deviation of 10 if it is wider.
#[inline(always)]
fn narrowed<R: Real>(at: &Normal<R>) -> Normal<R> {
    let shrink = R::splat(WIDEST) / at.standard_deviation.larger(R::splat(WIDEST));
    Normal { mean: at.mean * shrink, standard_deviation: at.standard_deviation * shrink, slope: at.slope }
}

/// The difference between a wide Gaussian and one of deviation 10 with the same u: φ(u) Σ_k c_k He_{2k−1}(u) (10⁻²ᵏ − sd⁻²ᵏ).
/// Nothing where the deviation is at most 10.
struct Steep<R> {
    u: R,
    density: R,
    deviation: R,
}

impl<R: Real> Steep<R> {
    fn new(at: &Normal<R>) -> Self {
        let deviation = at.standard_deviation.larger(R::splat(WIDEST));
        // φ is 0 beyond 40; the polynomials must not overflow there.
        let u = (at.mean / deviation).larger(R::splat(-40.0));
        let u = R::splat(40.0).if_less(u, R::splat(40.0), u);
        Self { u, density: u.normal_density(R::zero(), R::one()), deviation }
    }

    /// φ(u) Σ_k f(c_k, He_{2k−1}, He_{2k}, 10⁻²ᵏ − sd⁻²ᵏ, 2k sd⁻²ᵏ).
    fn sum(&self, f: impl Fn(R, R, R, R) -> R) -> R {
        let square = R::one() / (self.deviation * self.deviation);
        let (mut before, mut here) = (R::one(), self.u);
        let (mut power, mut widest) = (R::one(), 1.0);
        let mut sum = R::zero();
        for (k, eta) in TWICE_ETA.iter().enumerate() {
            let odd = (2 * k + 1) as f64;
            power *= square;
            widest /= WIDEST * WIDEST;
            let even = self.u * here - R::splat(odd) * before;
            sum += R::splat(*eta) * f(here, even, R::splat(widest) - power, R::splat(odd + 1.0) * power);
            (before, here) = (even, self.u * even - R::splat(odd + 1.0) * here);
        }
        self.density * sum
    }

    fn value(&self) -> R {
        self.sum(|odd, _, difference, _| odd * difference)
    }

    fn by_mean(&self) -> R {
        -self.sum(|_, even, difference, _| even * difference) / self.deviation
    }

    fn by_deviation(&self) -> R {
        self.sum(|odd, even, difference, power| self.u * even * difference + odd * power) / self.deviation
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
        // The moments of Z: 1, 1, 3, 15, 105, and the odd ones zero.
        let rule = GaussHermite::new(32);
        let standard = Normal { mean: 0.0, standard_deviation: 1.0, slope: 0.0 };
        let moments = rule
            .expectation(&standard, |z: f64, _| [1.0, z, z * z, z.powi(3), z.powi(4), z.powi(6), z.powi(8)]);
        for (moment, expected) in moments.iter().zip([1.0, 0.0, 1.0, 0.0, 3.0, 15.0, 105.0]) {
            assert!((moment - expected).abs() < 1e-11, "{moment} is not {expected}");
        }
    }

    fn deviations() -> Vec<f64> {
        let at_borders = [0.8, 0.8001, 1.4, 1.4001, 2.5, 2.5001, 5.0, 5.0001, 10.0, 10.0001];
        [1e-8, 0.1, 0.5, 0.7, 1.2, 2.2, 4.0, 8.0, 12.0, 20.0, 100.0].into_iter().chain(at_borders).collect()
    }

    #[test]
    fn sigmoids_and_their_slopes_are_right_to_ten_digits() {
        let quadrature = SigmoidQuadrature::default();
        for deviation in deviations() {
            for u in [-5.0, -1.3, 0.0, 0.4, 3.0] {
                let mean = u * deviation.max(1.0);
                let at = Normal { mean, standard_deviation: deviation, slope: 0.0 };
                let close = |what: &str, got: f64, expected: f64| {
                    let miss = (got - expected).abs();
                    assert!(
                        miss < 1e-10,
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
    fn neighbours_in_other_lanes_change_nothing() {
        use crate::real::Lanes;
        let quadrature = SigmoidQuadrature::default();
        let deviations = Lanes([0.7, 20.0, f64::NAN, 4.0, 1e300, 0.0, 10.0, 2.0]);
        // Far out the expectation is tiny: once a wide neighbour changed its last bits.
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

    #[test]
    fn the_coefficients_are_what_they_are_said_to_be() {
        for (k, eta) in TWICE_ETA.iter().enumerate() {
            // The alternating sum; the mean of two neighbouring partial sums is good to the next order.
            let term = |n: i32| if n % 2 == 1 { 2.0 } else { -2.0 } / f64::from(n).powi(2 * k as i32 + 2);
            let (less, more) = ((1..20_000).map(term).sum::<f64>(), (1..20_001).map(term).sum::<f64>());
            assert!((0.5 * (less + more) - eta).abs() < 1e-11);
        }
    }
}
