//! Saving and restoring, and checking settings.

use crate::real::Real;
use serde::{Serialize, de::DeserializeOwned};
use thiserror::Error;

/// Something whose whole changing state can be taken out and put back, into one that was made with the same settings.
///
/// The state is plain data for serde. Use a format that keeps every bit of a number, such as postcard or CBOR; JSON
/// has no NaN, and its readers may round.
///
/// ```
/// use emphatic::{Dense, Gtd, Learner, Softmax, Stateful, ace};
/// let make = || -> Result<_, Box<dyn std::error::Error>> {
///     let critic = Gtd::new(Dense { len: 3 }, 0.05, 1e-4, 0.5)?;
///     Ok(ace(Softmax { features: Dense { len: 3 }, actions: 2 }, critic, 0.9, 0.1)?)
/// };
/// let saved: Vec<u8> = postcard::to_allocvec(&make()?.state())?;
/// let mut learner = make()?;
/// learner.restore(postcard::from_bytes(&saved)?)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Stateful {
    /// The state: plain data.
    type State: InLanes + Clone + PartialEq + std::fmt::Debug + Serialize + DeserializeOwned;

    /// A copy of the state.
    fn state(&self) -> Self::State;

    /// Whether a state fits here.
    fn fits(&self, state: &Self::State) -> Result<(), RestoreError>;

    /// Puts back a state that fits.
    fn put(&mut self, state: Self::State);

    /// Puts back a state. What follows is, to the bit, what would have followed where it was taken. A state that
    /// does not fit changes nothing.
    fn restore(&mut self, state: Self::State) -> Result<(), RestoreError> {
        self.fits(&state)?;
        self.put(state);
        Ok(())
    }
}

/// The state of learners in lanes, from which that of each can be taken out: it fits a learner in `f64`, which goes on from there
/// to the bit.
///
/// ```
/// use emphatic::{Dense, Gtd, InLanes, Lanes, Learner, Real, Softmax, Stateful, ace};
/// let policy = || Softmax { features: Dense { len: 3 }, actions: 2 };
/// let critic = Gtd::new(Dense { len: 3 }, Lanes::splat(0.05), Lanes::splat(1e-4), Lanes::splat(0.5))?;
/// let learners = ace(policy(), critic, Lanes([0.0, 0.9]), Lanes::splat(0.1))?;
///
/// let mut second = ace(policy(), Gtd::new(Dense { len: 3 }, 0.05, 1e-4, 0.5)?, 0.9, 0.1)?;
/// second.restore(learners.state().lane(1))?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait InLanes {
    /// The state of one learner.
    type One;

    /// That of the learner in one lane. `lane` must be less than [`Real::LANES`].
    fn lane(&self, lane: usize) -> Self::One;
}

impl<R: Real> InLanes for R {
    type One = f64;

    fn lane(&self, lane: usize) -> f64 {
        Real::lane(*self, lane)
    }
}

impl InLanes for () {
    type One = ();

    fn lane(&self, _: usize) {}
}

impl<R: Real> InLanes for Vec<R> {
    type One = Vec<f64>;

    fn lane(&self, lane: usize) -> Vec<f64> {
        self.iter().map(|number| Real::lane(*number, lane)).collect()
    }
}

impl<A: InLanes, B: InLanes> InLanes for (A, B) {
    type One = (A::One, B::One);

    fn lane(&self, lane: usize) -> Self::One {
        (self.0.lane(lane), self.1.lane(lane))
    }
}

impl<A: InLanes, B: InLanes> InLanes for Result<A, B> {
    type One = Result<A::One, B::One>;

    fn lane(&self, lane: usize) -> Self::One {
        match self {
            Ok(state) => Ok(state.lane(lane)),
            Err(state) => Err(state.lane(lane)),
        }
    }
}

/// A state or weights that do not fit where they are put.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum RestoreError {
    /// Another number of something.
    #[error("{got} {what} for a learner that has {right}")]
    Length {
        /// What there is another number of.
        what: &'static str,
        /// How many were given.
        got: usize,
        /// How many there must be.
        right: usize,
    },
    /// A weight that is not a number.
    #[error("weight {index} is {value}; weights must be finite")]
    Weight {
        /// Which weight.
        index: usize,
        /// Its value.
        value: f64,
    },
    /// The state of another kind of part.
    #[error("the saved state is that of another kind of critic or emphasis")]
    Kind,
    /// A trace of other features.
    #[error("the saved trace lists a feature twice, or one that does not exist")]
    Trace,
    /// A shuffle of other actions.
    #[error("the saved list of actions is not this learner's actions, each once")]
    Actions,
}

pub(crate) fn check_len(what: &'static str, got: usize, right: usize) -> Result<(), RestoreError> {
    if got == right { Ok(()) } else { Err(RestoreError::Length { what, got, right }) }
}

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
