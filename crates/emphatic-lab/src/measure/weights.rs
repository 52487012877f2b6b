//! The weights of the policy.

use super::{Context, Kind, Measure, Measured, Recorder, single};
use emphatic::{Composable, ComposeError, Learner, Real, Recipe};
use emphatic_problems::ValueError;

pub(super) const KIND: Kind = Kind {
    pattern: "weights",
    about: "the weights of the policy",
    parse: |name, _| single(name, "weights", Weights),
};

#[derive(Debug)]
struct Weights;

impl Measure for Weights {
    fn is_list(&self) -> bool {
        true
    }

    fn numbers(&self, _recipe: &Recipe, weights: usize) -> usize {
        weights
    }

    fn check(&self, of: &Measured) -> Result<(), ValueError> {
        of.check_learns()
    }

    fn recorder<R: Composable>(&self, _: &Context) -> Result<Box<dyn Recorder<R>>, ComposeError> {
        Ok(Box::new(Weights))
    }
}

impl<R: Real> Recorder<R> for Weights {
    fn read(&mut self, learner: &mut dyn Learner<R>) -> Vec<R> {
        learner.weights().to_vec()
    }
}
