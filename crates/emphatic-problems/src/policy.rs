//! Policies in problem files: the behaviour and the target.

use crate::file_error::{Mistake, ValueError};
use crate::located::Located;
use crate::names::Names;
use crate::scalar_or_table;
use crate::shortest_path::given_shortest_path;
use crate::values::{Expected, Number, forms};
use emphatic::{ContinuousCounterexample, Fixed, KnownProblem, Policy, Problem, ProblemError, Table, Task};
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A target policy.
#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    /// A softmax over the actor's features with these weights.
    Softmax(Vec<f64>),
    /// Probabilities in each state that no softmax over the actor's features has.
    Fixed(Fixed),
    /// A Gaussian over the actor's features with these weights.
    Gaussian(Vec<f64>),
    /// A deterministic policy over the actor's features with these weights.
    Deterministic(Vec<f64>),
}

impl Target {
    /// The name of its kind in files.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Softmax(_) => "softmax",
            Self::Fixed(_) => "fixed",
            Self::Gaussian(_) => "gaussian",
            Self::Deterministic(_) => "deterministic",
        }
    }

    /// Its weights; empty if its probabilities are given.
    pub fn weights(&self) -> &[f64] {
        match self {
            Self::Softmax(weights) | Self::Gaussian(weights) | Self::Deterministic(weights) => weights,
            Self::Fixed(_) => &[],
        }
    }

    /// The same policy by its probabilities, which do not learn; `None` if its action is a real number.
    pub fn fixed(&self, task: &Task) -> Option<Result<Fixed, ProblemError>> {
        match self {
            Self::Fixed(fixed) => Some(Ok(fixed.clone())),
            Self::Softmax(weights) => {
                let softmax = task.softmax();
                let row = |s: usize| softmax.distribution_at(weights, softmax.features().of_number(s));
                Some(Fixed::new(task, &(0..task.states()).map(row).collect::<Vec<_>>()))
            }
            Self::Gaussian(_) | Self::Deterministic(_) => None,
        }
    }
}

/// A policy: a word, a table of probabilities by action, or of such tables by state.
#[derive(Clone, Debug, JsonSchema)]
#[schemars(untagged)]
pub enum Behaviour {
    /// By a word.
    Word(BehaviourWord),
    /// By probabilities.
    Table(BTreeMap<String, Share>),
}

/// A behaviour that has a name.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum BehaviourWord {
    /// All actions alike.
    Uniform,
}

/// The probability of an action, or the probabilities in a state.
#[derive(Clone, Debug, JsonSchema)]
#[schemars(untagged)]
pub enum Share {
    /// Of an action, in all states.
    Number(Number),
    /// Of each action in a state.
    InState(BTreeMap<String, Number>),
}

/// A target policy: `uniform`, probabilities, weights, or the shortest path to a state.
#[derive(Clone, Debug, JsonSchema)]
#[schemars(untagged)]
pub enum TargetValue {
    /// By a word.
    Word(BehaviourWord),
    /// By probabilities, weights or a state.
    Table(BTreeMap<String, TargetEntry>),
}

/// The probability of an action, the probabilities in a state; the weights, the kind of a policy, or the state of a shortest path.
#[derive(Clone, Debug, JsonSchema)]
#[schemars(untagged)]
pub enum TargetEntry {
    /// Of an action, or of each action in a state.
    Share(Share),
    /// The weights.
    Weights(Vec<Number>),
    /// The kind of a policy, or a state.
    Text(String),
}

impl Expected for Behaviour {
    const EXPECTED: &'static str =
        "`uniform`, a table of probabilities by action, or of such tables by state";
}
impl Expected for Share {
    const EXPECTED: &'static str = "a probability, or a table of probabilities by action";
}
impl Expected for BTreeMap<String, Number> {
    const EXPECTED: &'static str = "a table of probabilities by action";
}
impl Expected for TargetValue {
    const EXPECTED: &'static str = "`uniform`, a table of probabilities by action or of such tables by state, { weights = [...] } or { shortest_path = \"STATE\" }";
}

