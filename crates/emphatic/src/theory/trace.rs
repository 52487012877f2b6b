//! How far the follow-on trace spreads about its mean.
//!
//! F_t = ρ_{t−1} γ_t F_{t−1} + i(S_t) has the mean f(s) = m(s)/d_μ(s) in state s. What is not foreseen in one step is its surprise
//! e = ρ γ f(s) + i(s′) − f(s′), and the variance of F, relative to the square of its mean, obeys
//!
//! ```text
//! κ(s′) = Σ B(s′, s) κ(s) + c(s′),    B(s′, s) = Σ_a b(s, a | s′) (ρ γ f(s)/f(s′))²,    c(s′) = Σ b(s, a | s′) (e/f(s′))²
//! ```
//!
//! where b(s, a | s′) = d_μ(s) μ(a|s) P(s′|s,a)/d_μ(s′) says where s′ was entered from. All terms are positive: nothing is lost where
//! the trace hardly varies. The variance is finite exactly if the spectral radius of B is below one. It is that of
//! Q(s, s′) = Σ_a π²/μ P γ², which passes second moments on, but what is missing from B's rows to one is known however near it is to nothing:
//! with j = i(s′)/f(s′) it is j (2 − j) − c(s′).

use super::chain::{Chain, Row};
use super::differences::Differences;
use super::order::Order;
use super::radius::{grows, spectral_radius};
use super::wide::Wide;
use super::{Exact, Model};
use crate::policy::Policy;
use std::sync::{Arc, OnceLock};

/// How much of a surprise rounding may be, relative to what it is the difference of.
const ROUNDING: f64 = 1e-13;

/// The row of a state that nothing leads to.
const ALONE: Row<Wide> = (Vec::new(), [Wide::ONE, Wide::ZERO]);

/// One way in which the behaviour goes on from a state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Way {
    /// The state it leads to.
    pub next: usize,
    /// The probability of what the behaviour does, zero if only the target does it.
    pub behaviour: f64,
    /// The probability of the way, given what is done.
    pub probability: f64,
    /// ρ γ, or its mean; infinite if there is no ratio.
    pub passed: f64,
    /// 1 − ρ γ, computed without taking large numbers from each other.
    pub lost: f64,
    /// The variance of ρ γ, where it is not the same whenever this way is taken.
    pub variance: f64,
}

/// A model that knows how its behaviour's experience bears on policies of the form `P`.
pub trait Experience<P: Policy>: Model<P> {
    /// Where the behaviour leads, and what is passed on of the trace; besides, ways on which only the target would pass it on.
    fn ways(&self, policy: &P, at: &P::Distribution<f64>, state: usize) -> Vec<Way>;

    /// Q(s, ·) = Σ_a π²/μ P γ²: how the square of the trace is passed on. Nothing if ρ² has no finite mean: the policy takes an
    /// action that the behaviour never takes, or has too wide a density.
    fn squared(&self, policy: &P, at: &P::Distribution<f64>, state: usize) -> Option<Vec<(usize, f64)>> {
        let square = |way: Way| {
            let square = way.behaviour * way.probability * (way.passed * way.passed + way.variance);
            square.is_finite().then_some((way.next, square))
        };
        self.ways(policy, at, state).into_iter().map(square).collect()
    }
}

/// The spread of the follow-on trace for one policy, exactly.
///
/// ```
/// use emphatic::{Exact, Task, Trace};
/// let task = Task::counterexample();
/// let policy = task.softmax();
/// let exact = Exact::new(&task, &policy, &[0.0; 4])?;
/// let trace = Trace::new(&exact);
/// assert_eq!(trace.spectral_radius(), Some([0.0, 0.0])); // Episodes end before anything can grow.
/// // F is 1 in S0; in S1 it is 1 + ρ₀ with ρ₀ = 0.5/0.25 always.
/// assert_eq!(trace.standard_deviations().unwrap(), [0.0, 0.0, 0.0]);
/// # Ok::<(), emphatic::ProblemError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Trace<'a, M, P: Policy> {
    mean: Mean<'a, M, P>,
    /// Nothing if ρ² has no finite mean.
    spread: Option<Spread>,
    second_moment: Option<Vec<f64>>,
    /// The behaviour's chain, cut at one state: its Poisson equations, once they are asked for. Nothing if they fill too much.
    poisson: OnceLock<Option<(Chain<Wide>, usize)>>,
}

