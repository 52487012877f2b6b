//! The second way to a baseline: estimate v_π, and learn the advantage from δ.

use super::{ActionCritic, Critic};
use crate::features::{FeatureError, Features};
use crate::part::{ComposeError, Part, StepOf, check_actions, set_nan};
use crate::policy::{FinitePolicy, any_outputs};
use crate::real::Real;
use crate::state::{RestoreError, SettingError, Stateful, check_len, check_step_size};

/// â(s,b) = u·φ(s,b), regressed on δ_t of any critic of values: u ← u + α (δ_t − u·φ_t) φ_t.
///
/// Given v_π, E[δ_t | S_t = s, A_t = a] is the advantage; being conditional on the action, it needs no ratio.
#[derive(Clone, Debug)]
pub struct LearnedAdvantage<R, F, V> {
    features: F,
    actions: usize,
    alpha: R,
    u: Vec<R>,
    values: V,
}

impl<R: Real, F: Features, V> LearnedAdvantage<R, F, V> {
    /// A critic that starts from zero weights. The step-size is divided by the number of active features.
    pub fn new(features: F, actions: usize, alpha: R, values: V) -> Result<Self, SettingError> {
        check_step_size("alpha_u", alpha)?;
        let active = R::splat(features.most_active() as f64);
        let u = vec![R::zero(); features.len() * actions];
        Ok(Self { alpha: alpha / active, u, features, actions, values })
    }

    /// A copy of u: the weight of feature `f` for action `a` is number `f · actions + a`.
    pub fn weights(&self) -> Vec<R> {
        self.u.clone()
    }

    /// The critic whose δ is learned from.
    pub fn values(&self) -> &V {
        &self.values
    }
}

impl<R, F, V, P> Part<R, P> for LearnedAdvantage<R, F, V>
where
    R: Real,
    F: Features,
    P: FinitePolicy<State = F::State>,
    V: Critic<R, P>,
{
    #[inline(always)]
    fn check_state(&self, state: &F::State) -> Result<(), FeatureError> {
        self.features.check(state)?;
        self.values.check_state(state)
    }

    fn adopt(&mut self, policy: &P) -> Result<(), ComposeError> {
        check_actions(self.actions, policy)?;
        self.values.adopt(policy)
    }

    #[inline(always)]
    fn follow(&mut self, policy: &P, weights: &[R], state: Option<&F::State>) {
        self.values.follow(policy, weights, state);
    }

    fn give_up(&mut self, lane: usize) {
        set_nan(&mut self.u, lane);
        self.values.give_up(lane);
    }
}

impl<R, F, V, P> ActionCritic<R, P> for LearnedAdvantage<R, F, V>
where
    R: Real,
    F: Features,
    P: FinitePolicy<State = F::State>,
    V: Critic<R, P>,
{
    #[inline(always)]
    fn advantages(&mut self, state: &F::State, out: &mut [R]) {
        any_outputs(&self.features, state, &self.u, out);
    }

    #[inline(always)]
    fn learn(&mut self, step: &StepOf<P>, _: &P, _: &[R], _: &mut P::Distribution<R>, rho: R) -> R {
        let delta = self.values.delta(step);
        let mut sum = self.values.learn(step, rho, delta);
        let pair = |f: usize| f * self.actions + step.action;
        let mut error = delta;
        for (f, x) in self.features.active(step.state) {
            error -= self.u[pair(f)] * R::splat(x);
        }
        for (f, x) in self.features.active(step.state) {
            self.u[pair(f)] += self.alpha * error * R::splat(x);
            sum += self.u[pair(f)].nan_unless_finite();
        }
        sum
    }
}

impl<R: Real, F, V: Stateful> Stateful for LearnedAdvantage<R, F, V> {
    type State = (Vec<R>, V::State);

    fn state(&self) -> Self::State {
        (self.u.clone(), self.values.state())
    }

    fn fits(&self, (u, values): &Self::State) -> Result<(), RestoreError> {
        check_len("advantage weights", u.len(), self.u.len())?;
        self.values.fits(values)
    }

    fn put(&mut self, (u, values): Self::State) {
        self.u = u;
        self.values.put(values);
    }
}
