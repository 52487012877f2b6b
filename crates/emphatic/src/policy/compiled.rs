//! A policy behind a call, compiled for every instruction set.

use super::{DeterministicPolicy, FinitePolicy, Policy, StochasticPolicy};
use crate::features::{Features, Row};
use crate::isa::{Isa, Kernel};
use crate::random::Random;
use crate::real::Real;
use crate::step::StepError;
use std::any::Any;

/// A policy whose long methods (the exponentials of a softmax in lanes, the score) are called rather than inlined: so they are compiled once
/// for each instruction set, not once for each loop. The results are the same bits.
#[derive(Clone, Debug)]
pub(crate) struct Compiled<P> {
    pub(crate) isa: Isa,
    pub(crate) policy: P,
}

impl<P: Policy> Policy for Compiled<P> {
    type Action = P::Action;
    type Distribution<R: Real> = P::Distribution<R>;

    fn form(&self) -> &dyn Any {
        self.policy.form()
    }

    #[inline(always)]
    fn features(&self) -> &Features {
        self.policy.features()
    }

    fn len(&self) -> usize {
        self.policy.len()
    }

    #[inline(always)]
    fn check_action(&self, action: P::Action) -> Result<(), StepError> {
        self.policy.check_action(action)
    }

    #[inline(always)]
    fn check_mu(&self, mu: f64) -> Result<(), StepError> {
        self.policy.check_mu(mu)
    }

    fn room<R: Real>(&self) -> P::Distribution<R> {
        self.policy.room()
    }

    #[inline(always)]
    fn distribution<R: Real>(&self, weights: &[R], x: Row, out: &mut P::Distribution<R>) {
        self.isa.run(Distribution { policy: &self.policy, weights, x, out });
    }

    fn numbers<R: Real>(&self, at: &P::Distribution<R>) -> Vec<R> {
        self.policy.numbers(at)
    }
}

struct Distribution<'a, R: Real, P: Policy> {
    policy: &'a P,
    weights: &'a [R],
    x: Row<'a>,
    out: &'a mut P::Distribution<R>,
}

impl<R: Real, P: Policy> Kernel for Distribution<'_, R, P> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.policy.distribution(self.weights, self.x, self.out);
    }
}

impl<P: StochasticPolicy> StochasticPolicy for Compiled<P> {
    #[inline(always)]
    fn probability<R: Real>(&self, at: &P::Distribution<R>, action: P::Action) -> R {
        self.policy.probability(at, action)
    }

    #[inline(always)]
    fn add_score<R: Real>(
        &self,
        x: Row,
        at: &P::Distribution<R>,
        action: P::Action,
        scale: R,
        weights: &mut [R],
    ) -> R {
        self.isa.run(AddScore { policy: &self.policy, x, at, action, scale: &scale, weights })
    }

    fn sample(&self, at: &P::Distribution<f64>, random: &mut Random) -> P::Action {
        self.policy.sample(at, random)
    }
}

struct AddScore<'a, R: Real, P: Policy> {
    policy: &'a P,
    x: Row<'a>,
    at: &'a P::Distribution<R>,
    action: P::Action,
    scale: &'a R,
    weights: &'a mut [R],
}

impl<R: Real, P: StochasticPolicy> Kernel for AddScore<'_, R, P> {
    type Output = R;

    #[inline(always)]
    fn run(self) -> R {
        self.policy.add_score(self.x, self.at, self.action, *self.scale, self.weights)
    }
}

impl<P: FinitePolicy> FinitePolicy for Compiled<P> {
    fn actions(&self) -> usize {
        self.policy.actions()
    }

    #[inline(always)]
    fn probabilities<'a, R: Real>(&self, at: &'a P::Distribution<R>) -> &'a [R] {
        self.policy.probabilities(at)
    }
}

impl<P: DeterministicPolicy> DeterministicPolicy for Compiled<P> {
    #[inline(always)]
    fn action<R: Real>(&self, at: &P::Distribution<R>) -> R {
        self.policy.action(at)
    }

    #[inline(always)]
    fn add_gradient<R: Real>(&self, x: Row, at: &P::Distribution<R>, scale: R, weights: &mut [R]) -> R {
        self.policy.add_gradient(x, at, scale, weights)
    }
}