/// The trace's mean, and how a step departs from it.
#[derive(Clone, Debug)]
struct Mean<'a, M, P: Policy> {
    exact: &'a Exact<'a, f64, M, P>,
    chain: Chain<Wide>,
    visits: Vec<Wide>,
    /// f.
    of: Differences,
    /// f − i, computed without subtracting.
    passed: Vec<Wide>,
    /// The ways that the behaviour goes, by state; none out of states that it never visits.
    steps: Vec<Vec<Step>>,
}

/// The trace's relative variance.
#[derive(Clone, Debug)]
struct Spread {
    radius: [f64; 2],
    /// κ, zero where it is infinite.
    variance: Vec<Wide>,
    infinite: Vec<bool>,
}

impl<'a, P: Policy, M: Experience<P>> Trace<'a, M, P> {
    /// The spread of the trace for a policy that has been solved.
    pub fn new(exact: &'a Exact<'a, f64, M, P>) -> Self {
        let mean = Mean::new(exact);
        let spread = mean.has_squares().then(|| Spread::new(&mean));
        let second_moment = spread.as_ref().map(|spread| {
            let of = |s: usize| match spread.infinite[s] {
                true => f64::INFINITY,
                false => (mean.visits[s] * mean.square(s) * (Wide::ONE + spread.variance[s])).get(),
            };
            (0..mean.visits.len()).map(of).collect()
        });
        Self { mean, spread, second_moment, poisson: OnceLock::new() }
    }

    /// The spectral radius of Q lies between these two, which are equal to nine digits. Nothing if ρ² has no
    /// finite mean somewhere.
    pub fn spectral_radius(&self) -> Option<[f64; 2]> {
        self.spread.as_ref().map(|spread| spread.radius)
    }

    /// Whether the trace has a finite variance in all states.
    pub fn is_finite(&self) -> bool {
        self.spread.as_ref().is_some_and(|spread| !spread.infinite.contains(&true))
    }

    /// E[F_t | S_t = s] = m(s)/d_μ(s), by state: 0 in states that are never visited.
    pub fn means(&self) -> Vec<f64> {
        self.mean.of.x.iter().map(|mean| mean.get()).collect()
    }

    /// The standard deviation of F_t given S_t = s, by state: infinite where it is, 0 in states that are never visited. Nothing
    /// if ρ² has no finite mean somewhere.
    pub fn standard_deviations(&self) -> Option<Vec<f64>> {
        let spread = self.spread.as_ref()?;
        let of = |s: usize| match spread.infinite[s] {
            true => f64::INFINITY,
            false => (self.mean.of.x[s] * spread.variance[s].sqrt()).get(),
        };
        Some((0..spread.infinite.len()).map(of).collect())
    }

    /// E[F_t² | S_t = s] d_μ(s), by state: infinite where it is. Nothing if ρ² has no finite mean somewhere.
    pub fn second_moment(&self) -> Option<&[f64]> {
        self.second_moment.as_deref()
    }

