//! The JSON Schema of experiment files: what `experiment_file` reads, with what is checked once a file is read.

use crate::experiment::AS_ACTOR;
use crate::experiment_file::{ExperimentFile, Start};
use crate::measure::MEASURES;
use crate::source::FEATURE_NAMES;
use emphatic::basis::{BasisEntry, BasisSetting, Kind};
use emphatic::catalogue::{ALGORITHMS, Catalogue, Entry, Range, Role, Setting, Signal};
use emphatic_environments::ENVIRONMENTS;
use emphatic_problems::SHIPPED;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value as Json, json};
use std::borrow::Cow;

/// Returns the JSON Schema of experiment files, for editors.
pub fn schema() -> Json {
    emphatic_problems::schema_of::<ExperimentFile>()
}

pub(crate) use described::*;

/// Types that describe values and hold none: what they say is checked once the whole file is read.
#[allow(dead_code, reason = "only their schema is used")]
mod described {
    use super::{ALGORITHMS, ENVIRONMENTS, JsonSchema, MEASURES, SHIPPED, Schema, json};

    /// A whole number of at least 1.
    #[derive(JsonSchema)]
    #[schemars(transparent)]
    pub(crate) struct Count(#[schemars(range(min = 1))] u64);

    /// A step-size: finite and not negative.
    #[derive(JsonSchema)]
    #[schemars(transparent)]
    pub(crate) struct StepSize(#[schemars(range(min = 0))] f64);

    /// A number between 0 and 1.
    #[derive(JsonSchema)]
    #[schemars(transparent)]
    pub(crate) struct Fraction(#[schemars(range(min = 0, max = 1))] f64);

    /// The name of an algorithm.
    #[derive(JsonSchema)]
    #[schemars(transparent)]
    pub(crate) struct AlgorithmName(#[schemars(transform = add_algorithms)] String);

    fn add_algorithms(schema: &mut Schema) {
        one_of(schema, ALGORITHMS.iter().map(|known| (known.name, known.about)));
    }

    fn one_of(schema: &mut Schema, names: impl Iterator<Item = (&'static str, &'static str)>) {
        let one = |(name, about)| json!({ "description": about, "type": "string", "const": name });
        schema.remove("type");
        schema.insert("oneOf".to_owned(), names.map(one).collect());
    }

    /// A problem's name, the path of a problem file, or an environment of Gymnasium, which is run from Python.
    #[derive(JsonSchema)]
    #[schemars(untagged)]
    pub(crate) enum ProblemName {
        Shipped(#[schemars(transform = add_names)] String),
        Path(#[schemars(regex(pattern = r"\.(toml|json)$"))] String),
        Gymnasium(#[schemars(regex(pattern = r"^gymnasium:."))] String),
    }

    fn add_names(schema: &mut Schema) {
        let environments = ENVIRONMENTS.iter().map(|listed| listed.description.name);
        let names: Vec<&str> = SHIPPED.iter().map(|shipped| shipped.name).chain(environments).collect();
        schema.insert("enum".to_owned(), names.into());
    }

    /// What can be recorded.
    #[derive(JsonSchema)]
    #[schemars(untagged)]
    pub(crate) enum Recorded {
        Named(#[schemars(transform = add_measures)] String),
        Target(#[schemars(regex(pattern = r"^target\."))] String),
    }

    fn add_measures(schema: &mut Schema) {
        let named = MEASURES.iter().filter(|kind| !kind.pattern.starts_with("target."));
        one_of(schema, named.map(|kind| (kind.pattern, kind.about)));
    }

    /// One vector (a list, or a number for all entries), or a list of vectors, which is swept.
    #[derive(JsonSchema)]
    #[schemars(untagged, rename = "Vectors")]
    pub(crate) enum VectorsSchema {
        All(f64),
        One(#[schemars(length(min = 1))] Vec<f64>),
        Several(#[schemars(length(min = 1))] Vec<Vec<f64>>),
    }
}

/// The schema of a critic: an alternative for each kind.
pub(crate) struct CriticSchema;

/// The schema of an emphasis.
pub(crate) struct EmphasisSchema;

/// The schema of the features of a simulator's observations.
pub(crate) struct FeaturesSchema;

/// The schema of a basis.
struct BasisSchema;

/// The schema of an actor.
pub(crate) struct ActorSchema;

/// The schema of a policy.
pub(crate) struct PolicySchema;

/// The schema of a critic of values inside another critic.
struct ValuesSchema;

/// The schema of a schedule inside another part.
struct ScheduleSchema;

macro_rules! schema_by {
    ($($type:ty, $name:literal, |$generator:ident| $schema:expr;)*) => {
        $(impl JsonSchema for $type {
            fn schema_name() -> Cow<'static, str> {
                $name.into()
            }

            fn json_schema($generator: &mut SchemaGenerator) -> Schema {
                $schema
            }
        })*
    };
}
schema_by! {
    CriticSchema, "Critic", |generator| parts_schema(&entries(Role::Critic), generator);
    ActorSchema, "Actor", |generator| parts_schema(&entries(Role::Actor), generator);
    EmphasisSchema, "Emphasis", |generator| parts_schema(&entries(Role::Emphasis), generator);
    ValuesSchema, "Critic of values", |generator| parts_schema(&critics_of_values(), generator);
    ScheduleSchema, "Schedule", |generator| parts_schema(&entries(Role::Schedule), generator);
    PolicySchema, "Policy", |generator| policy_schema(generator);
    BasisSchema, "Basis", |_generator| basis_schema();
    FeaturesSchema, "Features", |generator| features_schema(generator);
}

/// One basis for all parts, or one for the actor and one for all others.
fn features_schema(generator: &mut SchemaGenerator) -> Schema {
    let basis = generator.subschema_for::<BasisSchema>();
    json_schema!({ "anyOf": [basis, {
        "description": "One basis for the actor, and one for all other parts.",
        "type": "object",
        "properties": { "actor": basis, "critic": basis },
        "required": ["actor", "critic"],
        "additionalProperties": false,
    }] })
}

/// The name of a basis, or a table with its settings.
fn basis_schema() -> Schema {
    let name =
        |basis: &BasisEntry| json!({ "description": basis.about, "type": "string", "const": basis.name });
    let table = |basis: &BasisEntry| {
        let mut keys: Map<String, Json> = basis
            .settings
            .iter()
            .map(|setting| (setting.name.to_owned(), of_basis_setting(setting)))
            .collect();
        keys.insert("kind".to_owned(), json!({ "const": basis.name }));
        json!({
            "description": basis.about,
            "type": "object",
            "properties": keys,
            "required": ["kind"],
            "additionalProperties": false,
        })
    };
    let bases = || Catalogue::current().bases();
    json_schema!({ "anyOf": bases().map(name).chain(bases().map(table)).collect::<Vec<_>>() })
}

fn of_basis_setting(setting: &BasisSetting) -> Json {
    let count = json!({ "type": "integer", "minimum": 1, "maximum": 1_000_000 });
    let each = |one: Json| json!([one, { "type": "array", "items": one, "minItems": 1 }]);
    let mut schema = match setting.kind {
        Kind::Count => count,
        Kind::Counts => json!({ "anyOf": each(count) }),
        Kind::Whole => json!({ "type": "integer", "minimum": 0 }),
        Kind::Positive => json!({ "type": "number", "exclusiveMinimum": 0 }),
        Kind::Numbers => json!({ "anyOf": each(json!({ "type": "number" })) }),
        Kind::Flag => json!({ "type": "boolean" }),
        Kind::Flags => json!({ "anyOf": each(json!({ "type": "boolean" })) }),
        Kind::Word(words) => json!({ "enum": words }),
    };
    schema["description"] = match setting.default {
        Some(default) => format!("{}. Left out, it is {default}.", setting.about).into(),
        None => format!("{}.", setting.about).into(),
    };
    schema
}

fn policy_schema(generator: &mut SchemaGenerator) -> Schema {
    let start = Start::json_schema(generator);
    let start = start.get("properties").and_then(Json::as_object).cloned().unwrap_or_default();
    let several =
        "Several kinds; or none: then it is what the algorithm needs or, in a combination, the method's.";
    json_schema!({ "anyOf": tables(&entries(Role::Policy), &start, several, generator) })
}

fn entries(role: Role) -> Vec<&'static Entry> {
    Catalogue::current().of(role).collect()
}

fn critics_of_values() -> Vec<&'static Entry> {
    Catalogue::current().of(Role::Critic).filter(|entry| entry.signals.contains(&Signal::Delta)).collect()
}

/// The name of one of these parts, or a table with the settings of just that part. A table without a kind adds to that of its
/// method.
fn parts_schema(parts: &[&Entry], generator: &mut SchemaGenerator) -> Schema {
    let name = |part: &&Entry| json!({ "description": part.about, "type": "string", "const": part.name });
    let mut kinds: Vec<Json> = parts.iter().map(name).collect();
    let several = "Several kinds, or, in a combination, values that are added to the method's.";
    kinds.extend(tables(parts, &Map::new(), several, generator));
    json_schema!({ "anyOf": kinds })
}

/// A table for each of these parts with just its settings, and one for all of them; each may have `more` keys.
fn tables(
    parts: &[&Entry],
    more: &Map<String, Json>,
    about_several: &str,
    generator: &mut SchemaGenerator,
) -> Vec<Json> {
    let mut keys = |parts: &[&Entry], kind: Json| {
        let mut keys = properties(parts, generator);
        keys.extend(more.clone());
        keys.insert("kind".to_owned(), kind);
        keys
    };
    let one = |part: &&Entry| {
        json!({
            "description": format!("{} ({})", part.about, part.source),
            "type": "object",
            "properties": keys(&[part], json!({ "const": part.name })),
            "required": ["kind"],
            "additionalProperties": false,
        })
    };
    let mut tables: Vec<Json> = parts.iter().map(one).collect();
    let names: Vec<&str> = parts.iter().map(|part| part.name).collect();
    let list = json!({ "type": "array", "items": { "enum": names }, "minItems": 1 });
    tables.push(json!({
        "description": about_several,
        "type": "object",
        "properties": keys(parts, list),
        "additionalProperties": false,
    }));
    tables
}

/// The keys that tables of these parts may have.
fn properties(parts: &[&Entry], generator: &mut SchemaGenerator) -> Map<String, Json> {
    let mut keys = Map::new();
    for part in parts {
        // A policy sees the actor's features.
        if part.features && part.role != Role::Policy {
            let names = json!({ "enum": FEATURE_NAMES });
            let about = "What it sees of a state: the problem's features for critics (`critic`, the default), those for actors \
                         (`actor`), or the state itself (`states`).";
            keys.insert("features".to_owned(), swept(about, names));
        }
        for setting in part.settings {
            keys.insert(setting.name.to_owned(), of_setting(setting));
        }
        for inner in part.inner {
            let about = format!("{}. Left out, it is `{}`.", inner.about, inner.default);
            let one: Json = match inner.role {
                Role::Emphasis => {
                    let own = json!({ "description": "The method's own emphasis.", "const": AS_ACTOR });
                    json!({ "anyOf": [generator.subschema_for::<EmphasisSchema>(), own] })
                }
                Role::Schedule => generator.subschema_for::<ScheduleSchema>().into(),
                Role::Critic | Role::Policy | Role::Actor => generator.subschema_for::<ValuesSchema>().into(),
            };
            keys.insert(inner.name.to_owned(), swept(&about, one));
            // The settings of the part inside may stand beside those of the part itself.
            let inside: Vec<&Entry> =
                entries(inner.role).into_iter().filter(|part| inner.admits(part)).collect();
            for (name, schema) in properties(&inside, generator) {
                keys.entry(name).or_insert(schema);
            }
        }
    }
    keys
}

fn of_setting(setting: &Setting) -> Json {
    let number = match setting.range {
        Range::StepSize => json!({ "type": "number", "minimum": 0 }),
        Range::Fraction => json!({ "type": "number", "minimum": 0, "maximum": 1 }),
        Range::Count => json!({ "type": "integer", "minimum": 1, "maximum": 1_000_000 }),
        Range::Amount => json!({ "type": "number", "minimum": 0 }),
        Range::Discount => json!({ "type": "number", "minimum": 0, "exclusiveMaximum": 1 }),
    };
    let about = match setting.default {
        Some(default) => format!("{}. Left out, it is {default}.", setting.about),
        None => format!("{}.", setting.about),
    };
    swept(&about, number)
}

/// A value, or a list of values that is swept.
fn swept(about: &str, one: Json) -> Json {
    let list = json!({ "type": "array", "items": one, "minItems": 1 });
    json!({ "description": about, "anyOf": [one, list] })
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_committed_schema_is_current() {
        let committed = include_str!("../experiment.schema.json");
        let current = format!("{:#}\n", super::schema());
        assert!(
            committed == current,
            "experiment.schema.json is out of date; update it with\n\
             cargo run --package emphatic-cli -- schema > crates/emphatic-lab/experiment.schema.json"
        );
    }
}
