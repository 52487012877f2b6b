//! Deterministic policies: the action is computed, not drawn.

use super::{DeterministicPolicy, Policy, add_outputs, outputs};
use crate::catalogue::{self, Role};
use crate::{
    Built, ComposeError, Declaration, Declared, Draw, Features, PartBuilder, Real, Row, RuleKind, StepError,
};

impl Declared for DeterministicLinear {
    const DECLARATION: Declaration = Declaration {
        source: "Silver et al. 2014",
        acts: Some(catalogue::Acts::Deterministic),
        outputs: Some(1),
        features: true,
        ..Declaration::new(Role::Policy, "deterministic", "DeterministicLinear", "the action x·θ")
    };

    fn build<R: Real>(with: &PartBuilder<R>) -> Result<Built<R>, ComposeError> {
        match with.rule() {
            RuleKind::Deterministic => with.deterministic(DeterministicLinear { features: with.features()? }),
            RuleKind::Taken | RuleKind::All => with.wrong_rule(),
        }
    }
}

/// The action Σ_f x_f(s) θ_f.
#[derive(Clone, Debug, PartialEq)]
pub struct DeterministicLinear {
    /// The features of the policy.
    pub features: Features,
}

impl Policy for DeterministicLinear {
    type Action = f64;
    /// The action.
    type Distribution<R: Real> = R;

    #[inline(always)]
    fn features(&self) -> &Features {
        &self.features
    }

    fn len(&self) -> usize {
        self.features.len()
    }

    #[inline(always)]
    fn check_action(&self, action: f64) -> Result<(), StepError> {
        if action.is_finite() { Ok(()) } else { Err(StepError::RealAction(action)) }
    }

    fn room<R: Real>(&self) -> R {
        R::zero()
    }

    #[inline(always)]
    fn distribution<R: Real>(&self, weights: &[R], x: Row, out: &mut R) {
        [*out] = outputs(x, weights);
    }

    fn numbers<R: Real>(&self, at: &R) -> Vec<R> {
        vec![*at]
    }

    fn sample<R: Real>(&self, at: &R, lane: usize, _draw: &mut dyn Draw) -> f64 {
        at.lane(lane)
    }
}

impl DeterministicPolicy for DeterministicLinear {
    #[inline(always)]
    fn action<R: Real>(&self, at: &R) -> R {
        *at
    }

    #[inline(always)]
    fn add_gradient<R: Real>(&self, x: Row, _at: &R, scale: R, weights: &mut [R]) -> R {
        add_outputs(x, [scale], weights)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AsState;

    #[test]
    fn action_and_gradient_by_hand() {
        let policy = DeterministicLinear { features: Features::dense(2) };
        let mut scratch = crate::Scratch::default();
        let x = policy.features.row([2.0, 5.0].as_state(), &mut scratch);
        let mut weights = [3.0, -1.0];
        let at = policy.distribution_at(&weights, x);
        assert_eq!(policy.action(&at), 1.0);
        let sum = policy.add_gradient(x, &at, 0.5, &mut weights);
        assert_eq!((weights, sum), ([4.0, 1.5], 0.0));
    }
}
