//! The weights of the policy.

use super::{Kind, Measure, Meter, Subject, meters, plain};
use emphatic::{ComposeError, Learner, Real};

pub(super) const KIND: Kind = Kind {
    pattern: "weights",
    about: "the weights of the policy",
    parse: |name, _| plain(name, "weights", Weights),
};

#[derive(Debug)]
struct Weights;

impl Measure for Weights {
    fn is_list(&self) -> bool {
        true
    }

    meters!(meter);
}

fn meter<R: Real>(_: &Weights, _: &Subject) -> Result<Box<dyn Meter<R>>, ComposeError> {
    Ok(Box::new(Weights))
}

impl<R: Real> Meter<R> for Weights {
    fn read(&mut self, learner: &dyn Learner<R>) -> Vec<R> {
        learner.weights().to_vec()
    }
}
