//! How far the emphasis is from what it estimates.

use super::exact_emphasis::Density;
use super::{Context, Goal, Kind, Mean, Measure, Measured, Recorder, single};
use emphatic::{Action, Composable, ComposeError, Learner, Real, State, Step, Update};
use emphatic_problems::ValueError;

pub(super) const KIND: Kind = Kind {
    pattern: "emphasis_error",
    about: "the root of the mean of (M_t − m(S_t)/d_μ(S_t))² over the steps since the evaluation before, with M_t as it was used and m computed",
    parse: |name, _| single(name, "emphasis_error", EmphasisError),
};

#[derive(Debug)]
struct EmphasisError;

impl Measure for EmphasisError {
    fn goal(&self) -> Option<Goal> {
        Some(Goal::Smallest)
    }

    fn check(&self, of: &Measured) -> Result<(), ValueError> {
        of.check_known()?;
        of.check_emphasis()
    }

    fn recorder<R: Composable>(&self, context: &Context) -> Result<Box<dyn Recorder<R>>, ComposeError> {
        Ok(Box::new(ErrorRecorder { density: Density::new(context)?, squares: Mean::default() }))
    }
}

struct ErrorRecorder<R> {
    density: Density<R>,
    squares: Mean<R>,
}

impl<R: Real> Recorder<R> for ErrorRecorder<R> {
    fn needs_steps(&self) -> bool {
        true
    }

    fn before(&mut self, step: &Step<State, Action>) {
        self.density.before(step);
    }

    fn after(&mut self, step: &Step<State, Action>, update: &Update<R>, learner: &dyn Learner<R>) {
        let error = update.emphasis - self.density.now;
        self.squares.add(error * error);
        self.density.after(step, learner);
    }

    fn read(&mut self, learner: &mut dyn Learner<R>) -> Vec<R> {
        self.density.evaluation(learner);
        vec![self.squares.take().sqrt()]
    }
}
