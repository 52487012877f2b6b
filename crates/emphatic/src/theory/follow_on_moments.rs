//! The mean, the variance and the second moment of the follow-on trace.
//!
//! F_t = ρ_{t−1} γ_t F_{t−1} + i(S_t) has the mean f(s) = m(s)/d_μ(s) in state s. With the error e = ρ γ f(s) + i(s′) − f(s′) of
//! predicting f one step ahead, the variance of F, relative to the square of its mean, satisfies
//!
//! ```text
//! κ(s′) = Σ B(s′, s) κ(s) + c(s′),    B(s′, s) = Σ_a b(s, a | s′) (ρ γ f(s)/f(s′))²,    c(s′) = Σ b(s, a | s′) (e/f(s′))²
//! ```
//!
//! where b(s, a | s′) = d_μ(s) μ(a|s) P(s′|s,a)/d_μ(s′) is the probability that s′ was entered from s by a. All terms are positive, so
//! no digits are lost where the trace hardly varies. The variance is finite exactly if the spectral radius of B is below one. B has the
//! same radius as the second-moment operator Q(s, s′) = Σ_a π²/μ P γ², but one less the sum of its row is known however small it is:
//! with j = i(s′)/f(s′) it is j (2 − j) − c(s′).

use super::differences::Differences;
use super::elimination::{Chain, Row};
use super::elimination_order::EliminationOrder;
use super::spectral_radius::{grows, spectral_radius};
use super::{Exact, OffPolicyModel, OffPolicyTransition};
use crate::policy::Policy;
use crate::real::Wide;
use std::sync::{Arc, OnceLock};

mod lambda_return;
#[cfg(test)]
pub(super) mod tests;

/// A prediction error below this, relative to the numbers it is the difference of, is taken for rounding.
const ROUNDING: f64 = 1e-13;

/// The exact moments of the follow-on trace for one policy.
///
/// ```
/// use emphatic::{Exact, FollowOnMoments, Task};
/// let task = Task::counterexample();
/// let policy = task.softmax();
/// let exact = Exact::new(&task, &policy, &[0.0; 4])?;
/// let moments = FollowOnMoments::new(&exact);
/// assert_eq!(moments.spectral_radius(), Some([0.0, 0.0])); // Episodes end before anything can grow.
/// // F is 1 in S0; in S1 it is 1 + ρ₀ with ρ₀ = 0.5/0.25 always.
/// assert_eq!(moments.standard_deviations().unwrap(), [0.0, 0.0, 0.0]);
/// # Ok::<(), emphatic::ProblemError>(())
/// ```
#[derive(Clone, Debug)]
pub struct FollowOnMoments<'a, M, P: Policy> {
    mean: Mean<'a, M, P>,
    /// `None` if ρ² has no finite mean.
    variance: Option<Variance>,
    /// The Poisson equations of the behaviour's chain, once they are needed. `None` if they fill too much.
    poisson: OnceLock<Option<Poisson>>,
}

/// The mean of the trace, and the transitions it was computed from.
#[derive(Clone, Debug)]
struct Mean<'a, M, P: Policy> {
    exact: &'a Exact<'a, f64, M, P>,
    chain: Chain<Wide>,
    /// d_μ.
    stationary: Vec<Wide>,
    /// f.
    f: Differences,
    /// f − i, computed without subtracting.
    passed: Vec<Wide>,
    /// The behaviour's transitions, by state; none out of states that it never visits.
    transitions: Vec<Vec<Transition>>,
}

/// The relative variance of the trace.
#[derive(Clone, Debug)]
struct Variance {
    radius: [f64; 2],
    relative: RelativeVariance,
}

/// κ, by state.
#[derive(Clone, Debug)]
struct RelativeVariance {
    /// Zero where it is infinite.
    kappa: Vec<Wide>,
    infinite: Vec<bool>,
}

impl RelativeVariance {
    /// A function of the state and κ, by state; infinite where κ is.
    fn unless_infinite(&self, of: impl Fn(usize, Wide) -> Wide) -> Vec<f64> {
        let number = |s: usize| if self.infinite[s] { f64::INFINITY } else { of(s, self.kappa[s]).get() };
        (0..self.infinite.len()).map(number).collect()
    }
}

