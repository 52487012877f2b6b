//! A problem with a policy that can be diagnosed, whatever kind of action it has.

use crate::linear_methods::{LinearMethods, PartOf, linear_methods};
use crate::solve::Column;
use emphatic::theory::OffPolicyModel;
use emphatic::{
    ContinuousCounterexample, DeterministicLinear, Exact, FinitePolicy, FollowOnMoments, Gaussian, Normal,
    Policy, Real, Task, Transition,
};
use std::cell::OnceCell;

/// A problem in which policies of the form `P` can be diagnosed.
pub(crate) trait Diagnosable<P: Policy>: OffPolicyModel<P> + Sync + Sized {
    /// The policy's actions in each state.
    fn policy_columns(&self, policy: &P, weights: &[f64]) -> Vec<Column>;

    /// The action-values in each state.
    fn value_columns(exact: &Exact<f64, Self, P>) -> Vec<Column>;

    /// Σ_a π²/μ E[δ²] |∇ ln π|² in a state: the mean square of an update with emphasis 1. `None` if the policy has no such
    /// update, or the mean is infinite.
    fn update_square(exact: &Exact<f64, Self, P>, state: usize) -> Option<f64>;

    /// What linear critics and emphases learn; `None` if that is not known for this kind of problem.
    fn linear_methods(_exact: &Exact<f64, Self, P>, _parts: &[PartOf]) -> Option<LinearMethods> {
        None
    }
}

/// A policy with its exact solution, and with the moments of its follow-on trace once they are needed.
pub(crate) struct Solved<'a, M, P: Policy> {
    pub(crate) exact: &'a Exact<'a, f64, M, P>,
    moments: OnceCell<FollowOnMoments<'a, M, P>>,
}

impl<'a, P: Policy, M: Diagnosable<P>> Solved<'a, M, P> {
    pub(crate) fn new(exact: &'a Exact<'a, f64, M, P>) -> Self {
        Self { exact, moments: OnceCell::new() }
    }

    pub(crate) fn moments(&self) -> &FollowOnMoments<'a, M, P> {
        self.moments.get_or_init(|| FollowOnMoments::new(self.exact))
    }
}

/// How a policy acts in a state.
pub(crate) fn distribution<P: Policy>(policy: &P, weights: &[f64], state: usize) -> P::Distribution<f64> {
    let mut at = policy.room();
    policy.distribution(weights, policy.features().of_number(state), &mut at);
    at
}

impl<P: FinitePolicy<Distribution<f64> = Vec<f64>>> Diagnosable<P> for Task {
    fn policy_columns(&self, policy: &P, weights: &[f64]) -> Vec<Column> {
        let rows: Vec<Vec<f64>> = (0..self.states()).map(|s| distribution(policy, weights, s)).collect();
        by_action(self, "target", "π", |s, a| rows[s][a])
    }

    fn value_columns(exact: &Exact<f64, Self, P>) -> Vec<Column> {
        let q = exact.action_values();
        by_action(exact.model(), "action_value", "q", |s, a| q[s][a])
    }

    fn update_square(exact: &Exact<f64, Self, P>, state: usize) -> Option<f64> {
        let (task, pi, values) = (exact.model(), exact.distribution(state), exact.values());
        let features: f64 = task.actor().active(state).map(|(_, x)| x * x).sum();
        let mut sum = 0.0;
        for (a, mu) in task.behaviour(state).iter().enumerate().filter(|(a, _)| pi[*a] > 0.0) {
            let delta = |t: &Transition| t.reward + t.gamma * values[t.next] - values[state];
            let outcomes = task.problem().transitions(state, a);
            let square: f64 = outcomes.iter().map(|t| t.probability * delta(t) * delta(t)).sum();
            let score: f64 =
                pi.iter().enumerate().map(|(b, p)| if a == b { (1.0 - p) * (1.0 - p) } else { p * p }).sum();
            sum += pi[a] * pi[a] / mu * square * score * features;
        }
        sum.is_finite().then_some(sum)
    }

    fn linear_methods(exact: &Exact<f64, Self, P>, parts: &[PartOf]) -> Option<LinearMethods> {
        linear_methods(exact, exact.model().critic(), parts)
    }
}

