//! The interest in problem and experiment files.

use crate::file_error::ValueError;
use crate::names::Names;
use crate::values::{Expected, Number, forms};
use emphatic::KnownProblem;
use schemars::JsonSchema;
use std::collections::BTreeMap;

/// The interest: a number for all states, or a table.
#[derive(Clone, Debug, PartialEq, JsonSchema)]
#[schemars(untagged)]
pub enum Interest {
    /// The same in all states.
    Everywhere(Number),
    /// By a word.
    Word(InterestWord),
    /// In some states.
    ByState(BTreeMap<String, Number>),
}

/// An interest that has a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema)]
#[schemars(rename_all = "lowercase")]
pub enum InterestWord {
    /// 1 in all states.
    All,
    /// In a simulator: 1 in the first state of an episode, 0 elsewhere.
    Start,
}

impl Expected for Interest {
    const EXPECTED: &'static str = "a number, `all`, `start`, or a table of numbers by state";
}

forms!(
    Interest,
    Interest::EXPECTED,
    number: Interest::Everywhere,
    checked_text: |text: String| match text.as_str() {
        "all" => Ok(Interest::Word(InterestWord::All)),
        "start" => Ok(Interest::Word(InterestWord::Start)),
        _ => Err(format!("the interest `{text}` has no meaning; it is {}", Interest::EXPECTED)),
    },
    table: Interest::ByState,
);

impl Interest {
    /// The problem with this interest. States that a table leaves out keep their own.
    pub fn applied_to(&self, problem: &KnownProblem) -> Result<KnownProblem, ValueError> {
        let mut by_state = problem.interest().to_vec();
        match self {
            Self::Everywhere(Number(x)) => by_state.fill(*x),
            Self::Word(InterestWord::All) => by_state.fill(1.0),
            Self::Word(InterestWord::Start) => {
                let first = problem.states().first().map_or("S0", String::as_str);
                return Err(ValueError::new(
                    "`start` is the interest of simulators, whose states have no names",
                )
                .help(format!("in a problem with states: {{ {first} = 1 }}, and 0 for the others")));
            }
            Self::ByState(table) => {
                let names = Names::new("state", problem.states());
                for (state, Number(x)) in table {
                    by_state[names.find(state)?] = *x;
                }
            }
        }
        Ok(problem.with_interest(by_state)?)
    }
}
