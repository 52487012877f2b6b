//! The determinism contract: a learner's bits do not depend on lanes, instruction set, or being interrupted.

mod common;

use emphatic::{
    Action, Advantage, AllActions, Compatible, ContinuousCounterexample, DeterministicLinear, ExactCritic,
    Features, FollowOn, Gaussian, Gq, Gtd, Isa, Lanes, Learner, NoEmphasis, Problem, Random, Real, Softmax,
    State, Step, Table, Task, ace, dpg, off_pac, true_ace, true_dpge,
};
use std::sync::Arc;

const SETTINGS: usize = 16;

type Experience = Step<State<'static>, Action>;

/// The setting of lane `k` of a block that starts at `first`. Some step-sizes are so large that the learner diverges.
fn alpha<R: Real>(first: usize) -> R {
    R::from_lanes(|k| [1e-3, 0.3, 0.02, 1e6][(first + k) % 4])
}

fn alpha_v<R: Real>(first: usize) -> R {
    R::from_lanes(|k| [0.1, 0.03, 1.0, 0.5, 60.0][(first + k) % 5])
}

fn lambda<R: Real>(first: usize) -> R {
    R::from_lanes(|k| [0.0, 0.4, 1.0][(first + k) % 3])
}

/// With the larger ones a critic takes its time to diverge: its weights grow until products of them overflow.
fn alpha_w<R: Real>(first: usize) -> R {
    R::from_lanes(|k| [10.0, 0.01, 4.0][(first + k) / 2 % 3])
}

/// When the learner diverged, and the bits of its weights; of NaN there is only one.
fn outcome<R: Real>(learner: &impl Learner<R>, lane: usize) -> (Option<u64>, Vec<u64>) {
    let bits = |w: &R| if w.lane(lane).is_nan() { f64::NAN } else { w.lane(lane) }.to_bits();
    (learner.diverged(lane), learner.weights().iter().map(bits).collect())
}

/// Learns all the steps at once, or saves itself half-way and goes on as another learner.
macro_rules! learn {
    ($learner:expr, $isa:expr, $steps:expr) => {{
        let mut learner = $learner;
        learner.learn($isa, $steps).unwrap();
        learner
    }};
    ($learner:expr, $isa:expr, $steps:expr, interrupted) => {{
        let (early, late) = $steps.split_at($steps.len() / 2);
        let saved = postcard::to_allocvec(&learn!($learner, $isa, early).state()).unwrap();
        let mut learner = $learner;
        learner.restore(&postcard::from_bytes(&saved).unwrap()).unwrap();
        learner.learn($isa, late).unwrap();
        learner
    }};
}

/// Compares `N` lanes with `f64`, with the plainest and the best instruction set, in one go and interrupted.
macro_rules! compare {
    ($n:literal, $alone:expr, $steps:expr, $make:ident) => {
        for first in (0..SETTINGS).step_by($n) {
            for isa in [Isa::Plain, Isa::best()] {
                let whole = learn!($make::<Lanes<$n>>(first), isa, $steps);
                let interrupted = learn!($make::<Lanes<$n>>(first), isa, $steps, interrupted);
                for lane in 0..$n {
                    assert_eq!(
                        outcome(&whole, lane),
                        $alone[first + lane],
                        "lane {lane} of {} with {isa:?}",
                        $n
                    );
                    assert_eq!(
                        outcome(&interrupted, lane),
                        $alone[first + lane],
                        "interrupted, lane {lane} of {}",
                        $n
                    );
                }
            }
        }
    };
}

/// A test of one kind of learner, made by an expression for the block of settings that starts at `$first`, on some streams.
macro_rules! same_bits {
    ($name:ident, $streams:expr, |$R:ident, $first:ident| -> $learner:ty { $($make:tt)* }) => {
        #[test]
        fn $name() {
            fn make<$R: Real>($first: usize) -> $learner {
                $($make)*
            }
            for steps in $streams {
                let alone: Vec<_> =
                    (0..SETTINGS).map(|k| outcome(&learn!(make::<f64>(k), Isa::Plain, &steps), 0)).collect();
                let interrupted: Vec<_> = (0..SETTINGS)
                    .map(|k| outcome(&learn!(make::<f64>(k), Isa::Plain, &steps, interrupted), 0))
                    .collect();
                assert_eq!(interrupted, alone);
                // The test means nothing if all settings gave the same, or all diverged.
                assert!(alone.iter().any(|x| *x != alone[0]) && alone.iter().any(|(diverged, _)| diverged.is_none()));
                compare!(1, alone, &steps, make);
                compare!(4, alone, &steps, make);
                compare!(8, alone, &steps, make);
                compare!(16, alone, &steps, make);
            }
        }
    };
}

