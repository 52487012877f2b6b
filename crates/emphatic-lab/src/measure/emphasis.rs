//! The mean of the emphasis.

use super::{Kind, Mean, Measure, Meter, Subject, meters, plain};
use emphatic::{Action, ComposeError, Learner, Real, State, Step, Update};

pub(super) const KIND: Kind = Kind {
    pattern: "emphasis",
    about: "M_t as it was used: its mean over the steps since the evaluation before",
    parse: |name, _| plain(name, "emphasis", Emphasis),
};

#[derive(Debug)]
struct Emphasis;

impl Measure for Emphasis {
    meters!(meter);
}

fn meter<R: Real>(_: &Emphasis, _: &Subject) -> Result<Box<dyn Meter<R>>, ComposeError> {
    Ok(Box::new(MeanEmphasis(Mean::default())))
}

struct MeanEmphasis<R>(Mean<R>);

impl<R: Real> Meter<R> for MeanEmphasis<R> {
    fn watches(&self) -> bool {
        true
    }

    fn after(&mut self, _step: &Step<State, Action>, update: &Update<R>, _learner: &dyn Learner<R>) {
        self.0.add(update.emphasis);
    }

    fn read(&mut self, _learner: &dyn Learner<R>) -> Vec<R> {
        vec![self.0.take()]
    }
}
