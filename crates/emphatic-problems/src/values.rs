//! Values as they are written in files.

use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserializer, IntoDeserializer, MapAccess, SeqAccess, Unexpected, Visitor};
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

/// What is read from files.
pub trait Expected {
    /// What one of them is called in messages.
    const EXPECTED: &'static str;
}

/// A number.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema)]
#[schemars(transparent)]
pub struct Number(
    /// The number.
    pub f64,
);

/// A whole number that is not negative.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema)]
#[schemars(transparent)]
pub struct Whole(
    /// The number.
    pub u64,
);

impl Expected for Number {
    const EXPECTED: &'static str = "a number";
}

impl Expected for Whole {
    const EXPECTED: &'static str = "a whole number";
}

impl Expected for String {
    const EXPECTED: &'static str = "a name in quotation marks";
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NumberVisitor;
        impl Visitor<'_> for NumberVisitor {
            type Value = Number;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str(Number::EXPECTED)
            }

            fn visit_f64<E>(self, value: f64) -> Result<Number, E> {
                Ok(Number(value))
            }

            fn visit_i64<E>(self, value: i64) -> Result<Number, E> {
                Ok(Number(value as f64))
            }

            fn visit_u64<E>(self, value: u64) -> Result<Number, E> {
                Ok(Number(value as f64))
            }

            fn visit_i128<E>(self, value: i128) -> Result<Number, E> {
                Ok(Number(value as f64))
            }

            fn visit_u128<E>(self, value: u128) -> Result<Number, E> {
                Ok(Number(value as f64))
            }
        }
        deserializer.deserialize_any(NumberVisitor)
    }
}

impl<'de> Deserialize<'de> for Whole {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct WholeVisitor;
        impl Visitor<'_> for WholeVisitor {
            type Value = Whole;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a whole number that is not negative")
            }

            fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<Whole, E> {
                let wrong = || E::invalid_value(serde::de::Unexpected::Signed(value), &self);
                u64::try_from(value).map(Whole).map_err(|_| wrong())
            }

            fn visit_u64<E>(self, value: u64) -> Result<Whole, E> {
                Ok(Whole(value))
            }

            fn visit_i128<E: serde::de::Error>(self, _: i128) -> Result<Whole, E> {
                Err(E::custom(format!("a whole number here lies between 0 and {}", u64::MAX)))
            }

            fn visit_u128<E: serde::de::Error>(self, _: u128) -> Result<Whole, E> {
                self.visit_i128(0)
            }
        }
        deserializer.deserialize_any(WholeVisitor)
    }
}

/// A state or an action: its name, or its number from 0.
#[derive(Clone, Debug, PartialEq, JsonSchema)]
#[schemars(untagged)]
pub enum Key {
    /// By name.
    Name(String),
    /// By number.
    Number(u64),
}

/// One state or action, or a list of them.
#[derive(Clone, Debug, PartialEq, JsonSchema)]
#[schemars(untagged)]
pub enum Keys {
    /// One.
    One(Key),
    /// Several.
    Many(Vec<Key>),
}

impl Keys {
    /// All of them.
    pub fn as_slice(&self) -> &[Key] {
        match self {
            Self::One(key) => std::slice::from_ref(key),
            Self::Many(keys) => keys,
        }
    }
}

struct KeyVisitor;

impl Visitor<'_> for KeyVisitor {
    type Value = Key;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a name in quotation marks, or a number from 0")
    }

    fn visit_str<E>(self, name: &str) -> Result<Key, E> {
        Ok(Key::Name(name.to_owned()))
    }

    fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<Key, E> {
        let wrong = || E::invalid_value(serde::de::Unexpected::Signed(number), &self);
        u64::try_from(number).map(Key::Number).map_err(|_| wrong())
    }

    fn visit_u64<E>(self, number: u64) -> Result<Key, E> {
        Ok(Key::Number(number))
    }
}

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(KeyVisitor)
    }
}

