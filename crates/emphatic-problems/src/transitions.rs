//! The states, actions and transitions of a problem: as a file lists them, and how many are possible.

use crate::file_error::Mistake;
use crate::located::Located;
use crate::names::{Key, Keys, Names};
use crate::pattern::Layout;
use crate::problem_file::File;
use crate::values::{Number, Whole, forms};
use schemars::JsonSchema;
use serde::Deserialize;
use std::ops::Range;

/// The most states or actions of a problem.
pub(crate) const MOST: u64 = 1_000_000;

/// The most transitions of a problem, each outcome of each action in each state being one. So many take about two gigabytes.
pub(crate) const MOST_TRANSITIONS: u64 = 10_000_000;

/// The dynamics of a problem, with states and actions by number.
#[derive(Default)]
pub(crate) struct Dynamics {
    pub(crate) states: Vec<String>,
    pub(crate) actions: Vec<String>,
    pub(crate) outcomes: Vec<Outcome>,
    /// Where episodes start, unless the file says otherwise.
    pub(crate) start: Vec<usize>,
    pub(crate) layout: Layout,
}

/// One outcome of an action in a state.
pub(crate) struct Outcome {
    pub(crate) from: usize,
    pub(crate) action: usize,
    /// The next state; `None` if the episode ends.
    pub(crate) to: Option<usize>,
    pub(crate) probability: f64,
    pub(crate) reward: f64,
    /// The discount; `None` if it is the file's.
    pub(crate) gamma: Option<f64>,
}

/// Names, or their number.
#[derive(JsonSchema)]
#[schemars(untagged)]
pub(crate) enum NamesValue {
    Names(Vec<String>),
    Number(Whole),
}

/// How an action can turn out.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Transition {
    /// In which state; a list stands for several.
    from: Keys,
    /// By which action; a list stands for several.
    action: Keys,
    /// To which state it leads; a list shares the probability equally.
    to: Option<Keys>,
    /// Whether it ends the episode. Either this or `to`.
    #[serde(default)]
    end: bool,
    /// Its probability. Left out, it is 1.
    probability: Option<Number>,
    /// The reward on the way. Left out, it is 0.
    reward: Option<Number>,
    /// The discount. Left out, it is the file's.
    gamma: Option<Number>,
}

forms!(
    NamesValue,
    "a list of names, or their number",
    whole: |n| NamesValue::Number(Whole(n)),
    list: NamesValue::Names,
);

/// The states, actions and transitions that a file lists.
pub(crate) fn listed(file: &File) -> Result<Dynamics, Mistake> {
    let rows = length(file.states.as_ref(), "states")? * length(file.actions.as_ref(), "actions")?;
    if let (Some(states), true) = (&file.states, rows > MOST_TRANSITIONS) {
        return Err(too_many(&states.span, rows.into()));
    }
    let Some(transitions) = &file.transitions else { return Err(Mistake::missing("transitions")) };
    let (states, actions) = (names(file.states.as_ref()), names(file.actions.as_ref()));
    let (state_names, action_names) = (Names::new("state", &states), Names::new("action", &actions));
    let mut outcomes = Vec::with_capacity(transitions.value.len());
    // Building the problem refuses empty lists of names.
    if !states.is_empty() && !actions.is_empty() {
        for transition in &transitions.value {
            add_outcomes(&mut outcomes, transition, &state_names, &action_names)?;
        }
    }
    Ok(Dynamics { states, actions, outcomes, ..Dynamics::default() })
}

/// The place of the first transition that a message names and that has this number, if the message is about a number. If there is
/// no such transition, the place of all.
pub(crate) fn place_of(file: &File, message: &str, number: Option<f64>) -> Option<Range<usize>> {
    let transitions = file.transitions.as_ref()?;
    let is_named = |Transition { from, action, .. }: &Transition| {
        from.as_slice().iter().any(|from| {
            let from = format!("from '{}' by ", name_of(from, file.states.as_ref()));
            let by = |action| format!("{from}'{}'", name_of(action, file.actions.as_ref()));
            message.contains(&from) && action.as_slice().iter().any(|action| message.contains(&by(action)))
        })
    };
    let found = transitions.value.iter().find(|transition| {
        let transition = &transition.value;
        number.is_none_or(|number| transition.has(number)) && is_named(transition)
    });
    Some(found.map_or(&transitions.span, |found| &found.span).clone())
}

fn names(value: Option<&Located<NamesValue>>) -> Vec<String> {
    match value.map(|names| &names.value) {
        Some(NamesValue::Names(names)) => names.clone(),
        Some(NamesValue::Number(Whole(n))) => numbered(*n as usize),
        None => Vec::new(),
    }
}