/// The behaviour's chain on the states it visits, cut at the one it visits most: transitions there leave the chain.
#[derive(Clone, Debug)]
struct Poisson {
    chain: Chain<Wide>,
    cut: usize,
}

impl<'a, P: Policy, M: OffPolicyModel<P>> FollowOnMoments<'a, M, P> {
    /// The moments of the trace for a policy that has been solved.
    pub fn new(exact: &'a Exact<'a, f64, M, P>) -> Self {
        let mean = Mean::new(exact);
        let variance = mean.has_squares().then(|| Variance::of_trace(&mean));
        Self { mean, variance, poisson: OnceLock::new() }
    }

    /// Bounds on the spectral radius of the second-moment operator Q, equal to nine digits. `None` if ρ² has no finite mean
    /// somewhere.
    pub fn spectral_radius(&self) -> Option<[f64; 2]> {
        self.variance.as_ref().map(|variance| variance.radius)
    }

    /// Whether the trace has a finite variance in all states.
    pub fn is_finite(&self) -> bool {
        self.variance.as_ref().is_some_and(|variance| !variance.relative.infinite.contains(&true))
    }

    /// E[F_t | S_t = s] = m(s)/d_μ(s), by state; 0 in states that are never visited.
    pub fn means(&self) -> Vec<f64> {
        self.mean.f.x.iter().map(|mean| mean.get()).collect()
    }

    /// The standard deviation of F_t given S_t = s, by state; it may be infinite, and is 0 in states that are never visited. `None`
    /// if ρ² has no finite mean somewhere.
    pub fn standard_deviations(&self) -> Option<Vec<f64>> {
        self.unless_infinite(|s, relative| self.mean.f.x[s] * relative.sqrt())
    }

    /// E[F_t² | S_t = s] d_μ(s), by state; it may be infinite. `None` if ρ² has no finite mean somewhere.
    pub fn second_moment(&self) -> Option<Vec<f64>> {
        self.unless_infinite(|s, relative| {
            self.mean.stationary[s] * self.mean.square(s) * (Wide::ONE + relative)
        })
    }

    /// A function of the state and its relative variance, by state; infinite where the variance is.
    fn unless_infinite(&self, of: impl Fn(usize, Wide) -> Wide) -> Option<Vec<f64>> {
        self.variance.as_ref().map(|variance| variance.relative.unless_infinite(of))
    }

    /// The number of steps after which the mean of F_t w(S_t) over time has a standard error of `relative` times Σ_s m(s) w(s). With
    /// w the indicator of a state, that is how long it takes to estimate m there. Infinite where the variance of the trace is.
    ///
    /// # Panics
    ///
    /// If there is not a weight for each state.
    pub fn estimation_steps(&self, weights: &[f64], relative: f64) -> f64 {
        let Some(variance) = &self.variance else { return f64::INFINITY };
        let infinite = &variance.relative.infinite;
        if infinite.iter().zip(weights).any(|(infinite, weight)| *infinite && *weight != 0.0) {
            return f64::INFINITY;
        }
        let poisson = self.poisson.get_or_init(|| Poisson::new(&self.mean));
        let Some(poisson) = poisson else { return f64::INFINITY };
        let weights = weights.iter().map(|weight| Wide::new(*weight)).collect();
        let martingale = Martingale::new(&self.mean, variance, poisson, weights);
        (martingale.variance() / squared(Wide::new(relative) * martingale.total)).get()
    }
}

/// A martingale whose sum is that of F_t w(S_t) − Σ m w. It takes the correlation of successive steps into account.
///
/// With β = (I − P_{π,γ})⁻¹ w, and α the solution of the Poisson equation α(s) = E[α(s′) + e β(s′)] + f(s) w(s) − Σ m w under the
/// behaviour, its steps are (F_t − f(s)) (ρ γ β(s′) − β(s) + w(s)) + e β(s′) + α(s′) − α(s) + f(s) w(s) − Σ m w. The two parts are not
/// correlated, so the variance is the sum of their squares.
struct Martingale<'a, M, P: Policy> {
    mean: &'a Mean<'a, M, P>,
    variance: &'a Variance,
    /// w.
    weights: Vec<Wide>,
    /// Σ m w.
    total: Wide,
    alpha: Differences,
    beta: Differences,
}