fn three() -> Arc<Task> {
    Arc::new(Task::counterexample())
}

fn eleven() -> Arc<Task> {
    Arc::new(Task::long_counterexample(5))
}

/// A problem with five actions, dense features and discounts of all kinds.
fn varied() -> Arc<Task> {
    let fits = |task: &Task| task.actions() == 5 && task.actor().most_active() > 1;
    Arc::new((0..).map(|run| Task::random(&mut Random::new(9, run))).find(fits).unwrap())
}

/// A task that never ends, in which states are left for long enough to be forgotten by some lanes and not by others.
fn endless() -> Task {
    let n = 40;
    let mut builder =
        Problem::builder().states((0..n).map(|s| format!("S{s}"))).actions(["on", "round"]).start(0, 1.0);
    for s in 0..n {
        // Round and round among four states, with a small chance to go on to the next four.
        let round = s / 4 * 4 + (s + 1) % 4;
        builder = builder
            .transition(s, "round", round, 1.0, 0.1 * (s % 5) as f64, 0.9)
            .transition(s, "on", round, 0.98, 0.3, 0.9)
            .transition(s, "on", (s + 4) % n, 0.02, -0.2, 0.8);
    }
    let pairs: Vec<_> = (0..n).map(|s| vec![(s, 1.0), ((7 * s + 3) % n, 0.5)]).collect();
    let features = Table::new(n, &pairs).unwrap();
    Task::new(builder.build().unwrap(), &vec![vec![0.5; 2]; n]).unwrap().with_actor(features).unwrap()
}

fn continuous() -> Arc<ContinuousCounterexample> {
    Arc::new(ContinuousCounterexample::default())
}

fn steps(task: &Task) -> Vec<Experience> {
    task.stream(3, 0).take(400).collect()
}

/// For learned critics, some of which diverge at other steps in every stream. (Once it depended on the other lanes at which.)
fn many(task: &Task) -> impl Iterator<Item = Vec<Experience>> {
    // Where each feature is that of one state, lanes differ most in what they trace.
    let streams = if task.critic().most_active() == 1 { 32 } else { 6 };
    (0..streams).map(|run| task.stream(3, run).take(1500).collect())
}

fn gtd<R: Real>(features: &Table, first: usize) -> Gtd<R> {
    Gtd::new(features, alpha_v(first), alpha_w(first), lambda(first)).unwrap()
}

fn exact<R: Real>(task: &Arc<Task>) -> ExactCritic<R, Task, Softmax> {
    ExactCritic::new(task.clone(), &task.softmax()).unwrap()
}

fn follow_on<R: Real>(first: usize) -> FollowOn<R> {
    FollowOn::new(lambda(first)).unwrap()
}

same_bits!(off_pac_with_gtd, many(&varied()), |R, first| -> impl Learner<R> {
    off_pac(varied().softmax(), gtd(varied().actor(), first), alpha(first)).unwrap()
});

same_bits!(ace_with_gtd, many(&three()), |R, first| -> impl Learner<R> {
    ace(three().softmax(), gtd(three().critic(), first), lambda(first), alpha(first)).unwrap()
});

same_bits!(ace_with_gtd_and_dense_features, many(&varied()), |R, first| -> impl Learner<R> {
    ace(varied().softmax(), gtd(varied().actor(), first), lambda(first), alpha(first)).unwrap()
});

same_bits!(
    ace_with_gtd_and_a_trace_that_forgets,
    [endless().stream(3, 0).take(3000).collect::<Vec<_>>()],
    |R, first| -> impl Learner<R> {
        let critic =
            Gtd::new(endless().actor().clone(), R::splat(0.05), R::splat(0.01), lambda(first)).unwrap();
        ace(endless().softmax(), critic, R::splat(0.1), R::splat(1e-3)).unwrap()
    }
);

same_bits!(ace_with_the_exact_critic, [steps(&eleven())], |R, first| -> impl Learner<R> {
    ace(eleven().softmax(), exact(&eleven()), lambda(first), alpha(first)).unwrap()
});

