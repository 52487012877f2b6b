//! The paper's algorithms, by name.

use super::{ActorCritic, DeterministicAction, DeterministicActorCritic, LearnerBuilder, TakenAction};
use crate::{
    ComposeError, Critic, DeterministicPolicy, ExactEmphasis, FollowOn, LambdaReturn, Model, NoEmphasis,
    PerFeature, Real, SlopeCritic, StochasticPolicy,
};
use std::sync::Arc;

/// The type of an [`off_pac`] learner.
pub type OffPac<R, P, C> = ActorCritic<R, P, C, NoEmphasis>;

/// The type of an [`ace`] learner.
pub type Ace<R, P, C> = ActorCritic<R, P, C, LambdaReturn<R>>;

/// The type of a [`follow_on_ace`] learner.
pub type FollowOnAce<R, P, C> = ActorCritic<R, P, C, FollowOn<R>>;

/// The type of a [`true_ace`] learner.
pub type TrueAce<R, M, P, C> = ActorCritic<R, P, C, ExactEmphasis<R, M, P>>;

/// The type of a [`dpg`] learner.
pub type Dpg<R, P, C> = DeterministicActorCritic<R, P, C, NoEmphasis>;

/// The type of a [`true_dpge`] learner.
pub type TrueDpge<R, M, P, C> = DeterministicActorCritic<R, P, C, ExactEmphasis<R, M, P>>;

/// OffPAC with its actor trace at zero: the semi-gradient, every state weighted by its interest. Its setting is `alpha`.
pub fn off_pac<R: Real, P: StochasticPolicy, C: Critic<R>>(
    policy: P,
    critic: C,
) -> LearnerBuilder<R, P, C, NoEmphasis, TakenAction> {
    LearnerBuilder::new(policy, critic, Ok(NoEmphasis))
}

/// ACE(λ_a) with an emphasis that is learned through its λ-return ([`LambdaReturn`]), from the critic's features or, if it has none, the
/// policy's. λ_a = 1, the default, estimates the gradient; λ_a = 0 is OffPAC. Its settings are `alpha` and `lambda_a`.
pub fn ace<R: Real, P: StochasticPolicy, C: Critic<R>>(
    policy: P,
    critic: C,
) -> LearnerBuilder<R, P, C, LambdaReturn<R>, TakenAction> {
    let emphasis = || {
        let features = critic.all_features().first().copied().unwrap_or(policy.features()).clone();
        LambdaReturn::builder(features, PerFeature::builder().build()?.into()).build()
    };
    let emphasis = emphasis().map_err(ComposeError::from);
    LearnerBuilder::new(policy, critic, emphasis)
}

/// ACE(λ_a) of the paper: emphasis by the follow-on trace. λ_a = 1 estimates the gradient, with a variance that may be infinite; λ_a = 0 is OffPAC;
/// the paper suggests 0.9, the default. Its settings are `alpha` and `lambda_a`.
pub fn follow_on_ace<R: Real, P: StochasticPolicy, C: Critic<R>>(
    policy: P,
    critic: C,
) -> LearnerBuilder<R, P, C, FollowOn<R>, TakenAction> {
    LearnerBuilder::new(policy, critic, FollowOn::builder().build().map_err(ComposeError::from))
}

/// True-ACE: the exact emphatic density m(S_t)/d_μ(S_t). Its setting is `alpha`.
pub fn true_ace<R: Real, P: StochasticPolicy, C: Critic<R>, M: Model<P>>(
    model: Arc<M>,
    policy: P,
    critic: C,
) -> LearnerBuilder<R, P, C, ExactEmphasis<R, M, P>, TakenAction> {
    let emphasis = ExactEmphasis::new(model, &policy).map_err(ComposeError::from);
    LearnerBuilder::new(policy, critic, emphasis)
}

/// DPG: the semi-gradient, every state weighted by its interest. With [`Compatible`](crate::Compatible) as its critic this
/// is COPDAC-GQ. Its setting is `alpha`.
pub fn dpg<R: Real, P: DeterministicPolicy, C: SlopeCritic<R>>(
    policy: P,
    critic: C,
) -> LearnerBuilder<R, P, C, NoEmphasis, DeterministicAction> {
    LearnerBuilder::new(policy, critic, Ok(NoEmphasis))
}

/// True-DPGE: DPG with the exact emphatic density. Its setting is `alpha`.
pub fn true_dpge<R: Real, P: DeterministicPolicy, C: SlopeCritic<R>, M: Model<P>>(
    model: Arc<M>,
    policy: P,
    critic: C,
) -> LearnerBuilder<R, P, C, ExactEmphasis<R, M, P>, DeterministicAction> {
    let emphasis = ExactEmphasis::new(model, &policy).map_err(ComposeError::from);
    LearnerBuilder::new(policy, critic, emphasis)
}
