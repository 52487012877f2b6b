//! Overlap: does the behaviour take the actions that a policy would?

use super::Experience;
use serde::Serialize;

/// How the behaviour's actions and a policy's overlap.
#[derive(Clone, Debug, Serialize)]
pub struct Overlap {
    /// The share of steps whose action the policy never takes: ρ = 0.
    pub never_taken: f64,
    /// The largest ρ.
    pub largest_ratio: f64,
}

/// How rare the behaviour's actions are.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Behaviour {
    /// The smallest μ of an action that was taken.
    pub least_probability: f64,
    /// The largest; the same if the behaviour is uniform.
    pub largest_probability: f64,
}

pub(super) fn behaviour(experience: &Experience) -> Behaviour {
    let mu = || experience.steps.iter().map(|step| step.mu);
    Behaviour {
        least_probability: mu().fold(f64::INFINITY, f64::min),
        largest_probability: mu().fold(0.0, f64::max),
    }
}

pub(super) fn overlap(ratios: &[f64]) -> Overlap {
    let zeros = ratios.iter().filter(|rho| **rho == 0.0).count();
    Overlap {
        never_taken: zeros as f64 / ratios.len() as f64,
        largest_ratio: ratios.iter().copied().fold(0.0, f64::max),
    }
}
