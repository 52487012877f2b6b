//! Where experience comes from.
//!
//! The engine knows nothing of a problem but this: a new kind of source is a file that implements [`Source`].

mod continuous;
mod finite;

use emphatic::{Action, Features, KnownProblem, ProblemError, State, Step};
use emphatic_problems::World;
use std::fmt::Debug;
use std::sync::Arc;

/// A source of experience.
pub(crate) trait Source: Debug + Send + Sync {
    /// The stream with this seed and number: the same on every machine.
    fn stream(&self, seed: u64, number: u64) -> Box<dyn Stream + '_>;

    /// The features of a state by a name of [`SIGHTS`]; `None` if there are none of that name.
    fn features(&self, sight: &str) -> Option<Features>;

    /// How many actions there are; `None` where the action is a real number.
    fn actions(&self) -> Option<usize>;

    /// The problem, if it is known exactly.
    fn known(self: Arc<Self>) -> Option<KnownProblem>;

    /// The same with this interest in each state.
    fn with_interest(&self, interest: Vec<f64>) -> Result<Arc<dyn Source>, ProblemError>;
}

/// Experience, step by step.
pub(crate) trait Stream {
    /// The next step; `None` at the end.
    fn next(&mut self) -> Option<Step<State<'_>, Action>>;
}

/// The names of features that a source may have.
pub(crate) const SIGHTS: [&str; 3] = ["actor", "critic", "states"];

/// The features that parts may look at, by name.
#[derive(Clone, Debug)]
pub(crate) struct Sights(Vec<(&'static str, Features)>);

impl Sights {
    /// Those of a source.
    pub(crate) fn of(source: &dyn Source) -> Self {
        let of = |name| source.features(name).map(|features| (name, features));
        Self(SIGHTS.into_iter().filter_map(of).collect())
    }

    pub(crate) fn find(&self, name: &str) -> Option<&Features> {
        self.0.iter().find(|(known, _)| *known == name).map(|(_, features)| features)
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.0.iter().map(|(name, _)| *name)
    }
}

/// A problem of a file as a source.
pub(crate) fn of(world: &World) -> Arc<dyn Source> {
    match world {
        World::Finite(task) => task.clone(),
        World::Continuous(problem) => problem.clone(),
    }
}

/// Some steps with room for what is seen of their states: made once, learned from by all.
#[derive(Default)]
pub(crate) struct Chunk {
    steps: Vec<Step<Kept, Action>>,
    numbers: Vec<f64>,
    active: Vec<usize>,
}

/// A state that is kept in a chunk: a number, or where its features start and end.
#[derive(Clone, Copy)]
enum Kept {
    Number(usize),
    Vector(usize, usize),
    Active(usize, usize),
}

impl Chunk {
    /// Empties it.
    pub(crate) fn clear(&mut self) {
        self.steps.clear();
        self.numbers.clear();
        self.active.clear();
    }

    pub(crate) fn len(&self) -> usize {
        self.steps.len()
    }

    /// Adds a step.
    pub(crate) fn push(&mut self, step: &Step<State, Action>) {
        let Step { action, mu, reward, gamma, gamma_next, interest, .. } = *step;
        let (state, next) = (self.keep(step.state), self.keep(step.next));
        self.steps.push(Step { state, action, mu, reward, next, gamma, gamma_next, interest });
    }

    fn keep(&mut self, state: State) -> Kept {
        match state {
            State::Number(number) => Kept::Number(number),
            State::Vector(vector) => {
                let start = self.numbers.len();
                self.numbers.extend_from_slice(vector);
                Kept::Vector(start, self.numbers.len())
            }
            State::Active(active) => {
                let start = self.active.len();
                self.active.extend_from_slice(active);
                Kept::Active(start, self.active.len())
            }
        }
    }

    /// The steps, as learners take them.
    pub(crate) fn steps(&self) -> Vec<Step<State<'_>, Action>> {
        let seen = |kept: Kept| match kept {
            Kept::Number(number) => State::Number(number),
            Kept::Vector(start, end) => State::Vector(&self.numbers[start..end]),
            Kept::Active(start, end) => State::Active(&self.active[start..end]),
        };
        let step = |step: &Step<Kept, Action>| {
            let Step { state, next, action, mu, reward, gamma, gamma_next, interest } = *step;
            Step { state: seen(state), next: seen(next), action, mu, reward, gamma, gamma_next, interest }
        };
        self.steps.iter().map(step).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chunk_gives_back_what_was_put_in() {
        let step = |state, next| Step {
            state,
            action: Action::Number(1),
            mu: 0.5,
            reward: 2.0,
            next,
            gamma: 0.0,
            gamma_next: 0.9,
            interest: 1.0,
        };
        let steps = [
            step(State::Number(3), State::Number(4)),
            step(State::Vector(&[1.0, 2.0]), State::Vector(&[3.0])),
            step(State::Active(&[7, 5]), State::Active(&[])),
        ];
        let mut chunk = Chunk::default();
        steps.iter().for_each(|step| chunk.push(step));
        assert_eq!((chunk.steps(), chunk.len()), (steps.to_vec(), 3));
        chunk.clear();
        chunk.push(&steps[2]);
        assert_eq!(chunk.steps(), &steps[2..]);
    }
}
