//! Every learner, with a few steps to learn from.

use emphatic::{
    Action, ActorCritic, Advantage, AllActions, Compatible, ContinuousCounterexample, Critic,
    DeterministicActorCritic, DeterministicLinear, ExactCritic, ExactEmphasis, FeatureError, Features,
    FollowOn, Gaussian, Gq, Gtd, Learner, NoEmphasis, Seen, Softmax, Step, StepError, Subset, Task,
};
use std::sync::Arc;

/// Checks a property of every learner.
macro_rules! for_every_learner {
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
    /// Whether it has traces.
    pub traces: bool,
    /// Whether M_t is m(S_t)/d_μ(S_t).
    pub exact_emphasis: bool,
    /// An action that does not exist, and the error.
    pub no_action: (Action, StepError),
    /// A state that does not exist, and the error.
    pub no_state: (S, FeatureError),
}

pub const LAMBDA_A: f64 = 0.6;

impl<L: Learner<f64>, S> Case<L, S> {
    pub fn learner(&self) -> L {
        (self.make)(LAMBDA_A, 1.0)
    }
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
            state,
            action: action.into(),
            mu,
            reward,
            next,
            gamma,
            gamma_next,
            interest,
        })
        .collect()
}

const TWO: Features = Features::Dense { len: 2 };
const THREE_ACTIONS: Softmax = Softmax { features: TWO, actions: 3 };
const TILES: Features = Features::Active { len: 4, most_active: 2 };

/// The weights of three actions, or of two real parameters, for each of two features.
const SOFTMAX: [f64; 6] = [0.2, -0.4, 0.1, 0.5, 0.3, -0.6];
const GAUSSIAN: [f64; 4] = [0.2, -0.4, 0.5, 0.3];

fn dense<A: Into<Action>>(actions: [A; 4]) -> Vec<Step<Vec<f64>, Action>> {
    let x = |a: f64, b: f64| vec![a, b];
    let (first, second, third, fourth) = (x(1.0, -0.5), x(0.3, 0.8), x(-0.7, 1.1), x(0.6, 0.2));
    let states =
        [(first, second.clone()), (second, third.clone()), (third, fourth), (x(0.9, 0.4), x(0.0, 0.0))];
    steps(states, actions)
}

/// Steps among the three states of the counterexamples; they need not be possible there.
fn numbered<A: Into<Action>>(actions: [A; 4]) -> Vec<Step<usize, Action>> {
    steps([(0, 1), (1, 2), (2, 0), (0, 0)], actions)
}

const NO_DENSE: (Vec<f64>, FeatureError) = (Vec::new(), FeatureError::Length { got: 0, len: 2 });
const NO_NUMBER: (usize, FeatureError) = (99, FeatureError::State { state: 99, states: 3 });
const NO_REAL: (Action, StepError) = (Action::Real(f64::INFINITY), StepError::RealAction(f64::INFINITY));

fn no_action(actions: usize) -> (Action, StepError) {
    (actions.into(), StepError::Action { action: actions, actions })
}

fn gtd(features: Features, factor: f64) -> Gtd<f64> {
    Gtd::builder(features).alpha_v(0.2 * factor).alpha_w(0.15 * factor).lambda(0.7).build().unwrap()
}

/// v̂(s) by an exact critic.
fn value<C: Critic<f64> + Clone>(critic: &C, state: &usize) -> f64 {
    let step = Step {
        state: *state,
        action: 0,
        mu: 1.0,
        reward: 0.0,
        next: *state,
        gamma: 0.0,
        gamma_next: 0.0,
        interest: 1.0,
    };
    let mut critic = critic.clone();
    critic.value(&Seen::without_features(&step.view()))
}

/// v̂ of a learned critic for a dense state.
fn dot(v: &[f64], x: &[f64]) -> f64 {
    v.iter().zip(x).map(|(v, x)| v * x).sum()
}

type WithGtd<P, E> = ActorCritic<f64, P, Gtd<f64>, E>;

