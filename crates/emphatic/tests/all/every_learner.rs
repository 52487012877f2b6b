//! Every learner, with a few steps to learn from.

use emphatic::learner::{Composed, Rule};
use emphatic::{
    Action, ActorTrace, Advantage, AllActions, AsState, Compatible, ContinuousCounterexample, Critic,
    DeterministicLinear, Emphasis, ExactCritic, FeatureError, Features, FollowOn, Gaussian, GeoffPac, Gq,
    GradientCritic, GradientValues, Gtd, Learner, LearnerBuilder, ModelGradient, Policy, Seen, Softmax, Step,
    StepError, Subset, Task, WithActionsActor, WithActor,
};
use std::sync::Arc;

/// Checks a property of every learner.
macro_rules! for_every_learner {
    ($property:ident) => {
        for_every_rule!($property);
        for_every_actor!($property);
    };
}

/// Checks a property of every learner with an actor of its own. They cannot be cloned.
macro_rules! for_every_actor {
    ($property:ident) => {
        $property(&trace());
        $property(&gaussian_trace());
        $property(&gradient_values());
        $property(&gradient_critic());
        $property(&geoff_pac());
        $property(&gaussian_geoff_pac());
        $property(&model_gradient());
    };
}

/// Checks a property of every learner whose actor is the rule's own.
macro_rules! for_every_rule {
    ($property:ident) => {
        $property(&off_pac());
        $property(&ace());
        $property(&ace_on_tiles());
        $property(&gaussian_ace());
        $property(&true_ace());
        $property(&all_actions_exact());
        $property(&all_actions_by_action_values());
        $property(&all_actions_by_advantage());
        $property(&one_action_of_three());
        $property(&dpg());
        $property(&dpg_by_compatible_features());
        $property(&true_dpge());
        $property(&exact_gaussian_ace());
    };
}

/// A learner, with what the tests need.
pub struct Case<L, S> {
    /// Makes one with this λ_a (if it has one) and its step-sizes multiplied by a factor.
    pub make: fn(f64, f64) -> L,
    pub steps: Vec<Step<S, Action>>,
    /// Policy weights under which the action of the second step has probability zero.
    pub impossible: Option<Vec<f64>>,
    /// v̂(s), if δ_t is what the actor learns from.
    pub value: Option<fn(&L, &S) -> f64>,
    /// The weights of a critic that learns.
    pub critic: fn(&L) -> Vec<f64>,
    /// Whether it has traces.
    pub traces: bool,
    /// Whether traces are all that changes where its step-sizes are zero: it counts nothing and has no running means.
    pub can_freeze: bool,
    /// Whether M_t is m(S_t)/d_μ(S_t).
    pub exact_emphasis: bool,
    /// An action that does not exist, and the error.
    pub no_action: (Action, StepError),
    /// A state that does not exist, and the error.
    pub no_state: (S, FeatureError),
}

pub const LAMBDA_A: f64 = 0.6;

impl<L: Learner<f64>, S: AsState> Case<L, S> {
    /// A learner with traces and an exact critic that compares actions, unless something else is said.
    fn new(make: fn(f64, f64) -> L, steps: Vec<Step<S, Action>>, no_state: (S, FeatureError)) -> Self {
        let number = |step: &Step<S, Action>| match step.action {
            Action::Number(number) => Some(number),
            Action::Real(_) => None,
        };
        // Every action is among those taken.
        let no_action = match steps.iter().filter_map(number).max() {
            Some(last) => ((last + 1).into(), StepError::Action { action: last + 1, actions: last + 1 }),
            None => (f64::INFINITY.into(), StepError::RealAction(f64::INFINITY)),
        };
        let (impossible, value) = (None, None);
        let (traces, exact_emphasis) = (true, false);
        Self {
            make,
            steps,
            impossible,
            value,
            critic: |_| vec![],
            traces,
            can_freeze: true,
            exact_emphasis,
            no_action,
            no_state,
        }
    }

    fn with_value(self, value: fn(&L, &S) -> f64) -> Self {
        Self { value: Some(value), ..self }
    }

    fn with_critic(self, critic: fn(&L) -> Vec<f64>) -> Self {
        Self { critic, ..self }
    }

    pub fn learner(&self) -> L {
        (self.make)(LAMBDA_A, 1.0)
    }
}

