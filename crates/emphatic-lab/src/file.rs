//! Experiment files as they are written.
//!
//! These types read the file and give its JSON Schema, in which the comments here become the descriptions. What the values
//! mean together is checked in `experiment`.

use crate::part_file::{CriticSchema, EmphasisSchema, PartFile};
use crate::policy_file::PolicyFile;
use crate::sweep::{OneOrMany, Sweep};
use emphatic_problems::{Behaviour, Expected, Interest, Number, Whole, scalar_or_table};
use schemars::{JsonSchema, Schema};
use serde::Deserialize;
use serde::de::Deserializer;
use std::ops::Range;
use toml::Spanned;

/// An experiment: methods that learn in a problem, each with settings of which any list is swept.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "An emphatic experiment")]
pub(crate) struct ExperimentFile {
    /// In what is learned: a problem that comes with the program, such as `counterexample`, or the path of a problem file,
    /// relative to this one.
    pub(crate) problem: Sweep<ProblemValue>,
    /// The policy that generates the experience, if not the problem's own: `uniform`, `{ A0 = 0.5, A1 = 0.5 }` in every state, or
    /// `{ S0 = { A0 = 0.5, A1 = 0.5 } }` in some; for a real action `{ mean = 1.0, standard_deviation = 1.0 }`.
    pub(crate) behaviour: Option<Sweep<Behaviour>>,
    /// The interest in the states that the objective is made of, if not the problem's own: a number for all states, or
    /// `{ S0 = 1.0, S1 = 0.0 }`, where the states left out keep the problem's.
    pub(crate) interest: Option<Sweep<Interest>>,
    /// What all randomness comes from: run number r of seed s is the same experience everywhere. Left out, it is 0.
    #[schemars(with = "Option<Whole>")]
    pub(crate) seed: Option<Sweep<Whole>>,
    /// How many runs: streams of experience, each of which teaches every setting.
    #[schemars(with = "Count")]
    pub(crate) runs: Sweep<Whole>,
    /// How many episodes a run lasts. Either this or `steps`.
    #[schemars(with = "Option<Count>")]
    pub(crate) episodes: Option<Sweep<Whole>>,
    /// How many steps a run lasts. Either this or `episodes`.
    #[schemars(with = "Option<Count>")]
    pub(crate) steps: Option<Sweep<Whole>>,
    /// How often the quantities are recorded in a run, at equal distances, the last time at its end; and once
    /// more before it begins. Left out, it is 50, or the length of a run if that is less.
    #[schemars(with = "Option<Count>")]
    pub(crate) evaluations: Option<Sweep<Whole>>,
    /// What is recorded at each evaluation: `objective`; `target.S1.A0`, the probability of an action in a state;
    /// `target.S1`, of all its actions, or its mean action; `emphasis`, `exact_emphasis` and `rho`, their means over
    /// the steps since the evaluation before; `weights`, of the policy. Left out, it is the objective.
    #[schemars(with = "Option<Vec<Recorded>>", length(min = 1))]
    pub(crate) record: Option<Spanned<Vec<Spanned<String>>>>,
    /// What makes a setting the best of its method: the objective at the end of a run (`final`, the default) or its average
    /// over the run (`area`).
    #[schemars(with = "Option<Select>")]
    pub(crate) select: Option<Sweep<Select>>,
    /// On how many new streams each method's best setting is run again, so that its result is not the luck of the best
    /// of a grid. Left out, it is 0.
    #[schemars(with = "Option<Whole>")]
    pub(crate) fresh_runs: Option<Sweep<Whole>>,
    /// The methods.
    #[schemars(with = "Vec<MethodFile>", length(min = 1))]
    pub(crate) method: Spanned<Vec<Spanned<MethodFile>>>,
}

/// The JSON Schema of experiment files, for editors.
pub fn schema() -> serde_json::Value {
    emphatic_problems::schema_of::<ExperimentFile>()
}

/// Types that no value is read into: they tell the schema what is checked once the whole file is known.
#[allow(dead_code, reason = "they are there for the schema")]
mod told {
    use schemars::JsonSchema;

