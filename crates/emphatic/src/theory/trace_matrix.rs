//! How a trace passes its past on from state to state.
//!
//! A trace such as F_t = i_t + γ_t ρ_{t−1} F_{t−1} multiplies its past by g(γ_t) c(S_{t−1}, A_{t−1}) at each step. Since the action
//! does not depend on the past of its state, y(s) = d_μ(s) E[F_t | S_t = s] obeys
//!
//! ```text
//! y(s′) = d_μ(s′) i(s′) + Σ_s C(s, s′) y(s),    C(s, s′) = Σ_a ω(s, a) Σ P(s′|s,a) g(γ),    ω = μ c
//! ```
//!
//! With c = ρ and g(γ) = γ, C is P_{π,γ} and y is m. Every expectation of a trace is a sum yᵀ = xᵀ(I − C)⁻¹ of this kind.

use super::ModelStates;
use super::elimination::{Chain, Row};
use super::elimination_order::EliminationOrder;
use crate::problem::{ProblemError, Task};
use crate::real::Wide;
use std::sync::Arc;

/// C.
#[derive(Clone, Debug)]
pub(super) struct TraceMatrix<'a> {
    task: &'a Task,
    rows: Vec<Vec<(usize, f64)>>,
    /// 1 − Σ_{s′} C(s, s′), computed without subtracting what is nearly equal.
    leak: Vec<f64>,
}

impl<'a> TraceMatrix<'a> {
    /// The matrix with the shares ω, which are at most the probabilities of a policy, and the discounts g, which are 0 where γ is.
    pub(super) fn new(
        task: &'a Task,
        policy: &[Vec<f64>],
        share: impl Fn(usize, usize) -> f64,
        discount: impl Fn(f64) -> f64,
    ) -> Self {
        let (mut rows, mut leak) = (vec![Vec::new(); policy.len()], vec![0.0; policy.len()]);
        for (s, probabilities) in policy.iter().enumerate() {
            for (a, pi) in probabilities.iter().enumerate() {
                let omega = share(s, a);
                leak[s] += pi - omega;
                for t in task.problem().transitions(s, a) {
                    let g = if t.gamma > 0.0 { discount(t.gamma) } else { 0.0 };
                    leak[s] += omega * t.probability * (1.0 - g);
                    if omega * g > 0.0 {
                        rows[s].push((t.next, omega * t.probability * g));
                    }
                }
            }
        }
        Self { task, rows, leak }
    }

    /// C x.
    pub(super) fn times(&self, x: &[f64]) -> Vec<f64> {
        self.rows.iter().map(|row| row.iter().map(|(next, c)| c * x[*next]).sum()).collect()
    }

    /// Cᵀ x.
    pub(super) fn passed_on(&self, x: &[f64]) -> Vec<f64> {
        let mut passed = vec![0.0; x.len()];
        for (row, x) in self.rows.iter().zip(x) {
            row.iter().for_each(|(next, c)| passed[*next] += c * x);
        }
        passed
    }

    /// The solver of x = rhs + Cᵀ x; an error if something is passed on for ever.
    pub(super) fn accumulation(&self) -> Result<Accumulation, ProblemError> {
        let wide = |row: &Vec<(usize, f64)>| row.iter().map(|(next, c)| (*next, Wide::new(*c))).collect();
        let row = |s: usize| Row::leaking(wide(&self.rows[s]), Wide::new(self.leak[s]));
        self.solved(self.task.order().clone(), row)
    }

    /// The solver of x = rhs + (Cⁿ)ᵀ x: that of a chain with a clock, which only counts what arrives when the clock strikes n.
    pub(super) fn accumulation_of_power(&self, n: usize) -> Result<Accumulation, ProblemError> {
        if n == 1 {
            return self.accumulation();
        }
        let states = self.rows.len();
        let size = states.saturating_mul(n);
        if size > MOST_CLOCKED {
            return Err(ProblemError::Fill { states: size, most: MOST_CLOCKED });
        }
        let at = |s: usize, clock: usize| clock * states + s;
        let entries = |k: usize| {
            let next_clock = (k / states + 1) % n;
            self.rows[k % states].iter().map(move |(next, c)| (at(*next, next_clock), Wide::new(*c)))
        };
        let successors: Vec<Vec<usize>> =
            (0..size).map(|k| entries(k).map(|entry| entry.0).collect()).collect();
        let row = |k: usize| Row::leaking(entries(k).collect(), Wide::new(self.leak[k % states]));
        self.solved(Arc::new(EliminationOrder::new(&successors)?), row)
    }

    fn solved(
        &self,
        order: Arc<EliminationOrder>,
        row: impl Fn(usize) -> Row<Wide>,
    ) -> Result<Accumulation, ProblemError> {
        let (chain, pivots) = Chain::with_pivots(order, row);
        match pivots.iter().position(|pivot| !pivot.is_positive()) {
            Some(k) => Err(ProblemError::NeverFades(self.task.state_names()[k % self.rows.len()].clone())),
            None => Ok(Accumulation { chain, states: self.rows.len() }),
        }
    }
}

/// The most states of a chain with a clock.
const MOST_CLOCKED: usize = 1_000_000;

/// (I − Cᵀ)⁻¹: everything that a trace accumulates.
#[derive(Clone, Debug)]
pub(super) struct Accumulation {
    chain: Chain<Wide>,
    states: usize,
}

impl Accumulation {
    /// x = rhs + Cᵀ x, by state.
    pub(super) fn of(&self, rhs: &[f64]) -> Vec<f64> {
        let mut wide: Vec<Wide> = rhs.iter().map(|x| Wide::new(*x)).collect();
        wide.resize(self.chain.order.states(), Wide::ZERO);
        self.chain.solve_transposed(&wide).into_iter().take(self.states).map(Wide::get).collect()
    }
}
