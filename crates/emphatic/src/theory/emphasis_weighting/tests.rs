//! Every weighting against the expectation of its own rule, and in closed form.

use super::EmphasisKind;
use crate::theory::follow_on_moments::tests::{relatively_near, right, two_states};
use crate::theory::tests::trace_expectation::{At, Case, random_cases, trace_expectation};
use crate::theory::tests::{close, continuing, dense, random_weights, solve};
use crate::{Exact, Fixed, Problem, ProblemError, Random, Task};

/// d_μ E[F_t | s] by following a rule with `len` numbers, the first of which is F_t.
fn followed(case: &Case, len: usize, rule: impl Fn(&At, f64, &[f64]) -> Vec<f64>) -> Vec<f64> {
    let z = trace_expectation(&case.task, &case.pi, len, rule);
    z.iter().map(|actions| actions.iter().map(|z| z[0]).sum()).collect()
}

#[test]
fn weightings_are_the_means_of_their_traces() {
    for (k, case) in random_cases(71, 12).iter().enumerate() {
        let exact = case.exact();
        let i = case.task.interest();
        let check = |kind: EmphasisKind, right: Vec<f64>| {
            let found = exact.emphasis_weighting(&kind, 1.0).unwrap();
            close(&format!("{kind:?} in problem {k}"), &found, &right, 1e-10);
        };
        check(EmphasisKind::None, followed(case, 1, |at, there, _| vec![i[at.state] * there]));
        let trace = |at: &At, there: f64, past: &[f64]| {
            vec![at.gamma * at.rho_prev() * past[0] + i[at.state] * there]
        };
        check(EmphasisKind::FollowOn, followed(case, 1, trace));
        check(
            EmphasisKind::Normalised,
            followed(case, 1, |at, there, past| {
                vec![at.gamma * at.rho_prev() * past[0] + (1.0 - at.gamma) * i[at.state] * there]
            }),
        );
        check(
            EmphasisKind::Decayed { beta: 0.6 },
            followed(case, 1, |at, there, past| {
                let beta = if at.gamma > 0.0 { 0.6 } else { 0.0 };
                vec![beta * at.rho_prev() * past[0] + i[at.state] * there]
            }),
        );
        check(
            EmphasisKind::Clipped { rho_max: 0.8 },
            followed(case, 1, |at, there, past| {
                vec![at.gamma * at.rho_prev().min(0.8) * past[0] + i[at.state] * there]
            }),
        );
        for n in [0, 1, 4] {
            // The sum, and the terms of 0, 1, … n steps.
            let ring = |at: &At, there: f64, past: &[f64]| {
                let older = past[1..=n].iter().map(|term| at.gamma * at.rho_prev() * term);
                let terms: Vec<f64> = std::iter::once(i[at.state] * there).chain(older).collect();
                std::iter::once(terms.iter().sum()).chain(terms.iter().copied()).collect()
            };
            check(EmphasisKind::Truncated { n }, followed(case, n + 2, ring));
            let in_periods = followed(case, n + 2, ring).into_iter().map(|f| f / (n + 1) as f64).collect();
            check(EmphasisKind::Periodic { period: n + 1 }, in_periods);
        }
        for n in [1, 2, 3] {
            // F_t, and what the products of the last 1, … n − 1 steps make of earlier ones.
            let rule = |at: &At, there: f64, past: &[f64]| {
                let mut passed: Vec<f64> = past.iter().map(|x| at.gamma * at.rho_prev() * x).collect();
                passed.rotate_right(1);
                passed[0] += i[at.state] * there;
                passed
            };
            check(EmphasisKind::NStep { n }, followed(case, n, rule));
        }
    }
}

