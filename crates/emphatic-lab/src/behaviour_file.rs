//! Behaviours as experiment files write them: words and tables as in problem files, saved policies, and mixtures.

use emphatic_problems::{Behaviour, BehaviourWord, Expected, Number, Share};
use schemars::JsonSchema;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserialize, Deserializer, Error, IntoDeserializer, MapAccess, SeqAccess, Visitor};
use std::collections::BTreeMap;
use std::fmt;
use toml::Spanned;

/// A behaviour.
#[derive(Clone, Debug, JsonSchema)]
#[schemars(untagged, rename = "ExperimentBehaviour")]
pub(crate) enum BehaviourFile {
    /// As in problem files.
    Plain(Behaviour),
    Saved(SavedFile),
    /// In a simulator: one of several, drawn anew at every step.
    Mixture {
        mixture: Vec<MixturePart>,
    },
}

/// In a simulator: the policy of a saved learner.
#[derive(Clone, Debug, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct SavedFile {
    /// The path of a file that `agent.save` wrote in Python, relative to this one.
    #[schemars(with = "String")]
    pub(crate) policy: Spanned<String>,
    /// With this probability any action, all alike, and otherwise the policy's most probable one. Left out, actions are drawn by the policy's own probabilities.
    pub(crate) epsilon: Option<Number>,
}

/// A part of a mixture.
#[derive(Clone, Debug, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MixturePart {
    /// The probability with which it acts.
    pub(crate) share: Number,
    /// What acts.
    pub(crate) behaviour: BehaviourFile,
}

impl Expected for BehaviourFile {
    const EXPECTED: &'static str = "`uniform`, a table of probabilities by action or of such tables by state, { policy = \"FILE\" } or { mixture = [...] }";
}

/// An entry of a behaviour's table.
enum Entry {
    Share(Share),
    Text(String),
    Parts(Vec<MixturePart>),
}

impl<'de> Deserialize<'de> for Entry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct EntryVisitor;

        impl<'de> Visitor<'de> for EntryVisitor {
            type Value = Entry;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str(Share::EXPECTED)
            }

            fn visit_f64<E>(self, number: f64) -> Result<Entry, E> {
                Ok(Entry::Share(Share::Number(Number(number))))
            }

            fn visit_i64<E: Error>(self, number: i64) -> Result<Entry, E> {
                self.visit_f64(number as f64)
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<Entry, E> {
                self.visit_f64(number as f64)
            }

            fn visit_i128<E: Error>(self, number: i128) -> Result<Entry, E> {
                self.visit_f64(number as f64)
            }

            fn visit_u128<E: Error>(self, number: u128) -> Result<Entry, E> {
                self.visit_f64(number as f64)
            }

            fn visit_str<E>(self, text: &str) -> Result<Entry, E> {
                Ok(Entry::Text(text.to_owned()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Entry, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(list)).map(Entry::Parts)
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Entry, A::Error> {
                let table = BTreeMap::deserialize(MapAccessDeserializer::new(map))?;
                Ok(Entry::Share(Share::InState(table)))
            }
        }

        deserializer.deserialize_any(EntryVisitor)
    }
}

impl<'de> Deserialize<'de> for BehaviourFile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct BehaviourVisitor;

        impl<'de> Visitor<'de> for BehaviourVisitor {
            type Value = BehaviourFile;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str(BehaviourFile::EXPECTED)
            }

            fn visit_str<E: Error>(self, word: &str) -> Result<BehaviourFile, E> {
                let word = BehaviourWord::deserialize(word.into_deserializer())?;
                Ok(BehaviourFile::Plain(Behaviour::Word(word)))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<BehaviourFile, A::Error> {
                let mut table = Table::default();
                while let Some(key) = map.next_key::<String>()? {
                    // An action or a state may be called so too, but its probability is no text and no list.
                    let entry = match key.as_str() {
                        "policy" | "mixture" => map.next_value::<Spanned<Entry>>()?,
                        _ => {
                            table.shares.insert(key, map.next_value()?);
                            continue;
                        }
                    };
                    let span = entry.span();
                    match (key.as_str(), entry.into_inner()) {
                        (_, Entry::Share(share)) => _ = table.shares.insert(key, share),
                        ("policy", Entry::Text(path)) => table.policy = Some(Spanned::new(span, path)),
                        ("mixture", Entry::Parts(parts)) => table.mixture = Some(parts),
                        ("policy", _) => return Err(A::Error::custom("`policy` must be the path of a file")),
                        _ => return Err(A::Error::custom("`mixture` must be a list of parts")),
                    }
                }
                table.behaviour().map_err(A::Error::custom)
            }
        }

        deserializer.deserialize_any(BehaviourVisitor)
    }
}

/// What a behaviour's table holds.
#[derive(Default)]
struct Table {
    policy: Option<Spanned<String>>,
    mixture: Option<Vec<MixturePart>>,
    shares: BTreeMap<String, Share>,
}

impl Table {
    fn behaviour(self) -> Result<BehaviourFile, String> {
        match (self.policy, self.mixture) {
            (None, None) => Ok(BehaviourFile::Plain(Behaviour::Table(self.shares))),
            (Some(policy), None) => saved(policy, self.shares),
            (None, Some(mixture)) => match self.shares.into_keys().next() {
                None => Ok(BehaviourFile::Mixture { mixture }),
                Some(key) => Err(format!("`{key}` stands beside `mixture`, which must be alone")),
            },
            (Some(_), Some(_)) => {
                Err("`policy` stands beside `mixture`, which must be alone: make it a part".to_owned())
            }
        }
    }
}

/// Returns a saved policy, beside whose path this stands.
fn saved(policy: Spanned<String>, mut beside: BTreeMap<String, Share>) -> Result<BehaviourFile, String> {
    let epsilon = match beside.remove("epsilon") {
        None => None,
        Some(Share::Number(epsilon)) => Some(epsilon),
        Some(Share::InState(_)) => return Err("`epsilon` must be a number".to_owned()),
    };
    match beside.into_keys().next() {
        None => Ok(BehaviourFile::Saved(SavedFile { policy, epsilon })),
        Some(key) => Err(format!("a saved policy has no `{key}`; beside `policy` there may be `epsilon`")),
    }
}
