//! Problem files as they are written, and what they mean.
//!
//! ```toml
//! states = ["S0", "S1", "S2"]            # or a number: 3 names them 0, 1, 2
//! actions = ["A0", "A1"]
//! start = "S0"                           # or { S0 = 0.5, S1 = 0.5 }, or "uniform"
//! gamma = 1.0                            # of transitions that do not say
//! behaviour = { A0 = 0.25, A1 = 0.75 }   # or by state: { S0 = { A0 = 1.0 }, ... }, or "uniform"
//! target = { A0 = 0.9, A1 = 0.1 }        # likewise, or { weights = [...] }
//! interest = 1.0                         # or { S0 = 1.0, ... }
//! transitions = [
//!   { from = "S0", action = "A0", to = "S1" },
//!   { from = "S0", action = "A1", to = "S2", probability = 1.0, reward = 0.0, gamma = 1.0 },
//!   { from = "S1", action = "A0", reward = 2.0, end = true },
//!   # ...
//! ]
//! [features]
//! actor = { alias = [["S1", "S2"]] }     # or { S0 = [1, 0], S1 = [0, 1], S2 = [0, 1] }; left out: the state itself
//! critic = "states"
//! ```

use crate::file_error::{FileError, Mistake, ValueError, suggest};
use crate::json;
use crate::names::Names;
use crate::pattern::{
    Grid, Layout, Line, MOST_TRANSITIONS, Parts, RandomProblem, Way, count, length, numbered, too_many,
};
use crate::read::{ReadError, read_text};
use crate::scalar_or_table;
use crate::schema::schema_of;
use crate::shipped;
use crate::values::{Behaviour, Expected, Interest, Key, Keys, Number, Share, Whole};
use crate::world::{World, policy_rows, softmax_weights, uniform};
use emphatic::{Fixed, Policy, Problem, ProblemError, Table, Task};
use schemars::JsonSchema;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, de};
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use toml::Spanned;

/// The most weights of a target policy: one for each of the actor's features and each action.
const MOST_WEIGHTS: u64 = 10_000_000;

/// A problem as its file gives it.
#[derive(Clone, Debug)]
pub struct ProblemFile {
    /// What it is called in messages: a path or a name.
    pub name: String,
    /// The text.
    pub text: String,
    /// The problem with its behaviour and interest.
    pub world: World,
    /// The target policy: the one given, or the one that learning starts from.
    pub target: Target,
}

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

impl ProblemFile {
    /// Reads a problem file, or a problem that comes with the program, by its name.
    pub fn open(path: &Path) -> Result<Self, ReadError> {
        if let (false, Some(name)) = (path.exists(), path.to_str()) {
            if let Some(shipped) = shipped::find(name) {
                return Ok(Self::parse(shipped.text, shipped.name)?);
            }
            // A name, not a path.
            if !name.contains(['.', '/', '\\']) {
                let help = suggest(name, shipped::SHIPPED.iter().map(|shipped| shipped.name));
                return Err(ReadError::Unknown { name: name.to_owned(), help });
            }
        }
        Ok(Self::parse(&read_text(path)?, &path.display().to_string())?)
    }

    /// Understands the text of a problem file; it is JSON if the name ends in `.json`, else TOML.
    pub fn parse(text: &str, name: &str) -> Result<Self, FileError> {
        Self::from_text(text, name).map_err(|wrong| wrong.in_file(name, text))
    }

    /// [`ProblemFile::parse`] for a file that another file names, in which the error is shown.
    pub fn from_text(text: &str, name: &str) -> Result<Self, Mistake> {
        let (world, target, _) = understand(text, name)?;
        Ok(Self { name: name.to_owned(), text: text.to_owned(), world, target })
    }
}

/// The JSON Schema of problem files, for editors.
pub fn schema() -> serde_json::Value {
    schema_of::<File>()
}

