//! Exact theory: everything in the paper that can be computed when the problem is known.
//!
//! | quantity | equation | here |
//! |---|---|---|
//! | d_μ | stationary distribution of the behaviour's chain | [`Exact::stationary`] |
//! | P_{π,γ} | Σ_a π(s,a) P(s,a,s′) γ(s,a,s′) | [`Exact::transitions`] |
//! | v_π | v = r_π + P_{π,γ} v | [`Exact::values`] |
//! | q_π, a_π | Σ P (r + γ v), q − v | [`Exact::action_values`], [`Exact::advantages`], [`Exact::action_value`] |
//! | m, m_{λ_a} | mᵀ = iᵀ(I − P_{π,γ})⁻¹, m_{λ_a} = (1 − λ_a) i + λ_a m | [`Exact::emphatic_weighting`] |
//! | J_μ | Σ_s d_μ(s) i(s) v_π(s) | [`Exact::objective`]; [`ExactObjective`] for many policies in turn |
//! | key matrices of TD(0) and ETD(0) | Xᵀ D (I − P_{π,γ}) X | [`Exact::key_matrix`] |
//! | the expected update of every linear critic, its fixed point | E\[Δw\] = α (b − A w), A⁻¹b | [`Exact::critic_update`], [`Exact::action_critic_update`], [`ExpectedUpdate`] |
//! | the weighting that every estimator of the emphasis leads to | d_μ(s) E\[F_t \| S_t = s\] | [`Exact::emphasis_weighting`], [`Exact::emphasis_update`] |
//! | errors of estimates | RMSVE, RMSPBE | [`Exact::value_error`], [`ExpectedUpdate::projected_bellman_error`] |
//! | E\[F_t²\] and the variance of the follow-on trace | second moments under μ | [`FollowOnMoments`] |
//! | ∂J_μ/∂θ | Σ_s m(s) Σ_a ∂π(s,a) q_π(s,a) (Theorem 1; Theorem 2 for deterministic policies) | [`Exact::gradient`]; [`derivative`] without the theorem |
//! | dθ/dt = the expected update | where the gradient and the semi-gradient lead | [`limit`], [`integrate_flow`] |

pub(crate) mod compressed_rows;
mod differences;
mod elimination;
pub(crate) mod elimination_order;
mod emphasis_weighting;
mod emphatic_weighting;
mod expected_update;
mod feature_span;
mod follow_on_moments;
mod gradient;
mod gradient_flow;
pub(crate) mod incremental_solution;
mod key_matrix;
mod lc_weighting;
mod learned_emphasis;
mod linear_action_critic;
mod linear_critic;
mod lu_decomposition;
mod minimum_degree;
mod model;
mod objective;
mod of_part;
pub(crate) mod sigmoid_quadrature;
mod spectral_radius;
pub(crate) mod stationary_distribution;
#[cfg(test)]
mod tests;
mod trace_matrix;
mod value_error;
mod values;

pub use elimination_order::EliminationOrder;
pub use emphasis_weighting::EmphasisKind;
pub use expected_update::{ExpectedUpdate, LearningRule};
pub use follow_on_moments::FollowOnMoments;
pub use gradient::derivative;
pub use gradient_flow::{FlowPoint, Limit, best_attainable, integrate_flow, limit};
pub use learned_emphasis::{EmphasisRead, LearnedEmphasis, MeanPenalty};
pub use linear_action_critic::LinearActionCritic;
pub use linear_critic::LinearCritic;
pub use model::{Bellman, Model, ModelStates, OffPolicyModel, OffPolicyTransition};
pub use objective::{ExactObjective, Objective};

use crate::policy::Policy;
use crate::problem::ProblemError;
use crate::real::Real;
use elimination::Chain;
use emphatic_weighting::{Unit, stationary_in_units};

/// The exact solution of one problem for one policy.
///
/// ```
/// use emphatic::{Exact, Task};
/// let task = Task::counterexample();
/// let policy = task.softmax();
/// let weights = vec![0.0; 4]; // both actions alike
/// let exact = Exact::new(&task, &policy, &weights)?;
/// assert_eq!(exact.stationary(), [0.5, 0.125, 0.375]);
/// assert_eq!(exact.emphatic_weighting(1.0), [0.5, 0.375, 0.625]);
/// // The gradient raises A0 in the aliased states; the semi-gradient (λ_a = 0) lowers it.
/// assert!(exact.gradient(1.0)[2] > 0.0);
/// assert!(exact.gradient(0.0)[2] < 0.0);
/// # Ok::<(), emphatic::ProblemError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Exact<'a, R: Real, M, P: Policy> {
    model: &'a M,
    policy: &'a P,
    distributions: Vec<P::Distribution<R>>,
    chain: Chain<R>,
    values: Vec<R>,
    /// d_μ where there is interest, and m, both in a unit in which they do not underflow.
    stationary: Vec<f64>,
    weighting: Vec<R>,
    unit: Unit,
}

impl<'a, R: Real, P: Policy, M: Model<P>> Exact<'a, R, M, P> {
    /// Solves the problem for the policy with these weights.
    pub fn new(model: &'a M, policy: &'a P, weights: &[R]) -> Result<Self, ProblemError> {
        model::check_weights(policy, weights)?;
        model::check_policy(model, policy)?;
        let (stationary, unit) = stationary_in_units(model);
        let interest = stationary.iter().zip(model.interest()).map(|(d, i)| d * i).collect();
        let mut chain = Chain::new(model.order().clone(), interest);
        let mut distributions = Vec::with_capacity(stationary.len());
        for state in 0..stationary.len() {
            let mut at = policy.room();
            policy.distribution(weights, policy.features().of_number(state), &mut at);
            model.bellman(policy, &at, state, chain.bellman_mut(state));
            distributions.push(at);
        }
        for place in 0..stationary.len() {
            let pivot = chain.eliminate(place);
            if (0..R::LANES).any(|lane| pivot.lane(lane) == 0.0) {
                return Err(ProblemError::NeverEnds(model.state_names()[chain.order.state[place]].clone()));
            }
            chain.carry(place);
        }
        let (values, weighting) = chain.values_and_weighting();
        let overflows = |s: &usize| !(values[*s].all_finite() && weighting[*s].all_finite());
        if let Some(s) = (0..stationary.len()).find(overflows) {
            return Err(ProblemError::NotFinite(model.state_names()[s].clone()));
        }
        Ok(Self { model, policy, distributions, chain, values, stationary, weighting, unit })
    }

    /// The problem.
    pub fn model(&self) -> &'a M {
        self.model
    }

    /// The policy.
    pub fn policy(&self) -> &'a P {
        self.policy
    }

    /// How the policy acts in a state.
    ///
    /// # Panics
    ///
    /// If there is no such state.
    pub fn distribution(&self, state: usize) -> &P::Distribution<R> {
        &self.distributions[state]
    }

    /// d_μ.
    pub fn stationary(&self) -> &'a [f64] {
        self.model.stationary()
    }

    /// The row of P_{π,γ} that belongs to a state, as pairs of successor and discounted probability. Empty if there is
    /// no such state.
    pub fn transitions(&self, state: usize) -> Vec<(usize, R)> {
        self.chain.transitions(state)
    }
}
