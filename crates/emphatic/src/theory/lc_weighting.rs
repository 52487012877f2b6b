//! The weighting of states that the trace of LC-ETD leads to.
//!
//! F_t = (1 − c_t) ρ_{t−1} F_{t−1} + c_t i_t counts its steps t from where an episode began, so that its mean is a sum over the ages of episodes:
//! f = Σ_t f_t, with f_1 = d_1 i, f_t = (1 − c_t) P_πᵀ f_{t−1} + c_t d_t i and d_t = P_μᵀ d_{t−1}, where d_1 is how often an episode begins in each state. Where nothing
//! ends there is no age, and as c_t falls f tends to d_π times the mean interest.

use super::emphasis_weighting::{fraction, positive};
use super::trace_matrix::TraceMatrix;
use super::{Exact, ModelStates};
use crate::policy::FinitePolicy;
use crate::problem::{ProblemError, Task};

/// How old episodes may become: a second's work in a small problem.
const OLDEST: usize = 1_000_000;

impl<P: FinitePolicy> Exact<'_, f64, Task, P> {
    /// f of the trace with c_t = `first` t^−`power`.
    pub(super) fn lc_weighting(&self, first: f64, power: f64) -> Result<Vec<f64>, ProblemError> {
        fraction("c_1 of the emphasis", first)?;
        // Were the power larger, too little would be new for the start ever to be forgotten.
        fraction("the power of the emphasis", power)?;
        let begins = self.begins();
        if begins.iter().any(|d| *d > 0.0) {
            return self.sum_over_ages(begins, |t| first * (t as f64).powf(-power));
        }
        positive("c_1 of the emphasis", first)?;
        if power == 0.0 {
            let observed = |s: usize, a: usize| self.observed(s, a);
            let f = self.trace_matrix(observed, |_| 1.0 - first).accumulation()?.of(&self.interest());
            return Ok(f.into_iter().map(|f| first * f).collect());
        }
        let is_unobserved =
            |s: &usize| (0..self.model.actions()).any(|a| self.observed(*s, a) < self.target(*s)[a]);
        if let Some(s) = (0..self.model.states()).find(is_unobserved) {
            return Err(ProblemError::Unobserved(self.model.state_names()[s].clone()));
        }
        let mean: f64 = self.interest().iter().sum();
        Ok(self.target_stationary()?.into_iter().map(|d| mean * d).collect())
    }

    /// d_1: how often an episode begins in each state.
    fn begins(&self) -> Vec<f64> {
        let mut begins = vec![0.0; self.model.states()];
        for (s, d) in self.stationary().iter().enumerate() {
            for (a, mu) in self.model.behaviour(s).iter().enumerate() {
                for t in self.model.problem().transitions(s, a).iter().filter(|t| t.gamma == 0.0) {
                    begins[t.next] += d * mu * t.probability;
                }
            }
        }
        begins
    }

    fn sum_over_ages(&self, begins: Vec<f64>, c: impl Fn(usize) -> f64) -> Result<Vec<f64>, ProblemError> {
        let interest = self.model.interest();
        let behaviour: Vec<Vec<f64>> =
            (0..self.model.states()).map(|s| self.model.behaviour(s).to_vec()).collect();
        let p_mu = TraceMatrix::new(self.model, &behaviour, |s, a| behaviour[s][a], |_| 1.0);
        let p_pi = self.trace_matrix(|s, a| self.observed(s, a), |_| 1.0);
        let mut f: Vec<f64> = begins.iter().zip(interest).map(|(d, i)| d * i).collect();
        let (mut d, mut sum) = (begins, vec![0.0; f.len()]);
        for t in 2..OLDEST {
            sum.iter_mut().zip(&f).for_each(|(sum, f)| *sum += f);
            d = p_mu.passed_on(&d);
            let new = d.iter().zip(interest).map(|(d, i)| c(t) * d * i);
            f = p_pi.passed_on(&f).into_iter().zip(new).map(|(f, new)| (1.0 - c(t)) * f + new).collect();
            // What is left is too small to change the sum.
            let left = f.iter().chain(&d).sum::<f64>();
            if left <= f64::EPSILON * f64::EPSILON * sum.iter().sum::<f64>() {
                return Ok(sum);
            }
        }
        let lasting = (0..f.len()).max_by(|&s, &t| f[s].total_cmp(&f[t])).unwrap_or(0);
        Err(ProblemError::FadesSlowly(self.model.state_names()[lasting].clone()))
    }
}

#[cfg(test)]
mod tests;
