//! The saved state of a learner: its numbers and its settings, by name.

use crate::{Part, Real, Visitor};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use thiserror::Error;

/// A state that cannot be saved, or does not fit the learner that it is restored to.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum StateError {
    /// The state of a learner with another setting.
    #[error(
        "this state was saved with `{name}` = {saved}{}; this learner has {own}",
        lane.map(|lane| format!(" in lane {lane}")).unwrap_or_default()
    )]
    Setting {
        /// Its name.
        name: String,
        /// Its value when the state was saved.
        saved: String,
        /// This learner's value.
        own: String,
        /// In which lane, if there are several.
        lane: Option<usize>,
    },
    /// Another number of weights.
    #[error("{got} weights for a learner that has {right}")]
    Weights {
        /// How many were given.
        got: usize,
        /// How many there must be.
        right: usize,
    },
    /// A tensor of another length.
    #[error("`{name}` has {got} numbers; this learner's has {right}")]
    Length {
        /// Its name.
        name: String,
        /// How many numbers were given.
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
    /// A tensor or a setting that is missing.
    #[error("there is no `{0}`: this is the state of a learner with other parts")]
    Missing(String),
    /// A tensor or a setting that the learner does not have.
    #[error("this learner has no `{0}`: this is the state of a learner with other parts")]
    Unknown(String),
    /// Whole numbers in place of real ones, or the reverse.
    #[error("the numbers of `{0}` are of another kind")]
    Kind(String),
    /// A trace of other features.
    #[error("`{0}` lists a feature twice, one that does not exist, or one before the first step")]
    Trace(String),
    /// A shuffle of other actions.
    #[error("the saved list of actions is not this learner's actions, each once")]
    Actions,
    /// Two tensors of one name: saved, one of them would be lost.
    #[error("two lists of numbers are named `{0}`")]
    Twice(String),
    /// A part that cannot show its numbers, in its own words.
    #[error("{0}")]
    Part(String),
}

/// Numbers of one kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Numbers {
    /// Real numbers.
    Real(Vec<f64>),
    /// Whole numbers.
    Whole(Vec<u64>),
}

impl Numbers {
    /// The number of numbers.
    pub fn len(&self) -> usize {
        match self {
            Self::Real(numbers) => numbers.len(),
            Self::Whole(numbers) => numbers.len(),
        }
    }

    pub(crate) fn real(&self) -> Option<&[f64]> {
        if let Self::Real(numbers) = self { Some(numbers) } else { None }
    }

    pub(crate) fn whole(&self) -> Option<&[u64]> {
        if let Self::Whole(numbers) = self { Some(numbers) } else { None }
    }

    /// Whether the bits are the same: zeros have a sign, and NaN is no other than itself.
    fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Real(one), Self::Real(other)) => {
                one.iter().map(|x| x.to_bits()).eq(other.iter().map(|x| x.to_bits()))
            }
            (Self::Whole(one), Self::Whole(other)) => one == other,
            _ => false,
        }
    }

    /// Puts the numbers of learners into lanes; those of the first if lanes share them. `None` if they are of different kinds or lengths.
    fn in_lanes(each: &[&Self], lanes: usize) -> Option<Self> {
        let first = *each.first()?;
        if lanes <= 1 {
            return Some(first.clone());
        }
        Some(match first {
            Self::Real(_) => Self::Real(woven(each, lanes, Self::real)?),
            Self::Whole(_) => Self::Whole(woven(each, lanes, Self::whole)?),
        })
    }

    /// Whether there are no numbers.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A list of numbers, or one for each lane.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Tensor {
    /// The number of lanes; 1 if all learners share the numbers.
    pub(crate) lanes: usize,
    pub(crate) numbers: Numbers,
}

/// Numbers of one learner by name: all that changes while it learns.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tensors(pub(crate) BTreeMap<String, Tensor>);

impl Tensors {
    fn lane(&self, lane: usize) -> Self {
        let of = |tensor: &Tensor| {
            let numbers = match &tensor.numbers {
                Numbers::Real(all) => Numbers::Real(every(all, lane, tensor.lanes)),
                Numbers::Whole(all) => Numbers::Whole(every(all, lane, tensor.lanes)),
            };
            Tensor { lanes: 1, numbers }
        };
        Self(self.0.iter().map(|(name, tensor)| (name.clone(), of(tensor))).collect())
    }

    /// The names and numbers of one learner, in the order of the names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Numbers)> {
        self.0.iter().map(|(name, tensor)| (name.as_str(), &tensor.numbers))
    }

    /// Adds numbers of one learner.
    pub fn insert(&mut self, name: impl Into<String>, numbers: Numbers) {
        self.0.insert(name.into(), Tensor { lanes: 1, numbers });
    }

    /// Removes numbers and returns them; `None` if there are none of this name.
    pub fn remove(&mut self, name: &str) -> Option<Numbers> {
        self.0.remove(name).map(|tensor| tensor.numbers)
    }
}

