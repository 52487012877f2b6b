//! Settings, checked.

use crate::real::Real;
use serde::Serialize;
use thiserror::Error;

/// The first weight that is not finite in some lane, with its value there.
pub(crate) fn not_finite<R: Real>(weights: &[R]) -> Option<(usize, f64)> {
    let in_lanes = |w: &R| (0..R::LANES).map(|lane| w.lane(lane)).find(|x| !x.is_finite());
    weights.iter().enumerate().find_map(|(index, w)| in_lanes(w).map(|value| (index, value)))
}

/// A setting out of its range.
#[derive(Clone, Debug, PartialEq, Error)]
#[error("{name} is {value}{}; {right}", lane.map(|lane| format!(" in lane {lane}")).unwrap_or_default())]
pub struct SettingError {
    /// Which setting.
    pub name: &'static str,
    /// Its value.
    pub value: f64,
    /// In which lane, if there are several.
    pub lane: Option<usize>,
    /// What would be right.
    pub right: &'static str,
}

/// What numbers a setting may have.
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
    /// Whether a number is one of them.
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

    /// Refuses a setting out of this range.
    pub fn check<R: Real>(self, name: &'static str, x: R) -> Result<(), SettingError> {
        match (0..R::LANES).find(|&lane| !self.contains(x.lane(lane))) {
            Some(lane) => {
                let (value, lane) = (x.lane(lane), (R::LANES > 1).then_some(lane));
                Err(SettingError { name, value, lane, right: self.right() })
            }
            None => Ok(()),
        }
    }
}
