//! A finite problem that is known exactly.

use super::{Source, Stream};
use emphatic::{Action, Features, KnownProblem, ProblemError, State, Step, Table, Task};
use std::sync::Arc;

impl Source for Task {
    fn stream(&self, seed: u64, number: u64) -> Box<dyn Stream + '_> {
        Box::new(Task::stream(self, seed, number))
    }

    fn features(&self, sight: &str) -> Option<Features> {
        match sight {
            "actor" => Some(self.actor().into()),
            "critic" => Some(self.critic().into()),
            "states" => Some(Table::one_hot(self.states()).into()),
            _ => None,
        }
    }

    fn actions(&self) -> Option<usize> {
        Some(Task::actions(self))
    }

    fn known(self: Arc<Self>) -> Option<KnownProblem> {
        Some(KnownProblem::Finite(self))
    }

    fn with_interest(&self, interest: Vec<f64>) -> Result<Arc<dyn Source>, ProblemError> {
        Ok(Arc::new(self.clone().with_interest(interest)?))
    }
}

impl Stream for emphatic::problem::Stream<'_> {
    fn next(&mut self) -> Option<Step<State<'_>, Action>> {
        Iterator::next(self)
    }
}
