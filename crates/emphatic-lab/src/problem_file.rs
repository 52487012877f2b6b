//! Decision problems as files.
//!
//! ```toml
//! states = ["S0", "S1", "S2"]
//! actions = ["A0", "A1"]
//! start = "S0"                           # or { S0 = 0.5, S1 = 0.5 }
//! gamma = 1.0                            # of transitions that do not say
//! behaviour = { A0 = 0.25, A1 = 0.75 }   # or by state: { S0 = { A0 = 1.0 }, ... }
//! transitions = [
//!   { from = "S0", action = "A0", to = "S1" },
//!   { from = "S0", action = "A1", to = "S2", probability = 1.0, reward = 0.0, gamma = 1.0 },
//!   { from = "S1", action = "A0", reward = 2.0, end = true },
//!   # ...
//! ]
//! features.actor = { S0 = [1, 0], S1 = [0, 1], S2 = [0, 1] }   # left out: the state itself
//! ```

use crate::file::{Behaviour, Interest, ScalarOrTable, ScalarOrTableVisitor, scalar_or_table};
use crate::file_error::Wrong;
use crate::sweep::{Number, Sweepable};
use crate::world::{Unfit, World, find};
use emphatic::{Problem, ProblemError, Table, Task};
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;
use toml::Spanned;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    states: Spanned<Vec<String>>,
    actions: Spanned<Vec<String>>,
    start: Spanned<Start>,
    gamma: Option<Number>,
    behaviour: Spanned<Behaviour>,
    interest: Option<Spanned<Interest>>,
    transitions: Spanned<Vec<Spanned<TransitionFile>>>,
    #[serde(default)]
    features: FeaturesFile,
}

enum Start {
    State(String),
    Shares(BTreeMap<String, Number>),
}

impl Sweepable for Start {
    const EXPECTED: &'static str = "a state, or a table of probabilities by state";
}

scalar_or_table!(Start: String => Start::State, BTreeMap<String, Number> => Start::Shares);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TransitionFile {
    from: String,
    action: String,
    to: Option<String>,
    #[serde(default)]
    end: bool,
    probability: Option<Number>,
    reward: Option<Number>,
    gamma: Option<Number>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct FeaturesFile {
    actor: Option<Spanned<BTreeMap<String, Vec<Number>>>>,
    critic: Option<Spanned<BTreeMap<String, Vec<Number>>>>,
}

/// Understands the text of a problem file.
pub(crate) fn parse(text: &str) -> Result<Task, Wrong> {
    let file: File = toml::from_str(text).map_err(|error| Wrong::toml(&error, text))?;
    let problem = problem(&file)?;
    let everywhere = vec![uniform(file.actions.get_ref().len()); file.states.get_ref().len()];
    // The behaviour needs the names, which a world knows.
    let world = World::Finite(Arc::new(
        Task::new(problem, &everywhere).map_err(|error| at(&file.behaviour)(error.into()))?,
    ));
    let mut world = world.with_behaviour(file.behaviour.get_ref()).map_err(at(&file.behaviour))?;
    if let Some(interest) = &file.interest {
        world = world.with_interest(interest.get_ref()).map_err(at(interest))?;
    }
    let World::Finite(task) = &world else { return Err(Wrong::anywhere("a file has named actions")) };
    let mut task = Task::clone(task);
    if let Some(actor) = &file.features.actor {
        task = task.with_actor(table(actor, &world)?).map_err(|error| at(actor)(error.into()))?;
    }
    if let Some(critic) = &file.features.critic {
        task = task.with_critic(table(critic, &world)?).map_err(|error| at(critic)(error.into()))?;
    }
    Ok(task)
}

fn at<T>(place: &Spanned<T>) -> impl Fn(Unfit) -> Wrong {
    at_span(&place.span())
}

fn at_span(span: &Range<usize>) -> impl Fn(Unfit) -> Wrong + use<> {
    let span = span.clone();
    move |Unfit { message, help }| Wrong::at(&span, message).maybe_help(help)
}

fn uniform(actions: usize) -> Vec<f64> {
    vec![1.0 / actions.max(1) as f64; actions]
}

fn problem(file: &File) -> Result<Problem, Wrong> {
    let (states, actions) = (file.states.get_ref(), file.actions.get_ref());
    let mut builder = Problem::builder()
        .states(states.iter().map(String::as_str))
        .actions(actions.iter().map(String::as_str));
    let state = |name: &str, span: &Range<usize>| find("state", name, states).map_err(at_span(span));
    builder = match file.start.get_ref() {
        Start::State(state) => builder.start(state.as_str(), 1.0),
        Start::Shares(shares) => {
            shares.iter().fold(builder, |builder, (state, share)| builder.start(state.as_str(), share.0))
        }
    };
    let gamma = file.gamma.map_or(1.0, |gamma| gamma.0);
    for transition in file.transitions.get_ref() {
        let TransitionFile { from, action, to, end, probability, reward, gamma: own } = transition.get_ref();
        let (from, action) = (from.as_str(), action.as_str());
        if !states.is_empty() && !actions.is_empty() {
            state(from, &transition.span())?;
            find("action", action, actions).map_err(at_span(&transition.span()))?;
            to.as_ref().map_or(Ok(0), |to| state(to, &transition.span()))?;
        }
        let probability = probability.map_or(1.0, |p| p.0);
        let reward = reward.map_or(0.0, |r| r.0);
        builder = match (to, end, own) {
            (Some(to), false, own) => {
                builder.transition(from, action, to.as_str(), probability, reward, own.map_or(gamma, |g| g.0))
            }
            (None, true, None) => builder.end(from, action, probability, reward),
            _ => {
                return Err(Wrong::at(
                    &transition.span(),
                    "a transition leads `to` a state or is the `end` of an episode",
                )
                .help("give either `to = \"…\"` (with a `gamma`, if need be) or `end = true`"));
            }
        };
    }
    builder.build().map_err(|error| Wrong::at(&place(file, &error), error.to_string()))
}

/// Where in the file the error lies.
fn place(file: &File, error: &ProblemError) -> Range<usize> {
    let message = error.to_string();
    let named = |t: &&Spanned<TransitionFile>| {
        message.contains(&format!("from '{}' by '{}'", t.get_ref().from, t.get_ref().action))
    };
    match error {
        ProblemError::Nothing("state") | ProblemError::Twice { kind: "state", .. } => file.states.span(),
        ProblemError::Nothing(_) | ProblemError::Twice { .. } => file.actions.span(),
        // The names in transitions are known by now.
        ProblemError::NoStart | ProblemError::Unknown { .. } => file.start.span(),
        ProblemError::Number { what, .. } | ProblemError::Sum { what, .. }
            if what.starts_with("the start") =>
        {
            file.start.span()
        }
        _ => file.transitions.get_ref().iter().find(named).map_or(file.transitions.span(), Spanned::span),
    }
}

fn table(rows: &Spanned<BTreeMap<String, Vec<Number>>>, world: &World) -> Result<Table, Wrong> {
    let states = world.states();
    for state in rows.get_ref().keys() {
        world.state(state).map_err(at(rows))?;
    }
    let row = |state: &String| match rows.get_ref().get(state) {
        Some(row) => Ok(row.iter().map(|x| x.0).collect()),
        None => Err(Wrong::at(&rows.span(), format!("the state `{state}` has no features"))),
    };
    let rows_by_state = states.iter().map(row).collect::<Result<Vec<Vec<f64>>, _>>()?;
    Table::dense(&rows_by_state).map_err(|error| Wrong::at(&rows.span(), error.to_string()))
}
