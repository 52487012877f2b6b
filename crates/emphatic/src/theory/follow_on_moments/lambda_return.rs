//! The variance of the emphasis λ-return, F^λ_t = i_t + γ_t ρ_{t−1} [(1 − λ_e) û(S_{t−1}) + λ_e F^λ_{t−1}], once û has become m/d_μ.
//!
//! Then F^λ has the mean f = m/d_μ of the trace, whatever λ_e, and with the error e of predicting f one step ahead, as for the trace,
//!
//! ```text
//! F^λ_t − f(s′) = e + λ_e γ_t ρ_{t−1} (F^λ_{t−1} − f(s))
//! ```
//!
//! Given s, the past has the mean zero and does not depend on what comes next, so the two terms are not correlated:
//! κ = λ_e² B κ + c, with B and c of the trace. The variance is finite exactly if λ_e² times the radius of B is below one.

use super::{FollowOnMoments, RelativeVariance};
use crate::policy::Policy;
use crate::theory::OffPolicyModel;

impl<P: Policy, M: OffPolicyModel<P>> FollowOnMoments<'_, M, P> {
    /// The standard deviation of the emphasis λ-return given S_t = s, by state, if what it looks back to is m/d_μ; it may be infinite.
    /// `None` if ρ² has no finite mean somewhere, or λ_e does not lie between 0 and 1.
    ///
    /// λ_e = 1 is the follow-on trace; λ_e = 0 looks back one step.
    ///
    /// ```
    /// use emphatic::{Exact, FollowOnMoments, Task};
    /// let task = Task::long_counterexample(5);
    /// let policy = task.softmax();
    /// let exact = Exact::new(&task, &policy, &vec![0.0; policy.features.len() * 2])?;
    /// let moments = FollowOnMoments::new(&exact);
    /// let [trace, half] = [1.0, 0.5].map(|lambda_e| moments.lambda_return_deviations(lambda_e).unwrap());
    /// assert!(half.iter().zip(&trace).all(|(half, trace)| half <= trace));
    /// # Ok::<(), emphatic::ProblemError>(())
    /// ```
    pub fn lambda_return_deviations(&self, lambda_e: f64) -> Option<Vec<f64>> {
        if !(0.0..=1.0).contains(&lambda_e) || self.variance.is_none() {
            return None;
        }
        let relative = RelativeVariance::new(&self.mean, lambda_e);
        Some(relative.unless_infinite(|s, kappa| self.mean.f.x[s] * kappa.sqrt()))
    }

    /// The number up to which λ_e leaves the λ-return a finite variance in all states: 1 if the follow-on trace itself has one, or else 1/√r,
    /// at which it is infinite again, where r is the spectral radius. `None` if ρ² has no finite mean somewhere.
    pub fn largest_lambda_e(&self) -> Option<f64> {
        let [_, radius] = self.spectral_radius()?;
        Some(if self.is_finite() { 1.0 } else { (1.0 / radius.sqrt()).min(1.0) })
    }
}

#[cfg(test)]
mod tests {
    use crate::theory::follow_on_moments::tests::{relatively_near, right, two_states};
    use crate::theory::tests::trace_expectation::{At, Case, random_cases, trace_expectation};
    use crate::theory::tests::{close, numbers};
    use crate::{Exact, Fixed, FollowOnMoments, Problem, Task};

    /// F^λ and its square, followed step by step.
    fn rule(case: &Case, omega: &[f64], lambda_e: f64, at: &At, there: f64, past: &[f64]) -> Vec<f64> {
        let passed = at.gamma * at.rho_prev();
        let known = case.task.interest()[at.state] + passed * (1.0 - lambda_e) * omega[at.state_prev];
        let share = passed * lambda_e;
        vec![
            known * there + share * past[0],
            known * known * there + 2.0 * known * share * past[0] + share * share * past[1],
        ]
    }

    #[test]
    fn deviations_are_those_of_the_second_moment() {
        let mut infinite = 0;
        for case in random_cases(111, 24).iter().filter(|case| case.covers()) {
            let exact = case.exact();
            let moments = FollowOnMoments::new(&exact);
            let omega = moments.means();
            let [_, radius] = moments.spectral_radius().unwrap();
            let largest = moments.largest_lambda_e().unwrap();
            infinite += usize::from(!moments.is_finite());
            for lambda_e in [0.0, 0.3, 0.5, 0.9 * largest] {
                assert!(lambda_e >= largest || lambda_e * lambda_e * radius < 1.0);
                if lambda_e * lambda_e * radius > 0.9 {
                    continue; // It would settle too slowly to be followed.
                }
                let z = trace_expectation(&case.task, &case.pi, 2, |at, there, past| {
                    rule(case, &omega, lambda_e, at, there, past)
                });
                let sum = |s: usize, k: usize| z[s].iter().map(|z| z[k]).sum::<f64>();
                let d = case.task.stationary();
                let means: Vec<f64> = (0..d.len()).map(|s| sum(s, 0) / d[s]).collect();
                close("the mean", &means, &omega, 1e-10);
                let squares: Vec<f64> = (0..d.len()).map(|s| sum(s, 1) / d[s]).collect();
                let deviations = moments.lambda_return_deviations(lambda_e).unwrap();
                let found: Vec<f64> =
                    (0..d.len()).map(|s| deviations[s].powi(2) + omega[s].powi(2)).collect();
                close("the second moment", &found, &squares, 1e-9);
            }
        }
        assert!(infinite > 0, "some have a trace of infinite variance");
    }

