//! The chain pattern.

use super::{Layout, probability};
use crate::file_error::Mistake;
use crate::located::Located;
use crate::transitions::{Dynamics, Outcome, count, numbered};
use crate::values::{Number, Whole};
use schemars::JsonSchema;
use serde::Deserialize;

/// States in a line, named 0, 1, 2 …; the actions are `left` and `right`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Line")]
pub(crate) struct Chain {
    /// How many states.
    states: Located<Whole>,
    /// What happens on a step to the left of the first state: `{ end = true, reward = 0 }`. Left out, the step stays there.
    #[serde(default)]
    left: Beyond,
    /// What happens on a step to the right of the last state.
    #[serde(default)]
    right: Beyond,
    /// With what probability a step goes the other way. Left out, it is 0.
    slip: Option<Located<Number>>,
    /// The reward of every step, to which that of an end is added. Left out, it is 0.
    step_reward: Option<Number>,
}

/// What happens on a step beyond an end of the line.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Beyond {
    /// The reward of the step. Left out, it is 0.
    reward: Option<Number>,
    /// Whether the step ends the episode. Otherwise it stays.
    #[serde(default)]
    end: bool,
}

impl Chain {
    pub(crate) fn dynamics(&self) -> Result<Dynamics, Mistake> {
        let n = count(&self.states, "states")? as usize;
        let slip = probability(self.slip.as_ref(), "slip")?;
        let mut outcomes = Vec::with_capacity(2 * n);
        for from in 0..n {
            for action in 0..2 {
                for (right, probability) in [(action == 1, 1.0 - slip), (action == 0, slip)] {
                    if probability > 0.0 {
                        let (to, reward) = self.step(from, right, n);
                        outcomes.push(Outcome { from, action, to, probability, reward, gamma: None });
                    }
                }
            }
        }
        Ok(Dynamics {
            states: numbered(n),
            actions: vec!["left".to_owned(), "right".to_owned()],
            outcomes,
            start: vec![0],
            layout: Layout::Line,
        })
    }

    /// The state after a step to the right or the left in a chain of `n` states (`None` if the episode ends), and the reward.
    fn step(&self, from: usize, right: bool, n: usize) -> (Option<usize>, f64) {
        let step_reward = self.step_reward.map_or(0.0, |r| r.0);
        let (next, beyond) = if right { (from + 1, &self.right) } else { (from.wrapping_sub(1), &self.left) };
        match next < n {
            true => (Some(next), step_reward),
            false => ((!beyond.end).then_some(from), step_reward + beyond.reward.map_or(0.0, |r| r.0)),
        }
    }
}