fn by_action(task: &Task, name: &str, symbol: &str, entry: impl Fn(usize, usize) -> f64) -> Vec<Column> {
    let column = |(a, action): (usize, &String)| {
        let values = (0..task.states()).map(|s| entry(s, a)).collect();
        Column::new(&format!("{name}.{action}"), &format!("{symbol}({action})"), values)
    };
    task.problem().actions().iter().enumerate().map(column).collect()
}

impl Diagnosable<Gaussian> for ContinuousCounterexample {
    fn policy_columns(&self, policy: &Gaussian, weights: &[f64]) -> Vec<Column> {
        let all: Vec<Normal<f64>> = (0..3).map(|s| distribution(policy, weights, s)).collect();
        let (means, deviations) = all.iter().map(|at| (at.mean, at.standard_deviation)).unzip();
        vec![
            Column::new("target.mean", "mean", means),
            Column::new("target.standard_deviation", "deviation", deviations),
        ]
    }

    fn value_columns(exact: &Exact<f64, Self, Gaussian>) -> Vec<Column> {
        let q = |s: usize| exact.action_value(s, exact.distribution(s).mean).unwrap_or(f64::NAN);
        vec![Column::new("action_value.mean", "q(mean)", (0..3).map(q).collect())]
    }

    fn update_square(exact: &Exact<f64, Self, Gaussian>, state: usize) -> Option<f64> {
        let (at, values) = (exact.distribution(state), exact.values());
        let (mean, deviation) = exact.model().behaviour();
        if 0.5 * at.standard_deviation * at.standard_deviation >= deviation * deviation {
            return None; // ρ² has no finite mean.
        }
        let delta_square = |a: f64| {
            let (right, left) = (a.sigmoid(), (-a).sigmoid());
            let square = |x: f64| x * x;
            match state {
                0 => left * square(values[1] - values[0]) + right * square(values[2] - values[0]),
                1 => square(2.0 * left - values[1]),
                _ => square(right - values[2]),
            }
        };
        // The trapezoidal rule: the integrand is smooth and vanishes at both ends.
        let step = 0.05 * at.standard_deviation.min(deviation);
        let term = |k: i32| {
            let a = at.mean + f64::from(k) * step;
            let (pi, mu) =
                (a.normal_density(at.mean, at.standard_deviation), a.normal_density(mean, deviation));
            let [by_mean, by_deviation] = at.score(a);
            let share = if pi < 1e-150 { 0.0 } else { pi * (pi / mu) };
            share * delta_square(a) * (by_mean * by_mean + by_deviation * by_deviation) * step
        };
        let sum: f64 = (-4000..=4000).map(term).sum();
        sum.is_finite().then_some(sum)
    }
}

impl Diagnosable<DeterministicLinear> for ContinuousCounterexample {
    fn policy_columns(&self, policy: &DeterministicLinear, weights: &[f64]) -> Vec<Column> {
        let actions = (0..3).map(|s| distribution(policy, weights, s)).collect();
        vec![Column::new("target.action", "action", actions)]
    }

    fn value_columns(exact: &Exact<f64, Self, DeterministicLinear>) -> Vec<Column> {
        let q = |s: usize| exact.action_value(s, *exact.distribution(s)).unwrap_or(f64::NAN);
        vec![Column::new("action_value.action", "q(action)", (0..3).map(q).collect())]
    }

    fn update_square(_: &Exact<f64, Self, DeterministicLinear>, _: usize) -> Option<f64> {
        None // Its update is not sampled with a ratio.
    }
}

/// Evaluates an expression for a problem and the kind of policy that its target is.
macro_rules! with_policy {
    ($problem:expr, $target:expr, |$model:ident, $policy:ident, $weights:ident| $body:expr) => {{
        use emphatic::KnownProblem;
        use emphatic_problems::Target;
        let target: &Target = $target;
        let $weights = target.weights();
        match ($problem, target) {
            (KnownProblem::Finite(task), Target::Fixed(fixed)) => {
                let ($model, $policy) = (&**task, fixed);
                $body
            }
            (KnownProblem::Finite(task), _) => {
                let ($model, $policy) = (&**task, &task.softmax());
                $body
            }
            (KnownProblem::Continuous(problem), Target::Deterministic(_)) => {
                let ($model, $policy) = (&**problem, &problem.deterministic());
                $body
            }
            (KnownProblem::Continuous(problem), _) => {
                let ($model, $policy) = (&**problem, &problem.gaussian());
                $body
            }
        }
    }};
}
pub(crate) use with_policy;