/// A decision problem with a behaviour.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "A decision problem for emphatic")]
pub(crate) struct File {
    /// The names of the states, or how many there are: they are then named 0, 1, 2 …
    #[schemars(with = "Option<NamesValue>")]
    states: Option<Spanned<NamesValue>>,
    /// The names of the actions, or how many there are. Every action exists in every state.
    #[schemars(with = "Option<NamesValue>")]
    actions: Option<Spanned<NamesValue>>,
    /// How every action can turn out in every state.
    #[schemars(with = "Option<Vec<Transition>>")]
    transitions: Option<Spanned<Vec<Spanned<Transition>>>>,
    /// Instead of states, actions and transitions: a grid.
    #[schemars(with = "Option<Grid>")]
    grid: Option<Spanned<Grid>>,
    /// Instead of states, actions and transitions: a chain.
    #[schemars(with = "Option<Line>")]
    chain: Option<Spanned<Line>>,
    /// Instead of states, actions and transitions: a random problem.
    #[schemars(with = "Option<RandomProblem>")]
    random: Option<Spanned<RandomProblem>>,
    /// Instead of states, actions and transitions: a problem that comes with the program, of which this one is a variant.
    #[schemars(with = "Option<String>")]
    problem: Option<Spanned<String>>,
    /// Where episodes start: a state, a table of probabilities by state, or `uniform`.
    #[schemars(with = "Option<Start>")]
    start: Option<Spanned<Start>>,
    /// The discount of transitions that do not say. Left out, it is 1.
    #[schemars(with = "Option<Number>")]
    gamma: Option<Spanned<Number>>,
    /// The policy that generates the experience: `uniform`, `{ A0 = 0.25, A1 = 0.75 }` in every state, or
    /// `{ S0 = { A0 = 1.0 } }` by state, where the states left out have all actions alike.
    #[schemars(with = "Option<Behaviour>")]
    behaviour: Option<Spanned<Behaviour>>,
    /// The policy that is asked about, or that learning starts from: likewise, or `{ weights = [...] }`. Left out, all weights are 0.
    #[schemars(with = "Option<TargetValue>")]
    target: Option<Spanned<TargetValue>>,
    /// The interest in each state: a number, or a table by state. Left out, it is 1.
    #[schemars(with = "Option<Interest>")]
    interest: Option<Spanned<Interest>>,
    /// What actor and critic see of a state. Left out, it is the state itself.
    #[serde(default)]
    features: FeaturesFile,
}

/// How an action can turn out.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Transition {
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

/// What actor and critic see of a state.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FeaturesFile {
    /// What the actor sees.
    #[schemars(with = "Option<FeaturesValue>")]
    actor: Option<Spanned<FeaturesValue>>,
    /// What the critic sees; also `actor`, the same.
    #[schemars(with = "Option<FeaturesValue>")]
    critic: Option<Spanned<FeaturesValue>>,
}

/// Names, or their number.
#[derive(JsonSchema)]
#[schemars(untagged)]
enum NamesValue {
    Names(Vec<String>),
    Number(Whole),
}

/// Where episodes start.
#[derive(JsonSchema)]
#[schemars(untagged)]
enum Start {
    State(Key),
    Shares(BTreeMap<String, Number>),
}

/// A target policy: `uniform`, probabilities, or weights.
#[derive(JsonSchema)]
#[schemars(untagged)]
enum TargetValue {
    Word(crate::values::BehaviourWord),
    Table(BTreeMap<String, TargetEntry>),
}

/// The probability of an action, the probabilities in a state; the weights, or the kind of a policy.
#[derive(JsonSchema)]
#[schemars(untagged)]
enum TargetEntry {
    Share(Share),
    Weights(Vec<Number>),
    Kind(String),
}

/// Features: `states` (each state alone), `actor`, a table with each state's vector, `{ alias = [["S1", "S2"]] }` (which states look alike), or
/// `{ blocks = 4 }` (as many neighbours of a chain, or a square of as many cells of a grid, look alike).
#[derive(JsonSchema)]
#[schemars(untagged)]
enum FeaturesValue {
    Word(String),
    Table(BTreeMap<String, FeatureEntry>),
}

#[derive(JsonSchema)]
#[schemars(untagged)]
enum FeatureEntry {
    Vector(Vec<Number>),
    Alias(Vec<Vec<Key>>),
    Blocks(Whole),
}

impl Expected for Start {
    const EXPECTED: &'static str = "a state, a table of probabilities by state, or `uniform`";
}
impl Expected for TargetValue {
    const EXPECTED: &'static str =
        "`uniform`, a table of probabilities by action or of such tables by state, or { weights = [...] }";
}
impl Expected for FeaturesValue {
    const EXPECTED: &'static str = "`states`, or a table";
}

scalar_or_table!(Start: Key => Start::State, BTreeMap<String, Number> => Start::Shares);
scalar_or_table!(TargetValue: crate::values::BehaviourWord => TargetValue::Word, BTreeMap<String, TargetEntry> => TargetValue::Table);
scalar_or_table!(FeaturesValue: String => FeaturesValue::Word, BTreeMap<String, FeatureEntry> => FeaturesValue::Table);

impl<'de> Deserialize<'de> for NamesValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NamesVisitor;
        impl<'de> Visitor<'de> for NamesVisitor {
            type Value = NamesValue;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a list of names, or their number")
            }

            fn visit_i64<E: de::Error>(self, value: i64) -> Result<NamesValue, E> {
                let wrong = || E::invalid_value(de::Unexpected::Signed(value), &self);
                u64::try_from(value).map(|n| NamesValue::Number(Whole(n))).map_err(|_| wrong())
            }

            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<NamesValue, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(seq)).map(NamesValue::Names)
            }
        }
        deserializer.deserialize_any(NamesVisitor)
    }
}

