//! Random problems.

use super::{Layout, probability};
use crate::file_error::Mistake;
use crate::located::{Located, span};
use crate::transitions::{Dynamics, MOST_TRANSITIONS, Outcome, count, numbered, too_many};
use crate::values::{Number, Whole};
use emphatic::Random;
use emphatic::theory::EliminationOrder;
use schemars::JsonSchema;
use serde::Deserialize;

/// A random problem (a Garnet): each action leads to a few random states, with random probabilities and rewards.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RandomProblem {
    /// What the randomness comes from: the same seed gives the same problem everywhere.
    seed: Whole,
    /// How many states, named 0, 1, 2 …
    states: Located<Whole>,
    /// How many actions, named 0, 1, 2 …
    actions: Located<Whole>,
    /// To how many states an action may lead. Left out, it is 3, or all if there are fewer.
    branching: Option<Located<Whole>>,
    /// With what probability a step ends the episode. Left out, it is 0.
    end: Option<Located<Number>>,
}

/// The numbers of a random problem, checked.
struct Size {
    states: usize,
    actions: usize,
    branching: usize,
    end: f64,
}

impl RandomProblem {
    /// `gamma` is the file's.
    pub(crate) fn dynamics(&self, gamma: f64) -> Result<Dynamics, Mistake> {
        let size = self.size(gamma)?;
        let mut random = Random::new(self.seed.0, 0);
        let mut outcomes = Vec::with_capacity(size.states * size.actions * size.branching);
        for from in 0..size.states {
            for action in 0..size.actions {
                let shares: Vec<f64> = (0..size.branching).map(|_| 0.1 + random.uniform()).collect();
                let sum: f64 = shares.iter().sum();
                let next = successors(&mut random, size.states, size.branching);
                for (to, share) in next.into_iter().zip(shares) {
                    let probability = (1.0 - size.end) * share / sum;
                    let reward = random.normal();
                    outcomes.push(Outcome { from, action, to: Some(to), probability, reward, gamma: None });
                }
                if size.end > 0.0 {
                    let (probability, reward) = (size.end, random.normal());
                    outcomes.push(Outcome { from, action, to: None, probability, reward, gamma: None });
                }
            }
        }
        Ok(Dynamics {
            states: numbered(size.states),
            actions: numbered(size.actions),
            outcomes,
            start: vec![0],
            layout: Layout::None,
        })
    }

    fn size(&self, gamma: f64) -> Result<Size, Mistake> {
        let (n, actions) = (count(&self.states, "states")?, count(&self.actions, "actions")?);
        let branching = match &self.branching {
            Some(branching) => count(branching, "branching")?,
            None => n.min(3),
        };
        let end = probability(self.end.as_ref(), "end")?;
        let span = span(&self.branching).unwrap_or(self.states.span.clone());
        if branching > n {
            let message = format!("an action cannot lead to {branching} of {n} states");
            return Err(Mistake::at(&span, message).help(format!("`branching` lies between 1 and {n} here")));
        }
        let transitions = n.saturating_mul(actions).saturating_mul(branching + u64::from(end > 0.0));
        if transitions > MOST_TRANSITIONS {
            return Err(too_many(&span, transitions.into()));
        }
        // With γ = 0 only the behaviour's chain is eliminated, and it may take a single action.
        let successors = if gamma == 0.0 { branching } else { branching * actions };
        if end < 1.0 {
            EliminationOrder::check_random(n as usize, successors as usize)
                .map_err(|error| Mistake::at(&self.states.span, error.to_string()))?;
        }
        Ok(Size { states: n as usize, actions: actions as usize, branching: branching as usize, end })
    }
}

/// Different states at random, by Floyd's algorithm.
fn successors(random: &mut Random, n: usize, many: usize) -> Vec<usize> {
    let mut chosen: Vec<usize> = Vec::with_capacity(many);
    for last in n - many..n {
        let state = random.below(last + 1);
        chosen.push(if chosen.contains(&state) { last } else { state });
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_successors_are_different_states() {
        let mut random = Random::new(1, 0);
        for _ in 0..100 {
            let mut states = successors(&mut random, 7, 5);
            states.sort_unstable();
            states.dedup();
            assert!(states.len() == 5 && states[4] < 7);
        }
    }
}
