//! Settings, checked.

use crate::real::Real;
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

/// Refuses what is not a step-size.
pub(crate) fn check_step_size<R: Real>(name: &'static str, x: R) -> Result<(), SettingError> {
    check(name, x, |x| (0.0..f64::INFINITY).contains(&x), "a step-size is finite and not negative")
}

/// Refuses what does not lie between 0 and 1.
pub(crate) fn check_fraction<R: Real>(name: &'static str, x: R) -> Result<(), SettingError> {
    check(name, x, |x| (0.0..=1.0).contains(&x), "it must lie between 0 and 1")
}

fn check<R: Real>(
    name: &'static str,
    x: R,
    good: fn(f64) -> bool,
    right: &'static str,
) -> Result<(), SettingError> {
    match (0..R::LANES).find(|&lane| !good(x.lane(lane))) {
        Some(lane) => {
            Err(SettingError { name, value: x.lane(lane), lane: (R::LANES > 1).then_some(lane), right })
        }
        None => Ok(()),
    }
}
