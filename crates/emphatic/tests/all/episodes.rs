//! Every learner where episodes meet, where ρ is zero, and with invalid steps.

use crate::every_learner::*;
use emphatic::{Action, AsState, FeatureError, Learner, Numbers, SavedState, Step, StepError, Update};
use std::any::type_name;

type Steps<S> = Vec<Step<S, Action>>;

fn learn<L: Learner<f64>, S: AsState>(learner: &mut L, steps: &Steps<S>) -> Vec<Update<f64>> {
    steps.iter().map(|step| learner.step(step).unwrap()).collect()
}

fn is_near(x: f64, y: f64) -> bool {
    (x - y).abs() <= 1e-14 * (1.0 + y.abs())
}

/// A learner that has learned from the case's steps.
fn learned<L: Learner<f64>, S: AsState>(case: &Case<L, S>, lambda_a: f64) -> L {
    let mut learner = (case.make)(lambda_a, 1.0);
    learn(&mut learner, &case.steps);
    learner
}

/// The numbers of a learner, for one with other settings.
fn numbers<L: Learner<f64>>(learner: &mut L) -> SavedState {
    SavedState::without_settings(learner.state().unwrap().into_tensors())
}

/// The same with other traces. They come from a learner with the same weights, but whose step-sizes are zero:
/// its weights stay as they are, its traces do not.
fn learned_with_traces<L: Learner<f64>, S: AsState>(
    case: &Case<L, S>,
    lambda_a: f64,
    traced: &Steps<S>,
) -> L {
    let mut learner = learned(case, lambda_a);
    let mut frozen = (case.make)(lambda_a, 0.0);
    frozen.restore(&numbers(&mut learner)).unwrap();
    learn(&mut frozen, traced);
    assert_eq!(frozen.weights(), learner.weights());
    learner.restore(&numbers(&mut frozen)).unwrap();
    learner
}

/// The case's steps as if no episode started among them, with ratios larger by a factor.
fn unending<L, S: Clone>(case: &Case<L, S>, factor: f64) -> Steps<S> {
    case.steps.iter().map(|step| Step { mu: step.mu / factor, gamma: 0.9, ..step.clone() }).collect()
}

fn nothing_passes_a_ratio_of_zero<L: Learner<f64>, S: AsState + Clone>(case: &Case<L, S>) {
    let Some(impossible) = &case.impossible else { return };
    for lambda_a in [0.0, 0.3, 1.0] {
        let [mut one, mut other] = [1.0, 1e6].map(|factor| {
            let learner = learned_with_traces(case, lambda_a, &unending(case, factor));
            learner.with_weights(impossible.clone()).unwrap()
        });
        assert_eq!(one.state().unwrap() != other.state().unwrap(), case.traces, "{}", type_name::<L>());
        for learner in [&mut one, &mut other] {
            let update = learner.step(&case.steps[1]).unwrap();
            assert_eq!(update.rho, 0.0);
            assert!(update.emphasis.is_finite() && update.delta.is_finite());
            assert_eq!(learner.weights(), impossible, "{}", type_name::<L>());
        }
        assert_eq!(one.state().unwrap(), other.state().unwrap(), "{}", type_name::<L>());
        let after = one.step(&case.steps[2]).unwrap();
        assert_eq!(after, other.step(&case.steps[2]).unwrap());
        assert!(case.exact_emphasis || is_near(after.emphasis, case.steps[2].interest), "{after:?}");
        assert_eq!(one.state().unwrap(), other.state().unwrap(), "{}", type_name::<L>());
        assert!(one.weights().iter().all(|w| w.is_finite()) && one.check().is_ok());
    }
}

#[test]
fn a_ratio_of_zero_starts_all_traces_afresh() {
    for_every_learner!(nothing_passes_a_ratio_of_zero);
}