pub fn off_pac() -> Case<WithGtd<Softmax, NoEmphasis>, Vec<f64>> {
    Case {
        make: |_, factor| {
            let learner =
                emphatic::off_pac(THREE_ACTIONS, gtd(TWO, factor)).alpha(0.3 * factor).build().unwrap();
            learner.with_weights(SOFTMAX.to_vec()).unwrap()
        },
        steps: dense([1, 0, 2, 0]),
        impossible: Some(vec![0.0, 4000.0, 0.0, 0.0, 0.0, 0.0]),
        value: Some(|learner, x| dot(&learner.critic().weights(), x)),
        traces: true,
        exact_emphasis: false,
        no_action: no_action(3),
        no_state: NO_DENSE,
    }
}

pub fn ace() -> Case<WithGtd<Softmax, FollowOn<f64>>, Vec<f64>> {
    Case {
        make: |lambda_a, factor| {
            let learner = emphatic::ace(THREE_ACTIONS, gtd(TWO, factor))
                .lambda_a(lambda_a)
                .alpha(0.3 * factor)
                .build()
                .unwrap();
            learner.with_weights(SOFTMAX.to_vec()).unwrap()
        },
        steps: dense([1, 0, 2, 0]),
        impossible: Some(vec![0.0, 4000.0, 0.0, 0.0, 0.0, 0.0]),
        value: Some(|learner, x| dot(&learner.critic().weights(), x)),
        traces: true,
        exact_emphasis: false,
        no_action: no_action(3),
        no_state: NO_DENSE,
    }
}

pub fn ace_on_tiles() -> Case<WithGtd<Softmax, FollowOn<f64>>, Vec<usize>> {
    let states =
        [(vec![0, 2], vec![1, 2]), (vec![1, 2], vec![3, 1]), (vec![3, 1], vec![0, 3]), (vec![0, 2], vec![])];
    Case {
        make: |lambda_a, factor| {
            let policy = Softmax { features: TILES, actions: 2 };
            let learner = emphatic::ace(policy, gtd(TILES, factor))
                .lambda_a(lambda_a)
                .alpha(0.3 * factor)
                .build()
                .unwrap();
            learner.with_weights(vec![0.2, -0.4, 0.5, 0.3, -0.6, 0.1, 0.7, -0.2]).unwrap()
        },
        steps: steps(states, [1, 0, 1, 0]),
        impossible: Some(vec![0.0, 0.0, 0.0, 800.0, 0.0, 0.0, 0.0, 0.0]),
        value: Some(|learner, tiles| tiles.iter().map(|&k| learner.critic().weights()[k]).sum()),
        traces: true,
        exact_emphasis: false,
        no_action: no_action(2),
        no_state: (vec![1, 99], FeatureError::Index { index: 99, len: 4 }),
    }
}

pub fn gaussian_ace() -> Case<WithGtd<Gaussian, FollowOn<f64>>, Vec<f64>> {
    Case {
        make: |lambda_a, factor| {
            let policy = Gaussian { features: TWO };
            let learner = emphatic::ace(policy, gtd(TWO, factor))
                .lambda_a(lambda_a)
                .alpha(0.3 * factor)
                .build()
                .unwrap();
            learner.with_weights(GAUSSIAN.to_vec()).unwrap()
        },
        steps: dense([0.7, -0.4, 1.9, 0.1]),
        impossible: Some(vec![1000.0, 0.0, 0.0, 0.0]),
        value: Some(|learner, x| dot(&learner.critic().weights(), x)),
        traces: true,
        exact_emphasis: false,
        no_action: NO_REAL,
        no_state: NO_DENSE,
    }
}

type KnownProblem = ExactCritic<f64, Task, Softmax>;
type TrueAce = ActorCritic<f64, Softmax, KnownProblem, ExactEmphasis<f64, Task, Softmax>>;
type Comparing<C> = AllActions<f64, Softmax, C, FollowOn<f64>>;