impl<'a, P: Policy, M: OffPolicyModel<P>> Martingale<'a, M, P> {
    fn new(mean: &'a Mean<'a, M, P>, variance: &'a Variance, poisson: &Poisson, weights: Vec<Wide>) -> Self {
        let n = weights.len();
        let total: Wide = (0..n).map(|s| mean.stationary[s] * mean.f.x[s] * weights[s]).sum();
        let beta = mean.chain.solve_with_differences(&weights);
        let source = |s: usize| match s == poisson.cut {
            true => Wide::ZERO,
            false => mean.expected(s, |t| t.error * beta.x[t.next]) + (mean.f.x[s] * weights[s] - total),
        };
        let alpha = poisson.chain.solve_with_differences(&(0..n).map(source).collect::<Vec<_>>());
        Self { mean, variance, weights, total, alpha, beta }
    }

    /// The variance of a step.
    fn variance(&self) -> Wide {
        (0..self.weights.len()).map(|s| self.variance_in(s)).sum()
    }

    /// The contribution of a state.
    fn variance_in(&self, s: usize) -> Wide {
        let Self { mean, weights, alpha, beta, .. } = self;
        let own = mean.f.x[s] * weights[s] - self.total;
        let onward = mean.expected(s, |t| t.passed * beta.x[t.next]);
        let of_transition = |t: &Transition| {
            let departure = match t.is_near_one() {
                true => beta.between(t.next, s) - t.lost * beta.x[t.next] + weights[s],
                false => t.passed * beta.x[t.next] - onward,
            };
            let whole = t.error * beta.x[t.next] + alpha.between(t.next, s) + own;
            let varying = t.variance * squared(beta.x[t.next]);
            let relative = self.variance.relative.kappa[s];
            squared(whole) + mean.square(s) * (varying + relative * (squared(departure) + varying))
        };
        mean.stationary[s] * mean.expected(s, of_transition)
    }
}

fn squared(x: Wide) -> Wide {
    x * x
}

/// An [`OffPolicyTransition`] that the behaviour makes.
#[derive(Clone, Debug)]
struct Transition {
    next: usize,
    probability: Wide,
    passed: Wide,
    lost: Wide,
    variance: Wide,
    /// e.
    error: Wide,
}

impl Transition {
    /// Passes nothing on if there is no trace in its state.
    fn new(of: &OffPolicyTransition, has_trace: bool) -> Self {
        Self {
            next: of.next,
            probability: Wide::new(of.behaviour) * Wide::new(of.probability),
            passed: if has_trace { Wide::new(of.passed) } else { Wide::ZERO },
            lost: if has_trace { Wide::new(of.lost) } else { Wide::ONE },
            variance: if has_trace { Wide::new(of.variance) } else { Wide::ZERO },
            error: Wide::ZERO,
        }
    }

    /// Whether ρ γ is so near to one that 1 − ρ γ is the more accurate number.
    fn is_near_one(&self) -> bool {
        self.lost.abs() < Wide::new(0.5)
    }

    /// E[(ρ γ)²].
    fn square(&self) -> Wide {
        self.passed * self.passed + self.variance
    }
}

