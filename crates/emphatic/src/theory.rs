//! Exact theory: everything in the paper that can be computed when the problem is known.
//!
//! | quantity | equation | here |
//! |---|---|---|
//! | d_μ | stationary distribution of the behaviour's chain | [`Exact::stationary`] |
//! | P_{π,γ} | Σ_a π(s,a) P(s,a,s′) γ(s,a,s′) | [`Exact::transitions`] |
//! | v_π | v = r_π + P_{π,γ} v | [`Exact::values`] |
//! | q_π, a_π | Σ P (r + γ v), q − v | [`Exact::action_values`], [`Exact::advantages`], [`Exact::action_value`] |
//! | m, m_{λ_a} | mᵀ = iᵀ(I − P_{π,γ})⁻¹, m_{λ_a} = (1 − λ_a) i + λ_a m | [`Exact::emphatic_weighting`] |
//! | J_μ | Σ_s d_μ(s) i(s) v_π(s) | [`Exact::objective`] |
//! | key matrices of TD(0) and ETD(0) | Xᵀ D (I − P_{π,γ}) X | [`Exact::key_matrix`] |
//! | E\[F_t²\], the spread of the follow-on trace | second moments under μ | [`Trace`] |
//! | ∂J_μ/∂θ | Σ_s m(s) Σ_a ∂π(s,a) q_π(s,a) (Theorem 1; Theorem 2 for deterministic policies) | [`Exact::gradient`]; [`derivative`] without the theorem |

pub(crate) mod chain;
mod dense;
mod derivative;
mod differences;
mod flow;
mod judge;
mod key_matrix;
mod minimum_degree;
pub(crate) mod order;
pub(crate) mod quadrature;
mod radius;
mod trace;
pub(crate) mod tracker;
pub(crate) mod wide;

pub use derivative::derivative;
pub use flow::{Limit, Moment, best_attainable, follow, limit};
pub use judge::Judge;
pub use order::Order;
pub use trace::{Experience, Trace, Way};

use crate::features::State;
use crate::policy::not_finite;
use crate::policy::{FinitePolicy, Policy};
use crate::problem::{ContinuousCounterexample, ProblemError, Task};
use crate::real::Real;
use chain::Chain;
use std::sync::Arc;
use wide::Wide;

/// Where a model writes the Bellman equation of one state.
#[derive(Debug)]
pub struct Bellman<'a, R> {
    /// P_{π,γ}(s, ·), one entry for each discounted successor of the state in ascending order.
    pub row: &'a mut [R],
    /// 1 − Σ_{s′} P_{π,γ}(s, s′), computed without subtracting: Σ_a π Σ P (1 − γ).
    pub leak: &'a mut R,
    /// r_π(s).
    pub reward: &'a mut R,
}

/// A problem whose Bellman equations can be written out for policies of the form `P`.
pub trait Model<P: Policy>: Send + Sync {
    /// In which order its states are eliminated.
    fn order(&self) -> &Arc<Order>;

    /// d_μ.
    fn stationary(&self) -> &[f64];

    /// d_μ as digits and exponents, (x, e) for x · 2^e: a state may be visited more rarely than a number can say.
    fn visits(&self) -> Vec<(f64, i32)> {
        self.stationary().iter().map(|d| (*d, 0)).collect()
    }

    /// i.
    fn interest(&self) -> &[f64];

    /// The name of a state, for messages.
    fn state_name(&self, state: usize) -> &str;

    /// Whether the policy fits the problem.
    fn check(&self, _policy: &P) -> Result<(), ProblemError> {
        Ok(())
    }

    /// Writes the Bellman equation of a state, given the policy's distribution there.
    fn bellman<R: Real>(&self, policy: &P, at: &P::Distribution<R>, state: usize, out: Bellman<'_, R>);

    /// `gradient` ← `gradient` + `scale` Σ_a ∂π(s,a)/∂θ q(s,a), or ∂π(s)/∂θ ∂q/∂a for a deterministic policy.
    fn add_gradient<R: Real>(
        &self,
        policy: &P,
        at: &P::Distribution<R>,
        state: usize,
        values: &[R],
        scale: R,
        gradient: &mut [R],
    );
}

/// A problem with a real action, in which action-values can be differentiated by it.
pub trait ActionSlopes {
    /// ∂q(s,a)/∂a, given v.
    fn action_slope<R: Real>(&self, state: usize, action: R, value: impl FnMut(usize) -> R) -> R;
}

/// What is exactly true of one policy in one problem.
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
    /// d_μ where there is interest, and m, both in a unit in which they are not too small for numbers.
    visits: Vec<f64>,
    weighting: Vec<R>,
    unit: Unit,
}

