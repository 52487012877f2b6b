//! The exact theory against closed forms, and against methods that share nothing with it: sums over transitions,
//! elimination with pivoting.

#![allow(clippy::needless_range_loop, reason = "indices as in the equations")]

pub(super) mod trace_expectation;

use crate::{Action, ContinuousCounterexample, Exact, Policy, Problem, Random, Softmax, State, Step, Task};

/// Weights that prefer some actions without making any certain.
pub(super) fn random_weights<P: Policy>(random: &mut Random, policy: &P) -> Vec<f64> {
    (0..policy.len()).map(|_| random.normal()).collect()
}

/// The numbers of a step's state, of its action and of the next state.
pub(super) fn numbers(step: &Step<State, Action>) -> [usize; 3] {
    match (step.state, step.action, step.next) {
        (State::Number(state), Action::Number(action), State::Number(next)) => [state, action, next],
        _ => panic!("{step:?} is not a step of a finite problem"),
    }
}

pub(super) fn near(got: f64, expected: f64, tolerance: f64) {
    assert!((got - expected).abs() <= tolerance, "got {got}, expected {expected}");
}

/// P_{π,γ} and r_π, summed up from the problem's transitions.
pub(super) fn dense(task: &Task, pi: &[Vec<f64>]) -> (Vec<Vec<f64>>, Vec<f64>) {
    let n = task.states();
    let (mut p, mut r) = (vec![vec![0.0; n]; n], vec![0.0; n]);
    for s in 0..n {
        for a in 0..task.actions() {
            for t in task.problem().transitions(s, a) {
                p[s][t.next] += pi[s][a] * t.probability * t.gamma;
                r[s] += pi[s][a] * t.probability * t.reward;
            }
        }
    }
    (p, r)
}

/// π by the definition of softmax.
fn softmax(task: &Task, policy: &Softmax, weights: &[f64]) -> Vec<Vec<f64>> {
    let of = |s: usize| {
        let x = policy.features.of_number(s);
        let preference = |a| x.iter().map(|(f, x)| x * weights[f * task.actions() + a]).sum::<f64>();
        let e: Vec<f64> = (0..task.actions()).map(|a| f64::exp(preference(a))).collect();
        let sum: f64 = e.iter().sum();
        e.into_iter().map(|e| e / sum).collect()
    };
    (0..task.states()).map(of).collect()
}

/// Solves A x = b by Gaussian elimination with partial pivoting: the tests' own, so that the library is not compared with itself.
pub(super) fn solve(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
    let n = b.len();
    for k in 0..n {
        let pivot = (k..n).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs())).unwrap();
        a.swap(k, pivot);
        b.swap(k, pivot);
        for i in k + 1..n {
            let factor = a[i][k] / a[k][k];
            for j in k..n {
                a[i][j] -= factor * a[k][j];
            }
            b[i] -= factor * b[k];
        }
    }
    for k in (0..n).rev() {
        let rest: f64 = (k + 1..n).map(|j| a[k][j] * b[j]).sum();
        b[k] = (b[k] - rest) / a[k][k];
    }
    b
}

pub(super) fn close(what: &str, got: &[f64], expected: &[f64], tolerance: f64) {
    for (s, (g, e)) in got.iter().zip(expected).enumerate() {
        assert!((g - e).abs() <= tolerance * (1.0 + e.abs()), "{what} of state {s}: {g} is not {e}");
    }
}

/// d_μ: what enters a state is what leaves it.
fn check_balance(task: &Task) {
    let (n, d) = (task.states(), task.stationary());
    let mut entered = vec![0.0; n];
    for s in 0..n {
        for a in 0..task.actions() {
            for t in task.problem().transitions(s, a) {
                entered[t.next] += d[s] * task.behaviour(s)[a] * t.probability;
            }
        }
    }
    close("d", d, &entered, 1e-14);
    close("the sum of d", &[d.iter().sum()], &[1.0], 1e-14);
}

/// v and m from the dense systems (I − P) v = r and (I − P)ᵀ m = i.
pub(super) fn solve_both(p: &[Vec<f64>], r: &[f64], interest: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let n = p.len();
    let identity = |i: usize, j: usize| if i == j { 1.0 } else { 0.0 };
    let matrix: Vec<Vec<f64>> = (0..n).map(|i| (0..n).map(|j| identity(i, j) - p[i][j]).collect()).collect();
    let transposed = (0..n).map(|i| (0..n).map(|j| matrix[j][i]).collect()).collect();
    (solve(matrix, r.to_vec()), solve(transposed, interest.to_vec()))
}

