//! A problem with its behaviour and interest.

use crate::file_error::ValueError;
use crate::names::Names;
use crate::values::{Behaviour, BehaviourWord, Interest, Number, Share};
use emphatic::{ContinuousCounterexample, Problem, ProblemError, Table, Task};
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
        Self { message: error.to_string(), help: help.map(str::to_owned) }
    }
}

fn unfit<T>(message: impl Into<String>, help: Option<String>) -> Result<T, ValueError> {
    Err(ValueError::new(message, help))
}

impl World {
    /// The names of the states.
    pub fn states(&self) -> &[String] {
        match self {
            Self::Finite(task) => task.problem().states(),
            Self::Continuous(_) => &*THREE_STATES,
        }
    }

    /// The names of the actions; none where the action is a real number.
    pub fn actions(&self) -> &[String] {
        match self {
            Self::Finite(task) => task.problem().actions(),
            Self::Continuous(_) => &[],
        }
    }

    /// What the actor sees.
    pub fn actor(&self) -> &Table {
        match self {
            Self::Finite(task) => task.actor(),
            Self::Continuous(problem) => problem.actor(),
        }
    }

    /// What a critic sees by default.
    pub fn critic(&self) -> Table {
        match self {
            Self::Finite(task) => task.critic().clone(),
            Self::Continuous(_) => self.identity(),
        }
    }

    /// The states themselves.
    pub fn identity(&self) -> Table {
        Table::one_hot(self.actor().states())
    }

    /// i, by state.
    pub fn interest(&self) -> &[f64] {
        match self {
            Self::Finite(task) => task.interest(),
            Self::Continuous(problem) => problem.interest(),
        }
    }

    /// How many steps an episode of the behaviour lasts on average; nothing if it never ends.
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
                let help = || Some("it is a Gaussian: { mean = 1.0, standard_deviation = 1.0 }".to_owned());
                let Behaviour::Table(table) = behaviour else {
                    return unfit("there is no uniform behaviour over all real numbers", help());
                };
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

    /// The weights of a softmax with these probabilities in every state, the last action's being zero.
    pub fn softmax_weights(&self, table: &BTreeMap<String, Number>) -> Result<Vec<f64>, ValueError> {
        let row = probabilities(&Names::new("action", self.actions()), self.actions().len(), table)?;
        let sum: f64 = row.iter().sum();
        if row.iter().any(|p| !(*p > 0.0 && *p < 1.0)) || (sum - 1.0).abs() > 1e-9 {
            let help =
                "every action needs a probability between 0 and 1 (a softmax has no 0), and they sum to 1";
            return unfit(format!("these are no probabilities of a softmax: {row:?}"), Some(help.to_owned()));
        }
        softmax_weights(self.actor(), |_| &row).ok_or_else(|| ValueError {
            message: "the same probabilities everywhere are no single set of weights".to_owned(),
            help: Some("in this problem a state has several features: give `weights` instead".to_owned()),
        })
    }
}

/// The weights with which a softmax has these probabilities, the last action's being zero. Nothing if there are none: a probability
/// is 0, a state has other than one feature of value one, or states that look alike have different rows.
pub(crate) fn softmax_weights<'a>(features: &Table, row: impl Fn(usize) -> &'a Vec<f64>) -> Option<Vec<f64>> {
    let alike = |s: usize| row(s).windows(2).all(|pair| pair[0] == pair[1]);
    if (0..features.states()).all(alike) {
        return Some(vec![0.0; features.len() * row(0).len()]); // Whatever the features.
    }
    let mut rows: Vec<Option<&Vec<f64>>> = vec![None; features.len()];
    for s in 0..features.states() {
        let mut active = features.active(s);
        let (Some((f, 1.0)), None) = (active.next(), active.next()) else { return None };
        if *rows[f].get_or_insert(row(s)) != row(s) || row(s).iter().any(|p| *p <= 0.0) {
            return None;
        }
    }
    let actions = row(0).len();
    let of_feature = |row: Option<&Vec<f64>>| match row {
        Some(row) => row.iter().map(|p| emphatic::real::elementary::ln(p / row[actions - 1])).collect(),
        None => vec![0.0; actions], // A feature that no state has.
    };
    Some(rows.into_iter().flat_map(of_feature).collect())
}

/// The rows of a policy: the same in all states, or given for some; the others have their `own`.
pub(crate) fn policy_rows(
    problem: &Problem,
    policy: &Behaviour,
    own: impl Fn(usize) -> Vec<f64>,
) -> Result<Vec<Vec<f64>>, ValueError> {
    let (states, actions) = (problem.states().len(), problem.actions().len());
    let table = match policy {
        Behaviour::Word(BehaviourWord::Uniform) => return Ok(vec![uniform(actions); states]),
        Behaviour::Table(table) => table,
    };
    let action_names = Names::new("action", problem.actions());
    let everywhere: Option<BTreeMap<String, Number>> = table
        .iter()
        .map(|(key, share)| match share {
            Share::Number(x) => Some((key.clone(), *x)),
            Share::InState(_) => None,
        })
        .collect();
    if let Some(everywhere) = everywhere {
        return Ok(vec![probabilities(&action_names, actions, &everywhere)?; states]);
    }
    let state_names = Names::new("state", problem.states());
    let mut rows: Vec<Vec<f64>> = (0..states).map(own).collect();
    for (key, share) in table {
        match share {
            Share::InState(table) => {
                rows[state_names.find(key)?] = probabilities(&action_names, actions, table)?;
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

/// All actions alike.
pub(crate) fn uniform(actions: usize) -> Vec<f64> {
    vec![1.0 / actions.max(1) as f64; actions]
}

/// A probability for each action; those left out have none.
fn probabilities(
    names: &Names,
    actions: usize,
    table: &BTreeMap<String, Number>,
) -> Result<Vec<f64>, ValueError> {
    let mut row = vec![0.0; actions];
    for (action, Number(probability)) in table {
        row[names.find(action)?] = *probability;
    }
    Ok(row)
}
