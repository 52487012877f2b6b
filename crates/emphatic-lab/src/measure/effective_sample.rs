//! The effective sample of the emphasis.

use super::{Context, Kind, Measure, Recorder, single};
use emphatic::learner::effective_share;
use emphatic::{Action, Composable, ComposeError, Learner, Real, State, Step, Update};

/// Its name in files.
pub(crate) const NAME: &str = "effective_sample";

pub(super) const KIND: Kind = Kind {
    pattern: NAME,
    about: "(Σ|M_t|)² / (n Σ M_t²) over the n steps since the evaluation before: 1 if all steps count alike, near 0 if a few count for all",
    parse: |name, _| single(name, NAME, EffectiveSample),
};

#[derive(Debug)]
struct EffectiveSample;

impl Measure for EffectiveSample {
    fn recorder<R: Composable>(&self, _: &Context) -> Result<Box<dyn Recorder<R>>, ComposeError> {
        Ok(Box::new(Sums::<R>::default()))
    }
}

#[derive(Default)]
struct Sums<R> {
    steps: f64,
    sum: R,
    squares: R,
}

impl<R: Real> Recorder<R> for Sums<R> {
    fn needs_steps(&self) -> bool {
        true
    }

    fn after(&mut self, _step: &Step<State, Action>, update: &Update<R>, _learner: &dyn Learner<R>) {
        self.steps += 1.0;
        self.sum += update.emphasis.abs();
        self.squares += update.emphasis * update.emphasis;
    }

    /// NaN before the first step, and where every M_t is zero.
    fn read(&mut self, _learner: &mut dyn Learner<R>) -> Vec<R> {
        let Self { steps, sum, squares } = std::mem::take(self);
        let share = |lane: usize| effective_share(steps, sum.lane(lane), squares.lane(lane));
        vec![R::from_lanes(|lane| share(lane).unwrap_or(f64::NAN))]
    }
}
