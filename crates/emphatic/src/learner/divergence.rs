//! Divergence: weights that are no longer finite, and since which step.

use crate::Real;
use thiserror::Error;

/// A learner whose weights have left the finite numbers: its step-size was probably too large.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
#[error("the learner in lane {lane} diverged at step {step}: its weights are no longer finite")]
pub struct Diverged {
    /// In which lane.
    pub lane: usize,
    /// At which step; the first is 1.
    pub step: u64,
}

/// Counts steps, and notes for each lane when it diverged.
#[derive(Clone, Debug)]
pub(super) struct Divergence<R> {
    pub(super) steps: u64,
    /// By lane; 0 if it has not diverged.
    pub(super) diverged: Vec<u64>,
    /// One in the lanes that have not diverged, zero in the others.
    alive: R,
    all_alive: bool,
}

impl<R: Real> Default for Divergence<R> {
    fn default() -> Self {
        Self { steps: 0, diverged: vec![0; R::LANES], alive: R::one(), all_alive: true }
    }
}

impl<R: Real> Divergence<R> {
    /// Counts a step, given the sum of [`Real::nan_unless_finite`] over the weights it changed. Returns whether a lane has
    /// diverged by it.
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

    /// The lanes that diverged at the last step.
    pub(super) fn diverged_now(&self) -> impl Iterator<Item = usize> {
        (0..R::LANES).filter(|lane| self.diverged[*lane] == self.steps)
    }

    #[cold]
    #[inline(never)]
    fn note(&mut self, watched: R) {
        for lane in 0..R::LANES {
            if !watched.lane(lane).is_finite() {
                self.diverged[lane] = self.steps;
            }
        }
        self.set_alive();
    }

    /// Notes which lanes are alive, after `diverged` was replaced.
    pub(super) fn set_alive(&mut self) {
        self.alive = R::from_lanes(|lane| if self.diverged[lane] == 0 { 1.0 } else { 0.0 });
        self.all_alive = self.diverged.iter().all(|step| *step == 0);
    }

    pub(super) fn diverged(&self, lane: usize) -> Option<u64> {
        self.diverged.get(lane).copied().filter(|step| *step > 0)
    }

    /// Forgets that lanes have diverged.
    pub(super) fn revive(&mut self) {
        self.diverged.fill(0);
        self.set_alive();
    }
}
