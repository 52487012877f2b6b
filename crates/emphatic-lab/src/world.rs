//! The problems that experiments name, with their behaviour and interest.

use crate::file::{Behaviour, Interest, Share};
use crate::file_error::suggest;
use crate::sweep::Number;
use emphatic::{ContinuousCounterexample, Features, ProblemError, Table, Task};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The names of the problems that need no file.
pub(crate) const BUILT_IN: [&str; 3] = ["counterexample", "long-counterexample", "continuous-counterexample"];

/// A problem with its behaviour and interest.
#[derive(Clone, Debug)]
pub(crate) enum World {
    /// Named actions.
    Finite(Arc<Task>),
    /// One real action.
    Continuous(Arc<ContinuousCounterexample>),
}

/// What is wrong with a name or number, and what would be right.
#[derive(Clone, Debug)]
pub(crate) struct Unfit {
    pub(crate) message: String,
    pub(crate) help: Option<String>,
}

impl From<ProblemError> for Unfit {
    fn from(error: ProblemError) -> Self {
        Self { message: error.to_string(), help: None }
    }
}

fn unfit<T>(message: impl Into<String>, help: Option<String>) -> Result<T, Unfit> {
    Err(Unfit { message: message.into(), help })
}

impl World {
    /// The names of the states.
    pub(crate) fn states(&self) -> Vec<String> {
        match self {
            Self::Finite(task) => task.problem().states().to_vec(),
            Self::Continuous(_) => ["S0", "S1", "S2"].map(str::to_owned).into(),
        }
    }

    /// The names of the actions; none where the action is a real number.
    pub(crate) fn actions(&self) -> &[String] {
        match self {
            Self::Finite(task) => task.problem().actions(),
            Self::Continuous(_) => &[],
        }
    }

    /// What the actor sees.
    pub(crate) fn actor(&self) -> &Table {
        match self {
            Self::Finite(task) => task.actor(),
            Self::Continuous(problem) => problem.actor(),
        }
    }

    /// What a critic sees by default.
    pub(crate) fn critic(&self) -> Table {
        match self {
            Self::Finite(task) => task.critic().clone(),
            Self::Continuous(_) => self.identity(),
        }
    }

    /// The states themselves.
    pub(crate) fn identity(&self) -> Table {
        Table::aliased(&(0..self.actor().states()).collect::<Vec<_>>())
    }

    /// i, by state.
    pub(crate) fn interest(&self) -> &[f64] {
        match self {
            Self::Finite(task) => task.interest(),
            Self::Continuous(problem) => problem.interest(),
        }
    }

    /// How many steps an episode of the behaviour lasts on average; nothing if it never ends.
    pub(crate) fn episode_length(&self) -> Option<f64> {
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
    pub(crate) fn state(&self, name: &str) -> Result<usize, Unfit> {
        find("state", name, &self.states())
    }

    /// The number of an action.
    pub(crate) fn action(&self, name: &str) -> Result<usize, Unfit> {
        find("action", name, self.actions())
    }

    /// The same with this behaviour.
    pub(crate) fn with_behaviour(&self, Behaviour(table): &Behaviour) -> Result<Self, Unfit> {
        match self {
            Self::Finite(task) => {
                let rows = self.behaviour_rows(task, table)?;
                Ok(Self::Finite(Arc::new(Task::clone(task).with_behaviour(&rows)?)))
            }
            Self::Continuous(problem) => {
                let help = || Some("it is a Gaussian: { mean = 1.0, standard_deviation = 1.0 }".to_owned());
                let number = |key: &str| match table.get(key) {
                    Some(Share::Number(Number(x))) => Ok(*x),
                    _ => unfit(format!("the behaviour of this problem needs a number `{key}`"), help()),
                };
                let (mean, standard_deviation) = (number("mean")?, number("standard_deviation")?);
                if table.len() > 2 {
                    return unfit("the behaviour has more than a mean and a standard_deviation", help());
                }
                let problem =
                    ContinuousCounterexample::clone(problem).with_behaviour(mean, standard_deviation)?;
                Ok(Self::Continuous(Arc::new(problem)))
            }
        }
    }

    fn behaviour_rows(&self, task: &Task, table: &BTreeMap<String, Share>) -> Result<Vec<Vec<f64>>, Unfit> {
        let numbers: BTreeMap<String, Number> = table
            .iter()
            .filter_map(|(key, share)| match share {
                Share::Number(x) => Some((key.clone(), *x)),
                Share::InState(_) => None,
            })
            .collect();
        if numbers.len() == table.len() {
            return Ok(vec![self.probabilities(&numbers)?; task.states()]);
        }
        let mut rows: Vec<Vec<f64>> = (0..task.states()).map(|s| task.behaviour(s).to_vec()).collect();
        for (key, share) in table {
            match share {
                Share::InState(probabilities) => {
                    rows[self.state(key)?] = self.probabilities(probabilities)?
                }
                Share::Number(_) => {
                    return unfit(
                        format!("`{key}` is a number beside tables"),
                        Some("give probabilities by action, or a table of them for each state".to_owned()),
                    );
                }
            }
        }
        Ok(rows)
    }

    /// A probability for each action; those left out have none.
    pub(crate) fn probabilities(&self, table: &BTreeMap<String, Number>) -> Result<Vec<f64>, Unfit> {
        let mut row = vec![0.0; self.actions().len()];
        for (action, Number(probability)) in table {
            row[self.action(action)?] = *probability;
        }
        Ok(row)
    }

    /// The same with this interest.
    pub(crate) fn with_interest(&self, interest: &Interest) -> Result<Self, Unfit> {
        let by_state = match interest {
            Interest::Everywhere(Number(x)) => vec![*x; self.interest().len()],
            Interest::ByState(table) => {
                let mut by_state = self.interest().to_vec();
                for (state, Number(x)) in table {
                    by_state[self.state(state)?] = *x;
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

    /// The weights of a softmax with these probabilities in every state, the last action's being zero.
    pub(crate) fn softmax_weights(&self, table: &BTreeMap<String, Number>) -> Result<Vec<f64>, Unfit> {
        let row = self.probabilities(table)?;
        let sum: f64 = row.iter().sum();
        if row.iter().any(|p| !(*p > 0.0 && *p < 1.0)) || (sum - 1.0).abs() > 1e-9 {
            let help =
                "every action needs a probability between 0 and 1 (a softmax has no 0), and they sum to 1";
            return unfit(format!("these are no probabilities of a softmax: {row:?}"), Some(help.to_owned()));
        }
        let features = self.actor();
        let one_feature = |s: usize| features.active(&s).map(|(_, value)| value).eq([1.0]);
        if !(0..features.states()).all(one_feature) {
            let help = "in this problem a state has several features: give `weights` instead";
            return unfit(
                "the same probabilities everywhere are no single set of weights",
                Some(help.to_owned()),
            );
        }
        let last = row[row.len() - 1];
        let weight = |p: &f64| emphatic::real::elementary::ln(p / last);
        Ok((0..features.len()).flat_map(|_| row.iter().map(weight)).collect())
    }
}

/// The number of a name.
pub(crate) fn find(kind: &str, name: &str, names: &[String]) -> Result<usize, Unfit> {
    match names.iter().position(|known| known == name) {
        Some(number) => Ok(number),
        None => {
            let real =
                || (kind == "action").then(|| "the action of this problem is a real number".to_owned());
            let help = suggest(name, names.iter().map(String::as_str)).or_else(real);
            unfit(format!("the problem has no {kind} `{name}`"), help)
        }
    }
}
