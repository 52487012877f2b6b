//! The counterexample with one real action.

use super::builder::check_interest;
use super::{ProblemError, Sampled, Stream, Transition};
use crate::action::Action;
use crate::features::Table;
use crate::policy::{DeterministicLinear, DeterministicPolicy, Gaussian, Normal, add_outputs};
use crate::random_stream::Random;
use crate::real::{Real, elementary};
use crate::theory::elimination_order::EliminationOrder;
use crate::theory::sigmoid_quadrature::SigmoidQuadrature;
use crate::theory::{Bellman, Model, ModelStates, OffPolicyModel, OffPolicyTransition};
use std::sync::{Arc, LazyLock};

static STATES: LazyLock<[String; 3]> = LazyLock::new(|| ["S0", "S1", "S2"].map(str::to_owned));

/// The continuous-action counterexample: S0 leads to S2 with probability σ(a) and to S1 otherwise; S1 ends with
/// reward 2σ(−a), S2 with σ(a). The actor cannot tell S1 from S2. The behaviour is a Gaussian, the same everywhere;
/// the paper's is N(1, 1).
#[derive(Clone, Debug)]
pub struct ContinuousCounterexample {
    behaviour: Normal<f64>,
    actor: Table,
    interest: Vec<f64>,
    stationary: Vec<f64>,
    order: Arc<EliminationOrder>,
    quadrature: SigmoidQuadrature,
}

impl Default for ContinuousCounterexample {
    fn default() -> Self {
        let quadrature = SigmoidQuadrature::default();
        let behaviour = Normal { mean: 1.0, standard_deviation: 1.0, slope: 0.0 };
        Self {
            behaviour,
            actor: Table::aliased(&[0, 1, 1]),
            interest: vec![1.0; 3],
            stationary: stationary(&quadrature, &behaviour),
            order: Arc::new(
                EliminationOrder::new(&[vec![1, 2], vec![], vec![]]).expect("there are three states"),
            ),
            quadrature,
        }
    }
}

/// Every episode has two steps: one in S0, one in S1 or S2.
fn stationary(quadrature: &SigmoidQuadrature, behaviour: &Normal<f64>) -> Vec<f64> {
    let right: f64 = quadrature.sigmoid(behaviour);
    vec![0.5, 0.5 * (1.0 - right), 0.5 * right]
}

impl ContinuousCounterexample {
    /// The actor's features.
    pub fn actor(&self) -> &Table {
        &self.actor
    }

    /// d_μ.
    pub fn stationary(&self) -> &[f64] {
        &self.stationary
    }

    /// i.
    pub fn interest(&self) -> &[f64] {
        &self.interest
    }

    /// The same with this interest in each state.
    pub fn with_interest(mut self, interest: [f64; 3]) -> Result<Self, ProblemError> {
        check_interest(&*STATES, &interest)?;
        self.interest = interest.into();
        Ok(self)
    }

    /// The mean and the standard deviation of the behaviour.
    pub fn behaviour(&self) -> (f64, f64) {
        (self.behaviour.mean, self.behaviour.standard_deviation)
    }

    /// The same with another Gaussian as its behaviour.
    pub fn with_behaviour(mut self, mean: f64, standard_deviation: f64) -> Result<Self, ProblemError> {
        if !mean.is_finite() {
            let what = "the mean of the behaviour".to_owned();
            return Err(ProblemError::Number { what, value: mean, right: "it must be finite" });
        }
        if !(standard_deviation > 0.0 && standard_deviation < f64::INFINITY) {
            let what = "the standard deviation of the behaviour".to_owned();
            let right = "it must be positive and finite";
            return Err(ProblemError::Number { what, value: standard_deviation, right });
        }
        self.behaviour = Normal { mean, standard_deviation, slope: 0.0 };
        self.stationary = stationary(&self.quadrature, &self.behaviour);
        Ok(self)
    }

    /// A Gaussian policy over the actor's features.
    pub fn gaussian(&self) -> Gaussian {
        Gaussian { features: (&self.actor).into() }
    }

    /// A deterministic policy over the actor's features.
    pub fn deterministic(&self) -> DeterministicLinear {
        DeterministicLinear { features: (&self.actor).into() }
    }

    /// An endless stream of the behaviour's experience.
    pub fn stream(&self, seed: u64, run: u64) -> Stream<'_, Self> {
        Stream { problem: self, random: Random::new(seed, run), state: 0, gamma: 0.0 }
    }

    /// ∂q(s,a)/∂a, given v.
    #[inline(always)]
    pub(crate) fn action_slope<R: Real>(&self, state: usize, action: R, value: impl FnMut(usize) -> R) -> R {
        action.sigmoid() * (-action).sigmoid() * rise(state, value)
    }

    /// The Bellman equation of a state in terms of E[σ(a)] and E[σ(−a)] under the policy.
    #[inline(always)]
    fn equation<R: Real>(state: usize, right: R, left: R, out: Bellman<'_, R>) {
        match state {
            0 => {
                out.row.copy_from_slice(&[left, right]);
                (*out.leak, *out.reward) = (R::zero(), R::zero());
            }
            1 => (*out.leak, *out.reward) = (R::one(), R::splat(2.0) * left),
            _ => (*out.leak, *out.reward) = (R::one(), right),
        }
    }
}

impl ModelStates for ContinuousCounterexample {
    fn order(&self) -> &Arc<EliminationOrder> {
        &self.order
    }

    fn stationary(&self) -> &[f64] {
        &self.stationary
    }

    fn interest(&self) -> &[f64] {
        &self.interest
    }

    fn state_names(&self) -> &[String] {
        &*STATES
    }
}

