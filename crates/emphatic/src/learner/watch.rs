//! Watches for numbers that are no longer finite.

use crate::real::Real;
use thiserror::Error;

/// A learner whose weights have left the finite numbers: its step-size was probably too large.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the learner in lane {lane} diverged at step {step}: its weights are no longer finite")]
pub struct Diverged {
    /// In which lane.
    pub lane: usize,
    /// At which step; the first is 1.
    pub step: u64,
}

/// Counts steps, and notes for each lane when it diverged.
#[derive(Clone, Debug)]
pub(super) struct Watch<R> {
    pub(super) steps: u64,
    pub(super) diverged: Vec<Option<u64>>,
    /// One in the lanes that have not diverged, zero in the others.
    alive: R,
    all_alive: bool,
}

impl<R: Real> Default for Watch<R> {
    fn default() -> Self {
        Self { steps: 0, diverged: vec![None; R::LANES], alive: R::one(), all_alive: true }
    }
}

impl<R: Real> Watch<R> {
    /// Counts a step, given the sum of [`Real::nan_unless_finite`] over the weights it changed. True if a lane has diverged by it.
    #[inline(always)]
    pub(super) fn step(&mut self, sum: R) -> bool {
        // A saved state may have any number.
        self.steps = self.steps.saturating_add(1);
        let watched = if self.all_alive { sum } else { R::zero().if_less(self.alive, sum, R::zero()) };
        let diverged = !watched.all_finite();
        if diverged {
            self.note(watched);
        }
        diverged
    }

    /// The lanes that have diverged by the last step.
    pub(super) fn diverged_now(&self) -> impl Iterator<Item = usize> {
        (0..R::LANES).filter(|lane| self.diverged[*lane] == Some(self.steps))
    }

    #[cold]
    #[inline(never)]
    fn note(&mut self, watched: R) {
        for lane in 0..R::LANES {
            if !watched.lane(lane).is_finite() {
                self.diverged[lane] = Some(self.steps);
            }
        }
        self.set_alive();
    }

    fn set_alive(&mut self) {
        self.alive = R::from_lanes(|lane| if self.diverged[lane].is_none() { 1.0 } else { 0.0 });
        self.all_alive = self.diverged.iter().all(Option::is_none);
    }

    pub(super) fn check(&self) -> Result<(), Diverged> {
        let first =
            self.diverged.iter().enumerate().find_map(|(lane, at)| at.map(|step| Diverged { lane, step }));
        first.map_or(Ok(()), Err)
    }

    pub(super) fn put(&mut self, steps: u64, diverged: Vec<Option<u64>>) {
        (self.steps, self.diverged) = (steps, diverged);
        self.set_alive();
    }
}
