//! The interest in problem and experiment files.

use crate::file_error::ValueError;
use crate::names::Names;
use crate::scalar_or_table;
use crate::values::{Expected, Number};
use emphatic::{ContinuousCounterexample, KnownProblem, Task};
use schemars::JsonSchema;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The interest: a number for all states, or a table.
#[derive(Clone, Debug, PartialEq, JsonSchema)]
#[schemars(untagged)]
pub enum Interest {
    /// The same in all states.
    Everywhere(Number),
    /// In some states.
    ByState(BTreeMap<String, Number>),
}

impl Expected for Interest {
    const EXPECTED: &'static str = "a number, or a table of numbers by state";
}

scalar_or_table!(Interest: Number => Interest::Everywhere, BTreeMap<String, Number> => Interest::ByState);

impl Interest {
    /// The problem with this interest. States that a table leaves out keep their own.
    pub fn applied_to(&self, problem: &KnownProblem) -> Result<KnownProblem, ValueError> {
        let mut by_state = problem.interest().to_vec();
        match self {
            Self::Everywhere(Number(x)) => by_state.fill(*x),
            Self::ByState(table) => {
                let names = Names::new("state", problem.states());
                for (state, Number(x)) in table {
                    by_state[names.find(state)?] = *x;
                }
            }
        }
        Ok(match problem {
            KnownProblem::Finite(task) => {
                KnownProblem::Finite(Arc::new(Task::clone(task).with_interest(by_state)?))
            }
            KnownProblem::Continuous(problem) => {
                let by_state = [by_state[0], by_state[1], by_state[2]];
                let problem = ContinuousCounterexample::clone(problem).with_interest(by_state)?;
                KnownProblem::Continuous(Arc::new(problem))
            }
        })
    }
}
