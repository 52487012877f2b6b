//! Settings: the numbers that parts are set by, each declared once with its range and its default.

use crate::catalogue::Declaration;
use crate::real::Real;
use serde::Serialize;
use thiserror::Error;

/// A setting that is missing, unknown or out of its range.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum SettingError {
    /// A number out of its range.
    #[error("{name} is {value}{}; {right}", lane.map(|lane| format!(" in lane {lane}")).unwrap_or_default())]
    OutOfRange {
        /// Which setting.
        name: &'static str,
        /// Its value.
        value: f64,
        /// In which lane, if there are several.
        lane: Option<usize>,
        /// What would be right.
        right: &'static str,
    },
    /// A setting without a default that was not set.
    #[error("{part} needs `{name}`")]
    Missing {
        /// The part.
        part: String,
        /// Which setting.
        name: &'static str,
    },
    /// A setting that the part does not have.
    #[error("{part} has no setting `{name}`")]
    Unknown {
        /// The part.
        part: String,
        /// The name.
        name: String,
    },
}

/// The numbers that a setting may have.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Range {
    /// Finite and not negative.
    StepSize,
    /// Between 0 and 1.
    Fraction,
    /// A whole number between 1 and a million.
    Count,
}

impl Range {
    /// Returns whether a number lies in the range.
    pub fn contains(self, x: f64) -> bool {
        match self {
            Self::StepSize => (0.0..f64::INFINITY).contains(&x),
            Self::Fraction => (0.0..=1.0).contains(&x),
            Self::Count => (1.0..=1e6).contains(&x) && x.fract() == 0.0,
        }
    }

    /// Its name in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::StepSize => "a step-size",
            Self::Fraction => "0 to 1",
            Self::Count => "a whole number",
        }
    }

    /// What would be right, in words.
    pub fn right(self) -> &'static str {
        match self {
            Self::StepSize => "a step-size is finite and not negative",
            Self::Fraction => "it must lie between 0 and 1",
            Self::Count => "it must be a whole number between 1 and 1,000,000",
        }
    }

    /// Returns an error if a setting is out of this range.
    pub fn check<R: Real>(self, name: &'static str, x: R) -> Result<(), SettingError> {
        match (0..R::LANES).find(|&lane| !self.contains(x.lane(lane))) {
            Some(lane) => {
                let (value, lane) = (x.lane(lane), (R::LANES > 1).then_some(lane));
                Err(SettingError::OutOfRange { name, value, lane, right: self.right() })
            }
            None => Ok(()),
        }
    }
}

/// A number that a part is set by.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Setting {
    /// Its name in files, in Python and in Rust.
    pub name: &'static str,
    /// The numbers it may have.
    pub range: Range,
    /// Its value if it is not set; `None` if it must be set.
    pub default: Option<f64>,
    /// What it is, in a line.
    pub about: &'static str,
}

impl Setting {
    /// Returns the number that was set, or the default, if it lies in the range. `part` is named in the error.
    pub(crate) fn checked<R: Real>(
        &self,
        number: Option<R>,
        part: impl FnOnce() -> String,
    ) -> Result<R, SettingError> {
        let Some(number) = number.or(self.default.map(R::splat)) else {
            return Err(SettingError::Missing { part: part(), name: self.name });
        };
        self.range.check(self.name, number)?;
        Ok(number)
    }
}

/// The settings of a part by name. Those that are not set have the defaults of its declaration.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings<R> {
    part: Declaration,
    numbers: Vec<(&'static str, R)>,
}

impl<R: Real> Settings<R> {
    /// Settings of the part, none of them set.
    pub(crate) fn new(part: Declaration) -> Self {
        Self { part, numbers: Vec::new() }
    }

    pub(crate) fn set(&mut self, name: &'static str, number: R) {
        self.numbers.retain(|(other, _)| *other != name);
        self.numbers.push((name, number));
    }

    /// The part's name in the catalogue.
    pub fn part(&self) -> &'static str {
        self.part.name
    }

    /// Returns a setting: the number that was set, or its default.
    pub fn number(&self, name: &str) -> Result<R, SettingError> {
        let part = || self.part.title();
        let Some(setting) = self.part.setting(name) else {
            return Err(SettingError::Unknown { part: part(), name: name.to_owned() });
        };
        let number = self.numbers.iter().find(|(other, _)| *other == name).map(|(_, number)| *number);
        setting.checked(number, part)
    }

    /// All settings of the part, with their names.
    pub fn iter(&self) -> impl Iterator<Item = Result<(&'static str, R), SettingError>> {
        self.part.settings.iter().map(|setting| Ok((setting.name, self.number(setting.name)?)))
    }
}

/// Declares the settings of a part, as `SETTINGS`, and its builder, which has a setter for each of them.
macro_rules! settings {
    (
        $(#[$attribute:meta])*
        pub struct $builder:ident<R $(, $generic:ident)*> { $($field:ident: $type:ty),* }
        $($name:ident: $range:ident $(= $default:literal)?, $about:literal;)*
    ) => {
        const SETTINGS: &[$crate::settings::Setting] = &[$($crate::settings::Setting {
            name: stringify!($name),
            range: $crate::settings::Range::$range,
            default: $crate::settings::default!($($default)?),
            about: $about,
        }),*];

        $(#[$attribute])*
        #[derive(Clone, Debug)]
        #[must_use]
        pub struct $builder<R $(, $generic)*> {
            $($field: $type,)*
            settings: $crate::settings::Settings<R>,
        }

        impl<R: $crate::real::Real $(, $generic)*> $builder<R $(, $generic)*> {
            /// Sets all settings, as a recipe has them.
            pub(crate) fn settings(mut self, settings: &$crate::settings::Settings<R>) -> Self {
                self.settings = settings.clone();
                self
            }

            $(
                #[doc = concat!("Sets `", stringify!($name), "`: ", $about, ".")]
                pub fn $name(mut self, $name: R) -> Self {
                    self.settings.set(stringify!($name), $name);
                    self
                }
            )*
        }
    };
}

macro_rules! default {
    () => {
        None
    };
    ($default:literal) => {
        Some($default)
    };
}

pub(crate) use {default, settings};
