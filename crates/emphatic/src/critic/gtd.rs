//! GTD(λ): gradient temporal-difference learning of v̂.

use super::{Critic, StepOf};
use crate::features::{FeatureError, Features};
use crate::policy::Policy;
use crate::real::Real;
use crate::state::{RestoreError, SettingError, Stateful, check_fraction, check_len, check_step_size};
use crate::trace::{Trace, TraceState};
use serde::{Deserialize, Serialize};

/// GTD(λ) (Maei 2011), with v̂(s) = v·x(s):
///
/// ```text
/// e ← ρ_t (γ_t λ e + x_t)
/// v ← v + α_v (δ_t e − γ_{t+1} (1 − λ) (e·w) x_{t+1})
/// w ← w + α_w (δ_t e − (x_t·w) x_t)
/// ```
///
/// λ = 1 means full returns here; it has nothing to do with λ_a.
#[derive(Clone, Debug)]
pub struct Gtd<R, F> {
    features: F,
    alpha_v: R,
    alpha_w: R,
    lambda: R,
    /// α_v (1 − λ).
    correction: R,
    v: Vec<R>,
    w: Vec<R>,
    trace: Trace<R>,
}

/// What GTD(λ) has learned, and its trace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "R: Real")]
pub struct GtdState<R> {
    v: Vec<R>,
    w: Vec<R>,
    trace: TraceState<R>,
}

impl<R: Real, F: Features> Gtd<R, F> {
    /// A critic that starts from zero weights. The step-sizes are divided by the number of active features.
    pub fn new(features: F, alpha_v: R, alpha_w: R, lambda: R) -> Result<Self, SettingError> {
        check_step_size("alpha_v", alpha_v)?;
        check_step_size("alpha_w", alpha_w)?;
        check_fraction("lambda", lambda)?;
        let active = R::splat(features.most_active() as f64);
        let n = features.len();
        Ok(Self {
            alpha_v: alpha_v / active,
            alpha_w: alpha_w / active,
            correction: alpha_v / active * (R::one() - lambda),
            lambda,
            v: vec![R::zero(); n],
            w: vec![R::zero(); n],
            trace: Trace::new(n),
            features,
        })
    }

    /// v, the weights of the value estimate.
    pub fn weights(&self) -> &[R] {
        &self.v
    }
}

impl<R: Real, F: Features, P: Policy<State = F::State>> Critic<R, P> for Gtd<R, F> {
    #[inline(always)]
    fn check_state(&self, state: &F::State) -> Result<(), FeatureError> {
        self.features.check(state)
    }

    #[inline(always)]
    fn value(&mut self, state: &F::State) -> R {
        dot(&self.features, state, &self.v)
    }

    #[inline(always)]
    fn learn(&mut self, step: &StepOf<P>, rho: R, delta: R) -> R {
        if step.gamma > 0.0 {
            self.trace.scale(rho * (R::splat(step.gamma) * self.lambda));
        } else {
            self.trace.clear();
        }
        for (f, x) in self.features.active(step.state) {
            self.trace.add(f, rho * R::splat(x));
        }

        let trace_w = self.trace.dot(&self.w);
        let state_w = dot(&self.features, step.state, &self.w);
        let (step_v, step_w) = (self.alpha_v * delta, self.alpha_w * delta);
        let mut sum = R::zero();
        for (k, e) in self.trace.entries() {
            self.v[k] += step_v * e;
            self.w[k] += step_w * e;
            sum += self.v[k] + self.w[k];
        }
        for (f, x) in self.features.active(step.state) {
            self.w[f] -= self.alpha_w * state_w * R::splat(x);
            sum += self.w[f];
        }
        if step.gamma_next > 0.0 {
            let correction = self.correction * R::splat(step.gamma_next) * trace_w;
            for (f, x) in self.features.active(step.next) {
                self.v[f] -= correction * R::splat(x);
                sum += self.v[f];
            }
        }
        sum
    }
}

impl<R: Real, F> Stateful for Gtd<R, F> {
    type State = GtdState<R>;

    fn state(&self) -> GtdState<R> {
        GtdState { v: self.v.clone(), w: self.w.clone(), trace: self.trace.state() }
    }

    fn fits(&self, state: &GtdState<R>) -> Result<(), RestoreError> {
        check_len("critic weights", &state.v, &self.v)?;
        check_len("critic weights", &state.w, &self.w)?;
        self.trace.fits(&state.trace)
    }

    fn put(&mut self, state: GtdState<R>) {
        (self.v, self.w) = (state.v, state.w);
        self.trace.put(state.trace);
    }
}

#[inline(always)]
fn dot<R: Real, F: Features>(features: &F, state: &F::State, weights: &[R]) -> R {
    let mut sum = R::zero();
    for (f, x) in features.active(state) {
        sum += weights[f] * R::splat(x);
    }
    sum
}
