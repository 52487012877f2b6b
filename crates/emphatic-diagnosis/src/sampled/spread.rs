//! Spread: how unevenly do the ratio and the follow-on trace weigh the steps?

use super::Experience;
use super::blocks::{BLOCKS, Estimate, block_of, jackknife};
use emphatic::learner::effective_share;
use serde::Serialize;

/// The tail of the trace: this share of the steps, those with the largest F.
const TAIL: f64 = 0.01;

/// λ_a for which it is said how many steps count, the largest first.
pub(super) const LAMBDAS: [f64; 6] = [1.0, 0.9, 0.5, 0.25, 0.1, 0.0];

/// How unevenly steps are weighed.
#[derive(Clone, Debug, Serialize)]
pub struct Spread {
    /// The mean of ρ: 1, if the behaviour takes all actions that the policy does, and μ is right.
    pub mean_ratio: Estimate,
    /// How many steps count, as a share of them, if each is weighed by its ρ.
    pub effective_sample_of_ratio: Estimate,
    /// The mean of F: of m/d_μ.
    pub mean_follow_on: Estimate,
    /// The mean of F².
    pub mean_square_of_follow_on: Estimate,
    /// By how much F² grows in a step: the mean of γ²ρ², where an end counts 0.
    pub growth: Estimate,
    /// The share of ΣF² that the largest hundredth of the steps has.
    pub tail: f64,
    /// How many steps count if each is weighed by its M, for several λ_a.
    pub effective_samples: Vec<EffectiveSample>,
    /// Whether the variance of F looks finite; `None` if that cannot be told.
    pub looks_finite: Option<bool>,
}

/// How many steps count, as a share of them, with this λ_a.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct EffectiveSample {
    /// λ_a.
    pub lambda_a: f64,
    /// The share.
    pub share: Estimate,
}

/// The follow-on trace F_t = i_t + γ_t ρ_{t−1} F_{t−1} along the steps.
pub(super) fn follow_on(experience: &Experience, ratios: &[f64]) -> Vec<f64> {
    let (mut past, mut trace) = (0.0, Vec::with_capacity(ratios.len()));
    for (step, rho) in experience.steps.iter().zip(ratios) {
        let f = step.interest + if step.gamma > 0.0 { step.gamma * past } else { 0.0 };
        trace.push(f);
        // The trace may have overflowed, and what is cut is zero all the same.
        past = if *rho == 0.0 { 0.0 } else { rho * f };
    }
    trace
}

pub(super) fn spread(experience: &Experience, ratios: &[f64], trace: &[f64]) -> Spread {
    let steps = experience.steps;
    // Of each block: its steps, Σρ, Σρ², ΣF, ΣF², Σi, Σi², ΣiF, Σγ²ρ².
    let mut blocks = [[0.0; 9]; BLOCKS];
    for (t, step) in steps.iter().enumerate() {
        let (rho, f, i) = (ratios[t], trace[t], step.interest);
        let grown = step.gamma_next * rho;
        let numbers = [1.0, rho, rho * rho, f, f * f, i, i * i, i * f, grown * grown];
        let block = &mut blocks[block_of(t, steps.len())];
        block.iter_mut().zip(numbers).for_each(|(sum, x)| *sum += x);
    }
    let mean = |of: usize| jackknife(&blocks, |sums| sums[of] / sums[0]);
    let share = |count: f64, sum: f64, squares: f64| match sum == 0.0 {
        true => 1.0,
        // Of a trace that is no number, no step counts.
        false => effective_share(count, sum, squares).unwrap_or(0.0),
    };
    let with_lambda_a = |lambda_a: f64| {
        let (l, k) = (lambda_a, 1.0 - lambda_a);
        let of = |[count, _, _, f, ff, i, ii, fi, _]: &[f64; 9]| {
            share(*count, k * i + l * f, k * k * ii + 2.0 * k * l * fi + l * l * ff)
        };
        EffectiveSample { lambda_a, share: jackknife(&blocks, of) }
    };
    let (growth, tail) = (mean(8), tail(trace));
    Spread {
        mean_ratio: mean(1),
        effective_sample_of_ratio: jackknife(&blocks, |sums| share(sums[0], sums[1], sums[2])),
        mean_follow_on: mean(3),
        mean_square_of_follow_on: mean(4),
        growth,
        tail,
        effective_samples: LAMBDAS.map(with_lambda_a).to_vec(),
        looks_finite: looks_finite(growth, tail),
    }
}

/// The variance is finite where F² shrinks from step to step on average, if that is the same everywhere; a tail with most of ΣF² says that it is not.
fn looks_finite(growth: Estimate, tail: f64) -> Option<bool> {
    const HEAVY: f64 = 0.5;
    let [low, high] = growth.range();
    match (high < 1.0, low >= 1.0) {
        (true, _) if tail < HEAVY => Some(true),
        (_, true) => Some(false),
        _ => None,
    }
}

/// The share of ΣF² of the largest F.
fn tail(trace: &[f64]) -> f64 {
    let mut squares: Vec<f64> = trace.iter().map(|f| f * f).collect();
    squares.sort_by(|a, b| b.total_cmp(a));
    let all: f64 = squares.iter().sum();
    let largest = ((TAIL * squares.len() as f64).ceil() as usize).max(1);
    match all > 0.0 && all.is_finite() {
        true => squares[..largest].iter().sum::<f64>() / all,
        false => f64::from(u8::from(all > 0.0)),
    }
}

impl Spread {
    /// The share of the steps that count with this λ_a, one of [`LAMBDAS`].
    pub(super) fn effective_sample(&self, lambda_a: f64) -> f64 {
        let found = self.effective_samples.iter().find(|sample| sample.lambda_a == lambda_a);
        found.map_or(1.0, |sample| sample.share.value)
    }
}