impl<'de> Deserialize<'de> for TargetEntry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct EntryVisitor;
        impl<'de> Visitor<'de> for EntryVisitor {
            type Value = TargetEntry;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a probability, a table of probabilities by action, or a list of weights")
            }

            fn visit_f64<E>(self, value: f64) -> Result<TargetEntry, E> {
                Ok(TargetEntry::Share(Share::Number(Number(value))))
            }

            fn visit_i64<E>(self, value: i64) -> Result<TargetEntry, E> {
                Ok(TargetEntry::Share(Share::Number(Number(value as f64))))
            }

            fn visit_str<E>(self, value: &str) -> Result<TargetEntry, E> {
                Ok(TargetEntry::Kind(value.to_owned()))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<TargetEntry, A::Error> {
                let table = BTreeMap::deserialize(MapAccessDeserializer::new(map))?;
                Ok(TargetEntry::Share(Share::InState(table)))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<TargetEntry, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(seq)).map(TargetEntry::Weights)
            }
        }
        deserializer.deserialize_any(EntryVisitor)
    }
}

impl<'de> Deserialize<'de> for FeatureEntry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        /// A number of a vector, or a group of states.
        enum Item {
            Number(Number),
            Group(Vec<Key>),
        }
        struct ItemVisitor;
        impl<'de> Visitor<'de> for ItemVisitor {
            type Value = Item;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a number, or a list of states that look alike")
            }

            fn visit_f64<E>(self, value: f64) -> Result<Item, E> {
                Ok(Item::Number(Number(value)))
            }

            fn visit_i64<E>(self, value: i64) -> Result<Item, E> {
                Ok(Item::Number(Number(value as f64)))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Item, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(seq)).map(Item::Group)
            }
        }
        impl<'de> Deserialize<'de> for Item {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_any(ItemVisitor)
            }
        }
        struct EntryVisitor;
        impl<'de> Visitor<'de> for EntryVisitor {
            type Value = FeatureEntry;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a list of numbers, or a whole number for `blocks`")
            }

            fn visit_i64<E: de::Error>(self, value: i64) -> Result<FeatureEntry, E> {
                let wrong = || E::invalid_value(de::Unexpected::Signed(value), &self);
                u64::try_from(value).map(|n| FeatureEntry::Blocks(Whole(n))).map_err(|_| wrong())
            }

            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<FeatureEntry, A::Error> {
                let items: Vec<Item> = Vec::deserialize(SeqAccessDeserializer::new(seq))?;
                let (mut vector, mut groups) = (Vec::new(), Vec::new());
                for item in items {
                    match item {
                        Item::Number(x) => vector.push(x),
                        Item::Group(group) => groups.push(group),
                    }
                }
                match (vector.is_empty(), groups.is_empty()) {
                    (_, true) => Ok(FeatureEntry::Vector(vector)),
                    (true, false) => Ok(FeatureEntry::Alias(groups)),
                    _ => Err(de::Error::custom("numbers and lists stand side by side here")),
                }
            }
        }
        deserializer.deserialize_any(EntryVisitor)
    }
}

fn at<T>(place: &Spanned<T>) -> impl Fn(ValueError) -> Mistake + use<T> {
    at_span(&place.span())
}

fn at_span(span: &Range<usize>) -> impl Fn(ValueError) -> Mistake + use<> {
    let span = span.clone();
    move |error| error.at(&span)
}

/// Refuses a text of more values than can be read in a few gigabytes; a file of one long map is no such text. A table takes
/// about ten times as much as a number.
fn check_amount(text: &str) -> Result<(), Mistake> {
    const MOST: u64 = 40_000_000;
    let weight = |byte| match byte {
        b'{' | b'[' => 10,
        b',' | b'=' | b':' => 1,
        _ => 0,
    };
    if text.bytes().map(weight).sum::<u64>() <= MOST {
        return Ok(());
    }
    let message = format!("at most {MOST} values can be read, where a table or a list counts for ten");
    Err(Mistake::whole_file(message).help(
        "a list in `from`, `action` or `to` stands for many transitions, and a pattern (`grid`, `chain`, `random`) for all",
    ))
}

/// The problem, its target policy and where its states lie.
pub(crate) fn understand(text: &str, name: &str) -> Result<(World, Target, Layout), Mistake> {
    check_amount(text)?;
    if name.ends_with(".json") {
        return json::read(text, |table| {
            let value = toml::de::ValueDeserializer::parse(table).and_then(File::deserialize);
            meaning(&value.map_err(|error| Mistake::toml(&error, table))?)
        });
    }
    meaning(&toml::from_str(text).map_err(|error| Mistake::toml(&error, text))?)
}

