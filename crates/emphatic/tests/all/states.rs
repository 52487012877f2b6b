//! Saved states: a restored learner goes on to the bit; a state that does not fit is refused by name and changes nothing.

use crate::every_learner::*;
use emphatic::{
    Action, AsState, Catalogue, Composable, ExactCritic, Features, Fixed, Gaussian, Isa, Lanes, Learner,
    Numbers, PartRecipe, Recipe, RuleKind, SavedState, Softmax, State, StateError, Step, Task, Tensors,
    off_pac as make_off_pac,
};
use std::any::type_name;
use std::sync::Arc;

/// The whole state, to the bit: the numbers of a [`SavedState`] compare as numbers do.
fn bytes(learner: &mut dyn Learner<f64>) -> Vec<u8> {
    postcard::to_allocvec(&learner.state().unwrap()).unwrap()
}

/// The bits of what the steps did.
fn learn<S: AsState>(learner: &mut dyn Learner<f64>, steps: &[Step<S, Action>]) -> Vec<[u64; 3]> {
    let update = |step: &Step<S, Action>| {
        let update = learner.update(&step.view()).unwrap();
        [update.rho, update.emphasis, update.delta].map(f64::to_bits)
    };
    steps.iter().map(update).collect()
}

/// A state without its settings.
fn numbers(state: SavedState) -> SavedState {
    SavedState::without_settings(state.into_tensors())
}

fn goes_on_from_every_step<L: Learner<f64>, S: AsState>(case: &Case<L, S>) {
    for taken in 0..=case.steps.len() {
        let mut whole = case.learner();
        learn(&mut whole, &case.steps[..taken]);
        let saved = bytes(&mut whole);
        // Nothing that it learned before may remain.
        let mut restored = case.learner();
        learn(&mut restored, &case.steps);
        restored.restore(&postcard::from_bytes(&saved).unwrap()).unwrap();
        assert_eq!(bytes(&mut restored), saved, "{}", type_name::<L>());
        assert_eq!((restored.steps(), restored.weights()), (taken as u64, whole.weights()));
        for steps in [&case.steps[taken..], &case.steps] {
            assert_eq!(learn(&mut restored, steps), learn(&mut whole, steps), "{}", type_name::<L>());
            assert_eq!(bytes(&mut restored), bytes(&mut whole), "{}", type_name::<L>());
        }
    }
}

#[test]
fn a_restored_learner_goes_on_to_the_bit() {
    for_every_learner!(goes_on_from_every_step);
}

/// States that do not fit, made from one that does, with the error of each.
fn spoilt(good: &Tensors) -> Vec<(Tensors, String)> {
    let mut all = Vec::new();
    let mut push = |changes: &[(&str, Option<Numbers>)], error: StateError| {
        let mut bad = good.clone();
        for (name, numbers) in changes {
            bad.remove(name);
            numbers.iter().for_each(|numbers| bad.insert(*name, numbers.clone()));
        }
        all.push((bad, error.to_string()));
    };
    push(&[("critic.more", Some(Numbers::Real(vec![0.0])))], StateError::Unknown("critic.more".into()));
    for (name, numbers) in good.iter() {
        // States were once saved without it.
        if name != "effective_sample" {
            push(&[(name, None)], StateError::Missing(name.into()));
        }
        let (other_kind, longer) = match numbers {
            Numbers::Real(x) => (Numbers::Whole(vec![0; x.len()]), Numbers::Real([&x[..], &[0.0]].concat())),
            Numbers::Whole(x) => (Numbers::Real(vec![0.0; x.len()]), Numbers::Whole([&x[..], &[0]].concat())),
        };
        push(&[(name, Some(other_kind))], StateError::Kind(name.into()));
        let n = numbers.len();
        let Some(trace) = name.strip_suffix(".features") else {
            let error = StateError::Length { name: name.into(), got: n + 1, right: n };
            push(&[(name, Some(longer))], error);
            continue;
        };
        // A trace may list any number of features, but each of them has a number.
        let error = StateError::Length { name: trace.into(), got: n, right: n + 1 };
        push(&[(name, Some(longer))], error);
        for features in [[0, 0], [0, 99], [u64::MAX, 0]] {
            let listed = (name, Some(Numbers::Whole(features.into())));
            let numbers = (trace, Some(Numbers::Real(vec![1.0; 2])));
            push(&[listed, numbers], StateError::Trace(trace.into()));
        }
    }
    if let Some((name, Numbers::Whole(drawn))) = good.iter().find(|(name, _)| *name == "drawn") {
        for action in [drawn[1], 99, u64::MAX] {
            let mut others = drawn.clone();
            others[0] = action;
            push(&[(name, Some(Numbers::Whole(others)))], StateError::Actions);
        }
    }
    all
}