    #[test]
    fn with_one_it_is_the_trace() {
        for case in random_cases(112, 8).iter().filter(|case| case.covers()) {
            let exact = case.exact();
            let moments = FollowOnMoments::new(&exact);
            assert_eq!(moments.lambda_return_deviations(1.0), moments.standard_deviations());
            assert_eq!(moments.lambda_return_deviations(1.5), None);
            assert_eq!(moments.lambda_return_deviations(f64::NAN), None);
        }
    }

    /// θ → 2θ with û = (1, 19): in state 2, which is entered from 1 and from 2 alike, the error of one step is ∓16.2.
    #[test]
    fn the_border_of_the_two_states() {
        let task = two_states(0.9, 0.5);
        let policy = right(&task);
        let exact = Exact::new(&task, &policy, &[]).unwrap();
        let moments = FollowOnMoments::new(&exact);
        let border = 1.0 / 1.62f64.sqrt();
        relatively_near(moments.largest_lambda_e().unwrap(), border, 1e-9);
        for lambda_e in [0.0, 0.25, 0.5, 0.75, border - 1e-6] {
            let deviations = moments.lambda_return_deviations(lambda_e).unwrap();
            assert_eq!(deviations[0], 0.0);
            relatively_near(deviations[1], (16.2 * 16.2 / (1.0 - 1.62 * lambda_e * lambda_e)).sqrt(), 1e-9);
        }
        for lambda_e in [border + 1e-6, 0.9, 1.0] {
            assert_eq!(moments.lambda_return_deviations(lambda_e), Some(vec![0.0, f64::INFINITY]));
        }
        // Above the border the second moment grows without bound, by λ_e² r each step: 0.81 · 1.62.
        let (mut square, mut growth) = (0.0, 0.0);
        let (mut mean, lambda_e) = (0.0, 0.9);
        for _ in 0..300 {
            let known = |omega: f64| 1.0 + 1.8 * (1.0 - lambda_e) * omega;
            let share = 1.8 * lambda_e;
            // From 1, where F is 1, or from 2.
            let from_1 = known(1.0) + share;
            let from_2 =
                known(19.0) * known(19.0) + 2.0 * known(19.0) * share * mean + share * share * square;
            let next = 0.5 * from_1 * from_1 + 0.5 * from_2;
            mean = 0.5 * from_1 + 0.5 * (known(19.0) + share * mean);
            growth = next / square;
            square = next;
        }
        relatively_near(growth, 0.81 * 1.62, 1e-9);
    }

    #[test]
    fn deviations_agree_with_simulation() {
        let task = two_states(0.9, 0.5);
        let policy = right(&task);
        let exact = Exact::new(&task, &policy, &[]).unwrap();
        let deviations = FollowOnMoments::new(&exact).lambda_return_deviations(0.5).unwrap();
        let (omega, lambda_e) = ([1.0, 19.0], 0.5);
        let (mut f, mut passed, mut from) = (0.0, 0.0, 0);
        let (mut visits, mut sum, mut square) = (0.0, 0.0, 0.0f64);
        for step in task.stream(9, 0).take(600_000) {
            let [state, action, _] = numbers(&step);
            f = 1.0 + passed * ((1.0 - lambda_e) * omega[from] + lambda_e * f);
            (passed, from) = (0.9 * if action == 1 { 2.0 } else { 0.0 }, state);
            if state == 1 {
                (visits, sum, square) = (visits + 1.0, sum + f, square + f * f);
            }
        }
        let mean: f64 = sum / visits;
        let variance: f64 = square / visits - mean * mean;
        assert!((mean / 19.0 - 1.0).abs() < 0.01, "{mean}");
        assert!(
            (variance.sqrt() / deviations[1] - 1.0).abs() < 0.02,
            "{} {}",
            variance.sqrt(),
            deviations[1]
        );
    }

    /// Baird's seven states, one of them always next: r = 7 · 0.99² = 6.8607 asks for λ_e below 0.38.
    #[test]
    fn bairds_problem() {
        let mut builder =
            Problem::builder().states((1..=7).map(|s| s.to_string())).actions(["dashed", "solid"]);
        for s in 0..7usize {
            builder = builder.start(s, 1.0 / 7.0).transition(s, 1, 6, 1.0, 0.0, 0.99);
            for next in 0..6usize {
                builder = builder.transition(s, 0, next, 1.0 / 6.0, 0.0, 0.99);
            }
        }
        let behaviour = vec![vec![6.0 / 7.0, 1.0 / 7.0]; 7];
        let task = Task::new(builder.build().unwrap(), &behaviour).unwrap();
        let policy = Fixed::new(&task, &vec![vec![0.0, 1.0]; 7]).unwrap();
        let exact = Exact::new(&task, &policy, &[]).unwrap();
        let moments = FollowOnMoments::new(&exact);
        relatively_near(moments.largest_lambda_e().unwrap(), 1.0 / 6.8607f64.sqrt(), 1e-9);
        assert!(moments.lambda_return_deviations(0.38).unwrap()[6].is_finite());
        assert_eq!(moments.lambda_return_deviations(0.39).unwrap()[6], f64::INFINITY);
    }
}