impl<'a, P: Policy, M: OffPolicyModel<P>> Mean<'a, M, P> {
    fn new(exact: &'a Exact<'a, f64, M, P>) -> Self {
        let chain = exact.chain.wide();
        let stationary = exact.model.wide_stationary();
        let n = stationary.len();
        let interest: Vec<Wide> = exact.model.interest().iter().map(|i| Wide::new(*i)).collect();
        let f = chain.solve_backwards(&stationary, &interest, || lost(exact, &stationary));
        let of_state = |s: usize| -> Vec<Transition> {
            let taken = transitions(exact, &stationary, s).filter(|t| t.behaviour > 0.0);
            taken.map(|t| Transition::new(&t, f.x[s].is_positive())).collect()
        };
        let mut transitions: Vec<Vec<Transition>> = (0..n).map(of_state).collect();
        let mut passed = vec![Wide::ZERO; n];
        for (s, of_state) in transitions.iter().enumerate() {
            for t in of_state {
                passed[t.next] += stationary[s] * t.probability * t.passed * f.x[s] / stationary[t.next];
            }
        }
        for (s, of_state) in transitions.iter_mut().enumerate() {
            for t in of_state {
                t.error = prediction_error(&f, s, t, interest[t.next], passed[t.next]);
            }
        }
        Self { exact, chain, stationary, f, passed, transitions }
    }

    /// f².
    fn square(&self, state: usize) -> Wide {
        squared(self.f.x[state])
    }

    /// Whether ρ² has a finite mean wherever there is a trace to pass on.
    fn has_squares(&self) -> bool {
        let finite = |t: OffPolicyTransition| t.passed.is_finite() && t.variance.is_finite();
        let of_state = |s: usize| transitions(self.exact, &self.stationary, s).all(finite);
        (0..self.stationary.len()).filter(|&s| self.f.x[s].is_positive()).all(of_state)
    }

    /// E[x | S_t = s] under the behaviour, where x depends on the transition; zero in states that are never visited.
    fn expected(&self, state: usize, x: impl Fn(&Transition) -> Wide) -> Wide {
        self.transitions[state].iter().map(|t| t.probability * x(t)).sum()
    }
}

/// e = ρ γ f(s) + i(s′) − f(s′), given i(s′) and f(s′) − i(s′).
fn prediction_error(f: &Differences, state: usize, t: &Transition, interest: Wide, expected: Wide) -> Wide {
    let (e, size) = match t.is_near_one() {
        true => {
            let (difference, size) = f.between_with_size(state, t.next);
            let lost = t.lost * f.x[state];
            (interest + difference - lost, interest + size + lost.abs())
        }
        false => {
            let passed = t.passed * f.x[state];
            (passed - expected, passed + expected)
        }
    };
    if e.abs() > Wide::new(ROUNDING) * size { e } else { Wide::ZERO }
}

/// The transitions out of a state; none if it is never visited.
fn transitions<P: Policy, M: OffPolicyModel<P>>(
    exact: &Exact<f64, M, P>,
    stationary: &[Wide],
    state: usize,
) -> impl Iterator<Item = OffPolicyTransition> {
    let of_state = || exact.model.off_policy_transitions(exact.policy, &exact.distributions[state], state);
    stationary[state].is_positive().then(of_state).into_iter().flatten()
}

/// Σ_s d_μ(s) Σ_a μ P (1 − ρ γ), by successor.
fn lost<P: Policy, M: OffPolicyModel<P>>(exact: &Exact<f64, M, P>, stationary: &[Wide]) -> Vec<Wide> {
    let mut lost = vec![Wide::ZERO; stationary.len()];
    for (s, d) in stationary.iter().enumerate() {
        for t in transitions(exact, stationary, s) {
            lost[t.next] += *d * Wide::new(t.behaviour) * Wide::new(t.probability) * Wide::new(t.lost);
        }
    }
    lost
}

impl Variance {
    fn of_trace<P: Policy, M: OffPolicyModel<P>>(mean: &Mean<M, P>) -> Self {
        let radius = spectral_radius(&mean.chain.order, &second_moment_operator(mean));
        Self { radius, relative: RelativeVariance::new(mean, 1.0) }
    }
}

