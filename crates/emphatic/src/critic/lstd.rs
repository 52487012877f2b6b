//! LSTD(λ): values by least squares.

use super::Critic;
use super::least_squares::{LeastSquares, least_squares_size, least_squares_values};
use super::linear_td::decay;
use crate::catalogue::{Extent, Role, Signal, Size};
use crate::settings::settings;
use crate::{
    Built, ComposeError, Declaration, Declared, Features, Part, PartBuilder, Real, Seen, SettingError,
    Settings, StateError, Visitor,
};

settings! {
    Lstd<R>(features) => LstdBuilder;
    lambda: Fraction = 0.0, "λ of the trace: 1 means full returns (it has nothing to do with λ_a)";
    forgetting: Fraction = 0.0, "the share of the past that each step forgets: ratios of old policies are stale; 0 for a policy that stays";
    solve_every: Count = 100.0, "after how many steps v is solved for anew; also where an episode starts";
}

impl Declared for Lstd {
    const DECLARATION: Declaration = Declaration {
        source: "Bradtke and Barto 1996; Boyan 2002; Yu 2010",
        signals: &[Signal::Delta],
        settings: SETTINGS,
        features: true,
        ..Declaration::new(
            Role::Critic,
            "lstd",
            "LSTD",
            "LSTD(λ): v̂ by least squares, without a step-size, with forgetting",
        )
    };

    fn size(of: &Extent) -> Size {
        least_squares_size(of.features)
    }

    fn build<R: Real>(with: &PartBuilder<R>) -> Result<Built<R>, ComposeError> {
        with.critic(Lstd::new(with.features()?, with.settings())?)
    }
}

/// Off-policy LSTD(λ) (Bradtke and Barto 1996; with traces Boyan 2002; off-policy Yu 2010), with v̂(s) = v·x(s) and a forgetting φ:
///
/// ```text
/// e ← ρ_t (γ_t λ e + x_t)
/// A ← (1 − φ) A + e (x_t − γ_{t+1} x_{t+1})ᵀ          b ← (1 − φ) b + R_{t+1} e
/// (A + ε I) v = b,  ε = 0.001
/// ```
///
/// λ = 1 means full returns; it has nothing to do with λ_a. v is solved for where an episode starts and after `solve_every` steps, from all steps before, and before δ_t is computed. It costs d² numbers
/// and d³ operations a solution.
#[derive(Clone, Debug)]
pub struct Lstd<R = f64> {
    features: Features,
    settings: Settings<R>,
    lambda: R,
    td: LeastSquares<R>,
}

impl<R: Real> Lstd<R> {
    fn new(features: Features, settings: Settings<R>) -> Result<Self, SettingError> {
        let lambda = settings.number("lambda")?;
        Ok(Self { td: LeastSquares::new(features.len(), &settings)?, features, settings, lambda })
    }

    /// A copy of v, the weights of the value estimate.
    pub fn weights(&self) -> Vec<R> {
        self.td.weights.clone()
    }
}

impl<R: Real> Part<R> for Lstd<R> {
    #[inline(always)]
    fn features(&self) -> Option<&Features> {
        Some(&self.features)
    }

    fn tensors(&mut self, visitor: &mut Visitor) -> Result<(), StateError> {
        visitor.settings(&self.settings)?;
        self.td.tensors(visitor, ["v", "e"])
    }
}

impl<R: Real> Lstd<R> {
    /// Learns from the step. Returns the sum of [`Real::nan_unless_finite`] over the weights it changed.
    #[inline(always)]
    fn learn(&mut self, step: &Seen, rho: R) -> R {
        self.td.learn_state(decay(step.gamma, self.lambda, rho), rho, step)
    }
}

impl<R: Real> Critic<R> for Lstd<R> {
    least_squares_values!();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::critic::testing::{assert_near, episodes, kinds, learn, two_steps};

    use crate::action::number;
    use crate::{Exact, Policy, Random, SeenScratch, StochasticPolicy, Task, Td};

    #[test]
    fn by_hand() {
        let mut critic = Lstd::builder(Features::dense(1)).lambda(0.5).solve_every(2.0).build().unwrap();
        let [first, second] = two_steps();
        // e = 2 and 1.25, A = 2 (1 − 1) + 1.25 (2 − 0.5) = 1.875 and b = 2 · 1. It is solved before the third step's δ.
        let deltas = learn(&mut critic, &[first, second.clone(), second]);
        let v = 2.0 / 1.876;
        assert_near(&deltas, &[1.0, 0.0, -1.5 * v], 1e-15);
        assert_near(&critic.weights(), &[v], 1e-15);
    }

    /// With a feature for each state, least squares and the mean of TD over many steps both find the values of the target.
    #[test]
    fn it_is_where_td_goes() {
        let task = Task::counterexample();
        let policy = task.softmax();
        let weights: Vec<f64> = (0..policy.len()).map(|k| 0.3 * k as f64 - 0.4).collect();
        let exact = Exact::new(&task, &policy, &weights).unwrap();
        let features = Features::one_hot(task.states());
        let mut lstd = Lstd::builder(features.clone()).lambda(0.4).build().unwrap();
        let mut td = Td::builder(features.clone()).alpha_v(0.01).lambda(0.4).build().unwrap();
        let n = 40_000;
        let mut mean = vec![0.0; task.states()];
        for (t, step) in task.stream(1, 0).take(n).enumerate() {
            let x = policy.features().of_number(Seen::without_features(&step).number());
            let pi = policy.probability(&policy.distribution_at(&weights, x), number(step.action));
            let mut scratch = SeenScratch::default();
            let seen = Seen::new(&step, Some(&features), &mut scratch);
            lstd.update(&seen, pi / step.mu);
            td.update(&seen, pi / step.mu);
            if t >= n / 2 {
                mean.iter_mut().zip(td.weights()).for_each(|(mean, v)| *mean += v / (n / 2) as f64);
            }
        }
        assert_near(&lstd.weights(), exact.values(), 0.02);
        assert_near(&mean, exact.values(), 0.02);
    }

    /// The sums do not depend on the order of episodes, as far as rounding goes.
    #[test]
    fn episodes_may_come_in_any_order() {
        for features in kinds() {
            let mut random = Random::new(3, 0);
            let mut episodes = episodes(&features, 30, 3.0);
            let make = || Lstd::builder(features.clone()).lambda(0.7).build().unwrap();
            let (mut one, mut other) = (make(), make());
            episodes.iter().for_each(|episode| _ = learn(&mut one, episode));
            (1..episodes.len()).for_each(|k| episodes.swap(k, random.below(k + 1)));
            episodes.iter().for_each(|episode| _ = learn(&mut other, episode));
            // Another episode starts.
            learn(&mut one, &episodes[0][..1]);
            learn(&mut other, &episodes[0][..1]);
            assert_near(&one.weights(), &other.weights(), 1e-9);
        }
    }
}
