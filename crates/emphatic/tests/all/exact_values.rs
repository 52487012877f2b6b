//! The exact values of the paper's problems, and the closed forms of the three-state one.

use emphatic::theory::{Judge, best_attainable, limit};
use emphatic::{ContinuousCounterexample, Exact, Isa, Lanes, Limit, Policy, Random, Task};

/// The objective of a flow that has settled.
fn settled(limit: Limit) -> f64 {
    assert!(limit.settled, "{limit:?}");
    limit.objective
}

fn near(got: f64, expected: f64, tolerance: f64) {
    assert!((got - expected).abs() <= tolerance, "got {got}, expected {expected}");
}

#[test]
fn stationary_distributions() {
    assert_eq!(Task::counterexample().stationary(), [0.5, 0.125, 0.375]);
    let eleven =
        [0.18168, 0.06006, 0.18018, 0.01952, 0.17568, 0.00601, 0.16216, 0.00150, 0.12162, 0.00038, 0.09122];
    for (d, expected) in Task::long_counterexample(5).stationary().iter().zip(eleven) {
        near(*d, expected, 5e-6);
    }
    for (d, expected) in
        ContinuousCounterexample::default().stationary().iter().zip([0.5, 0.151633, 0.348367])
    {
        near(*d, expected, 5e-7);
    }
}

#[test]
fn best_attainable_objectives() {
    let three = Task::counterexample();
    near(settled(best_attainable(&three, &three.softmax(), 4, 1).unwrap()), 1.25, 1e-8);
    let eleven = Task::long_counterexample(5);
    near(settled(best_attainable(&eleven, &eleven.softmax(), 4, 1).unwrap()), 1.817568, 5e-7);
    let continuous = ContinuousCounterexample::default();
    near(settled(best_attainable(&continuous, &continuous.deterministic(), 4, 1).unwrap()), 1.303265, 5e-7);
    near(settled(best_attainable(&continuous, &continuous.gaussian(), 4, 1).unwrap()), 1.303265, 5e-7);
}

#[test]
fn limits_of_the_semi_gradient() {
    let three = Task::counterexample();
    near(settled(limit(&three, &three.softmax(), &[0.0; 4], 0.0).unwrap()), 0.875, 1e-8);
    let eleven = Task::long_counterexample(5);
    near(settled(limit(&eleven, &eleven.softmax(), &[0.0; 20], 0.0).unwrap()), 0.999625, 5e-7);
    let continuous = ContinuousCounterexample::default();
    near(settled(limit(&continuous, &continuous.deterministic(), &[0.0; 2], 0.0).unwrap()), 0.848367, 5e-7);
    near(settled(limit(&continuous, &continuous.gaussian(), &[0.0; 4], 0.0).unwrap()), 0.848367, 5e-7);
}

#[test]
fn closed_forms_of_the_three_state_problem() {
    let task = Task::counterexample();
    let policy = task.softmax();
    for (x, y) in [(0.0, 0.0), (1.3, -0.4), (-2.0, 0.7), (0.2, 3.0), (-1.0, -2.5)] {
        let sigmoid = |x: f64| 1.0 / (1.0 + (-x).exp());
        let (q, p) = (sigmoid(x), sigmoid(y));
        let weights = [x, 0.0, y, 0.0];
        let exact = Exact::new(&task, &policy, &weights).unwrap();
        let v = [2.0 * p * q + (1.0 - q) * (1.0 - p), 2.0 * p, 1.0 - p];
        let m = [0.5, 0.125 + 0.5 * q, 0.375 + 0.5 * (1.0 - q)];
        for s in 0..3 {
            near(exact.values()[s], v[s], 1e-14);
            near(exact.emphatic_weighting(1.0)[s], m[s], 1e-14);
        }
        near(exact.objective(), 0.5 * v[0] + 0.125 * v[1] + 0.375 * v[2], 1e-14);
        for lambda_a in [0.0, 0.25, 0.5, 1.0] {
            let gradient = exact.gradient(lambda_a);
            let sign_q = 3.0 * p - 1.0;
            let sign_p = -0.125 + lambda_a * (1.5 * q - 0.5);
            near(gradient[0], 0.5 * q * (1.0 - q) * sign_q, 1e-14);
            near(gradient[2], p * (1.0 - p) * sign_p, 1e-14);
            near(gradient[0] + gradient[1], 0.0, 1e-15);
        }
    }
}

#[test]
fn the_judge_agrees_with_the_whole_solution_to_the_bit_and_lanes_do_not_disturb_each_other() {
    let task = std::sync::Arc::new(Task::long_counterexample(5));
    let policy = task.softmax();
    let mut random = Random::new(3, 0);
    let weights: Vec<f64> = (0..policy.len()).map(|_| random.normal()).collect();
    let alone = Exact::new(&*task, &policy, &weights).unwrap().objective();
    for isa in [Isa::Plain, Isa::best()] {
        let mut judge = Judge::new(task.clone(), &policy).unwrap();
        assert_eq!(judge.objective(isa, &weights).unwrap().to_bits(), alone.to_bits());
        // A neighbour that has diverged.
        let lanes: Vec<Lanes<2>> = weights.iter().map(|w| Lanes([f64::NAN, *w])).collect();
        let mut judge = Judge::new(task.clone(), &policy).unwrap();
        let objectives = judge.objective(isa, &lanes).unwrap().0;
        assert!(objectives[0].is_nan());
        assert_eq!(objectives[1].to_bits(), alone.to_bits());
    }
}
