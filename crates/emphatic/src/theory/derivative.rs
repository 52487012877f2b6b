//! The gradient of the objective without the theorem.

use super::{Exact, Model};
use crate::policy::Policy;
use crate::problem::ProblemError;
use crate::real::{Dual, Real};

/// ∂J_μ/∂θ by dual numbers: the objective is solved and differentiated once for each weight. It knows nothing of
/// emphatic weightings, so it can judge [`Exact::gradient`], which is as good and needs only one solution.
pub fn derivative<P: Policy, M: Model<P>>(
    model: &M,
    policy: &P,
    weights: &[f64],
) -> Result<Vec<f64>, ProblemError> {
    let along = |k: usize| {
        let mut dual: Vec<Dual> = weights.iter().map(|&w| Dual::splat(w)).collect();
        dual[k] = Dual::variable(weights[k], 0);
        Ok(Exact::new(model, policy, &dual)?.objective().slope.0[0])
    };
    (0..weights.len()).map(along).collect()
}