/// A step of which most numbers do not matter.
pub fn step<S, A>(state: S, action: A, next: S) -> Step<S, A> {
    Step { state, action, mu: 0.5, reward: 1.0, next, gamma: 0.0, gamma_next: 0.9, interest: 1.0 }
}

/// μ, reward, γ_t, γ_{t+1} and interest. The third step meets a time limit; the fourth is an episode of its own.
const NUMBERS: [[f64; 5]; 4] = [
    [0.25, 1.5, 0.5, 0.9, 1.2],
    [0.4, -0.7, 0.9, 0.7, 0.5],
    [0.6, 2.1, 0.7, 0.8, 2.0],
    [0.3, 0.4, 0.0, 0.0, 0.8],
];

fn steps<S, A: Into<Action>>(states: [(S, S); 4], actions: [A; 4]) -> Vec<Step<S, Action>> {
    let parts = states.into_iter().zip(actions).zip(NUMBERS);
    parts
        .map(|(((state, next), action), [mu, reward, gamma, gamma_next, interest])| Step {
            mu,
            reward,
            gamma,
            gamma_next,
            interest,
            ..step(state, action.into(), next)
        })
        .collect()
}

const TWO: Features = Features::Dense { len: 2 };
const THREE_ACTIONS: Softmax = Softmax { features: TWO, actions: 3 };
const TILES: Features = Features::Active { len: 4, most_active: 2 };

/// The weights of three actions, or of two real parameters, for each of two features.
const SOFTMAX: [f64; 6] = [0.2, -0.4, 0.1, 0.5, 0.3, -0.6];
const GAUSSIAN: [f64; 4] = [0.2, -0.4, 0.5, 0.3];
const DETERMINISTIC: [f64; 2] = [0.4, -0.3];

/// A learner of dense states.
fn dense<L: Learner<f64>, A: Into<Action>>(make: fn(f64, f64) -> L, actions: [A; 4]) -> Case<L, Vec<f64>> {
    let x = |a: f64, b: f64| vec![a, b];
    let (first, second, third, fourth) = (x(1.0, -0.5), x(0.3, 0.8), x(-0.7, 1.1), x(0.6, 0.2));
    let states =
        [(first, second.clone()), (second, third.clone()), (third, fourth), (x(0.9, 0.4), x(0.0, 0.0))];
    Case::new(make, steps(states, actions), (Vec::new(), FeatureError::Length { got: 0, len: 2 }))
}

/// A learner in the three states of the counterexamples. Its steps need not be possible there.
fn numbered<L: Learner<f64>, A: Into<Action>>(make: fn(f64, f64) -> L, actions: [A; 4]) -> Case<L, usize> {
    let no_state = (99, FeatureError::State { state: 99, states: 3 });
    Case::new(make, steps([(0, 1), (1, 2), (2, 0), (0, 0)], actions), no_state)
}

/// A learner with a softmax over three actions in dense states.
fn softmax<L: Learner<f64>>(make: fn(f64, f64) -> L) -> Case<L, Vec<f64>> {
    let impossible = Some(vec![0.0, 4000.0, 0.0, 0.0, 0.0, 0.0]);
    Case { impossible, ..dense(make, [1, 0, 2, 0]) }
}

const REAL_ACTIONS: [f64; 4] = [0.7, -0.4, 1.9, 0.1];

/// Builds a learner with these weights of its policy.
fn started<P: Policy, C: emphatic::Part<f64>, E: Emphasis<f64>, K: Rule<f64, P, C>>(
    learner: LearnerBuilder<f64, P, C, E, K>,
    factor: f64,
    weights: &[f64],
) -> Composed<f64, P, C, E, K> {
    learner.alpha(0.3 * factor).build().unwrap().with_weights(weights.to_vec()).unwrap()
}

pub fn gtd(features: impl Into<Features>, alpha_v: f64, alpha_w: f64, lambda: f64) -> Gtd {
    Gtd::builder(features).alpha_v(alpha_v).alpha_w(alpha_w).lambda(lambda).build().unwrap()
}

fn scaled_gtd(features: Features, factor: f64) -> Gtd {
    gtd(features, 0.2 * factor, 0.15 * factor, 0.7)
}

