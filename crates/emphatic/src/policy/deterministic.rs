//! Actions that are computed, not drawn.

use super::{DeterministicPolicy, Policy, add_outputs, outputs};
use crate::features::{FeatureError, Features};
use crate::real::Real;
use crate::step::StepError;

/// The action Σ_f x_f(s) θ_f.
#[derive(Clone, Debug, PartialEq)]
pub struct DeterministicLinear<F> {
    /// What the policy sees of a state.
    pub features: F,
}

impl<F: Features> Policy for DeterministicLinear<F> {
    type State = F::State;
    type Action = f64;
    /// The action.
    type Distribution<R: Real> = R;

    fn len(&self) -> usize {
        self.features.len()
    }

    fn most_active(&self) -> usize {
        self.features.most_active()
    }

    #[inline(always)]
    fn check_state(&self, state: &F::State) -> Result<(), FeatureError> {
        self.features.check(state)
    }

    #[inline(always)]
    fn check_action(&self, action: f64) -> Result<(), StepError> {
        if action.is_finite() { Ok(()) } else { Err(StepError::RealAction(action)) }
    }

    fn room<R: Real>(&self) -> R {
        R::zero()
    }

    #[inline(always)]
    fn distribution<R: Real>(&self, weights: &[R], state: &F::State, out: &mut R) {
        [*out] = outputs(&self.features, state, weights);
    }

    fn features(&self, state: &F::State) -> impl Iterator<Item = usize> {
        self.features.active(state).map(|(feature, _)| feature)
    }
}

impl<F: Features> DeterministicPolicy for DeterministicLinear<F> {
    #[inline(always)]
    fn action<R: Real>(&self, at: &R) -> R {
        *at
    }

    #[inline(always)]
    fn add_gradient<R: Real>(&self, state: &F::State, _at: &R, scale: R, weights: &mut [R]) -> R {
        add_outputs(&self.features, state, [scale], weights)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::Dense;

    #[test]
    fn action_and_gradient_by_hand() {
        let policy = DeterministicLinear { features: Dense { len: 2 } };
        let mut weights = [3.0, -1.0];
        let mut at = policy.room();
        policy.distribution(&weights, &[2.0, 5.0], &mut at);
        assert_eq!(policy.action(&at), 1.0);
        let sum = policy.add_gradient(&[2.0, 5.0], &at, 0.5, &mut weights);
        assert_eq!((weights, sum), ([4.0, 1.5], 0.0));
    }
}