same_bits!(true_ace_with_the_exact_critic, [steps(&eleven())], |R, first| -> impl Learner<R> {
    true_ace(eleven(), eleven().softmax(), exact(&eleven()), alpha(first)).unwrap()
});

same_bits!(true_ace_with_dense_features, [steps(&varied())], |R, first| -> impl Learner<R> {
    true_ace(varied(), varied().softmax(), exact(&varied()), alpha(first)).unwrap()
});

same_bits!(all_actions_with_exact_values, [steps(&eleven())], |R, first| -> impl Learner<R> {
    AllActions::new(eleven().softmax(), exact(&eleven()), follow_on(first), alpha(first)).unwrap()
});

fn action_values<R: Real>(task: &Task, first: usize) -> impl Learner<R> + use<R> {
    let (features, actions) = (task.critic().clone(), task.actions());
    let (alpha_q, alpha_h) = (alpha_v(first + 1), alpha_w(first + 1));
    let baseline = gtd(task.critic(), first);
    let critic = Gq::new(features, actions, alpha_q, alpha_h, lambda(first + 1), baseline).unwrap();
    AllActions::new(task.softmax(), critic, follow_on(first), alpha(first)).unwrap()
}

same_bits!(all_actions_with_learned_values, many(&three()), |R, first| -> impl Learner<R> {
    action_values(&three(), first)
});

same_bits!(all_actions_with_learned_values_and_dense_features, many(&varied()), |R,
                                                                                 first|
 -> impl Learner<R> {
    action_values(&varied(), first)
});

fn advantage<R: Real>(task: &Task, subset: usize, first: usize) -> impl Learner<R> + use<R> {
    let values = gtd(task.critic(), first);
    let critic = Advantage::new(task.critic().clone(), task.actions(), alpha_v(first + 1), values).unwrap();
    let learner = AllActions::new(task.softmax(), critic, NoEmphasis, alpha(first)).unwrap();
    learner.with_subset(subset, 7, 0).unwrap()
}

same_bits!(all_actions_with_a_learned_advantage, many(&three()), |R, first| -> impl Learner<R> {
    advantage(&three(), 2, first)
});

same_bits!(some_actions_with_a_learned_advantage, many(&varied()), |R, first| -> impl Learner<R> {
    advantage(&varied(), 2, first)
});

fn continuous_steps() -> Vec<Experience> {
    continuous().stream(3, 0).take(120).collect()
}

fn many_continuous() -> impl Iterator<Item = Vec<Experience>> {
    (0..6).map(|run| continuous().stream(3, run).take(1500).collect())
}

fn exact_gaussian<R: Real>() -> ExactCritic<R, ContinuousCounterexample, Gaussian> {
    ExactCritic::new(continuous(), &continuous().gaussian()).unwrap()
}

same_bits!(gaussian_ace_with_gtd, many_continuous(), |R, first| -> impl Learner<R> {
    let features = Table::aliased(&[0, 1, 2]);
    ace(continuous().gaussian(), gtd(&features, first), lambda(first), alpha(first)).unwrap()
});

same_bits!(gaussian_ace_with_the_exact_critic, [continuous_steps()], |R, first| -> impl Learner<R> {
    ace(continuous().gaussian(), exact_gaussian(), lambda(first), alpha(first)).unwrap()
});

same_bits!(gaussian_true_ace, [continuous_steps()], |R, first| -> impl Learner<R> {
    true_ace(continuous(), continuous().gaussian(), exact_gaussian(), alpha(first)).unwrap()
});

fn exact_action<R: Real>() -> ExactCritic<R, ContinuousCounterexample, DeterministicLinear> {
    ExactCritic::new(continuous(), &continuous().deterministic()).unwrap()
}

same_bits!(dpg_with_the_exact_critic, [continuous_steps()], |R, first| -> impl Learner<R> {
    dpg(continuous().deterministic(), exact_action(), alpha(first)).unwrap()
});

same_bits!(dpg_with_compatible_features, many_continuous(), |R, first| -> impl Learner<R> {
    let features = Features::from(Table::dense(&[vec![1.0, 0.3], vec![0.5, -1.2], vec![-0.4, 0.7]]).unwrap());
    let critic =
        Compatible::new(features.clone(), alpha_v(first), alpha_v(first + 1), R::splat(0.01)).unwrap();
    dpg(DeterministicLinear { features }, critic, alpha(first)).unwrap()
});

