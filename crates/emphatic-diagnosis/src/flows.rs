//! Where the gradient and the semi-gradient lead.

use crate::diagnosable::Diagnosable;
use crate::diagnose::{Options, Progress};
use crate::names::aliased_names;
use crate::parallel::in_threads;
use emphatic::theory::{FlowPoint, integrate_flow};
use emphatic::{Exact, KnownProblem, Limit, Policy, Random};
use serde::{Serialize, Serializer};
use std::collections::BTreeSet;
use std::ops::ControlFlow;

/// The λ_a of the flows from every start: the semi-gradient, the gradient and some between.
pub const LAMBDAS: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];

/// An objective reaches the best one found if it is nearer than this, relative to the range of all objectives seen.
const NEAR: f64 = 0.01;

/// From the given policy λ_a is scanned in this many steps; the smallest that reaches the best objective is then refined by this
/// many bisections.
const STEPS: usize = 20;
const BISECTIONS: usize = 5;

/// An objective of this many times the largest reward is taken to be unbounded.
const HUGE: f64 = 1e9;

/// The standard deviation of random weights.
const SPREAD: f64 = 2.0;

/// Where flows lead.
#[derive(Clone, Debug, Serialize)]
pub struct Flows {
    /// J_μ of the policy that the first flows start from.
    pub start: f64,
    /// The best objective that any flow reached.
    pub best: f64,
    /// Whether a flow's objective grew without bound: a policy that never ends gathers reward for ever.
    pub unbounded: bool,
    /// The objectives that each λ_a reaches.
    pub reached: Vec<Reached>,
    /// The smallest λ_a from which on all reach the best objective, from the given policy. `None` if the gradient itself does not.
    pub smallest_lambda_a: Option<f64>,
    /// The highest objective along the semi-gradient's flow from the given policy.
    pub highest_on_semi_gradient: f64,
    /// The states in which the policies at the ends of the gradient's and the semi-gradient's flow differ; the largest difference
    /// first.
    pub apart: Vec<Apart>,
    /// How long both take to cover 95 % of the way, in units of α times steps.
    pub times: Both<f64>,
    /// Both flows from the given policy.
    #[serde(skip)]
    pub paths: Both<Vec<PathPoint>>,
    /// The weights in which both end.
    #[serde(skip)]
    pub ends: Both<Vec<f64>>,
}

/// One value for the gradient and one for the semi-gradient.
#[derive(Clone, Debug)]
pub struct Both<T> {
    /// Of the gradient's flow.
    pub gradient: T,
    /// Of the semi-gradient's flow.
    pub semi_gradient: T,
}

impl<T> Both<T> {
    /// The gradient's, then the semi-gradient's.
    pub fn each(&self) -> [&T; 2] {
        [&self.gradient, &self.semi_gradient]
    }

    fn map<U>(self, f: impl Fn(T) -> U) -> Both<U> {
        Both { gradient: f(self.gradient), semi_gradient: f(self.semi_gradient) }
    }
}

impl<T: Serialize> Serialize for Both<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.each().serialize(serializer)
    }
}

/// The objectives that a λ_a reaches.
#[derive(Clone, Debug, Serialize)]
pub struct Reached {
    /// λ_a.
    pub lambda_a: f64,
    /// From the given policy; `None` if the flow left the range of numbers.
    pub objective: Option<f64>,
    /// Whether it had settled there.
    pub settled: bool,
    /// From each random start.
    pub from_random: Vec<Option<f64>>,
}

/// A state in which the gradient and the semi-gradient end with different policies.
#[derive(Clone, Debug, Serialize)]
pub struct Apart {
    /// The state, or the states that look alike to the policy.
    pub states: String,
    /// The quantity that is compared: `π(A0)`, `mean` or `action`.
    pub what: String,
    /// At the end of the gradient's flow.
    pub gradient: f64,
    /// At the end of the semi-gradient's.
    pub semi_gradient: f64,
}

/// A point of a flow.
#[derive(Clone, Debug)]
pub struct PathPoint {
    /// α times steps.
    pub time: f64,
    /// θ.
    pub weights: Vec<f64>,
    /// J_μ.
    pub objective: f64,
}

impl Flows {
    /// Whether an objective is as good as the best.
    pub fn reaches(&self, objective: Option<f64>) -> bool {
        objective.is_some_and(|objective| objective >= self.best - self.margin())
    }

    /// The difference below which two objectives count as the same.
    pub fn margin(&self) -> f64 {
        let all = self.reached.iter().flat_map(|r| r.from_random.iter().chain([&r.objective])).flatten();
        let lowest = all.fold(self.start, |low, x| low.min(*x));
        NEAR * (self.best - lowest)
    }

    /// The objectives that the gradient reaches.
    pub fn gradient(&self) -> &Reached {
        &self.reached[LAMBDAS.len() - 1]
    }

