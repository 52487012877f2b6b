//! The counterexample with one real action.

use super::{Source, Stream};
use emphatic::{Action, ContinuousCounterexample, Features, KnownProblem, ProblemError, State, Step, Table};
use std::sync::Arc;

impl Source for ContinuousCounterexample {
    fn stream(&self, seed: u64, number: u64) -> Box<dyn Stream + '_> {
        Box::new(ContinuousCounterexample::stream(self, seed, number))
    }

    fn features(&self, sight: &str) -> Option<Features> {
        match sight {
            "actor" => Some(self.actor().into()),
            "critic" | "states" => Some(Table::one_hot(self.interest().len()).into()),
            _ => None,
        }
    }

    fn actions(&self) -> Option<usize> {
        None
    }

    fn known(self: Arc<Self>) -> Option<KnownProblem> {
        Some(KnownProblem::Continuous(self))
    }

    fn with_interest(&self, interest: Vec<f64>) -> Result<Arc<dyn Source>, ProblemError> {
        let what = || "the interest".to_owned();
        let right = |given: Vec<f64>| ProblemError::Shape { what: what(), got: given.len(), right: 3 };
        Ok(Arc::new(self.clone().with_interest(interest.try_into().map_err(right)?)?))
    }
}

impl Stream for emphatic::problem::ContinuousStream<'_> {
    fn next(&mut self) -> Option<Step<State<'_>, Action>> {
        Iterator::next(self)
    }
}