impl<'de> Deserialize<'de> for Keys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct KeysVisitor;
        impl<'de> Visitor<'de> for KeysVisitor {
            type Value = Keys;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a name in quotation marks, a number from 0, or a list of such")
            }

            fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<Keys, E> {
                KeyVisitor.visit_str(name).map(Keys::One)
            }

            fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<Keys, E> {
                KeyVisitor.visit_i64(number).map(Keys::One)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Keys, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(seq)).map(Keys::Many)
            }
        }
        deserializer.deserialize_any(KeysVisitor)
    }
}

/// The interest: a number for all states, or a table.
#[derive(Clone, Debug, PartialEq, JsonSchema)]
#[schemars(untagged)]
pub enum Interest {
    /// The same in all states.
    Everywhere(Number),
    /// In some states.
    ByState(BTreeMap<String, Number>),
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

impl Expected for Interest {
    const EXPECTED: &'static str = "a number, or a table of numbers by state";
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

/// What is written as a scalar or as a table.
pub trait ScalarOrTable<'de>: Sized + Expected {
    /// What a scalar is read as.
    type Scalar: Deserialize<'de>;
    /// What a table is read as.
    type Table: Deserialize<'de>;
    /// From a scalar.
    fn scalar(scalar: Self::Scalar) -> Self;
    /// From a table.
    fn table(table: Self::Table) -> Self;
}

/// Reads what is written as a scalar or as a table.
pub struct ScalarOrTableVisitor<T>(
    /// What is read.
    pub PhantomData<T>,
);

/// A scalar of any kind goes to the type that expects one. What does not fit it is refused, as what is neither.
macro_rules! scalar {
    ($($visit:ident: $type:ty as $unexpected:expr),*) => {
        $(fn $visit<E: serde::de::Error>(self, value: $type) -> Result<T, E> {
            let scalar = T::Scalar::deserialize(IntoDeserializer::<E>::into_deserializer(value));
            scalar.map(T::scalar).map_err(|_| E::invalid_type($unexpected(value), &self))
        })*
    };
}

impl<'de, T: ScalarOrTable<'de>> Visitor<'de> for ScalarOrTableVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(T::EXPECTED)
    }

    scalar!(visit_bool: bool as Unexpected::Bool, visit_i64: i64 as Unexpected::Signed);
    scalar!(visit_u64: u64 as Unexpected::Unsigned, visit_f64: f64 as Unexpected::Float);
    scalar!(visit_i128: i128 as huge, visit_u128: u128 as huge);

    fn visit_str<E: serde::de::Error>(self, value: &str) -> Result<T, E> {
        T::Scalar::deserialize(value.into_deserializer()).map(T::scalar)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        T::Table::deserialize(MapAccessDeserializer::new(map)).map(T::table)
    }
}

/// A number beyond 64 bits.
fn huge<N>(_: N) -> Unexpected<'static> {
    Unexpected::Other("a number that is too large")
}

/// Reads a type that is written as a scalar or as a table.
#[macro_export]
macro_rules! scalar_or_table {
    ($name:ident: $scalar:ty => $from_scalar:expr, $table:ty => $from_table:expr) => {
        impl<'de> $crate::values::ScalarOrTable<'de> for $name {
            type Scalar = $scalar;
            type Table = $table;

            fn scalar(scalar: $scalar) -> Self {
                $from_scalar(scalar)
            }

            fn table(table: $table) -> Self {
                $from_table(table)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_any($crate::values::ScalarOrTableVisitor(std::marker::PhantomData))
            }
        }
    };
}

scalar_or_table!(Interest: Number => Interest::Everywhere, BTreeMap<String, Number> => Interest::ByState);
scalar_or_table!(Share: Number => Share::Number, BTreeMap<String, Number> => Share::InState);
scalar_or_table!(Behaviour: BehaviourWord => Behaviour::Word, BTreeMap<String, Share> => Behaviour::Table);