    /// The objectives that the semi-gradient reaches.
    pub fn semi_gradient(&self) -> &Reached {
        &self.reached[0]
    }

    /// By how much the semi-gradient ends below the gradient: from the given policy, and from each random start.
    pub(crate) fn falls(&self) -> (f64, Vec<f64>) {
        let fall = |semi: &Option<f64>, full: &Option<f64>| match (semi, full) {
            (Some(semi), Some(full)) => full - semi,
            (None, Some(_)) => f64::INFINITY,
            _ => 0.0,
        };
        let (semi, full) = (self.semi_gradient(), self.gradient());
        let random = semi.from_random.iter().zip(&full.from_random).map(|(semi, full)| fall(semi, full));
        (fall(&semi.objective, &full.objective), random.collect())
    }

    /// Whether the semi-gradient ended as well as the gradient from every start.
    pub fn semi_gradient_is_safe(&self) -> bool {
        let (given, random) = self.falls();
        random.into_iter().chain([given]).all(|fall| fall <= self.margin())
    }

    /// Whether flows lead to a policy, and to a better one than the start.
    pub fn leads_somewhere(&self) -> bool {
        !self.unbounded && !self.is_flat()
    }

    /// Whether the objective was the same for all policies that were tried.
    pub fn is_flat(&self) -> bool {
        let range = self.margin() / NEAR;
        range <= 1e-9 * self.best.abs() || range == 0.0
    }
}

/// The number of flows with this many random starts.
pub(crate) fn count(starts: usize) -> usize {
    STEPS + 1 + starts * LAMBDAS.len()
}

/// Integrates flows from the given weights, which have been solved, and from random ones. `None` if `progress` returned `Break`.
pub(crate) fn flows<P: Policy + Sync, M: Diagnosable<P>>(
    exact: &Exact<f64, M, P>,
    weights: &[f64],
    problem: &KnownProblem,
    options: &Options,
    starts: usize,
    progress: &Progress,
) -> Option<Flows> {
    let (model, policy) = (exact.model(), exact.policy());
    let field = Field { model, policy, bound: HUGE * largest_reward(problem) };
    let ends = in_threads(
        &jobs(starts),
        options.threads,
        |job| {
            let keep_path = job.start == 0 && (job.lambda_a == 0.0 || job.lambda_a == 1.0);
            let random = |run| random_weights(weights.len(), options.seed, run);
            let start = job.start.checked_sub(1).map_or(weights.to_vec(), random);
            field.integrate(&start, job.lambda_a, keep_path)
        },
        progress,
    )?;
    let (scan, random) = ends.split_at(STEPS + 1);
    let start = exact.objective();
    let both = Both { gradient: &scan[STEPS], semi_gradient: &scan[0] };
    let end_weights =
        both.clone().map(|end| end.limit.as_ref().map_or(weights.to_vec(), |limit| limit.weights.clone()));
    let semi_gradient = both.semi_gradient.path.iter();
    let mut flows = Flows {
        start,
        best: ends.iter().filter_map(End::objective).fold(start, f64::max),
        unbounded: ends.iter().any(|end| end.unbounded),
        reached: reached(scan, random),
        smallest_lambda_a: None,
        highest_on_semi_gradient: semi_gradient.fold(start, |high, point| high.max(point.objective)),
        apart: apart(model, policy, &end_weights, problem),
        times: both.clone().map(|end| time_to_cover(&end.path, start, end.objective().unwrap_or(start))),
        paths: both.map(|end| end.path.clone()),
        ends: end_weights,
    };
    let scanned: Vec<bool> = scan.iter().map(|end| flows.reaches(end.objective())).collect();
    flows.smallest_lambda_a =
        smallest(&scanned, |lambda_a| flows.reaches(field.integrate(weights, lambda_a, false).objective()));
    Some(flows)
}

/// The largest absolute reward.
fn largest_reward(problem: &KnownProblem) -> f64 {
    let KnownProblem::Finite(task) = problem else { return 2.0 };
    task.problem().all_transitions().iter().map(|t| t.reward.abs()).fold(0.0, f64::max)
}

/// A flow to be integrated: start 0 is the given policy, the others are random.
struct Job {
    start: usize,
    lambda_a: f64,
}

/// The scan of λ_a from the given policy, then the flows from each random start.
fn jobs(starts: usize) -> Vec<Job> {
    let scan = (0..=STEPS).map(|k| Job { start: 0, lambda_a: k as f64 / STEPS as f64 });
    let random = (1..=starts).flat_map(|start| LAMBDAS.map(|lambda_a| Job { start, lambda_a }));
    scan.chain(random).collect()
}

fn random_weights(len: usize, seed: u64, run: usize) -> Vec<f64> {
    let mut random = Random::new(seed, run as u64);
    (0..len).map(|_| SPREAD * random.normal()).collect()
}