    /// After how many steps the mean of F_t w(S_t) over time is within `relative` of Σ_s m(s) w(s), as one standard error. With w
    /// the indicator of a state, that is how long it takes to estimate m there. Infinite where the trace's variance is.
    ///
    /// The correlation of one step with the next is taken into account. With β = (I − P_{π,γ})⁻¹ w, and α the solution of the
    /// Poisson equation α(s) = E[α(s′) + e β(s′)] + f(s) w(s) − Σ m w under the behaviour, F_t w(S_t) − Σ m w adds up to what a martingale does
    /// whose steps are (F_t − f(s)) (ρ γ β(s′) − β(s) + w(s)) + e β(s′) + α(s′) − α(s) + f(s) w(s) − Σ m w. The two parts are not correlated, so the
    /// variance is the sum of their squares.
    ///
    /// # Panics
    ///
    /// If there is not a weight for each state.
    pub fn steps(&self, weights: &[f64], relative: f64) -> f64 {
        let Some(spread) = &self.spread else { return f64::INFINITY };
        if spread.infinite.iter().zip(weights).any(|(infinite, weight)| *infinite && *weight != 0.0) {
            return f64::INFINITY;
        }
        let Some((poisson, cut)) = self.poisson.get_or_init(|| poisson(&self.mean)) else {
            return f64::INFINITY;
        };
        let mean = &self.mean;
        let n = mean.visits.len();
        let weights: Vec<Wide> = weights.iter().map(|weight| Wide::new(*weight)).collect();
        let all: Wide = (0..n).map(|s| mean.visits[s] * mean.of.x[s] * weights[s]).sum();
        let beta = mean.chain.solve_finely(&weights);
        let own = |s: usize| mean.of.x[s] * weights[s] - all;
        let source = |s: usize| match s == *cut {
            true => Wide::ZERO,
            false => mean.expected(s, |step| step.surprise * beta.x[step.next]) + own(s),
        };
        let alpha = poisson.solve_finely(&(0..n).map(source).collect::<Vec<_>>());
        let square = |x: Wide| x * x;
        let of_state = |s: usize| {
            let onward = mean.expected(s, |step| step.passed * beta.x[step.next]);
            let of_step = |step: &Step| {
                let next = step.next;
                let surprise = match step.is_near() {
                    true => beta.between(next, s) - step.lost * beta.x[next] + weights[s],
                    false => step.passed * beta.x[next] - onward,
                };
                let whole = step.surprise * beta.x[next] + alpha.between(next, s) + own(s);
                let varying = step.variance * square(beta.x[next]);
                square(whole) + mean.square(s) * (varying + spread.variance[s] * (square(surprise) + varying))
            };
            mean.visits[s] * mean.expected(s, of_step)
        };
        let variance: Wide = (0..n).map(of_state).sum();
        (variance / square(Wide::new(relative) * all)).get()
    }
}

/// A [`Way`] that the behaviour goes.
#[derive(Clone, Debug)]
struct Step {
    next: usize,
    probability: Wide,
    passed: Wide,
    lost: Wide,
    variance: Wide,
    /// e.
    surprise: Wide,
}

impl Step {
    /// Nothing of the trace is passed on where there is none.
    fn new(way: &Way, carries: bool) -> Self {
        Self {
            next: way.next,
            probability: Wide::new(way.behaviour) * Wide::new(way.probability),
            passed: if carries { Wide::new(way.passed) } else { Wide::ZERO },
            lost: if carries { Wide::new(way.lost) } else { Wide::ONE },
            variance: if carries { Wide::new(way.variance) } else { Wide::ZERO },
            surprise: Wide::ZERO,
        }
    }

    /// Whether so much is passed on that what is lost says more.
    fn is_near(&self) -> bool {
        self.lost.abs() < Wide::new(0.5)
    }
}

