//! Emphasis: how much a state counts.
//!
//! | emphasis | M_t | E[M_t ∣ S_t = s] d_μ(s) |
//! |---|---|---|
//! | [`NoEmphasis`] | i(S_t) | d_μ(s) i(s) |
//! | [`FollowOn`] | (1 − λ_a) i(S_t) + λ_a F_t | m_{λ_a}(s) |
//! | [`ExactEmphasis`] | m(S_t)/d_μ(S_t) | m(s) |

mod exact;
mod follow_on;

pub use exact::ExactEmphasis;
pub use follow_on::FollowOn;

use crate::features::FeatureError;
use crate::part::{Part, StepOf};
use crate::policy::Policy;
use crate::real::Real;
use crate::state::{RestoreError, Stateful};

/// Gives the weight of each step in the actor's update.
pub trait Emphasis<R: Real, P: Policy>: Part<R, P> {
    /// M_t. `rho` is ρ_t; it counts for the steps after this one.
    fn weigh(&mut self, step: &StepOf<P>, rho: R) -> R;
}

/// An emphasis that makes no use of ρ, the only kind that suits a deterministic target policy: the behaviour
/// almost never takes just its action, so the ratio does not exist.
pub trait RatioFree {}

/// Every state counts by its interest: the semi-gradient of OffPAC and DPG.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct NoEmphasis;

impl RatioFree for NoEmphasis {}

impl<R: Real, P: Policy> Part<R, P> for NoEmphasis {
    #[inline(always)]
    fn check_state(&self, _state: &P::State) -> Result<(), FeatureError> {
        Ok(())
    }
}

impl<R: Real, P: Policy> Emphasis<R, P> for NoEmphasis {
    #[inline(always)]
    fn weigh(&mut self, step: &StepOf<P>, _rho: R) -> R {
        R::splat(step.interest)
    }
}

impl Stateful for NoEmphasis {
    type State = ();

    fn state(&self) {}

    fn fits(&self, (): &()) -> Result<(), RestoreError> {
        Ok(())
    }

    fn put(&mut self, (): ()) {}
}