#[test]
fn the_exact_weighting_is_that_of_the_trace_where_the_behaviour_takes_every_action() {
    let cases = random_cases(72, 8);
    let exact = |k: usize, kind| cases[k].exact().emphasis_weighting(&kind, 1.0).unwrap();
    close("m", &exact(0, EmphasisKind::FollowOn), &exact(0, EmphasisKind::Exact), 1e-12);
    close("m", &exact(0, EmphasisKind::NStep { n: 1 }), &exact(0, EmphasisKind::Exact), 1e-12);
    close("m", &exact(0, EmphasisKind::Decayed { beta: 0.0 }), &exact(0, EmphasisKind::None), 1e-12);
    close("m", &exact(0, EmphasisKind::Truncated { n: 1_000_000 }), &exact(0, EmphasisKind::Exact), 1e-11);
    // And not where it does not.
    let (trace, m) = (exact(7, EmphasisKind::FollowOn), exact(7, EmphasisKind::Exact));
    assert!(trace.iter().zip(&m).any(|(trace, m)| (trace - m).abs() > 1e-3), "{trace:?} {m:?}");
}

#[test]
fn lambda_a_mixes_with_the_interest() {
    let case = &random_cases(73, 1)[0];
    let exact = case.exact();
    let mixed = exact.emphasis_weighting(&EmphasisKind::FollowOn, 0.3).unwrap();
    close("m_λ", &mixed, &exact.emphatic_weighting(0.3), 1e-12);
}

/// Once interest counted between periods, too, although nothing is updated there.
#[test]
fn between_periods_interest_does_not_count() {
    let case = &random_cases(73, 1)[0];
    let exact = case.exact();
    let third: Vec<f64> = exact.emphatic_weighting(0.0).iter().map(|i| i / 3.0).collect();
    close("i", &exact.emphasis_weighting(&EmphasisKind::Periodic { period: 3 }, 0.0).unwrap(), &third, 1e-15);
}

#[test]
fn with_one_discount_emphasis_is_a_share_of_the_future() {
    let mut random = Random::new(74, 0);
    for _ in 0..20 {
        let gamma = 0.95 * random.uniform();
        let task = continuing(&mut random, gamma);
        let interest: Vec<f64> = (0..task.states()).map(|_| random.uniform()).collect();
        let task = task.with_interest(interest).unwrap();
        let policy = task.softmax();
        let weights = random_weights(&mut random, &policy);
        let exact = Exact::new(&task, &policy, &weights).unwrap();
        let weighting = |kind| exact.emphasis_weighting(&kind, 1.0).unwrap();
        let sum = |kind| weighting(kind).iter().sum::<f64>();
        // Each step passes on γ of what there is.
        relatively_near(sum(EmphasisKind::FollowOn), sum(EmphasisKind::None) / (1.0 - gamma), 1e-12);
        relatively_near(
            sum(EmphasisKind::Truncated { n: 3 }),
            sum(EmphasisKind::None) * (1.0 - gamma.powi(4)) / (1.0 - gamma),
            1e-12,
        );
        relatively_near(
            sum(EmphasisKind::NStep { n: 3 }),
            sum(EmphasisKind::None) / (1.0 - gamma.powi(3)),
            1e-12,
        );
        // The normalised trace is the other times 1 − γ: (1 − γ) i and γ of the past. It is a discounted distribution of states.
        let scaled: Vec<f64> = weighting(EmphasisKind::FollowOn).iter().map(|m| (1.0 - gamma) * m).collect();
        close("normalised", &weighting(EmphasisKind::Normalised), &scaled, 1e-12);
        let pi = exact.probabilities();
        let (p, _) = dense(&task, &pi); // γ P_π.
        let states = task.states();
        let matrix =
            (0..states).map(|i| (0..states).map(|j| f64::from(u8::from(i == j)) - p[j][i]).collect());
        let start: Vec<f64> = weighting(EmphasisKind::None).iter().map(|i| (1.0 - gamma) * i).collect();
        close("d_γ", &scaled, &solve(matrix.collect(), start), 1e-11);
    }
}

#[test]
fn on_policy_the_trace_does_not_vary() {
    // With π = μ, interest 1 and one γ, F_t is 1/(1 − γ).
    let task = continuing(&mut Random::new(75, 0), 0.8);
    let behaviour: Vec<Vec<f64>> = (0..task.states()).map(|s| task.behaviour(s).to_vec()).collect();
    let policy = Fixed::new(&task, &behaviour).unwrap();
    let exact = Exact::new(&task, &policy, &[]).unwrap();
    let f = exact.emphasis_weighting(&EmphasisKind::FollowOn, 1.0).unwrap();
    let right: Vec<f64> = task.stationary().iter().map(|d| d / 0.2).collect();
    close("F", &f, &right, 1e-13);
    let moments = crate::FollowOnMoments::new(&exact);
    moments.standard_deviations().unwrap().into_iter().for_each(|sd| relatively_near(sd, 0.0, 1e-7));
}

