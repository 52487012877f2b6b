//! A method's policy as it is written: a part, and where it starts.

use crate::file::Vectors;
use crate::part_file::{PartFile, tables};
use crate::sweep::Sweep;
use emphatic::catalogue::{Catalogue, Entry, Role};
use emphatic_problems::{Expected, Number};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Map;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use toml::Spanned;

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
    pub(crate) weights: Option<Vectors>,
    /// Instead of weights: the probabilities that it starts from in every state, `{ A0 = 0.9, A1 = 0.1 }`.
    pub(crate) probabilities: Option<Sweep<BTreeMap<String, Number>>>,
}

impl PolicyFile {
    /// The keys of every policy, beside its settings.
    pub(crate) const KEYS: [&str; 3] = ["kind", "weights", "probabilities"];

    /// These values where they are given, those of `below` elsewhere. Another kind has settings of its own, and a start is given as a whole.
    pub(crate) fn over(&self, below: &Self) -> Self {
        let part = if self.part.kind.is_some() { self.part.clone() } else { self.part.over(&below.part) };
        let has_start = self.start.weights.is_some() || self.start.probabilities.is_some();
        Self { part, start: if has_start { self } else { below }.start.clone() }
    }
}

impl Expected for PolicyFile {
    const EXPECTED: &'static str = "a table";
}

impl<'de> Deserialize<'de> for PolicyFile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct PolicyVisitor;

        impl<'de> Visitor<'de> for PolicyVisitor {
            type Value = PolicyFile;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str(PolicyFile::EXPECTED)
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<PolicyFile, A::Error> {
                let mut policy = PolicyFile::default();
                while let Some(key) = map.next_key::<Spanned<String>>()? {
                    match key.get_ref().as_str() {
                        "weights" => policy.start.weights = Some(map.next_value()?),
                        "probabilities" => policy.start.probabilities = Some(map.next_value()?),
                        _ => policy.part.read(key, &mut map)?,
                    }
                }
                Ok(policy)
            }
        }

        deserializer.deserialize_any(PolicyVisitor)
    }
}

impl JsonSchema for PolicyFile {
    fn schema_name() -> Cow<'static, str> {
        "Policy".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let start = Start::json_schema(generator);
        let start = start.get("properties").and_then(|keys| keys.as_object()).cloned();
        let policies: Vec<&Entry> = Catalogue::current().of(Role::Policy).collect();
        let several =
            "Several kinds; or none: then it is what the algorithm needs or, in a combination, the method's.";
        json_schema!({ "anyOf": tables(&policies, &start.unwrap_or_else(Map::new), several, generator) })
    }
}
