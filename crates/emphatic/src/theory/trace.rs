//! How far the follow-on trace spreads about its mean.
//!
//! F_t = ρ_{t−1} γ_t F_{t−1} + i(S_t) has the mean m(s)/d_μ(s) in state s. Its second moment g(s) = d_μ(s) E[F_t² | S_t = s] obeys
//!
//! ```text
//! g(s′) = Σ_s g(s) Q(s, s′) + i(s′) (2 m(s′) − d_μ(s′) i(s′)),    Q(s, s′) = Σ_a π(a|s)²/μ(a|s) P(s′|s,a) γ²
//! ```
//!
//! so it is finite exactly if the spectral radius of Q is below one, on the states that carry emphasis at all.

use super::chain::Chain;
use super::order::Order;
use super::radius::spectral_radius;
use super::{Exact, Model};
use crate::policy::Policy;
use std::sync::{Arc, OnceLock};

/// How much of a second moment rounding may be.
const ROUNDING: f64 = 1e-12;

/// A model that knows how its behaviour's experience bears on policies of the form `P`.
pub trait Experience<P: Policy<State = usize>>: Model<P> {
    /// P_μ(s, ·): where the behaviour leads, with what probability.
    fn followed(&self, state: usize) -> Vec<(usize, f64)>;

    /// Q(s, ·) = Σ_a π²/μ P γ²: how the square of the trace is passed on. Nothing if ρ² has no finite mean: the policy takes an
    /// action that the behaviour never takes, or has too wide a density.
    fn squared(&self, policy: &P, at: &P::Distribution<f64>, state: usize) -> Option<Vec<(usize, f64)>>;
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
    exact: &'a Exact<'a, f64, M, P>,
    radius: Option<[f64; 2]>,
    /// g, infinite where it is; nothing if ρ² has no finite mean.
    second_moment: Option<Vec<f64>>,
    /// The behaviour's chain, cut at one state: its Poisson equations, once they are asked for. Nothing if they fill too much.
    poisson: OnceLock<Option<(Chain<f64>, usize)>>,
}

impl<'a, P: Policy<State = usize>, M: Experience<P>> Trace<'a, M, P> {
    /// The spread of the trace for a policy that has been solved.
    pub fn new(exact: &'a Exact<'a, f64, M, P>) -> Self {
        let rows = squared_rows(exact);
        let radius = rows.as_ref().map(|rows| spectral_radius(exact.model.order(), rows));
        let second_moment =
            rows.zip(radius.as_ref()).map(|(rows, radius)| second_moment(exact, rows, &radius.grows));
        let radius = radius.map(|radius| radius.bounds);
        Self { exact, radius, second_moment, poisson: OnceLock::new() }
    }

    /// The spectral radius of Q lies between these two, which are equal to nine digits. Nothing if ρ² has no
    /// finite mean somewhere.
    pub fn spectral_radius(&self) -> Option<[f64; 2]> {
        self.radius
    }

    /// Whether the trace has a finite variance in all states.
    pub fn is_finite(&self) -> bool {
        self.second_moment.as_ref().is_some_and(|g| g.iter().all(|g| g.is_finite()))
    }

    /// The standard deviation of F_t given S_t = s, by state: infinite where it is, 0 in states that are never visited. Nothing
    /// if ρ² has no finite mean somewhere.
    pub fn standard_deviations(&self) -> Option<Vec<f64>> {
        let second = self.second_moment.as_ref()?;
        let of = |((g, m), d): ((&f64, &f64), &f64)| {
            let (square, mean) = (g / d, m / d);
            let variance = square - mean * mean;
            // A difference within rounding is none.
            let is_none = *d == 0.0 || (square.is_finite() && variance <= ROUNDING * square);
            if is_none { 0.0 } else { variance.sqrt() }
        };
        Some(second.iter().zip(&self.exact.weighting).zip(self.exact.stationary()).map(of).collect())
    }

    /// E[F_t² | S_t = s] d_μ(s), by state: infinite where it is. Nothing if ρ² has no finite mean somewhere.
    pub fn second_moment(&self) -> Option<&[f64]> {
        self.second_moment.as_deref()
    }