impl RelativeVariance {
    /// Of a trace whose past counts `share` times: κ = share² B κ + c.
    fn new<P: Policy, M: OffPolicyModel<P>>(mean: &Mean<M, P>, share: f64) -> Self {
        let order = Arc::new(mean.chain.order.transposed());
        let (rows, sources) = variance_equations(mean);
        let square = Wide::new(share * share);
        let mut rows: Vec<Row<Wide>> = rows.into_iter().map(|row| row.times(square)).collect();
        let infinite = reachable(&rows, grows(&order, &rows));
        // States of infinite variance only lead to others of infinite variance, so the rest can be solved alone.
        (0..rows.len()).filter(|&s| infinite[s]).for_each(|s| rows[s] = Row::empty());
        let (chain, _) = Chain::with_pivots(order, |s| rows[s].clone());
        let mut kappa = chain.solve(&sources);
        (0..kappa.len()).filter(|&s| infinite[s]).for_each(|s| kappa[s] = Wide::ZERO);
        Self { kappa, infinite }
    }
}

/// Q, on the states that carry emphasis; the trace is zero in all others.
fn second_moment_operator<P: Policy, M: OffPolicyModel<P>>(mean: &Mean<M, P>) -> Vec<Vec<(usize, Wide)>> {
    let entry = |t: &Transition| {
        let square = t.probability * t.square();
        square.is_positive().then_some((t.next, square))
    };
    mean.transitions.iter().map(|of_state| of_state.iter().filter_map(entry).collect()).collect()
}

/// The rows of B, and c.
fn variance_equations<P: Policy, M: OffPolicyModel<P>>(mean: &Mean<M, P>) -> (Vec<Row<Wide>>, Vec<Wide>) {
    let n = mean.stationary.len();
    let mut rows = vec![Row::empty(); n];
    let mut sources = vec![Wide::ZERO; n];
    for s in 0..n {
        for t in mean.transitions[s].iter().filter(|t| mean.f.x[t.next].is_positive()) {
            let next = t.next;
            let share = mean.stationary[s] * t.probability / mean.stationary[next] / mean.square(next);
            sources[next] += share * (t.error * t.error + mean.square(s) * t.variance);
            let square = share * mean.square(s) * t.square();
            match rows[next].entries.last_mut() {
                _ if !square.is_positive() => {}
                Some((last, sum)) if *last == s => *sum += square,
                _ => rows[next].entries.push((s, square)),
            }
        }
    }
    for s in (0..n).filter(|&s| mean.f.x[s].is_positive()) {
        let j = Wide::new(mean.exact.model.interest()[s]) / mean.f.x[s];
        rows[s].gain = j * (Wide::ONE + mean.passed[s] / mean.f.x[s]);
        rows[s].loss = sources[s];
    }
    (rows, sources)
}

/// The states marked at the start and all that they lead to, given the rows of the states that they are entered from.
fn reachable(rows: &[Row<Wide>], start: Vec<bool>) -> Vec<bool> {
    let mut successors = vec![Vec::new(); rows.len()];
    for (next, row) in rows.iter().enumerate() {
        row.entries.iter().for_each(|(s, _)| successors[*s].push(next));
    }
    let mut reached = vec![false; rows.len()];
    let mut waiting: Vec<usize> = (0..rows.len()).filter(|&s| start[s]).collect();
    while let Some(s) = waiting.pop() {
        if !std::mem::replace(&mut reached[s], true) {
            waiting.extend(&successors[s]);
        }
    }
    reached
}

impl Poisson {
    fn new<P: Policy, M: OffPolicyModel<P>>(mean: &Mean<M, P>) -> Option<Self> {
        let d = &mean.stationary;
        let cut = (1..d.len()).fold(0, |most, s| if d[s] >= d[most] { s } else { most });
        let row = |s: usize| {
            if s == cut || !d[s].is_positive() {
                return Row::empty();
            }
            let pairs = mean.transitions[s].iter().map(|t| (t.next, t.probability));
            let (leaving, staying): (Vec<_>, Vec<_>) = pairs.partition(|(next, _)| *next == cut);
            Row::leaking(staying, leaving.into_iter().map(|(_, p)| p).sum())
        };
        let successors: Vec<Vec<usize>> =
            (0..d.len()).map(|s| row(s).entries.into_iter().map(|entry| entry.0).collect()).collect();
        let order = Arc::new(EliminationOrder::new(&successors).ok()?);
        Chain::leaking(order, row).map(|chain| Self { chain, cut })
    }
}
