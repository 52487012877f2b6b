//! Experiment files as they are written.
//!
//! These types read the file, with the place of every value, and describe it to `schema`: the comments here are the descriptions in the
//! JSON Schema. `experiment` checks what the values mean together.

use crate::behaviour_file::BehaviourFile;
use crate::features_file::FeaturesFile;
use crate::one_or_list::{Located, OneOrList, Unlocated};
use crate::schema::{
    ActorSchema, AlgorithmName, Count, CriticSchema, EmphasisSchema, FeaturesSchema, Fraction, PolicySchema,
    ProblemName, Recorded, StepSize, VectorsSchema,
};
use emphatic_problems::{
    DrawnFeatures, Expected, Interest, Number, TargetValue, Whole, scalar_or_table, values::table,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, MapAccess, Visitor};
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use toml::Spanned;

/// An experiment: methods that learn in a problem, each with settings of which any list is swept.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "An emphatic experiment")]
pub(crate) struct ExperimentFile {
    /// In what is learned: a problem that comes with the program, such as `counterexample`, the path of a problem file,
    /// relative to this one, or a simulator, such as `mountain-car`.
    pub(crate) problem: OneOrList<ProblemValue>,
    /// In a simulator: the features of observations. One basis for all parts, `{ kind = "tiles", tilings = 8, tiles = 4 }`, or one for the actor and one for
    /// all others, `{ actor = …, critic = … }`. A list of them is swept.
    #[schemars(with = "Option<OneOrList<FeaturesSchema>>")]
    pub(crate) features: Option<OneOrList<FeaturesFile>>,
    /// In a simulator: the discount. Left out, it is 0.99.
    #[schemars(with = "Option<OneOrList<Fraction>>")]
    pub(crate) gamma: Option<OneOrList<Number>>,
    /// The policy that generates the experience, if not the problem's own: `uniform`, `{ A0 = 0.5, A1 = 0.5 }` in every state, or
    /// `{ S0 = { A0 = 0.5, A1 = 0.5 } }` in some; for a real action `{ mean = 1.0, standard_deviation = 1.0 }`.
    /// In a simulator also the policy of a saved learner, `{ policy = "driver.safetensors" }`, perhaps greedy, `{ policy = "driver.safetensors", epsilon = 0.1 }`, or a
    /// mixture, `{ mixture = [{ share = 0.5, behaviour = "uniform" }, …] }`.
    pub(crate) behaviour: Option<OneOrList<BehaviourFile>>,
    /// The interest in the states that the objective is made of, if not the problem's own: a number for all states, or
    /// `{ S0 = 1.0, S1 = 0.0 }`, where the states left out keep the problem's. In a simulator: `all`, or `start`, the first state of an episode.
    pub(crate) interest: Option<OneOrList<Interest>>,
    /// The policy that is evaluated, if not the problem's own `target`, by methods that learn no policy: as in problem files. With methods that learn
    /// a policy it has no meaning.
    #[schemars(with = "Option<OneOrList<TargetValue>>")]
    pub(crate) target: Option<OneOrList<TargetValue>>,
    /// Features that are drawn anew for each run, by its own random numbers, in place of the problem's features for critics: each state has as many ones,
    /// at random places, and zeros elsewhere. All methods of a run have the same.
    #[serde(default, deserialize_with = "table")]
    pub(crate) random_binary: Option<DrawnFeatures>,
    /// The weights that all critics of values start from: one for each of their features. Left out, they are 0.
    #[schemars(with = "Option<Vec<f64>>", length(min = 1))]
    pub(crate) critic_weights: Option<Spanned<Vec<Number>>>,
    /// What all randomness comes from: run number r of seed s is the same experience everywhere. Left out, it is 0.
    #[schemars(with = "Option<Whole>")]
    pub(crate) seed: Option<OneOrList<Whole>>,
    /// How many runs: streams of experience, each of which teaches every setting.
    #[schemars(with = "Count")]
    pub(crate) runs: OneOrList<Whole>,
    /// How many episodes a run lasts. Either this or `steps`.
    #[schemars(with = "Option<Count>")]
    pub(crate) episodes: Option<OneOrList<Whole>>,
    /// How many steps a run lasts. Either this or `episodes`.
    #[schemars(with = "Option<Count>")]
    pub(crate) steps: Option<OneOrList<Whole>>,
    /// How often the quantities are recorded in a run, at equal distances, the last time at its end; and once
    /// more before it begins. Left out, it is 50, or the length of a run if that is less.
    #[schemars(with = "Option<Count>")]
    pub(crate) evaluations: Option<OneOrList<Whole>>,
    /// What is recorded at each evaluation: `objective`; `target.S1.A0`, the probability of an action in a state;
    /// `target.S1`, of all its actions, or its mean action; `emphasis`, `exact_emphasis` and `rho`, their means over
    /// the steps since the evaluation before; `weights`, of the policy; `value_error` and `projected_error`, of the critic, and `critic.weights`;
    /// `emphasis_error`; in a simulator `return`, `excursions_return` and `episode_length`. Left out, it is the objective, the return, or the error of what is evaluated.
    #[schemars(with = "Option<Vec<Recorded>>", length(min = 1))]
    pub(crate) record: Option<Spanned<Vec<Spanned<String>>>>,
    /// What makes a setting the best of its method: the objective at the end of a run (`final`, the default) or its average
    /// over the run (`area`).
    #[schemars(with = "Option<Select>")]
    pub(crate) select: Option<OneOrList<Select>>,
    /// The recorded quantity by which that is judged: the largest `objective`, or the smallest error. Left out, it is the objective if it is recorded,
    /// otherwise the first quantity that is better when it is larger or smaller: in simulators a return, or an error. A list chooses by each of them apart, and all chosen settings have fresh runs.
    #[schemars(with = "Option<OneOrList<String>>")]
    pub(crate) select_by: Option<OneOrList<String>>,
    /// How many of each method's settings, the best by the runs so far (by each quantity of `select_by`), are tried out on more runs before the best is
    /// chosen. Left out, all settings are judged by the same runs.
    #[schemars(with = "Option<Count>")]
    pub(crate) finalists: Option<OneOrList<Whole>>,
    /// How many more runs those have. With `finalists` only.
    #[schemars(with = "Option<Count>")]
    pub(crate) finalist_runs: Option<OneOrList<Whole>>,
    /// On how many new streams each method's best setting is run again, so that its result is not the luck of the best
    /// of a grid. Left out, it is 0.
    #[schemars(with = "Option<Whole>")]
    pub(crate) fresh_runs: Option<OneOrList<Whole>>,
    /// How often the quantities are recorded in a fresh run. Left out, it is as often as in other runs.
    #[schemars(with = "Option<Count>")]
    pub(crate) fresh_evaluations: Option<OneOrList<Whole>>,
    /// In a simulator: how policies are tried out at an evaluation.
    #[serde(default, deserialize_with = "table")]
    pub(crate) rollouts: Option<RolloutsFile>,
    /// The same in fresh runs. What is left out is as in other runs.
    #[serde(default, deserialize_with = "table")]
    pub(crate) fresh_rollouts: Option<RolloutsFile>,
    /// The methods.
    #[schemars(with = "Vec<MethodFile>", length(min = 1))]
    pub(crate) method: Spanned<Vec<Spanned<MethodFile>>>,
}

