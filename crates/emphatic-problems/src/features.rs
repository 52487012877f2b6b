//! The features of a problem file: what actor and critic see of a state.

use crate::file_error::{Mistake, ValueError};
use crate::located::Located;
use crate::names::{Key, Names};
use crate::pattern::Layout;
use crate::random_binary::RandomBinary;
use crate::scalar_or_table;
use crate::suggest::suggest;
use crate::transitions::count;
use crate::values::{Expected, Number, Whole, forms};
use emphatic::{Table, Task};
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;

/// The most weights of a target policy: one for each of the actor's features and each action.
const MOST_WEIGHTS: u64 = 10_000_000;

/// What actor and critic see of a state.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FeaturesFile {
    /// What the actor sees.
    pub(crate) actor: Option<Located<FeaturesValue>>,
    /// What the critic sees; also `actor`, the same.
    pub(crate) critic: Option<Located<FeaturesValue>>,
}

/// Features: `states` (each state alone), `actor`, a table with each state's vector, `{ alias = [["S1", "S2"]] }` (which states look alike),
/// `{ blocks = 4 }` (as many neighbours of a chain, or a square of as many cells of a grid, look alike), or
/// `{ random_binary = { features = 6, ones = 3, seed = 1 } }` (each state has three random ones of six).
#[derive(JsonSchema)]
#[schemars(untagged)]
pub(crate) enum FeaturesValue {
    Word(String),
    Table(BTreeMap<String, FeatureEntry>),
}

#[derive(JsonSchema)]
#[schemars(untagged)]
pub(crate) enum FeatureEntry {
    Vector(Vec<Number>),
    Alias(Vec<Vec<Key>>),
    Blocks(Whole),
    RandomBinary(RandomBinary),
}

impl Expected for FeaturesValue {
    const EXPECTED: &'static str = "`states`, or a table";
}

scalar_or_table!(FeaturesValue: String => FeaturesValue::Word, BTreeMap<String, FeatureEntry> => FeaturesValue::Table);

forms!(
    FeatureEntry,
    "a list of numbers, a whole number for `blocks`, or a table for `random_binary`",
    whole: |n| FeatureEntry::Blocks(Whole(n)),
    checked_list: FeatureEntry::from_items,
    table: FeatureEntry::RandomBinary,
);

/// A number of a vector, or a group of states that share a feature.
enum Item {
    Number(Number),
    Group(Vec<Key>),
}

forms!(Item, "a number, or a list of states that look alike", number: Item::Number, list: Item::Group);

impl FeatureEntry {
    fn from_items(items: Vec<Item>) -> Result<Self, &'static str> {
        let (mut vector, mut groups) = (Vec::new(), Vec::new());
        for item in items {
            match item {
                Item::Number(x) => vector.push(x),
                Item::Group(group) => groups.push(group),
            }
        }
        match (vector.is_empty(), groups.is_empty()) {
            (_, true) => Ok(Self::Vector(vector)),
            (true, false) => Ok(Self::Alias(groups)),
            _ => Err("numbers and lists stand side by side here"),
        }
    }
}

/// The task with the features of the file.
pub(crate) fn with_features(file: &FeaturesFile, mut task: Task, layout: &Layout) -> Result<Task, Mistake> {
    if let Some(actor) = &file.actor {
        let table = table(actor, &task, layout)?;
        check_weights(table.len(), task.actions()).map_err(|error| actor.refuse(error))?;
        task = task.with_actor(table).map_err(|error| actor.refuse(error))?;
    }
    let Some(critic) = &file.critic else { return Ok(task) };
    let table = table(critic, &task, layout)?;
    task.with_critic(table).map_err(|error| critic.refuse(error))
}

fn check_weights(features: usize, actions: usize) -> Result<(), ValueError> {
    let weights = (features as u64).saturating_mul(actions as u64);
    if weights <= MOST_WEIGHTS {
        return Ok(());
    }
    Err(ValueError::new(format!(
        "{features} features and {actions} actions make {weights} weights; at most {MOST_WEIGHTS} are possible"
    )))
}