impl Model<Gaussian> for ContinuousCounterexample {
    #[inline(always)]
    fn bellman<R: Real>(&self, _policy: &Gaussian, at: &Normal<R>, state: usize, out: Bellman<'_, R>) {
        let right = self.quadrature.sigmoid(at);
        Self::equation(state, right, R::one() - right, out);
    }

    fn add_gradient<R: Real>(
        &self,
        policy: &Gaussian,
        at: &Normal<R>,
        state: usize,
        values: &[R],
        scale: R,
        gradient: &mut [R],
    ) {
        // ∫ ∂π q da by parts: E[∂q/∂a ∂a/∂θ] with a = mean + sd z. No division by a small deviation.
        let rise = scale * rise(state, |s| values[s]);
        let [by_mean, by_deviation] = self.quadrature.slopes(at);
        let c = [rise * by_mean, rise * by_deviation * at.slope];
        add_outputs(policy.features.of_number(state), c, gradient);
    }
}

impl OffPolicyModel<DeterministicLinear> for ContinuousCounterexample {
    fn off_policy_transitions(
        &self,
        _policy: &DeterministicLinear,
        _at: &f64,
        state: usize,
    ) -> Vec<OffPolicyTransition> {
        // A single action has no density, so there is no ratio.
        self.transitions(state, [f64::INFINITY; 2], [f64::INFINITY; 2])
    }
}

impl OffPolicyModel<Gaussian> for ContinuousCounterexample {
    fn off_policy_transitions(
        &self,
        _policy: &Gaussian,
        at: &Normal<f64>,
        state: usize,
    ) -> Vec<OffPolicyTransition> {
        let right = self.quadrature.sigmoid(at);
        self.transitions(state, [1.0 - right, right], self.squares(at))
    }
}

impl ContinuousCounterexample {
    /// The transitions out of a state, given the target's probabilities and Q of the two out of S0.
    fn transitions(&self, state: usize, target: [f64; 2], squares: [f64; 2]) -> Vec<OffPolicyTransition> {
        if state != 0 {
            let end = OffPolicyTransition {
                next: 0,
                behaviour: 1.0,
                probability: 1.0,
                passed: 0.0,
                lost: 1.0,
                variance: 0.0,
            };
            return vec![end];
        }
        let transition = |k: usize| {
            let probability = 2.0 * self.stationary[1 + k];
            let passed = target[k] / probability;
            let variance = (squares[k] / probability - passed * passed).max(0.0);
            OffPolicyTransition {
                next: 1 + k,
                behaviour: 1.0,
                probability,
                passed,
                lost: 1.0 - passed,
                variance,
            }
        };
        [0, 1].map(transition).into_iter().filter(|t| t.probability > 0.0).collect()
    }

    /// ∫ π²/μ P da for the two transitions out of S0; infinite if π is too wide.
    fn squares(&self, at: &Normal<f64>) -> [f64; 2] {
        // π²/μ is a Gaussian once more, times a constant.
        let (pi, mu) = (at.standard_deviation.powi(-2), self.behaviour.standard_deviation.powi(-2));
        let precision = 2.0 * pi - mu;
        if !(precision > 0.0 && precision.is_finite()) {
            return [f64::INFINITY; 2];
        }
        let (mean, behaviour_mean) = (at.mean, self.behaviour.mean);
        let standard_deviation = 1.0 / precision.sqrt();
        // Twice the exponent of π less that of μ is smallest at the new mean, where it is this.
        let exponent = pi * mu * (mean - behaviour_mean) * (mean - behaviour_mean) / precision;
        let constant = pi / (mu * precision).sqrt() * elementary::exp(exponent);
        let normal = Normal {
            mean: (2.0 * pi * mean - mu * behaviour_mean) / precision,
            standard_deviation,
            slope: 0.0,
        };
        let right = constant * self.quadrature.sigmoid(&normal);
        [constant - right, right]
    }
}

impl Model<DeterministicLinear> for ContinuousCounterexample {
    #[inline(always)]
    fn bellman<R: Real>(&self, _policy: &DeterministicLinear, at: &R, state: usize, out: Bellman<'_, R>) {
        Self::equation(state, at.sigmoid(), (-*at).sigmoid(), out);
    }

    fn add_gradient<R: Real>(
        &self,
        policy: &DeterministicLinear,
        at: &R,
        state: usize,
        values: &[R],
        scale: R,
        gradient: &mut [R],
    ) {
        let slope = self.action_slope(state, *at, |s| values[s]);
        policy.add_gradient(policy.features.of_number(state), at, scale * slope, gradient);
    }
}

/// ∂q/∂σ(a): action-values are linear in σ(a).
#[inline(always)]
fn rise<R: Real>(state: usize, mut value: impl FnMut(usize) -> R) -> R {
    match state {
        0 => value(2) - value(1),
        1 => R::splat(-2.0),
        _ => R::one(),
    }
}

impl Sampled for ContinuousCounterexample {
    fn sample(&self, state: usize, random: &mut Random) -> (Action, f64, Transition) {
        let Normal { mean, standard_deviation, .. } = self.behaviour;
        let action = mean + standard_deviation * random.normal();
        let right = action.sigmoid();
        let (next, reward, gamma) = match state {
            0 => (if random.uniform() < right { 2 } else { 1 }, 0.0, 1.0),
            1 => (0, 2.0 * (-action).sigmoid(), 0.0),
            _ => (0, right, 0.0),
        };
        let probability = [1.0, 1.0 - right, right][next];
        let mu = action.normal_density(mean, standard_deviation);
        (action.into(), mu, Transition { next, probability, reward, gamma })
    }
}
