//! What the questions are asked about: a problem with a policy, whatever kind of action it has.

use emphatic::theory::Experience;
use emphatic::{
    ContinuousCounterexample, DeterministicLinear, Exact, FinitePolicy, Gaussian, Normal, Policy, Real, Task,
};

/// A quantity in each state.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// As it is called in data: `target.A0`.
    pub name: String,
    /// As it is written in text: π(A0).
    pub symbol: String,
    /// By state.
    pub values: Vec<f64>,
}

impl Column {
    pub(crate) fn new(name: &str, symbol: &str, values: Vec<f64>) -> Self {
        Self { name: name.to_owned(), symbol: symbol.to_owned(), values }
    }
}

/// A problem in which policies of the form `P` can be asked about.
pub(crate) trait Subject<P: Policy>: Experience<P> + Sync {
    /// What the policy does in each state.
    fn policy_columns(&self, policy: &P, weights: &[f64]) -> Vec<Column>;

    /// The action-values in each state.
    fn value_columns(&self, policy: &P, weights: &[f64], exact: &Exact<f64, Self, P>) -> Vec<Column>
    where
        Self: Sized;

    /// Σ_a π²/μ E[δ²] |∇ ln π|² in a state: the square of an update with emphasis 1. Nothing if there is no such update,
    /// or its mean is infinite.
    fn update_square(&self, policy: &P, weights: &[f64], state: usize, values: &[f64]) -> Option<f64>;
}

impl<P: FinitePolicy<Distribution<f64> = Vec<f64>>> Subject<P> for Task {
    fn policy_columns(&self, policy: &P, weights: &[f64]) -> Vec<Column> {
        let rows: Vec<Vec<f64>> = (0..self.states()).map(|s| at(policy, weights, s)).collect();
        by_action(self, "target", "π", |s, a| rows[s][a])
    }

    fn value_columns(&self, _: &P, _: &[f64], exact: &Exact<f64, Self, P>) -> Vec<Column> {
        let q = exact.action_values();
        by_action(self, "action_value", "q", |s, a| q[s][a])
    }

    fn update_square(&self, policy: &P, weights: &[f64], state: usize, values: &[f64]) -> Option<f64> {
        let pi = at(policy, weights, state);
        let features: f64 = self.actor().active(state).map(|(_, x)| x * x).sum();
        let mut sum = 0.0;
        for (a, mu) in self.behaviour(state).iter().enumerate().filter(|(a, _)| pi[*a] > 0.0) {
            let delta = |t: &emphatic::Transition| t.reward + t.gamma * values[t.next] - values[state];
            let ways = self.problem().transitions(state, a);
            let square: f64 = ways.iter().map(|t| t.probability * delta(t) * delta(t)).sum();
            let score: f64 =
                pi.iter().enumerate().map(|(b, p)| if a == b { (1.0 - p) * (1.0 - p) } else { p * p }).sum();
            sum += pi[a] * pi[a] / mu * square * score * features;
        }
        sum.is_finite().then_some(sum)
    }
}

fn by_action(task: &Task, name: &str, symbol: &str, entry: impl Fn(usize, usize) -> f64) -> Vec<Column> {
    let column = |(a, action): (usize, &String)| {
        let values = (0..task.states()).map(|s| entry(s, a)).collect();
        Column::new(&format!("{name}.{action}"), &format!("{symbol}({action})"), values)
    };
    task.problem().actions().iter().enumerate().map(column).collect()
}

/// How a policy acts in a state.
pub(crate) fn at<P: Policy>(policy: &P, weights: &[f64], state: usize) -> P::Distribution<f64> {
    let mut at = policy.room();
    policy.distribution(weights, policy.features().of_number(state), &mut at);
    at
}

impl Subject<Gaussian> for ContinuousCounterexample {
    fn policy_columns(&self, policy: &Gaussian, weights: &[f64]) -> Vec<Column> {
        let all: Vec<Normal<f64>> = (0..3).map(|s| at(policy, weights, s)).collect();
        vec![
            Column::new("target.mean", "mean", all.iter().map(|at| at.mean).collect()),
            Column::new(
                "target.standard_deviation",
                "deviation",
                all.iter().map(|at| at.standard_deviation).collect(),
            ),
        ]
    }

    fn value_columns(
        &self,
        policy: &Gaussian,
        weights: &[f64],
        exact: &Exact<f64, Self, Gaussian>,
    ) -> Vec<Column> {
        let q = |s: usize| exact.action_value(s, at(policy, weights, s).mean).unwrap_or(f64::NAN);
        vec![Column::new("action_value.mean", "q(mean)", (0..3).map(q).collect())]
    }

    fn update_square(&self, policy: &Gaussian, weights: &[f64], state: usize, values: &[f64]) -> Option<f64> {
        let at: Normal<f64> = at(policy, weights, state);
        let (mean, deviation) = self.behaviour();
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
        // A sum over a lattice: the integrand is smooth and vanishes at both ends.
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

impl Subject<DeterministicLinear> for ContinuousCounterexample {
    fn policy_columns(&self, policy: &DeterministicLinear, weights: &[f64]) -> Vec<Column> {
        vec![Column::new("target.action", "action", (0..3).map(|s| at(policy, weights, s)).collect())]
    }

    fn value_columns(
        &self,
        policy: &DeterministicLinear,
        weights: &[f64],
        exact: &Exact<f64, Self, DeterministicLinear>,
    ) -> Vec<Column> {
        let q = |s: usize| exact.action_value(s, at(policy, weights, s)).unwrap_or(f64::NAN);
        vec![Column::new("action_value.action", "q(action)", (0..3).map(q).collect())]
    }

    fn update_square(&self, _: &DeterministicLinear, _: &[f64], _: usize, _: &[f64]) -> Option<f64> {
        None // Its update is computed from the problem, not sampled with a ratio.
    }
}

/// Runs an expression for a problem with the kind of policy that its target is.
macro_rules! with_subject {
    ($world:expr, $target:expr, |$model:ident, $policy:ident, $weights:ident| $body:expr) => {{
        use emphatic::Policy;
        use emphatic_problems::{Target, World};
        match ($world, $target) {
            (World::Finite(task), Target::Fixed(fixed)) => {
                let ($model, $policy, $weights): (_, _, &[f64]) = (&**task, fixed, &[]);
                $body
            }
            (World::Finite(task), target) => {
                let ($model, $policy) = (&**task, &task.softmax());
                let zeros = vec![0.0; $policy.len()];
                let $weights: &[f64] = if let Target::Softmax(weights) = target { weights } else { &zeros };
                $body
            }
            (World::Continuous(problem), Target::Deterministic(weights)) => {
                let ($model, $policy, $weights): (_, _, &[f64]) =
                    (&**problem, &problem.deterministic(), weights);
                $body
            }
            (World::Continuous(problem), target) => {
                let ($model, $policy) = (&**problem, &problem.gaussian());
                let zeros = vec![0.0; $policy.len()];
                let $weights: &[f64] = if let Target::Gaussian(weights) = target { weights } else { &zeros };
                $body
            }
        }
    }};
}
pub(crate) use with_subject;
