//! Settings of bases: numbers, words, flags, and lists with an entry for each dimension of the observation.

use super::{BasisDeclaration, BasisError};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// The value of a setting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum BasisValue {
    /// True or false.
    Flag(bool),
    /// A number.
    Number(f64),
    /// A word.
    Word(String),
    /// True or false for each dimension.
    Flags(Vec<bool>),
    /// A number for each dimension.
    List(Vec<f64>),
}

impl fmt::Display for BasisValue {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Flag(flag) => write!(f, "{flag}"),
            Self::Number(x) => write!(f, "{x}"),
            Self::Word(word) => write!(f, "\"{word}\""),
            Self::Flags(flags) => write!(f, "{flags:?}"),
            Self::List(list) => {
                let numbers: Vec<String> = list.iter().map(f64::to_string).collect();
                write!(f, "[{}]", numbers.join(", "))
            }
        }
    }
}

macro_rules! from {
    ($($type:ty => |$x:ident| $value:expr;)*) => {
        $(impl From<$type> for BasisValue {
            fn from($x: $type) -> Self {
                $value
            }
        })*
    };
}
from! {
    bool => |x| Self::Flag(x);
    f64 => |x| Self::Number(x);
    &str => |x| Self::Word(x.to_owned());
    Vec<bool> => |x| Self::Flags(x);
    Vec<f64> => |x| Self::List(x);
}

impl<const N: usize> From<[f64; N]> for BasisValue {
    fn from(list: [f64; N]) -> Self {
        Self::List(list.to_vec())
    }
}

/// What a setting of a basis may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A whole number of at least 1.
    Count,
    /// The same, or one for each dimension.
    Counts,
    /// A whole number of at least 0.
    Whole,
    /// A number of more than 0.
    Positive,
    /// A finite number for each dimension, or one for all.
    Numbers,
    /// True or false.
    Flag,
    /// The same, or one for each dimension.
    Flags,
    /// One of these words.
    Word(&'static [&'static str]),
}

impl Kind {
    /// What would be right, in words.
    pub fn right(self) -> String {
        match self {
            Self::Count => "a whole number between 1 and 1,000,000".to_owned(),
            Self::Counts => {
                "a whole number between 1 and 1,000,000, or a list of one for each dimension".to_owned()
            }
            Self::Whole => "a whole number between 0 and 268,435,456".to_owned(),
            Self::Positive => "a finite number above 0".to_owned(),
            Self::Numbers => "a finite number for each dimension".to_owned(),
            Self::Flag => "true or false".to_owned(),
            Self::Flags => "true or false, or a list of one for each dimension".to_owned(),
            Self::Word(words) => {
                let words: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
                words.join(" or ")
            }
        }
    }

    fn admits(self, value: &BasisValue) -> bool {
        let is_count = |x: &f64| (1.0..=1e6).contains(x) && x.fract() == 0.0;
        match (self, value) {
            (Self::Count | Self::Counts, BasisValue::Number(x)) => is_count(x),
            (Self::Counts, BasisValue::List(list)) => list.iter().all(is_count),
            (Self::Whole, BasisValue::Number(x)) => {
                (0.0..=super::MOST_FEATURES as f64).contains(x) && x.fract() == 0.0
            }
            (Self::Positive, BasisValue::Number(x)) => *x > 0.0 && x.is_finite(),
            (Self::Numbers, BasisValue::Number(x)) => x.is_finite(),
            (Self::Numbers, BasisValue::List(list)) => list.iter().all(|x| x.is_finite()),
            (Self::Flag | Self::Flags, BasisValue::Flag(_)) | (Self::Flags, BasisValue::Flags(_)) => true,
            (Self::Word(words), BasisValue::Word(word)) => words.contains(&word.as_str()),
            _ => false,
        }
    }
}

/// A setting of a basis.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct BasisSetting {
    /// Its name.
    pub name: &'static str,
    /// What it may be.
    pub kind: Kind,
    /// Its value if it is not set, as it is written in files; `None` if it must be set.
    pub default: Option<&'static str>,
    /// What it is, in a line.
    pub about: &'static str,
}

impl BasisSetting {
    /// The least value of each dimension.
    pub const LOW: Self = Self {
        name: "low",
        kind: Kind::Numbers,
        default: None,
        about: "the least value of each dimension; that of the environment, if it has one",
    };
    /// The largest value of each dimension.
    pub const HIGH: Self = Self {
        name: "high",
        kind: Kind::Numbers,
        default: None,
        about: "the largest value of each dimension; that of the environment, if it has one",
    };
    /// Whether there is a feature that is always one.
    pub const BIAS: Self = Self {
        name: "bias",
        kind: Kind::Flag,
        default: Some("false"),
        about: "whether the last feature is one in every state",
    };
    /// Which dimensions wrap around.
    pub const WRAPS: Self = Self {
        name: "wraps",
        kind: Kind::Flags,
        default: Some("false"),
        about: "whether `high` is `low` again, as with angles",
    };
}

