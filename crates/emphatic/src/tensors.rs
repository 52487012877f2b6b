//! The numbers of a learner by name: to save and restore it, to take it out of a lane, to look at its weights.

use crate::part::Part;
use crate::real::Real;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use thiserror::Error;

/// Numbers that cannot be saved, or do not fit where they are put.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum StateError {
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
    /// A tensor that is missing.
    #[error("there is no `{0}`: this is the state of a learner with other parts")]
    Missing(String),
    /// A tensor that the learner has no use for.
    #[error("this learner has no `{0}`: this is the state of a learner with other parts")]
    Unknown(String),
    /// Whole numbers in place of real ones, or the reverse.
    #[error("the numbers of `{0}` are of another kind")]
    Kind(String),
    /// A trace of other features.
    #[error("`{0}` lists a feature twice, or one that does not exist")]
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
    /// How many there are.
    pub fn len(&self) -> usize {
        match self {
            Self::Real(numbers) => numbers.len(),
            Self::Whole(numbers) => numbers.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A list of numbers, or one for each lane.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Tensor {
    /// How many numbers stand side by side, one for each learner; 1 if all learners share them.
    lanes: usize,
    numbers: Numbers,
}

/// The whole changing state of a learner, or of learners in lanes: numbers by name.
///
/// It is plain data for serde. Use a format that keeps every bit of a number, such as postcard or CBOR; JSON
/// has no NaN, and its readers may round.
///
/// ```
/// use emphatic::{Features, Gtd, Learner, Softmax, ace};
/// let make = || -> Result<_, Box<dyn std::error::Error>> {
///     let critic = Gtd::new(Features::dense(3), 0.05, 1e-4, 0.5)?;
///     Ok(ace(Softmax { features: Features::dense(3), actions: 2 }, critic, 0.9, 0.1)?)
/// };
/// let saved: Vec<u8> = postcard::to_allocvec(&make()?.state()?)?;
/// let mut learner = make()?;
/// learner.restore(&postcard::from_bytes(&saved)?)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// From the state of learners in lanes that of each can be taken out: it fits a learner in `f64`, which goes on from there to
/// the bit.
///
/// ```
/// use emphatic::{Features, Gtd, Lanes, Learner, Real, Softmax, ace};
/// let policy = || Softmax { features: Features::dense(3), actions: 2 };
/// let critic = Gtd::new(Features::dense(3), Lanes::splat(0.05), Lanes::splat(1e-4), Lanes::splat(0.5))?;
/// let mut learners = ace(policy(), critic, Lanes([0.0, 0.9]), Lanes::splat(0.1))?;
///
/// let mut second = ace(policy(), Gtd::new(Features::dense(3), 0.05, 1e-4, 0.5)?, 0.9, 0.1)?;
/// second.restore(&learners.state()?.lane(1))?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tensors(BTreeMap<String, Tensor>);

impl Tensors {
    /// The state of the learner in one lane. `lane` must be less than [`Real::LANES`].
    pub fn lane(&self, lane: usize) -> Self {
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

    /// Takes numbers out.
    pub fn remove(&mut self, name: &str) -> Option<Numbers> {
        self.0.remove(name).map(|tensor| tensor.numbers)
    }
}

/// The numbers of one lane; all of them if they are shared.
fn every<T: Copy>(all: &[T], lane: usize, lanes: usize) -> Vec<T> {
    if lanes <= 1 { all.to_vec() } else { all.iter().skip(lane).step_by(lanes).copied().collect() }
}

/// Goes through all numbers of a learner.
#[derive(Debug)]
pub struct Visitor<'a> {
    /// The names of the parts it is in, each followed by a dot.
    path: String,
    job: Job<'a>,
}

#[derive(Debug)]
enum Job<'a> {
    Save(&'a mut Tensors),
    /// Also those that were taken.
    Restore(&'a Tensors, Vec<String>),
    /// Makes the weights of a lane NaN.
    GiveUp(usize),
    /// Copies the estimates of a learner in `f64`.
    List(&'a mut Vec<(String, Vec<f64>)>),
}

impl<'a> Visitor<'a> {
    pub(crate) fn save(to: &'a mut Tensors) -> Self {
        Self { path: String::new(), job: Job::Save(to) }
    }

    pub(crate) fn restore(from: &'a Tensors) -> Self {
        Self { path: String::new(), job: Job::Restore(from, Vec::new()) }
    }

    pub(crate) fn give_up(lane: usize) -> Self {
        Self { path: String::new(), job: Job::GiveUp(lane) }
    }

    pub(crate) fn list(to: &'a mut Vec<(String, Vec<f64>)>) -> Self {
        Self { path: String::new(), job: Job::List(to) }
    }

    /// Whether the numbers are being replaced.
    pub fn restores(&self) -> bool {
        matches!(self.job, Job::Restore(..))
    }

    /// An error if there is more to restore than was asked for.
    pub(crate) fn check_all_taken(&self) -> Result<(), StateError> {
        let Job::Restore(from, taken) = &self.job else { return Ok(()) };
        let unknown = from.0.keys().find(|name| !taken.contains(name));
        unknown.map_or(Ok(()), |name| Err(StateError::Unknown(name.clone())))
    }

    /// Goes through a part inside this one.
    pub fn part<R: Real, T: Part<R> + ?Sized>(&mut self, name: &str, part: &mut T) -> Result<(), StateError> {
        let outside = self.path.len();
        self.path.push_str(name);
        self.path.push('.');
        let result = part.tensors(self);
        self.path.truncate(outside);
        result
    }

    /// Weights of an estimate: what has been learned, by the name that it has in the equations.
    pub fn estimate<'b, R: Real>(
        &mut self,
        name: &str,
        weights: impl ExactSizeIterator<Item = &'b mut R>,
    ) -> Result<(), StateError> {
        if let Job::List(list) = &mut self.job {
            list.push((format!("{}{name}", self.path), weights.map(|w| w.lane(0)).collect()));
            return Ok(());
        }
        self.weights(name, weights)
    }

    /// Other weights: they are NaN once the learner has diverged.
    pub fn weights<'b, R: Real>(
        &mut self,
        name: &str,
        weights: impl ExactSizeIterator<Item = &'b mut R>,
    ) -> Result<(), StateError> {
        if let Job::GiveUp(lane) = self.job {
            weights.for_each(|w| *w = w.with_lane(lane, f64::NAN));
            return Ok(());
        }
        self.numbers(name, weights)
    }

    /// Other numbers of which there are always as many.
    pub fn numbers<'b, R: Real>(
        &mut self,
        name: &str,
        numbers: impl ExactSizeIterator<Item = &'b mut R>,
    ) -> Result<(), StateError> {
        match &mut self.job {
            Job::Save(_) => {
                let mut all = Vec::with_capacity(numbers.len() * R::LANES);
                numbers.for_each(|x| all.extend((0..R::LANES).map(|lane| x.lane(lane))));
                self.put(name, R::LANES, Numbers::Real(all))?;
            }
            Job::Restore(..) => {
                let all = self.reals(name, Some(numbers.len() * R::LANES))?;
                for (x, lanes) in numbers.zip(all.chunks_exact(R::LANES)) {
                    *x = R::from_lanes(|lane| lanes[lane]);
                }
            }
            Job::GiveUp(_) | Job::List(_) => {}
        }
        Ok(())
    }

    /// A list of some of `len` features, each with a number: a trace.
    pub fn trace<R: Real>(
        &mut self,
        name: &str,
        len: usize,
        trace: &mut Vec<(usize, R)>,
    ) -> Result<(), StateError> {
        match &mut self.job {
            Job::Save(_) => {
                let features = trace.iter().map(|(feature, _)| *feature as u64).collect();
                let mut all = Vec::with_capacity(trace.len() * R::LANES);
                trace.iter().for_each(|(_, x)| all.extend((0..R::LANES).map(|lane| x.lane(lane))));
                self.put(&format!("{name}.features"), 1, Numbers::Whole(features))?;
                self.put(name, R::LANES, Numbers::Real(all))?;
            }
            Job::Restore(..) => {
                let features = self.whole(&format!("{name}.features"), None)?;
                let numbers = self.reals(name, Some(features.len() * R::LANES))?;
                let mut listed = vec![false; len];
                let mut restored = Vec::with_capacity(features.len());
                for (feature, lanes) in features.iter().zip(numbers.chunks_exact(R::LANES)) {
                    let feature = usize::try_from(*feature).unwrap_or(usize::MAX);
                    if listed.get(feature) != Some(&false) {
                        return Err(StateError::Trace(format!("{}{name}", self.path)));
                    }
                    listed[feature] = true;
                    restored.push((feature, R::from_lanes(|lane| lanes[lane])));
                }
                *trace = restored;
            }
            Job::GiveUp(_) | Job::List(_) => {}
        }
        Ok(())
    }

    /// Whole numbers that all lanes share.
    pub fn counts(&mut self, name: &str, counts: &mut [u64]) -> Result<(), StateError> {
        self.whole_numbers(name, 1, counts)
    }

    /// A whole number for each lane.
    pub(crate) fn counts_in_lanes(&mut self, name: &str, counts: &mut [u64]) -> Result<(), StateError> {
        self.whole_numbers(name, counts.len(), counts)
    }

    fn whole_numbers(&mut self, name: &str, lanes: usize, counts: &mut [u64]) -> Result<(), StateError> {
        match self.job {
            Job::Save(_) => self.put(name, lanes, Numbers::Whole(counts.to_vec()))?,
            Job::Restore(..) => counts.copy_from_slice(self.whole(name, Some(counts.len()))?),
            Job::GiveUp(_) | Job::List(_) => {}
        }
        Ok(())
    }

    fn put(&mut self, name: &str, lanes: usize, numbers: Numbers) -> Result<(), StateError> {
        let name = format!("{}{name}", self.path);
        let Job::Save(tensors) = &mut self.job else { return Ok(()) };
        match tensors.0.entry(name) {
            Entry::Occupied(entry) => Err(StateError::Twice(entry.key().clone())),
            Entry::Vacant(entry) => {
                entry.insert(Tensor { lanes, numbers });
                Ok(())
            }
        }
    }

    /// The numbers of a tensor that is restored.
    fn take(&mut self, name: &str, right: Option<usize>) -> Result<&'a Numbers, StateError> {
        let name = format!("{}{name}", self.path);
        let Job::Restore(from, taken) = &mut self.job else { return Err(StateError::Missing(name)) };
        let Some(Tensor { numbers, .. }) = from.0.get(&name) else { return Err(StateError::Missing(name)) };
        let got = numbers.len();
        if let Some(right) = right.filter(|right| *right != got) {
            return Err(StateError::Length { name, got, right });
        }
        taken.push(name);
        Ok(numbers)
    }

    fn reals(&mut self, name: &str, right: Option<usize>) -> Result<&'a [f64], StateError> {
        match self.take(name, right)? {
            Numbers::Real(numbers) => Ok(numbers),
            Numbers::Whole(_) => Err(StateError::Kind(format!("{}{name}", self.path))),
        }
    }

    fn whole(&mut self, name: &str, right: Option<usize>) -> Result<&'a [u64], StateError> {
        match self.take(name, right)? {
            Numbers::Whole(numbers) => Ok(numbers),
            Numbers::Real(_) => Err(StateError::Kind(format!("{}{name}", self.path))),
        }
    }
}
