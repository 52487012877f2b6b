//! The commonest compositions, each compiled as one loop.
//!
//! A boxed part costs a few calls at every step. These compositions avoid them; their results are the same bits.

use super::{Built, PartBuilder};
use crate::catalogue::{Role, Signal};
use crate::problem::known_problem::Solvable;
use crate::{
    ActorCritic, ComposeError, Critic, Emphasis, ExactCritic, ExactEmphasis, FollowOn, Gtd, NoEmphasis, Part,
    Real, Seen, Softmax, StateError, Visitor,
};

/// No emphasis or the follow-on trace: alike enough to share a loop.
#[derive(Debug)]
enum Trace<R> {
    None(NoEmphasis),
    FollowOn(FollowOn<R>),
}

impl<R: Real> Part<R> for Trace<R> {
    fn tensors(&mut self, visitor: &mut Visitor) -> Result<(), StateError> {
        match self {
            Self::None(none) => Part::<R>::tensors(none, visitor),
            Self::FollowOn(trace) => trace.tensors(visitor),
        }
    }
}

impl<R: Real> Emphasis<R> for Trace<R> {
    #[inline(always)]
    fn weigh(&mut self, step: &Seen, rho: R) -> R {
        match self {
            Self::None(none) => none.weigh(step, rho),
            Self::FollowOn(trace) => trace.weigh(step, rho),
        }
    }

    fn learns(&self) -> bool {
        false
    }
}

/// Returns the learner of a softmax policy, if it is one of these; `None` if a part is another, even of the same name.
pub(crate) fn softmax<R: Real>(
    with: &PartBuilder<R>,
    policy: &Softmax,
) -> Result<Option<Built<R>>, ComposeError> {
    let critic = with.beside(Role::Critic, Signal::Delta, policy)?;
    let emphasis = with.beside(Role::Emphasis, Signal::Delta, policy)?;
    let trace = if emphasis.is::<NoEmphasis>() {
        Some(Trace::None(NoEmphasis))
    } else if emphasis.is::<FollowOn>() {
        Some(Trace::FollowOn(FollowOn::new(emphasis.settings())?))
    } else {
        None
    };
    if critic.is::<Gtd>() {
        let Some(trace) = trace else { return Ok(None) };
        let critic = Gtd::new(critic.features()?, critic.settings())?.with_schedule(critic.schedule()?);
        return learner(with, policy, critic, trace);
    }
    if !critic.is::<ExactCritic>() {
        return Ok(None);
    }
    let Solvable::Softmax(task, _) = critic.problem()?.with_policy(policy)? else { return Ok(None) };
    let critic = ExactCritic::new(task, policy)?;
    if let Some(trace) = trace {
        return learner(with, policy, critic, trace);
    }
    if !emphasis.is::<ExactEmphasis>() {
        return Ok(None);
    }
    let Solvable::Softmax(task, _) = emphasis.problem()?.with_policy(policy)? else { return Ok(None) };
    learner(with, policy, critic, ExactEmphasis::new(task, policy)?)
}

fn learner<R: Real>(
    with: &PartBuilder<R>,
    policy: &Softmax,
    critic: impl Critic<R> + 'static,
    emphasis: impl Emphasis<R> + 'static,
) -> Result<Option<Built<R>>, ComposeError> {
    let learner = with.with_step_size(ActorCritic::builder(policy.clone(), critic, emphasis)).build()?;
    Ok(Some(Built::Learner(Box::new(learner))))
}
