//! Random problems, for tests of what holds in every problem.

use super::{Problem, ProblemError, Task};
use crate::features::Table;
use crate::random_stream::Random;

impl Task {
    /// A random problem with 2 to 20 states and 2 to 5 actions: few successors each, γ that varies with the transition and
    /// is sometimes 0 or 1, interest that is sometimes 0, features that may be aliased.
    pub fn random(random: &mut Random) -> Self {
        // It is a problem whatever is drawn: the tests draw thousands.
        Self::try_random(random).expect("a random problem is a problem")
    }

    fn try_random(random: &mut Random) -> Result<Self, ProblemError> {
        let (n, actions) = (2 + random.below(19), 2 + random.below(4));
        let mut builder = Problem::builder()
            .states((0..n).map(|s| format!("S{s}")))
            .actions((0..actions).map(|a| format!("A{a}")))
            .start(0, 1.0);
        for s in 0..n {
            for a in 0..actions {
                let ways = 1 + random.below(3);
                for p in probabilities(random, ways) {
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
        let behaviour: Vec<_> = (0..n).map(|_| probabilities(random, actions)).collect();
        let interest =
            (0..n).map(|_| if random.below(4) == 0 { 0.0 } else { 2.0 * random.uniform() }).collect();
        let features = features(random, n)?;
        Task::new(builder.build()?, &behaviour)?.with_interest(interest)?.with_actor(features)
    }
}

/// Probabilities for `n` outcomes: none is below a tenth of its even share.
fn probabilities(random: &mut Random, n: usize) -> Vec<f64> {
    let shares: Vec<f64> = (0..n).map(|_| 0.1 + random.uniform()).collect();
    let sum: f64 = shares.iter().sum();
    shares.into_iter().map(|x| x / sum).collect()
}

/// One-hot, aliased or dense features.
fn features(random: &mut Random, n: usize) -> Result<Table, ProblemError> {
    let groups = 1 + random.below(n);
    let group = |s: usize, random: &mut Random| if s < groups { s } else { random.below(groups) };
    Ok(match random.below(3) {
        0 => Table::aliased(&(0..n).collect::<Vec<_>>()),
        1 => Table::aliased(&(0..n).map(|s| group(s, random)).collect::<Vec<_>>()),
        _ => {
            let len = 1 + random.below(4);
            let mut row = |_| (0..len).map(|_| random.normal()).collect();
            Table::dense(&(0..n).map(&mut row).collect::<Vec<_>>())?
        }
    })
}