fn table(value: &Located<FeaturesValue>, task: &Task, layout: &Layout) -> Result<Table, Mistake> {
    let states = task.problem().states();
    let table = match &value.value {
        FeaturesValue::Word(word) => return named(word, task).map_err(|error| value.refuse(error)),
        FeaturesValue::Table(table) => table,
    };
    let names = Names::new("state", states);
    let made = match (table.len(), table.first_key_value()) {
        (1, Some((key, FeatureEntry::Alias(groups)))) if key == "alias" => {
            aliases(&names, states.len(), groups).map(|groups| Table::aliased(&groups))
        }
        (1, Some((key, FeatureEntry::Blocks(size)))) if key == "blocks" => {
            let size = count(&Located { value: *size, span: value.span.clone() }, "blocks")? as usize;
            let blocks = layout.blocks(states.len(), size);
            blocks.map(|blocks| Table::aliased(&blocks)).ok_or_else(|| {
                ValueError::new("only the states of a grid or a chain have neighbours")
                    .help("say which states look alike: { alias = [[…], […]] }")
            })
        }
        (1, Some((key, FeatureEntry::RandomBinary(random)))) if key == "random_binary" => {
            return random.table(states.len());
        }
        _ => vectors(&names, states, table),
    };
    made.map_err(|error| value.refuse(error))
}

fn named(word: &str, task: &Task) -> Result<Table, ValueError> {
    match word {
        "states" => Ok(Table::one_hot(task.states())),
        "actor" => Ok(task.actor().clone()),
        _ => Err(ValueError::new(format!("there are no features called `{word}`"))
            .maybe_help(suggest(word, ["states", "actor"].into_iter()))),
    }
}

/// A vector for each state, by its name.
fn vectors(
    names: &Names,
    states: &[String],
    table: &BTreeMap<String, FeatureEntry>,
) -> Result<Table, ValueError> {
    let mut rows: Vec<Option<Vec<f64>>> = vec![None; states.len()];
    for (state, entry) in table {
        let FeatureEntry::Vector(vector) = entry else {
            if state == "random_binary" && !names.has(state) {
                return Err(ValueError::new("`random_binary` is a table, and nothing stands beside it")
                    .help("{ random_binary = { features = 6, ones = 3, seed = 1 } }"));
            }
            return Err(ValueError::new(format!("`{state}` needs a list of numbers"))
                .help("{ S0 = [1, 0], S1 = [0, 1] }, { alias = [[\"S1\", \"S2\"]] }, { blocks = 4 } or { random_binary = { … } }"));
        };
        rows[names.find(state)?] = Some(vector.iter().map(|x| x.0).collect());
    }
    let row = |(state, row): (&String, Option<Vec<f64>>)| {
        row.ok_or_else(|| ValueError::new(format!("the state `{state}` has no features")))
    };
    let rows = states.iter().zip(rows).map(row).collect::<Result<Vec<_>, _>>()?;
    let len = rows.first().map_or(0, Vec::len);
    for (state, row) in states.iter().zip(&rows) {
        if row.len() != len || len == 0 {
            return Err(ValueError::new(format!("the state `{state}` has {} features", row.len())).help(
                match len {
                    0 => "give at least one".to_owned(),
                    _ => format!("all states have as many; `{}` has {len}", states[0]),
                },
            ));
        }
        if let Some(x) = row.iter().find(|x| !x.is_finite()) {
            return Err(ValueError::new(format!(
                "a feature of the state `{state}` is {x}; features must be finite"
            )));
        }
    }
    Table::dense(&rows).map_err(|error| ValueError::new(error.to_string()))
}

/// The feature of each state if the states of each group share one, in the order in which features appear.
fn aliases(names: &Names, states: usize, groups: &[Vec<Key>]) -> Result<Vec<usize>, ValueError> {
    let mut group_of: Vec<Option<usize>> = vec![None; states];
    for (number, group) in groups.iter().enumerate() {
        for key in group {
            let state = names.find_key(key)?;
            let (name, before) = (names.name(state), group_of[state].replace(number));
            if let Some(before) = before {
                return Err(match before == number {
                    true => ValueError::new(format!("the state `{name}` stands twice in a group"))
                        .help("once is enough"),
                    false => ValueError::new(format!("the state `{name}` is in two groups that look alike"))
                        .help("put both groups together"),
                });
            }
        }
    }
    let (mut of_group, mut features) = (vec![None; groups.len()], 0);
    let mut new = || {
        features += 1;
        features - 1
    };
    Ok(group_of
        .into_iter()
        .map(|group| match group {
            Some(group) => *of_group[group].get_or_insert_with(&mut new),
            None => new(),
        })
        .collect())
}