scalar_or_table!(Share: Number => Share::Number, BTreeMap<String, Number> => Share::InState);
scalar_or_table!(Behaviour: BehaviourWord => Behaviour::Word, BTreeMap<String, Share> => Behaviour::Table);
scalar_or_table!(TargetValue: BehaviourWord => TargetValue::Word, BTreeMap<String, TargetEntry> => TargetValue::Table);

forms!(
    TargetEntry,
    "a probability, a table of probabilities by action, or a list of weights",
    number: |x| TargetEntry::Share(Share::Number(x)),
    text: TargetEntry::Text,
    table: |table| TargetEntry::Share(Share::InState(table)),
    list: TargetEntry::Weights,
);

impl TargetValue {
    /// The target as a policy in this problem.
    pub fn in_problem(&self, problem: &KnownProblem) -> Result<Target, ValueError> {
        match problem {
            KnownProblem::Continuous(problem) => continuous_target(self, problem.gaussian().len()),
            KnownProblem::Finite(task) => finite_target(self, task),
        }
    }
}

impl Behaviour {
    /// The problem with this behaviour. States that a table leaves out keep their own.
    pub fn applied_to(&self, problem: &KnownProblem) -> Result<KnownProblem, ValueError> {
        match problem {
            KnownProblem::Finite(task) => {
                let rows = policy_rows(task.problem(), self, |s| task.behaviour(s).to_vec())?;
                Ok(KnownProblem::Finite(Arc::new(Task::clone(task).with_behaviour(&rows)?)))
            }
            KnownProblem::Continuous(problem) => {
                let Gaussian { mean, standard_deviation } = gaussian(self)?;
                let problem =
                    ContinuousCounterexample::clone(problem).with_behaviour(mean, standard_deviation)?;
                Ok(KnownProblem::Continuous(Arc::new(problem)))
            }
        }
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

/// The target policy of a file: the one given, or all weights 0.
pub(crate) fn target(
    value: Option<&Located<TargetValue>>,
    problem: &KnownProblem,
) -> Result<Target, Mistake> {
    match (problem, value) {
        (_, Some(value)) => value.value.in_problem(problem).map_err(|error| value.refuse(error)),
        (KnownProblem::Continuous(problem), None) => {
            Ok(Target::Gaussian(vec![0.0; problem.gaussian().len()]))
        }
        (KnownProblem::Finite(task), None) => Ok(Target::Softmax(vec![0.0; task.softmax().len()])),
    }
}

fn finite_target(value: &TargetValue, task: &Task) -> Result<Target, ValueError> {
    let alike = |_| uniform(task.actions());
    let rows = match value {
        TargetValue::Word(word) => policy_rows(task.problem(), &Behaviour::Word(*word), alike)?,
        TargetValue::Table(table) => {
            if let Some(weights) = given_weights(table, task)? {
                return Ok(Target::Softmax(weights));
            }
            match given_shortest_path(table, task.problem())? {
                Some(rows) => rows,
                None => policy_rows(task.problem(), &Behaviour::Table(shares(table)?), alike)?,
            }
        }
    };
    let fixed = Fixed::new(task, &rows)?;
    Ok(match weights_of_rows(task.actor(), |s| &rows[s]) {
        Some(weights) => Target::Softmax(weights),
        None => Target::Fixed(fixed),
    })
}

/// The `weights` of a table, unless a state or an action has that name.
fn given_weights(table: &BTreeMap<String, TargetEntry>, task: &Task) -> Result<Option<Vec<f64>>, ValueError> {
    let (problem, len) = (task.problem(), task.softmax().len());
    let is_name = || problem.states().iter().chain(problem.actions()).any(|name| name == "weights");
    match (table.len(), table.get("weights")) {
        (1, Some(TargetEntry::Weights(weights))) => checked_weights(weights, len).map(Some),
        (_, Some(_)) if !is_name() => {
            Err(ValueError::new("`weights` is a list of numbers, and nothing stands beside it")
                .help(format!("this policy has {len} weights")))
        }
        _ => Ok(None),
    }
}

fn shares(table: &BTreeMap<String, TargetEntry>) -> Result<BTreeMap<String, Share>, ValueError> {
    let share = |(key, entry): (&String, &TargetEntry)| match entry {
        TargetEntry::Share(share) => Ok((key.clone(), share.clone())),
        _ => Err(ValueError::new(format!("`{key}` is no probability"))
            .help("give { A0 = 0.5, A1 = 0.5 }, { S0 = { A0 = 0.5, A1 = 0.5 } } or { weights = [...] }")),
    };
    table.iter().map(share).collect()
}

/// The target of a problem with real actions. A Gaussian policy has `len` weights, a deterministic one half as many.
fn continuous_target(value: &TargetValue, len: usize) -> Result<Target, ValueError> {
    let help = "{ policy = \"gaussian\", weights = [0, 0, 0, 0] } or { policy = \"deterministic\", weights = [0, 0] }";
    let error = |message: &str| Err(ValueError::new(message).help(help));
    let TargetValue::Table(table) = value else {
        return error("the action of this problem is a real number");
    };
    let weights = |len: usize| match table.get("weights") {
        Some(TargetEntry::Weights(weights)) => checked_weights(weights, len),
        None => Ok(vec![0.0; len]),
        Some(_) => Err(ValueError::new("`weights` is a list of numbers").help(help)),
    };
    if table.keys().any(|key| key != "policy" && key != "weights") {
        return error("the target of this problem has a `policy` and `weights`");
    }
    match table.get("policy") {
        Some(TargetEntry::Text(kind)) if kind == "deterministic" => {
            Ok(Target::Deterministic(weights(len / 2)?))
        }
        Some(TargetEntry::Text(kind)) if kind == "gaussian" => Ok(Target::Gaussian(weights(len)?)),
        _ => error("the target's `policy` is `gaussian` or `deterministic`"),
    }
}

fn checked_weights(weights: &[Number], len: usize) -> Result<Vec<f64>, ValueError> {
    if weights.len() != len {
        return Err(ValueError::new(format!("{} weights for a policy that has {len}", weights.len())));
    }
    match weights.iter().find(|w| !w.0.is_finite()) {
        Some(w) => Err(ValueError::new(format!("a weight is {}; weights must be finite", w.0))),
        None => Ok(weights.iter().map(|w| w.0).collect()),
    }
}

/// The weights of a softmax with these probabilities in every state, those of the last action being zero.
pub fn softmax_weights(
    problem: &KnownProblem,
    table: &BTreeMap<String, Number>,
) -> Result<Vec<f64>, ValueError> {
    let row = probabilities(&Names::new("action", problem.actions()), problem.actions().len(), table)?;
    let sum: f64 = row.iter().sum();
    if row.iter().any(|p| !(*p > 0.0 && *p < 1.0)) || (sum - 1.0).abs() > 1e-9 {
        let help = "every action needs a probability between 0 and 1 (a softmax has no 0), and they sum to 1";
        return Err(ValueError::new(format!("these are no probabilities of a softmax: {row:?}")).help(help));
    }
    weights_of_rows(problem.actor(), |_| &row).ok_or_else(|| {
        ValueError::new("the same probabilities everywhere are no single set of weights")
            .help("in this problem a state has several features: give `weights` instead")
    })
}

/// The weights of a softmax with these probabilities, those of the last action being zero. `None` if there are no such weights: a
/// probability is 0, a state has other than one feature of value one, or states with the same feature have different rows.
fn weights_of_rows<'a>(features: &Table, row: impl Fn(usize) -> &'a Vec<f64>) -> Option<Vec<f64>> {
    let is_uniform = |s: usize| row(s).windows(2).all(|pair| pair[0] == pair[1]);
    if (0..features.states()).all(is_uniform) {
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

/// The probabilities of a policy in each state: the same in all states, or given for some; the others have their `own`.
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
                return Err(ValueError::new(format!("`{key}` is a number beside tables"))
                    .help("give probabilities by action, or a table of them for each state"));
            }
        }
    }
    Ok(rows)
}

/// The same probability for every action.
pub(crate) fn uniform(actions: usize) -> Vec<f64> {
    vec![1.0 / actions.max(1) as f64; actions]
}

/// The probability of each action; 0 for those left out.
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