fn meaning(file: &File) -> Result<(World, Target, Layout), Mistake> {
    let (mut world, base, layout) = match &file.problem {
        Some(name) => {
            let (world, target, layout) = variant(file, name)?;
            (world, Some(target), layout)
        }
        None => {
            let (problem, layout) = problem(file)?;
            (World::Finite(Arc::new(with_behaviour(file, problem)?)), None, layout)
        }
    };
    if let Some(interest) = &file.interest {
        world = world.with_interest(interest.get_ref()).map_err(at(interest))?;
    }
    if let World::Finite(task) = &world {
        world = World::Finite(Arc::new(with_features(file, Task::clone(task), &layout)?));
    } else if let Some(features) = file.features.actor.as_ref().or(file.features.critic.as_ref()) {
        return Err(Mistake::at(&features.span(), "the features of this problem cannot be changed"));
    }
    // A variant has the target of its problem, unless it sees the states otherwise.
    let target = match (base, &file.target, &file.features.actor) {
        (Some(target), None, None) => target,
        _ => target(file, &world)?,
    };
    Ok((world, target, layout))
}

fn with_behaviour(file: &File, problem: Problem) -> Result<Task, Mistake> {
    let Some(behaviour) = &file.behaviour else { return Err(Mistake::missing("behaviour")) };
    let alike = uniform(problem.actions().len());
    let rows = policy_rows(&problem, behaviour.get_ref(), |_| alike.clone()).map_err(at(behaviour))?;
    Task::new(problem, &rows).map_err(|error| match (&error, pattern_or_list(file)) {
        (ProblemError::Fill { .. }, Some(place)) => Mistake::at(&place, error.to_string()),
        _ => at(behaviour)(error.into()),
    })
}

/// The problem that this one is a variant of, with the behaviour of the variant.
fn variant(file: &File, name: &Spanned<String>) -> Result<(World, Target, Layout), Mistake> {
    let parts = [
        ("states", file.states.as_ref().map(Spanned::span)),
        ("actions", file.actions.as_ref().map(Spanned::span)),
        ("transitions", file.transitions.as_ref().map(Spanned::span)),
        ("grid", file.grid.as_ref().map(Spanned::span)),
        ("chain", file.chain.as_ref().map(Spanned::span)),
        ("random", file.random.as_ref().map(Spanned::span)),
        ("start", file.start.as_ref().map(Spanned::span)),
        ("gamma", file.gamma.as_ref().map(Spanned::span)),
    ];
    if let Some((key, span)) = parts.into_iter().find_map(|(key, span)| Some((key, span?))) {
        let message = format!("`{key}` does not go together with `problem`");
        return Err(Mistake::at(&span, message).help(
            "a variant of a problem changes its `behaviour`, `interest`, `target` or `features`; `emphatic new` writes a copy to change all of it",
        ));
    }
    let (world, target, layout) = shipped::problem(name.get_ref()).ok_or_else(|| {
        let help = suggest(name.get_ref(), shipped::SHIPPED.iter().map(|shipped| shipped.name));
        Mistake::at(&name.span(), format!("there is no problem `{}`", name.get_ref())).maybe_help(help)
    })?;
    let world = match &file.behaviour {
        Some(behaviour) => world.with_behaviour(behaviour.get_ref()).map_err(at(behaviour))?,
        None => world,
    };
    Ok((world, target, layout))
}

/// The decision problem, and where its states lie.
fn problem(file: &File) -> Result<(Problem, Layout), Mistake> {
    let parts = parts(file)?;
    let start = start(file, &parts)?;
    // An end is a transition to each state of the start.
    let ways = |way: &Way| if way.to.is_some() { 1 } else { start.len() as u64 };
    let ways: u64 = parts.transitions.iter().map(ways).sum();
    if ways > MOST_TRANSITIONS {
        let place = file.start.as_ref().map(Spanned::span).or_else(|| pattern_or_list(file));
        return Err(too_many(&place.unwrap_or_default(), ways.into()));
    }
    let gamma = gamma(file)?;
    let mut builder = Problem::builder().states(&parts.states).actions(&parts.actions);
    for &Way { from, action, to, probability, reward, gamma: own } in &parts.transitions {
        builder = match to {
            Some(to) => builder.transition(from, action, to, probability, reward, own.unwrap_or(gamma)),
            None => builder.end(from, action, probability, reward),
        };
    }
    let builder = start.iter().fold(builder, |b, &(s, share)| b.start(parts.states[s].as_str(), share));
    let problem = builder.build().map_err(|error| structure(file, &error))?;
    Ok((problem, parts.layout))
}

