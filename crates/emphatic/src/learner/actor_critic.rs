//! The first branch of Algorithm 1: the actor learns from δ.

use super::{Composed, Rule, RuleInput, RuleSetup, unless_waiting};
use crate::{ComposeError, Critic, Real, Seen, StochasticPolicy};

/// θ ← θ + α ρ_t M_t δ_t ∇ ln π(A_t|S_t).
///
/// This is OffPAC, ACE or True-ACE, depending on the emphasis. δ_t, ρ_t and M_t are computed from the weights before the
/// step's updates; then actor and critic learn from the same δ_t.
pub type ActorCritic<R, P, C, E> = Composed<R, P, C, E, TakenAction>;

/// The actor learns from the action taken: see [`ActorCritic`].
#[derive(Clone, Copy, Debug)]
pub struct TakenAction;

impl<R: Real, P: StochasticPolicy, C: Critic<R>> Rule<R, P, C> for TakenAction {
    fn new(_policy: &P, _critic: &C, _setup: RuleSetup<R>) -> Result<Self, ComposeError> {
        Ok(Self)
    }

    #[inline(always)]
    fn probability(policy: &P, at: &P::Distribution<R>, action: P::Action) -> Option<R> {
        Some(policy.probability(at, action))
    }

    fn value(_policy: &P, _at: &P::Distribution<R>, critic: &mut C, step: &Seen) -> Option<R> {
        Some(critic.value(step))
    }

    #[inline(always)]
    fn learn(&mut self, input: RuleInput<R, P>, critic: &mut C) -> [R; 2] {
        let RuleInput { policy, weights, step_size, x, at, action, step, rho, emphasis } = input;
        let [delta, changed] = critic.update(&step, rho);
        let step_size = step_size * rho;
        let scale = unless_waiting(step_size, step_size * emphasis * delta);
        [delta, policy.add_score(x, at, action, scale, weights) + changed]
    }
}

#[cfg(test)]
mod tests {
    use crate::{Features, Gtd, Learner, Softmax, Step, follow_on_ace};

    /// Regression: 0 · ∞ was taken for divergence, where a trace had overflowed and the target would never have taken the action.
    #[test]
    fn an_emphasis_that_has_overflowed_does_no_harm_where_the_ratio_is_zero() {
        let policy = Softmax { features: Features::one_hot(1), actions: 2 };
        let critic = Gtd::builder(Features::one_hot(1)).alpha_v(0.0).alpha_w(0.0).build().unwrap();
        let learner = follow_on_ace(policy, critic).lambda_a(1.0).alpha(0.1).build().unwrap();
        let mut learner = learner.with_weights(vec![400.0, -400.0]).unwrap();
        // F_t = 10³⁰⁸ and then ∞.
        let step = Step { reward: 1.0, interest: 1e308, gamma_next: 1.0, mu: 0.5, ..Step::between(0, 0, 0) };
        learner.step(&step).unwrap();
        let before = learner.weights().to_vec();
        let update = learner.step(&Step { gamma: 1.0, action: 1, ..step }).unwrap();
        assert_eq!((update.rho, update.emphasis), (0.0, f64::INFINITY));
        assert_eq!((learner.check(), learner.weights()), (Ok(()), &before[..]));
    }
}
