//! The determinism contract: a learner's bits do not depend on lanes, instruction set, or being interrupted.
//!
//! `catalogue` checks this for every part. Here are settings, features and streams in which lanes once differed, or could: traces that
//! some lanes forget and others do not, weights that overflow late, many features at once.

use crate::every_learner::{self, step};
use crate::recipe_case::{Case, outcome};
use emphatic::catalogue::{Role, Signal};
use emphatic::{
    Action, Built, Catalogue, Composable, ComposeError, ContinuousCounterexample, Declaration, Declared,
    ExactCritic, Features, FollowOnAce, Gtd, Isa, KnownProblem, Lanes, Learner, PartBuilder, PartRecipe,
    Problem, Random, Range, Real, Recipe, RuleKind, SavedState, Softmax, State, Step, Subset, Table, Task,
    follow_on_ace, off_pac,
};
use std::marker::PhantomData;
use std::sync::Arc;

type Experience = Step<State<'static>, Action>;

/// The settings of learner `k`. Some step-sizes are so large that it diverges.
fn alpha(k: usize) -> f64 {
    [1e-3, 0.3, 0.02, 1e6][k % 4]
}

fn alpha_v(k: usize) -> f64 {
    [0.1, 0.03, 1.0, 0.5, 60.0][k % 5]
}

fn lambda(k: usize) -> f64 {
    [0.0, 0.4, 1.0][k % 3]
}