/// The settings of a basis, checked one by one. Those that are not set have their defaults.
#[derive(Clone, Debug)]
pub struct BasisSettings<'a> {
    of: &'static str,
    settings: &'static [BasisSetting],
    values: &'a BTreeMap<String, BasisValue>,
    dimensions: usize,
}

impl<'a> BasisSettings<'a> {
    pub(super) fn new(
        of: &BasisDeclaration,
        values: &'a BTreeMap<String, BasisValue>,
    ) -> Result<Self, BasisError> {
        let mut all = Self { of: of.name, settings: of.settings, values, dimensions: 0 };
        for setting in of.settings {
            match values.get(setting.name) {
                Some(value) if !setting.kind.admits(value) => {
                    return Err(all.wrong(setting.name, format!("it must be {}", setting.kind.right())));
                }
                None if setting.default.is_none() => {
                    return Err(BasisError::Missing { basis: of.name, name: setting.name });
                }
                _ => {}
            }
        }
        // A single number is for a single dimension here: the bounds say how many there are.
        all.dimensions = match (values.get("low"), values.get("high")) {
            (Some(BasisValue::List(low)), _) => low.len(),
            (_, Some(BasisValue::List(high))) => high.len(),
            _ => 1,
        };
        all.check_bounds()?;
        Ok(all)
    }

    fn check_bounds(&self) -> Result<(), BasisError> {
        if self.dimensions == 0 {
            return Err(self.wrong("low", "there must be at least one dimension"));
        }
        let (low, high) = (self.numbers("low")?, self.numbers("high")?);
        for (i, (low, high)) in low.iter().zip(&high).enumerate() {
            if !(low < high && (high - low).is_finite()) {
                let message =
                    format!("dimension {i} reaches from {low} to {high}; `low` must be less than `high`");
                return Err(self.wrong("low", message));
            }
        }
        Ok(())
    }

    /// Returns the error of a setting that has a wrong value.
    pub fn wrong(&self, name: &'static str, right: impl Into<String>) -> BasisError {
        let value = self.values.get(name).map_or("not set".to_owned(), BasisValue::to_string);
        BasisError::Setting { name, value, right: right.into() }
    }

    /// The length of an observation.
    pub fn dimensions(&self) -> usize {
        self.dimensions
    }

    fn default(&self, name: &str) -> &'static str {
        let setting = self.settings.iter().find(|setting| setting.name == name);
        setting.and_then(|setting| setting.default).unwrap_or_default()
    }

    fn name_of(&self, name: &str) -> &'static str {
        self.settings.iter().find(|setting| setting.name == name).map_or("", |setting| setting.name)
    }

    /// Returns whether a setting was set.
    pub fn is_set(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }

    /// Returns a number.
    pub fn number(&self, name: &str) -> f64 {
        match self.values.get(name) {
            Some(BasisValue::Number(x)) => *x,
            _ => self.default(name).parse().unwrap_or(0.0),
        }
    }

    /// Returns a whole number.
    pub fn count(&self, name: &str) -> usize {
        self.number(name) as usize
    }

    /// Returns a number for each dimension.
    pub fn numbers(&self, name: &str) -> Result<Vec<f64>, BasisError> {
        match self.values.get(name) {
            Some(BasisValue::List(list)) if list.len() == self.dimensions => Ok(list.clone()),
            Some(BasisValue::List(_)) => Err(self.wrong_length(name)),
            _ => Ok(vec![self.number(name); self.dimensions]),
        }
    }

    /// Returns a whole number for each dimension.
    pub fn counts(&self, name: &str) -> Result<Vec<usize>, BasisError> {
        Ok(self.numbers(name)?.into_iter().map(|x| x as usize).collect())
    }

    /// Returns whether something is so.
    pub fn flag(&self, name: &str) -> bool {
        match self.values.get(name) {
            Some(BasisValue::Flag(flag)) => *flag,
            _ => self.default(name) == "true",
        }
    }

    /// Returns whether something is so in each dimension.
    pub fn flags(&self, name: &str) -> Result<Vec<bool>, BasisError> {
        match self.values.get(name) {
            Some(BasisValue::Flags(flags)) if flags.len() == self.dimensions => Ok(flags.clone()),
            Some(BasisValue::Flags(_)) => Err(self.wrong_length(name)),
            _ => Ok(vec![self.flag(name); self.dimensions]),
        }
    }

    /// Returns a word.
    pub fn word(&self, name: &str) -> &str {
        match self.values.get(name) {
            Some(BasisValue::Word(word)) => word,
            _ => self.default(name).trim_matches('"'),
        }
    }

    fn wrong_length(&self, name: &str) -> BasisError {
        let dimensions = self.dimensions;
        self.wrong(
            self.name_of(name),
            format!("it must have one entry for each of {dimensions} dimensions of the observation"),
        )
    }

    /// The name of the basis.
    pub fn basis(&self) -> &'static str {
        self.of
    }
}
