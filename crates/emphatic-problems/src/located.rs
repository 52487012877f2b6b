//! A value and its place in the file.

use crate::file_error::{Mistake, ValueError};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};
use std::ops::Range;
use toml::Spanned;

/// A value and its place in the file.
#[derive(Clone, Debug, JsonSchema)]
#[schemars(transparent)]
pub(crate) struct Located<T> {
    pub(crate) value: T,
    #[schemars(skip)]
    pub(crate) span: Range<usize>,
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Located<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let spanned = Spanned::deserialize(deserializer)?;
        Ok(Self { span: spanned.span(), value: spanned.into_inner() })
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
