//! Rollouts in an environment that lives elsewhere: several episodes side by side, each step of all of them in one call.

use crate::source::{ExternalEnvironment, ExternalError, ExternalOutcome, Places, SourceError};
use emphatic::{Action, Random};
use emphatic_environments::{Actor, Episode};

/// How many episodes go on side by side.
const WIDTH: usize = 16;

/// Environments in which policies are tried out. They stay open.
pub(super) struct ExternalRollouts {
    places: Places,
    width: usize,
    /// The length of an observation.
    dimensions: usize,
}

/// What all episodes of an evaluation have in common.
pub(super) struct Trial<'a> {
    pub(super) evaluation: u64,
    pub(super) episodes: usize,
    /// After how many steps an episode is cut short.
    pub(super) cap: u64,
    /// The discount of its return, where the environment has none of its own.
    pub(super) gamma: f64,
    /// Returns the random stream of an episode, from which its seed is drawn, too.
    pub(super) random: &'a dyn Fn(usize) -> Random,
    pub(super) is_stopped: &'a dyn Fn() -> bool,
}

impl Trial<'_> {
    fn failed(&self, at: impl Into<String>, source: ExternalError) -> SourceError {
        let at = format!("{} of evaluation {}, counted from 0", at.into(), self.evaluation);
        SourceError::External { at, source }
    }
}

/// An episode that goes on.
struct Running {
    number: usize,
    place: usize,
    so_far: Episode,
    /// The discount of the next reward.
    discount: f64,
}

impl ExternalRollouts {
    /// Opens environments for so many episodes.
    pub(super) fn open(environment: &dyn ExternalEnvironment, trial: &Trial) -> Result<Self, SourceError> {
        let width = WIDTH.min(trial.episodes);
        let places = Places::open(environment, width)
            .map_err(|error| trial.failed("where environments were opened for the episodes", error))?;
        Ok(Self { places, width, dimensions: environment.interface().space.len() })
    }

    /// Begins an episode at a place, and writes what is observed.
    fn begin(
        &mut self,
        trial: &Trial,
        (number, place): (usize, usize),
        observation: &mut [f64],
    ) -> Result<(Running, Random), SourceError> {
        let mut random = (trial.random)(number);
        let begun = self.places.begin(place, &mut random, observation);
        begun.map_err(|error| trial.failed(format!("before episode {number}"), error))?;
        Ok((Running { number, place, so_far: Episode::default(), discount: 1.0 }, random))
    }

    /// Lets the actor act. What comes of an episode does not depend on the others. Where it is to stop, those that go on are left as they are: zero.
    pub(super) fn run(&mut self, trial: &Trial, actor: &mut dyn Actor) -> Result<Vec<Episode>, SourceError> {
        let n = self.dimensions;
        let mut finished = vec![Episode::default(); trial.episodes];
        let mut observations = vec![0.0; self.width * n];
        let mut actions = vec![Action::Number(0); self.width];
        // There is but one.
        let policies = vec![0; self.width];
        let mut outcomes = vec![ExternalOutcome::default(); self.width];
        let (mut running, mut randoms) = (Vec::new(), Vec::new());
        for place in 0..self.width {
            let begun = self.begin(trial, (place, place), &mut observations[place * n..][..n])?;
            running.push(begun.0);
            randoms.push(begun.1);
        }
        let mut next = self.width;
        while !running.is_empty() && !(trial.is_stopped)() {
            let count = running.len();
            actor.act(&policies[..count], &observations[..count * n], &mut randoms, &mut actions[..count]);
            let places: Vec<usize> = running.iter().map(|episode| episode.place).collect();
            let (observed, outcomes) = (&mut observations[..count * n], &mut outcomes[..count]);
            self.places.step(&places, &actions[..count], observed, outcomes).map_err(|error| {
                let Running { number, so_far, .. } = &running[error.which.min(count - 1)];
                trial.failed(format!("at step {} of episode {number}", so_far.steps), error)
            })?;
            // From the last, so that the one that takes a place has been seen.
            for k in (0..count).rev() {
                let ExternalOutcome { reward, terminated, truncated, gamma_next } = outcomes[k];
                let Running { number, place, so_far, discount } = &mut running[k];
                so_far.total += *discount * reward;
                so_far.steps += 1;
                so_far.is_over = terminated;
                *discount *= gamma_next.unwrap_or(trial.gamma);
                if !(terminated || truncated || so_far.steps >= trial.cap) {
                    continue;
                }
                finished[*number] = *so_far;
                if next < trial.episodes {
                    let place = *place;
                    (running[k], randoms[k]) =
                        self.begin(trial, (next, place), &mut observations[k * n..][..n])?;
                    next += 1;
                } else {
                    let last = running.len() - 1;
                    running.swap_remove(k);
                    randoms.swap_remove(k);
                    observations.copy_within(last * n..(last + 1) * n, k * n);
                }
            }
        }
        Ok(finished)
    }
}