/// The discount of transitions that do not say.
fn gamma(file: &File) -> Result<f64, Mistake> {
    let gamma = file.gamma.as_ref().map_or(1.0, |gamma| gamma.get_ref().0);
    match &file.gamma {
        Some(place) if !(0.0..=1.0).contains(&gamma) => {
            Err(Mistake::at(&place.span(), format!("`gamma` is {gamma}; it must lie between 0 and 1")))
        }
        _ => Ok(gamma),
    }
}

/// The parts, as listed or from a pattern.
fn parts(file: &File) -> Result<Parts, Mistake> {
    let listed = [
        file.states.as_ref().map(Spanned::span),
        file.actions.as_ref().map(Spanned::span),
        file.transitions.as_ref().map(Spanned::span),
    ];
    let pattern = match (&file.grid, &file.chain, &file.random) {
        (None, None, None) => return listed_parts(file),
        (Some(grid), None, None) => grid.get_ref().parts(&grid.span())?,
        (None, Some(chain), None) => chain.get_ref().parts()?,
        (None, None, Some(random)) => random.get_ref().parts(gamma(file)?)?,
        (grid, chain, random) => {
            let chain = chain.as_ref().filter(|_| grid.is_some()).map(Spanned::span);
            let second = chain.or(random.as_ref().map(Spanned::span)).unwrap_or_default();
            return Err(Mistake::at(&second, "this is a second pattern")
                .help("a problem follows one pattern: `grid`, `chain` or `random`"));
        }
    };
    if let Some(span) = listed.into_iter().flatten().next() {
        return Err(Mistake::at(&span, "states, actions and transitions follow from the pattern")
            .help("leave them out, or leave the pattern out"));
    }
    Ok(pattern)
}

fn listed_parts(file: &File) -> Result<Parts, Mistake> {
    let many = |value: &Option<Spanned<NamesValue>>, key: &str| match value {
        None => Err(Mistake::missing(key)),
        Some(value) => match value.get_ref() {
            NamesValue::Names(names) => length(names, &value.span(), key),
            NamesValue::Number(n) => count(&Spanned::new(value.span(), *n), key),
        },
    };
    let rows = many(&file.states, "states")? * many(&file.actions, "actions")?;
    if let (Some(states), true) = (&file.states, rows > MOST_TRANSITIONS) {
        return Err(too_many(&states.span(), rows.into()));
    }
    let names = |value: &Option<Spanned<NamesValue>>| match value.as_ref().map(Spanned::get_ref) {
        Some(NamesValue::Names(names)) => names.clone(),
        Some(NamesValue::Number(Whole(n))) => numbered(*n as usize),
        None => Vec::new(),
    };
    let (states, actions) = (names(&file.states), names(&file.actions));
    let Some(transitions) = &file.transitions else { return Err(Mistake::missing("transitions")) };
    let (state_names, action_names) = (Names::new("state", &states), Names::new("action", &actions));
    let mut ways = Vec::with_capacity(transitions.get_ref().len());
    // What is wrong with the lists of names themselves is said when the problem is built.
    let known = !states.is_empty() && !actions.is_empty();
    for transition in transitions.get_ref().iter().filter(|_| known) {
        let span = transition.span();
        let Transition { from, action, to, end, probability, reward, gamma } = transition.get_ref();
        let find = |names: &Names, keys: &Keys| -> Result<Vec<usize>, Mistake> {
            keys.as_slice().iter().map(|key| names.find_key(key).map_err(at_span(&span))).collect()
        };
        let to: Vec<Option<usize>> = match (to, end, gamma) {
            (Some(to), false, _) => find(&state_names, to)?.into_iter().map(Some).collect(),
            (None, true, None) => vec![None],
            (None, true, Some(_)) => {
                let message = "the end of an episode has no `gamma`: what comes after does not count";
                return Err(Mistake::at(&span, message).help("leave it out"));
            }
            _ => {
                return Err(Mistake::at(
                    &span,
                    "a transition leads `to` a state or is the `end` of an episode",
                )
                .help("give either `to = \"…\"` or `end = true`"));
            }
        };
        let (from, action) = (find(&state_names, from)?, find(&action_names, action)?);
        if from.is_empty() || action.is_empty() || to.is_empty() {
            return Err(Mistake::at(&span, "a list of this transition is empty")
                .help("give at least one state or action"));
        }
        let all = ways.len() as u128 + product([from.len(), action.len(), to.len()]);
        if all > MOST_TRANSITIONS.into() {
            return Err(too_many(&span, all));
        }
        let probability = probability.map_or(1.0, |p| p.0) / to.len() as f64;
        let reward = reward.map_or(0.0, |r| r.0);
        for (&from, &action) in from.iter().flat_map(|from| action.iter().map(move |action| (from, action))) {
            let gamma = gamma.map(|gamma| gamma.0);
            ways.extend(to.iter().map(|&to| Way { from, action, to, probability, reward, gamma }));
        }
    }
    Ok(Parts { states, actions, transitions: ways, ..Parts::default() })
}

