//! The exact objective.

use super::{Kind, Measure, Meter, Subject, known, meters, plain};
use emphatic::theory::Objective;
use emphatic::{Composable, ComposeError, Isa, Learner, Real};

pub(super) const KIND: Kind = Kind {
    pattern: "objective",
    about: "J_μ of the current policy, exactly",
    parse: |name, _| plain(name, "objective", Exact),
};

#[derive(Debug)]
struct Exact;

impl Measure for Exact {
    meters!(meter);
}

fn meter<R: Composable>(_: &Exact, of: &Subject) -> Result<Box<dyn Meter<R>>, ComposeError> {
    let objective = R::objective(known(of.judged, "objective")?, of.policy)?;
    Ok(Box::new(Judged { objective, isa: of.isa }))
}

struct Judged<R> {
    objective: Box<dyn Objective<R>>,
    isa: Isa,
}

impl<R: Real> Meter<R> for Judged<R> {
    fn read(&mut self, learner: &dyn Learner<R>) -> Vec<R> {
        vec![self.objective.of(self.isa, learner.weights())]
    }
}
