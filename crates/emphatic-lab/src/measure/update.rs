//! Means of the importance ratio and of the emphasis over the steps.

use super::{Context, Kind, Mean, Measure, Recorder, single};
use emphatic::{Action, Composable, ComposeError, Learner, Real, State, Step, Update};

pub(super) const EMPHASIS: Kind = Kind {
    pattern: "emphasis",
    about: "M_t as it was used: its mean over the steps since the evaluation before",
    parse: |name, _| single(name, "emphasis", UpdateNumber::Emphasis),
};

pub(super) const RHO: Kind = Kind {
    pattern: "rho",
    about: "ρ_t: its mean over the steps since the evaluation before",
    parse: |name, _| single(name, "rho", UpdateNumber::Rho),
};

/// A number of an update.
#[derive(Clone, Copy, Debug)]
enum UpdateNumber {
    Emphasis,
    Rho,
}

impl Measure for UpdateNumber {
    fn recorder<R: Composable>(&self, _: &Context) -> Result<Box<dyn Recorder<R>>, ComposeError> {
        Ok(Box::new(MeanRecorder { number: *self, mean: Mean::default() }))
    }
}

struct MeanRecorder<R> {
    number: UpdateNumber,
    mean: Mean<R>,
}

impl<R: Real> Recorder<R> for MeanRecorder<R> {
    fn needs_steps(&self) -> bool {
        true
    }

    fn after(&mut self, _step: &Step<State, Action>, update: &Update<R>, _learner: &dyn Learner<R>) {
        self.mean.add(match self.number {
            UpdateNumber::Emphasis => update.emphasis,
            UpdateNumber::Rho => update.rho,
        });
    }

    fn read(&mut self, _learner: &mut dyn Learner<R>) -> Vec<R> {
        vec![self.mean.take()]
    }
}
