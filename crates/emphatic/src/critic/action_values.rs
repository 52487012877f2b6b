//! The first way to a baseline: estimate q_π and v_π.

use super::gradient_td::{GradientTd, GradientTdState};
use super::{ActionCritic, Critic};
use crate::features::{FeatureError, Features};
use crate::part::{ComposeError, Part, StepOf, check_actions};
use crate::policy::FinitePolicy;
use crate::real::Real;
use crate::state::{RestoreError, SettingError, Stateful};

/// q̂(s,b) by GQ(λ), and v̂(s) by any critic of values as the baseline.
///
/// GQ(λ) (Maei and Sutton 2010), with q̂(s,a) = w·φ(s,a), where φ(s,a) holds the features of s in the place of a:
///
/// ```text
/// z ← φ_t + γ_t λ ρ_t z          φ̄ = Σ_b π(b|S_{t+1}) φ(S_{t+1}, b)
/// δ = R_{t+1} + γ_{t+1} w·φ̄ − w·φ_t
/// w ← w + α (δ z − γ_{t+1} (1 − λ) (z·h) φ̄)
/// h ← h + α_h (δ z − (φ_t·h) φ_t)
/// ```
#[derive(Clone, Debug)]
pub struct ActionValues<R, F, V> {
    features: F,
    actions: usize,
    td: GradientTd<R>,
    baseline: V,
}

impl<R: Real, F: Features, V> ActionValues<R, F, V> {
    /// A critic that starts from zero weights. The step-sizes are divided by the number of active features.
    pub fn new(
        features: F,
        actions: usize,
        alpha: R,
        alpha_h: R,
        lambda: R,
        baseline: V,
    ) -> Result<Self, SettingError> {
        let names = ["alpha_q", "alpha_h", "lambda_q"];
        let len = features.len() * actions;
        let td = GradientTd::new(len, features.most_active(), names, [alpha, alpha_h], lambda)?;
        Ok(Self { features, actions, td, baseline })
    }

    /// A copy of w: the weight of feature `f` for action `a` is number `f · actions + a`.
    pub fn weights(&self) -> Vec<R> {
        self.td.weights()
    }

    /// The critic whose v̂ is the baseline.
    pub fn baseline(&self) -> &V {
        &self.baseline
    }

    /// q̂(s,a).
    #[inline(always)]
    fn estimate(&self, state: &F::State, action: usize) -> R {
        self.td.estimate(pair(&self.features, self.actions, state, action))
    }
}

/// φ(s,a).
#[inline(always)]
fn pair<F: Features>(
    features: &F,
    actions: usize,
    state: &F::State,
    action: usize,
) -> impl Iterator<Item = (usize, f64)> + Clone {
    features.active(state).map(move |(f, x)| (f * actions + action, x))
}

impl<R, F, V, P> Part<R, P> for ActionValues<R, F, V>
where
    R: Real,
    F: Features,
    P: FinitePolicy<State = F::State>,
    V: Critic<R, P>,
{
    #[inline(always)]
    fn check_state(&self, state: &F::State) -> Result<(), FeatureError> {
        self.features.check(state)?;
        self.baseline.check_state(state)
    }

    fn adopt(&mut self, policy: &P) -> Result<(), ComposeError> {
        check_actions(self.actions, policy)?;
        self.baseline.adopt(policy)
    }

    #[inline(always)]
    fn follow(&mut self, policy: &P, weights: &[R], state: Option<&F::State>) {
        self.baseline.follow(policy, weights, state);
    }

    fn give_up(&mut self, lane: usize) {
        self.td.give_up(lane);
        self.baseline.give_up(lane);
    }
}

impl<R, F, V, P> ActionCritic<R, P> for ActionValues<R, F, V>
where
    R: Real,
    F: Features,
    P: FinitePolicy<State = F::State>,
    V: Critic<R, P>,
{
    #[inline(always)]
    fn advantages(&mut self, state: &F::State, out: &mut [R]) {
        let value = self.baseline.value(state);
        for (b, out) in out.iter_mut().enumerate() {
            *out = self.estimate(state, b) - value;
        }
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
        let delta_v = self.baseline.delta(step);
        let sum = self.baseline.learn(step, rho, delta_v);

        let mut delta = R::splat(step.reward);
        if step.gamma_next > 0.0 {
            policy.distribution(weights, step.next, room);
            for b in 0..self.actions {
                delta +=
                    R::splat(step.gamma_next) * policy.probability(room, b) * self.estimate(step.next, b);
            }
        }
        delta -= self.estimate(step.state, step.action);

        let Self { features, actions, td, .. } = self;
        let actions = *actions;
        let pair = pair(features, actions, step.state, step.action);
        let next = || {
            let of = |(f, x)| (0..actions).map(move |b| (f * actions + b, b, R::splat(x)));
            features.active(step.next).flat_map(of).map(|(k, b, x)| (k, policy.probability(room, b) * x))
        };
        sum + td.learn([step.gamma, step.gamma_next], [rho, R::one(), delta], pair, next)
    }
}

impl<R: Real, F, V: Stateful> Stateful for ActionValues<R, F, V> {
    type State = (GradientTdState<R>, V::State);

    fn state(&self) -> Self::State {
        (self.td.state(), self.baseline.state())
    }

    fn fits(&self, (td, baseline): &Self::State) -> Result<(), RestoreError> {
        self.td.fits(td)?;
        self.baseline.fits(baseline)
    }

    fn put(&mut self, (td, baseline): Self::State) {
        self.td.put(td);
        self.baseline.put(baseline);
    }
}