fn nothing_passes_the_end_of_an_episode<L: Learner<f64>, S: AsState + Clone>(case: &Case<L, S>) {
    if !case.can_freeze {
        return;
    }
    let mut backwards = unending(case, 1e6);
    backwards.reverse();
    let mut one = learned_with_traces(case, 0.3, &unending(case, 1.0));
    let mut other = learned_with_traces(case, 0.3, &backwards);
    assert_eq!(one.state().unwrap() != other.state().unwrap(), case.traces, "{}", type_name::<L>());

    let mut episode = case.steps[..3].to_vec();
    // Were the episode to go on, the traces would be seen.
    let goes_on = |mut learner: L| {
        learn(&mut learner, &episode);
        learner.state().unwrap()
    };
    let copy = |learner: &mut L| {
        let mut copy = (case.make)(0.3, 1.0);
        copy.restore(&learner.state().unwrap()).unwrap();
        copy
    };
    assert_eq!(goes_on(copy(&mut one)) != goes_on(copy(&mut other)), case.traces, "{}", type_name::<L>());

    episode[0].gamma = 0.0;
    assert_eq!(learn(&mut one, &episode), learn(&mut other, &episode), "{}", type_name::<L>());
    assert_eq!(one.state().unwrap(), other.state().unwrap(), "{}", type_name::<L>());
}

#[test]
fn the_first_step_of_an_episode_starts_all_traces_afresh() {
    for_every_learner!(nothing_passes_the_end_of_an_episode);
}

/// Geoff-PAC has a running mean too, so here its traces are replaced by others.
#[test]
fn the_first_step_of_an_episode_starts_the_traces_of_geoff_pac_afresh() {
    let case = geoff_pac();
    let with_other_traces = || {
        let mut tensors = learned(&case, 0.3).state().unwrap().into_tensors();
        for name in
            ["rho_f1", "rho", "rho_c", "f2", "score", "ratio.rho_c"].map(|name| format!("actor.{name}"))
        {
            let Some(Numbers::Real(trace)) = tensors.remove(&name) else { panic!("there is no {name}") };
            tensors.insert(name, Numbers::Real(trace.iter().map(|x| 3.0 * x + 0.5).collect()));
        }
        let mut learner = case.learner();
        learner.restore(&SavedState::without_settings(tensors)).unwrap();
        learner
    };
    for gamma in [0.0, 0.9] {
        let mut episode = case.steps[..3].to_vec();
        episode[0].gamma = gamma;
        let [one, other] = [learned(&case, 0.3), with_other_traces()].map(|mut learner| {
            learn(&mut learner, &episode);
            learner.weights().to_vec()
        });
        assert_eq!(one == other, gamma == 0.0, "{one:?} {other:?}");
    }
}

fn a_limit_is_no_end<L: Learner<f64>, S: AsState + Clone>(case: &Case<L, S>) {
    let last = |gamma_next| Step { gamma_next, ..case.steps[2].clone() };
    let (limit, end) = (last(0.9), last(0.0));
    let (mut limited, mut ended) = (learned(case, 0.3), learned(case, 0.3));
    let bootstrapped = case.value.map_or(0.0, |value| 0.9 * value(&limited, &limit.next));
    assert!(case.value.is_none() || bootstrapped.abs() > 0.01, "{}", type_name::<L>());
    let (at_limit, at_end) = (limited.step(&limit).unwrap(), ended.step(&end).unwrap());
    assert_eq!((at_limit.rho, at_limit.emphasis), (at_end.rho, at_end.emphasis));
    assert!(is_near(at_limit.delta - at_end.delta, bootstrapped), "{}", type_name::<L>());

    let first = Step { gamma: 0.0, ..case.steps[0].clone() };
    for learner in [&mut limited, &mut ended] {
        let update = learner.step(&first).unwrap();
        assert!(case.exact_emphasis || is_near(update.emphasis, first.interest), "{}", type_name::<L>());
    }
}

#[test]
fn a_time_limit_bootstraps_and_an_end_does_not() {
    for_every_learner!(a_limit_is_no_end);
}