/// A method: an algorithm with its parts and their settings.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MethodFile {
    /// What it is called in tables and figures. Left out, it is the algorithm's name.
    #[schemars(with = "Option<String>")]
    pub(crate) name: Option<OneOrList<String>>,
    /// A name for a policy and an emphasis. Either this or `emphasis`, or both with `ace`.
    #[schemars(with = "Option<OneOrList<AlgorithmName>>")]
    pub(crate) algorithm: Option<OneOrList<String>>,
    /// The policy: its kind and settings, and where it starts.
    #[schemars(with = "Option<OneOrList<PolicySchema>>")]
    pub(crate) policy: Option<OneOrList<PolicyFile>>,
    /// The critic: its name, or a table with its `kind` and its settings.
    #[schemars(with = "Option<OneOrList<CriticSchema>>")]
    pub(crate) critic: Option<OneOrList<PartFile>>,
    /// How much a state counts: the name of an emphasis, or a table with its `kind` and its settings. Either this or `algorithm`, or both with `ace`.
    #[schemars(with = "Option<OneOrList<EmphasisSchema>>")]
    pub(crate) emphasis: Option<OneOrList<PartFile>>,
    /// How the policy learns, if not from δ or the advantages of the step alone: the name of an actor, or a table with its `kind` and its settings. With an
    /// actor and neither `algorithm` nor `emphasis`, every state counts by its interest.
    #[schemars(with = "Option<OneOrList<ActorSchema>>")]
    pub(crate) actor: Option<OneOrList<PartFile>>,
    /// The interest that the method uses, if not the experiment's. The recorded objective has the experiment's.
    pub(crate) interest: Option<OneOrList<Interest>>,
    /// The actor's step-size, divided by the number of active features.
    #[schemars(with = "Option<OneOrList<StepSize>>")]
    pub(crate) alpha: Option<OneOrList<Number>>,
    /// How long the actor waits while critic and emphasis learn: a share of the run if it is less than 1, otherwise a number of episodes or
    /// steps, whichever a run's length is given in. Left out, it is 0.
    #[schemars(with = "Option<OneOrList<StepSize>>")]
    pub(crate) warm_up: Option<OneOrList<Number>>,
    /// λ_a of the emphasis: 1 is full emphasis, 0 is none. (It may as well stand in the emphasis's table.)
    #[schemars(with = "Option<OneOrList<Fraction>>")]
    pub(crate) lambda_a: Option<OneOrList<Number>>,
    /// From which actions the actor learns at each step: the one `taken` (with δ), or `all` (with their advantages). Left out, it is what the
    /// critic tells; the action taken, if it tells both.
    pub(crate) actions: Option<OneOrList<Actions>>,
    /// With `actions = "all"`: how many of them are drawn at each step. Left out, it is all of them.
    #[schemars(with = "Option<OneOrList<Count>>")]
    pub(crate) subset: Option<OneOrList<Whole>>,
    /// Settings of which every value is a method of its own: the best setting is chosen for each value.
    #[schemars(with = "Option<Vec<String>>")]
    pub(crate) separate: Option<Vec<Spanned<String>>>,
    /// Instead of one grid: combinations of values, each in addition to those above (and each a grid if it has lists).
    #[schemars(with = "Option<Vec<MethodFile>>", length(min = 1))]
    pub(crate) combinations: Option<Spanned<Vec<Spanned<MethodFile>>>>,
}