same_bits!(true_dpge_with_the_exact_critic, [continuous_steps()], |R, first| -> impl Learner<R> {
    true_dpge(continuous(), continuous().deterministic(), exact_action(), alpha(first)).unwrap()
});

#[test]
fn a_diverged_lane_says_when_and_leaves_its_neighbours_alone() {
    let task = three();
    let steps = steps(&task);
    let make = |alpha_v: [f64; 4]| {
        let critic =
            Gtd::new(task.critic().clone(), Lanes(alpha_v), Lanes([0.0; 4]), Lanes([0.0; 4])).unwrap();
        let mut learner = ace(task.softmax(), critic, Lanes([1.0; 4]), Lanes([0.1; 4])).unwrap();
        learner.learn(Isa::best(), &steps).unwrap();
        learner
    };
    let calm = make([0.1; 4]);
    assert_eq!(calm.check(), Ok(()));
    let wild = make([0.1, 1e200, 0.1, 0.1]);
    let step = wild.diverged(1).unwrap();
    assert_eq!(
        wild.check().unwrap_err().to_string(),
        format!("the learner in lane 1 diverged at step {step}: its weights are no longer finite")
    );
    for lane in [0, 2, 3] {
        assert_eq!(outcome(&wild, lane), outcome(&calm, lane));
    }
    // It is that step exactly: one step fewer, and all is finite.
    let critic = Gtd::new(task.critic().clone(), 1e200, 0.0, 0.0).unwrap();
    let mut alone = ace(task.softmax(), critic, 1.0, 0.1).unwrap();
    alone.learn(Isa::Plain, &steps[..step as usize - 1]).unwrap();
    assert!(
        alone.check().is_ok()
            && alone.weights().iter().chain(&alone.critic().weights()).all(|w| w.is_finite())
    );
    alone.step(&steps[step as usize - 1]).unwrap();
    assert_eq!(alone.diverged(0), Some(step));
    assert!(alone.weights().iter().chain(&alone.critic().weights()).all(|w| w.is_nan()));
}

/// Once a learner whose weights were finite counted as diverged, since their sum was not.
#[test]
fn finite_weights_whose_sum_overflows_have_not_diverged() {
    let step = Step {
        state: [1.0, 1.0],
        action: 0,
        mu: 0.5,
        reward: 1.5e308,
        next: [0.0, 0.0],
        gamma: 0.0,
        gamma_next: 0.0,
        interest: 0.0,
    };
    let dense = || Features::dense(2);
    let critic = Gtd::new(dense(), 2.0, 0.0, 0.0).unwrap();
    let mut learner = off_pac(Softmax { features: dense(), actions: 2 }, critic, 0.0).unwrap();
    learner.step(&step).unwrap();
    assert_eq!((learner.critic().weights(), learner.check()), (vec![1.5e308; 2], Ok(())));
}

/// Two lanes that trace the same state, one of which forgets it; then δ overflows in a state without features.
#[test]
fn a_step_that_overflows_counts_the_same_whether_or_not_another_lane_traces_something() {
    let features =
        Features::from(Table::new(2, &[vec![(0, 1.0)], vec![], vec![(0, 1e200), (1, 1e200)]]).unwrap());
    let step = |state, reward, next, gamma, gamma_next| Step {
        state,
        action: 0,
        mu: 0.5,
        reward,
        next,
        gamma,
        gamma_next,
        interest: 1.0,
    };
    let steps = [step(0, 1e150, 1, 0.0, 0.9), step(1, 0.0, 2, 0.9, 0.9), step(2, 0.0, 1, 0.9, 0.0)];
    let learned = |learner: &mut dyn FnMut(&Step<usize, usize>)| steps.iter().for_each(learner);
    let policy = || Softmax { features: features.clone(), actions: 2 };
    let mut both = {
        let critic = Gtd::new(features.clone(), Lanes([1e-10; 2]), Lanes([0.0; 2]), Lanes([0.0, 0.9]));
        off_pac(policy(), critic.unwrap(), Lanes([1e-300; 2])).unwrap()
    };
    learned(&mut |step| _ = both.step(step).unwrap());
    for (lane, lambda) in [0.0, 0.9].into_iter().enumerate() {
        let critic = Gtd::new(features.clone(), 1e-10, 0.0, lambda).unwrap();
        let mut alone = off_pac(policy(), critic, 1e-300).unwrap();
        learned(&mut |step| _ = alone.step(step).unwrap());
        assert_eq!(outcome(&both, lane), outcome(&alone, 0));
        assert_eq!(alone.diverged(0), Some(2));
    }
}

