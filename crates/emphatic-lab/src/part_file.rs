//! A part of a method as it is written: its name, or a table with its settings.
//!
//! What the keys mean, the catalogue says, once the whole file is read.

use crate::source::SIGHTS;
use crate::sweep::{Located, Sweep};
use emphatic::catalogue::{Catalogue, Entry, Inner, Range, Role, Setting, Tells};
use emphatic_problems::Expected;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::{Map, Value as Json, json};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range as Span;
use toml::Spanned;

/// A part of any role.
#[derive(Clone, Debug, Default)]
pub(crate) struct PartFile {
    /// Its name in the catalogue.
    pub(crate) kind: Option<Sweep<String>>,
    /// What it sees of a state.
    pub(crate) features: Option<Sweep<String>>,
    /// Everything else: settings, and the part inside it.
    pub(crate) entries: BTreeMap<String, PartEntry>,
}

/// One key of a part's table.
#[derive(Clone, Debug)]
pub(crate) struct PartEntry {
    /// Where the key stands.
    pub(crate) key: Span<usize>,
    pub(crate) value: Sweep<PartValue>,
}

/// A number, or a part inside the part.
#[derive(Clone, Debug)]
pub(crate) enum PartValue {
    Number(f64),
    Part(PartFile),
}

impl PartFile {
    /// A part by its name alone.
    pub(crate) fn named(kind: &str) -> Self {
        // Where it stands, the value around it knows.
        let values = vec![Located { value: kind.to_owned(), span: 0..0 }];
        Self { kind: Some(Sweep { values, span: 0..0, is_list: false }), ..Self::default() }
    }

    /// Reads the value of a key that all parts have: their kind, or a setting.
    pub(crate) fn read<'de, A: MapAccess<'de>>(
        &mut self,
        key: Spanned<String>,
        map: &mut A,
    ) -> Result<(), A::Error> {
        if key.get_ref() == "kind" {
            self.kind = Some(map.next_value()?);
        } else {
            let entry = PartEntry { key: key.span(), value: map.next_value()? };
            self.entries.insert(key.into_inner(), entry);
        }
        Ok(())
    }

    /// Whether one of the kinds that it may be has a setting, or a part inside it, of this name. (A kind that does not exist is refused
    /// later.)
    pub(crate) fn may_have(&self, role: Role, name: &str) -> bool {
        let mut kinds = self.kind.iter().flat_map(|kinds| &kinds.values);
        kinds
            .any(|kind| Catalogue::current().find(role, &kind.value).is_none_or(|entry| has_key(entry, name)))
    }

    /// These values where they are given, those of `below` elsewhere.
    pub(crate) fn over(&self, below: &Self) -> Self {
        let mut entries = below.entries.clone();
        entries.extend(self.entries.clone());
        Self {
            kind: self.kind.clone().or_else(|| below.kind.clone()),
            features: self.features.clone().or_else(|| below.features.clone()),
            entries,
        }
    }
}

/// Whether a part has a setting, or a part inside it, of this name.
pub(crate) fn has_key(entry: &Entry, name: &str) -> bool {
    entry.setting(name).is_some() || entry.inner.is_some_and(|inner| inner.name == name)
}

impl Expected for PartFile {
    const EXPECTED: &'static str = "a part's name, or a table with its kind and settings";
}

impl Expected for PartValue {
    const EXPECTED: &'static str = "a number";
}

impl<'de> Deserialize<'de> for PartFile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct PartVisitor;

        impl<'de> Visitor<'de> for PartVisitor {
            type Value = PartFile;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str(PartFile::EXPECTED)
            }

            fn visit_str<E>(self, kind: &str) -> Result<PartFile, E> {
                Ok(PartFile::named(kind))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<PartFile, A::Error> {
                let mut part = PartFile::default();
                while let Some(key) = map.next_key::<Spanned<String>>()? {
                    match key.get_ref().as_str() {
                        "features" => part.features = Some(map.next_value()?),
                        _ => part.read(key, &mut map)?,
                    }
                }
                Ok(part)
            }
        }

        deserializer.deserialize_any(PartVisitor)
    }
}