/// Returns the numbers of one lane; all of them if they are shared.
fn every<T: Copy>(all: &[T], lane: usize, lanes: usize) -> Vec<T> {
    if lanes <= 1 { all.to_vec() } else { all.iter().skip(lane).step_by(lanes).copied().collect() }
}

/// Returns the first number of every lane, then the second, and so on. Lanes without numbers do as the first.
fn woven<T: Copy>(each: &[&Numbers], lanes: usize, of_kind: fn(&Numbers) -> Option<&[T]>) -> Option<Vec<T>> {
    let each: Vec<&[T]> = each.iter().map(|numbers| of_kind(numbers)).collect::<Option<_>>()?;
    let first = *each.first()?;
    if each.iter().any(|numbers| numbers.len() != first.len()) {
        return None;
    }
    let of = |k: usize| (0..lanes).map(move |lane| (k, lane));
    let number = |(k, lane): (usize, usize)| each.get(lane).unwrap_or(&first)[k];
    Some((0..first.len()).flat_map(of).map(number).collect())
}

/// The value of a setting in a saved state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum SavedSetting {
    /// A number for each lane, or one that all lanes share.
    Numbers(Vec<f64>),
    /// A name or a description, which all lanes share.
    Text(String),
}

impl SavedSetting {
    fn lane(&self, lane: usize) -> Self {
        match self {
            Self::Numbers(numbers) => Self::Numbers(every(numbers, lane, numbers.len())),
            Self::Text(_) => self.clone(),
        }
    }

    /// Returns an error if the setting of a learner is another. (Another number of lanes shows in the tensors.)
    pub(crate) fn check(&self, name: &str, own: &Self) -> Result<(), StateError> {
        let differs = |saved: String, own: String, lane: Option<usize>| {
            Err(StateError::Setting { name: name.to_owned(), saved, own, lane })
        };
        match (self, own) {
            (Self::Numbers(saved), Self::Numbers(own)) if saved.len() == own.len() => {
                match saved.iter().zip(own).position(|(saved, own)| saved != own) {
                    Some(lane) => {
                        let (saved_number, own) = (saved[lane].to_string(), own[lane].to_string());
                        differs(saved_number, own, (saved.len() > 1).then_some(lane))
                    }
                    None => Ok(()),
                }
            }
            (Self::Numbers(_), Self::Numbers(_)) => Ok(()),
            (Self::Text(saved), Self::Text(own)) if saved == own => Ok(()),
            (saved, own) => differs(saved.to_string(), own.to_string(), None),
        }
    }
}

impl std::fmt::Display for SavedSetting {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self {
            Self::Numbers(numbers) => write!(f, "{numbers:?}"),
            Self::Text(text) => f.write_str(text),
        }
    }
}

/// The whole state of a learner, or of learners in lanes: the numbers that change, and the settings it was made with.
///
/// It is plain data for serde. Use a format that keeps every bit of a number, such as postcard or CBOR; JSON
/// has no NaN, and its readers may round.
///
/// ```
/// use emphatic::{Features, Gtd, Learner, Softmax, ace};
/// let make = |alpha| -> Result<_, Box<dyn std::error::Error>> {
///     let critic = Gtd::builder(Features::dense(3)).alpha_v(0.05).alpha_w(1e-4).lambda(0.5).build()?;
///     let policy = Softmax { features: Features::dense(3), actions: 2 };
///     Ok(ace(policy, critic).lambda_a(0.9).alpha(alpha).build()?)
/// };
/// let saved: Vec<u8> = postcard::to_allocvec(&make(0.1)?.state()?)?;
/// let mut learner = make(0.1)?;
/// learner.restore(&postcard::from_bytes(&saved)?)?;
///
/// // A learner with other settings refuses it.
/// let error = make(0.2)?.restore(&postcard::from_bytes(&saved)?).unwrap_err();
/// assert_eq!(error.to_string(), "this state was saved with `alpha` = 0.1; this learner has 0.2");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// From the state of learners in lanes that of each can be taken out: it fits a learner in `f64` with the settings of that lane,
/// which goes on from there to the bit.
///
/// ```
/// use emphatic::{Features, Gtd, Lanes, Learner, Real, Softmax, ace};
/// fn make<R: Real>(lambda_a: R) -> Result<impl Learner<R>, emphatic::ComposeError> {
///     let critic = Gtd::builder(Features::dense(3)).alpha_v(R::splat(0.05)).alpha_w(R::splat(1e-4)).build()?;
///     let policy = Softmax { features: Features::dense(3), actions: 2 };
///     ace(policy, critic).lambda_a(lambda_a).alpha(R::splat(0.1)).build()
/// }
/// let mut learners = make(Lanes([0.0, 0.9]))?;
/// let mut second = make(0.9)?;
/// second.restore(&learners.state()?.lane(1))?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SavedState {
    pub(crate) tensors: Tensors,
    /// By name; `None` if they are not known.
    pub(crate) settings: Option<BTreeMap<String, SavedSetting>>,
}