/// How many transitions lists of these lengths stand for: three long lists are beyond 64 bits.
fn product(lengths: [usize; 3]) -> u128 {
    lengths.into_iter().map(|length| length as u128).product()
}

/// The states in which episodes start, with their probabilities.
fn start(file: &File, parts: &Parts) -> Result<Vec<(usize, f64)>, Mistake> {
    let names = Names::new("state", &parts.states);
    let alike = |states: &[usize]| {
        let share = 1.0 / states.len() as f64;
        states.iter().map(|&s| (s, share)).collect()
    };
    let Some(start) = &file.start else {
        if parts.start.is_empty() {
            let help = match file.grid {
                Some(_) => "give a `start`, or put an `S` in the grid",
                None => "start = \"S0\", or { S0 = 0.5, S1 = 0.5 }, or \"uniform\"",
            };
            return Err(Mistake::missing("start").help(help));
        }
        return Ok(alike(&parts.start));
    };
    // That there are no states is said when the problem is built.
    let n = parts.states.len();
    match start.get_ref() {
        _ if n == 0 => Ok(Vec::new()),
        // A state of that name comes first.
        Start::State(Key::Name(name)) if name == "uniform" && !names.has(name) => {
            Ok(alike(&(0..n).collect::<Vec<_>>()))
        }
        Start::State(key) => Ok(vec![(names.find_key(key).map_err(at(start))?, 1.0)]),
        Start::Shares(shares) => {
            let share =
                |(state, share): (&String, &Number)| Ok((names.find(state).map_err(at(start))?, share.0));
            shares.iter().map(share).collect()
        }
    }
}

/// What is wrong with the problem itself, where it stands.
fn structure(file: &File, error: &ProblemError) -> Mistake {
    let wrong = match place(file, error) {
        Some(span) => Mistake::at(&span, error.to_string()),
        None => Mistake::whole_file(error.to_string()),
    };
    wrong.maybe_help(ValueError::from(error.clone()).help)
}

/// Where transitions stand, or what they follow from.
fn pattern_or_list(file: &File) -> Option<Range<usize>> {
    let all = [
        file.transitions.as_ref().map(Spanned::span),
        file.grid.as_ref().map(Spanned::span),
        file.chain.as_ref().map(Spanned::span),
        file.random.as_ref().map(Spanned::span),
    ];
    all.into_iter().flatten().next()
}

fn place(file: &File, error: &ProblemError) -> Option<Range<usize>> {
    let start = || file.start.as_ref().map(Spanned::span);
    match error {
        ProblemError::Nothing("state") | ProblemError::Twice { kind: "state", .. } => {
            file.states.as_ref().map(Spanned::span)
        }
        ProblemError::Nothing(_) | ProblemError::Twice { .. } => file.actions.as_ref().map(Spanned::span),
        ProblemError::NoStart | ProblemError::Unknown { .. } => start(),
        ProblemError::Number { what, .. } | ProblemError::Sum { what, .. } => {
            if what.starts_with("the start") {
                return start();
            }
            let value = match error {
                ProblemError::Number { value, .. } => Some(*value),
                _ => None,
            };
            transition(file, what, value).or_else(|| pattern_or_list(file))
        }
        _ => pattern_or_list(file),
    }
}

/// The first transition that is named in a message and has this number, if there is one, or all of them.
fn transition(file: &File, message: &str, value: Option<f64>) -> Option<Range<usize>> {
    let transitions = file.transitions.as_ref()?;
    let text =
        |key: &Key, names: &Option<Spanned<NamesValue>>| match (key, names.as_ref().map(Spanned::get_ref)) {
            (Key::Name(name), _) => name.clone(),
            (Key::Number(k), Some(NamesValue::Names(names))) => {
                names.get(*k as usize).cloned().unwrap_or_default()
            }
            (Key::Number(k), _) => k.to_string(),
        };
    let named = |t: &&Spanned<Transition>| {
        let Transition { from, action, probability, reward, gamma, to, .. } = t.get_ref();
        let shared = to.as_ref().map_or(1.0, |to| to.as_slice().len() as f64);
        let own = [probability.map(|p| p.0 / shared), reward.map(|r| r.0), gamma.map(|g| g.0)];
        let is_wrong =
            |x: f64| own.iter().flatten().any(|y| y.to_bits() == x.to_bits() || (x.is_nan() && y.is_nan()));
        if !value.is_none_or(is_wrong) {
            return false;
        }
        from.as_slice().iter().any(|from| {
            let from = format!("from '{}' by ", text(from, &file.states));
            let is_named = |action| message.contains(&format!("{from}'{}'", text(action, &file.actions)));
            message.contains(&from) && action.as_slice().iter().any(is_named)
        })
    };
    Some(transitions.get_ref().iter().find(named).map_or(transitions.span(), Spanned::span))
}