impl<'a, R: Real, P: Policy, M: Model<P>> Exact<'a, R, M, P> {
    /// Solves the problem for the policy with these weights.
    pub fn new(model: &'a M, policy: &'a P, weights: &[R]) -> Result<Self, ProblemError> {
        check_weights(policy, weights)?;
        check_policy(model, policy)?;
        let order = model.order();
        let n = order.states();
        let (visits, unit) = visits(model);
        let interest = visits.iter().zip(model.interest()).map(|(d, i)| d * i).collect();
        let mut chain = Chain::new(order.clone(), interest);
        let mut distributions = Vec::with_capacity(n);
        for state in 0..n {
            let mut at = policy.room();
            policy.distribution(weights, policy.features().of_number(state), &mut at);
            let (row, leak, reward) = chain.row_mut(state);
            model.bellman(policy, &at, state, Bellman { row, leak, reward });
            distributions.push(at);
        }
        for i in 0..n {
            let pivot = chain.eliminate(i);
            if (0..R::LANES).any(|lane| pivot.lane(lane) == 0.0) {
                return Err(ProblemError::NeverEnds(model.state_name(order.state[i]).to_owned()));
            }
            chain.carry(i);
        }
        let (mut values, mut weighting) = (vec![R::zero(); n], vec![R::zero(); n]);
        for i in (0..n).rev() {
            values[i] = chain.value(i, &values);
            weighting[i] = chain.weighting(i, &weighting);
        }
        let by_state = |by_place: Vec<R>| order.place.iter().map(|&place| by_place[place]).collect();
        let (values, weighting): (Vec<R>, Vec<R>) = (by_state(values), by_state(weighting));
        let wild = |s: &usize| !(values[*s].all_finite() && weighting[*s].all_finite());
        if let Some(s) = (0..n).find(wild) {
            return Err(ProblemError::NotFinite(model.state_name(s).to_owned()));
        }
        Ok(Self { model, policy, distributions, chain, values, visits, weighting, unit })
    }

    /// d_μ.
    pub fn stationary(&self) -> &'a [f64] {
        self.model.stationary()
    }

    /// The row of P_{π,γ} that belongs to a state: where it leads, with what discounted probability. Empty if there is
    /// no such state.
    pub fn transitions(&self, state: usize) -> Vec<(usize, R)> {
        self.chain.transitions(state)
    }

    /// v_π.
    pub fn values(&self) -> &[R] {
        &self.values
    }

    /// m_{λ_a} = (1 − λ_a) i + λ_a m, which equals iᵀ(I − P)⁻¹(I − (1 − λ_a)P) since mᵀP = mᵀ − iᵀ. (Here, as in
    /// the paper's equation, i stands for d_μ · i.)
    ///
    /// λ_a = 1 gives the emphatic weighting m, λ_a = 0 gives d_μ · i.
    pub fn emphatic_weighting(&self, lambda_a: f64) -> Vec<R> {
        self.weighting_in_units(lambda_a).into_iter().map(|m| self.unit.times(m)).collect()
    }

    fn weighting_in_units(&self, lambda_a: f64) -> Vec<R> {
        let interests = self.visits.iter().zip(self.model.interest());
        let mix =
            |((d, i), m): ((&f64, &f64), &R)| R::splat((1.0 - lambda_a) * d * i) + R::splat(lambda_a) * *m;
        interests.zip(&self.weighting).map(mix).collect()
    }

    /// J_μ = Σ_s d_μ(s) i(s) v_π(s).
    pub fn objective(&self) -> R {
        let mut sum = R::zero();
        for ((d, i), v) in self.visits.iter().zip(self.model.interest()).zip(&self.values) {
            sum += R::splat(d * i) * *v;
        }
        self.unit.times(sum)
    }

    /// Σ_s m_{λ_a}(s) Σ_a ∂π(s,a) q_π(s,a): the gradient of J_μ for λ_a = 1, the semi-gradient for λ_a = 0.
    ///
    /// Where values are huge beside their differences (a problem that is hardly discounted and hardly ever ends), the
    /// differences have fewer digits than v and m themselves.
    pub fn gradient(&self, lambda_a: f64) -> Vec<R> {
        let mut gradient = vec![R::zero(); self.policy.len()];
        for (state, m) in self.weighting_in_units(lambda_a).into_iter().enumerate() {
            let at = &self.distributions[state];
            self.model.add_gradient(self.policy, at, state, &self.values, m, &mut gradient);
        }
        gradient.into_iter().map(|slope| self.unit.times(slope)).collect()
    }
}

