//! The exact emphasis, computed from the problem itself.

use super::Emphasis;
use crate::catalogue::{Need, Role};
use crate::critic::exact::{described, exact_part};
use crate::problem::known_problem::Solvable;
use crate::theory::incremental_solution::{IncrementalSolution, Quantity};
use crate::{
    Built, ComposeError, Declaration, Declared, Features, Model, Part, PartBuilder, Policy, ProblemError,
    Real, Seen, Softmax, State, StateError, Task, Visitor,
};
use std::any::Any;
use std::sync::Arc;

impl Declared for ExactEmphasis {
    const DECLARATION: Declaration = Declaration {
        source: "Imani, Graves and White 2018 (True-ACE, True-DPGE)",
        needs: &[Need::Problem],
        ..Declaration::new(
            Role::Emphasis,
            "exact",
            "ExactEmphasis",
            "m(S_t)/d_μ(S_t) of the current policy, computed from the problem itself",
        )
    };

    fn build<R: Real>(with: &PartBuilder<R>) -> Result<Built<R>, ComposeError> {
        match with.problem()?.with_policy(with.policy())? {
            Solvable::Softmax(task, policy) => with.emphasis(ExactEmphasis::new(task, policy)?),
            Solvable::Fixed(task, policy) => with.emphasis(ExactEmphasis::new(task, policy)?),
            Solvable::Gaussian(problem, policy) => with.emphasis(ExactEmphasis::new(problem, policy)?),
            Solvable::Deterministic(problem, policy) => with.emphasis(ExactEmphasis::new(problem, policy)?),
        }
    }
}

/// The emphatic density m(S_t)/d_μ(S_t) of the *current* target policy, computed from the problem itself
/// (True-ACE, True-DPGE). The interest is the problem's.
#[derive(Clone, Debug)]
pub struct ExactEmphasis<R: Real = f64, M = Task, P: Policy = Softmax> {
    states: Features,
    inverse_stationary: Vec<f64>,
    weighting: IncrementalSolution<R, M, P>,
}

impl<R: Real, P: Policy, M: Model<P>> ExactEmphasis<R, M, P> {
    /// The exact emphasis of a problem for policies of this form.
    pub fn new(model: Arc<M>, policy: &P) -> Result<Self, ProblemError> {
        // A state that the behaviour never sees again has no density, and no step of its own to be weighed.
        let inverse = |d: &f64| if *d > 0.0 { 1.0 / d } else { 0.0 };
        let inverse_stationary: Vec<f64> = model.stationary().iter().map(inverse).collect();
        let states = Features::one_hot(inverse_stationary.len());
        Ok(Self {
            states,
            inverse_stationary,
            weighting: IncrementalSolution::new(model, policy, Quantity::EmphaticWeighting)?,
        })
    }
}

impl<R: Real, P: Policy, M: Model<P>> Part<R> for ExactEmphasis<R, M, P> {
    exact_part!(ExactEmphasis, weighting);
}

impl<R: Real, P: Policy, M: Model<P>> Emphasis<R> for ExactEmphasis<R, M, P> {
    #[inline(always)]
    fn weigh(&mut self, step: &Seen, _rho: R) -> R {
        let state = step.number();
        self.weighting.solution.at(state) * R::splat(self.inverse_stationary[state])
    }

    fn needs_ratio(&self) -> bool {
        false
    }

    fn learns(&self) -> bool {
        false
    }
}