/// How policies are tried out: by episodes in the simulator, on the same random numbers for all settings of a run.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Rollouts")]
pub(crate) struct RolloutsFile {
    /// How many episodes. Left out, it is 10.
    #[schemars(with = "Option<Count>")]
    pub(crate) episodes: Option<OneOrList<Whole>>,
    /// After how many steps an episode is cut short. Left out, it is 1000.
    #[schemars(with = "Option<Count>")]
    pub(crate) cap: Option<OneOrList<Whole>>,
    /// The discount of returns. Left out, it is 1: they are not discounted.
    #[schemars(with = "Option<Fraction>")]
    pub(crate) gamma: Option<OneOrList<Number>>,
    /// For `excursions_return`: one in how many states of the behaviour's own stream is the start of an episode. Left out, it is 1000.
    #[schemars(with = "Option<Count>")]
    pub(crate) every: Option<OneOrList<Whole>>,
}

/// A problem with its parameters.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ProblemFileValue")]
pub(crate) struct ProblemTable {
    /// The problem's name or path.
    #[schemars(with = "ProblemName")]
    pub(crate) name: Spanned<String>,
    /// What it is called in tables. Left out, it is its name, or the name of its file; its path if another file has the same name.
    #[schemars(with = "Option<String>")]
    pub(crate) label: Option<Spanned<String>>,
    /// For `long-counterexample`: the length of its chains. Left out, it is 5.
    #[schemars(with = "Option<OneOrList<Count>>")]
    pub(crate) steps: Option<OneOrList<Whole>>,
    /// For a simulator: after how many steps an episode of the behaviour is cut short, 0 for never. Left out, it is the simulator's own limit, if it has one.
    #[schemars(with = "Option<Whole>")]
    pub(crate) limit: Option<OneOrList<Whole>>,
}

/// From which actions the actor learns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Actions {
    /// From the one taken.
    Taken,
    /// From all, or some drawn at random.
    All,
}

impl Expected for Actions {
    const EXPECTED: &'static str = "`taken` or `all`";
}

/// What makes a setting the best.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Select {
    /// The objective at the end.
    Final,
    /// The average objective.
    Area,
}

impl Select {
    /// As it is written in files and columns.
    pub fn word(self) -> &'static str {
        match self {
            Self::Final => "final",
            Self::Area => "area",
        }
    }
}

impl Expected for Select {
    const EXPECTED: &'static str = "`final` or `area`";
}

/// A problem: its name, or a table with its parameters.
#[derive(Clone, Debug, JsonSchema)]
#[schemars(untagged)]
pub(crate) enum ProblemValue {
    Name(#[schemars(with = "ProblemName")] String),
    Table(Box<ProblemTable>),
}

impl Expected for ProblemValue {
    const EXPECTED: &'static str = "a problem's name or path, or a table with its name and parameters";
}
scalar_or_table!(ProblemValue: String => ProblemValue::Name, ProblemTable => |t| ProblemValue::Table(Box::new(t)));

/// Several vectors, which are swept, or one: a list of its numbers, or a number that stands for all of them.
#[derive(Clone, Debug)]
pub(crate) struct Vectors {
    pub(crate) values: Vec<Vector>,
    pub(crate) span: Range<usize>,
}

/// One vector.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Vector {
    /// Every entry is this number.
    All(f64),
    Each(Vec<f64>),
}

