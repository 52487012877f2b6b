//! How far estimates are from the true values, and d_π, one of the weightings in which that may be asked.

use super::compressed_rows::CompressedRows;
use super::stationary_distribution::stationary_distribution;
use super::{Exact, Model};
use crate::features::Table;
use crate::policy::{FinitePolicy, Policy};
use crate::problem::{ProblemError, Task};

impl<P: Policy, M: Model<P>> Exact<'_, f64, M, P> {
    /// The root of the mean square of w·x(s) − v_π(s), if states are weighted like this: √(Σ weight (v̂ − v)² / Σ weight). NaN if no state has weight.
    ///
    /// # Panics
    ///
    /// If the features or the weighting are not of as many states as the problem has, or there is not a weight for each feature.
    pub fn value_error(&self, features: &Table, weights: &[f64], weighting: &[f64]) -> f64 {
        let n = self.values.len();
        assert_eq!([features.states(), weighting.len()], [n, n], "features and a weight for each state");
        assert_eq!(weights.len(), features.len(), "a weight for each feature");
        let estimate = |s: usize| features.active(s).map(|(f, x)| x * weights[f]).sum::<f64>();
        root_mean_square((0..n).map(|s| (weighting[s], estimate(s) - self.values[s])))
    }
}

impl<P: FinitePolicy> Exact<'_, f64, Task, P> {
    /// The same for w·φ(s, a) − q_π(s, a), if states are weighted like this and their actions as the behaviour takes them. The weight of feature
    /// `f` for action `a` is number `f · actions + a`.
    ///
    /// # Panics
    ///
    /// If the features or the weighting are not of as many states as the problem has, or there is not a weight for each feature and
    /// action.
    pub fn action_value_error(&self, features: &Table, weights: &[f64], weighting: &[f64]) -> f64 {
        let (n, actions) = (self.model.states(), self.model.actions());
        assert_eq!([features.states(), weighting.len()], [n, n], "features and a weight for each state");
        assert_eq!(weights.len(), features.len() * actions, "a weight for each feature and action");
        let q = self.action_values();
        let estimate =
            |s: usize, a: usize| features.active(s).map(|(f, x)| x * weights[f * actions + a]).sum::<f64>();
        let of = |k: usize| {
            let (s, a) = (k / actions, k % actions);
            (weighting[s] * self.model.behaviour(s)[a], estimate(s, a) - q[s][a])
        };
        root_mean_square((0..n * actions).map(of))
    }

    /// d_π, by state: the stationary distribution of the chain that the target would drive.
    pub fn target_stationary(&self) -> Result<Vec<f64>, ProblemError> {
        let target = CompressedRows::new((0..self.model.states()).map(|s| self.target(s).to_vec()));
        match stationary_distribution(self.model.problem(), &target) {
            Ok(stationary) => Ok(stationary.into_iter().map(|d| d.get()).collect()),
            Err(ProblemError::Stationary(a, b)) => Err(ProblemError::TargetStationary(a, b)),
            Err(error) => Err(error),
        }
    }
}

/// √(Σ weight x² / Σ weight). What has no weight may be anything.
fn root_mean_square(pairs: impl Iterator<Item = (f64, f64)>) -> f64 {
    let weighted = pairs.filter(|(weight, _)| *weight != 0.0);
    let [sum, all] = weighted.fold([0.0; 2], |[sum, all], (weight, x)| [sum + weight * x * x, all + weight]);
    (sum / all).sqrt()
}

#[cfg(test)]
mod tests {
    use super::super::follow_on_moments::tests::{relatively_near, right, two_states};
    use super::super::tests::{close, random_weights};
    use super::*;
    use crate::{Fixed, Problem, Random};

    #[test]
    fn errors_by_hand() {
        // θ → 2θ: all values are zero. With w = 3 the estimates are 3 and 6.
        let task = two_states(0.9, 0.25);
        let policy = right(&task);
        let exact = Exact::new(&task, &policy, &[]).unwrap();
        let features = Table::dense(&[vec![1.0], vec![2.0]]).unwrap();
        let error = |weighting: &[f64]| exact.value_error(&features, &[3.0], weighting);
        relatively_near(error(exact.stationary()), (0.75 * 9.0 + 0.25 * 36.0f64).sqrt(), 1e-14);
        relatively_near(error(&exact.target_stationary().unwrap()), 6.0, 1e-14);
        relatively_near(error(&[2.0, 2.0]), (22.5f64).sqrt(), 1e-14);
        assert!(error(&[0.0, 0.0]).is_nan());
        // The action right counts a quarter of the time.
        let error = exact.action_value_error(&features, &[1.0, 2.0], &[1.0, 0.0]);
        relatively_near(error, (0.75 + 0.25 * 4.0f64).sqrt(), 1e-14);
    }

    #[test]
    fn what_enters_a_state_under_the_target_leaves_it() {
        for seed in 0..30 {
            let mut random = Random::new(121, seed);
            let task = Task::random(&mut random);
            let policy = task.softmax();
            let weights = random_weights(&mut random, &policy);
            let exact = Exact::new(&task, &policy, &weights).unwrap();
            let d = exact.target_stationary().unwrap();
            let mut entered = vec![0.0; task.states()];
            for (s, of_state) in exact.probabilities().iter().enumerate() {
                for (a, pi) in of_state.iter().enumerate() {
                    let outcomes = task.problem().transitions(s, a);
                    outcomes.iter().for_each(|t| entered[t.next] += d[s] * pi * t.probability);
                }
            }
            close("d_π", &d, &entered, 1e-13);
            relatively_near(d.iter().sum(), 1.0, 1e-13);
        }
    }

    #[test]
    fn a_target_that_stays_where_it_starts() {
        let stays = |starts: &[(usize, f64)]| {
            let mut builder = Problem::builder().states(["1", "2"]).actions(["left", "right"]);
            for &(s, p) in starts {
                builder = builder.start(s, p);
            }
            for s in 0..2 {
                builder = builder.transition(s, 0, 0, 1.0, 0.0, 0.9).transition(s, 1, 1, 1.0, 0.0, 0.9);
            }
            let task = Task::new(builder.build().unwrap(), &vec![vec![0.5; 2]; 2]).unwrap();
            let policy = Fixed::new(&task, &[vec![1.0, 0.0], vec![0.0, 1.0]]).unwrap();
            Exact::new(&task, &policy, &[]).unwrap().target_stationary()
        };
        // What it never reaches has no share; with two starts there are two distributions.
        assert_eq!(stays(&[(0, 1.0)]), Ok(vec![1.0, 0.0]));
        assert!(matches!(stays(&[(0, 0.5), (1, 0.5)]), Err(ProblemError::TargetStationary(..))));
    }
}
