//! Values of an experiment file: one, or several that are swept.

use crate::file_error::Wrong;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserialize, Deserializer, IntoDeserializer, MapAccess, SeqAccess, Visitor};
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;
use toml::Spanned;

/// A value and where it stands in its file.
#[derive(Clone, Debug)]
pub(crate) struct Located<T> {
    pub(crate) value: T,
    pub(crate) span: Range<usize>,
}

/// One value, or a list of them: any list is swept.
#[derive(Clone, Debug)]
pub(crate) struct Sweep<T> {
    pub(crate) values: Vec<Located<T>>,
    pub(crate) span: Range<usize>,
    pub(crate) is_list: bool,
}

/// What can be swept.
pub(crate) trait Sweepable {
    /// What one of them is called in messages.
    const EXPECTED: &'static str;
}

impl<T> Sweep<T> {
    /// The value of what cannot be swept.
    pub(crate) fn single(&self, key: &str) -> Result<&Located<T>, Wrong> {
        match &self.values[..] {
            [value] if !self.is_list => Ok(value),
            _ => Err(Wrong::at(
                &self.span,
                format!("`{key}` is one value for the whole experiment, not a list"),
            )
            .help("the problem, the behaviour, the interest and the values of methods can be swept")),
        }
    }

    /// The values; there is at least one.
    pub(crate) fn several(&self, key: &str) -> Result<&[Located<T>], Wrong> {
        if self.values.is_empty() {
            return Err(Wrong::at(&self.span, format!("`{key}` is an empty list"))
                .help("a list is swept: give it at least one value"));
        }
        Ok(&self.values)
    }
}

impl<'de, T: Deserialize<'de> + Sweepable> Deserialize<'de> for Sweep<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Spanned::<OneOrMany<T>>::deserialize(deserializer)?;
        let span = raw.span();
        Ok(match raw.into_inner() {
            OneOrMany::One(value) => {
                Self { values: vec![Located { value, span: span.clone() }], span, is_list: false }
            }
            OneOrMany::Many(values) => {
                let locate = |v: Spanned<T>| Located { span: v.span(), value: v.into_inner() };
                Self { values: values.into_iter().map(locate).collect(), span, is_list: true }
            }
        })
    }
}

/// A value or a list, as it is written.
pub(crate) enum OneOrMany<T> {
    One(T),
    Many(Vec<Spanned<T>>),
}

impl<'de, T: Deserialize<'de> + Sweepable> Deserialize<'de> for OneOrMany<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OneOrManyVisitor(PhantomData))
    }
}

struct OneOrManyVisitor<T>(PhantomData<T>);

/// A scalar is one value.
macro_rules! one {
    ($($visit:ident: $type:ty),*) => {
        $(fn $visit<E: serde::de::Error>(self, value: $type) -> Result<Self::Value, E> {
            T::deserialize(value.into_deserializer()).map(OneOrMany::One)
        })*
    };
}

impl<'de, T: Deserialize<'de> + Sweepable> Visitor<'de> for OneOrManyVisitor<T> {
    type Value = OneOrMany<T>;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}, or a list of such", T::EXPECTED)
    }

    one!(visit_bool: bool, visit_i64: i64, visit_u64: u64, visit_i128: i128, visit_u128: u128, visit_f64: f64, visit_str: &str);

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(OneOrMany::One)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Self::Value, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(seq)).map(OneOrMany::Many)
    }
}

impl<T: JsonSchema> JsonSchema for Sweep<T> {
    fn schema_name() -> Cow<'static, str> {
        format!("Sweep of {}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let one = generator.subschema_for::<T>();
        json_schema!({ "anyOf": [one, { "type": "array", "items": one, "minItems": 1 }] })
    }

    fn inline_schema() -> bool {
        true
    }
}

/// A number.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema)]
#[schemars(transparent)]
pub(crate) struct Number(pub(crate) f64);

/// A whole number that is not negative.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema)]
#[schemars(transparent)]
pub(crate) struct Whole(pub(crate) u64);

impl Sweepable for Number {
    const EXPECTED: &'static str = "a number";
}

impl Sweepable for Whole {
    const EXPECTED: &'static str = "a whole number";
}

impl Sweepable for String {
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
