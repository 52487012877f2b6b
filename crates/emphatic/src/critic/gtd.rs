//! GTD(λ): gradient temporal-difference learning of v̂.

use super::Critic;
use super::gradient_td::{GradientTd, GradientTdState};
use crate::features::{FeatureError, Features};
use crate::part::{Part, StepOf};
use crate::policy::Policy;
use crate::real::Real;
use crate::state::{RestoreError, SettingError, Stateful};

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
    td: GradientTd<R>,
}

impl<R: Real, F: Features> Gtd<R, F> {
    /// A critic that starts from zero weights. The step-sizes are divided by the number of active features.
    pub fn new(features: F, alpha_v: R, alpha_w: R, lambda: R) -> Result<Self, SettingError> {
        let names = ["alpha_v", "alpha_w", "lambda"];
        let td = GradientTd::new(features.len(), features.most_active(), names, [alpha_v, alpha_w], lambda)?;
        Ok(Self { features, td })
    }

    /// A copy of v, the weights of the value estimate.
    pub fn weights(&self) -> Vec<R> {
        self.td.weights()
    }
}

impl<R: Real, F: Features, P: Policy<State = F::State>> Part<R, P> for Gtd<R, F> {
    #[inline(always)]
    fn check_state(&self, state: &F::State) -> Result<(), FeatureError> {
        self.features.check(state)
    }

    fn give_up(&mut self, lane: usize) {
        self.td.give_up(lane);
    }
}

impl<R: Real, F: Features, P: Policy<State = F::State>> Critic<R, P> for Gtd<R, F> {
    #[inline(always)]
    fn value(&mut self, state: &F::State) -> R {
        self.td.estimate(self.features.active(state))
    }

    #[inline(always)]
    fn learn(&mut self, step: &StepOf<P>, rho: R, delta: R) -> R {
        let x = self.features.active(step.state);
        let next = || self.features.active(step.next).map(|(f, x)| (f, R::splat(x)));
        let (gammas, scales) = ([step.gamma, step.gamma_next], [rho, rho, delta]);
        if F::ALL {
            return self.td.learn_all(gammas, scales, x, next);
        }
        self.td.learn(gammas, scales, x, next)
    }
}

impl<R: Real, F> Stateful for Gtd<R, F> {
    type State = GradientTdState<R>;

    fn state(&self) -> GradientTdState<R> {
        self.td.state()
    }

    fn fits(&self, state: &GradientTdState<R>) -> Result<(), RestoreError> {
        self.td.fits(state)
    }

    fn put(&mut self, state: GradientTdState<R>) {
        self.td.put(state);
    }
}
