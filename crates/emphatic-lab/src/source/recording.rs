//! The experience of a behaviour in an environment that lives elsewhere: collected once, and read by all who learn from it.

use super::SourceError;
use super::external::OnePlace;
use super::simulator::{Taken, Walk, Walker};
use crate::experiment::{MOST_BYTES, NUMBER, gigabytes};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How many steps a reader copies at once, so that it seldom waits for one who collects.
const AT_ONCE: usize = 256;

/// The experience of the runs that are in work.
#[derive(Debug, Default)]
pub(crate) struct Recordings(Mutex<Vec<(String, Arc<Recording>)>>);

impl Recordings {
    /// Returns a reader of the experience of this key, which begins if there is none yet.
    pub(crate) fn replay(
        &self,
        key: String,
        dimensions: usize,
        begin: impl FnOnce() -> Walker<OnePlace>,
    ) -> Replay {
        let mut kept = locked(&self.0);
        let recording = match kept.iter().find(|(known, _)| *known == key) {
            Some((_, recording)) => recording.clone(),
            None => {
                // Units come runs first: what nobody reads when another run begins, hardly anybody will read again.
                kept.retain(|(_, recording)| Arc::strong_count(recording) > 1);
                let recording = Arc::new(Recording(Mutex::new(Recorded::new(begin()))));
                kept.push((key, recording.clone()));
                recording
            }
        };
        Replay { recording, read: 0, some: Vec::new(), observations: Vec::new(), next: 0, dimensions }
    }
}

/// Locks. A thread that panicked has left nothing half done that is read again: the run ends.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the bytes that some steps take, with what is observed.
pub(crate) fn bytes(steps: f64, dimensions: usize) -> f64 {
    steps * (size_of::<(Taken, usize)>() as f64 + NUMBER * dimensions as f64)
}

/// Experience that grows as somebody wants to read on.
struct Recording(Mutex<Recorded>);

impl fmt::Debug for Recording {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_struct("Recording").finish_non_exhaustive()
    }
}

struct Recorded {
    walker: Walker<OnePlace>,
    /// Each step with the place of its state among the observations; what is observed next lies behind that.
    steps: Vec<(Taken, usize)>,
    observations: Vec<f64>,
    /// Why it does not go on. Later readers must not go on either: they would see other steps than one who begins anew.
    failed: Option<SourceError>,
}

impl Recorded {
    fn new(walker: Walker<OnePlace>) -> Self {
        Self { walker, steps: Vec::new(), observations: Vec::new(), failed: None }
    }

    /// Takes one more step.
    fn grow(&mut self) -> Result<(), SourceError> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        let grown = self.take();
        self.failed = grown.as_ref().err().cloned();
        grown
    }

    fn take(&mut self) -> Result<(), SourceError> {
        let dimensions = self.walker.observations()[0].len();
        let steps = self.steps.len();
        if bytes(steps as f64, dimensions) > MOST_BYTES {
            return Err(SourceError::TooLong { steps, most: gigabytes(MOST_BYTES) });
        }
        let taken = self.walker.next()?;
        let [observation, next] = self.walker.observations();
        if taken.is_first {
            self.observations.extend_from_slice(observation);
        }
        self.steps.push((taken, self.observations.len() - dimensions));
        self.observations.extend_from_slice(next);
        Ok(())
    }
}

/// Reads experience from its beginning.
pub(crate) struct Replay {
    recording: Arc<Recording>,
    /// How many steps were copied.
    read: usize,
    /// The last of them, and for each the observation of its state and the next, one after the other.
    some: Vec<Taken>,
    observations: Vec<f64>,
    /// The place of the next step among those.
    next: usize,
    /// The length of an observation.
    dimensions: usize,
}

impl Replay {
    /// Copies the next steps, as many as are there, or one that is taken now.
    fn copy(&mut self) -> Result<(), SourceError> {
        let mut recorded = locked(&self.recording.0);
        if self.read == recorded.steps.len() {
            recorded.grow()?;
        }
        self.some.clear();
        self.observations.clear();
        for (taken, place) in recorded.steps[self.read..].iter().take(AT_ONCE) {
            self.some.push(*taken);
            self.observations.extend_from_slice(&recorded.observations[*place..][..2 * self.dimensions]);
        }
        (self.read, self.next) = (self.read + self.some.len(), 0);
        Ok(())
    }
}

impl Walk for Replay {
    fn next(&mut self) -> Result<Taken, SourceError> {
        if self.next == self.some.len() {
            self.copy()?;
        }
        self.next += 1;
        Ok(self.some[self.next - 1])
    }

    fn observations(&self) -> [&[f64]; 2] {
        let both = &self.observations[2 * (self.next - 1) * self.dimensions..][..2 * self.dimensions];
        [&both[..self.dimensions], &both[self.dimensions..]]
    }
}
