//! Means of what the steps did: the importance ratio and the emphasis.

use super::{Kind, Mean, Measure, Meter, Subject, meters, plain};
use emphatic::{Action, ComposeError, Learner, Real, State, Step, Update};

pub(super) const EMPHASIS: Kind = Kind {
    pattern: "emphasis",
    about: "M_t as it was used: its mean over the steps since the evaluation before",
    parse: |name, _| plain(name, "emphasis", OfUpdate::Emphasis),
};

pub(super) const RHO: Kind = Kind {
    pattern: "rho",
    about: "ρ_t: its mean over the steps since the evaluation before",
    parse: |name, _| plain(name, "rho", OfUpdate::Rho),
};

/// Which number of an update.
#[derive(Clone, Copy, Debug)]
enum OfUpdate {
    Emphasis,
    Rho,
}

impl Measure for OfUpdate {
    meters!(meter);
}

fn meter<R: Real>(of: &OfUpdate, _: &Subject) -> Result<Box<dyn Meter<R>>, ComposeError> {
    Ok(Box::new((*of, Mean::default())))
}

impl<R: Real> Meter<R> for (OfUpdate, Mean<R>) {
    fn watches(&self) -> bool {
        true
    }

    fn after(&mut self, _step: &Step<State, Action>, update: &Update<R>, _learner: &dyn Learner<R>) {
        self.1.add(match self.0 {
            OfUpdate::Emphasis => update.emphasis,
            OfUpdate::Rho => update.rho,
        });
    }

    fn read(&mut self, _learner: &dyn Learner<R>) -> Vec<R> {
        vec![self.1.take()]
    }
}
