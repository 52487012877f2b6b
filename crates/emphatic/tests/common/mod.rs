//! Random problems.

#![allow(dead_code, reason = "each test file uses its own part of this")]

use emphatic::{Policy, Problem, Random, Table, Task};

/// Probabilities for `n` outcomes: none is below a tenth of its even share.
pub fn random_probabilities(random: &mut Random, n: usize) -> Vec<f64> {
    let shares: Vec<f64> = (0..n).map(|_| 0.1 + random.uniform()).collect();
    let sum: f64 = shares.iter().sum();
    shares.into_iter().map(|x| x / sum).collect()
}

/// A problem with 2–20 states and 2–5 actions: few successors each, γ that varies with the transition and is
/// sometimes 0 or 1, interest that is sometimes 0, states that the actor may not tell apart.
pub fn random_task(random: &mut Random) -> Task {
    let (n, actions) = (2 + random.below(19), 2 + random.below(4));
    let mut builder = Problem::builder()
        .states((0..n).map(|s| format!("S{s}")))
        .actions((0..actions).map(|a| format!("A{a}")))
        .start(0, 1.0);
    for s in 0..n {
        for a in 0..actions {
            let ways = 1 + random.below(3);
            for p in random_probabilities(random, ways) {
                // The ring of first actions keeps the behaviour's chain in one piece.
                let next = if a == 0 { (s + 1) % n } else { random.below(n) };
                let gamma = match random.below(5) {
                    0 => 0.0,
                    1 => 1.0,
                    _ => random.uniform(),
                };
                builder = builder.transition(s, a, next, p, random.normal(), gamma);
            }
        }
    }
    let behaviour: Vec<_> = (0..n).map(|_| random_probabilities(random, actions)).collect();
    let interest = (0..n).map(|_| if random.below(4) == 0 { 0.0 } else { 2.0 * random.uniform() }).collect();
    let features = random_features(random, n);
    Task::new(builder.build().unwrap(), &behaviour)
        .unwrap()
        .with_interest(interest)
        .unwrap()
        .with_actor(features)
        .unwrap()
}

/// One-hot, aliased or dense features.
fn random_features(random: &mut Random, n: usize) -> Table {
    let groups = 1 + random.below(n);
    match random.below(3) {
        0 => Table::aliased(&(0..n).collect::<Vec<_>>()),
        1 => Table::aliased(
            &(0..n).map(|s| if s < groups { s } else { random.below(groups) }).collect::<Vec<_>>(),
        ),
        _ => {
            let len = 1 + random.below(4);
            Table::dense(&(0..n).map(|_| (0..len).map(|_| random.normal()).collect()).collect::<Vec<_>>())
                .unwrap()
        }
    }
}

/// Weights that prefer some actions without making any certain.
pub fn random_weights<P: Policy>(random: &mut Random, policy: &P) -> Vec<f64> {
    (0..policy.len()).map(|_| random.normal()).collect()
}
