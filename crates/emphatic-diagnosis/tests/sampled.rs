//! What a diagnosis finds by sampling, against the exact theory.

use emphatic::theory::FollowOnMoments;
use emphatic::{
    Action, Exact, FeatureError, Features, KnownProblem, Policy as _, State, Step, StepError, Table,
};
use emphatic_diagnosis::sampled::{Estimate, SampledPolicy};
use emphatic_diagnosis::{Experience, Options, SampleError, SampledDiagnosis, diagnose, diagnose_experience};
use emphatic_problems::ProblemFile;
use std::ops::ControlFlow;

type OwnStep = Step<usize, usize>;

fn shop() -> ProblemFile {
    ProblemFile::open("shop".as_ref()).expect("it is shipped")
}

/// Steps of the behaviour of a finite problem.
fn steps(problem: &ProblemFile, count: usize) -> Vec<OwnStep> {
    let KnownProblem::Finite(task) = &problem.known else { unreachable!("it is finite") };
    let number =
        |state: State| if let State::Number(number) = state { number } else { unreachable!("it is") };
    let action = |action: Action| if let Action::Number(a) = action { a } else { unreachable!("it is") };
    let mut stream = task.stream(3, 0);
    let mut one = || {
        let step = stream.next().expect("it goes on");
        let step = step.view();
        let Step { mu, reward, gamma, gamma_next, interest, .. } = step;
        let (state, next) = (number(step.state), number(step.next));
        Step { state, action: action(step.action), next, mu, reward, gamma, gamma_next, interest }
    };
    (0..count).map(|_| one()).collect()
}

fn diagnosed(
    steps: &[OwnStep],
    features: &Features,
    target: Option<Vec<f64>>,
) -> Result<SampledDiagnosis, SampleError> {
    let steps: Vec<_> = steps.iter().map(|step| step.view()).collect();
    let actions = vec!["bestseller".to_owned(), "novelty".to_owned()];
    diagnose_experience(&Experience { name: "steps".to_owned(), steps: &steps, features, actions, target })
}

fn close(what: &str, found: Estimate, right: f64) {
    let errors = (found.value - right).abs() / found.standard_error;
    assert!(errors < 4.0 && found.standard_error < 0.1 * right.abs(), "{what}: {found:?}, not {right}");
}

/// The policy with zero weights in the shop: the trace has a finite variance, so that the sample must agree with its moments.
#[test]
fn moments_and_key_matrices_agree_with_the_exact_ones() {
    let problem = shop();
    let KnownProblem::Finite(task) = &problem.known else { unreachable!("it is finite") };
    let policy = task.softmax();
    let exact = Exact::<f64, _, _>::new(&**task, &policy, &vec![0.0; task.softmax().len()]).unwrap();
    let moments = FollowOnMoments::new(&exact);
    let mean: f64 = exact.emphatic_weighting(1.0).iter().sum();
    let square: f64 = moments.second_moment().unwrap().iter().sum();

    let sample = steps(&problem, 200_000);
    let found =
        diagnosed(&sample, &Features::from(problem.known.critic()), Some(vec![0.5; sample.len()])).unwrap();
    let SampledPolicy { spread, critics, .. } = &found.policies[0];
    close("the mean of ρ", spread.mean_ratio, 1.0);
    close("the mean of F", spread.mean_follow_on, mean);
    close("the mean of F²", spread.mean_square_of_follow_on, square);
    close("the effective sample", spread.effective_samples[0].share, mean * mean / square);
    assert_eq!(spread.looks_finite, Some(true));

    let options = Options { starts: Some(0), ..Options::default() };
    let whole = diagnose(&problem, &options, &|_, _| ControlFlow::Continue(())).unwrap().unwrap();
    let critics = critics.as_ref().unwrap();
    close("TD(0)", critics.td.smallest, whole.critics.td.eigenvalues[0].0);
    close("ETD(0)", critics.etd.smallest, whole.critics.etd.eigenvalues[0].0);
    assert_eq!((critics.td.stable, critics.etd.stable), (Some(true), Some(true)));
    assert_eq!((found.activity.never_active, found.activity.mean_square_norm), (0, 1.0));
}

