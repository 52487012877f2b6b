//! The trace of LC-ETD, followed step by step.

use crate::theory::EmphasisKind;
use crate::theory::tests::trace_expectation::{At, trace_expectation};
use crate::theory::tests::{close, continuing, random_weights};
use crate::{Exact, Fixed, Problem, ProblemError, Random, Task};

/// Three states, each step of which may be the last.
fn ending(random: &mut Random) -> Task {
    let mut builder = Problem::builder().states(["0", "1", "2"]).actions(["A0", "A1"]).start(0, 1.0);
    for s in 0..3usize {
        for (a, end) in [0.4, 0.3].into_iter().enumerate() {
            let next = random.below(3);
            builder = builder.transition(s, a, next, 1.0 - end, 0.0, 0.9).end(s, a, end, 0.0);
        }
    }
    let task = Task::new(builder.build().unwrap(), &vec![vec![0.3, 0.7]; 3]).unwrap();
    task.with_interest((0..3).map(|_| random.uniform()).collect()).unwrap()
}

/// The means of episodes of each age, from the rule itself.
#[test]
fn where_episodes_end_it_is_the_mean_over_their_ages() {
    let oldest = 100;
    let mut random = Random::new(61, 0);
    for (first, power) in [(0.5, 0.5), (1.0, 0.7), (0.6, 1.0), (0.3, 0.0)] {
        let c = |t: usize| first * (t as f64).powf(-power);
        let task = ending(&mut random);
        let pi = vec![vec![0.8, 0.2]; 3];
        let i = task.interest();
        let ages = trace_expectation(&task, &pi, 2 * oldest, |at: &At, there, past| {
            let mut now = vec![0.0; 2 * oldest];
            if at.gamma == 0.0 {
                (now[0], now[oldest]) = (i[at.state] * there, there);
                return now;
            }
            for t in 1..oldest {
                let (f, d) = (past[t - 1], past[oldest + t - 1]);
                now[t] = (1.0 - c(t + 1)) * at.rho_prev() * f + c(t + 1) * i[at.state] * d;
                now[oldest + t] = d;
            }
            now
        });
        let right = ages.iter().map(|of_state| of_state.iter().flat_map(|z| &z[..oldest]).sum());
        let policy = Fixed::new(&task, &pi).unwrap();
        let exact = Exact::new(&task, &policy, &[]).unwrap();
        let found = exact.emphasis_weighting(&EmphasisKind::Lc { first, power }, 1.0).unwrap();
        close("f", &found, &right.collect::<Vec<f64>>(), 1e-12);
    }
}

#[test]
fn where_nothing_ends_it_tends_to_the_targets_own_states() {
    let mut random = Random::new(62, 0);
    let task = continuing(&mut random, 0.9);
    let interest: Vec<f64> = (0..task.states()).map(|_| random.uniform()).collect();
    let task = task.with_interest(interest).unwrap();
    let policy = task.softmax();
    let weights = random_weights(&mut random, &policy);
    let exact = Exact::new(&task, &policy, &weights).unwrap();
    let p = exact.trace_matrix(|s, a| exact.observed(s, a), |_| 1.0);
    for (first, power) in [(0.2, 0.8), (1.0, 0.8), (0.5, 1.0)] {
        let mut f = exact.interest();
        for t in 2..100_000 {
            let c = first * f64::from(t).powf(-power);
            let passed = p.passed_on(&f);
            f = passed.iter().zip(exact.interest()).map(|(f, i)| (1.0 - c) * f + c * i).collect();
        }
        let found = exact.emphasis_weighting(&EmphasisKind::Lc { first, power }, 1.0).unwrap();
        close("d_π", &found, &f, 1e-3);
    }
    // With a share that does not fall it is a decayed trace, and with a share of one the interest.
    let weighting = |kind| exact.emphasis_weighting(&kind, 1.0).unwrap();
    let decayed: Vec<f64> =
        weighting(EmphasisKind::Decayed { beta: 0.75 }).into_iter().map(|f| 0.25 * f).collect();
    close("decayed", &weighting(EmphasisKind::Lc { first: 0.25, power: 0.0 }), &decayed, 1e-12);
    close("i", &weighting(EmphasisKind::Lc { first: 1.0, power: 0.0 }), &exact.interest(), 1e-15);
}

#[test]
fn a_trace_that_the_target_never_ends_is_refused() {
    // The behaviour leaves half of the time, the target never does: the older an episode, the more its trace weighs.
    let builder = Problem::builder().states(["home"]).actions(["stay", "leave"]).start("home", 1.0);
    let builder = builder.transition("home", "stay", "home", 1.0, 0.0, 0.9).end("home", "leave", 1.0, 0.0);
    let task = Task::new(builder.build().unwrap(), &[vec![0.5, 0.5]]).unwrap();
    let policy = Fixed::new(&task, &[vec![1.0, 0.0]]).unwrap();
    let exact = Exact::new(&task, &policy, &[]).unwrap();
    let refused = exact.emphasis_weighting(&EmphasisKind::Lc { first: 0.5, power: 1.0 }, 1.0);
    assert_eq!(refused, Err(ProblemError::FadesSlowly("home".to_owned())));
}

/// Once the start was taken for forgotten where nothing is ever new, and actions that the behaviour never takes for seen.
#[test]
fn where_nothing_ends_some_traces_have_no_limit() {
    let mut random = Random::new(63, 0);
    let task = continuing(&mut random, 0.9);
    let target: Vec<Vec<f64>> = vec![vec![0.5; 2]; task.states()];
    let policy = Fixed::new(&task, &target).unwrap();
    let weighting = |task: &Task, first, power| {
        let exact = Exact::new(task, &policy, &[]).unwrap();
        exact.emphasis_weighting(&EmphasisKind::Lc { first, power }, 1.0)
    };
    for (first, power) in [(0.0, 1.0), (0.5, 1.1), (1.1, 0.5)] {
        assert!(
            matches!(weighting(&task, first, power), Err(ProblemError::Number { .. })),
            "{first} {power}"
        );
    }
    let mut behaviour: Vec<Vec<f64>> = (0..task.states()).map(|s| task.behaviour(s).to_vec()).collect();
    behaviour[1] = vec![1.0, 0.0];
    let task = task.with_behaviour(&behaviour).unwrap();
    assert_eq!(weighting(&task, 0.5, 0.5), Err(ProblemError::Unobserved("1".to_owned())));
}