pub fn compatible(features: impl Into<Features>, alpha_v: f64, alpha_u: f64, alpha_h: f64) -> Compatible {
    Compatible::builder(features).alpha_v(alpha_v).alpha_u(alpha_u).alpha_h(alpha_h).build().unwrap()
}

pub fn follow_on(lambda_a: f64) -> FollowOn {
    FollowOn::builder().lambda_a(lambda_a).build().unwrap()
}

/// v̂(s) by an exact critic.
fn value<C: Critic<f64> + Clone>(critic: &C, state: &usize) -> f64 {
    critic.clone().value(&Seen::without_features(&step(*state, 0, *state).view()))
}

/// v̂ of a learned critic for a dense state.
fn dot(v: &[f64], x: &[f64]) -> f64 {
    v.iter().zip(x).map(|(v, x)| v * x).sum()
}

pub fn off_pac() -> Case<impl Learner<f64> + Clone, Vec<f64>> {
    softmax(|_, factor| started(emphatic::off_pac(THREE_ACTIONS, scaled_gtd(TWO, factor)), factor, &SOFTMAX))
        .with_value(|learner, x| dot(&learner.critic().weights(), x))
        .with_critic(|learner| learner.critic().weights())
}

pub fn ace() -> Case<impl Learner<f64> + Clone, Vec<f64>> {
    let make = |lambda_a, factor| {
        started(
            emphatic::follow_on_ace(THREE_ACTIONS, scaled_gtd(TWO, factor)).lambda_a(lambda_a),
            factor,
            &SOFTMAX,
        )
    };
    softmax(make)
        .with_value(|learner, x| dot(&learner.critic().weights(), x))
        .with_critic(|learner| learner.critic().weights())
}

pub fn ace_on_tiles() -> Case<impl Learner<f64> + Clone, Vec<usize>> {
    let states =
        [(vec![0, 2], vec![1, 2]), (vec![1, 2], vec![3, 1]), (vec![3, 1], vec![0, 3]), (vec![0, 2], vec![])];
    let make = |lambda_a, factor| {
        let ace = emphatic::follow_on_ace(Softmax { features: TILES, actions: 2 }, scaled_gtd(TILES, factor));
        started(ace.lambda_a(lambda_a), factor, &[0.2, -0.4, 0.5, 0.3, -0.6, 0.1, 0.7, -0.2])
    };
    let no_state = (vec![1, 99], FeatureError::Index { index: 99, len: 4 });
    let case = Case::new(make, steps(states, [1, 0, 1, 0]), no_state)
        .with_value(|learner, tiles| tiles.iter().map(|&k| learner.critic().weights()[k]).sum())
        .with_critic(|learner| learner.critic().weights());
    Case { impossible: Some(vec![0.0, 0.0, 0.0, 800.0, 0.0, 0.0, 0.0, 0.0]), ..case }
}

pub fn gaussian_ace() -> Case<impl Learner<f64> + Clone, Vec<f64>> {
    let make = |lambda_a, factor| {
        let ace = emphatic::follow_on_ace(Gaussian { features: TWO }, scaled_gtd(TWO, factor));
        started(ace.lambda_a(lambda_a), factor, &GAUSSIAN)
    };
    let case = dense(make, REAL_ACTIONS)
        .with_value(|learner, x| dot(&learner.critic().weights(), x))
        .with_critic(|learner| learner.critic().weights());
    Case { impossible: Some(vec![1000.0, 0.0, 0.0, 0.0]), ..case }
}

/// q = π(A0|S0) and p = π(A0|S1) = π(A0|S2) follow from the differences 1.0 and −0.5.
const TABULAR: [f64; 4] = [0.7, -0.3, 0.4, 0.9];

/// A learner in the counterexample.
fn tabular<L: Learner<f64>>(make: fn(f64, f64) -> L) -> Case<L, usize> {
    Case { impossible: Some(vec![0.0, 0.0, 800.0, 0.0]), ..numbered(make, [0, 1, 1, 1]) }
}

pub fn true_ace() -> Case<impl Learner<f64> + Clone, usize> {
    let make = |_, factor| {
        let task = Arc::new(Task::counterexample());
        let critic = ExactCritic::new(task.clone(), &task.softmax()).unwrap();
        started(emphatic::true_ace(task.clone(), task.softmax(), critic), factor, &TABULAR)
    };
    let case = tabular(make).with_value(|learner, s| value(learner.critic(), s));
    Case { traces: false, exact_emphasis: true, ..case }
}

