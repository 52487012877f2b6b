//! A value of an experiment file that is written once or as a list: every list is swept.

use emphatic_problems::{Expected, Mistake};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserialize, Deserializer, IntoDeserializer, MapAccess, SeqAccess, Visitor};
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;
use toml::Spanned;

/// A value and its place in the file.
#[derive(Clone, Debug)]
pub(crate) struct Located<T> {
    pub(crate) value: T,
    pub(crate) span: Range<usize>,
}

impl<T> Located<T> {
    /// Returns the error that a key has this value before.
    pub(crate) fn twice(&self, key: &str) -> Mistake {
        twice(key, &self.span)
    }
}

fn twice(key: &str, span: &Range<usize>) -> Mistake {
    Mistake::at(span, format!("`{key}` has this value twice"))
        .help("each value makes settings of its own: leave one out")
}

/// One value, or a list of values.
#[derive(Clone, Debug)]
pub(crate) struct OneOrList<T> {
    pub(crate) values: Vec<Located<T>>,
    pub(crate) span: Range<usize>,
    pub(crate) is_list: bool,
}

impl<T> OneOrList<T> {
    /// Returns the value of a key that cannot be swept.
    pub(crate) fn single(&self, key: &str) -> Result<&Located<T>, Mistake> {
        match &self.values[..] {
            [value] if !self.is_list => Ok(value),
            _ => Err(Mistake::at(
                &self.span,
                format!("`{key}` is one value for the whole experiment, not a list"),
            )
            .help("the problem, the behaviour, the interest and the values of methods can be swept")),
        }
    }

    /// Returns the values, of which there must be at least one.
    pub(crate) fn non_empty(&self, key: &str) -> Result<&[Located<T>], Mistake> {
        if self.values.is_empty() {
            return Err(Mistake::at(&self.span, format!("`{key}` is an empty list"))
                .help("a list is swept: give it at least one value"));
        }
        Ok(&self.values)
    }

    /// Returns the values, which must all differ.
    pub(crate) fn distinct(&self, key: &str) -> Result<&[Located<T>], Mistake>
    where
        T: PartialEq,
    {
        let values = self.non_empty(key)?;
        for (k, Located { value, span }) in values.iter().enumerate() {
            if values[..k].iter().any(|before| before.value == *value) {
                return Err(twice(key, span));
            }
        }
        Ok(values)
    }

    /// Applies a function to every value.
    pub(crate) fn map<U>(&self, f: impl Fn(&T) -> U) -> OneOrList<U> {
        let values = self.values.iter().map(|x| Located { value: f(&x.value), span: x.span.clone() });
        OneOrList { values: values.collect(), span: self.span.clone(), is_list: self.is_list }
    }
}

impl<'de, T: Deserialize<'de> + Expected> Deserialize<'de> for OneOrList<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Spanned::<Unlocated<T>>::deserialize(deserializer)?;
        let span = raw.span();
        Ok(match raw.into_inner() {
            Unlocated::One(value) => {
                Self { values: vec![Located { value, span: span.clone() }], span, is_list: false }
            }
            Unlocated::List(values) => {
                let locate = |v: Spanned<T>| Located { span: v.span(), value: v.into_inner() };
                Self { values: values.into_iter().map(locate).collect(), span, is_list: true }
            }
        })
    }
}

/// A value or a list before its own place is known.
pub(crate) enum Unlocated<T> {
    One(T),
    List(Vec<Spanned<T>>),
}

impl<'de, T: Deserialize<'de> + Expected> Deserialize<'de> for Unlocated<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OneOrListVisitor(PhantomData))
    }
}

struct OneOrListVisitor<T>(PhantomData<T>);

/// Reads a scalar as one value.
macro_rules! one {
    ($($visit:ident: $type:ty),*) => {
        $(fn $visit<E: serde::de::Error>(self, value: $type) -> Result<Self::Value, E> {
            T::deserialize(value.into_deserializer()).map(Unlocated::One)
        })*
    };
}

impl<'de, T: Deserialize<'de> + Expected> Visitor<'de> for OneOrListVisitor<T> {
    type Value = Unlocated<T>;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}, or a list of such", T::EXPECTED)
    }

    one!(visit_bool: bool, visit_i64: i64, visit_u64: u64, visit_i128: i128, visit_u128: u128, visit_f64: f64, visit_str: &str);

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(Unlocated::One)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Self::Value, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(seq)).map(Unlocated::List)
    }
}

impl<T: JsonSchema> JsonSchema for OneOrList<T> {
    fn schema_name() -> Cow<'static, str> {
        format!("One or a list of {}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let one = generator.subschema_for::<T>();
        json_schema!({ "anyOf": [one, { "type": "array", "items": one, "minItems": 1 }] })
    }

    fn inline_schema() -> bool {
        true
    }
}
