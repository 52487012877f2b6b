//! A problem with its behaviour and interest.

use crate::file_error::ValueError;
use crate::names::Names;
use crate::policy::{Behaviour, Share, policy_rows, probabilities, softmax_weights};
use crate::scalar_or_table;
use crate::values::{Expected, Number};
use emphatic::{ContinuousCounterexample, ProblemError, Table, Task};
use schemars::JsonSchema;
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

/// The states of the continuous-action counterexample.
static THREE_STATES: LazyLock<[String; 3]> = LazyLock::new(|| ["S0", "S1", "S2"].map(str::to_owned));

/// A problem with its behaviour and interest.
#[derive(Clone, Debug)]
pub enum World {
    /// Named actions.
    Finite(Arc<Task>),
    /// One real action.
    Continuous(Arc<ContinuousCounterexample>),
}

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

impl From<ProblemError> for ValueError {
    fn from(error: ProblemError) -> Self {
        let help = match &error {
            ProblemError::Sum { sum, .. } if (sum - 1.0).abs() < 1e-3 => {
                Some("give more digits: a sum may be off by rounding, one part in 10⁹")
            }
            ProblemError::Missing { .. } => Some(
                "every action needs a transition in every state; one that does nothing leads back to the state",
            ),
            ProblemError::Stationary(..) => {
                Some("let episodes end: they start again, and come to all that the start leads to")
            }
            _ => None,
        };
        ValueError::new(error.to_string()).maybe_help(help.map(str::to_owned))
    }
}

impl World {
    /// The names of the states.
    pub fn states(&self) -> &[String] {
        match self {
            Self::Finite(task) => task.problem().states(),
            Self::Continuous(_) => &*THREE_STATES,
        }
    }

    /// The names of the actions; empty if the action is a real number.
    pub fn actions(&self) -> &[String] {
        match self {
            Self::Finite(task) => task.problem().actions(),
            Self::Continuous(_) => &[],
        }
    }

    /// The features of the actor.
    pub fn actor(&self) -> &Table {
        match self {
            Self::Finite(task) => task.actor(),
            Self::Continuous(problem) => problem.actor(),
        }
    }

    /// The features that a critic has by default.
    pub fn critic(&self) -> Table {
        match self {
            Self::Finite(task) => task.critic().clone(),
            Self::Continuous(_) => self.identity(),
        }
    }

    /// Features that are the states themselves.
    pub fn identity(&self) -> Table {
        Table::one_hot(self.actor().states())
    }

    /// The interest i, by state.
    pub fn interest(&self) -> &[f64] {
        match self {
            Self::Finite(task) => task.interest(),
            Self::Continuous(problem) => problem.interest(),
        }
    }

    /// The mean number of steps in an episode of the behaviour; `None` if episodes never end.
    pub fn episode_length(&self) -> Option<f64> {
        let Self::Finite(task) = self else { return Some(2.0) };
        let ending = |s: usize, a: usize| -> f64 {
            let ends = task.problem().transitions(s, a).iter().filter(|t| t.gamma == 0.0);
            ends.map(|t| t.probability).sum()
        };
        let in_state =
            |s: usize| -> f64 { task.behaviour(s).iter().enumerate().map(|(a, mu)| mu * ending(s, a)).sum() };
        let rate: f64 = (0..task.states()).map(|s| task.stationary()[s] * in_state(s)).sum();
        (rate > 0.0).then(|| 1.0 / rate)
    }

    /// The number of a state.
    pub fn state(&self, name: &str) -> Result<usize, ValueError> {
        Names::new("state", self.states()).find(name)
    }

    /// The number of an action.
    pub fn action(&self, name: &str) -> Result<usize, ValueError> {
        Names::new("action", self.actions()).find(name)
    }

    /// The same with this behaviour.
    pub fn with_behaviour(&self, behaviour: &Behaviour) -> Result<Self, ValueError> {
        match self {
            Self::Finite(task) => {
                let own = |s: usize| task.behaviour(s).to_vec();
                let rows = policy_rows(task.problem(), behaviour, own)?;
                Ok(Self::Finite(Arc::new(Task::clone(task).with_behaviour(&rows)?)))
            }
            Self::Continuous(problem) => {
                let Gaussian { mean, standard_deviation } = gaussian(behaviour)?;
                let problem =
                    ContinuousCounterexample::clone(problem).with_behaviour(mean, standard_deviation)?;
                Ok(Self::Continuous(Arc::new(problem)))
            }
        }
    }

    /// The same with this interest.
    pub fn with_interest(&self, interest: &Interest) -> Result<Self, ValueError> {
        let by_state = match interest {
            Interest::Everywhere(Number(x)) => vec![*x; self.interest().len()],
            Interest::ByState(table) => {
                let (mut by_state, names) = (self.interest().to_vec(), Names::new("state", self.states()));
                for (state, Number(x)) in table {
                    by_state[names.find(state)?] = *x;
                }
                by_state
            }
        };
        Ok(match self {
            Self::Finite(task) => Self::Finite(Arc::new(Task::clone(task).with_interest(by_state)?)),
            Self::Continuous(problem) => {
                let by_state = [by_state[0], by_state[1], by_state[2]];
                Self::Continuous(Arc::new(ContinuousCounterexample::clone(problem).with_interest(by_state)?))
            }
        })
    }

    /// The weights of a softmax with these probabilities in every state, those of the last action being zero.
    pub fn softmax_weights(&self, table: &BTreeMap<String, Number>) -> Result<Vec<f64>, ValueError> {
        let row = probabilities(&Names::new("action", self.actions()), self.actions().len(), table)?;
        let sum: f64 = row.iter().sum();
        if row.iter().any(|p| !(*p > 0.0 && *p < 1.0)) || (sum - 1.0).abs() > 1e-9 {
            let help =
                "every action needs a probability between 0 and 1 (a softmax has no 0), and they sum to 1";
            return Err(
                ValueError::new(format!("these are no probabilities of a softmax: {row:?}")).help(help)
            );
        }
        softmax_weights(self.actor(), |_| &row).ok_or_else(|| {
            ValueError::new("the same probabilities everywhere are no single set of weights")
                .help("in this problem a state has several features: give `weights` instead")
        })
    }
}

struct Gaussian {
    mean: f64,
    standard_deviation: f64,
}

/// The behaviour of a problem with real actions.
fn gaussian(behaviour: &Behaviour) -> Result<Gaussian, ValueError> {
    let error = |message: &str| {
        ValueError::new(message).help("it is a Gaussian: { mean = 1.0, standard_deviation = 1.0 }")
    };
    let Behaviour::Table(table) = behaviour else {
        return Err(error("there is no uniform behaviour over all real numbers"));
    };
    let number = |key: &str| match table.get(key) {
        Some(Share::Number(Number(x))) => Ok(*x),
        _ => Err(error(&format!("the behaviour of this problem needs a number `{key}`"))),
    };
    let gaussian = Gaussian { mean: number("mean")?, standard_deviation: number("standard_deviation")? };
    if table.len() > 2 {
        return Err(error("the behaviour has more than a mean and a standard_deviation"));
    }
    Ok(gaussian)
}