fn the_end_is_not_looked_at<L: Learner<f64>, S: AsState + Clone>(case: &Case<L, S>) {
    let end = Step { gamma_next: 0.0, ..case.steps[2].clone() };
    let nowhere = Step { next: case.no_state.0.clone(), ..end.clone() };
    let (mut one, mut other) = (learned(case, 0.3), learned(case, 0.3));
    assert_eq!(one.step(&end).unwrap(), other.step(&nowhere).unwrap());
    assert_eq!(one.state().unwrap(), other.state().unwrap(), "{}", type_name::<L>());
}

#[test]
fn next_is_not_looked_at_when_an_episode_ends() {
    for_every_learner!(the_end_is_not_looked_at);
}

fn nonsense_is_refused<L: Learner<f64>, S: AsState + Clone>(case: &Case<L, S>) {
    let good = &case.steps[1];
    let (no_action, what_of_action) = case.no_action.clone();
    let (no_state, what_of_state) = case.no_state.clone();
    let gamma = |name, value| StepError::Gamma { name, value };
    let nonsense = [
        (Step { mu: 0.0, ..good.clone() }, StepError::Mu(0.0)),
        (Step { mu: f64::NAN, ..good.clone() }, StepError::Mu(f64::NAN)),
        (Step { mu: f64::INFINITY, ..good.clone() }, StepError::Mu(f64::INFINITY)),
        (Step { reward: f64::NAN, ..good.clone() }, StepError::Reward(f64::NAN)),
        (Step { gamma: 1.5, ..good.clone() }, gamma("gamma", 1.5)),
        (Step { gamma_next: -0.1, ..good.clone() }, gamma("gamma_next", -0.1)),
        (Step { gamma_next: f64::NAN, ..good.clone() }, gamma("gamma_next", f64::NAN)),
        (Step { interest: -1.0, ..good.clone() }, StepError::Interest(-1.0)),
        (Step { action: no_action, ..good.clone() }, what_of_action),
        (Step { state: no_state.clone(), ..good.clone() }, what_of_state.clone().into()),
        (Step { next: no_state, ..good.clone() }, what_of_state.into()),
    ];
    let (mut learner, mut spared) = (learned(case, 0.3), learned(case, 0.3));
    for (step, error) in nonsense {
        // By their words: NaN does not equal itself.
        assert_eq!(format!("{:?}", learner.step(&step)), format!("Err({error:?})"), "{}", type_name::<L>());
        assert_eq!(learner.state().unwrap(), spared.state().unwrap(), "{error}");
    }
    assert_eq!(learn(&mut learner, &case.steps), learn(&mut spared, &case.steps));
    assert_eq!(learner.state().unwrap(), spared.state().unwrap(), "{}", type_name::<L>());
}

#[test]
fn a_step_that_makes_no_sense_is_refused_and_changes_nothing() {
    for_every_learner!(nonsense_is_refused);
    let case = ace();
    let step = Step { state: vec![1.0, f64::INFINITY], ..case.steps[0].clone() };
    let error = FeatureError::Value { index: 1, value: f64::INFINITY };
    assert_eq!(case.learner().step(&step), Err(error.into()));
}

/// A copy, since a copied list may have lost its capacity.
fn copies_allocate_nothing<L: Learner<f64> + Clone, S: AsState>(case: &Case<L, S>) {
    allocates_nothing_with(case, case.learner().clone());
}

fn allocates_nothing<L: Learner<f64>, S: AsState>(case: &Case<L, S>) {
    allocates_nothing_with(case, case.learner());
}

/// No step of a learner allocates, not even the first.
fn allocates_nothing_with<L: Learner<f64>, S: AsState>(case: &Case<L, S>, mut learner: L) {
    let counted = allocation_counter::measure(|| {
        for _ in 0..10 {
            for step in &case.steps {
                std::hint::black_box(learner.step(step)).unwrap();
            }
        }
    });
    assert_eq!(counted.count_total, 0, "{}", type_name::<L>());
}

#[test]
fn no_step_allocates() {
    assert!(allocation_counter::measure(|| drop(std::hint::black_box(vec![1]))).count_total > 0);
    for_every_rule!(copies_allocate_nothing);
    for_every_actor!(allocates_nothing);
}