/// A random problem that goes on for ever with one γ.
pub(super) fn continuing(random: &mut Random, gamma: f64) -> Task {
    let n = 2 + random.below(6);
    let mut builder =
        Problem::builder().states((0..n).map(|s| s.to_string())).actions(["A0", "A1"]).start(0, 1.0);
    for s in 0..n {
        builder = builder.transition(s, 0, (s + 1) % n, 1.0, random.normal(), gamma);
        builder = builder.transition(s, 1, random.below(n), 1.0, random.normal(), gamma);
    }
    let behaviour: Vec<Vec<f64>> = (0..n)
        .map(|_| {
            let p = 0.2 + 0.6 * random.uniform();
            vec![p, 1.0 - p]
        })
        .collect();
    Task::new(builder.build().unwrap(), &behaviour).unwrap()
}

#[test]
fn values_weightings_and_stationary_distributions_of_random_problems() {
    for seed in 0..200 {
        let mut random = Random::new(404, seed);
        let task = Task::random(&mut random);
        let n = task.states();
        let policy = task.softmax();
        let weights = random_weights(&mut random, &policy);
        let exact = Exact::new(&task, &policy, &weights).unwrap();
        let pi = softmax(&task, &policy, &weights);
        let (p, r) = dense(&task, &pi);
        for s in 0..n {
            close("π", &exact.probabilities()[s], &pi[s], 1e-13);
            let row: Vec<f64> =
                (0..n).map(|t| exact.transitions(s).iter().filter(|x| x.0 == t).map(|x| x.1).sum()).collect();
            close("P", &row, &p[s], 1e-13);
        }

        check_balance(&task);
        let interest: Vec<f64> = task.stationary().iter().zip(task.interest()).map(|(d, i)| d * i).collect();
        let (v, m) = solve_both(&p, &r, &interest);
        close("v", exact.values(), &v, 1e-11);
        close("m", &exact.emphatic_weighting(1.0), &m, 1e-11);
        close("i", &exact.emphatic_weighting(0.0), &interest, 1e-15);

        // m_{λ_a} by its definition, iᵀ(I − P)⁻¹(I − (1 − λ_a)P).
        let lambda_a = 0.4;
        let through = |j: usize| (0..n).map(|i| m[i] * p[i][j]).sum::<f64>();
        let expected: Vec<f64> = (0..n).map(|j| m[j] - (1.0 - lambda_a) * through(j)).collect();
        close("m_λ", &exact.emphatic_weighting(lambda_a), &expected, 1e-11);

        let objective: f64 = interest.iter().zip(&v).map(|(i, v)| i * v).sum();
        close("J", &[exact.objective()], &[objective], 1e-11);
        for s in 0..n {
            for a in 0..task.actions() {
                let q: f64 = task
                    .problem()
                    .transitions(s, a)
                    .iter()
                    .map(|t| t.probability * (t.reward + t.gamma * v[t.next]))
                    .sum();
                close("q", &[exact.action_values()[s][a]], &[q], 1e-11);
                close("the advantage", &[exact.advantages()[s][a]], &[q - v[s]], 1e-11);
            }
        }
    }
}

/// A walk on a 40 × 40 grid that slips, ends in the far corner and, rarely, anywhere.
fn grid(start: impl Fn(usize) -> f64) -> Task {
    let n = 40 * 40;
    let mut builder =
        Problem::builder().states((0..n).map(|s| s.to_string())).actions(["right", "down", "left", "up"]);
    for s in 0..n {
        builder = builder.start(s, start(s));
        let (x, y) = (s % 40, s / 40);
        let near = [
            y * 40 + (x + 1).min(39),
            (y + 1).min(39) * 40 + x,
            y * 40 + x.max(1) - 1,
            y.max(1) * 40 - 40 + x,
        ];
        for a in 0..4 {
            let ending = if s + 1 == n { 1.0 } else { 0.01 };
            builder = builder.end(s, a, ending, x as f64);
            for (k, next) in near.into_iter().enumerate() {
                let p = if k == a { 2.0 / 3.0 } else { 1.0 / 9.0 };
                builder = builder.transition(s, a, next, p * (1.0 - ending), -1.0, 0.99);
            }
        }
    }
    Task::new(builder.build().unwrap(), &vec![vec![0.25; 4]; n]).unwrap()
}

#[test]
fn a_problem_of_many_states() {
    let one_start = grid(|s| if s == 7 { 1.0 } else { 0.0 });
    check_balance(&one_start);
    check_balance(&grid(|s| if s % 100 == 3 { 1.0 / 16.0 } else { 0.0 }));
    let policy = one_start.softmax();
    let weights = random_weights(&mut Random::new(606, 0), &policy);
    let exact = Exact::new(&one_start, &policy, &weights).unwrap();
    let (p, r) = dense(&one_start, &softmax(&one_start, &policy, &weights));
    let (v, m) = solve_both(&p, &r, one_start.stationary());
    close("v", exact.values(), &v, 1e-12);
    close("m", &exact.emphatic_weighting(1.0), &m, 1e-12);
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