fn refuses_what_does_not_fit<L: Learner<f64>, S: AsState + Clone>(case: &Case<L, S>) {
    let (mut learner, mut spared, mut other) = (case.learner(), case.learner(), case.learner());
    learn(&mut learner, &case.steps[..2]);
    learn(&mut spared, &case.steps[..2]);
    // Nothing in common, so that anything restored from it would show.
    let backwards: Vec<_> = case.steps.iter().rev().cloned().collect();
    learn(&mut other, &backwards);
    learn(&mut other, &case.steps[..2]);
    let before = bytes(&mut learner);
    let good = other.state().unwrap();
    for (bad, error) in spoilt(good.tensors()) {
        let bad = SavedState::without_settings(bad);
        assert_eq!(learner.restore(&bad).unwrap_err().to_string(), error, "{}", type_name::<L>());
        assert_eq!(bytes(&mut learner), before, "{}: {error}", type_name::<L>());
    }
    assert_eq!(learn(&mut learner, &case.steps), learn(&mut spared, &case.steps), "{}", type_name::<L>());
    assert_eq!(bytes(&mut learner), bytes(&mut spared), "{}", type_name::<L>());
    // A state that fits is not refused.
    learner.restore(&good).unwrap();
    assert_eq!(bytes(&mut learner), bytes(&mut other), "{}", type_name::<L>());
}

#[test]
fn a_state_that_does_not_fit_is_refused_by_name_and_changes_nothing() {
    for_every_learner!(refuses_what_does_not_fit);
}

/// The words of errors that the test above builds from the types.
#[test]
fn what_does_not_fit_is_said_in_words() {
    let name = || "critic.e".to_owned();
    let said = [
        (
            StateError::Trace(name()),
            "`critic.e` lists a feature twice, one that does not exist, or one before the first step",
        ),
        (StateError::Kind(name()), "the numbers of `critic.e` are of another kind"),
        (
            StateError::Length { name: name(), got: 3, right: 4 },
            "`critic.e` has 3 numbers; this learner's has 4",
        ),
    ];
    for (error, words) in said {
        assert_eq!(error.to_string(), words);
    }
}

#[test]
fn a_state_of_a_learner_with_other_parts_is_refused() {
    let (of_ace, of_off_pac) = (ace().learner().state().unwrap(), off_pac().learner().state().unwrap());
    let error = off_pac().learner().restore(&of_ace).unwrap_err();
    assert_eq!(
        error.to_string(),
        "this state was saved with `emphasis.kind` = follow-on; this learner has none"
    );
    // Where the settings are not known, the numbers are refused.
    let error = off_pac().learner().restore(&numbers(of_ace)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "this learner has no `emphasis.rho_f`: this is the state of a learner with other parts"
    );
    let error = ace().learner().restore(&numbers(of_off_pac)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "there is no `emphasis.rho_f`: this is the state of a learner with other parts"
    );
}

/// Returns the setting for which one learner refuses the state of another.
fn refused_for(learner: &mut dyn Learner<f64>, other: &mut dyn Learner<f64>) -> String {
    match learner.restore(&other.state().unwrap()) {
        Err(StateError::Setting { name, .. }) => name,
        result => panic!("{result:?}"),
    }
}

#[test]
fn a_state_is_refused_by_a_learner_with_another_policy_or_problem() {
    let task = Arc::new(Task::counterexample());
    let gtd = || gtd(task.critic(), 0.1, 0.1, 0.0);
    let fixed = |p: f64| {
        let policy = Fixed::new(&task, &vec![vec![p, 1.0 - p]; 3]).unwrap();
        make_off_pac(policy, gtd()).alpha(0.1).build().unwrap()
    };
    assert_eq!(refused_for(&mut fixed(0.2), &mut fixed(0.9)), "policy.probabilities");
    let features = || Features::one_hot(3);
    let softmax = Softmax { features: features(), actions: 2 };
    let gaussian = Gaussian { features: features() };
    let mut softmax = make_off_pac(softmax, gtd()).alpha(0.1).build().unwrap();
    let mut gaussian = make_off_pac(gaussian, gtd()).alpha(0.1).build().unwrap();
    assert_eq!(refused_for(&mut softmax, &mut gaussian), "policy.kind");

    let interested = Arc::new(task.as_ref().clone().with_interest(vec![1.0, 2.0, 1.0]).unwrap());
    let exact = |task: &Arc<Task>| {
        let critic = ExactCritic::new(task.clone(), &task.softmax()).unwrap();
        make_off_pac(task.softmax(), critic).alpha(0.1).build().unwrap()
    };
    assert_eq!(refused_for(&mut exact(&task), &mut exact(&interested)), "critic.problem");
    exact(&task).restore(&exact(&Arc::new(Task::counterexample())).state().unwrap()).unwrap();
}

