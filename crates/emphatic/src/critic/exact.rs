//! The exact critic, computed from the problem itself.

use super::{ActionCritic, Critic, SlopeCritic, td_error};
use crate::catalogue::{Need, Role, Signal};
use crate::problem::known_problem::Solvable;
use crate::saved_state::digest;
use crate::theory::ModelStates;
use crate::theory::incremental_solution::{IncrementalSolution, Quantity};
use crate::{
    Built, ComposeError, ContinuousCounterexample, Declaration, Declared, DeterministicPolicy, Features,
    FinitePolicy, Model, Part, PartBuilder, Policy, ProblemError, Real, Seen, Softmax, State, StateError,
    Task, Visitor,
};
use std::any::Any;
use std::sync::Arc;

impl Declared for ExactCritic {
    const DECLARATION: Declaration = Declaration {
        source: "Imani, Graves and White 2018",
        signals: &[Signal::Delta, Signal::Advantages, Signal::Slope],
        needs: &[Need::Problem],
        ..Declaration::new(
            Role::Critic,
            "exact",
            "ExactCritic",
            "v, q or ∂q/∂a of the current policy, computed from the problem itself",
        )
    };

    fn build<R: Real>(with: &PartBuilder<R>) -> Result<Built<R>, ComposeError> {
        match (with.problem()?.with_policy(with.policy())?, with.signal()) {
            (Solvable::Softmax(task, policy), Signal::Advantages) => {
                with.action_critic(ExactCritic::new(task, policy)?)
            }
            (Solvable::Fixed(task, policy), Signal::Advantages) => {
                with.action_critic(ExactCritic::new(task, policy)?)
            }
            (Solvable::Deterministic(problem, policy), _) => {
                with.slope_critic(ExactCritic::new(problem, policy)?)
            }
            (Solvable::Softmax(task, policy), _) => with.critic(ExactCritic::new(task, policy)?),
            (Solvable::Fixed(task, policy), _) => with.critic(ExactCritic::new(task, policy)?),
            (Solvable::Gaussian(problem, policy), _) => with.critic(ExactCritic::new(problem, policy)?),
        }
    }
}

/// v, q or ∂q/∂a of the *current* target policy, before every update, computed from the problem itself.
///
/// It has no state of its own: its values follow from the policy's weights.
#[derive(Clone, Debug)]
pub struct ExactCritic<R: Real = f64, M = Task, P: Policy = Softmax> {
    states: Features,
    values: IncrementalSolution<R, M, P>,
}

impl<R: Real, P: Policy, M: Model<P>> ExactCritic<R, M, P> {
    /// The exact critic of a problem for policies of this form.
    pub fn new(model: Arc<M>, policy: &P) -> Result<Self, ProblemError> {
        let states = Features::one_hot(model.order().states());
        Ok(Self { states, values: IncrementalSolution::new(model, policy, Quantity::Values)? })
    }
}

/// Returns a description of a problem that distinguishes it from others: its number of states, and a digest of d_μ and i.
pub(crate) fn described(model: &impl ModelStates) -> String {
    let known = model.stationary().iter().chain(model.interest()).map(|x| x.to_bits());
    format!("{} states (digest {:016x})", model.order().states(), digest(known))
}

/// The methods of [`Part`] of a part that is computed from a problem, by a solution for the present policy.
macro_rules! exact_part {
    ($part:ident, $solution:ident) => {
        // It has no features, but the state must be one of the problem's.
        fn all_features(&self) -> Vec<&Features> {
            vec![&self.states]
        }

        fn set_policy(&mut self, policy: &dyn Any) -> Result<(), ComposeError> {
            self.$solution.set_policy(policy)
        }

        fn depends_on_policy(&self) -> bool {
            true
        }

        #[inline(always)]
        fn policy_changed(&mut self, weights: &[R], state: Option<State>) {
            self.$solution.policy_changed(weights, state);
        }

        fn tensors(&mut self, visitor: &mut Visitor) -> Result<(), StateError> {
            visitor.kind(<$part as Declared>::DECLARATION.name)?;
            visitor.text("problem", &described(&*self.$solution.model))
        }
    };
}
pub(crate) use exact_part;

impl<R: Real, P: Policy, M: Model<P>> Part<R> for ExactCritic<R, M, P> {
    exact_part!(ExactCritic, values);
}

impl<R: Real, P: Policy, M: Model<P>> Critic<R> for ExactCritic<R, M, P> {
    #[inline(always)]
    fn value(&mut self, step: &Seen) -> R {
        self.values.solution.at(step.number())
    }

    #[inline(always)]
    fn next_value(&mut self, step: &Seen) -> R {
        self.values.solution.at(step.next_number())
    }

    #[inline(always)]
    fn update(&mut self, step: &Seen, _rho: R) -> [R; 2] {
        [td_error(self, step), R::zero()]
    }
}

impl<R: Real, P: FinitePolicy> ExactCritic<R, Task, P> {
    /// Writes q(s,b) − v(s) of every action b to `out`.
    #[inline(always)]
    fn advantages_in(&mut self, state: usize, out: &mut [R]) {
        let IncrementalSolution { model, solution, .. } = &mut self.values;
        let value = solution.at(state);
        for (action, out) in out.iter_mut().enumerate() {
            *out = model.action_value(state, action, |s| solution.at(s)) - value;
        }
    }
}

impl<R: Real, P: FinitePolicy> ActionCritic<R> for ExactCritic<R, Task, P> {
    fn actions(&self) -> usize {
        self.values.model.actions()
    }

    #[inline(always)]
    fn value(&mut self, step: &Seen, _policy: &[R]) -> R {
        self.values.solution.at(step.number())
    }

    #[inline(always)]
    fn advantages(&mut self, step: &Seen, _policy: &[R], out: &mut [R]) {
        self.advantages_in(step.number(), out);
    }

    #[inline(always)]
    fn next_advantages(&mut self, step: &Seen, _next: &[R], out: &mut [R]) {
        self.advantages_in(step.next_number(), out);
    }

    #[inline(always)]
    fn learn(&mut self, _: &Seen, _: &[R], _: &[R], _: R) -> R {
        R::zero()
    }
}

impl<R: Real, P: DeterministicPolicy> SlopeCritic<R> for ExactCritic<R, ContinuousCounterexample, P>
where
    ContinuousCounterexample: Model<P>,
{
    #[inline(always)]
    fn slope(&mut self, step: &Seen, action: R) -> R {
        let IncrementalSolution { model, solution, .. } = &mut self.values;
        model.action_slope(step.number(), action, |s| solution.at(s))
    }

    #[inline(always)]
    fn learn(&mut self, _step: &Seen, _action: R) -> R {
        R::zero()
    }
}