fn with_features(file: &File, task: Task, layout: &Layout) -> Result<Task, Mistake> {
    let FeaturesFile { actor, critic } = &file.features;
    let mut task = task;
    if let Some(actor) = actor {
        let table = features(actor, &task, layout)?;
        let weights = (table.len() as u64).saturating_mul(task.actions() as u64);
        if weights > MOST_WEIGHTS {
            let message = format!(
                "{} features and {} actions make {weights} weights; at most {MOST_WEIGHTS} are possible",
                table.len(),
                task.actions()
            );
            return Err(Mistake::at(&actor.span(), message));
        }
        task = task.with_actor(table).map_err(|error| at(actor)(error.into()))?;
    }
    match critic {
        Some(critic) => {
            let table = features(critic, &task, layout)?;
            task.with_critic(table).map_err(|error| at(critic)(error.into()))
        }
        None => Ok(task),
    }
}

fn features(value: &Spanned<FeaturesValue>, task: &Task, layout: &Layout) -> Result<Table, Mistake> {
    let wrong = |message: String| Mistake::at(&value.span(), message);
    let states = task.problem().states();
    let table = match value.get_ref() {
        FeaturesValue::Word(word) => {
            return match word.as_str() {
                "states" => Ok(Table::one_hot(states.len())),
                "actor" => Ok(task.actor().clone()),
                _ => Err(wrong(format!("there are no features called `{word}`"))
                    .maybe_help(suggest(word, ["states", "actor"].into_iter()))),
            };
        }
        FeaturesValue::Table(table) => table,
    };
    let names = Names::new("state", states);
    match (table.len(), table.first_key_value()) {
        (1, Some((key, FeatureEntry::Alias(groups)))) if key == "alias" => {
            return alias(&names, states.len(), groups)
                .map(|groups| Table::aliased(&groups))
                .map_err(at(value));
        }
        (1, Some((key, FeatureEntry::Blocks(size)))) if key == "blocks" => {
            let size = count(&Spanned::new(value.span(), *size), "blocks")? as usize;
            let blocks = layout.blocks(states.len(), size);
            return blocks.map(|blocks| Table::aliased(&blocks)).ok_or_else(|| {
                wrong("only the states of a grid or a chain have neighbours".to_owned())
                    .help("say which states look alike: { alias = [[…], […]] }")
            });
        }
        _ => {}
    }
    let mut rows: Vec<Option<Vec<f64>>> = vec![None; states.len()];
    for (state, entry) in table {
        let FeatureEntry::Vector(vector) = entry else {
            return Err(wrong(format!("`{state}` needs a list of numbers"))
                .help("{ S0 = [1, 0], S1 = [0, 1] }, { alias = [[\"S1\", \"S2\"]] } or { blocks = 4 }"));
        };
        rows[names.find(state).map_err(at(value))?] = Some(vector.iter().map(|x| x.0).collect());
    }
    let row = |(state, row): (&String, Option<Vec<f64>>)| {
        row.ok_or_else(|| wrong(format!("the state `{state}` has no features")))
    };
    let rows = states.iter().zip(rows).map(row).collect::<Result<Vec<_>, _>>()?;
    let len = rows.first().map_or(0, Vec::len);
    for (state, row) in states.iter().zip(&rows) {
        if row.len() != len || len == 0 {
            let message = format!("the state `{state}` has {} features", row.len());
            return Err(wrong(message).help(match len {
                0 => "give at least one".to_owned(),
                _ => format!("all states have as many; `{}` has {len}", states[0]),
            }));
        }
        if let Some(x) = row.iter().find(|x| !x.is_finite()) {
            return Err(wrong(format!("a feature of the state `{state}` is {x}; features must be finite")));
        }
    }
    Table::dense(&rows).map_err(|error| wrong(error.to_string()))
}

