//! The gradient of J_μ by the theorem, the semi-gradient, and the gradient without the theorem.

use super::{Exact, Model};
use crate::policy::Policy;
use crate::problem::ProblemError;
use crate::real::{Dual, Real};

impl<R: Real, P: Policy, M: Model<P>> Exact<'_, R, M, P> {
    /// Σ_s m_{λ_a}(s) Σ_a ∂π(s,a) q_π(s,a): the gradient of J_μ for λ_a = 1, the semi-gradient for λ_a = 0.
    ///
    /// Where values are huge beside their differences (a problem that is hardly discounted and hardly ever ends), the
    /// differences have fewer digits than v and m themselves.
    pub fn gradient(&self, lambda_a: f64) -> Vec<R> {
        let mut gradient = vec![R::zero(); self.policy.len()];
        for (state, m) in self.weighting_in_units(lambda_a).into_iter().enumerate() {
            let at = &self.distributions[state];
            self.model.add_gradient(self.policy, at, state, &self.values, m, &mut gradient);
        }
        gradient.into_iter().map(|slope| self.unit.times(slope)).collect()
    }
}

/// ∂J_μ/∂θ by dual numbers: the objective is solved and differentiated once for each weight. It does not use the
/// theorem, so it can check [`Exact::gradient`], which is as accurate and needs only one solution.
pub fn derivative<P: Policy, M: Model<P>>(
    model: &M,
    policy: &P,
    weights: &[f64],
) -> Result<Vec<f64>, ProblemError> {
    let by_weight = |k: usize| {
        let mut dual: Vec<Dual> = weights.iter().map(|&w| Dual::splat(w)).collect();
        dual[k] = Dual::variable(weights[k], 0);
        Ok(Exact::new(model, policy, &dual)?.objective().slope.0[0])
    };
    (0..weights.len()).map(by_weight).collect()
}

/// Theorems 1 and 2: the theorem's gradient is the derivative of J_μ.
#[cfg(test)]
mod tests {
    use super::*;
    use crate::theory::tests::random_weights;
    use crate::{ContinuousCounterexample, Random, StochasticPolicy, Task};

    /// The largest difference between two vectors, relative to the larger of their largest entries.
    fn difference(a: &[f64], b: &[f64]) -> f64 {
        let largest = |x: &mut dyn Iterator<Item = f64>| x.fold(0.0, |m: f64, x| m.max(x.abs()));
        let scale = largest(&mut a.iter().chain(b).copied());
        let apart = largest(&mut a.iter().zip(b).map(|(a, b)| a - b));
        if apart == 0.0 { 0.0 } else { apart / scale }
    }

    /// ∂J_μ/∂θ by central differences.
    fn finite_difference<P: Policy, M: Model<P>>(model: &M, policy: &P, weights: &[f64]) -> Vec<f64> {
        let objective = |k: usize, by: f64| {
            let mut moved = weights.to_vec();
            moved[k] += by;
            Exact::new(model, policy, &moved).unwrap().objective()
        };
        let h = 1e-4;
        // Fourth order, so that a step long enough to bury rounding is still accurate.
        let along = |k| {
            (8.0 * (objective(k, h) - objective(k, -h)) - (objective(k, 2.0 * h) - objective(k, -2.0 * h)))
                / (12.0 * h)
        };
        (0..weights.len()).map(along).collect()
    }

    #[test]
    fn theorem_1_on_a_thousand_random_problems() {
        let (mut aliased, mut undiscounted, mut uninterested) = (0, 0, 0);
        for seed in 0..1000 {
            let mut random = Random::new(2018, seed);
            let task = Task::random(&mut random);
            let policy = task.softmax();
            let weights = random_weights(&mut random, &policy);
            let gradient = Exact::new(&task, &policy, &weights).unwrap().gradient(1.0);
            let dual = difference(&gradient, &derivative(&task, &policy, &weights).unwrap());
            assert!(dual < 1e-10, "problem {seed}: theorem and dual numbers differ by {dual:e}");
            let finite = difference(&gradient, &finite_difference(&task, &policy, &weights));
            assert!(finite < 1e-6, "problem {seed}: theorem and finite differences differ by {finite:e}");
            aliased += usize::from(policy.len() < task.states() * task.actions());
            uninterested += usize::from(task.interest().contains(&0.0));
            let has_gamma_1 = task.problem().all_transitions().iter().any(|t| t.gamma == 1.0);
            undiscounted += usize::from(has_gamma_1);
        }
        // The problems are of the kinds they should be.
        assert!(
            aliased > 300 && undiscounted > 300 && uninterested > 300,
            "{aliased} {undiscounted} {uninterested}"
        );
    }

