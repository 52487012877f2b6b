//! The objective, again and again.

use super::chain::Chain;
use super::{Bellman, Model, check_len, check_policy};
use crate::instruction_set::{Isa, Kernel};
use crate::policy::Policy;
use crate::problem::ProblemError;
use crate::real::Real;
use std::sync::Arc;

/// J_μ of one policy after another, as [`Exact`](super::Exact) gives it, without allocating: for learning curves.
///
/// ```
/// use emphatic::{Isa, Task, theory::Judge};
/// let task = std::sync::Arc::new(Task::counterexample());
/// let policy = task.softmax();
/// let mut judge = Judge::new(task, &policy)?;
/// assert_eq!(judge.objective(Isa::best(), &[0.0; 4])?, 0.6875);
/// # Ok::<(), emphatic::ProblemError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Judge<R: Real, M, P: Policy> {
    model: Arc<M>,
    policy: P,
    chain: Chain<R>,
    /// v, by place.
    values: Vec<R>,
    at: P::Distribution<R>,
}

impl<R: Real, P: Policy, M: Model<P>> Judge<R, M, P> {
    /// A judge of policies of this form.
    pub fn new(model: Arc<M>, policy: &P) -> Result<Self, ProblemError> {
        check_policy(&*model, policy)?;
        let order = model.order().clone();
        let interest = model.stationary().iter().zip(model.interest()).map(|(d, i)| d * i).collect();
        let values = vec![R::zero(); order.states()];
        Ok(Self {
            chain: Chain::new(order, interest),
            values,
            at: policy.room(),
            policy: policy.clone(),
            model,
        })
    }

    /// J_μ for these weights. A lane in which it is not defined (weights that are not finite, episodes that never
    /// end) is not finite, and does not disturb the others.
    pub fn objective(&mut self, isa: Isa, weights: &[R]) -> Result<R, ProblemError> {
        check_len(&self.policy, weights)?;
        Ok(isa.run(Objective { judge: self, weights }))
    }
}

struct Objective<'a, R: Real, M, P: Policy> {
    judge: &'a mut Judge<R, M, P>,
    weights: &'a [R],
}

impl<R: Real, P: Policy, M: Model<P>> Kernel for Objective<'_, R, M, P> {
    type Output = R;

    #[inline(always)]
    fn run(self) -> R {
        let Judge { model, policy, chain, values, at } = self.judge;
        let n = values.len();
        for state in 0..n {
            let x = policy.features().of_number(state);
            policy.distribution(self.weights, x, at);
            let (row, leak, reward) = chain.row_mut(state);
            model.bellman(policy, at, state, Bellman { row, leak, reward });
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