/// θ → 2θ: TD(0) is unstable, ETD(0) is stable, and a sample tells both.
#[test]
fn an_unstable_critic_is_found_out() {
    let problem = ProblemFile::open("theta-2theta".as_ref()).unwrap();
    let sample = steps(&problem, 50_000);
    // The target always goes on to the second state.
    let taken = |step: &OwnStep| f64::from(u8::from(step.next == 1));
    let target = sample.iter().map(taken).collect();
    let found = diagnosed(&sample, &Features::from(problem.known.critic()), Some(target)).unwrap();
    let critics = found.policies[0].critics.as_ref().unwrap();
    assert_eq!(critics.td.stable, Some(false), "{critics:?}");
    assert!(critics.etd.smallest.value > 0.0, "{critics:?}");
    assert!(found.verdict.iter().any(|sentence| sentence.contains("TD(0) is not stable for the target")));
}

#[test]
fn on_policy_all_steps_count() {
    let sample = steps(&shop(), 2000);
    let target = sample.iter().map(|step| step.mu).collect();
    let found = diagnosed(&sample, &Features::one_hot(3), Some(target)).unwrap();
    let SampledPolicy { spread, overlap, .. } = &found.policies[0];
    assert_eq!(spread.effective_sample_of_ratio, Estimate { value: 1.0, standard_error: 0.0 });
    assert_eq!((overlap.largest_ratio, overlap.never_taken), (1.0, 0.0));
    assert!(!found.verdict.iter().any(|sentence| sentence.contains("hardly covers")));
}

/// Once nothing was said where one step in fifty counts, weighed by ρ alone.
#[test]
fn a_behaviour_that_hardly_covers_the_target_is_said_to() {
    let step = |t: usize| {
        let action = usize::from(t.is_multiple_of(50));
        let mu = if action == 1 { 0.02 } else { 0.98 };
        let gamma = if t == 0 { 0.0 } else { 0.9 };
        Step { state: 0, action, next: 0, mu, reward: 1.0, gamma, gamma_next: 0.9, interest: 1.0 }
    };
    let sample: Vec<OwnStep> = (0..5000).map(step).collect();
    // The target always takes the rare action.
    let target = sample.iter().map(|step| step.action as f64).collect();
    let found = diagnosed(&sample, &Features::one_hot(1), Some(target)).unwrap();
    let said = "The behaviour hardly covers the target: weighed by ρ alone, 2 % of the steps count.";
    assert!(found.verdict.iter().any(|sentence| sentence.starts_with(said)), "{:?}", found.verdict);
    // A uniform behaviour of many actions could not do better.
    let step = |t: usize| Step { action: t % 12, mu: 1.0 / 12.0, ..step(t) };
    let sample: Vec<OwnStep> = (0..5000).map(step).collect();
    let steps: Vec<_> = sample.iter().map(|step| step.view()).collect();
    let actions = (0..12).map(|k| format!("action {k}")).collect();
    let target = Some(sample.iter().map(|step| f64::from(u8::from(step.action == 3))).collect());
    let features = &Features::one_hot(1);
    let experience = Experience { name: "steps".to_owned(), steps: &steps, features, actions, target };
    let found = diagnose_experience(&experience).unwrap();
    assert!(found.policies[0].spread.effective_sample_of_ratio.value < 0.1);
    assert!(!found.verdict.iter().any(|sentence| sentence.contains("hardly covers")), "{:?}", found.verdict);
}

