//! Settings: the numbers that parts are set by, each declared once with its range and its default.

use crate::{Declaration, Real};
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
    /// A whole number between 1 and a million. Learners side by side in lanes share it.
    Count,
    /// Finite and not negative.
    Amount,
    /// At least 0 and less than 1.
    Discount,
}

impl Range {
    /// Returns whether a number lies in the range.
    pub fn contains(self, x: f64) -> bool {
        match self {
            Self::StepSize | Self::Amount => (0.0..f64::INFINITY).contains(&x),
            Self::Fraction => (0.0..=1.0).contains(&x),
            Self::Discount => (0.0..1.0).contains(&x),
            Self::Count => (1.0..=1e6).contains(&x) && x.fract() == 0.0,
        }
    }

    /// Its name in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::StepSize => "a step-size",
            Self::Fraction => "0 to 1",
            Self::Count => "a whole number",
            Self::Amount => "not negative",
            Self::Discount => "0 to less than 1",
        }
    }

    /// What would be right, in words.
    pub fn right(self) -> &'static str {
        match self {
            Self::StepSize => "a step-size is finite and not negative",
            Self::Fraction => "it must lie between 0 and 1",
            Self::Count => "it must be a whole number between 1 and 1,000,000",
            Self::Amount => "it must be finite and not negative",
            Self::Discount => "it must be at least 0 and less than 1",
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

    /// Returns a whole number, which is the same in all lanes.
    pub fn count(&self, name: &str) -> Result<usize, SettingError> {
        Ok(self.number(name)?.lane(0) as usize)
    }

    /// All settings of the part, with their names.
    pub fn iter(&self) -> impl Iterator<Item = Result<(&'static str, R), SettingError>> {
        self.part.settings.iter().map(|setting| Ok((setting.name, self.number(setting.name)?)))
    }
}

/// Declares the settings of a part: the list `SETTINGS` for its declaration, and a builder with a setter for each.
///
/// `Part<R, V: Critic>(features, actions: usize, values: V) => PartBuilder;` says what else the part is made of. The builder calls
/// `Part::new(features, actions, values, settings)`, which returns the part or the error of a setting.
macro_rules! settings {
    (
        $part:ident<R $(, $generic:ident: $bound:ident)*>($(features $(, $input:ident: $type:ty)*)?) => $builder:ident;
        $($name:ident: $range:ident $(= $default:literal)?, $about:literal;)*
    ) => {
        const SETTINGS: &[$crate::settings::Setting] = &[$($crate::settings::Setting {
            name: stringify!($name),
            range: $crate::settings::Range::$range,
            default: $crate::settings::default!($($default)?),
            about: $about,
        }),*];

        #[doc = concat!("Builds a [`", stringify!($part), "`].")]
        #[derive(Clone, Debug)]
        #[must_use]
        pub struct $builder<R $(, $generic)*> {
            $(features: $crate::features::Features, $($input: $type,)*)?
            settings: $crate::settings::Settings<R>,
        }

        impl<R: $crate::real::Real $(, $generic: $bound<R>)*> $part<R $(, $generic)*> {
            /// Returns a builder of the part. Its step-sizes, if it has any, are divided by the number of active features, or as its schedule says.
            pub fn builder(
                $(features: impl Into<$crate::features::Features>, $($input: $type,)*)?
            ) -> $builder<R $(, $generic)*> {
                $builder {
                    $(features: features.into(), $($input,)*)?
                    settings: $crate::settings::Settings::new(<$part as $crate::catalogue::Declared>::DECLARATION),
                }
            }
        }

        impl<R: $crate::real::Real $(, $generic: $bound<R>)*> $builder<R $(, $generic)*> {
            /// Builds the part. A setting that is missing or out of its range is an error.
            pub fn build(self) -> Result<$part<R $(, $generic)*>, $crate::settings::SettingError> {
                $part::new($(self.features, $(self.$input,)*)? self.settings)
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

#[cfg(test)]
mod tests {
    use crate::{Compatible, Declared, Features, FollowOn, Gtd, Lanes, Settings, Softmax, ace};

    #[test]
    fn a_setting_out_of_its_range_is_named() {
        let error = FollowOn::builder().lambda_a(1.5).build().unwrap_err();
        assert_eq!(error.to_string(), "lambda_a is 1.5; it must lie between 0 and 1");
        let gtd = |alpha_v, alpha_w, lambda| {
            Gtd::builder(Features::dense(2)).alpha_v(alpha_v).alpha_w(alpha_w).lambda(lambda).build()
        };
        let error = gtd(Lanes([0.1, -0.1]), Lanes([0.1; 2]), Lanes([0.5; 2])).unwrap_err();
        assert_eq!(error.to_string(), "alpha_v is -0.1 in lane 1; a step-size is finite and not negative");
        assert!(gtd(Lanes([0.1; 2]), Lanes([0.1, f64::NAN]), Lanes([0.5; 2])).is_err());
        let error = gtd(Lanes([0.1; 2]), Lanes([0.1; 2]), Lanes([0.5, 2.0])).unwrap_err();
        assert_eq!(error.to_string(), "lambda is 2 in lane 1; it must lie between 0 and 1");
        let compatible = |alpha_v, alpha_u, alpha_h| {
            Compatible::builder(Features::dense(2)).alpha_v(alpha_v).alpha_u(alpha_u).alpha_h(alpha_h).build()
        };
        let error = compatible(0.1, -1.0, 0.1).unwrap_err();
        assert_eq!(error.to_string(), "alpha_u is -1; a step-size is finite and not negative");
        assert!(compatible(f64::NAN, 0.1, 0.1).is_err() && compatible(0.1, 0.1, f64::INFINITY).is_err());
        let error = ace(policy(), critic()).alpha(f64::INFINITY).build().unwrap_err();
        assert_eq!(error.to_string(), "alpha is inf; a step-size is finite and not negative");
        let error = ace(policy(), critic()).lambda_a(-0.5).alpha(0.1).build().unwrap_err();
        assert_eq!(error.to_string(), "lambda_a is -0.5; it must lie between 0 and 1");
    }

    fn policy() -> Softmax {
        Softmax { features: Features::dense(2), actions: 2 }
    }

    fn critic() -> Gtd<f64> {
        Gtd::builder(Features::dense(2)).alpha_v(0.1).alpha_w(0.1).build().unwrap()
    }

    #[test]
    fn a_setting_that_is_missing_or_unknown_is_named() {
        let error = Gtd::builder(Features::dense(2)).alpha_v(0.1).build().unwrap_err();
        assert_eq!(error.to_string(), "the critic `gtd` needs `alpha_w`");
        let error = ace(policy(), critic()).lambda_a(0.9).build().unwrap_err();
        assert_eq!(error.to_string(), "the actor needs `alpha`");
        let error = Settings::<f64>::new(Gtd::DECLARATION).number("alpha_x").unwrap_err();
        assert_eq!(error.to_string(), "the critic `gtd` has no setting `alpha_x`");
    }

    #[test]
    fn a_setting_that_is_not_set_has_its_default_and_the_last_one_set_counts() {
        let mut settings = Settings::new(Gtd::DECLARATION);
        assert_eq!(settings.number("lambda"), Ok(0.0));
        settings.set("lambda", 0.3);
        settings.set("lambda", 0.7);
        assert_eq!(settings.number("lambda"), Ok(0.7));
        let [by_default, written] =
            [FollowOn::builder(), FollowOn::builder().lambda_a(0.9)].map(|trace| trace.build().unwrap());
        assert_eq!(by_default, written);
    }
}