fn reached(scan: &[End], random: &[End]) -> Vec<Reached> {
    let of_lambda = |(k, &lambda_a): (usize, &f64)| {
        let given = &scan[k * STEPS / (LAMBDAS.len() - 1)];
        Reached {
            lambda_a,
            objective: given.objective(),
            settled: given.limit.as_ref().is_some_and(|limit| limit.settled),
            from_random: random.chunks(LAMBDAS.len()).map(|of_start| of_start[k].objective()).collect(),
        }
    };
    LAMBDAS.iter().enumerate().map(of_lambda).collect()
}

/// The field whose flows are integrated, until the objective passes `bound`.
struct Field<'a, M, P> {
    model: &'a M,
    policy: &'a P,
    bound: f64,
}

/// The end of a flow; the limit is `None` if the flow left the range of numbers.
struct End {
    limit: Option<Limit>,
    path: Vec<PathPoint>,
    unbounded: bool,
}

impl End {
    fn objective(&self) -> Option<f64> {
        self.limit.as_ref().map(|limit| limit.objective)
    }
}

impl<P: Policy, M: Diagnosable<P>> Field<'_, M, P> {
    fn integrate(&self, weights: &[f64], lambda_a: f64, keep_path: bool) -> End {
        let (mut path, mut unbounded) = (Vec::new(), false);
        let mut watch = |FlowPoint { time, weights, objective }: FlowPoint| {
            if keep_path {
                // A learner divides its step-size by the number of active features.
                let time = time * self.policy.features().most_active() as f64;
                path.push(PathPoint { time, weights: weights.to_vec(), objective });
            }
            unbounded = objective > self.bound;
            if objective.abs() > self.bound { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let limit = integrate_flow(self.model, self.policy, weights, lambda_a, &mut watch);
        End { limit: limit.ok(), path, unbounded }
    }
}

/// The λ_a from which on every one of the scan reaches the best, refined by bisection.
fn smallest(scanned: &[bool], reaches: impl Fn(f64) -> bool) -> Option<f64> {
    let steps = scanned.len() - 1;
    let first = scanned.iter().rposition(|reaches| !reaches).map_or(0, |last| last + 1);
    if first > steps {
        return None;
    }
    if first == 0 {
        return Some(0.0);
    }
    let (mut low, mut high) = ((first - 1) as f64 / steps as f64, first as f64 / steps as f64);
    for _ in 0..BISECTIONS {
        let middle = 0.5 * (low + high);
        if reaches(middle) { high = middle } else { low = middle }
    }
    Some(high)
}

/// The time at which 95 % of the way from one objective to another is covered for good.
fn time_to_cover(path: &[PathPoint], start: f64, end: f64) -> f64 {
    let is_there = |objective: f64| (end - objective).abs() <= 0.05 * (end - start).abs();
    let last = path.iter().rposition(|point| !is_there(point.objective));
    match last.and_then(|last| path.get(last + 1)) {
        Some(point) => point.time,
        None => path.first().map_or(0.0, |point| point.time),
    }
}

/// The groups of states in which the two policies differ, the largest difference first.
fn apart<P: Policy, M: Diagnosable<P>>(
    model: &M,
    policy: &P,
    ends: &Both<Vec<f64>>,
    problem: &KnownProblem,
) -> Vec<Apart> {
    let columns = |weights: &Vec<f64>| model.policy_columns(policy, weights);
    let (gradient, semi_gradient) = (columns(&ends.gradient), columns(&ends.semi_gradient));
    let names = aliased_names(problem.actor(), problem.states());
    let mut all: Vec<(f64, Apart)> = Vec::new();
    for (one, other) in gradient.into_iter().zip(semi_gradient) {
        for (s, name) in names.iter().enumerate() {
            let (gradient, semi_gradient) = (one.values[s], other.values[s]);
            if let Some(states) = name.clone() {
                let what = one.symbol.clone();
                all.push(((gradient - semi_gradient).abs(), Apart { states, what, gradient, semi_gradient }));
            }
        }
    }
    all.retain(|(distance, _)| *distance > 0.01);
    all.sort_by(|a, b| b.0.total_cmp(&a.0));
    // In each group the largest difference is enough.
    let mut seen = BTreeSet::new();
    all.into_iter().map(|(_, apart)| apart).filter(|apart| seen.insert(apart.states.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_lambda_a_is_where_the_last_failure_ends() {
        let found = smallest(&[false, true, false, true, true], |x| x >= 0.6).unwrap();
        assert!((found - 0.6).abs() < 0.25 / 32.0, "{found}");
        assert_eq!(smallest(&[true, true], |_| true), Some(0.0));
        assert_eq!(smallest(&[true, false], |_| true), None);
    }
}
