//! The same bits everywhere: learners trained on experience that any language can compute exactly, and the weights they end with,
//! in a file that the Python package is compared with as well.
//!
//! If a change of the bits is intended, `EMPHATIC_WRITE_BITS=1 cargo test --package emphatic --test all bindings::` writes the file anew.

use crate::every_learner::{compatible, follow_on, gtd, step};
use emphatic::learner::Rule;
use emphatic::{
    Action, Advantage, AllActions, AsState, ContinuousCounterexample, DeterministicLinear, Emphasis,
    ExactCritic, Features, Gaussian, Gq, Isa, Learner, LearnerBuilder, NoEmphasis, Part, Policy, Softmax,
    Step, Subset, Table, Task, dpg, follow_on_ace, off_pac, true_ace, true_dpge,
};
use std::fmt::Write;
use std::sync::Arc;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../bindings/python/tests/bits.json");

/// Steps of a stream, and of the formulas below.
const STEPS: usize = 3000;

/// The weights a learner ends with, by the names they have in Python.
struct Outcome {
    learner: &'static str,
    weights: Vec<(String, Vec<f64>)>,
}

/// Builds a learner with this step-size of its actor, and teaches it.
fn outcome<P: Policy, C: Part<f64>, E: Emphasis<f64>, K: Rule<f64, P, C>>(
    name: &'static str,
    learner: LearnerBuilder<f64, P, C, E, K>,
    alpha: f64,
    steps: &[Step<impl AsState, impl Copy + Into<Action>>],
) -> Outcome {
    let mut learner = learner.alpha(alpha).build().unwrap();
    let steps: Vec<_> = steps.iter().map(Step::view).collect();
    learner.learn(Isa::best(), &steps).unwrap();
    learner.check().unwrap();
    let mut weights = vec![("weights".to_owned(), learner.weights().to_vec())];
    for (name, estimate) in learner.estimates().unwrap() {
        let (_, name) = name.rsplit_once('.').unwrap();
        weights.push((name.to_owned(), estimate));
    }
    Outcome { learner: name, weights }
}

/// Steps whose every number is exact: small whole numbers over powers of two.
fn formula<S, A>(state: impl Fn(usize) -> S, action: impl Fn(usize) -> A) -> Vec<Step<S, A>> {
    let gamma_next = |t: usize| if t % 17 == 16 { 0.0 } else { 0.75 + (t % 4) as f64 / 16.0 };
    // Every 29th step is cut off by a time limit.
    let gamma = |t: usize| if t == 0 || (t - 1) % 29 == 28 { 0.0 } else { gamma_next(t - 1) };
    let numbered = |t: usize| Step {
        mu: 0.25 + (t % 5) as f64 / 16.0,
        reward: (5 * t % 9) as f64 / 4.0 - 1.0,
        gamma: gamma(t),
        gamma_next: gamma_next(t),
        interest: (t % 3) as f64 / 2.0,
        ..step(state(t), action(t), state(t + 1))
    };
    (0..STEPS).map(numbered).collect()
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

fn outcomes() -> Vec<Outcome> {
    let three = Arc::new(Task::counterexample());
    let real_action = Arc::new(ContinuousCounterexample::default());
    let finite: Vec<_> = three.stream(1, 0).take(STEPS).collect();
    let continuous: Vec<_> = real_action.stream(1, 0).take(STEPS).collect();
    let (softmax, gaussian, action) = (three.softmax(), real_action.gaussian(), real_action.deterministic());
    let exact = || ExactCritic::new(three.clone(), &softmax).unwrap();
    let exact_gaussian = ExactCritic::new(real_action.clone(), &gaussian).unwrap();
    let exact_action = ExactCritic::new(real_action.clone(), &action).unwrap();
    let states: Features = Table::one_hot(3).into();
    let (dense, active) = (Features::dense(4), Features::active(12, 3));
    let softmax_dense = || Softmax { features: dense.clone(), actions: 3 };
    let softmax_active = Softmax { features: active.clone(), actions: 3 };
    let gtd_dense = || gtd(dense.clone(), 0.05, 0.01, 0.4);
    let gtd_active = || gtd(active.clone(), 0.05, 0.01, 0.8);
    let values = Gq::builder(dense.clone(), 3, gtd_dense());
    let values = values.alpha_q(0.02).alpha_h(0.01).lambda_q(0.3).build().unwrap();
    let advantage = Advantage::builder(active.clone(), 3, gtd_active()).alpha_u(0.03).build().unwrap();
    let some = AllActions::builder(softmax_active, advantage, NoEmphasis);
    let some = some.subset(Subset { count: 2, seed: 7, run: 0 });
    let linear = DeterministicLinear { features: dense.clone() };
    let real_ace = follow_on_ace(Gaussian { features: active.clone() }, gtd_active()).lambda_a(0.9);
    let exact_ace = follow_on_ace(gaussian, exact_gaussian).lambda_a(0.5);
    let exact_all = AllActions::builder(softmax.clone(), exact(), follow_on(1.0));
    let learned_all = AllActions::builder(softmax_dense(), values, follow_on(0.6));
    let true_dpge = true_dpge(real_action, action.clone(), exact_action);
    let dense_dpg = dpg(linear, compatible(dense.clone(), 0.05, 0.02, 0.01));
    let gtd_ace = follow_on_ace(softmax.clone(), gtd(states.clone(), 0.1, 0.01, 0.5)).lambda_a(0.7);
    let (numbers, reals) = (formula(vector, number), formula(vector, real));
    vec![
        outcome("ACE, GTD", gtd_ace, 0.05, &finite),
        outcome("OffPAC, exact", off_pac(softmax.clone(), exact()), 0.05, &finite),
        outcome("TrueACE", true_ace(three.clone(), softmax.clone(), exact()), 0.05, &finite),
        outcome("AllActions, exact", exact_all, 0.05, &finite),
        outcome("ACE, Gaussian, exact", exact_ace, 0.01, &continuous),
        outcome("TrueDPGE", true_dpge, 0.1, &continuous),
        outcome("DPG, compatible", dpg(action, compatible(states, 0.1, 0.05, 0.01)), 0.01, &continuous),
        outcome("ACE, GTD, dense", follow_on_ace(softmax_dense(), gtd_dense()).lambda_a(0.9), 0.02, &numbers),
        outcome("ACE, Gaussian, GTD, active", real_ace, 0.002, &formula(tiles, real)),
        outcome("AllActions, action values, dense", learned_all, 0.02, &numbers),
        outcome("AllActions, advantage, two of three, active", some, 0.02, &formula(tiles, number)),
        outcome("DPG, compatible, dense", dense_dpg, 0.005, &reals),
    ]
}

/// JSON with every weight as the hexadecimal digits of its bits.
fn text(outcomes: &[Outcome]) -> String {
    let mut text = String::from("{\n");
    for (k, outcome) in outcomes.iter().enumerate() {
        let part = |(name, weights): &(String, Vec<f64>)| {
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
