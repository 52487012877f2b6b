//! The same bits everywhere: learners trained on experience that any language can compute exactly, and the weights they end with,
//! in a file that the Python package is compared with as well.
//!
//! If a change of the bits is intended, `EMPHATIC_WRITE_BITS=1 cargo test --package emphatic --test all bindings::` writes the file anew.

use emphatic::{
    Advantage, AllActions, Compatible, ContinuousCounterexample, DeterministicLinear, ExactCritic, Features,
    FollowOn, Gaussian, Gq, Gtd, Isa, Learner, NoEmphasis, Softmax, Step, Subset, Task, ace, dpg, off_pac,
    true_ace, true_dpge,
};
use std::fmt::Write;
use std::sync::Arc;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../bindings/python/tests/bits.json");

/// Steps of a stream, and of the formulas below.
const STEPS: usize = 3000;

/// The weights a learner ends with, by the names they have in Python.
struct Outcome {
    learner: &'static str,
    weights: Vec<(&'static str, Vec<f64>)>,
}

macro_rules! outcome {
    ($name:literal, $learner:expr, $steps:expr $(, $part:literal = |$critic:ident| $weights:expr)*) => {{
        let (mut learner, steps) = ($learner, $steps);
        let steps: Vec<_> = steps.iter().map(Step::view).collect();
        learner.learn(Isa::best(), &steps).unwrap();
        learner.check().unwrap();
        let weights = vec![
            ("weights", learner.weights().to_vec()),
            $(($part, { let $critic = learner.critic(); $weights }),)*
        ];
        Outcome { learner: $name, weights }
    }};
}

/// Steps whose every number is exact: small whole numbers over powers of two.
fn formula<S, A>(state: impl Fn(usize) -> S, action: impl Fn(usize) -> A) -> Vec<Step<S, A>> {
    let gamma_next = |t: usize| if t % 17 == 16 { 0.0 } else { 0.75 + (t % 4) as f64 / 16.0 };
    // Every 29th step is cut off by a time limit.
    let gamma = |t: usize| if t == 0 || (t - 1) % 29 == 28 { 0.0 } else { gamma_next(t - 1) };
    let step = |t: usize| Step {
        state: state(t),
        action: action(t),
        mu: 0.25 + (t % 5) as f64 / 16.0,
        reward: (5 * t % 9) as f64 / 4.0 - 1.0,
        next: state(t + 1),
        gamma: gamma(t),
        gamma_next: gamma_next(t),
        interest: (t % 3) as f64 / 2.0,
    };
    (0..STEPS).map(step).collect()
}

fn vector(t: usize) -> Vec<f64> {
    (1..=4).map(|k| ((7 * t * k + 3 * k + t * t) % 11) as f64 / 8.0 - 0.5).collect()
}

fn tiles(t: usize) -> Vec<usize> {
    (0..3).map(|k| 4 * k + (7 * t / 3 + t * k + k) % 4).collect()
}

fn number(t: usize) -> usize {
    (t * t + t / 3) % 3
}

fn real(t: usize) -> f64 {
    (5 * t % 16) as f64 / 8.0 - 1.0
}

fn every_second(weights: &[f64], first: usize) -> Vec<f64> {
    weights.iter().skip(first).step_by(2).copied().collect()
}

fn outcomes() -> Vec<Outcome> {
    let three = Arc::new(Task::counterexample());
    let real_action = Arc::new(ContinuousCounterexample::default());
    let finite: Vec<_> = three.stream(1, 0).take(STEPS).collect();
    let continuous: Vec<_> = real_action.stream(1, 0).take(STEPS).collect();
    let exact = || ExactCritic::new(three.clone(), &three.softmax()).unwrap();
    let exact_gaussian = ExactCritic::new(real_action.clone(), &real_action.gaussian()).unwrap();
    let exact_action = ExactCritic::new(real_action.clone(), &real_action.deterministic()).unwrap();
    let dense = Features::dense(4);
    let active = Features::active(12, 3);
    let gtd_three =
        Gtd::builder(Features::one_hot(3)).alpha_v(0.1).alpha_w(0.01).lambda(0.5).build().unwrap();
    let compatible =
        Compatible::builder(Features::one_hot(3)).alpha_v(0.1).alpha_u(0.05).alpha_h(0.01).build().unwrap();
    let gtd_dense = || Gtd::builder(dense.clone()).alpha_v(0.05).alpha_w(0.01).lambda(0.4).build().unwrap();
    let gtd_active = || Gtd::builder(active.clone()).alpha_v(0.05).alpha_w(0.01).lambda(0.8).build().unwrap();
    let softmax_dense = || Softmax { features: dense.clone(), actions: 3 };
    let softmax_active = Softmax { features: active.clone(), actions: 3 };
    let action_values =
        Gq::builder(dense.clone(), 3, gtd_dense()).alpha_q(0.02).alpha_h(0.01).lambda_q(0.3).build().unwrap();
    let advantage = Advantage::builder(active.clone(), 3, gtd_active()).alpha_u(0.03).build().unwrap();
    let compatible_dense =
        Compatible::builder(dense.clone()).alpha_v(0.05).alpha_u(0.02).alpha_h(0.01).build().unwrap();
    vec![
        outcome!(
            "ACE, GTD",
            ace(three.softmax(), gtd_three).lambda_a(0.7).alpha(0.05).build().unwrap(),
            finite.clone(),
            "v" = |critic| critic.weights()
        ),
        outcome!(
            "OffPAC, exact",
            off_pac(three.softmax(), exact()).alpha(0.05).build().unwrap(),
            finite.clone()
        ),
        outcome!(
            "TrueACE",
            true_ace(three.clone(), three.softmax(), exact()).alpha(0.05).build().unwrap(),
            finite.clone()
        ),
        outcome!(
            "AllActions, exact",
            AllActions::builder(three.softmax(), exact(), FollowOn::builder().lambda_a(1.0).build().unwrap())
                .alpha(0.05)
                .build()
                .unwrap(),
            finite
        ),
        outcome!(
            "ACE, Gaussian, exact",
            ace(real_action.gaussian(), exact_gaussian).lambda_a(0.5).alpha(0.01).build().unwrap(),
            continuous.clone()
        ),
        outcome!(
            "TrueDPGE",
            true_dpge(real_action.clone(), real_action.deterministic(), exact_action)
                .alpha(0.1)
                .build()
                .unwrap(),
            continuous.clone()
        ),
        outcome!(
            "DPG, compatible",
            dpg(real_action.deterministic(), compatible).alpha(0.01).build().unwrap(),
            continuous,
            "v" = |critic| every_second(&critic.weights(), 0),
            "u" = |critic| every_second(&critic.weights(), 1)
        ),
        outcome!(
            "ACE, GTD, dense",
            ace(softmax_dense(), gtd_dense()).lambda_a(0.9).alpha(0.02).build().unwrap(),
            formula(vector, number),
            "v" = |critic| critic.weights()
        ),
        outcome!(
            "ACE, Gaussian, GTD, active",
            ace(Gaussian { features: active.clone() }, gtd_active())
                .lambda_a(0.9)
                .alpha(0.002)
                .build()
                .unwrap(),
            formula(tiles, real),
            "v" = |critic| critic.weights()
        ),
        outcome!(
            "AllActions, action values, dense",
            AllActions::builder(
                softmax_dense(),
                action_values,
                FollowOn::builder().lambda_a(0.6).build().unwrap()
            )
            .alpha(0.02)
            .build()
            .unwrap(),
            formula(vector, number),
            "q" = |critic| critic.weights(),
            "v" = |critic| critic.baseline().weights()
        ),
        outcome!(
            "AllActions, advantage, two of three, active",
            AllActions::builder(softmax_active, advantage, NoEmphasis)
                .alpha(0.02)
                .subset(Subset { count: 2, seed: 7, run: 0 })
                .build()
                .unwrap(),
            formula(tiles, number),
            "u" = |critic| critic.weights(),
            "v" = |critic| critic.values().weights()
        ),
        outcome!(
            "DPG, compatible, dense",
            dpg(DeterministicLinear { features: dense.clone() }, compatible_dense)
                .alpha(0.005)
                .build()
                .unwrap(),
            formula(vector, real),
            "v" = |critic| every_second(&critic.weights(), 0),
            "u" = |critic| every_second(&critic.weights(), 1)
        ),
    ]
}

/// JSON with every weight as the hexadecimal digits of its bits.
fn text(outcomes: &[Outcome]) -> String {
    let mut text = String::from("{\n");
    for (k, outcome) in outcomes.iter().enumerate() {
        let part = |(name, weights): &(&str, Vec<f64>)| {
            let bits: Vec<_> = weights.iter().map(|w| format!("\"{:016x}\"", w.to_bits())).collect();
            format!("    \"{name}\": [{}]", bits.join(", "))
        };
        let parts: Vec<_> = outcome.weights.iter().map(part).collect();
        let comma = if k + 1 < outcomes.len() { "," } else { "" };
        writeln!(text, "  \"{}\": {{\n{}\n  }}{comma}", outcome.learner, parts.join(",\n")).unwrap();
    }
    text + "}\n"
}

#[test]
fn learners_end_with_the_bits_on_file() {
    let outcomes = outcomes();
    for Outcome { learner, weights } in &outcomes {
        for (name, weights) in weights {
            assert!(weights.iter().any(|w| *w != 0.0), "{learner}: {name} never changed");
        }
    }
    let now = text(&outcomes);
    if std::env::var_os("EMPHATIC_WRITE_BITS").is_some() {
        std::fs::write(FILE, &now).unwrap();
    }
    let on_file = std::fs::read_to_string(FILE).unwrap();
    for (now, on_file) in now.lines().zip(on_file.lines()) {
        assert_eq!(now, on_file);
    }
    assert_eq!(now.len(), on_file.len());
}
