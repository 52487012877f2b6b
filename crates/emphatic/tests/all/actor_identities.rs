//! What actors have in common with other learners, and with the exact theory.

use crate::recipe_case::numbers;
use emphatic::{
    Action, Catalogue, Composable, ContinuousCounterexample, Dual, Exact, Features, Isa, KnownProblem,
    Learner, Numbers, PartRecipe, Random, Real, Recipe, RuleKind, SavedState, State, Step, Table, Task,
};
use std::sync::Arc;

/// The counterexamples, and some random problems: aliased and dense features of the policy, discounts and interests of all kinds.
fn tasks() -> Vec<Arc<Task>> {
    let random = (0..6).map(|run| Task::random(&mut Random::new(21, run)));
    [Task::counterexample(), Task::long_counterexample(2)].into_iter().chain(random).map(Arc::new).collect()
}

fn recipe(task: &Task, rule: RuleKind, critic: PartRecipe, emphasis: PartRecipe) -> Recipe {
    let policy = PartRecipe::new("softmax").with_features(task.actor());
    Recipe::new(rule, policy, critic, emphasis, 0.05).with_actions(task.actions())
}

fn gtd(features: impl Into<Features>) -> PartRecipe {
    PartRecipe::new("gtd")
        .with("alpha_v", 0.05)
        .with("alpha_w", 0.01)
        .with("lambda", 0.4)
        .with_features(features)
}

fn follow_on(lambda_a: f64) -> PartRecipe {
    PartRecipe::new("follow-on").with("lambda_a", lambda_a)
}

fn none() -> PartRecipe {
    PartRecipe::new("none")
}

fn compose(recipe: &Recipe, problem: &KnownProblem) -> Box<dyn Learner<f64>> {
    f64::compose(Catalogue::standard(), &[recipe], std::slice::from_ref(problem), Isa::Plain).unwrap()
}

/// Checks that two learners have the same weights after every step, and that they learn.
fn same(one: &Recipe, other: &Recipe, problem: &KnownProblem, steps: &[Step<State, Action>]) {
    let [mut one, mut other] = [one, other].map(|recipe| compose(recipe, problem));
    let first = one.weights().to_vec();
    for (t, step) in steps.iter().enumerate() {
        one.update(step).unwrap();
        other.update(step).unwrap();
        for (x, y) in one.weights().iter().zip(other.weights()) {
            assert!((x - y).abs() <= 1e-12 * y.abs().max(1.0), "step {t}: {x} {y}");
        }
    }
    assert_ne!(one.weights(), first);
}

fn steps(task: &Task) -> Vec<Step<State<'_>, Action>> {
    task.stream(5, 0).take(300).collect()
}

#[test]
fn a_trace_of_zero_is_the_actor_without_one() {
    let trace = PartRecipe::new("trace").with("lambda", 0.0);
    for task in tasks() {
        let problem = KnownProblem::Finite(task.clone());
        for emphasis in [none(), follow_on(0.3)] {
            let plain = recipe(&task, RuleKind::Taken, gtd(Table::one_hot(task.states())), emphasis);
            same(&plain.clone().with_actor(trace.clone()), &plain, &problem, &steps(&task));
        }
    }
}

/// With a feature for each state, ĉ is 1 where γ̂ is 0.
#[test]
fn geoff_pac_without_a_counterfactual_is_ace() {
    let geoff_pac = |lambda_1: f64, features: Table| {
        let actor = PartRecipe::new("geoff-pac").with("gamma_hat", 0.0).with("lambda_1", lambda_1);
        actor.with("alpha_c", 0.3).with_features(features)
    };
    for lambda_a in [0.0, 0.3, 1.0] {
        for task in tasks() {
            let problem = KnownProblem::Finite(task.clone());
            let features = Table::one_hot(task.states());
            let with = |emphasis| recipe(&task, RuleKind::Taken, gtd(features.clone()), emphasis);
            let own = with(none()).with_actor(geoff_pac(lambda_a, features.clone()));
            same(&own, &with(follow_on(lambda_a)), &problem, &steps(&task));
        }
        let continuous = Arc::new(ContinuousCounterexample::default());
        let steps: Vec<_> = continuous.stream(5, 0).take(300).collect();
        let with = |emphasis| {
            let policy = PartRecipe::new("gaussian").with_features(continuous.actor());
            Recipe::new(RuleKind::Taken, policy, gtd(Table::one_hot(3)), emphasis, 0.05)
        };
        let own = with(none()).with_actor(geoff_pac(lambda_a, Table::one_hot(3)));
        same(&own, &with(follow_on(lambda_a)), &KnownProblem::Continuous(continuous.clone()), &steps);
    }
}

#[test]
fn a_gradient_critic_without_a_share_is_the_learner_from_all_actions() {
    for task in tasks() {
        let problem = KnownProblem::Finite(task.clone());
        let features = Table::one_hot(task.states());
        let tdrc = PartRecipe::new("expected-tdrc").with("alpha_q", 0.05).with_features(&features);
        for critic in [PartRecipe::new("exact"), tdrc] {
            let plain = recipe(&task, RuleKind::All, critic, follow_on(0.3));
            let actor = PartRecipe::new("gradient-critic").with("alpha_g", 0.1).with("lambda_a", 0.0);
            let own = plain.clone().with_actor(actor.with_features(&features));
            same(&own, &plain, &problem, &steps(&task));
        }
    }
}

