//! Gaussian policies.

use super::{Policy, StochasticPolicy, add_outputs, outputs};
use crate::catalogue::{self, Role};
use crate::{
    Built, ComposeError, Declaration, Declared, Draw, Features, PartBuilder, Real, Row, RuleKind, StepError,
};

impl Declared for Gaussian {
    const DECLARATION: Declaration = Declaration {
        source: "Degris, White and Sutton 2012",
        acts: Some(catalogue::Acts::Real),
        outputs: Some(2),
        features: true,
        ..Declaration::new(
            Role::Policy,
            "gaussian",
            "Gaussian",
            "a real action with mean x·θ₀ and standard deviation softplus(x·θ₁)",
        )
    };

    fn build<R: Real>(with: &PartBuilder<R>) -> Result<Built<R>, ComposeError> {
        match with.rule() {
            RuleKind::Taken => with.stochastic(Gaussian { features: with.features()? }),
            RuleKind::All | RuleKind::Deterministic => with.wrong_rule(),
        }
    }
}

/// A real action, drawn from a Gaussian with linear mean and softplus-linear standard deviation.
///
/// The weights of feature `f` are number `2f` (mean) and `2f + 1` (standard deviation). With zero weights the
/// standard deviation is ln 2.
#[derive(Clone, Debug, PartialEq)]
pub struct Gaussian {
    /// The features of the policy.
    pub features: Features,
}

/// The Gaussian in one state.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Normal<R> {
    /// The mean.
    pub mean: R,
    /// The standard deviation, softplus(y).
    pub standard_deviation: R,
    /// Its derivative by y, softplus′(y) = σ(y).
    pub slope: R,
}

impl Policy for Gaussian {
    type Action = f64;
    type Distribution<R: Real> = Normal<R>;

    #[inline(always)]
    fn features(&self) -> &Features {
        &self.features
    }

    fn len(&self) -> usize {
        self.features.len().saturating_mul(2)
    }

    #[inline(always)]
    fn check_action(&self, action: f64) -> Result<(), StepError> {
        if action.is_finite() { Ok(()) } else { Err(StepError::RealAction(action)) }
    }

    fn room<R: Real>(&self) -> Normal<R> {
        Normal::default()
    }

    #[inline(always)]
    fn distribution<R: Real>(&self, weights: &[R], x: Row, out: &mut Normal<R>) {
        let [mean, y] = outputs(x, weights);
        *out = Normal { mean, standard_deviation: y.softplus(), slope: y.sigmoid() };
    }

    fn numbers<R: Real>(&self, at: &Normal<R>) -> Vec<R> {
        vec![at.mean, at.standard_deviation]
    }

    fn sample<R: Real>(&self, at: &Normal<R>, lane: usize, draw: &mut dyn Draw) -> f64 {
        at.mean.lane(lane) + at.standard_deviation.lane(lane) * draw.normal()
    }
}

impl StochasticPolicy for Gaussian {
    #[inline(always)]
    fn probability<R: Real>(&self, at: &Normal<R>, action: f64) -> R {
        // A deviation that has underflowed to 0 leaves no density anywhere else than at the mean; NaN stays NaN.
        let deviation = at.standard_deviation;
        R::zero().if_less(deviation, R::splat(action).normal_density(at.mean, deviation), deviation)
    }

    #[inline(always)]
    fn add_score<R: Real>(&self, x: Row, at: &Normal<R>, action: f64, scale: R, weights: &mut [R]) -> R {
        // The score of an action far away may overflow. Scaled by 0, as by a ratio of 0, it is nothing all the same.
        let mut c = at.score(R::splat(action));
        for c in &mut c {
            *c = R::zero().if_less(scale.abs(), scale * *c, scale);
        }
        add_outputs(x, c, weights)
    }
}

impl<R: Real> Normal<R> {
    /// The derivatives of ln π(a) by the two linear outputs: (a − mean)/sd² and ((a − mean)²/sd² − 1)/sd · σ(y).
    #[inline(always)]
    pub fn score(&self, action: R) -> [R; 2] {
        let z = (action - self.mean) / self.standard_deviation;
        [z / self.standard_deviation, (z * z - R::one()) / self.standard_deviation * self.slope]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AsState, Dual, Random};

    #[test]
    fn zero_weights_give_a_deviation_of_ln_2() {
        let policy = Gaussian { features: Features::one_hot(1) };
        let at = policy.distribution_at(&[0.0, 0.0], policy.features.of_number(0));
        assert_eq!((at.mean, at.slope), (0.0, 0.5));
        assert!((at.standard_deviation - std::f64::consts::LN_2).abs() < 1e-16);
    }

    #[test]
    fn score_is_the_derivative_of_the_log_density() {
        let policy = Gaussian { features: Features::dense(2) };
        let (state, weights, action) = ([1.0, -0.5], [0.3, -0.7, 0.9, 0.4], 1.7);
        let mut scratch = crate::Scratch::default();
        let x = policy.features.row(state.as_state(), &mut scratch);
        let at = policy.distribution_at(&weights, x);
        let mut score = [0.0; 4];
        policy.add_score(x, &at, action, 1.0, &mut score);
        for k in 0..4 {
            let mut variables: [Dual; 4] = weights.map(Dual::splat);
            variables[k] = Dual::variable(weights[k], 0);
            let at = policy.distribution_at(&variables, x);
            let derivative = policy.probability(&at, action).ln().slope.0[0];
            assert!((score[k] - derivative).abs() < 1e-14, "{k}: {} {derivative}", score[k]);
        }
    }

    /// Once 0 · ∞ made all weights NaN.
    #[test]
    fn an_action_that_the_target_never_takes_changes_nothing() {
        let policy = Gaussian { features: Features::one_hot(1) };
        let x = policy.features.of_number(0);
        for (weights, action) in [([0.0, 0.0], 1e160), ([0.0, -700.0], 1.0), ([0.0, -800.0], 1.0)] {
            let at = policy.distribution_at(&weights, x);
            let ratio: f64 = policy.probability(&at, action);
            assert_eq!(ratio, 0.0);
            let mut after = weights;
            policy.add_score(x, &at, action, ratio, &mut after);
            assert_eq!(after, weights);
            policy.add_score(x, &at, action, f64::NAN, &mut after);
            assert!(after[0].is_nan(), "what is not a number must still show");
        }
    }

    #[test]
    fn samples_have_the_mean_and_deviation() {
        let policy = Gaussian { features: Features::one_hot(1) };
        let at = Normal { mean: -2.0, standard_deviation: 3.0, slope: 0.0 };
        let (mut random, n) = (Random::new(5, 0), 100_000);
        let (mut sum, mut square) = (0.0, 0.0);
        for _ in 0..n {
            let a = policy.sample(&at, 0, &mut random);
            sum += a;
            square += (a + 2.0) * (a + 2.0);
        }
        let n = f64::from(n);
        assert!((sum / n + 2.0).abs() < 5.0 * 3.0 / n.sqrt());
        assert!((square / n - 9.0).abs() < 5.0 * 9.0 * (2.0 / n).sqrt());
    }
}
