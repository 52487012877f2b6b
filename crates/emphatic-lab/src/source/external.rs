//! Environments that live elsewhere, in Python for instance: they are reset and stepped from here, several in one call.

use super::recording::{Recordings, Replay};
use super::simulator::{Place, Simulator, Walker};
use super::{Interface, SourceError};
use emphatic::{Action, Random};
use serde_json::Value;
use std::error::Error;
use std::fmt::{self, Debug};
use std::sync::Arc;

/// An environment that lives elsewhere.
pub trait ExternalEnvironment: Debug + Send + Sync {
    /// What is seen of it, and how one acts in it.
    fn interface(&self) -> &Interface;

    /// What distinguishes it from other environments: their results never share a directory.
    fn identity(&self) -> Value;

    /// Opens so many environments of this kind. They are closed when the session is dropped.
    fn open(&self, count: usize) -> Result<Box<dyn Session>, ExternalError>;
}

/// Some environments of one kind, side by side. One thread at a time uses them, not always the same.
pub trait Session: Send {
    /// Begins an episode, by this seed, in the environment at a place, and writes what is observed.
    fn reset(&mut self, place: usize, seed: u64, observation: &mut [f64]) -> Result<(), ExternalError>;

    /// Takes a step in each of the environments at these places, and writes what is observed and what comes of it, in their order.
    fn step(
        &mut self,
        places: &[usize],
        actions: &[Action],
        observations: &mut [f64],
        outcomes: &mut [ExternalOutcome],
    ) -> Result<(), ExternalError>;
}

/// What comes of an action.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ExternalOutcome {
    /// The reward.
    pub reward: f64,
    /// Whether the episode ends here.
    pub terminated: bool,
    /// Whether it is cut short here.
    pub truncated: bool,
    /// The discount, if the environment has one of its own.
    pub gamma_next: Option<f64>,
}

/// An environment that lives elsewhere and fails.
#[derive(Clone, Debug)]
pub struct ExternalError {
    /// What is wrong.
    pub message: String,
    /// What would be right.
    pub help: Option<String>,
    /// Which of the environments that a call is about, counted from 0.
    pub which: usize,
    /// What it comes from.
    pub cause: Option<Arc<dyn Error + Send + Sync>>,
}

impl ExternalError {
    /// An error that comes from nothing else.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), help: None, which: 0, cause: None }
    }
}

impl fmt::Display for ExternalError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for ExternalError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.cause.as_ref().map(|cause| &**cause as &(dyn Error + 'static))
    }
}

/// A session whose answers are checked.
pub(crate) struct Places {
    session: Box<dyn Session>,
    /// The length of an observation.
    dimensions: usize,
}

impl Places {
    /// Opens so many environments.
    pub(crate) fn open(environment: &dyn ExternalEnvironment, count: usize) -> Result<Self, ExternalError> {
        Ok(Self { session: environment.open(count)?, dimensions: environment.interface().space.len() })
    }

    /// Begins an episode at a place. Its seed is drawn from the stream of everything that follows.
    pub(crate) fn begin(
        &mut self,
        place: usize,
        random: &mut Random,
        observation: &mut [f64],
    ) -> Result<(), ExternalError> {
        // Some environments take seeds of 31 bits alone.
        self.session.reset(place, random.word() >> 33, observation)?;
        check_finite(observation, "reset()", 0)
    }

    /// Takes a step at each of these places.
    pub(crate) fn step(
        &mut self,
        places: &[usize],
        actions: &[Action],
        observations: &mut [f64],
        outcomes: &mut [ExternalOutcome],
    ) -> Result<(), ExternalError> {
        self.session.step(places, actions, observations, outcomes)?;
        for (which, observation) in observations.chunks_exact(self.dimensions).enumerate() {
            check_finite(observation, "step()", which)?;
            let ExternalOutcome { reward, gamma_next, .. } = outcomes[which];
            if !reward.is_finite() {
                let message =
                    format!("the environment's step() returned the reward {reward}; it must be finite");
                return Err(ExternalError { which, ..ExternalError::new(message) });
            }
            if let Some(gamma) = gamma_next.filter(|gamma| !(0.0..=1.0).contains(gamma)) {
                let message =
                    format!("the environment's info has the gamma_next {gamma}; it must lie between 0 and 1");
                return Err(ExternalError { which, ..ExternalError::new(message) });
            }
        }
        Ok(())
    }
}

fn check_finite(observation: &[f64], method: &str, which: usize) -> Result<(), ExternalError> {
    let Some(entry) = observation.iter().position(|x| !x.is_finite()) else { return Ok(()) };
    let message = format!(
        "the environment's {method} returned an observation whose entry {entry} is {}; all must be finite",
        observation[entry]
    );
    Err(ExternalError { which, ..ExternalError::new(message) })
}

/// An environment that lives elsewhere, and the experience that was collected in it.
#[derive(Debug)]
pub(crate) struct Elsewhere {
    pub(crate) environment: Arc<dyn ExternalEnvironment>,
    recordings: Recordings,
}

impl Elsewhere {
    pub(crate) fn new(environment: Arc<dyn ExternalEnvironment>) -> Self {
        Self { environment, recordings: Recordings::default() }
    }

    /// Returns the experience with this seed and number, which is collected once for all who learn from it.
    pub(crate) fn experience(&self, simulator: &Simulator, seed: u64, number: u64) -> Replay {
        let begin = || {
            let place = OnePlace::new(self.environment.clone());
            Walker::new(place, simulator, Random::new(seed, number))
        };
        // Everything that it depends on: discounts, interests and features are of those who learn.
        let key = format!("{seed} {number} {:?} {:?}", simulator.behaviour, simulator.limit);
        self.recordings.replay(key, simulator.interface.space.len(), begin)
    }
}

/// One environment, in which a behaviour acts. It is opened when the first episode begins.
pub(crate) struct OnePlace {
    environment: Arc<dyn ExternalEnvironment>,
    places: Option<Places>,
    /// How many episodes have begun, and the steps in the last of them.
    episodes: u64,
    steps: u64,
}

impl OnePlace {
    fn new(environment: Arc<dyn ExternalEnvironment>) -> Self {
        Self { environment, places: None, episodes: 0, steps: 0 }
    }

    fn places(&mut self) -> Result<&mut Places, ExternalError> {
        match &mut self.places {
            Some(places) => Ok(places),
            none => Ok(none.insert(Places::open(&*self.environment, 1)?)),
        }
    }
}

impl Place for OnePlace {
    fn begin(&mut self, random: &mut Random, observation: &mut [f64]) -> Result<(), SourceError> {
        let at = format!("before episode {} of the behaviour, counted from 0", self.episodes);
        let begun = self.places().and_then(|places| places.begin(0, random, observation));
        (self.episodes, self.steps) = (self.episodes + 1, 0);
        begun.map_err(|source| SourceError::External { at, source })
    }

    fn step(
        &mut self,
        action: Action,
        _random: &mut Random,
        observation: &mut [f64],
    ) -> Result<ExternalOutcome, SourceError> {
        let (steps, episode) = (self.steps, self.episodes.saturating_sub(1));
        self.steps += 1;
        let mut outcomes = [ExternalOutcome::default()];
        let taken = self.places().and_then(|places| places.step(&[0], &[action], observation, &mut outcomes));
        let at = || format!("at step {steps} of episode {episode} of the behaviour, counted from 0");
        taken.map_err(|source| SourceError::External { at: at(), source })?;
        Ok(outcomes[0])
    }
}
