//! A part chosen when the program runs.

use super::{ComposeError, Part, StepOf};
use crate::critic::{ActionCritic, Critic, SlopeCritic};
use crate::emphasis::{Emphasis, RatioFree};
use crate::features::FeatureError;
use crate::policy::{DeterministicPolicy, FinitePolicy, Policy};
use crate::real::Real;
use crate::state::{RestoreError, Stateful};

/// One of two parts, chosen when the program runs (by a name in a file, say). It nests: one of three is
/// `Either<A, Either<B, C>>`.
#[derive(Clone, Debug)]
pub enum Either<A, B> {
    /// The first.
    First(A),
    /// The second.
    Second(B),
}

use Either::{First, Second};

/// The same expression for whichever it is.
macro_rules! either {
    ($either:expr, $part:ident => $value:expr) => {
        match $either {
            First($part) => $value,
            Second($part) => $value,
        }
    };
}

impl<A: Stateful, B: Stateful> Stateful for Either<A, B> {
    type State = Result<A::State, B::State>;

    fn state(&self) -> Self::State {
        match self {
            First(part) => Ok(part.state()),
            Second(part) => Err(part.state()),
        }
    }

    fn fits(&self, state: &Self::State) -> Result<(), RestoreError> {
        match (self, state) {
            (First(part), Ok(state)) => part.fits(state),
            (Second(part), Err(state)) => part.fits(state),
            _ => Err(RestoreError::Kind),
        }
    }

    fn put(&mut self, state: Self::State) {
        match (self, state) {
            (First(part), Ok(state)) => part.put(state),
            (Second(part), Err(state)) => part.put(state),
            _ => {} // It does not fit.
        }
    }
}

impl<R: Real, P: Policy, A: Part<R, P>, B: Part<R, P>> Part<R, P> for Either<A, B> {
    #[inline(always)]
    fn check_state(&self, state: &P::State) -> Result<(), FeatureError> {
        either!(self, part => part.check_state(state))
    }

    fn adopt(&mut self, policy: &P) -> Result<(), ComposeError> {
        either!(self, part => part.adopt(policy))
    }

    #[inline(always)]
    fn follow(&mut self, policy: &P, weights: &[R], state: Option<&P::State>) {
        either!(self, part => part.follow(policy, weights, state));
    }

    fn give_up(&mut self, lane: usize) {
        either!(self, part => part.give_up(lane));
    }
}

impl<R: Real, P: Policy, A: Critic<R, P>, B: Critic<R, P>> Critic<R, P> for Either<A, B> {
    #[inline(always)]
    fn value(&mut self, state: &P::State) -> R {
        either!(self, part => part.value(state))
    }

    #[inline(always)]
    fn delta(&mut self, step: &StepOf<P>) -> R {
        either!(self, part => part.delta(step))
    }

    #[inline(always)]
    fn learn(&mut self, step: &StepOf<P>, rho: R, delta: R) -> R {
        either!(self, part => part.learn(step, rho, delta))
    }
}

impl<R: Real, P: FinitePolicy, A: ActionCritic<R, P>, B: ActionCritic<R, P>> ActionCritic<R, P>
    for Either<A, B>
{
    #[inline(always)]
    fn advantages(&mut self, state: &P::State, out: &mut [R]) {
        either!(self, part => part.advantages(state, out));
    }

    #[inline(always)]
    fn learn(
        &mut self,
        step: &StepOf<P>,
        policy: &P,
        weights: &[R],
        room: &mut P::Distribution<R>,
        rho: R,
    ) -> R {
        either!(self, part => part.learn(step, policy, weights, room, rho))
    }
}

impl<R: Real, P: DeterministicPolicy, A: SlopeCritic<R, P>, B: SlopeCritic<R, P>> SlopeCritic<R, P>
    for Either<A, B>
{
    #[inline(always)]
    fn slope(&mut self, state: &P::State, action: R) -> R {
        either!(self, part => part.slope(state, action))
    }

    #[inline(always)]
    fn learn(&mut self, step: &StepOf<P>, action: R) -> R {
        either!(self, part => part.learn(step, action))
    }
}

impl<R: Real, P: Policy, A: Emphasis<R, P>, B: Emphasis<R, P>> Emphasis<R, P> for Either<A, B> {
    #[inline(always)]
    fn weigh(&mut self, step: &StepOf<P>, rho: R) -> R {
        either!(self, part => part.weigh(step, rho))
    }
}

impl<A: RatioFree, B: RatioFree> RatioFree for Either<A, B> {}
