//! The paper's algorithms, by name.

use super::{ActorCritic, DeterministicActorCritic};
use crate::critic::{Critic, SlopeCritic};
use crate::emphasis::{ExactEmphasis, FollowOn, NoEmphasis};
use crate::part::ComposeError;
use crate::policy::{DeterministicPolicy, StochasticPolicy};
use crate::real::Real;
use crate::theory::Model;
use std::sync::Arc;

/// The type of an [`off_pac`] learner.
pub type OffPac<R, P, C> = ActorCritic<R, P, C, NoEmphasis>;

/// The type of an [`ace`] learner.
pub type Ace<R, P, C> = ActorCritic<R, P, C, FollowOn<R>>;

/// OffPAC with its actor trace at zero: the semi-gradient, every state weighted by its interest.
pub fn off_pac<R: Real, P: StochasticPolicy, C: Critic<R>>(
    policy: P,
    critic: C,
    alpha: R,
) -> Result<OffPac<R, P, C>, ComposeError> {
    ActorCritic::new(policy, critic, NoEmphasis, alpha)
}

/// ACE(λ_a): emphasis by the follow-on trace. λ_a = 1 estimates the gradient, λ_a = 0 is OffPAC; the paper suggests 0.9.
pub fn ace<R: Real, P: StochasticPolicy, C: Critic<R>>(
    policy: P,
    critic: C,
    lambda_a: R,
    alpha: R,
) -> Result<Ace<R, P, C>, ComposeError> {
    ActorCritic::new(policy, critic, FollowOn::new(lambda_a)?, alpha)
}

/// The type of a [`true_ace`] learner.
pub type TrueAce<R, M, P, C> = ActorCritic<R, P, C, ExactEmphasis<R, M, P>>;

/// The type of a [`dpg`] learner.
pub type Dpg<R, P, C> = DeterministicActorCritic<R, P, C, NoEmphasis>;

/// The type of a [`true_dpge`] learner.
pub type TrueDpge<R, M, P, C> = DeterministicActorCritic<R, P, C, ExactEmphasis<R, M, P>>;

/// True-ACE: the exact emphatic density m(S_t)/d_μ(S_t).
pub fn true_ace<R, P, C, M>(
    model: Arc<M>,
    policy: P,
    critic: C,
    alpha: R,
) -> Result<TrueAce<R, M, P, C>, ComposeError>
where
    R: Real,
    P: StochasticPolicy,
    C: Critic<R>,
    M: Model<P>,
{
    let emphasis = ExactEmphasis::new(model, &policy)?;
    ActorCritic::new(policy, critic, emphasis, alpha)
}

/// DPG: the semi-gradient, every state weighted by its interest. With [`Compatible`](crate::Compatible) as its critic this
/// is COPDAC-GQ.
pub fn dpg<R: Real, P: DeterministicPolicy, C: SlopeCritic<R>>(
    policy: P,
    critic: C,
    alpha: R,
) -> Result<Dpg<R, P, C>, ComposeError> {
    DeterministicActorCritic::new(policy, critic, NoEmphasis, alpha)
}

/// True-DPGE: DPG with the exact emphatic density.
pub fn true_dpge<R, P, C, M>(
    model: Arc<M>,
    policy: P,
    critic: C,
    alpha: R,
) -> Result<TrueDpge<R, M, P, C>, ComposeError>
where
    R: Real,
    P: DeterministicPolicy,
    C: SlopeCritic<R>,
    M: Model<P>,
{
    let emphasis = ExactEmphasis::new(model, &policy)?;
    DeterministicActorCritic::new(policy, critic, emphasis, alpha)
}