impl<'de> Deserialize<'de> for PartValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ValueVisitor;

        impl<'de> Visitor<'de> for ValueVisitor {
            type Value = PartValue;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str(PartValue::EXPECTED)
            }

            fn visit_f64<E>(self, value: f64) -> Result<PartValue, E> {
                Ok(PartValue::Number(value))
            }

            fn visit_i64<E>(self, value: i64) -> Result<PartValue, E> {
                Ok(PartValue::Number(value as f64))
            }

            fn visit_u64<E>(self, value: u64) -> Result<PartValue, E> {
                Ok(PartValue::Number(value as f64))
            }

            fn visit_i128<E>(self, value: i128) -> Result<PartValue, E> {
                Ok(PartValue::Number(value as f64))
            }

            fn visit_u128<E>(self, value: u128) -> Result<PartValue, E> {
                Ok(PartValue::Number(value as f64))
            }

            fn visit_str<E>(self, kind: &str) -> Result<PartValue, E> {
                Ok(PartValue::Part(PartFile::named(kind)))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<PartValue, A::Error> {
                let deserializer = serde::de::value::MapAccessDeserializer::new(map);
                PartFile::deserialize(deserializer).map(PartValue::Part)
            }
        }

        deserializer.deserialize_any(ValueVisitor)
    }
}

/// The schema of a critic: an alternative for each kind.
pub(crate) struct CriticSchema;

/// The schema of an emphasis.
pub(crate) struct EmphasisSchema;

/// The schema of a critic of values inside another critic.
struct ValuesSchema;

macro_rules! schema_of_role {
    ($type:ty, $name:literal, $role:expr, $fits:expr) => {
        impl JsonSchema for $type {
            fn schema_name() -> Cow<'static, str> {
                $name.into()
            }

            fn json_schema(generator: &mut SchemaGenerator) -> Schema {
                let parts: Vec<&Entry> = Catalogue::current().of($role).filter($fits).collect();
                parts_schema(&parts, generator)
            }
        }
    };
}
schema_of_role!(CriticSchema, "Critic", Role::Critic, |_| true);
schema_of_role!(EmphasisSchema, "Emphasis", Role::Emphasis, |_| true);
schema_of_role!(ValuesSchema, "Critic of values", Role::Critic, tells_values);

fn tells_values(entry: &&Entry) -> bool {
    entry.tells.contains(&Tells::Delta)
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
pub(crate) fn tables(
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
    let mut properties = Map::new();
    for part in parts {
        // A policy sees the actor's features.
        if part.features && part.role != Role::Policy {
            let sights = json!({ "enum": SIGHTS });
            let about = "What it sees of a state: the problem's features for critics (`critic`, the default), those for actors \
                         (`actor`), or the state itself (`states`).";
            properties.insert("features".to_owned(), swept(about, sights));
        }
        for setting in part.settings {
            properties.insert(setting.name.to_owned(), of_setting(setting));
        }
        if let Some(inner) = &part.inner {
            let (own, more) = of_inner(inner, generator);
            properties.insert(inner.name.to_owned(), own);
            // The settings of the part inside may stand beside those of the part itself.
            more.into_iter().for_each(|(name, schema)| _ = properties.entry(name).or_insert(schema));
        }
    }
    properties
}

fn of_inner(inner: &Inner, generator: &mut SchemaGenerator) -> (Json, Map<String, Json>) {
    let parts: Vec<&Entry> = Catalogue::current().of(Role::Critic).filter(tells_values).collect();
    let about = format!("{}. Left out, it is `{}`.", inner.about, inner.default);
    let one = generator.subschema_for::<ValuesSchema>().into();
    (swept(&about, one), properties(&parts, generator))
}

fn of_setting(setting: &Setting) -> Json {
    let number = match setting.range {
        Range::StepSize => json!({ "type": "number", "minimum": 0 }),
        Range::Fraction => json!({ "type": "number", "minimum": 0, "maximum": 1 }),
        Range::Count => json!({ "type": "integer", "minimum": 1, "maximum": 1_000_000 }),
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
