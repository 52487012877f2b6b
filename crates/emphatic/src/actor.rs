//! Actors: how does the policy learn?
//!
//! The paper's own are [`TakenAction`](crate::learner::TakenAction), [`EveryAction`](crate::learner::EveryAction) and
//! [`DeterministicAction`](crate::learner::DeterministicAction). These take their place:
//!
//! | actor | θ ← θ + α … | the critic |
//! |---|---|---|
//! | [`ActorTrace`] | δ_t e_t, with e_t = ρ_t (γ_t λ e_{t−1} + M_t ψ_t) | values |
//! | [`GeoffPac`] | ρ_t M¹_t δ_t ψ_t + γ̂ i_t v̂(S_t) M²_t | values |
//! | [`GradientValues`] | M_t Ĝ(S_t), with Ĝ(s) ≈ ∇v_π(s) | values |
//! | [`GradientCritic`] | M_t Σ_b π(b∣S_t) (ψ(S_t,b) q̂(S_t,b) + Γ̂(S_t,b)), with Γ̂(s,b) ≈ ∇q_π(s,b) | actions |
//! | [`ModelGradient`] | M_t Ĝ(S_t), from a model | actions |
//!
//! The last three follow the whole gradient without an emphasis: M_t is then i(S_t).

mod geoff_pac;
mod gradient_critic;
mod gradient_values;
mod gradient_weights;
mod model_gradient;
mod trace;

pub use geoff_pac::{GeoffPac, GeoffPacBuilder};
pub use gradient_critic::{GradientCritic, GradientCriticBuilder};
pub use gradient_values::{GradientValues, GradientValuesBuilder};
pub use model_gradient::{ModelGradient, ModelGradientBuilder};
pub use trace::{ActorTrace, ActorTraceBuilder};

use crate::learner::unless_waiting;
use crate::{Action, AnyPolicy, ComposeError, Features, Real, Row, Seen, State, StateError, Step, Visitor};

/// How the policy's weights learn from the signal of a critic. `C` is `dyn Critic<R>` or `dyn ActionCritic<R>`.
pub trait ActorRule<R: Real, C: ?Sized>: Send {
    /// Lists its features and those of the parts inside it. Every step is checked against all of them.
    fn all_features(&self) -> Vec<&Features> {
        Vec::new()
    }

    /// Adapts to the policy that it is used with, or returns an error if they do not go together. Called once, when a learner is built.
    fn set_policy(&mut self, policy: &dyn AnyPolicy<R>) -> Result<(), ComposeError>;

    /// Called after the policy's weights were changed by an update in `state`, or all of them if it is `None`.
    fn policy_changed(&mut self, _weights: &[R], _state: Option<State>) {}

    /// Lets the policy and the critic learn from a step. Returns the critic's signal, and the sum of [`Real::nan_unless_finite`] over the
    /// weights that were changed.
    fn learn(&mut self, input: ActorInput<R>, critic: &mut C) -> [R; 2];

    /// Shows its settings and all its numbers that change to a visitor, which may replace the numbers.
    fn tensors(&mut self, visitor: &mut Visitor) -> Result<(), StateError>;
}

/// What an actor learns from: a step, what follows from it by the weights before the update, and the policy's weights, which it changes.
pub struct ActorInput<'a, R: Real> {
    /// The policy, which looks at any state.
    pub policy: &'a mut dyn AnyPolicy<R>,
    /// θ.
    pub weights: &'a mut [R],
    /// α, divided by the number of active features; zero while the actor waits.
    pub step_size: R,
    /// The policy's features of S_t.
    pub x: Row<'a>,
    /// The policy's features of S_{t+1}; empty where an episode ends.
    pub x_next: Row<'a>,
    /// The step.
    pub step: &'a Step<State<'a>, Action>,
    /// The step as the critic sees it.
    pub seen: Seen<'a>,
    /// ρ_t.
    pub rho: R,
    /// M_t.
    pub emphasis: R,
}

/// The probability and the advantage of every action in a state.
#[derive(Clone, Debug)]
struct Actions<R> {
    probabilities: Vec<R>,
    advantages: Vec<R>,
}

impl<R: Real> Actions<R> {
    fn new(actions: usize) -> Self {
        Self { probabilities: vec![R::zero(); actions], advantages: vec![R::zero(); actions] }
    }

    /// Asks a policy for the probabilities in a state, given its features, at which the policy then looks.
    fn ask(&mut self, policy: &mut dyn AnyPolicy<R>, weights: &[R], x: Row) {
        policy.see(weights, x);
        for (b, probability) in self.probabilities.iter_mut().enumerate() {
            *probability = policy.probability(Action::Number(b));
        }
    }

    /// out ← out + scale Σ_b π(b|s) A(s,b) ∇ ln π(b|s), where s is the state that the policy looks at.
    fn add_gradient(&self, policy: &dyn AnyPolicy<R>, x: Row, scale: R, out: &mut [R]) {
        for (b, (pi, advantage)) in self.probabilities.iter().zip(&self.advantages).enumerate() {
            policy.add_score(x, Action::Number(b), scale * *pi * *advantage, out);
        }
    }
}

/// θ ← θ + α c g, unless the actor waits. Returns the sum of [`Real::nan_unless_finite`] over the weights.
#[inline(always)]
fn ascend<R: Real>(weights: &mut [R], step_size: R, c: R, gradient: &[R]) -> R {
    let mut sum = R::zero();
    for (w, g) in weights.iter_mut().zip(gradient) {
        *w += unless_waiting(step_size, step_size * c * *g);
        sum += w.nan_unless_finite();
    }
    sum
}