impl<'a, P: Policy, M: Experience<P>> Mean<'a, M, P> {
    fn new(exact: &'a Exact<'a, f64, M, P>) -> Self {
        let chain = exact.chain.wide();
        let visits = exact.wide_visits();
        let n = visits.len();
        let interest: Vec<Wide> = exact.model.interest().iter().map(|i| Wide::new(*i)).collect();
        let of = chain.solve_backwards(&visits, &interest, || lost(exact, &visits));
        let steps = |s: usize| -> Vec<Step> {
            let taken = ways(exact, &visits, s).filter(|way| way.behaviour > 0.0);
            taken.map(|way| Step::new(&way, of.x[s].is_positive())).collect()
        };
        let mut steps: Vec<Vec<Step>> = (0..n).map(steps).collect();
        let mut passed = vec![Wide::ZERO; n];
        for (s, step) in
            steps.iter().enumerate().flat_map(|(s, steps)| steps.iter().map(move |step| (s, step)))
        {
            passed[step.next] += visits[s] * step.probability * step.passed * of.x[s] / visits[step.next];
        }
        for (s, step) in
            steps.iter_mut().enumerate().flat_map(|(s, steps)| steps.iter_mut().map(move |step| (s, step)))
        {
            step.surprise = surprise(&of, s, step, interest[step.next], passed[step.next]);
        }
        Self { exact, chain, visits, of, passed, steps }
    }

    /// f².
    fn square(&self, state: usize) -> Wide {
        self.of.x[state] * self.of.x[state]
    }

    /// Whether ρ² has a finite mean wherever there is a trace to pass on.
    fn has_squares(&self) -> bool {
        let finite = |way: Way| way.passed.is_finite() && way.variance.is_finite();
        let of_state = |s: usize| ways(self.exact, &self.visits, s).all(finite);
        (0..self.visits.len()).filter(|&s| self.of.x[s].is_positive()).all(of_state)
    }

    /// E[x | S_t = s] under the behaviour, of what depends on the step; zero in states that are never visited.
    fn expected(&self, state: usize, x: impl Fn(&Step) -> Wide) -> Wide {
        self.steps[state].iter().map(|step| step.probability * x(step)).sum()
    }
}

/// e = ρ γ f(s) + i(s′) − f(s′), given i(s′) and f(s′) − i(s′).
fn surprise(of: &Differences, state: usize, step: &Step, interest: Wide, expected: Wide) -> Wide {
    let (e, size) = match step.is_near() {
        true => {
            let (difference, size) = of.between_with_size(state, step.next);
            let lost = step.lost * of.x[state];
            (interest + difference - lost, interest + size + lost.abs())
        }
        false => {
            let passed = step.passed * of.x[state];
            (passed - expected, passed + expected)
        }
    };
    // A difference within rounding is none.
    if e.abs() > Wide::new(ROUNDING) * size { e } else { Wide::ZERO }
}

fn ways<P: Policy, M: Experience<P>>(
    exact: &Exact<f64, M, P>,
    visits: &[Wide],
    state: usize,
) -> impl Iterator<Item = Way> {
    let visited = visits[state].is_positive();
    let ways = visited.then(|| exact.model.ways(exact.policy, &exact.distributions[state], state));
    ways.into_iter().flatten()
}

/// Σ_s d_μ(s) Σ_a μ P (1 − ρ γ), by the state that is led to.
fn lost<P: Policy, M: Experience<P>>(exact: &Exact<f64, M, P>, visits: &[Wide]) -> Vec<Wide> {
    let mut lost = vec![Wide::ZERO; visits.len()];
    for (s, d) in visits.iter().enumerate() {
        for way in ways(exact, visits, s) {
            lost[way.next] +=
                *d * Wide::new(way.behaviour) * Wide::new(way.probability) * Wide::new(way.lost);
        }
    }
    lost
}

impl Spread {
    fn new<P: Policy, M: Experience<P>>(mean: &Mean<M, P>) -> Self {
        let order = Arc::new(mean.chain.order.transposed());
        let (mut rows, sources) = rows(mean);
        let infinite = led_to(&rows, grows(&order, &rows));
        // What is infinite leads nowhere that is not, so the rest can be solved alone.
        (0..rows.len()).filter(|&s| infinite[s]).for_each(|s| rows[s] = ALONE);
        let (chain, _) = Chain::with_pivots(order, |s| rows[s].clone());
        let mut variance = chain.solve(&sources);
        (0..variance.len()).filter(|&s| infinite[s]).for_each(|s| variance[s] = Wide::ZERO);
        Self { radius: spectral_radius(&mean.chain.order, &squares(mean)), variance, infinite }
    }
}