    /// A whole number of at least 1.
    #[derive(JsonSchema)]
    #[schemars(transparent)]
    pub(super) struct Count(#[schemars(range(min = 1))] u64);

    /// A step-size: finite and not negative.
    #[derive(JsonSchema)]
    #[schemars(transparent)]
    pub(super) struct StepSize(#[schemars(range(min = 0))] f64);

    /// A number between 0 and 1.
    #[derive(JsonSchema)]
    #[schemars(transparent)]
    pub(super) struct Fraction(#[schemars(range(min = 0, max = 1))] f64);

    /// The name of an algorithm.
    #[derive(JsonSchema)]
    #[schemars(transparent)]
    pub(super) struct AlgorithmName(#[schemars(transform = add_algorithms)] String);

    fn add_algorithms(schema: &mut schemars::Schema) {
        one_of(schema, emphatic::catalogue::ALGORITHMS.iter().map(|known| (known.name, known.about)));
    }

    fn one_of(schema: &mut schemars::Schema, names: impl Iterator<Item = (&'static str, &'static str)>) {
        let one =
            |(name, about)| serde_json::json!({ "description": about, "type": "string", "const": name });
        schema.remove("type");
        schema.insert("oneOf".to_owned(), names.map(one).collect());
    }

    /// A problem's name, or the path of a problem file.
    #[derive(JsonSchema)]
    #[schemars(untagged)]
    pub(super) enum ProblemName {
        Shipped(#[schemars(transform = add_names)] String),
        Path(#[schemars(regex(pattern = r"\.(toml|json)$"))] String),
    }

    fn add_names(schema: &mut schemars::Schema) {
        let names = emphatic_problems::SHIPPED.map(|shipped| shipped.name);
        schema.insert("enum".to_owned(), names.as_slice().into());
    }

    /// What can be recorded.
    #[derive(JsonSchema)]
    #[schemars(untagged)]
    pub(super) enum Recorded {
        Named(#[schemars(transform = add_measures)] String),
        Target(#[schemars(regex(pattern = r"^target\."))] String),
    }

    fn add_measures(schema: &mut schemars::Schema) {
        let named = crate::measure::MEASURES.iter().filter(|kind| !kind.pattern.contains('.'));
        one_of(schema, named.map(|kind| (kind.pattern, kind.about)));
    }

    /// One vector (a list, or a number for all entries), or a list of vectors, which is swept.
    #[derive(JsonSchema)]
    #[schemars(untagged)]
    pub(super) enum Vectors {
        All(f64),
        One(#[schemars(length(min = 1))] Vec<f64>),
        Several(#[schemars(length(min = 1))] Vec<Vec<f64>>),
    }
}

use told::{AlgorithmName, Count, Fraction, ProblemName, Recorded, StepSize};

/// A method: an algorithm with its parts and their settings.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MethodFile {
    /// What it is called in tables and figures. Left out, it is the algorithm's name.
    #[schemars(with = "Option<String>")]
    pub(crate) name: Option<Sweep<String>>,
    /// A name for a policy and an emphasis. Either this or `emphasis`.
    #[schemars(with = "Option<Sweep<AlgorithmName>>")]
    pub(crate) algorithm: Option<Sweep<String>>,
    /// The policy: its kind and settings, and where it starts.
    pub(crate) policy: Option<Sweep<PolicyFile>>,
    /// The critic: its name, or a table with its `kind` and its settings.
    #[schemars(with = "Option<Sweep<CriticSchema>>")]
    pub(crate) critic: Option<Sweep<PartFile>>,
    /// How much a state counts: the name of an emphasis, or a table with its `kind` and its settings. Either this or `algorithm`.
    #[schemars(with = "Option<Sweep<EmphasisSchema>>")]
    pub(crate) emphasis: Option<Sweep<PartFile>>,
    /// The interest that the method uses, if not the experiment's. The recorded objective has the experiment's.
    pub(crate) interest: Option<Sweep<Interest>>,
    /// The actor's step-size, divided by the number of active features.
    #[schemars(with = "Option<Sweep<StepSize>>")]
    pub(crate) alpha: Option<Sweep<Number>>,
    /// λ_a of the emphasis: 1 is full emphasis, 0 is none. (It may as well stand in the emphasis's table.)
    #[schemars(with = "Option<Sweep<Fraction>>")]
    pub(crate) lambda_a: Option<Sweep<Number>>,
    /// From which actions the actor learns at each step: the one `taken` (with δ), or `all` (with their advantages). Left out, it is what the
    /// critic tells; the action taken, if it tells both.
    pub(crate) actions: Option<Sweep<Actions>>,
    /// With `actions = "all"`: how many of them are drawn at each step. Left out, it is all of them.
    #[schemars(with = "Option<Sweep<Count>>")]
    pub(crate) subset: Option<Sweep<Whole>>,
    /// Settings of which every value is a method of its own: the best setting is chosen for each value.
    #[schemars(with = "Option<Vec<String>>")]
    pub(crate) separate: Option<Vec<Spanned<String>>>,
    /// Instead of one grid: combinations of values, each in addition to those above (and each a grid if it has lists).
    #[schemars(with = "Option<Vec<MethodFile>>", length(min = 1))]
    pub(crate) combinations: Option<Spanned<Vec<Spanned<MethodFile>>>>,
}

/// A problem with its parameters.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProblemFileValue {
    /// The problem's name or path.
    #[schemars(with = "ProblemName")]
    pub(crate) name: Spanned<String>,
    /// For `long-counterexample`: the length of its chains. Left out, it is 5.
    #[schemars(with = "Option<Sweep<Count>>")]
    pub(crate) steps: Option<Sweep<Whole>>,
}

/// Words of the file, as they are written there.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident, $expected:literal: $($(#[$variant_doc:meta])* $variant:ident = $word:literal),*) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
        pub enum $name {
            $($(#[$variant_doc])* #[serde(rename = $word)] $variant),*
        }

        impl $name {
            /// As it is written in files and columns.
            pub fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word),*
                }
            }
        }

        impl Expected for $name {
            const EXPECTED: &'static str = $expected;
        }
    };
}

words! {
    /// From which actions the actor learns.
    Actions, "`taken` or `all`":
    /// From the one taken.
    Taken = "taken",
    /// From all, or some drawn at random.
    All = "all"
}

words! {
    /// What makes a setting the best.
    Select, "`final` or `area`":
    /// The objective at the end.
    Final = "final",
    /// The average objective.
    Area = "area"
}

/// A problem: its name, or a table with its parameters.
#[derive(Clone, Debug, JsonSchema)]
#[schemars(untagged)]
pub(crate) enum ProblemValue {
    Name(#[schemars(with = "ProblemName")] String),
    Table(Box<ProblemFileValue>),
}

impl Expected for ProblemValue {
    const EXPECTED: &'static str = "a problem's name or path, or a table with its name and parameters";
}
scalar_or_table!(ProblemValue: String => ProblemValue::Name, ProblemFileValue => |t| ProblemValue::Table(Box::new(t)));

/// Vectors of numbers: one (a list of numbers, or a number that stands for all), or several that are swept.
#[derive(Clone, Debug)]
pub(crate) struct Vectors {
    pub(crate) values: Vec<Vector>,
    pub(crate) span: Range<usize>,
}

/// One vector.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Vector {
    All(f64),
    Each(Vec<f64>),
}

impl JsonSchema for Vectors {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Vectors".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> Schema {
        told::Vectors::json_schema(generator)
    }
}

impl<'de> Deserialize<'de> for Vectors {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Sweep::<NumberOrList>::deserialize(deserializer)?;
        let numbers: Option<Vec<f64>> = raw.values.iter().map(|v| v.value.number()).collect();
        let values = match numbers {
            Some(numbers) if raw.is_list => vec![Vector::Each(numbers)],
            Some(numbers) => numbers.into_iter().map(Vector::All).collect(),
            None => raw.values.into_iter().map(|v| v.value.vector()).collect(),
        };
        Ok(Self { values, span: raw.span })
    }
}

#[derive(Clone, Debug)]
enum NumberOrList {
    Number(f64),
    List(Vec<f64>),
}

impl NumberOrList {
    fn number(&self) -> Option<f64> {
        match self {
            Self::Number(x) => Some(*x),
            Self::List(_) => None,
        }
    }

    fn vector(self) -> Vector {
        match self {
            Self::Number(x) => Vector::All(x),
            Self::List(list) => Vector::Each(list),
        }
    }
}

impl Expected for NumberOrList {
    const EXPECTED: &'static str = "a number, a list of numbers";
}

impl<'de> Deserialize<'de> for NumberOrList {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match OneOrMany::<Number>::deserialize(deserializer)? {
            OneOrMany::One(Number(x)) => Self::Number(x),
            OneOrMany::Many(list) => Self::List(list.into_iter().map(|x| x.into_inner().0).collect()),
        })
    }
}
