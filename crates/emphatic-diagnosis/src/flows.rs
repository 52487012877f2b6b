//! Where the gradient and the semi-gradient lead.

use crate::diagnose::Options;
use crate::solve::feature_names;
use crate::subject::Subject;
use emphatic::theory::{Moment, follow};
use emphatic::{Limit, Policy, ProblemError, Random};
use serde::Serialize;
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What hears how many flows have been followed, of how many, and says whether to go on.
pub type Tell<'a> = dyn Fn(usize, usize) -> ControlFlow<()> + Sync + 'a;

/// How many flows are followed with this many random starts.
pub(crate) fn count(starts: usize) -> usize {
    STEPS + 1 + starts * LAMBDAS.len()
}

/// The λ_a that are followed from every start: the semi-gradient, the gradient and some between.
pub const LAMBDAS: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];

/// An objective that is nearer than this to the best one found, relative to the range of all that were seen, reaches it.
const NEAR: f64 = 0.01;

/// The range in which the smallest λ_a is sought: steps of this, then halves.
const STEPS: usize = 20;
const HALVES: usize = 5;

/// An objective of so many times the largest reward is taken to have no bound.
const HUGE: f64 = 1e9;

/// How spread random starts are: weights of this standard deviation.
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
    /// What each λ_a reaches.
    pub reached: Vec<Reached>,
    /// The smallest λ_a from which on all reach the best objective, from the given policy. Nothing if the gradient itself does not.
    pub smallest_lambda_a: Option<f64>,
    /// The highest objective on the semi-gradient's way from the given policy.
    pub highest_on_semi_gradient: f64,
    /// Where the policies in which the gradient and the semi-gradient end are farthest apart; the farthest first.
    pub apart: Vec<Apart>,
    /// How long the gradient and the semi-gradient take to cover 95 % of their ways, in units of α times steps.
    pub times: [f64; 2],
    /// J_μ along both flows from the given policy.
    #[serde(skip)]
    pub paths: [Path; 2],
    /// The weights in which the gradient and the semi-gradient end.
    #[serde(skip)]
    pub ends: [Vec<f64>; 2],
}

/// What a λ_a reaches.
#[derive(Clone, Debug, Serialize)]
pub struct Reached {
    /// λ_a.
    pub lambda_a: f64,
    /// From the given policy; nothing if the flow left what can be computed.
    pub objective: Option<f64>,
    /// Whether it had settled there.
    pub settled: bool,
    /// From each random start.
    pub from_random: Vec<Option<f64>>,
}

/// A state in which the gradient and the semi-gradient end with different policies.
#[derive(Clone, Debug, Serialize)]
pub struct Apart {
    /// What the policy sees: the states that look alike.
    pub states: String,
    /// What is compared: `π(A0)`, `mean` or `action`.
    pub what: String,
    /// At the end of the gradient's flow.
    pub gradient: f64,
    /// At the end of the semi-gradient's.
    pub semi_gradient: f64,
}

/// A flow: time (α times steps), weights and objective.
#[derive(Clone, Debug, Default)]
pub struct Path {
    /// Its moments.
    pub moments: Vec<(f64, Vec<f64>, f64)>,
}

/// A flow and where it ends; nothing if it left what can be computed.
struct Followed {
    limit: Option<Limit>,
    path: Path,
    unbounded: bool,
}

/// What is followed: from which start, with which λ_a.
struct Job {
    start: usize,
    lambda_a: f64,
}

impl Flows {
    /// Whether an objective is as good as the best.
    pub fn reaches(&self, objective: Option<f64>) -> bool {
        objective.is_some_and(|objective| objective >= self.best - self.margin())
    }

    /// Differences smaller than this are none.
    pub fn margin(&self) -> f64 {
        let all = self.reached.iter().flat_map(|r| r.from_random.iter().chain([&r.objective])).flatten();
        let lowest = all.fold(self.start, |low, x| low.min(*x));
        NEAR * (self.best - lowest)
    }

    /// What the gradient reaches.
    pub fn gradient(&self) -> &Reached {
        &self.reached[LAMBDAS.len() - 1]
    }

    /// What the semi-gradient reaches.
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

    /// Whether there is a policy that flows lead to, which the start is not already.
    pub fn leads_somewhere(&self) -> bool {
        !self.unbounded && !self.is_flat()
    }

