//! Steps of a stream, copied once for all settings that learn from them.

use emphatic::basis::Observed;
use emphatic::{Action, CodedStates, FeatureError, Features, State, Step};

/// The number of features from which on a chunk is full: they stay in the cache if they are few, and in memory if a state has many.
const MOST_FEATURES: usize = 1 << 20;

/// Some steps of a stream. The features of observations are computed here, once for all settings.
#[derive(Default)]
pub(crate) struct Chunk {
    steps: Vec<Step<Copied, Action>>,
    numbers: Vec<f64>,
    active: Vec<usize>,
    coded: CodedStates,
    /// The bases that compute the features of observations; empty if states are not observations.
    bases: Vec<Features>,
    /// The last observation, which most often is the state of the next step, and its number among the coded ones.
    last: (Vec<f64>, usize),
}

/// A state in a chunk: its number, the range of its features, or its number among the coded ones.
#[derive(Clone, Copy)]
enum Copied {
    Number(usize),
    Vector(usize, usize),
    Active(usize, usize),
    Coded(usize),
}

impl Chunk {
    /// A chunk that computes the features of observations by these bases, if there are any.
    pub(crate) fn new(bases: Vec<Observed>) -> Self {
        let coded = CodedStates::new(bases.clone());
        Self { bases: bases.into_iter().map(Features::Observed).collect(), coded, ..Self::default() }
    }

    /// Empties it.
    pub(crate) fn clear(&mut self) {
        self.steps.clear();
        self.numbers.clear();
        self.active.clear();
        self.coded.clear();
        self.last.0.clear();
    }

    pub(crate) fn len(&self) -> usize {
        self.steps.len()
    }

    /// Returns whether it holds so many features that learners had better learn from them first.
    pub(crate) fn is_full(&self) -> bool {
        self.coded.features() >= MOST_FEATURES
    }

    /// Adds a step, unless the bases cannot describe one of its states.
    pub(crate) fn push(&mut self, step: &Step<State, Action>) -> Result<(), FeatureError> {
        let Step { action, mu, reward, gamma, gamma_next, interest, .. } = *step;
        let (state, next) = (self.copy(step.state)?, self.copy(step.next)?);
        self.steps.push(Step { state, action, mu, reward, next, gamma, gamma_next, interest });
        Ok(())
    }

    fn copy(&mut self, state: State) -> Result<Copied, FeatureError> {
        Ok(match state {
            State::Number(number) => Copied::Number(number),
            State::Vector(observation) if !self.bases.is_empty() => Copied::Coded(self.code(observation)?),
            State::Vector(vector) => {
                let start = self.numbers.len();
                self.numbers.extend_from_slice(vector);
                Copied::Vector(start, self.numbers.len())
            }
            State::Active(active) => {
                let start = self.active.len();
                self.active.extend_from_slice(active);
                Copied::Active(start, self.active.len())
            }
            // Streams have observations; their features are computed here alone.
            State::Coded(_) => Copied::Vector(0, 0),
        })
    }

    /// Returns the number of an observation among the coded ones.
    fn code(&mut self, observation: &[f64]) -> Result<usize, FeatureError> {
        let (last, number) = &mut self.last;
        // By their bits: features may tell 0 from −0.
        if !last.iter().map(|x| x.to_bits()).eq(observation.iter().map(|x| x.to_bits())) {
            self.bases.iter().try_for_each(|basis| basis.check(State::Vector(observation)))?;
            last.clear();
            last.extend_from_slice(observation);
            *number = self.coded.push(observation);
        }
        Ok(*number)
    }

    /// Returns the steps in the form that learners take.
    pub(crate) fn steps(&self) -> Vec<Step<State<'_>, Action>> {
        let state_of = |copied: Copied| match copied {
            Copied::Number(number) => State::Number(number),
            Copied::Vector(start, end) => State::Vector(&self.numbers[start..end]),
            Copied::Active(start, end) => State::Active(&self.active[start..end]),
            Copied::Coded(number) => self.coded.get(number),
        };
        let step = |step: &Step<Copied, Action>| {
            let Step { action, mu, reward, gamma, gamma_next, interest, .. } = *step;
            let (state, next) = (state_of(step.state), state_of(step.next));
            Step { state, action, mu, reward, next, gamma, gamma_next, interest }
        };
        self.steps.iter().map(step).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use emphatic::BasisRecipe;

    fn step<'a>(state: State<'a>, next: State<'a>) -> Step<State<'a>, Action> {
        let (action, mu, reward, gamma, gamma_next) = (Action::Number(1), 0.5, 2.0, 0.0, 0.9);
        Step { state, action, mu, reward, next, gamma, gamma_next, interest: 1.0 }
    }

    #[test]
    fn a_chunk_returns_the_steps_that_were_put_in() {
        let steps = [
            step(State::Number(3), State::Number(4)),
            step(State::Vector(&[1.0, 2.0]), State::Vector(&[3.0])),
            step(State::Active(&[7, 5]), State::Active(&[])),
        ];
        let mut chunk = Chunk::default();
        steps.iter().for_each(|step| chunk.push(step).unwrap());
        assert_eq!((chunk.steps(), chunk.len()), (steps.to_vec(), 3));
        chunk.clear();
        chunk.push(&steps[2]).unwrap();
        assert_eq!(chunk.steps(), &steps[2..]);
    }

    #[test]
    fn observations_are_coded_once() {
        let recipe =
            BasisRecipe::new("polynomial").with("low", [0.0]).with("high", [1.0]).with("degree", 2.0);
        let features = recipe.build().unwrap();
        let Features::Observed(observed) = &features else { unreachable!("a basis makes such features") };
        let mut chunk = Chunk::new(vec![observed.clone()]);
        let observations = [[0.25], [0.5], [0.75]];
        for pair in observations.windows(2) {
            chunk.push(&step(State::Vector(&pair[0]), State::Vector(&pair[1]))).unwrap();
        }
        assert_eq!(chunk.coded.len(), 3);
        // Once observations were not checked: a basis of whole numbers read beyond its weights.
        assert!(chunk.push(&step(State::Vector(&[0.1, 0.2]), State::Vector(&[0.1]))).is_err());
        let mut room = [features.scratch(), features.scratch()];
        let [one, other] = &mut room;
        for (step, pair) in chunk.steps().iter().zip(observations.windows(2)) {
            assert_eq!(features.row(step.state, one), features.row(State::Vector(&pair[0]), other));
            assert_eq!(features.row(step.next, one), features.row(State::Vector(&pair[1]), other));
        }
    }
}