pub fn all_actions_exact() -> Case<impl Learner<f64> + Clone, usize> {
    tabular(|lambda_a, factor| {
        let task = Arc::new(Task::counterexample());
        let policy = task.softmax();
        let critic = ExactCritic::new(task, &policy).unwrap();
        started(AllActions::builder(policy, critic, follow_on(lambda_a)), factor, &TABULAR)
    })
}

pub type WithGq = AllActions<f64, Softmax, Gq, FollowOn>;

pub fn action_values(lambda_a: f64, factor: f64, subset: Option<Subset>) -> WithGq {
    let critic = Gq::builder(TWO, 3, scaled_gtd(TWO, factor));
    let critic = critic.alpha_q(0.25 * factor).alpha_h(0.1 * factor).lambda_q(0.4).build().unwrap();
    let mut learner = AllActions::builder(THREE_ACTIONS, critic, follow_on(lambda_a));
    if let Some(subset) = subset {
        learner = learner.subset(subset);
    }
    started(learner, factor, &SOFTMAX)
}

pub fn all_actions_by_action_values() -> Case<WithGq, Vec<f64>> {
    let make = |lambda_a, factor| action_values(lambda_a, factor, None);
    softmax(make).with_critic(|learner| learner.critic().weights())
}

pub fn one_action_of_three() -> Case<WithGq, Vec<f64>> {
    let make = |lambda_a, factor| action_values(lambda_a, factor, Some(Subset { count: 1, seed: 7, run: 0 }));
    Case { make, ..all_actions_by_action_values() }
}

pub fn all_actions_by_advantage() -> Case<impl Learner<f64> + Clone, Vec<f64>> {
    let make = |lambda_a, factor| {
        let critic =
            Advantage::builder(TWO, 3, scaled_gtd(TWO, factor)).alpha_u(0.25 * factor).build().unwrap();
        started(AllActions::builder(THREE_ACTIONS, critic, follow_on(lambda_a)), factor, &SOFTMAX)
    };
    softmax(make).with_critic(|learner| learner.critic().weights())
}

pub fn dpg() -> Case<impl Learner<f64> + Clone, usize> {
    let make = |_, factor| {
        let task = Arc::new(ContinuousCounterexample::default());
        let policy = task.deterministic();
        let critic = ExactCritic::new(task, &policy).unwrap();
        started(emphatic::dpg(policy, critic), factor, &DETERMINISTIC)
    };
    Case { traces: false, ..numbered(make, REAL_ACTIONS) }
}

pub fn dpg_by_compatible_features() -> Case<impl Learner<f64> + Clone, Vec<f64>> {
    let make = |_, factor| {
        let policy = DeterministicLinear { features: TWO };
        let critic = compatible(TWO, 0.2 * factor, 0.25 * factor, 0.1 * factor);
        started(emphatic::dpg(policy, critic), factor, &DETERMINISTIC)
    };
    let case = dense(make, REAL_ACTIONS).with_critic(|learner| learner.critic().weights());
    Case { traces: false, ..case }
}

pub fn true_dpge() -> Case<impl Learner<f64> + Clone, usize> {
    let make = |_, factor| {
        let task = Arc::new(ContinuousCounterexample::default());
        let policy = task.deterministic();
        let critic = ExactCritic::new(task.clone(), &policy).unwrap();
        started(emphatic::true_dpge(task, policy, critic), factor, &DETERMINISTIC)
    };
    Case { traces: false, exact_emphasis: true, ..numbered(make, REAL_ACTIONS) }
}

pub fn exact_gaussian_ace() -> Case<impl Learner<f64> + Clone, usize> {
    let make = |lambda_a, factor| {
        let task = Arc::new(ContinuousCounterexample::default());
        let policy = task.gaussian();
        let critic = ExactCritic::new(task, &policy).unwrap();
        started(emphatic::follow_on_ace(policy, critic).lambda_a(lambda_a), factor, &GAUSSIAN)
    };
    let case = numbered(make, REAL_ACTIONS).with_value(|learner, s| value(learner.critic(), s));
    Case { impossible: Some(vec![0.0, 0.0, 1000.0, 0.0]), ..case }
}