impl SavedState {
    /// A state whose settings are not known, such as one that was read from a file of another format. It can be
    /// restored to any learner with tensors of the same names and lengths.
    pub fn without_settings(tensors: Tensors) -> Self {
        Self { tensors, settings: None }
    }

    /// Returns the state of a part that is used alone.
    pub fn of<R: Real>(part: &mut dyn Part<R>) -> Result<Self, StateError> {
        let mut state = Self::empty();
        part.tensors(&mut Visitor::save(&mut state))?;
        Ok(state)
    }

    pub(crate) fn empty() -> Self {
        Self { tensors: Tensors::default(), settings: Some(BTreeMap::new()) }
    }

    /// Returns the state of the learner in one lane. `lane` must be less than [`Real::LANES`](crate::Real::LANES).
    pub fn lane(&self, lane: usize) -> Self {
        let of = |settings: &BTreeMap<String, SavedSetting>| {
            settings.iter().map(|(name, setting)| (name.clone(), setting.lane(lane))).collect()
        };
        Self { tensors: self.tensors.lane(lane), settings: self.settings.as_ref().map(of) }
    }

    /// Whether two learners share what those in lanes must share, such as the number of steps and the features that are traced. `self` is a
    /// state of learners in lanes of their kind, which tells what that is.
    pub fn shares_lanes(&self, one: &Self, other: &Self) -> bool {
        let shared = self.tensors.0.iter().filter(|(_, tensor)| tensor.lanes <= 1);
        shared.map(|(name, _)| name).all(|name| match (one.tensors.0.get(name), other.tensors.0.get(name)) {
            (Some(one), Some(other)) => one.numbers.is_same(&other.numbers),
            _ => false,
        })
    }

    /// Returns the state in lanes of learners that [share](Self::shares_lanes) what they must: [`SavedState::lane`] returns theirs again. `self` is as
    /// there; lanes for which there is no state do as the first. `None` if there is no state, or they are of different kinds.
    ///
    /// ```
    /// use emphatic::{Features, Gtd, Lanes, Learner, Real, Softmax, ace};
    /// fn make<R: Real>(lambda_a: R) -> Result<impl Learner<R>, emphatic::ComposeError> {
    ///     let critic = Gtd::builder(Features::dense(3)).alpha_v(R::splat(0.05)).alpha_w(R::splat(1e-4)).build()?;
    ///     let policy = Softmax { features: Features::dense(3), actions: 2 };
    ///     ace(policy, critic).lambda_a(lambda_a).alpha(R::splat(0.1)).build()
    /// }
    /// let (first, second) = (make(0.0)?.state()?, make(0.9)?.state()?);
    /// let mut learners = make(Lanes([0.0, 0.9]))?;
    /// let like = learners.state()?;
    /// assert!(like.shares_lanes(&first, &second));
    /// let both = like.side_by_side(&[&first, &second]).ok_or("of different kinds")?;
    /// learners.restore(&both)?;
    /// assert_eq!(both.lane(1).tensors(), second.tensors());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn side_by_side<'s>(&self, states: &[&'s Self]) -> Option<Self> {
        let in_lanes = |(name, like): (&String, &Tensor)| {
            let of = |state: &&'s Self| state.tensors.0.get(name).map(|tensor| &tensor.numbers);
            let each: Vec<&Numbers> = states.iter().map(of).collect::<Option<_>>()?;
            Some((name.clone(), Tensor { lanes: like.lanes, numbers: Numbers::in_lanes(&each, like.lanes)? }))
        };
        let tensors = self.tensors.0.iter().map(in_lanes).collect::<Option<_>>()?;
        Some(Self { tensors: Tensors(tensors), settings: self.settings.clone() })
    }

    /// The numbers that change.
    pub fn tensors(&self) -> &Tensors {
        &self.tensors
    }

    /// Returns the numbers that change, without the settings.
    pub fn into_tensors(self) -> Tensors {
        self.tensors
    }

    /// The settings by name, if they are known.
    pub fn settings(&self) -> impl Iterator<Item = (&str, &SavedSetting)> {
        self.settings.iter().flatten().map(|(name, setting)| (name.as_str(), setting))
    }
}

/// A digest of numbers that identifies a table or a problem (FNV-1a): the same on every machine.
pub(crate) fn digest(words: impl Iterator<Item = u64>) -> u64 {
    let of_bytes = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    words.fold(0xcbf2_9ce4_8422_2325, |hash, word| word.to_le_bytes().into_iter().fold(hash, of_bytes))
}
