//! One step of experience.

use crate::{Action, AsState, FeatureError, State};
use thiserror::Error;

/// One step of experience: in S_t the behaviour took A_t, which led to S_{t+1}.
///
/// All learners and all lanes share it. An episode ends by `gamma_next = 0`; `next` is then ignored.
/// The first step of an episode has `gamma = 0`, also after a time limit: there `gamma_next` of the last step
/// stays what it was, so the value is bootstrapped, but the traces start afresh.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step<S, A> {
    /// S_t: a state's number, a feature vector, or a list of active features.
    pub state: S,
    /// A_t.
    pub action: A,
    /// μ(A_t | S_t): the probability or density with which the behaviour took the action.
    pub mu: f64,
    /// R_{t+1}.
    pub reward: f64,
    /// S_{t+1}, in the same form.
    pub next: S,
    /// γ_t: the discount of the transition into S_t.
    pub gamma: f64,
    /// γ_{t+1}: the discount of the transition out of S_t.
    pub gamma_next: f64,
    /// i(S_t).
    pub interest: f64,
}

impl<'a> Step<State<'a>, Action> {
    /// A step in a state that leads nowhere: what a part is asked with about that state.
    pub fn in_state(state: State<'a>) -> Self {
        let action = Action::Number(0);
        Self { state, action, mu: 1.0, reward: 0.0, next: state, gamma: 1.0, gamma_next: 0.0, interest: 1.0 }
    }
}

/// An invalid step.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum StepError {
    /// The behaviour cannot have taken this action.
    #[error(
        "mu, the behaviour's probability of the action taken, is {0:?}; it must be finite and at least 2.3e-308"
    )]
    Mu(f64),
    /// Not a probability.
    #[error("mu, the behaviour's probability of the action taken, is {0}; a probability is at most 1")]
    Probability(f64),
    /// Not a reward.
    #[error("the reward is {0}; it must be finite")]
    Reward(f64),
    /// Not a discount.
    #[error("{name} is {value}; a discount lies between 0 and 1")]
    Gamma {
        /// `gamma` or `gamma_next`.
        name: &'static str,
        /// Its value.
        value: f64,
    },
    /// Not an interest.
    #[error("the interest is {0}; it must be finite and not negative")]
    Interest(f64),
    /// An action that the policy does not have.
    #[error("action {action} does not exist: there are {actions} actions, numbered from 0")]
    Action {
        /// The action taken.
        action: usize,
        /// How many there are.
        actions: usize,
    },
    /// An action that is not a number.
    #[error("the action is {0}; it must be finite")]
    RealAction(f64),
    /// An action of another kind than the policy's.
    #[error("the action is {0}; the policy's is {1}")]
    ActionKind(&'static str, &'static str),
    /// A policy that cannot act.
    #[error("the weights are so large that the policy cannot act")]
    Acting,
    /// A state that the features cannot describe.
    #[error(transparent)]
    Features(#[from] FeatureError),
}

#[cfg(test)]
impl<S, A> Step<S, A> {
    /// A step of which most numbers do not matter.
    pub(crate) fn between(state: S, action: A, next: S) -> Self {
        Self { state, action, mu: 1.0, reward: 1.0, next, gamma: 0.0, gamma_next: 0.9, interest: 1.0 }
    }
}

impl<S, A: Copy> Step<S, A> {
    /// Returns the same step in the form that all learners accept.
    #[inline(always)]
    pub fn view(&self) -> Step<State<'_>, Action>
    where
        S: AsState,
        A: Into<Action>,
    {
        Step {
            state: self.state.as_state(),
            action: self.action.into(),
            mu: self.mu,
            reward: self.reward,
            next: self.next.as_state(),
            gamma: self.gamma,
            gamma_next: self.gamma_next,
            interest: self.interest,
        }
    }

    /// Returns an error if a number is out of its range.
    #[inline(always)]
    pub fn check(&self) -> Result<(), StepError> {
        let is_discount = |x: f64| (0.0..=1.0).contains(&x);
        // Below this, 1/μ would overflow.
        if !(self.mu >= f64::MIN_POSITIVE && self.mu <= f64::MAX) {
            return Err(StepError::Mu(self.mu));
        }
        if !self.reward.is_finite() {
            return Err(StepError::Reward(self.reward));
        }
        if !is_discount(self.gamma) {
            return Err(StepError::Gamma { name: "gamma", value: self.gamma });
        }
        if !is_discount(self.gamma_next) {
            return Err(StepError::Gamma { name: "gamma_next", value: self.gamma_next });
        }
        if !(self.interest >= 0.0 && self.interest <= f64::MAX) {
            return Err(StepError::Interest(self.interest));
        }
        Ok(())
    }
}
