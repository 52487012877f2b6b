//! Visits the numbers and the settings of a learner, part by part.

use crate::saved_state::Tensor;
use crate::{Features, Numbers, Part, Real, SavedSetting, SavedState, Settings, StateError};
use std::collections::btree_map::Entry;

/// Visits all settings and all numbers of a learner by name: to save and restore them, and to list estimates.
#[derive(Debug)]
pub struct Visitor<'a> {
    /// The names of the parts it is in, each followed by a dot.
    path: String,
    job: Job<'a>,
}

#[derive(Debug)]
enum Job<'a> {
    Save(&'a mut SavedState),
    Restore(Restore<'a>),
    /// Makes the weights of a lane NaN.
    MakeNan(usize),
    /// Copies the estimates of a lane.
    List(usize, &'a mut Vec<(String, Vec<f64>)>),
    /// Replaces the weights of an estimate.
    Set(Set<'a>),
}

/// Weights of an estimate, the same in all lanes, and whether it has been found.
#[derive(Debug)]
struct Set<'a> {
    name: &'a str,
    weights: &'a [f64],
    is_found: bool,
}

/// A state that is being restored, and the names of what has been restored so far.
#[derive(Debug)]
struct Restore<'a> {
    from: &'a SavedState,
    tensors: Vec<String>,
    settings: Vec<String>,
}

impl<'a> Visitor<'a> {
    fn new(job: Job<'a>) -> Self {
        Self { path: String::new(), job }
    }

    pub(crate) fn save(to: &'a mut SavedState) -> Self {
        Self::new(Job::Save(to))
    }

    pub(crate) fn restore(from: &'a SavedState) -> Self {
        Self::new(Job::Restore(Restore { from, tensors: Vec::new(), settings: Vec::new() }))
    }

    pub(crate) fn make_nan(lane: usize) -> Self {
        Self::new(Job::MakeNan(lane))
    }

    pub(crate) fn list(lane: usize, to: &'a mut Vec<(String, Vec<f64>)>) -> Self {
        Self::new(Job::List(lane, to))
    }

    pub(crate) fn set(name: &'a str, weights: &'a [f64]) -> Self {
        Self::new(Job::Set(Set { name, weights, is_found: false }))
    }

    /// Returns an error if no estimate had the name of the weights to be set.
    pub(crate) fn check_found(&self) -> Result<(), StateError> {
        match &self.job {
            Job::Set(Set { name, is_found: false, .. }) => Err(StateError::Missing((*name).to_owned())),
            _ => Ok(()),
        }
    }

    /// Returns whether the numbers are being replaced.
    pub fn restores(&self) -> bool {
        matches!(self.job, Job::Restore(_))
    }

    /// Returns whether the numbers are being replaced from a state that has none of this name.
    pub(crate) fn lacks(&self, name: &str) -> bool {
        let Job::Restore(Restore { from, .. }) = &self.job else { return false };
        !from.tensors.0.contains_key(&format!("{}{name}", self.path))
    }

    /// Returns an error if the state has more than was restored.
    pub(crate) fn check_complete(&self) -> Result<(), StateError> {
        let Job::Restore(Restore { from, tensors, settings }) = &self.job else { return Ok(()) };
        let setting = from.settings().map(|(name, _)| name).find(|name| !settings.iter().any(|s| s == name));
        let tensor = || from.tensors.0.keys().find(|name| !tensors.contains(name)).map(String::as_str);
        match setting.or_else(tensor) {
            Some(name) => Err(StateError::Unknown(name.to_owned())),
            None => Ok(()),
        }
    }

    /// Visits what belongs to a part, under its name.
    pub(crate) fn within(
        &mut self,
        name: &str,
        visit: impl FnOnce(&mut Self) -> Result<(), StateError>,
    ) -> Result<(), StateError> {
        let outside = self.path.len();
        self.path.push_str(name);
        self.path.push('.');
        let result = visit(self);
        self.path.truncate(outside);
        result
    }

    /// Visits a part inside this one: its features, its settings and its numbers.
    pub fn part<R: Real, T: Part<R> + ?Sized>(&mut self, name: &str, part: &mut T) -> Result<(), StateError> {
        self.within(name, |visitor| {
            part.features().map_or(Ok(()), |features| visitor.features(features))?;
            part.tensors(visitor)
        })
    }

    /// The settings of a part from the catalogue, and its name there.
    pub fn settings<R: Real>(&mut self, settings: &Settings<R>) -> Result<(), StateError> {
        self.kind(settings.part())?;
        settings.iter().flatten().try_for_each(|(name, number)| self.setting(name, number))
    }

    /// The kind of a part: its name in the catalogue. A state can be restored only to parts of the same kinds.
    pub fn kind(&mut self, kind: &str) -> Result<(), StateError> {
        self.text("kind", kind)
    }

    /// A number that does not change. A state can be restored only to a learner that has the same.
    pub fn setting<R: Real>(&mut self, name: &str, number: R) -> Result<(), StateError> {
        let numbers: Vec<f64> = (0..R::LANES).map(|lane| number.lane(lane)).collect();
        self.setting_in_lanes(name, &numbers)
    }

    /// A number that does not change, for each lane: see [`Visitor::setting`].
    pub fn setting_in_lanes(&mut self, name: &str, numbers: &[f64]) -> Result<(), StateError> {
        self.saved_setting(name, || SavedSetting::Numbers(numbers.to_vec()))
    }

    /// A description of something else that does not change.
    pub fn text(&mut self, name: &str, text: &str) -> Result<(), StateError> {
        self.saved_setting(name, || SavedSetting::Text(text.to_owned()))
    }

    pub(crate) fn features(&mut self, features: &Features) -> Result<(), StateError> {
        self.saved_setting("features", || SavedSetting::Text(features.to_string()))
    }

    /// Saves a setting, or compares it with the one saved.
    fn saved_setting(&mut self, name: &str, own: impl FnOnce() -> SavedSetting) -> Result<(), StateError> {
        let name = || format!("{}{name}", self.path);
        match &mut self.job {
            Job::Save(state) => match state.settings.get_or_insert_default().insert(name(), own()) {
                Some(_) => Err(StateError::Twice(name())),
                None => Ok(()),
            },
            Job::Restore(Restore { from: SavedState { settings: Some(saved), .. }, settings, .. }) => {
                let name = name();
                let Some(saved) = saved.get(&name) else { return Err(StateError::Missing(name)) };
                saved.check(&name, &own())?;
                settings.push(name);
                Ok(())
            }
            Job::Restore(_) | Job::MakeNan(_) | Job::List(..) | Job::Set(_) => Ok(()),
        }
    }

    /// Weights of an estimate, by their name in the equations.
    pub fn estimate<'b, R: Real>(
        &mut self,
        name: &str,
        weights: impl ExactSizeIterator<Item = &'b mut R>,
    ) -> Result<(), StateError> {
        if let Job::List(lane, list) = &mut self.job {
            list.push((format!("{}{name}", self.path), weights.map(|w| w.lane(*lane)).collect()));
            return Ok(());
        }
        if let Job::Set(set) = &mut self.job {
            if set.name == format!("{}{name}", self.path) {
                let (got, right) = (set.weights.len(), weights.len());
                if got != right {
                    return Err(StateError::Length { name: set.name.to_owned(), got, right });
                }
                weights.zip(set.weights).for_each(|(w, x)| *w = R::splat(*x));
                set.is_found = true;
            }
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
        if let Job::MakeNan(lane) = self.job {
            weights.for_each(|w| *w = w.with_lane(lane, f64::NAN));
            return Ok(());
        }
        self.numbers(name, weights)
    }

    /// Other numbers; how many there are does not change.
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
            Job::Restore(_) => {
                let all = self.take(name, Some(numbers.len() * R::LANES), Numbers::real)?;
                for (x, lanes) in numbers.zip(all.chunks_exact(R::LANES)) {
                    *x = R::from_lanes(|lane| lanes[lane]);
                }
            }
            Job::MakeNan(_) | Job::List(..) | Job::Set(_) => {}
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
            Job::Restore(_) => {
                let features = self.take(&format!("{name}.features"), None, Numbers::whole)?;
                let numbers = self.take(name, Some(features.len() * R::LANES), Numbers::real)?;
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
            Job::MakeNan(_) | Job::List(..) | Job::Set(_) => {}
        }
        Ok(())
    }

    /// Some of `len` features of a state with their values, which all lanes share.
    pub fn row(&mut self, name: &str, len: usize, row: &mut Vec<(usize, f64)>) -> Result<(), StateError> {
        match &self.job {
            Job::Save(_) => {
                let features = row.iter().map(|(feature, _)| *feature as u64).collect();
                self.put(&format!("{name}.features"), 1, Numbers::Whole(features))?;
                self.put(name, 1, Numbers::Real(row.iter().map(|(_, x)| *x).collect()))?;
            }
            Job::Restore(_) => {
                let features = self.take(&format!("{name}.features"), None, Numbers::whole)?;
                let values = self.take(name, Some(features.len()), Numbers::real)?;
                if features.len() > row.capacity() || features.iter().any(|feature| *feature >= len as u64) {
                    return Err(StateError::Trace(format!("{}{name}", self.path)));
                }
                row.clear();
                row.extend(features.iter().zip(values).map(|(feature, x)| (*feature as usize, *x)));
            }
            Job::MakeNan(_) | Job::List(..) | Job::Set(_) => {}
        }
        Ok(())
    }

    /// A list of numbers that all lanes share, of any length that it has room for.
    pub fn shared_list(&mut self, name: &str, list: &mut Vec<f64>) -> Result<(), StateError> {
        match &self.job {
            Job::Save(_) => self.put(name, 1, Numbers::Real(list.clone()))?,
            Job::Restore(_) => {
                let numbers = self.take(name, None, Numbers::real)?;
                let (got, right) = (numbers.len(), list.capacity());
                if got > right {
                    return Err(StateError::Length { name: format!("{}{name}", self.path), got, right });
                }
                list.clear();
                list.extend_from_slice(numbers);
            }
            Job::MakeNan(_) | Job::List(..) | Job::Set(_) => {}
        }
        Ok(())
    }

    /// Numbers that all lanes share; how many there are does not change.
    pub fn shared(&mut self, name: &str, numbers: &mut [f64]) -> Result<(), StateError> {
        match &self.job {
            Job::Save(_) => self.put(name, 1, Numbers::Real(numbers.to_vec()))?,
            Job::Restore(_) => {
                numbers.copy_from_slice(self.take(name, Some(numbers.len()), Numbers::real)?)
            }
            Job::MakeNan(_) | Job::List(..) | Job::Set(_) => {}
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
            Job::Restore(_) => counts.copy_from_slice(self.take(name, Some(counts.len()), Numbers::whole)?),
            Job::MakeNan(_) | Job::List(..) | Job::Set(_) => {}
        }
        Ok(())
    }

    fn put(&mut self, name: &str, lanes: usize, numbers: Numbers) -> Result<(), StateError> {
        let name = format!("{}{name}", self.path);
        let Job::Save(state) = &mut self.job else { return Ok(()) };
        match state.tensors.0.entry(name) {
            Entry::Occupied(entry) => Err(StateError::Twice(entry.key().clone())),
            Entry::Vacant(entry) => {
                entry.insert(Tensor { lanes, numbers });
                Ok(())
            }
        }
    }

    /// Returns the numbers of a tensor that is restored.
    fn take<T>(
        &mut self,
        name: &str,
        right: Option<usize>,
        of_kind: fn(&'a Numbers) -> Option<&'a [T]>,
    ) -> Result<&'a [T], StateError> {
        let name = format!("{}{name}", self.path);
        let Job::Restore(Restore { from, tensors, .. }) = &mut self.job else {
            return Err(StateError::Missing(name));
        };
        let Some(Tensor { numbers, .. }) = from.tensors.0.get(&name) else {
            return Err(StateError::Missing(name));
        };
        let got = numbers.len();
        if let Some(right) = right.filter(|right| *right != got) {
            return Err(StateError::Length { name, got, right });
        }
        let Some(numbers) = of_kind(numbers) else { return Err(StateError::Kind(name)) };
        tensors.push(name);
        Ok(numbers)
    }
}