fn diverges_where_it_did<L: Learner<f64>, S: AsState>(case: &Case<L, S>) {
    let mut wild = (case.make)(1.0, 1e200);
    while wild.check().is_ok() {
        learn(&mut wild, &case.steps);
        assert!(wild.steps() < 1000, "{}", type_name::<L>());
    }
    let mut restored = (case.make)(1.0, 1e200);
    restored.restore(&postcard::from_bytes(&bytes(&mut wild)).unwrap()).unwrap();
    assert_eq!(restored.check(), wild.check());
    assert!(restored.weights().iter().all(|w| w.is_nan()));
    learn(&mut restored, &case.steps);
    let right = (wild.check(), wild.steps() + 4);
    assert_eq!((restored.check(), restored.steps()), right, "{}", type_name::<L>());
}

/// Those whose critic learns: exact values stay finite, whatever the step-size.
#[test]
fn a_learner_that_has_diverged_still_has_once_it_is_restored() {
    diverges_where_it_did(&off_pac());
    diverges_where_it_did(&ace_on_tiles());
    diverges_where_it_did(&gaussian_ace());
    diverges_where_it_did(&all_actions_by_action_values());
    diverges_where_it_did(&all_actions_by_advantage());
    diverges_where_it_did(&dpg_by_compatible_features());
    diverges_where_it_did(&trace());
    diverges_where_it_did(&gaussian_trace());
    diverges_where_it_did(&gradient_values());
    diverges_where_it_did(&gradient_critic());
    diverges_where_it_did(&geoff_pac());
}

/// Learners whose λ_a is 0, 1/16, 2/16 and so on.
fn lanes<R: Composable>(first: usize, features: usize) -> Box<dyn Learner<R>> {
    let recipe = |lane| {
        let policy = PartRecipe::new("softmax").with_features(Features::dense(features));
        let critic = PartRecipe::new("gtd").with("alpha_v", 0.05).with("alpha_w", 0.01).with("lambda", 0.4);
        let emphasis = PartRecipe::new("follow-on").with("lambda_a", (first + lane) as f64 / 16.0);
        Recipe::new(RuleKind::Taken, policy, critic, emphasis, 0.1).with_actions(3)
    };
    let recipes: Vec<Recipe> = (0..R::LANES).map(recipe).collect();
    R::compose(Catalogue::standard(), &recipes.iter().collect::<Vec<_>>(), &[], Isa::best()).unwrap()
}

#[test]
fn the_state_of_a_lane_is_that_of_a_learner_alone() {
    let case = ace();
    let steps: Vec<_> = case.steps.iter().map(Step::view).collect();
    fn state<R: Composable>(steps: &[Step<State, Action>]) -> SavedState {
        let mut learners = lanes::<R>(0, 2);
        learners.learn(Isa::best(), steps).unwrap();
        learners.state().unwrap()
    }
    let sixteen = state::<Lanes<16>>(&steps);
    for lane in 0..16 {
        let mut alone = lanes::<f64>(lane, 2);
        alone.learn(Isa::Plain, &steps).unwrap();
        assert_eq!(postcard::to_allocvec(&sixteen.lane(lane)).unwrap(), bytes(&mut alone));
    }
}

/// Twice the lanes of half the weights are the same number of numbers.
#[test]
fn a_state_of_another_number_of_lanes_is_refused() {
    let error = lanes::<f64>(0, 2).restore(&lanes::<Lanes<16>>(0, 2).state().unwrap()).unwrap_err();
    assert_eq!(error.to_string(), "`weights` has 96 numbers; this learner's has 6");
    let other = lanes::<Lanes<16>>(0, 2).state().unwrap();
    let error = lanes::<f64>(0, 32).restore(&numbers(other)).unwrap_err();
    assert_eq!(error.to_string(), "`diverged` has 16 numbers; this learner's has 1");
}