/// With the larger ones a critic diverges late: its weights grow until products of them overflow.
fn alpha_w(k: usize) -> f64 {
    [10.0, 0.01, 4.0][k / 2 % 3]
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

/// A task that never ends, in which states are left for so long that some lanes forget them and others do not.
fn endless() -> Task {
    let n = 40;
    let mut builder =
        Problem::builder().states((0..n).map(|s| format!("S{s}"))).actions(["on", "round"]).start(0, 1.0);
    for s in 0..n {
        // In circles among four states, with a small chance to go on to the next four.
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

/// Streams for learned critics, some of which diverge, each stream at another step. (Once the step depended on the other lanes.)
fn many(task: &Task) -> impl Iterator<Item = Vec<Experience>> {
    // Lanes differ most in what they trace where each feature belongs to one state.
    let streams = if task.critic().most_active() == 1 { 32 } else { 6 };
    (0..streams).map(|run| task.stream(3, run).take(1500).collect())
}

fn gtd(features: &Table, k: usize) -> PartRecipe {
    let part = PartRecipe::new("gtd").with("alpha_v", alpha_v(k)).with("alpha_w", alpha_w(k));
    part.with("lambda", lambda(k)).with_features(features)
}

fn exact() -> PartRecipe {
    PartRecipe::new("exact")
}

fn none() -> PartRecipe {
    PartRecipe::new("none")
}

fn follow_on(k: usize) -> PartRecipe {
    PartRecipe::new("follow-on").with("lambda_a", lambda(k))
}

/// Learners in a finite problem.
fn in_task(task: &Task, rule: RuleKind, critic: PartRecipe, emphasis: PartRecipe, k: usize) -> Recipe {
    let policy = PartRecipe::new("softmax").with_features(task.actor());
    Recipe::new(rule, policy, critic, emphasis, alpha(k)).with_actions(task.actions())
}

/// Learners of a real action.
fn in_continuous(policy: &str, critic: PartRecipe, emphasis: PartRecipe, k: usize) -> Recipe {
    let rule = if policy == "deterministic" { RuleKind::Deterministic } else { RuleKind::Taken };
    let policy = PartRecipe::new(policy).with_features(continuous().actor());
    Recipe::new(rule, policy, critic, emphasis, alpha(k))
}

fn same_bits(
    problem: KnownProblem,
    streams: impl IntoIterator<Item = Vec<Experience>>,
    recipe: impl Fn(usize) -> Recipe,
) {
    let recipes: Vec<Recipe> = (0..16).map(recipe).collect();
    for (run, steps) in streams.into_iter().enumerate() {
        let case = Case { name: format!("stream {run}"), problem: problem.clone(), steps };
        case.check(&recipes);
    }
}

/// [`same_bits`] of learners in a finite problem with this critic and this emphasis.
fn same_bits_in(
    task: &Arc<Task>,
    streams: impl IntoIterator<Item = Vec<Experience>>,
    rule: RuleKind,
    parts: impl Fn(usize) -> (PartRecipe, PartRecipe),
) {
    same_bits(KnownProblem::Finite(task.clone()), streams, |k| {
        let (critic, emphasis) = parts(k);
        in_task(task, rule, critic, emphasis, k)
    });
}

use RuleKind::{All, Taken};

#[test]
fn off_pac_with_gtd() {
    let task = varied();
    same_bits_in(&task, many(&task), Taken, |k| (gtd(task.actor(), k), none()));
}

#[test]
fn ace_with_gtd() {
    let task = three();
    same_bits_in(&task, many(&task), Taken, |k| (gtd(task.critic(), k), follow_on(k)));
}

#[test]
fn ace_with_gtd_and_several_features_at_once() {
    let task = varied();
    same_bits_in(&task, many(&task), Taken, |k| (gtd(task.actor(), k), follow_on(k)));
}

#[test]
fn ace_with_gtd_and_a_trace_that_forgets() {
    let task = Arc::new(endless());
    let steps: Vec<Experience> = task.stream(3, 0).take(3000).collect();
    same_bits(KnownProblem::Finite(task.clone()), [steps], |k| {
        let critic =
            PartRecipe::new("gtd").with("alpha_v", 0.05).with("alpha_w", 0.01).with("lambda", lambda(k));
        let emphasis = PartRecipe::new("follow-on").with("lambda_a", 0.1);
        let mut recipe = in_task(&task, Taken, critic.with_features(task.actor()), emphasis, k);
        recipe.alpha = 1e-3;
        recipe
    });
}

#[test]
fn exact_critics_and_emphases() {
    for task in [eleven(), varied()] {
        same_bits_in(&task, [steps(&task)], Taken, |k| (exact(), follow_on(k)));
        same_bits_in(&task, [steps(&task)], Taken, |_| (exact(), exact()));
        same_bits_in(&task, [steps(&task)], All, |k| (exact(), follow_on(k)));
    }
}

/// GQ(λ) with settings of its own.
fn gq(features: &Table, k: usize) -> PartRecipe {
    let part = PartRecipe::new("gq").with("alpha_q", alpha_v(k + 1)).with("alpha_h", alpha_w(k + 1));
    part.with("lambda_q", lambda(k + 1)).with_features(features).with_inner("values", gtd(features, k))
}

#[test]
fn all_actions_with_learned_values() {
    for task in [three(), varied()] {
        same_bits_in(&task, many(&task), All, |k| (gq(task.critic(), k), follow_on(k)));
    }
}

#[test]
fn some_actions_with_a_learned_advantage() {
    for task in [three(), varied()] {
        same_bits(KnownProblem::Finite(task.clone()), many(&task), |k| {
            let critic = PartRecipe::new("advantage").with("alpha_u", alpha_v(k + 1));
            let critic = critic.with_features(task.critic()).with_inner("values", gtd(task.critic(), k));
            in_task(&task, All, critic, none(), k).with_subset(Subset { count: 2, seed: 7, run: 0 })
        });
    }
}

fn continuous_steps() -> Vec<Experience> {
    continuous().stream(3, 0).take(120).collect()
}

fn many_continuous() -> impl Iterator<Item = Vec<Experience>> {
    (0..6).map(|run| continuous().stream(3, run).take(1500).collect())
}

#[test]
fn gaussian_policies() {
    let known = || KnownProblem::Continuous(continuous());
    same_bits(known(), many_continuous(), |k| {
        in_continuous("gaussian", gtd(&Table::one_hot(3), k), follow_on(k), k)
    });
    same_bits(known(), [continuous_steps()], |k| in_continuous("gaussian", exact(), follow_on(k), k));
    same_bits(known(), [continuous_steps()], |k| in_continuous("gaussian", exact(), exact(), k));
}

#[test]
fn deterministic_policies() {
    let known = || KnownProblem::Continuous(continuous());
    let features = Table::dense(&[vec![1.0, 0.3], vec![0.5, -1.2], vec![-0.4, 0.7]]).unwrap();
    same_bits(known(), many_continuous(), |k| {
        let critic =
            PartRecipe::new("compatible").with("alpha_v", alpha_v(k)).with("alpha_u", alpha_v(k + 1));
        let critic = critic.with("alpha_h", 0.01).with_features(&features);
        let mut recipe = in_continuous("deterministic", critic, none(), k);
        recipe.policy = recipe.policy.with_features(&features);
        recipe
    });
    same_bits(known(), [continuous_steps()], |k| in_continuous("deterministic", exact(), none(), k));
    same_bits(known(), [continuous_steps()], |k| in_continuous("deterministic", exact(), exact(), k));
}

/// States as vectors and as lists of active features, with traces of both kinds.
#[test]
fn vectors_and_lists_of_active_features() {
    let mut random = Random::new(4, 0);
    let vectors: Vec<[f64; 4]> = (0..300).map(|_| [(); 4].map(|()| 2.0 * random.uniform() - 1.0)).collect();
    let lists: Vec<[usize; 2]> = (0..300).map(|_| [random.below(4), 4 + random.below(4)]).collect();
    let seen: [(Features, Vec<State>); 2] = [
        (Features::dense(4), vectors.iter().map(|x| State::Vector(x)).collect()),
        (Features::active(8, 2), lists.iter().map(|x| State::Active(x)).collect()),
    ];
    for (features, states) in seen {
        let steps: Vec<Step<State, Action>> = states
            .windows(2)
            .enumerate()
            .map(|(t, pair)| {
                let between = step(pair[0], Action::Number(random.below(3)), pair[1]);
                let gamma = if t % 40 == 0 { 0.0 } else { 0.9 };
                let gamma_next = if t % 40 == 39 { 0.0 } else { 0.9 };
                Step { mu: 1.0 / 3.0, reward: random.normal(), gamma, gamma_next, ..between }
            })
            .collect();
        for critic in ["gtd", "gq"] {
            let recipe = |k: usize| {
                let values = gtd(&Table::one_hot(1), k).with_features(features.clone());
                let (rule, critic) = match critic {
                    "gtd" => (Taken, values),
                    _ => (
                        All,
                        gq(&Table::one_hot(1), k)
                            .with_features(features.clone())
                            .with_inner("values", values),
                    ),
                };
                let policy = PartRecipe::new("softmax").with_features(features.clone());
                Recipe::new(rule, policy, critic, follow_on(k), alpha(k)).with_actions(3)
            };
            let (name, problem) = (format!("{features:?} {critic}"), KnownProblem::Finite(three()));
            let case = Case { name, problem, steps: steps.clone() };
            case.check(&(0..16).map(recipe).collect::<Vec<_>>());
        }
    }
}

/// ACE(1) with these step-sizes of its critic, one in each lane, after some steps.
fn with_step_sizes<R: Composable>(case: &Case, task: &Task, alpha_v: [f64; 4]) -> Box<dyn Learner<R>> {
    let recipes = alpha_v.map(|alpha_v| {
        let critic = PartRecipe::new("gtd").with("alpha_v", alpha_v).with("alpha_w", 0.0);
        let emphasis = PartRecipe::new("follow-on").with("lambda_a", 1.0);
        let mut recipe = in_task(task, Taken, critic.with_features(task.critic()), emphasis, 0);
        recipe.alpha = 0.1;
        recipe
    });
    let mut learner = case.compose::<R>(&recipes.each_ref(), Isa::best());
    learner.learn(Isa::best(), &case.steps).unwrap();
    learner
}

fn leaves_its_neighbours_alone<R: Composable>() {
    let task = three();
    let steps = steps(&task);
    let problem = KnownProblem::Finite(task.clone());
    let case = Case { name: "diverging".to_owned(), problem, steps: steps.clone() };
    let mut calm = with_step_sizes::<R>(&case, &task, [0.1; 4]);
    assert_eq!(calm.check(), Ok(()));
    let mut wild = with_step_sizes::<R>(&case, &task, [0.1, 1e200, 0.1, 0.1]);
    let step = wild.diverged(1).unwrap();
    assert_eq!(
        wild.check().unwrap_err().to_string(),
        format!("the learner in lane 1 diverged at step {step}: its weights are no longer finite")
    );
    for lane in [0, 2, 3] {
        assert_eq!(outcome(&mut *wild, lane), outcome(&mut *calm, lane));
    }
    // It is that step exactly: one step fewer, and all is finite.
    let critic = every_learner::gtd(task.critic(), 1e200, 0.0, 0.0);
    let mut alone = follow_on_ace(task.softmax(), critic).lambda_a(1.0).alpha(0.1).build().unwrap();
    alone.learn(Isa::Plain, &steps[..step as usize - 1]).unwrap();
    let all = |learner: &FollowOnAce<_, _, Gtd>, is: fn(f64) -> bool| {
        learner.weights().iter().chain(&learner.critic().weights()).all(|w| is(*w))
    };
    assert!(alone.check().is_ok() && all(&alone, f64::is_finite));
    alone.step(&steps[step as usize - 1]).unwrap();
    assert_eq!(alone.diverged(0), Some(step));
    assert!(all(&alone, f64::is_nan));
}

#[test]
fn a_diverged_lane_says_when_and_leaves_its_neighbours_alone() {
    leaves_its_neighbours_alone::<Lanes<16>>();
}

/// Once a learner whose weights were finite counted as diverged, since their sum was not.
#[test]
fn finite_weights_whose_sum_overflows_have_not_diverged() {
    let step = Step { reward: 1.5e308, gamma_next: 0.0, interest: 0.0, ..step([1.0, 1.0], 0, [0.0, 0.0]) };
    let dense = || Features::dense(2);
    let critic = every_learner::gtd(dense(), 2.0, 0.0, 0.0);
    let mut learner = off_pac(Softmax { features: dense(), actions: 2 }, critic).alpha(0.0).build().unwrap();
    learner.step(&step).unwrap();
    assert_eq!((learner.critic().weights(), learner.check()), (vec![1.5e308; 2], Ok(())));
}

/// Two lanes that trace the same state, one of which forgets it; then δ overflows in a state without features.
#[test]
fn a_step_that_overflows_counts_the_same_whether_or_not_another_lane_traces_something() {
    let features =
        Features::from(Table::new(2, &[vec![(0, 1.0)], vec![], vec![(0, 1e200), (1, 1e200)]]).unwrap());
    let steps = [
        Step { reward: 1e150, ..step(0, 0, 1) },
        Step { reward: 0.0, gamma: 0.9, ..step(1, 0, 2) },
        Step { reward: 0.0, gamma: 0.9, gamma_next: 0.0, ..step(2, 0, 1) },
    ];
    let steps: Vec<_> = steps.iter().map(Step::view).collect();
    let recipe = |lambda: f64| {
        let critic =
            PartRecipe::new("gtd").with("alpha_v", 1e-10).with("alpha_w", 0.0).with("lambda", lambda);
        let policy = PartRecipe::new("softmax").with_features(features.clone());
        let critic = critic.with_features(features.clone());
        Recipe::new(Taken, policy, critic, none(), 1e-300).with_actions(2)
    };
    let recipes = [recipe(0.0), recipe(0.9)];
    let case = Case { name: "overflowing".to_owned(), problem: KnownProblem::Finite(three()), steps };
    fn learned<R: Composable>(case: &Case, recipes: &[&Recipe]) -> Box<dyn Learner<R>> {
        let mut learner = case.compose::<R>(recipes, Isa::best());
        case.steps.iter().for_each(|step| _ = learner.update(step).unwrap());
        learner
    }
    let mut sixteen = learned::<Lanes<16>>(&case, &recipes.each_ref());
    for (lane, recipe) in recipes.iter().enumerate() {
        let alone = outcome(&mut *learned::<f64>(&case, &[recipe]), 0);
        assert_eq!(outcome(&mut *sixteen, lane), alone);
        assert_eq!(alone.0, Some(2));
    }
}

/// The same where α δ overflows, but not δ: once an actor's trace of zero made NaN of it in lanes.
#[test]
fn an_actors_trace_that_overflows_counts_the_same_whether_or_not_another_lane_traces_something() {
    let features = Features::from(Table::new(1, &[vec![(0, 1.0)], vec![]]).unwrap());
    let steps = [step(0, 0, 1), Step { reward: 1e300, gamma: 0.9, gamma_next: 0.0, ..step(1, 0, 1) }];
    let steps: Vec<_> = steps.iter().map(Step::view).collect();
    let recipes = [0.0, 0.9].map(|lambda| {
        let critic = PartRecipe::new("gtd").with("alpha_v", 1e-10).with("alpha_w", 0.0);
        let policy = PartRecipe::new("softmax").with_features(features.clone());
        let recipe = Recipe::new(Taken, policy, critic.with_features(features.clone()), none(), 1e10);
        recipe.with_actions(2).with_actor(PartRecipe::new("trace").with("lambda", lambda))
    });
    let case = Case { name: "overflowing".to_owned(), problem: KnownProblem::Finite(three()), steps };
    assert!(case.check(&recipes));
    for (recipe, diverged) in recipes.iter().zip([None, Some(2)]) {
        let mut alone = case.compose::<f64>(&[recipe], Isa::Plain);
        alone.learn(Isa::Plain, &case.steps).unwrap();
        assert_eq!(alone.diverged(0), diverged);
    }
}

/// Once a learner without second weights had none to save, but beside one that had them it did: neither could be restored to the other.
#[test]
fn gradients_that_are_learned_with_and_without_second_weights() {
    let task = three();
    for (rule, critic, actor) in
        [(Taken, gtd(task.critic(), 1), "gradient-values"), (All, exact(), "gradient-critic")]
    {
        same_bits(KnownProblem::Finite(task.clone()), [steps(&task)], |k| {
            let actor = PartRecipe::new(actor).with("alpha_g", 0.1).with("eta", [0.0, 1.0][k % 2]);
            in_task(&task, rule, critic.clone(), none(), k / 2).with_actor(actor.with_features(task.critic()))
        });
    }
}

/// An actor beside a critic that diverges in one lane.
#[test]
fn a_diverged_lane_leaves_the_actors_of_its_neighbours_alone() {
    let task = three();
    for actor in Catalogue::standard().of(Role::Actor) {
        let recipe = |step_size: f64| {
            let (rule, critic) = match actor.signals {
                [Signal::Delta] => (Taken, gtd(task.critic(), 1).with("alpha_v", step_size)),
                _ => (All, gq(task.critic(), 1).with("alpha_q", step_size)),
            };
            let mut part = PartRecipe::new(actor.name);
            for setting in actor.settings {
                part = part.with(setting.name, if setting.range == Range::Count { 3.0 } else { 0.25 });
            }
            if actor.features {
                part = part.with_features(task.critic());
            }
            in_task(&task, rule, critic, none(), 2).with_actor(part)
        };
        let (name, problem) = (actor.name.to_owned(), KnownProblem::Finite(task.clone()));
        let case = Case { name, problem, steps: task.stream(3, 0).take(60).collect() };
        let [mut calm, mut wild] = [0.1, 1e200].map(|step_size| {
            let recipes = [recipe(0.1), recipe(step_size), recipe(0.2)];
            let mut learner = case.compose::<Lanes<16>>(&recipes.each_ref(), Isa::best());
            learner.learn(Isa::best(), &case.steps).unwrap();
            learner
        });
        assert_eq!(calm.check(), Ok(()), "{}", case.name);
        assert!(wild.diverged(1).is_some(), "{}", case.name);
        assert!(wild.weights().iter().all(|w| w.lane(1).is_nan()), "{}", case.name);
        for lane in [0, 2] {
            assert_eq!(outcome(&mut *wild, lane), outcome(&mut *calm, lane), "{}", case.name);
        }
    }
}

/// Once 0 · ∞ made NaN of it when the follow-on trace overflowed.
#[test]
fn ace_without_emphasis_is_off_pac_for_ever() {
    let first = Step { mu: 0.25, reward: 0.0, gamma_next: 1.0, ..step(0, 0, 0) };
    let gtd = || every_learner::gtd(Table::aliased(&[0]), 0.1, 0.1, 0.0);
    let policy = Softmax { features: Table::aliased(&[0]).into(), actions: 2 };
    let mut without = follow_on_ace(policy.clone(), gtd()).lambda_a(0.0).alpha(0.1).build().unwrap();
    let mut off_pac = off_pac(policy, gtd()).alpha(0.1).build().unwrap();
    for t in 0..3000 {
        let step = Step { gamma: if t == 0 { 0.0 } else { 1.0 }, ..first };
        assert_eq!(without.step(&step), off_pac.step(&step));
    }
    assert_eq!(without.check(), Ok(()));
}

/// The same part under another type: there is no fused loop for it.
struct Boxed<T>(PhantomData<T>);

impl<T: Declared> Declared for Boxed<T> {
    const DECLARATION: Declaration = T::DECLARATION;

    fn build<R: Real>(with: &PartBuilder<R>) -> Result<Built<R>, ComposeError> {
        T::build(with)
    }
}

#[test]
fn fused_and_boxed_learners_have_the_same_bits_and_the_same_tensors() {
    fn learned<R: Composable>(catalogue: &Catalogue, task: &Arc<Task>, recipe: &Recipe) -> SavedState {
        let problems = [KnownProblem::Finite(task.clone())];
        let mut learner = R::compose(catalogue, &[recipe], &problems, Isa::best()).unwrap();
        learner.learn(Isa::best(), &task.stream(5, 0).take(1000).collect::<Vec<_>>()).unwrap();
        learner.state().unwrap()
    }
    let task = Arc::new(Task::long_counterexample(3));
    let boxed = Catalogue::standard().clone().with::<Boxed<Gtd>>().with::<Boxed<ExactCritic>>();
    let gtd = PartRecipe::new("gtd").with("alpha_v", 0.1).with("alpha_w", 0.01).with("lambda", 0.5);
    for critic in [gtd.with_features(task.critic()), exact()] {
        for emphasis in [none(), PartRecipe::new("follow-on").with("lambda_a", 0.7), exact()] {
            let mut recipe = in_task(&task, Taken, critic.clone(), emphasis, 0);
            recipe.alpha = 0.1;
            let [fused, plain] = [Catalogue::standard(), &boxed].map(|c| learned::<f64>(c, &task, &recipe));
            assert_eq!(fused, plain);
            let [fused, plain] =
                [Catalogue::standard(), &boxed].map(|c| learned::<Lanes<16>>(c, &task, &recipe));
            assert_eq!(fused, plain);
        }
    }
}