/// Weights of the policy, not all alike.
fn weights(task: &Task) -> Vec<f64> {
    (0..task.softmax().features.len() * task.actions()).map(|k| 0.4 * ((k * 7 % 5) as f64 - 2.0)).collect()
}

/// ∂v_π/∂θ and ∂q_π/∂θ by dual numbers: a row for each state, or for each state and action.
fn slopes(task: &Task, weights: &[f64]) -> [Vec<f64>; 2] {
    let (states, actions, width) = (task.states(), task.actions(), weights.len());
    let (mut of_v, mut of_q) = (vec![0.0; states * width], vec![0.0; states * actions * width]);
    for k in 0..width {
        let mut dual: Vec<Dual> = weights.iter().map(|w| Dual::splat(*w)).collect();
        dual[k] = Dual::variable(weights[k], 0);
        let policy = task.softmax();
        let exact = Exact::new(task, &policy, &dual).unwrap();
        for (s, (v, q)) in exact.values().iter().zip(exact.action_values()).enumerate() {
            of_v[s * width + k] = v.slope.0[0];
            q.iter().enumerate().for_each(|(a, q)| of_q[(s * actions + a) * width + k] = q.slope.0[0]);
        }
    }
    [of_v, of_q]
}

/// Once exact parts were told of the weights of S_t alone, but actors change those of other states too.
#[test]
fn an_exact_critic_knows_of_every_weight_that_an_actor_changes() {
    let task = Arc::new(Task::long_counterexample(2));
    let features = Table::one_hot(task.states());
    let learned = |kind: &str| PartRecipe::new(kind).with_features(&features);
    let actors = [
        (RuleKind::Taken, PartRecipe::new("trace").with("lambda", 1.0)),
        (RuleKind::Taken, learned("gradient-values").with("alpha_g", 0.2)),
        (RuleKind::Taken, learned("geoff-pac").with("gamma_hat", 0.5).with("alpha_c", 0.2)),
        (RuleKind::All, learned("gradient-critic").with("alpha_g", 0.2)),
        (RuleKind::All, learned("model-gradient")),
    ];
    for (rule, actor) in actors {
        let kind = actor.kind.clone();
        let recipe = recipe(&task, rule, PartRecipe::new("exact"), none()).with_actor(actor);
        let mut learner = compose(&recipe, &KnownProblem::Finite(task.clone()));
        for (t, step) in steps(&task).iter().enumerate() {
            let policy = task.softmax();
            let exact = Exact::new(&*task, &policy, learner.weights()).unwrap();
            let (State::Number(s), State::Number(next), Action::Number(a)) =
                (step.state, step.next, step.action)
            else {
                panic!("{step:?}")
            };
            let v = exact.values();
            let right = match rule {
                RuleKind::Taken => step.reward + step.gamma_next * v[next] - v[s],
                _ => exact.advantages()[s][a],
            };
            let got = learner.update(step).unwrap().delta;
            assert!((got - right).abs() < 1e-12 * right.abs().max(1.0), "{kind}, step {t}: {got} {right}");
        }
    }
}

/// The expected changes of θ and of G in one step, over all transitions of a problem, and how much G changes in a step at all.
fn expected_changes(
    task: &Task,
    learner: &mut dyn Learner<f64>,
    state: &SavedState,
) -> (Vec<f64>, Vec<f64>, f64) {
    learner.restore(state).unwrap();
    let before = [learner.weights().to_vec(), numbers(learner, "actor.g")];
    let mut expected = before.clone().map(|x| vec![0.0; x.len()]);
    let mut largest: f64 = 0.0;
    for s in 0..task.states() {
        for (a, mu) in task.behaviour(s).iter().enumerate() {
            for transition in task.problem().transitions(s, a) {
                let share = task.stationary()[s] * mu * transition.probability;
                learner.restore(state).unwrap();
                let step = Step {
                    state: State::Number(s),
                    action: Action::Number(a),
                    mu: *mu,
                    reward: transition.reward,
                    next: State::Number(transition.next),
                    gamma: 0.5,
                    gamma_next: transition.gamma,
                    interest: task.interest()[s],
                };
                learner.update(&step).unwrap();
                let after = [learner.weights().to_vec(), numbers(learner, "actor.g")];
                for ((sum, after), before) in expected.iter_mut().zip(after).zip(&before) {
                    for ((sum, after), before) in sum.iter_mut().zip(after).zip(before) {
                        *sum += share * (after - before);
                    }
                }
                let moved = numbers(learner, "actor.g").into_iter().zip(&before[1]);
                largest = moved.fold(largest, |largest, (x, y)| largest.max((x - y).abs()));
            }
        }
    }
    let [of_weights, of_g] = expected;
    (of_weights, of_g, largest)
}