    #[test]
    fn the_semi_gradient_is_not_the_derivative() {
        let task = Task::counterexample();
        let policy = task.softmax();
        let weights = [9f64.ln(), 0.0, 9f64.ln(), 0.0];
        let semi_gradient = Exact::new(&task, &policy, &weights).unwrap().gradient(0.0);
        let derivative = derivative(&task, &policy, &weights).unwrap();
        assert!(difference(&semi_gradient, &derivative) > 0.1);
        // In the aliased states it even points the other way.
        assert!(semi_gradient[2] * derivative[2] < 0.0);
    }

    #[test]
    fn theorem_1_for_gaussian_policies() {
        let policy_weights = |random: &mut Random| (0..4).map(|_| 1.5 * random.normal()).collect::<Vec<_>>();
        for seed in 0..50 {
            let mut random = Random::new(5, seed);
            let interest = [random.uniform(), random.uniform(), if seed % 3 == 0 { 0.0 } else { 1.0 }];
            let task = ContinuousCounterexample::default().with_interest(interest).unwrap();
            let (policy, weights) = (task.gaussian(), policy_weights(&mut random));
            let exact = Exact::new(&task, &policy, &weights).unwrap();
            let gradient = exact.gradient(1.0);
            let dual = difference(&gradient, &derivative(&task, &policy, &weights).unwrap());
            assert!(dual < 1e-9, "{seed} {weights:?}: {dual:e}");
            // The theorem as it is written, Σ_s m(s) ∫ ∂π(s,a)/∂θ q(s,a) da, by brute force.
            let mut theorem = vec![0.0; 4];
            for (s, m) in exact.emphatic_weighting(1.0).into_iter().enumerate() {
                let mut at = policy.room();
                let x = policy.features.of_number(s);
                policy.distribution(&weights, x, &mut at);
                for k in -4000..=4000 {
                    let a = at.mean + at.standard_deviation * f64::from(k) * 0.0025;
                    let density: f64 = policy.probability(&at, a);
                    let weight =
                        m * density * exact.action_value(s, a).unwrap() * at.standard_deviation * 0.0025;
                    policy.add_score(x, &at, a, weight, &mut theorem);
                }
            }
            let written = difference(&gradient, &theorem);
            assert!(written < 1e-9, "{seed} {weights:?}: {written:e}");
            assert!(difference(&gradient, &finite_difference(&task, &policy, &weights)) < 1e-6);
        }
    }

    /// Rounding was once divided by the deviation, and the gradient of a nearly certain policy was noise, then NaN.
    #[test]
    fn a_gaussian_policy_that_grows_certain_has_the_gradient_of_a_deterministic_one() {
        let task = ContinuousCounterexample::default();
        let limit = Exact::new(&task, &task.deterministic(), &[-1.0, 0.5]).unwrap().gradient(1.0);
        for y in [-20.0, -30.0, -40.0, -700.0, -800.0] {
            let gradient = Exact::new(&task, &task.gaussian(), &[-1.0, y, 0.5, y]).unwrap().gradient(1.0);
            assert!(difference(&[gradient[0], gradient[2]], &limit) < 1e-9, "{y}: {gradient:?} {limit:?}");
        }
    }

    #[test]
    fn theorem_2_for_deterministic_policies() {
        for seed in 0..100 {
            let mut random = Random::new(6, seed);
            let interest = [random.uniform(), random.uniform(), if seed % 3 == 0 { 0.0 } else { 1.0 }];
            let task = ContinuousCounterexample::default().with_interest(interest).unwrap();
            let policy = task.deterministic();
            let weights = [2.0 * random.normal(), 2.0 * random.normal()];
            let exact = Exact::new(&task, &policy, &weights).unwrap();
            let derivative = derivative(&task, &policy, &weights).unwrap();
            assert!(difference(&exact.gradient(1.0), &derivative) < 1e-10);
            assert!(difference(&exact.gradient(1.0), &finite_difference(&task, &policy, &weights)) < 1e-6);
        }
        let task = ContinuousCounterexample::default();
        let policy = task.deterministic();
        let semi_gradient = Exact::new(&task, &policy, &[-1.0, -1.0]).unwrap().gradient(0.0);
        assert!(difference(&semi_gradient, &derivative(&task, &policy, &[-1.0, -1.0]).unwrap()) > 0.1);
    }
}