/// q = π(A0|S0) and p = π(A0|S1) = π(A0|S2) follow from the differences 1.0 and −0.5.
const TABULAR: [f64; 4] = [0.7, -0.3, 0.4, 0.9];

pub fn true_ace() -> Case<TrueAce, usize> {
    Case {
        make: |_, factor| {
            let task = Arc::new(Task::counterexample());
            let critic = ExactCritic::new(task.clone(), &task.softmax()).unwrap();
            let learner =
                emphatic::true_ace(task.clone(), task.softmax(), critic).alpha(0.3 * factor).build().unwrap();
            learner.with_weights(TABULAR.to_vec()).unwrap()
        },
        steps: numbered([0, 1, 1, 1]),
        impossible: Some(vec![0.0, 0.0, 800.0, 0.0]),
        value: Some(|learner, s| value(learner.critic(), s)),
        traces: false,
        exact_emphasis: true,
        no_action: no_action(2),
        no_state: NO_NUMBER,
    }
}

pub fn all_actions_exact() -> Case<Comparing<KnownProblem>, usize> {
    Case {
        make: |lambda_a, factor| {
            let task = Arc::new(Task::counterexample());
            let policy = task.softmax();
            let critic = ExactCritic::new(task, &policy).unwrap();
            let learner =
                AllActions::builder(policy, critic, FollowOn::builder().lambda_a(lambda_a).build().unwrap())
                    .alpha(0.3 * factor)
                    .build()
                    .unwrap();
            learner.with_weights(TABULAR.to_vec()).unwrap()
        },
        steps: numbered([0, 1, 1, 1]),
        impossible: Some(vec![0.0, 0.0, 800.0, 0.0]),
        value: None,
        traces: true,
        exact_emphasis: false,
        no_action: no_action(2),
        no_state: NO_NUMBER,
    }
}

pub type WithGq = Comparing<Gq<f64, Gtd<f64>>>;
type WithAdvantage = Comparing<Advantage<f64, Gtd<f64>>>;

pub fn action_values(lambda_a: f64, factor: f64, subset: Option<Subset>) -> WithGq {
    let critic = Gq::builder(TWO, 3, gtd(TWO, factor))
        .alpha_q(0.25 * factor)
        .alpha_h(0.1 * factor)
        .lambda_q(0.4)
        .build()
        .unwrap();
    let emphasis = FollowOn::builder().lambda_a(lambda_a).build().unwrap();
    let mut learner = AllActions::builder(THREE_ACTIONS, critic, emphasis).alpha(0.3 * factor);
    if let Some(subset) = subset {
        learner = learner.subset(subset);
    }
    learner.build().unwrap().with_weights(SOFTMAX.to_vec()).unwrap()
}

pub fn all_actions_by_action_values() -> Case<WithGq, Vec<f64>> {
    Case {
        make: |lambda_a, factor| action_values(lambda_a, factor, None),
        steps: dense([1, 0, 2, 0]),
        impossible: Some(vec![0.0, 4000.0, 0.0, 0.0, 0.0, 0.0]),
        value: None,
        traces: true,
        exact_emphasis: false,
        no_action: no_action(3),
        no_state: NO_DENSE,
    }
}

pub fn one_action_of_three() -> Case<WithGq, Vec<f64>> {
    let make = |lambda_a, factor| action_values(lambda_a, factor, Some(Subset { count: 1, seed: 7, run: 0 }));
    Case { make, ..all_actions_by_action_values() }
}

pub fn all_actions_by_advantage() -> Case<WithAdvantage, Vec<f64>> {
    Case {
        make: |lambda_a, factor| {
            let critic = Advantage::builder(TWO, 3, gtd(TWO, factor)).alpha_u(0.25 * factor).build().unwrap();
            let emphasis = FollowOn::builder().lambda_a(lambda_a).build().unwrap();
            let learner =
                AllActions::builder(THREE_ACTIONS, critic, emphasis).alpha(0.3 * factor).build().unwrap();
            learner.with_weights(SOFTMAX.to_vec()).unwrap()
        },
        steps: dense([1, 0, 2, 0]),
        impossible: Some(vec![0.0, 4000.0, 0.0, 0.0, 0.0, 0.0]),
        value: None,
        traces: true,
        exact_emphasis: false,
        no_action: no_action(3),
        no_state: NO_DENSE,
    }
}