/// At ∇v_π or ∇q_π nothing more is learned on average, and the policy follows the gradient of the theorem.
#[test]
fn learned_gradients_are_the_theorems_where_they_are_learned() {
    for task in tasks() {
        let (weights, problem) = (weights(&task), KnownProblem::Finite(task.clone()));
        let policy = task.softmax();
        let theorem = Exact::new(&*task, &policy, &weights).unwrap().gradient(1.0);
        let scale = theorem.iter().fold(1.0, |largest: f64, x| largest.max(x.abs()));
        let [of_v, of_q] = slopes(&task, &weights);
        let kinds = [(RuleKind::Taken, "gradient-values", of_v), (RuleKind::All, "gradient-critic", of_q)];
        for (rule, actor, slopes) in kinds {
            for eta in [0.0, 1.0] {
                let part = PartRecipe::new(actor).with("alpha_g", 1.0).with("eta", eta);
                let part = part.with_features(Table::one_hot(task.states()));
                let mut recipe = recipe(&task, rule, PartRecipe::new("exact"), none()).with_actor(part);
                recipe.alpha = task.actor().most_active() as f64; // by which it is divided
                let mut learner = compose(&recipe, &problem);
                learner.set_weights(weights.clone()).unwrap();
                let zero = learner.state().unwrap();
                let mut tensors = zero.clone().into_tensors();
                tensors.remove("actor.g");
                tensors.insert("actor.g", Numbers::Real(slopes.clone()));
                let solved = SavedState::without_settings(tensors);

                let (followed, learned, largest) = expected_changes(&task, &mut *learner, &solved);
                let bound = 1e-8 * scale.max(largest);
                assert!(learned.iter().all(|g| g.abs() < bound), "{actor}: {learned:?}");
                for (x, y) in followed.iter().zip(&theorem) {
                    assert!((x - y).abs() < 1e-8 * scale, "{actor}: {followed:?} {theorem:?}");
                }
                // Elsewhere something is learned.
                let (_, learned, _) = expected_changes(&task, &mut *learner, &zero);
                assert!(learned.iter().any(|g| g.abs() > 1e-6), "{actor}: {learned:?}");
            }
        }
    }
}

/// The transitions of the counterexamples are deterministic, so that a model is exact once every action was seen in every state.
#[test]
fn a_model_gradient_is_the_gradient_of_the_values_but_for_the_ridge() {
    for task in [Task::counterexample(), Task::long_counterexample(2)].map(Arc::new) {
        let part = PartRecipe::new("model-gradient").with_features(Table::one_hot(task.states()));
        let mut recipe = recipe(&task, RuleKind::All, PartRecipe::new("exact"), none()).with_actor(part);
        recipe.alpha = 0.0;
        let mut learner = compose(&recipe, &KnownProblem::Finite(task.clone()));
        let weights = weights(&task);
        learner.set_weights(weights.clone()).unwrap();
        let [right, _] = slopes(&task, &weights);
        let largest = right.iter().fold(0.0, |largest: f64, x| largest.max(x.abs()));
        let error = |learner: &mut dyn Learner<f64>| {
            let got = numbers(learner, "actor.g");
            assert_eq!(got.len(), right.len());
            got.iter().zip(&right).fold(0.0, |error: f64, (x, y)| error.max((x - y).abs())) / largest
        };
        let mut stream = task.stream(5, 0);
        let mut after = |learner: &mut dyn Learner<f64>, steps: usize| {
            stream.by_ref().take(steps).for_each(|step| _ = learner.update(&step).unwrap());
            let fewest = numbers(learner, "actor.visits").into_iter().fold(f64::INFINITY, f64::min);
            // The ridge of 10⁻³ beside the visits of a state, once for each step to the end of an episode.
            (error(learner), 1e-3 * task.states() as f64 / fewest)
        };
        let (early, bound) = after(&mut *learner, 2_000);
        assert!(early < bound && bound < 1e-2, "{early} {bound}");
        let (late, bound) = after(&mut *learner, 20_000);
        assert!(late < bound && late < 0.3 * early, "{late} {bound} {early}");
    }
}

/// Regression: the gradient was solved for from values of the episode before.
#[test]
fn the_model_gradient_is_that_of_the_values_now() {
    let task = Arc::new(Task::counterexample());
    let states = || Table::one_hot(task.states());
    let critic = PartRecipe::new("lstd-q").with_features(states());
    let actor = PartRecipe::new("model-gradient").with_features(states());
    let recipe = recipe(&task, RuleKind::All, critic, none()).with_actor(actor);
    let mut learner = compose(&recipe, &KnownProblem::Finite(task.clone()));
    let is_zero =
        |learner: &mut Box<dyn Learner<f64>>, name| numbers(&mut **learner, name).iter().all(|x| *x == 0.0);
    for step in steps(&task) {
        learner.update(&step).unwrap();
        let [no_values, no_gradient] = ["critic.q", "actor.g"].map(|name| is_zero(&mut learner, name));
        assert_eq!(no_values, no_gradient);
    }
    assert!(!is_zero(&mut learner, "actor.g"));
}
