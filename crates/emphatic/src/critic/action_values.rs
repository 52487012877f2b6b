//! The first way to a baseline: estimate q_π and v_π.

use super::{ActionCritic, Critic, StepOf};
use crate::features::{FeatureError, Features};
use crate::policy::{FinitePolicy, add_outputs, outputs};
use crate::real::Real;
use crate::state::{RestoreError, SettingError, Stateful, check_fraction, check_len, check_step_size};
use crate::trace::{Trace, TraceState};
use serde::{Deserialize, Serialize};

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
    alpha: R,
    alpha_h: R,
    lambda: R,
    w: Vec<R>,
    h: Vec<R>,
    trace: Trace<R>,
    /// q̂(s, ·): room for a step's work.
    q: Vec<R>,
    baseline: V,
}

/// What GQ(λ) has learned, and its trace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "R: Real")]
pub struct GqState<R> {
    w: Vec<R>,
    h: Vec<R>,
    trace: TraceState<R>,
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
        check_step_size("alpha of the action-values", alpha)?;
        check_step_size("alpha_h", alpha_h)?;
        check_fraction("lambda", lambda)?;
        let active = R::splat(features.most_active() as f64);
        let zeros = |n| vec![R::zero(); n];
        let n = features.len() * actions;
        Ok(Self {
            alpha: alpha / active,
            alpha_h: alpha_h / active,
            lambda,
            w: zeros(n),
            h: zeros(n),
            trace: Trace::new(n),
            q: zeros(actions),
            features,
            actions,
            baseline,
        })
    }

    /// w: the weight of feature `f` for action `a` is number `f · actions + a`.
    pub fn weights(&self) -> &[R] {
        &self.w
    }

    /// The critic whose v̂ is the baseline.
    pub fn baseline(&self) -> &V {
        &self.baseline
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
    fn check_state(&self, state: &F::State) -> Result<(), FeatureError> {
        self.features.check(state)?;
        self.baseline.check_state(state)
    }

    #[inline(always)]
    fn advantages(&mut self, state: &F::State, out: &mut [R]) {
        outputs(&self.features, state, &self.w, out);
        let value = self.baseline.value(state);
        for q in out {
            *q -= value;
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
        sum + self.learn_q(step, policy, weights, room, rho)
    }

    #[inline(always)]
    fn follow(&mut self, policy: &P, weights: &[R], state: Option<&F::State>) {
        self.baseline.follow(policy, weights, state);
    }
}

impl<R: Real, F: Features, V> ActionValues<R, F, V> {
    #[inline(always)]
    fn learn_q<P: FinitePolicy<State = F::State>>(
        &mut self,
        step: &StepOf<P>,
        policy: &P,
        weights: &[R],
        room: &mut P::Distribution<R>,
        rho: R,
    ) -> R {
        let pair = |f: usize| f * self.actions + step.action;
        if step.gamma > 0.0 {
            self.trace.scale(R::splat(step.gamma) * self.lambda * rho);
        } else {
            self.trace.clear();
        }
        for (f, x) in self.features.active(step.state) {
            self.trace.add(pair(f), R::splat(x));
        }

        let mut delta = R::splat(step.reward);
        if step.gamma_next > 0.0 {
            policy.distribution(weights, step.next, room);
            outputs(&self.features, step.next, &self.w, &mut self.q);
            for (b, q) in self.q.iter().enumerate() {
                delta += R::splat(step.gamma_next) * policy.probability(room, b) * *q;
            }
        }
        let (mut pair_w, mut pair_h) = (R::zero(), R::zero());
        for (f, x) in self.features.active(step.state) {
            pair_w += self.w[pair(f)] * R::splat(x);
            pair_h += self.h[pair(f)] * R::splat(x);
        }
        delta -= pair_w;

        let trace_h = self.trace.dot(&self.h);
        let (step_w, step_h) = (self.alpha * delta, self.alpha_h * delta);
        let mut sum = R::zero();
        for (k, z) in self.trace.entries() {
            self.w[k] += step_w * z;
            self.h[k] += step_h * z;
            sum += self.w[k] + self.h[k];
        }
        for (f, x) in self.features.active(step.state) {
            self.h[pair(f)] -= self.alpha_h * pair_h * R::splat(x);
            sum += self.h[pair(f)];
        }
        if step.gamma_next > 0.0 {
            let correction = self.alpha * R::splat(step.gamma_next) * (R::one() - self.lambda) * trace_h;
            let c = |b| -correction * policy.probability(room, b);
            sum += add_outputs(&self.features, step.next, self.actions, c, &mut self.w);
        }
        sum
    }
}

impl<R: Real, F, V: Stateful> Stateful for ActionValues<R, F, V> {
    type State = (GqState<R>, V::State);

    fn state(&self) -> Self::State {
        let gq = GqState { w: self.w.clone(), h: self.h.clone(), trace: self.trace.state() };
        (gq, self.baseline.state())
    }

    fn fits(&self, (gq, baseline): &Self::State) -> Result<(), RestoreError> {
        check_len("action-value weights", &gq.w, &self.w)?;
        check_len("action-value weights", &gq.h, &self.h)?;
        self.trace.fits(&gq.trace)?;
        self.baseline.fits(baseline)
    }

    fn put(&mut self, (gq, baseline): Self::State) {
        (self.w, self.h) = (gq.w, gq.h);
        self.trace.put(gq.trace);
        self.baseline.put(baseline);
    }
}
