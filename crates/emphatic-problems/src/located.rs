//! A value and its place in the file.

use crate::file_error::{Mistake, ValueError};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer};
use std::borrow::Cow;
use std::ops::Range;
use toml::Spanned;

/// A value and its place in the file.
#[derive(Clone, Debug)]
pub(crate) struct Located<T> {
    pub(crate) value: T,
    pub(crate) span: Range<usize>,
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Located<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let spanned = Spanned::deserialize(deserializer)?;
        Ok(Self { span: spanned.span(), value: spanned.into_inner() })
    }
}

/// The schema is that of the value.
impl<T: JsonSchema> JsonSchema for Located<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn schema_id() -> Cow<'static, str> {
        T::schema_id()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}

impl<T> Located<T> {
    /// The error at the place of the value.
    pub(crate) fn refuse(&self, error: impl Into<ValueError>) -> Mistake {
        error.into().at(&self.span)
    }
}

/// The place of a value, if it is given.
pub(crate) fn span<T>(value: &Option<Located<T>>) -> Option<Range<usize>> {
    value.as_ref().map(|value| value.span.clone())
}