/// Two actions alike, an endless stream and γ = 0.9: for a policy that always takes one, F² is multiplied by 2 · 0.81 in a step.
#[test]
fn a_trace_without_finite_variance_looks_like_it() {
    let step = |t: usize| {
        let action = usize::from(t.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40 & 1 == 1);
        let gamma = if t == 0 { 0.0 } else { 0.9 };
        Step { state: 0, action, next: 0, mu: 0.5, reward: 1.0, gamma, gamma_next: 0.9, interest: 1.0 }
    };
    let sample: Vec<OwnStep> = (0..20_000).map(step).collect();
    let found = diagnosed(&sample, &Features::one_hot(1), None).unwrap();
    assert_eq!(found.policies.len(), 3);
    let always = &found.policies[1];
    assert_eq!((always.overlap.largest_ratio, always.spread.looks_finite), (2.0, Some(false)));
    assert!((always.spread.growth.value - 1.62).abs() < 0.05, "{:?}", always.spread.growth);
    assert_eq!(found.policies[0].spread.effective_sample_of_ratio.value, 1.0);
    assert_eq!(found.suggestion.emphasis.kind, "lambda-return");
    let text = found.text();
    assert!(text.contains("looks infinite") && text.contains("always bestseller"), "{text}");
}

/// A trace that grew beyond the finite numbers and was cut by ρ = 0 was once called perfectly even, and suggested.
#[test]
fn a_trace_that_overflows_is_not_even() {
    let step = |t: usize| {
        // Action 0 almost always, although μ is 1/2.
        let action = usize::from(t == 1500);
        let gamma = if t == 0 { 0.0 } else { 0.99 };
        Step { state: 0, action, next: 0, mu: 0.5, reward: 1.0, gamma, gamma_next: 0.99, interest: 1.0 }
    };
    let sample: Vec<OwnStep> = (0..2000).map(step).collect();
    let found = diagnosed(&sample, &Features::one_hot(1), None).unwrap();
    let always = &found.policies[1];
    assert!(always.spread.effective_samples[0].share.value < 0.01, "{:?}", always.spread);
    assert_eq!(found.suggestion.emphasis.kind, "lambda-return");
}

/// From the first state of θ → 2θ alone, always cut short: x (x − γ x′) = 1 − 1.8 at every step, and F = 1. Of the second state, where the trace would be large,
/// the sample has no step.
#[test]
fn etd_is_never_called_unstable() {
    let step = |_| Step {
        state: 0,
        action: 0,
        next: 1,
        mu: 0.5,
        reward: 0.0,
        gamma: 0.0,
        gamma_next: 0.9,
        interest: 1.0,
    };
    let sample: Vec<OwnStep> = (0..200).map(step).collect();
    let features = Table::new(1, &[vec![(0, 1.0)], vec![(0, 2.0)]]).unwrap();
    let found = diagnosed(&sample, &Features::from(features), Some(vec![0.5; 200])).unwrap();
    let critics = found.policies[0].critics.as_ref().unwrap();
    assert!((critics.etd.smallest.value + 0.8).abs() < 1e-12, "{critics:?}");
    assert_eq!((critics.td.stable, critics.etd.stable), (Some(false), None));
    assert_eq!(critics.error_size, None);
}

#[test]
fn what_makes_no_sense_is_refused() {
    let (sample, features) = (steps(&shop(), 200), Features::one_hot(3));
    let refused =
        |steps: &[OwnStep], features: &Features, target| diagnosed(steps, features, target).unwrap_err();
    assert_eq!(refused(&[], &features, None), SampleError::TooFew(0));
    let length = refused(&sample, &features, Some(vec![0.5; 3]));
    assert_eq!(length.to_string(), "the target has 3 probabilities; there are 200 steps");
    assert!(matches!(
        refused(&sample, &features, Some(vec![1.5; 200])),
        SampleError::Target { index: 0, .. }
    ));
    assert_eq!(refused(&sample, &features, Some(vec![0.0; 200])), SampleError::NoOverlap);
    let few = refused(&sample, &Features::one_hot(1), None);
    assert!(matches!(few, SampleError::Features { source: FeatureError::State { .. }, .. }), "{few:?}");
    let mut wrong = sample.clone();
    wrong[7].mu = 0.0;
    assert_eq!(refused(&wrong, &features, None), SampleError::Step { index: 7, source: StepError::Mu(0.0) });
    wrong[7] = Step { action: 2, ..sample[7] };
    let action = SampleError::Step { index: 7, source: StepError::Action { action: 2, actions: 2 } };
    assert_eq!(refused(&wrong, &features, None), action);
}