impl Expected for Vector {
    const EXPECTED: &'static str = "a number, a list of numbers";
}

impl<'de> Deserialize<'de> for Vector {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match Unlocated::<Number>::deserialize(deserializer)? {
            Unlocated::One(Number(x)) => Self::All(x),
            Unlocated::List(list) => Self::Each(list.into_iter().map(|x| x.into_inner().0).collect()),
        })
    }
}

impl<'de> Deserialize<'de> for Vectors {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let OneOrList { values, span, is_list } = OneOrList::<Vector>::deserialize(deserializer)?;
        let number = |vector: &Located<Vector>| match vector.value {
            Vector::All(x) => Some(x),
            Vector::Each(_) => None,
        };
        let values = match values.iter().map(number).collect() {
            Some(numbers) if is_list => vec![Vector::Each(numbers)],
            _ => values.into_iter().map(|vector| vector.value).collect(),
        };
        Ok(Self { values, span })
    }
}

/// A part of any role: its name, or a table with its settings. The catalogue says later what the keys mean.
#[derive(Clone, Debug, Default)]
pub(crate) struct PartFile {
    /// Its name in the catalogue.
    pub(crate) kind: Option<OneOrList<String>>,
    /// The features of the state that it learns from.
    pub(crate) features: Option<OneOrList<String>>,
    /// All other keys: settings, and the part inside this one.
    pub(crate) entries: BTreeMap<String, PartEntry>,
}

/// One key of a part's table.
#[derive(Clone, Debug)]
pub(crate) struct PartEntry {
    /// The place of the key.
    pub(crate) key: Range<usize>,
    pub(crate) value: OneOrList<PartValue>,
}

/// A number, or a part inside another.
#[derive(Clone, Debug)]
pub(crate) enum PartValue {
    Number(f64),
    Part(PartFile),
}

/// A policy's table.
#[derive(Clone, Debug, Default)]
pub(crate) struct PolicyFile {
    /// Its kind and its settings.
    pub(crate) part: PartFile,
    pub(crate) start: Start,
}

/// Where a policy starts.
#[derive(Clone, Debug, Default, JsonSchema)]
pub(crate) struct Start {
    /// The weights that it starts from: a list with all of them, or one number for all. A list of lists is swept. Left
    /// out, they are 0.
    #[schemars(with = "Option<VectorsSchema>")]
    pub(crate) weights: Option<Vectors>,
    /// Instead of weights: the probabilities that it starts from in every state, `{ A0 = 0.9, A1 = 0.1 }`.
    pub(crate) probabilities: Option<OneOrList<BTreeMap<String, Number>>>,
}

impl PartFile {
    /// A part that is written as its name alone. Its place is that of the value around it.
    pub(crate) fn named(kind: &str) -> Self {
        let values = vec![Located { value: kind.to_owned(), span: 0..0 }];
        Self { kind: Some(OneOrList { values, span: 0..0, is_list: false }), ..Self::default() }
    }

    fn insert(&mut self, key: Spanned<String>, value: OneOrList<PartValue>) {
        let entry = PartEntry { key: key.span(), value };
        self.entries.insert(key.into_inner(), entry);
    }

    /// Returns these values, with those of `below` where none are given.
    fn over(&self, below: &Self) -> Self {
        let mut entries = below.entries.clone();
        entries.extend(self.entries.clone());
        Self {
            kind: self.kind.clone().or_else(|| below.kind.clone()),
            features: self.features.clone().or_else(|| below.features.clone()),
            entries,
        }
    }
}

impl PolicyFile {
    /// The keys of every policy, beside its settings.
    pub(crate) const KEYS: [&str; 3] = ["kind", "weights", "probabilities"];

    /// Returns these values, with those of `below` where none are given. Another kind has settings of its own, and a start is given as a
    /// whole.
    fn over(&self, below: &Self) -> Self {
        let part = if self.part.kind.is_some() { self.part.clone() } else { self.part.over(&below.part) };
        let has_start = self.start.weights.is_some() || self.start.probabilities.is_some();
        Self { part, start: if has_start { self } else { below }.start.clone() }
    }
}