/// A learner with an actor that learns from δ, of three actions in dense states.
macro_rules! by_values {
    ($policy:expr, $weights:expr, |$factor:ident| $actor:expr) => {
        |lambda_a, $factor| {
            let learner = WithActor::builder($policy, scaled_gtd(TWO, $factor), follow_on(lambda_a));
            started(learner.actor($actor.build().unwrap()), $factor, &$weights)
        }
    };
}

pub fn trace() -> Case<impl Learner<f64>, Vec<f64>> {
    softmax(by_values!(THREE_ACTIONS, SOFTMAX, |factor| ActorTrace::builder().lambda(0.7)))
        .with_value(|learner, x| dot(&learner.critic().weights(), x))
        .with_critic(|learner| learner.critic().weights())
}

pub fn gaussian_trace() -> Case<impl Learner<f64>, Vec<f64>> {
    let make = by_values!(Gaussian { features: TWO }, GAUSSIAN, |factor| ActorTrace::builder().lambda(0.7));
    let case = dense(make, REAL_ACTIONS)
        .with_value(|learner, x| dot(&learner.critic().weights(), x))
        .with_critic(|learner| learner.critic().weights());
    Case { impossible: Some(vec![1000.0, 0.0, 0.0, 0.0]), ..case }
}

/// It learns from what it has learned where ρ is zero, too.
pub fn gradient_values() -> Case<impl Learner<f64>, Vec<f64>> {
    let make =
        by_values!(THREE_ACTIONS, SOFTMAX, |factor| GradientValues::builder(TWO).alpha_g(0.25 * factor));
    let case = softmax(make)
        .with_value(|learner, x| dot(&learner.critic().weights(), x))
        .with_critic(|learner| learner.critic().weights());
    Case { impossible: None, ..case }
}

pub fn geoff_pac() -> Case<impl Learner<f64>, Vec<f64>> {
    let make = by_values!(THREE_ACTIONS, SOFTMAX, |factor| {
        GeoffPac::builder(TWO).gamma_hat(0.6).alpha_c(0.25 * factor).penalty(0.1)
    });
    let case = softmax(make)
        .with_value(|learner, x| dot(&learner.critic().weights(), x))
        .with_critic(|learner| learner.critic().weights());
    Case { impossible: None, can_freeze: false, ..case }
}

pub fn gaussian_geoff_pac() -> Case<impl Learner<f64>, Vec<f64>> {
    let make = by_values!(Gaussian { features: TWO }, GAUSSIAN, |factor| {
        GeoffPac::builder(TWO).gamma_hat(0.6).alpha_c(0.25 * factor)
    });
    let case = dense(make, REAL_ACTIONS)
        .with_value(|learner, x| dot(&learner.critic().weights(), x))
        .with_critic(|learner| learner.critic().weights());
    Case { can_freeze: false, ..case }
}

pub fn gradient_critic() -> Case<impl Learner<f64>, Vec<f64>> {
    let make = |lambda_a, factor| {
        let critic = Gq::builder(TWO, 3, scaled_gtd(TWO, factor));
        let critic = critic.alpha_q(0.25 * factor).alpha_h(0.1 * factor).lambda_q(0.4).build().unwrap();
        let actor = GradientCritic::builder(TWO, 3).alpha_g(0.2 * factor).build().unwrap();
        let learner = WithActionsActor::builder(THREE_ACTIONS, critic, follow_on(lambda_a));
        started(learner.actor(actor), factor, &SOFTMAX)
    };
    let case = softmax(make).with_critic(|learner| learner.critic().weights());
    Case { impossible: None, ..case }
}

pub fn model_gradient() -> Case<impl Learner<f64>, usize> {
    let make = |lambda_a, factor| {
        let task = Arc::new(Task::counterexample());
        let policy = task.softmax();
        let critic = ExactCritic::new(task, &policy).unwrap();
        let actor = ModelGradient::builder(Features::one_hot(3), 2).solve_every(2.0).build().unwrap();
        let learner = WithActionsActor::builder(policy, critic, follow_on(lambda_a));
        started(learner.actor(actor), factor, &TABULAR)
    };
    Case { impossible: None, can_freeze: false, ..tabular(make) }
}