/// The name that messages have for a key.
fn name_of(key: &Key, names: Option<&Located<NamesValue>>) -> String {
    match (key, names.map(|names| &names.value)) {
        (Key::Name(name), _) => name.clone(),
        (Key::Number(k), Some(NamesValue::Names(names))) => {
            names.get(*k as usize).cloned().unwrap_or_default()
        }
        (Key::Number(k), _) => k.to_string(),
    }
}

impl Transition {
    /// Whether one of its numbers is this one, to the bit, or both are NaN.
    fn has(&self, x: f64) -> bool {
        let shared = self.to.as_ref().map_or(1.0, |to| to.as_slice().len() as f64);
        let numbers =
            [self.probability.map(|p| p.0 / shared), self.reward.map(|r| r.0), self.gamma.map(|g| g.0)];
        numbers.iter().flatten().any(|y| y.to_bits() == x.to_bits() || (x.is_nan() && y.is_nan()))
    }

    /// The states it leads to; `None` for the end of the episode.
    fn next_states(&self, names: &Names, span: &Range<usize>) -> Result<Vec<Option<usize>>, Mistake> {
        match (&self.to, self.end, self.gamma) {
            (Some(to), false, _) => Ok(find(names, to, span)?.into_iter().map(Some).collect()),
            (None, true, None) => Ok(vec![None]),
            (None, true, Some(_)) => {
                let message = "the end of an episode has no `gamma`: what comes after does not count";
                Err(Mistake::at(span, message).help("leave it out"))
            }
            _ => Err(Mistake::at(span, "a transition leads `to` a state or is the `end` of an episode")
                .help("give either `to = \"…\"` or `end = true`")),
        }
    }
}

/// Adds the outcomes that a transition stands for: one for each combination of its lists.
fn add_outcomes(
    outcomes: &mut Vec<Outcome>,
    transition: &Located<Transition>,
    states: &Names,
    actions: &Names,
) -> Result<(), Mistake> {
    let Located { value: transition, span } = transition;
    let to = transition.next_states(states, span)?;
    let (from, action) = (find(states, &transition.from, span)?, find(actions, &transition.action, span)?);
    if from.is_empty() || action.is_empty() || to.is_empty() {
        return Err(
            Mistake::at(span, "a list of this transition is empty").help("give at least one state or action")
        );
    }
    let all = outcomes.len() as u128 + product([from.len(), action.len(), to.len()]);
    if all > MOST_TRANSITIONS.into() {
        return Err(too_many(span, all));
    }
    let probability = transition.probability.map_or(1.0, |p| p.0) / to.len() as f64;
    let reward = transition.reward.map_or(0.0, |r| r.0);
    let gamma = transition.gamma.map(|gamma| gamma.0);
    for &from in &from {
        for &action in &action {
            outcomes.extend(to.iter().map(|&to| Outcome { from, action, to, probability, reward, gamma }));
        }
    }
    Ok(())
}

fn find(names: &Names, keys: &Keys, span: &Range<usize>) -> Result<Vec<usize>, Mistake> {
    keys.as_slice().iter().map(|key| names.find_key(key).map_err(|error| error.at(span))).collect()
}

/// How many transitions lists of these lengths stand for: three long lists are beyond 64 bits.
fn product(lengths: [usize; 3]) -> u128 {
    lengths.into_iter().map(|length| length as u128).product()
}

/// The names 0, 1, 2 …
pub(crate) fn numbered(n: usize) -> Vec<String> {
    (0..n).map(|k| k.to_string()).collect()
}

/// A number of states, actions and such, if it is possible.
pub(crate) fn count(Located { value: Whole(x), span }: &Located<Whole>, key: &str) -> Result<u64, Mistake> {
    if (1..=MOST).contains(x) {
        return Ok(*x);
    }
    Err(Mistake::at(span, format!("`{key}` is {x}; it must lie between 1 and {MOST}")))
}

/// The number of states or actions, if it is possible.
fn length(value: Option<&Located<NamesValue>>, key: &str) -> Result<u64, Mistake> {
    let Some(value) = value else { return Err(Mistake::missing(key)) };
    match &value.value {
        NamesValue::Number(n) => count(&Located { value: *n, span: value.span.clone() }, key),
        NamesValue::Names(names) if names.len() as u64 <= MOST => Ok(names.len() as u64),
        NamesValue::Names(names) => {
            let message = format!("`{key}` is a list of {}; at most {MOST} are possible", names.len());
            Err(Mistake::at(&value.span, message))
        }
    }
}

/// The mistake of a problem with too many transitions.
pub(crate) fn too_many(span: &Range<usize>, transitions: u128) -> Mistake {
    let message = format!("this makes {transitions} transitions; at most {MOST_TRANSITIONS} are possible");
    Mistake::at(span, message)
        .help("each way in which an action can turn out in a state is one, and an end has one for each state of the start")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Once the product of three lists of four million was 0, and the memory was filled.
    #[test]
    fn transitions_of_long_lists_are_counted_without_overflow() {
        assert_eq!(product([1 << 22; 3]), 1 << 66);
    }
}