/// The feature of each state if these groups look alike, in the order in which features appear.
fn alias(names: &Names, states: usize, groups: &[Vec<Key>]) -> Result<Vec<usize>, ValueError> {
    let mut group_of: Vec<Option<usize>> = vec![None; states];
    for (number, group) in groups.iter().enumerate() {
        for key in group {
            let state = names.find_key(key)?;
            let (name, before) = (names.name(state), group_of[state].replace(number));
            if let Some(before) = before {
                let (message, help) = match before == number {
                    true => (format!("the state `{name}` stands twice in a group"), "once is enough"),
                    false => (
                        format!("the state `{name}` is in two groups that look alike"),
                        "put both groups together",
                    ),
                };
                return Err(ValueError { message, help: Some(help.to_owned()) });
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

fn target(file: &File, world: &World) -> Result<Target, Mistake> {
    let task = match (world, &file.target) {
        (World::Continuous(problem), target) => {
            return continuous_target(target.as_ref(), problem.gaussian().len());
        }
        (World::Finite(task), None) => return Ok(Target::Softmax(vec![0.0; task.softmax().len()])),
        (World::Finite(task), Some(_)) => task,
    };
    let Some(value) = &file.target else { return Err(Mistake::missing("target")) };
    let wrong = at(value);
    let policy = match value.get_ref() {
        TargetValue::Word(word) => Behaviour::Word(*word),
        TargetValue::Table(table) => {
            let problem = task.problem();
            let is_name = problem.states().iter().chain(problem.actions()).any(|name| name == "weights");
            match (table.len(), table.get("weights")) {
                (1, Some(TargetEntry::Weights(weights))) => {
                    return weights_of(weights, task.softmax().len()).map(Target::Softmax).map_err(wrong);
                }
                (_, Some(_)) if !is_name => {
                    let message = "`weights` is a list of numbers, and nothing stands beside it".to_owned();
                    let help = format!("this policy has {} weights", task.softmax().len());
                    return Err(wrong(ValueError { message, help: Some(help) }));
                }
                _ => {}
            }
            let share = |(key, entry): (&String, &TargetEntry)| match entry {
                TargetEntry::Share(share) => Ok((key.clone(), share.clone())),
                _ => Err(wrong(ValueError {
                    message: format!("`{key}` is no probability"),
                    help: Some(
                        "give { A0 = 0.5, A1 = 0.5 }, { S0 = { A0 = 0.5, A1 = 0.5 } } or { weights = [...] }"
                            .to_owned(),
                    ),
                })),
            };
            Behaviour::Table(table.iter().map(share).collect::<Result<_, _>>()?)
        }
    };
    let rows = policy_rows(task.problem(), &policy, |_| uniform(task.actions())).map_err(at(value))?;
    let fixed = Fixed::new(task, &rows).map_err(|error| wrong(error.into()))?;
    Ok(match softmax_weights(task.actor(), |s| &rows[s]) {
        Some(weights) => Target::Softmax(weights),
        None => Target::Fixed(fixed),
    })
}

fn continuous_target(target: Option<&Spanned<TargetValue>>, len: usize) -> Result<Target, Mistake> {
    let Some(value) = target else { return Ok(Target::Gaussian(vec![0.0; len])) };
    let help = "{ policy = \"gaussian\", weights = [0, 0, 0, 0] } or { policy = \"deterministic\", weights = [0, 0] }";
    let wrong = |message: &str| Mistake::at(&value.span(), message).help(help);
    let TargetValue::Table(table) = value.get_ref() else {
        return Err(wrong("the action of this problem is a real number"));
    };
    let weights = |len: usize| match table.get("weights") {
        Some(TargetEntry::Weights(weights)) => weights_of(weights, len).map_err(at(value)),
        None => Ok(vec![0.0; len]),
        Some(_) => Err(wrong("`weights` is a list of numbers")),
    };
    if table.keys().any(|key| key != "policy" && key != "weights") {
        return Err(wrong("the target of this problem has a `policy` and `weights`"));
    }
    match table.get("policy") {
        Some(TargetEntry::Kind(kind)) if kind == "deterministic" => {
            Ok(Target::Deterministic(weights(len / 2)?))
        }
        Some(TargetEntry::Kind(kind)) if kind == "gaussian" => Ok(Target::Gaussian(weights(len)?)),
        _ => Err(wrong("the target's `policy` is `gaussian` or `deterministic`")),
    }
}

fn weights_of(weights: &[Number], len: usize) -> Result<Vec<f64>, ValueError> {
    let wrong = |message: String| Err(ValueError { message, help: None });
    if weights.len() != len {
        return wrong(format!("{} weights for a policy that has {len}", weights.len()));
    }
    match weights.iter().find(|w| !w.0.is_finite()) {
        Some(w) => wrong(format!("a weight is {}; weights must be finite", w.0)),
        None => Ok(weights.iter().map(|w| w.0).collect()),
    }
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