impl<P: Policy, M: Model<P>> Exact<'_, f64, M, P> {
    /// m_{λ_a}/d_μ, also where both are too small for a number. Not a number in states that are never visited.
    pub fn emphatic_density(&self, lambda_a: f64) -> Vec<f64> {
        let (mix, rest) = (Wide::new(lambda_a), Wide::new(1.0 - lambda_a));
        let visits = self.wide_visits();
        let interest = || visits.iter().zip(self.model.interest()).map(|(d, i)| (*d, Wide::new(*i)));
        let weightings =
            self.chain.wide().solve_transposed(&interest().map(|(d, i)| d * i).collect::<Vec<_>>());
        let density = |((d, i), m): ((Wide, Wide), Wide)| match d.is_positive() {
            true => ((rest * d * i + mix * m) / d).get(),
            false => f64::NAN,
        };
        interest().zip(weightings).map(density).collect()
    }

    /// d_μ.
    fn wide_visits(&self) -> Vec<Wide> {
        self.model.visits().into_iter().map(|(digits, exponent)| Wide::scaled(digits, exponent)).collect()
    }
}

impl<R: Real, P: FinitePolicy> Exact<'_, R, Task, P> {
    /// π(·|s), a list for each state.
    pub fn probabilities(&self) -> Vec<Vec<R>> {
        let of = |at| (0..self.policy.actions()).map(|a| self.policy.probability(at, a)).collect();
        self.distributions.iter().map(of).collect()
    }

    /// q_π(s, ·), a list for each state.
    pub fn action_values(&self) -> Vec<Vec<R>> {
        let q = |s, a| self.model.action_value(s, a, |t| self.values[t]);
        (0..self.model.states()).map(|s| (0..self.model.actions()).map(|a| q(s, a)).collect()).collect()
    }

    /// a_π(s, ·) = q_π(s, ·) − v_π(s), a list for each state.
    pub fn advantages(&self) -> Vec<Vec<R>> {
        let less = |(q, v): (Vec<R>, &R)| q.into_iter().map(|q| q - *v).collect();
        self.action_values().into_iter().zip(&self.values).map(less).collect()
    }
}

impl<R: Real, P: Policy> Exact<'_, R, ContinuousCounterexample, P> {
    /// q_π(s, a); nothing if there is no such state.
    pub fn action_value(&self, state: usize, action: R) -> Option<R> {
        match state {
            0 => Some((-action).sigmoid() * self.values[1] + action.sigmoid() * self.values[2]),
            1 => Some(R::splat(2.0) * (-action).sigmoid()),
            2 => Some(action.sigmoid()),
            _ => None,
        }
    }
}

/// A power of two, by its root, since it may be too small for a number itself.
#[derive(Clone, Copy, Debug)]
struct Unit(f64);

impl Unit {
    fn times<R: Real>(self, x: R) -> R {
        x * R::splat(self.0) * R::splat(self.0)
    }
}

/// d_μ where there is interest, and its unit: one, unless there is interest only in states that are next to never visited.
fn visits<P: Policy, M: Model<P>>(model: &M) -> (Vec<f64>, Unit) {
    let is_common = |(d, i): (&f64, &f64)| *i > 0.0 && Wide::near(*d).is_some_and(Wide::is_positive);
    if model.stationary().iter().zip(model.interest()).any(is_common) {
        return (model.stationary().to_vec(), Unit(1.0));
    }
    let of_interest = model.visits().into_iter().zip(model.interest());
    let wide = |((digits, exponent), i): ((f64, i32), &f64)| match *i > 0.0 {
        true => Wide::scaled(digits, exponent),
        false => Wide::ZERO,
    };
    let visits: Vec<Wide> = of_interest.map(wide).collect();
    let unit = visits.iter().fold(Wide::ZERO, |most, d| most.max(*d)).unit();
    (visits.into_iter().map(|d| (d / unit).get()).collect(), Unit(unit.sqrt().get()))
}

fn check_len<P: Policy, R: Real>(policy: &P, weights: &[R]) -> Result<(), ProblemError> {
    let (got, right) = (weights.len(), policy.len());
    if got == right { Ok(()) } else { Err(ProblemError::Weights { got, right }) }
}

fn check_weights<P: Policy, R: Real>(policy: &P, weights: &[R]) -> Result<(), ProblemError> {
    check_len(policy, weights)?;
    not_finite(weights).map_or(Ok(()), |(index, value)| Err(ProblemError::Weight { index, value }))
}

/// Whether the policy can act in every state of the model.
pub(crate) fn check_policy<P: Policy, M: Model<P>>(model: &M, policy: &P) -> Result<(), ProblemError> {
    model.check(policy)?;
    (0..model.order().states())
        .try_for_each(|s| policy.features().check(State::Number(s)))
        .map_err(Into::into)
}