/// Q, in the states that carry emphasis; the trace is zero in all others.
fn squares<P: Policy, M: Experience<P>>(mean: &Mean<M, P>) -> Vec<Vec<(usize, Wide)>> {
    let square = |step: &Step| {
        let square = step.probability * (step.passed * step.passed + step.variance);
        square.is_positive().then_some((step.next, square))
    };
    mean.steps.iter().map(|steps| steps.iter().filter_map(square).collect()).collect()
}

/// B, with what is missing from its rows to one, and c.
fn rows<P: Policy, M: Experience<P>>(mean: &Mean<M, P>) -> (Vec<Row<Wide>>, Vec<Wide>) {
    let n = mean.visits.len();
    let mut rows = vec![ALONE; n];
    let mut sources = vec![Wide::ZERO; n];
    for s in 0..n {
        for step in mean.steps[s].iter().filter(|step| mean.of.x[step.next].is_positive()) {
            let next = step.next;
            let share = mean.visits[s] * step.probability / mean.visits[next] / mean.square(next);
            sources[next] += share * (step.surprise * step.surprise + mean.square(s) * step.variance);
            let square = share * mean.square(s) * (step.passed * step.passed + step.variance);
            match rows[next].0.last_mut() {
                _ if !square.is_positive() => {}
                Some((last, sum)) if *last == s => *sum += square,
                _ => rows[next].0.push((s, square)),
            }
        }
    }
    for s in (0..n).filter(|&s| mean.of.x[s].is_positive()) {
        let j = Wide::new(mean.exact.model.interest()[s]) / mean.of.x[s];
        rows[s].1 = [j * (Wide::ONE + mean.passed[s] / mean.of.x[s]), sources[s]];
    }
    (rows, sources)
}

/// The states that squares grow in, and all that these lead to, given where states are entered from.
fn led_to(rows: &[Row<Wide>], grows: Vec<bool>) -> Vec<bool> {
    let mut onward = vec![Vec::new(); rows.len()];
    for (next, row) in rows.iter().enumerate() {
        row.0.iter().for_each(|(s, _)| onward[*s].push(next));
    }
    let mut led_to = vec![false; rows.len()];
    let mut waiting: Vec<usize> = (0..rows.len()).filter(|&s| grows[s]).collect();
    while let Some(s) = waiting.pop() {
        if !std::mem::replace(&mut led_to[s], true) {
            waiting.extend(&onward[s]);
        }
    }
    led_to
}

/// The behaviour's chain in the states that it visits, cut at the one it visits most: what leads there leaves.
fn poisson<P: Policy, M: Experience<P>>(mean: &Mean<M, P>) -> Option<(Chain<Wide>, usize)> {
    let d = &mean.visits;
    let cut = (1..d.len()).fold(0, |most, s| if d[s] >= d[most] { s } else { most });
    let row = |s: usize| -> (Vec<(usize, Wide)>, Wide) {
        if s == cut || !d[s].is_positive() {
            return (Vec::new(), Wide::ONE);
        }
        let steps = mean.steps[s].iter().map(|step| (step.next, step.probability));
        let (leaving, staying): (Vec<_>, Vec<_>) = steps.partition(|(next, _)| *next == cut);
        (staying, leaving.into_iter().map(|(_, p)| p).sum())
    };
    let successors: Vec<Vec<usize>> =
        (0..d.len()).map(|s| row(s).0.into_iter().map(|entry| entry.0).collect()).collect();
    let order = Arc::new(Order::new(&successors).ok()?);
    Chain::leaking(order, row).map(|chain| (chain, cut))
}
