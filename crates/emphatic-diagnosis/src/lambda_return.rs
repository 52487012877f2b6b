//! Which λ_e suits the emphasis λ-return, F^λ_t = i_t + γ_t ρ_{t−1} [(1 − λ_e) û(S_{t−1}) + λ_e F^λ_{t−1}].
//!
//! Its second moment grows by λ_e² r each step, with r the spectral radius that decides about the follow-on trace. The relative variance
//! is Σ_k (λ_e² B)ᵏ c, where c is what a look back of one step (λ_e = 0) has: in the direction that grows most it is 1/(1 − λ_e² r)
//! times as large. λ_e = ½ is a good compromise between û's bias and the trace's variance as long as λ_e² r is at most ½, so that looking back
//! further at most doubles the variance; else the λ_e is taken with which it does.

use crate::diagnosable::{Diagnosable, Solved};
use emphatic::Policy;
use serde::Serialize;

/// The usual λ_e.
const USUAL: f64 = 0.5;

/// The largest λ_e² r that is comfortable: it doubles the variance.
const COMFORTABLE: f64 = 0.5;

/// The emphasis λ-return for one policy.
#[derive(Clone, Debug, Serialize)]
pub struct LambdaReturn {
    /// Its variance is finite for every λ_e below this number; 1 if it is for λ_e = 1, too, which is the follow-on trace.
    pub largest_lambda_e: f64,
    /// A λ_e to start with.
    pub lambda_e: f64,
}

/// Describes the λ-return for a policy; `None` if ρ² has no finite mean.
pub(crate) fn lambda_return<P: Policy, M: Diagnosable<P>>(solved: &Solved<M, P>) -> Option<LambdaReturn> {
    let moments = solved.moments();
    let [_, radius] = moments.spectral_radius()?;
    Some(LambdaReturn { largest_lambda_e: moments.largest_lambda_e()?, lambda_e: suggested(radius) })
}

/// The λ_e to start with, given the spectral radius: two digits, rounded down.
fn suggested(radius: f64) -> f64 {
    if USUAL * USUAL * radius <= COMFORTABLE {
        return USUAL;
    }
    let most = (COMFORTABLE / radius).sqrt();
    if most.is_nan() || most <= f64::MIN_POSITIVE {
        return 0.0;
    }
    let exponent = most.log10().floor() as i32 - 1;
    let digits = (most / 10f64.powi(exponent)).floor();
    // By way of text, so that 0.27 is the nearest number to 0.27.
    format!("{digits}e{exponent}").parse().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_is_suggested_up_to_a_radius_of_two() {
        assert_eq!([0.0, 0.17, 1.098, 2.0].map(suggested), [0.5; 4]);
        // Baird: √(0.5/6.8607) = 0.26996.
        assert_eq!(suggested(6.8607), 0.26);
        assert_eq!(suggested(2.01), 0.49);
        assert_eq!(suggested(5e5), 0.001);
        assert_eq!([f64::INFINITY, f64::NAN].map(suggested), [0.0; 2]);
        for radius in [2.5, 33.0, 1e7, 1e200] {
            assert!(suggested(radius) > 0.0 && suggested(radius).powi(2) * radius <= COMFORTABLE);
        }
    }
}