/// Learns step by step.
fn go_on<R: Real, L: Learner<R>>(mut learner: L, steps: &[Experience]) -> L {
    steps.iter().for_each(|step| _ = learner.step(step).unwrap());
    learner
}

/// Half-way each of four learners leaves its lane, and goes on alone.
macro_rules! leaves_its_lane {
    ($name:ident, $steps:expr, |$R:ident, $first:ident| $make:expr) => {
        #[test]
        fn $name() {
            let steps: Vec<_> = $steps;
            let (early, late) = steps.split_at(steps.len() / 2);
            for block in (0..SETTINGS).step_by(4) {
                let state = {
                    type $R = Lanes<4>;
                    let $first = block;
                    go_on($make, early).state()
                };
                type $R = f64;
                for lane in 0..4 {
                    let $first = block + lane;
                    let mut left = $make;
                    left.restore(&state.lane(lane)).unwrap();
                    let (left, alone) = (go_on(left, late), go_on($make, &steps));
                    assert_eq!(outcome(&left, 0), outcome(&alone, 0), "setting {}", block + lane);
                }
            }
        }
    };
}

leaves_its_lane!(ace_leaves_its_lane, endless().stream(3, 0).take(3000).collect(), |R, first| ace(
    endless().softmax(),
    gtd::<R>(endless().actor(), first),
    lambda::<R>(first),
    alpha::<R>(first)
)
.unwrap());

leaves_its_lane!(some_actions_leave_their_lane, steps(&varied()), |R, first| {
    let values = gtd::<R>(varied().actor(), first);
    let critic = Advantage::new(varied().actor().clone(), 5, alpha_v(first + 1), values).unwrap();
    let learner = AllActions::new(varied().softmax(), critic, follow_on::<R>(first), alpha(first)).unwrap();
    learner.with_subset(2, 7, 0).unwrap()
});

leaves_its_lane!(action_values_leave_their_lane, steps(&varied()), |R, first| {
    let values = gtd::<R>(varied().actor(), first);
    let (alpha_q, lambda_q) = (alpha_v(first + 1), lambda(first));
    let critic = Gq::new(varied().actor().clone(), 5, alpha_q, R::splat(0.01), lambda_q, values).unwrap();
    AllActions::new(varied().softmax(), critic, NoEmphasis, alpha::<R>(first)).unwrap()
});

leaves_its_lane!(
    a_compatible_critic_leaves_its_lane,
    continuous().stream(3, 0).take(400).collect::<Vec<_>>(),
    |R, first| {
        let critic = Compatible::new(
            Table::aliased(&[0, 1, 2]),
            alpha_v::<R>(first),
            alpha_v(first + 1),
            R::splat(0.01),
        );
        dpg(continuous().deterministic(), critic.unwrap(), alpha(first)).unwrap()
    }
);

#[test]
fn a_state_of_another_learner_is_refused() {
    let learner = |task: Arc<Task>| ace(task.softmax(), gtd::<f64>(task.critic(), 0), 1.0, 0.1).unwrap();
    let error = learner(three()).restore(&learner(eleven()).state()).unwrap_err();
    assert_eq!(error.to_string(), "`weights` has 20 numbers; this learner's has 4");
}

/// Once 0 · ∞ made NaN of it when the follow-on trace overflowed.
#[test]
fn ace_without_emphasis_is_off_pac_for_ever() {
    let step = |gamma| Step {
        state: 0,
        action: 0,
        mu: 0.25,
        reward: 0.0,
        next: 0,
        gamma,
        gamma_next: 1.0,
        interest: 1.0,
    };
    let gtd = || Gtd::new(Table::aliased(&[0]), 0.1, 0.1, 0.0).unwrap();
    let policy = Softmax { features: Table::aliased(&[0]).into(), actions: 2 };
    let mut without = ace(policy.clone(), gtd(), 0.0, 0.1).unwrap();
    let mut off_pac = off_pac(policy, gtd(), 0.1).unwrap();
    for t in 0..3000 {
        let step = step(if t == 0 { 0.0 } else { 1.0 });
        assert_eq!(without.step(&step), off_pac.step(&step));
    }
    assert_eq!(without.check(), Ok(()));
}