#[test]
fn interest_at_the_start_alone_is_discounted_as_the_time_passes() {
    // On-policy, with interest in the first state of an episode only, F_t is γᵗ: the weight of a natural actor-critic's step.
    let gamma = 0.7;
    let mut builder = Problem::builder().states(["0", "1", "2", "3"]).actions(["on", "off"]).start("0", 1.0);
    for s in 0..3usize {
        builder = builder.transition(s, 0, s + 1, 1.0, 0.0, gamma).end(s, 1, 1.0, 0.0);
    }
    let builder = builder.end("3", "on", 1.0, 0.0).end("3", "off", 1.0, 0.0);
    let behaviour = vec![vec![0.6, 0.4]; 4];
    let task = Task::new(builder.build().unwrap(), &behaviour).unwrap();
    let task = task.with_interest(vec![1.0, 0.0, 0.0, 0.0]).unwrap();
    let policy = Fixed::new(&task, &behaviour).unwrap();
    let exact = Exact::new(&task, &policy, &[]).unwrap();
    let f = exact.emphasis_weighting(&EmphasisKind::FollowOn, 1.0).unwrap();
    for (t, d) in task.stationary().iter().enumerate() {
        relatively_near(f[t] / d, gamma.powi(t as i32), 1e-13);
    }
}

#[test]
fn the_two_states_by_hand() {
    // θ → 2θ: every step to the right passes on γ/μ = 1.8 of F, and half of the steps go right.
    let task = two_states(0.9, 0.5);
    let policy = right(&task);
    let exact = Exact::new(&task, &policy, &[]).unwrap();
    let check = |kind, right: [f64; 2]| {
        close(&format!("{kind:?}"), &exact.emphasis_weighting(&kind, 1.0).unwrap(), &right, 1e-13)
    };
    check(EmphasisKind::FollowOn, [0.5, 9.5]);
    check(EmphasisKind::Truncated { n: 1 }, [0.5, 0.5 + 0.9]);
    check(EmphasisKind::Truncated { n: 2 }, [0.5, 0.5 + 0.9 + 0.81]);
    check(EmphasisKind::Periodic { period: 2 }, [0.25, 0.7]);
    check(EmphasisKind::Decayed { beta: 0.5 }, [0.5, 0.5 + 0.5 / (1.0 - 0.5)]);
    check(EmphasisKind::Clipped { rho_max: 1.0 }, [0.5, (0.5 + 0.45 * 0.5) / (1.0 - 0.45)]);
    check(EmphasisKind::NStep { n: 2 }, [0.5, 0.5 + 0.81 / (1.0 - 0.81)]);
    check(EmphasisKind::Normalised, [0.05, 0.95]);
}

#[test]
fn what_cannot_be_is_refused() {
    let task = two_states(0.9, 0.5);
    let policy = right(&task);
    let exact = Exact::new(&task, &policy, &[]).unwrap();
    let refused = |kind| exact.emphasis_weighting(&kind, 1.0).unwrap_err();
    // Nothing ends here: a trace that does not decay grows for ever.
    assert_eq!(refused(EmphasisKind::Decayed { beta: 1.0 }), ProblemError::NeverFades("2".to_owned()));
    for kind in [
        EmphasisKind::Decayed { beta: -0.1 },
        EmphasisKind::Decayed { beta: f64::NAN },
        EmphasisKind::Clipped { rho_max: -1.0 },
        EmphasisKind::NStep { n: 0 },
        EmphasisKind::Periodic { period: 0 },
    ] {
        assert!(matches!(refused(kind), ProblemError::Number { .. }));
    }
    assert!(matches!(refused(EmphasisKind::NStep { n: usize::MAX }), ProblemError::Fill { .. }));
}