type Continuous<P> = ExactCritic<f64, ContinuousCounterexample, P>;
type Linear = DeterministicLinear;

pub fn dpg() -> Case<DeterministicActorCritic<f64, Linear, Continuous<Linear>, NoEmphasis>, usize> {
    Case {
        make: |_, factor| {
            let task = Arc::new(ContinuousCounterexample::default());
            let policy = task.deterministic();
            let critic = ExactCritic::new(task, &policy).unwrap();
            let learner = emphatic::dpg(policy, critic).alpha(0.3 * factor).build().unwrap();
            learner.with_weights(vec![0.4, -0.3]).unwrap()
        },
        steps: numbered([0.7, -0.4, 1.9, 0.1]),
        impossible: None,
        value: None,
        traces: false,
        exact_emphasis: false,
        no_action: NO_REAL,
        no_state: NO_NUMBER,
    }
}

type Fitted = DeterministicActorCritic<f64, Linear, Compatible<f64>, NoEmphasis>;

pub fn dpg_by_compatible_features() -> Case<Fitted, Vec<f64>> {
    Case {
        make: |_, factor| {
            let critic = Compatible::builder(TWO)
                .alpha_v(0.2 * factor)
                .alpha_u(0.25 * factor)
                .alpha_h(0.1 * factor)
                .build()
                .unwrap();
            let policy = DeterministicLinear { features: TWO };
            let learner = emphatic::dpg(policy, critic).alpha(0.3 * factor).build().unwrap();
            learner.with_weights(vec![0.4, -0.3]).unwrap()
        },
        steps: dense([0.7, -0.4, 1.9, 0.1]),
        impossible: None,
        value: None,
        traces: false,
        exact_emphasis: false,
        no_action: NO_REAL,
        no_state: NO_DENSE,
    }
}

type ExactDensity<P> = ExactEmphasis<f64, ContinuousCounterexample, P>;

pub fn true_dpge()
-> Case<DeterministicActorCritic<f64, Linear, Continuous<Linear>, ExactDensity<Linear>>, usize> {
    Case {
        make: |_, factor| {
            let task = Arc::new(ContinuousCounterexample::default());
            let policy = task.deterministic();
            let critic = ExactCritic::new(task.clone(), &policy).unwrap();
            let learner = emphatic::true_dpge(task, policy, critic).alpha(0.3 * factor).build().unwrap();
            learner.with_weights(vec![0.4, -0.3]).unwrap()
        },
        steps: numbered([0.7, -0.4, 1.9, 0.1]),
        impossible: None,
        value: None,
        traces: false,
        exact_emphasis: true,
        no_action: NO_REAL,
        no_state: NO_NUMBER,
    }
}

pub fn exact_gaussian_ace() -> Case<ActorCritic<f64, Gaussian, Continuous<Gaussian>, FollowOn<f64>>, usize> {
    Case {
        make: |lambda_a, factor| {
            let task = Arc::new(ContinuousCounterexample::default());
            let policy = task.gaussian();
            let critic = ExactCritic::new(task, &policy).unwrap();
            let learner =
                emphatic::ace(policy, critic).lambda_a(lambda_a).alpha(0.3 * factor).build().unwrap();
            learner.with_weights(GAUSSIAN.to_vec()).unwrap()
        },
        steps: numbered([0.7, -0.4, 1.9, 0.1]),
        impossible: Some(vec![0.0, 0.0, 1000.0, 0.0]),
        value: Some(|learner, s| value(learner.critic(), s)),
        traces: true,
        exact_emphasis: false,
        no_action: NO_REAL,
        no_state: NO_NUMBER,
    }
}
