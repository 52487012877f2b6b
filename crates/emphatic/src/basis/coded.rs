//! States of which the features have been computed, once for all learners that see them.

use super::Observed;
use crate::State;
use crate::features::Row;

/// The features of one state by several bases.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coded<'a> {
    /// The active features by all bases, one after the other.
    entries: &'a [(usize, f64)],
    views: &'a [View],
}

/// What one basis makes of a state.
#[derive(Clone, Copy, Debug, PartialEq)]
struct View {
    /// The number of features of the basis, by which a part checks that it is its own.
    len: usize,
    /// The end of its entries.
    end: usize,
}

impl<'a> Coded<'a> {
    /// Returns the number of features of a basis; `None` if there is no such basis.
    #[inline(always)]
    pub(crate) fn len(self, view: usize) -> Option<usize> {
        self.views.get(view).map(|view| view.len)
    }

    /// Returns the active features by a basis, which must be there.
    #[inline(always)]
    pub(crate) fn row(self, view: usize) -> Row<'a> {
        let start = if view == 0 { 0 } else { self.views[view - 1].end };
        Row::of(&self.entries[start..self.views[view].end])
    }
}

/// States with their features by several bases.
///
/// Learners whose parts have these bases as their [`Features`](crate::Features), each [at its place](Observed::at), learn from them as from the
/// observations, to the bit, but nothing is computed twice.
#[derive(Clone, Debug, Default)]
pub struct CodedStates {
    bases: Vec<Observed>,
    entries: Vec<(usize, f64)>,
    views: Vec<View>,
    /// Where the entries of each state start.
    starts: Vec<usize>,
}

impl CodedStates {
    /// No states yet, by these bases. An observation must be checked against all of them before it is added.
    pub fn new(bases: Vec<Observed>) -> Self {
        Self { bases, ..Self::default() }
    }

    /// Returns the number of states.
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// Whether there are no states.
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// Returns the number of active features of all states together.
    pub fn features(&self) -> usize {
        self.entries.len()
    }

    /// Removes all states.
    pub fn clear(&mut self) {
        self.entries.clear();
        self.views.clear();
        self.starts.clear();
    }

    /// Adds a state, and returns its number.
    pub fn push(&mut self, observation: &[f64]) -> usize {
        let start = self.entries.len();
        for base in &self.bases {
            base.basis().write(observation, &mut self.entries);
            self.views.push(View { len: base.basis().len(), end: self.entries.len() - start });
        }
        self.starts.push(start);
        self.starts.len() - 1
    }

    /// Returns a state, which must be there.
    #[inline(always)]
    pub fn get(&self, number: usize) -> State<'_> {
        let bases = self.bases.len();
        let views = &self.views[number * bases..(number + 1) * bases];
        let end = self.starts.get(number + 1).copied().unwrap_or(self.entries.len());
        State::Coded(Coded { entries: &self.entries[self.starts[number]..end], views })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BasisRecipe, Features};

    #[test]
    fn coded_states_have_the_rows_of_their_observations() {
        let of = |kind: &str, name: &str, x: f64| {
            BasisRecipe::new(kind).with("low", [0.0, 0.0]).with("high", [1.0, 1.0]).with(name, x)
        };
        let recipes = [of("tiles", "tiles", 3.0).with("tilings", 4.0), of("polynomial", "degree", 2.0)];
        let features = recipes.map(|recipe| recipe.build().unwrap());
        let bases: Vec<Observed> = features
            .iter()
            .enumerate()
            .map(|(k, features)| match features {
                Features::Observed(observed) => observed.clone().at(k),
                _ => unreachable!("a basis makes such features"),
            })
            .collect();
        let mut states = CodedStates::new(bases.clone());
        let observations = [[0.1, 0.9], [0.5, 0.5], [1.0, 0.0]];
        observations.iter().for_each(|observation| {
            states.push(observation);
        });
        for (number, observation) in observations.iter().enumerate() {
            for base in &bases {
                let features = Features::Observed(base.clone());
                features.check(states.get(number)).unwrap();
                let (mut one, mut other) = (features.scratch(), features.scratch());
                let coded = features.row(states.get(number), &mut one);
                assert_eq!(coded, features.row(State::Vector(observation), &mut other));
            }
        }
        // A basis that is not among them, or has another place, is refused.
        let other = Features::Observed(bases[0].clone().at(1));
        assert!(other.check(states.get(0)).is_err());
        assert!(Features::Observed(bases[0].clone().at(2)).check(states.get(0)).is_err());
    }
}