    /// Whether nothing that was tried changed the objective.
    pub fn is_flat(&self) -> bool {
        let range = self.margin() / NEAR;
        range <= 1e-9 * self.best.abs() || range == 0.0
    }
}

/// What flows need to know of the problem besides its model.
pub(crate) struct Named<'a> {
    pub(crate) states: &'a [String],
    pub(crate) features: &'a emphatic::Table,
    pub(crate) largest_reward: f64,
}

/// Follows flows from the given weights and from random ones. Nothing if it was told to stop.
pub(crate) fn flows<P: Policy + Sync, M: Subject<P>>(
    model: &M,
    policy: &P,
    weights: &[f64],
    named: &Named,
    options: &Options,
    starts: usize,
    tell: &Tell,
) -> Result<Option<Flows>, ProblemError> {
    let random = |run: usize| -> Vec<f64> {
        let mut random = Random::new(options.seed, run as u64);
        (0..weights.len()).map(|_| SPREAD * random.normal()).collect()
    };
    let starting: Vec<Vec<f64>> = std::iter::once(weights.to_vec()).chain((0..starts).map(random)).collect();
    let scan = (0..=STEPS).map(|k| Job { start: 0, lambda_a: k as f64 / STEPS as f64 });
    let others = (1..=starts).flat_map(|start| LAMBDAS.map(|lambda_a| Job { start, lambda_a }));
    let jobs: Vec<Job> = scan.chain(others).collect();
    let bound = HUGE * named.largest_reward;
    let run = |job: &Job| {
        let path = job.start == 0 && (job.lambda_a == 0.0 || job.lambda_a == 1.0);
        follow_one(model, policy, &starting[job.start], job.lambda_a, bound, path)
    };
    let Some(all) = in_threads(&jobs, options.threads, run, tell) else { return Ok(None) };
    let (scan, others) = all.split_at(STEPS + 1);

    let start = emphatic::Exact::new(model, policy, weights)?.objective();
    let objective = |f: &Followed| f.limit.as_ref().map(|limit| limit.objective);
    let best = all.iter().filter_map(objective).fold(start, f64::max);
    let reached = LAMBDAS
        .iter()
        .enumerate()
        .map(|(k, &lambda_a)| {
            let given = &scan[k * STEPS / (LAMBDAS.len() - 1)];
            Reached {
                lambda_a,
                objective: objective(given),
                settled: given.limit.as_ref().is_some_and(|limit| limit.settled),
                from_random: others.chunks(LAMBDAS.len()).map(|of_start| objective(&of_start[k])).collect(),
            }
        })
        .collect();
    let (semi, gradient) = (&scan[0], &scan[STEPS]);
    let ends =
        [gradient, semi].map(|f| f.limit.as_ref().map_or(weights.to_vec(), |limit| limit.weights.clone()));
    let mut flows = Flows {
        start,
        best,
        unbounded: all.iter().any(|f| f.unbounded),
        reached,
        smallest_lambda_a: None,
        highest_on_semi_gradient: semi.path.moments.iter().fold(start, |high, moment| high.max(moment.2)),
        apart: apart(model, policy, &ends, named),
        times: [gradient, semi].map(|f| time_to_cover(&f.path, start, objective(f).unwrap_or(start))),
        paths: [gradient.path.clone(), semi.path.clone()],
        ends,
    };
    let scanned: Vec<bool> = scan.iter().map(|f| flows.reaches(objective(f))).collect();
    flows.smallest_lambda_a = smallest(&scanned, |lambda_a| {
        flows.reaches(objective(&follow_one(model, policy, weights, lambda_a, bound, false)))
    });
    Ok(Some(flows))
}

