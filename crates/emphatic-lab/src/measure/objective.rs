//! The objective J_μ of the current policy, computed exactly.

use super::{Context, Goal, Kind, Measure, Measured, Recorder, require_known, single};
use emphatic::theory::Objective;
use emphatic::{Composable, ComposeError, Isa, Learner, Real};
use emphatic_problems::ValueError;

pub(super) const KIND: Kind = Kind {
    pattern: "objective",
    about: "J_μ of the current policy, exactly",
    parse: |name, _| single(name, "objective", Exact),
};

#[derive(Debug)]
struct Exact;

impl Measure for Exact {
    fn goal(&self) -> Option<Goal> {
        Some(Goal::Largest)
    }

    fn check(&self, of: &Measured) -> Result<(), ValueError> {
        of.check_known()?;
        of.check_learns()
    }

    fn recorder<R: Composable>(&self, context: &Context) -> Result<Box<dyn Recorder<R>>, ComposeError> {
        let objective = R::objective(require_known(context.problem, "objective")?, context.policy)?;
        Ok(Box::new(ExactRecorder { objective, isa: context.isa }))
    }
}

struct ExactRecorder<R> {
    objective: Box<dyn Objective<R>>,
    isa: Isa,
}

impl<R: Real> Recorder<R> for ExactRecorder<R> {
    fn read(&mut self, learner: &mut dyn Learner<R>) -> Vec<R> {
        vec![self.objective.of(self.isa, learner.weights())]
    }
}