    /// After how many steps the mean of F_t w(S_t) over time is within `relative` of Σ_s m(s) w(s), as one standard error. With w
    /// the indicator of a state, that is how long it takes to estimate m there. Infinite where the trace's variance is.
    ///
    /// The correlation of one step with the next is taken into account: h(s, f) = α(s) + β(s) f solves the Poisson
    /// equation of the pair (S_t, F_t), with β = (I − P_{π,γ})⁻¹ w and α = P_μ (α + β i) − Σ m w.
    ///
    /// # Panics
    ///
    /// If there is not a weight for each state.
    pub fn steps(&self, weights: &[f64], relative: f64) -> f64 {
        let Some(second) = &self.second_moment else { return f64::INFINITY };
        let (d, m) = (self.exact.stationary(), &self.exact.weighting);
        let interest = self.exact.model.interest();
        let n = d.len();
        let counting = |s: &usize| weights[*s] != 0.0;
        if (0..n).filter(counting).any(|s| !second[s].is_finite()) {
            return f64::INFINITY;
        }
        let Some((poisson, cut)) = self.poisson.get_or_init(|| poisson(self.exact)) else {
            return f64::INFINITY;
        };
        let mean = dot(m, weights);
        let beta = self.exact.chain.solve(weights);
        let onward: Vec<f64> = (0..n).map(|s| beta[s] * interest[s]).collect();
        let source = |s: usize| {
            let led = self.exact.model.followed(s).into_iter();
            led.map(|(next, p)| p * onward[next]).sum::<f64>() - mean
        };
        let needed = |s: usize| if s == *cut || d[s] == 0.0 { 0.0 } else { source(s) };
        let alpha = poisson.solve(&(0..n).map(needed).collect::<Vec<_>>());
        let with_solution = (0..n)
            .filter(counting)
            .map(|s| weights[s] * (alpha[s] * m[s] + beta[s] * second[s]))
            .sum::<f64>()
            - mean * (dot(d, &alpha) + dot(&beta, m));
        let square: f64 = (0..n).filter(counting).map(|s| weights[s] * weights[s] * second[s]).sum();
        // Both are variances; what is negative is rounding.
        let variance = (2.0 * with_solution - (square - mean * mean)).max(0.0);
        variance / (relative * mean * relative * mean)
    }
}

fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

/// Q, in the states that carry emphasis; the trace is zero in all others.
fn squared_rows<P: Policy<State = usize>, M: Experience<P>>(
    exact: &Exact<f64, M, P>,
) -> Option<Vec<Vec<(usize, f64)>>> {
    let row = |s: usize| match exact.weighting[s] > 0.0 {
        true => exact.model.squared(exact.policy, &exact.distributions[s], s),
        false => Some(Vec::new()),
    };
    (0..exact.weighting.len()).map(row).collect()
}

/// g: infinite where squares grow without bound, and in all states that they lead to.
fn second_moment<P: Policy<State = usize>, M: Experience<P>>(
    exact: &Exact<f64, M, P>,
    mut rows: Vec<Vec<(usize, f64)>>,
    grows: &[bool],
) -> Vec<f64> {
    let n = rows.len();
    let mut infinite = vec![false; n];
    let mut waiting: Vec<usize> = (0..n).filter(|&s| grows[s]).collect();
    while let Some(s) = waiting.pop() {
        if !std::mem::replace(&mut infinite[s], true) {
            waiting.extend(rows[s].iter().filter(|(_, q)| *q > 0.0).map(|(next, _)| *next));
        }
    }
    // What is infinite leads nowhere that is not, so the rest can be solved alone.
    (0..n).filter(|&s| infinite[s]).for_each(|s| rows[s].clear());
    rows.iter_mut().for_each(|row| row.retain(|(next, _)| !infinite[*next]));
    let of = |((d, i), m): ((&f64, &f64), &f64)| i * (2.0 * m - d * i);
    let source: Vec<f64> =
        exact.stationary().iter().zip(exact.model.interest()).zip(&exact.weighting).map(of).collect();
    match Chain::eliminated(exact.model.order().clone(), |s| rows[s].clone()) {
        Some(chain) => {
            let finite = chain.solve_transposed(&source);
            finite
                .into_iter()
                .zip(infinite)
                .map(|(g, infinite)| if infinite { f64::INFINITY } else { g })
                .collect()
        }
        None => vec![f64::INFINITY; n], // A radius within rounding of one.
    }
}

/// The behaviour's chain in the states that it visits, cut at the one it visits most: what leads there leaves.
fn poisson<P: Policy<State = usize>, M: Experience<P>>(
    exact: &Exact<f64, M, P>,
) -> Option<(Chain<f64>, usize)> {
    let d = exact.stationary();
    let cut = (0..d.len()).max_by(|&a, &b| d[a].total_cmp(&d[b]))?;
    let row = |s: usize| -> (Vec<(usize, f64)>, f64) {
        if s == cut || d[s] == 0.0 {
            return (Vec::new(), 1.0);
        }
        let (leaving, staying): (Vec<_>, Vec<_>) =
            exact.model.followed(s).into_iter().filter(|(_, p)| *p > 0.0).partition(|(next, _)| *next == cut);
        (staying, leaving.iter().map(|(_, p)| p).sum())
    };
    let successors: Vec<Vec<usize>> =
        (0..d.len()).map(|s| row(s).0.into_iter().map(|entry| entry.0).collect()).collect();
    let order = Arc::new(Order::new(&successors).ok()?);
    Chain::leaking(order, row).map(|chain| (chain, cut))
}
