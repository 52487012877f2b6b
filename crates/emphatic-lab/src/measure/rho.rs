//! The mean of the importance ratio.

use super::{Kind, Mean, Measure, Meter, Subject, meters, plain};
use emphatic::{Action, ComposeError, Learner, Real, State, Step, Update};

pub(super) const KIND: Kind = Kind {
    pattern: "rho",
    about: "ρ_t: its mean over the steps since the evaluation before",
    parse: |name, _| plain(name, "rho", Rho),
};

#[derive(Debug)]
struct Rho;

impl Measure for Rho {
    meters!(meter);
}

fn meter<R: Real>(_: &Rho, _: &Subject) -> Result<Box<dyn Meter<R>>, ComposeError> {
    Ok(Box::new(MeanRho(Mean::default())))
}

struct MeanRho<R>(Mean<R>);

impl<R: Real> Meter<R> for MeanRho<R> {
    fn watches(&self) -> bool {
        true
    }

    fn after(&mut self, _step: &Step<State, Action>, update: &Update<R>, _learner: &dyn Learner<R>) {
        self.0.add(update.rho);
    }

    fn read(&mut self, _learner: &dyn Learner<R>) -> Vec<R> {
        vec![self.0.take()]
    }
}
