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

    /// E[f(mean + sd · Z)] for several f at once.
    #[inline(always)]
    pub fn expectation<R: Real, const K: usize>(&self, at: &Normal<R>, f: impl Fn(R) -> [R; K]) -> [R; K] {
        let mut sums = [R::zero(); K];
        for (&z, &weight) in self.nodes.iter().zip(&self.weights) {
            let values = f(at.mean + at.standard_deviation * R::splat(z));
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

/// Gauss–Hermite rules for functions like the logistic sigmoid, whose poles lie π from the real line.
///
/// The wider the Gaussian, the nearer the poles come in units of its deviation, and the more nodes it takes.
/// Each lane uses the rule for its own deviation, so what it gives does not depend on its neighbours. The
/// logistic sigmoid's expectation is right to 10⁻¹⁰ for deviations up to 10; beyond, the error grows (2·10⁻⁷ at 20,
/// 3·10⁻⁴ at 50).
#[derive(Clone, Debug, PartialEq)]
pub struct SigmoidQuadrature {
    /// Rules, each for deviations above the bound beside it.
    rules: Vec<(f64, GaussHermite)>,
}

impl Default for SigmoidQuadrature {
    fn default() -> Self {
        let rules = [(0.0, 32), (1.0, 128), (2.5, 512), (5.0, 2048)];
        Self { rules: rules.map(|(above, order)| (above, GaussHermite::new(order))).into() }
    }
}

impl SigmoidQuadrature {
    /// Which rule is for a deviation; the first if it is not a number.
    #[inline(always)]
    fn rule_for(&self, deviation: f64) -> usize {
        self.rules.iter().rposition(|(above, _)| deviation > *above).unwrap_or(0)
    }

    /// E[f(a)] under the Gaussian, for several f at once.
    #[inline(always)]
    pub fn expectation<R: Real, const K: usize>(&self, at: &Normal<R>, f: impl Fn(R) -> [R; K]) -> [R; K] {
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
        let moments =
            rule.expectation(&standard, |z: f64| [1.0, z, z * z, z.powi(3), z.powi(4), z.powi(6), z.powi(8)]);
        for (moment, expected) in moments.iter().zip([1.0, 0.0, 1.0, 0.0, 3.0, 15.0, 105.0]) {
            assert!((moment - expected).abs() < 1e-11, "{moment} is not {expected}");
        }
    }

    #[test]
    fn sigmoids_are_right_to_ten_digits_for_every_deviation_up_to_ten() {
        let quadrature = SigmoidQuadrature::default();
        for deviation in [1e-8, 0.1, 0.5, 0.7, 1.0, 1.0001, 1.7, 2.5, 2.5001, 3.5, 5.0, 5.0001, 7.0, 10.0] {
            for mean in [-50.0, -7.0, -1.3, 0.0, 0.4, 1.0, 3.0, 12.0] {
                let at = Normal { mean, standard_deviation: deviation, slope: 0.0 };
                let [got] = quadrature.expectation(&at, |a: f64| [a.sigmoid()]);
                let expected = reference(mean, deviation, sigmoid);
                assert!(
                    (got - expected).abs() < 1e-10,
                    "mean {mean}, deviation {deviation}: {got} is not {expected}"
                );
            }
        }
    }
}