/// Follows one flow, until its objective passes `bound`; its path is kept if it is asked for.
fn follow_one<P: Policy, M: Subject<P>>(
    model: &M,
    policy: &P,
    weights: &[f64],
    lambda_a: f64,
    bound: f64,
    keep_path: bool,
) -> Followed {
    let mut path = Path::default();
    let mut unbounded = false;
    let limit = follow(model, policy, weights, lambda_a, &mut |Moment { time, weights, objective }| {
        if keep_path {
            // A learner divides its step-size by the number of active features.
            path.moments.push((time * policy.features().most_active() as f64, weights.to_vec(), objective));
        }
        unbounded = objective > bound;
        if objective.abs() > bound { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    Followed { limit: limit.ok(), path, unbounded }
}

/// The λ_a from which on every one of the scan reaches the best, refined by halves.
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
    for _ in 0..HALVES {
        let middle = 0.5 * (low + high);
        if reaches(middle) { high = middle } else { low = middle }
    }
    Some(high)
}

/// When 95 % of the way from one objective to another is covered for good.
fn time_to_cover(path: &Path, start: f64, end: f64) -> f64 {
    let there = |objective: f64| (end - objective).abs() <= 0.05 * (end - start).abs();
    let last = path.moments.iter().rposition(|moment| !there(moment.2));
    match last.and_then(|last| path.moments.get(last + 1)) {
        Some(moment) => moment.0,
        None => path.moments.first().map_or(0.0, |moment| moment.0),
    }
}

/// In which groups of states two policies differ, the most first.
fn apart<P: Policy, M: Subject<P>>(model: &M, policy: &P, ends: &[Vec<f64>; 2], named: &Named) -> Vec<Apart> {
    let [one, other] = ends.each_ref().map(|weights| model.policy_columns(policy, weights));
    let names = look_alike(named.features, named.states);
    let mut all: Vec<(f64, Apart)> = Vec::new();
    for (one, other) in one.into_iter().zip(other) {
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
    // In each group the difference that is largest is enough.
    let mut seen = std::collections::BTreeSet::new();
    all.into_iter().map(|(_, apart)| apart).filter(|apart| seen.insert(apart.states.clone())).collect()
}

/// For the first of the states that look alike, the names of all; nothing for the others.
fn look_alike(features: &emphatic::Table, states: &[String]) -> Vec<Option<String>> {
    let names = feature_names(features, states);
    let mut seen = vec![false; features.len()];
    let name = |(s, state): (usize, &String)| {
        let active: Vec<usize> = features.active(s).map(|(f, _)| f).collect();
        match active[..] {
            [f] => (!std::mem::replace(&mut seen[f], true)).then(|| names[f].clone()),
            _ => Some(state.clone()),
        }
    };
    states.iter().enumerate().map(name).collect()
}

/// Does all tasks on some threads; results are in the order of the tasks, whoever did them. Nothing if it was told to stop.
fn in_threads<T: Sync, R: Send>(
    tasks: &[T],
    threads: usize,
    run: impl Fn(&T) -> R + Sync,
    tell: &Tell,
) -> Option<Vec<R>> {
    let next = AtomicUsize::new(0);
    let done = AtomicUsize::new(0);
    let results: Vec<Mutex<Option<R>>> = tasks.iter().map(|_| Mutex::new(None)).collect();
    let work = || {
        while let Some((task, result)) =
            Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|k| Some((tasks.get(k)?, &results[k])))
        {
            let outcome = run(task);
            if let Ok(mut place) = result.lock() {
                *place = Some(outcome);
            }
            if tell(done.fetch_add(1, Ordering::Relaxed) + 1, tasks.len()).is_break() {
                next.store(tasks.len(), Ordering::Relaxed);
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads.min(tasks.len()) {
            // Where no more threads are to be had, those that are there do the work.
            if std::thread::Builder::new().spawn_scoped(scope, work).is_err() {
                break;
            }
        }
        work();
    });
    results.into_iter().map(|result| result.into_inner().ok().flatten()).collect()
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

    #[test]
    fn results_come_in_order() {
        let tasks: Vec<usize> = (0..50).collect();
        let results = in_threads(&tasks, 3, |task| task * 2, &|_, _| ControlFlow::Continue(()));
        assert_eq!(results, Some((0..50).map(|k| 2 * k).collect()));
    }

    #[test]
    fn nothing_more_is_done_once_it_was_told_to_stop() {
        let tasks: Vec<usize> = (0..50).collect();
        let begun = AtomicUsize::new(0);
        let run = |_: &usize| begun.fetch_add(1, Ordering::Relaxed);
        let tell =
            |done: usize, _: usize| if done < 5 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) };
        assert_eq!(in_threads(&tasks, 2, run, &tell), None);
        assert!(begun.into_inner() < 10);
    }
}