impl MethodFile {
    /// Returns the method's values with those of one of its combinations in their place. A part without a kind adds to the method's.
    pub(crate) fn with_combination(&self, combination: &Self) -> Self {
        let has_kind = |part: &PartFile| part.kind.is_some();
        macro_rules! either {
            ($($key:ident),*) => {
                Self {
                    $($key: combination.$key.clone().or_else(|| self.$key.clone()),)*
                    policy: overlay(&self.policy, &combination.policy, |_| false, PolicyFile::over),
                    critic: overlay(&self.critic, &combination.critic, has_kind, PartFile::over),
                    emphasis: overlay(&self.emphasis, &combination.emphasis, has_kind, PartFile::over),
                    actor: overlay(&self.actor, &combination.actor, has_kind, PartFile::over),
                    combinations: None,
                }
            };
        }
        either!(name, algorithm, interest, alpha, warm_up, lambda_a, actions, subset, separate)
    }
}

/// Lays every table of `above` over every table of `below`, except for those that replace what is below.
fn overlay<T: Clone>(
    below: &Option<OneOrList<T>>,
    above: &Option<OneOrList<T>>,
    replaces: impl Fn(&T) -> bool,
    over: impl Fn(&T, &T) -> T,
) -> Option<OneOrList<T>> {
    let (Some(below), Some(above)) = (below, above) else { return above.clone().or_else(|| below.clone()) };
    let mut all = OneOrList { values: Vec::new(), ..above.clone() };
    for table in &above.values {
        if replaces(&table.value) {
            all.values.push(table.clone());
            continue;
        }
        let laid = |under: &Located<T>| Located {
            value: over(&table.value, &under.value),
            span: table.span.clone(),
        };
        all.values.extend(below.values.iter().map(laid));
    }
    Some(all)
}

impl Expected for PartFile {
    const EXPECTED: &'static str = "a part's name, or a table with its kind and settings";
}

impl Expected for PartValue {
    const EXPECTED: &'static str = "a number";
}

impl Expected for PolicyFile {
    const EXPECTED: &'static str = "a table";
}

// Tables of parts are read key by key, since most of their keys are known to the catalogue alone.

struct PartVisitor;

impl<'de> Visitor<'de> for PartVisitor {
    type Value = PartFile;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(PartFile::EXPECTED)
    }

    fn visit_str<E>(self, name: &str) -> Result<PartFile, E> {
        Ok(PartFile::named(name))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<PartFile, A::Error> {
        let mut part = PartFile::default();
        while let Some(key) = map.next_key::<Spanned<String>>()? {
            match key.get_ref().as_str() {
                "kind" => part.kind = Some(map.next_value()?),
                "features" => part.features = Some(map.next_value()?),
                _ => part.insert(key, map.next_value()?),
            }
        }
        Ok(part)
    }
}

impl<'de> Deserialize<'de> for PartFile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(PartVisitor)
    }
}

struct PolicyVisitor;

impl<'de> Visitor<'de> for PolicyVisitor {
    type Value = PolicyFile;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(PolicyFile::EXPECTED)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<PolicyFile, A::Error> {
        let PolicyFile { mut part, mut start } = PolicyFile::default();
        while let Some(key) = map.next_key::<Spanned<String>>()? {
            match key.get_ref().as_str() {
                "kind" => part.kind = Some(map.next_value()?),
                "weights" => start.weights = Some(map.next_value()?),
                "probabilities" => start.probabilities = Some(map.next_value()?),
                _ => part.insert(key, map.next_value()?),
            }
        }
        Ok(PolicyFile { part, start })
    }
}

impl<'de> Deserialize<'de> for PolicyFile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(PolicyVisitor)
    }
}

struct PartValueVisitor;

macro_rules! numbers {
    ($($visit:ident: $type:ty),*) => {
        $(fn $visit<E>(self, value: $type) -> Result<PartValue, E> {
            Ok(PartValue::Number(value as f64))
        })*
    };
}

impl<'de> Visitor<'de> for PartValueVisitor {
    type Value = PartValue;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(PartValue::EXPECTED)
    }

    numbers!(visit_f64: f64, visit_i64: i64, visit_u64: u64, visit_i128: i128, visit_u128: u128);

    fn visit_str<E>(self, name: &str) -> Result<PartValue, E> {
        Ok(PartValue::Part(PartFile::named(name)))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<PartValue, A::Error> {
        PartFile::deserialize(MapAccessDeserializer::new(map)).map(PartValue::Part)
    }
}

impl<'de> Deserialize<'de> for PartValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(PartValueVisitor)
    }
}
