//! The objective J_μ, of one policy or of many in turn.

use super::elimination::Chain;
use super::model::{check_len, check_policy};
use super::{Exact, Model};
use crate::instruction_set::Isa;
use crate::policy::Policy;
use crate::problem::ProblemError;
use crate::real::Real;
use std::sync::Arc;

impl<R: Real, P: Policy, M: Model<P>> Exact<'_, R, M, P> {
    /// J_μ = Σ_s d_μ(s) i(s) v_π(s).
    pub fn objective(&self) -> R {
        let mut sum = R::zero();
        for ((d, i), v) in self.stationary.iter().zip(self.model.interest()).zip(&self.values) {
            sum += R::splat(d * i) * *v;
        }
        self.unit.times(sum)
    }
}

/// J_μ of many policies in turn, all of the same form.
pub trait Objective<R>: Send {
    /// J_μ for these weights. A lane in which it is not defined (weights that are not finite, episodes that never
    /// end) is not finite.
    fn of(&mut self, isa: Isa, weights: &[R]) -> R;
}

/// J_μ of many policies in turn, as [`Exact::objective`] computes it but without allocating: for learning curves.
///
/// ```
/// use emphatic::{Isa, Task, theory::ExactObjective};
/// let task = std::sync::Arc::new(Task::counterexample());
/// let policy = task.softmax();
/// let mut objective = ExactObjective::new(task, &policy)?;
/// assert_eq!(objective.evaluate(Isa::best(), &[0.0; 4])?, 0.6875);
/// # Ok::<(), emphatic::ProblemError>(())
/// ```
#[derive(Clone, Debug)]
pub struct ExactObjective<R: Real, M, P: Policy> {
    model: Arc<M>,
    policy: P,
    chain: Chain<R>,
    /// v, by place.
    values: Vec<R>,
    at: P::Distribution<R>,
}

impl<R: Real, P: Policy, M: Model<P>> ExactObjective<R, M, P> {
    /// The objective of policies of this form.
    pub fn new(model: Arc<M>, policy: &P) -> Result<Self, ProblemError> {
        check_policy(&*model, policy)?;
        let chain = Chain::of_model(&*model);
        let values = vec![R::zero(); model.order().states()];
        Ok(Self { chain, values, at: policy.room(), policy: policy.clone(), model })
    }

    /// J_μ for these weights. A lane in which it is not defined (weights that are not finite, episodes that never
    /// end) is not finite, and does not disturb the others.
    pub fn evaluate(&mut self, isa: Isa, weights: &[R]) -> Result<R, ProblemError> {
        check_len(&self.policy, weights)?;
        Ok(isa.run(
            #[inline(always)]
            || self.inlined(weights),
        ))
    }

    /// J_μ, to be compiled for an instruction set.
    #[inline(always)]
    fn inlined(&mut self, weights: &[R]) -> R {
        let Self { model, policy, chain, values, at } = self;
        let n = values.len();
        for state in 0..n {
            policy.distribution(weights, policy.features().of_number(state), at);
            model.bellman(policy, at, state, chain.bellman_mut(state));
        }
        for place in 0..n {
            chain.eliminate(place);
        }
        for place in (0..n).rev() {
            values[place] = chain.value(place, values);
        }
        let mut sum = R::zero();
        let interests = model.stationary().iter().zip(model.interest());
        for ((d, i), place) in interests.zip(&chain.order.place) {
            sum += R::splat(d * i) * values[*place];
        }
        sum
    }
}

impl<R: Real, P: Policy, M: Model<P>> Objective<R> for ExactObjective<R, M, P> {
    fn of(&mut self, isa: Isa, weights: &[R]) -> R {
        self.evaluate(isa, weights).unwrap_or(R::splat(f64::NAN))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Lanes, Random, Task};

    #[test]
    fn it_agrees_with_the_whole_solution_to_the_bit_and_lanes_do_not_disturb_each_other() {
        let task = Arc::new(Task::long_counterexample(5));
        let policy = task.softmax();
        let mut random = Random::new(3, 0);
        let weights: Vec<f64> = (0..policy.len()).map(|_| random.normal()).collect();
        let alone = Exact::new(&*task, &policy, &weights).unwrap().objective();
        for isa in [Isa::Plain, Isa::best()] {
            let mut objective = ExactObjective::new(task.clone(), &policy).unwrap();
            assert_eq!(objective.evaluate(isa, &weights).unwrap().to_bits(), alone.to_bits());
            // A neighbour that has diverged.
            let lanes: Vec<Lanes<2>> = weights.iter().map(|w| Lanes([f64::NAN, *w])).collect();
            let mut objective = ExactObjective::new(task.clone(), &policy).unwrap();
            let objectives = objective.evaluate(isa, &lanes).unwrap().0;
            assert!(objectives[0].is_nan());
            assert_eq!(objectives[1].to_bits(), alone.to_bits());
        }
    }
}
