//! Features of zeros and ones, drawn at random.

use crate::file_error::Mistake;
use crate::located::Located;
use crate::transitions::count;
use crate::values::Whole;
use emphatic::{Random, Table};
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeSet;

/// The most ones in all states together.
const MOST_ONES: u64 = 10_000_000;

/// The number of a run that no experiment has: features share no random numbers with the experience of an experiment that has the
/// same seed.
const RUN: u64 = u64::MAX;

/// Random features: each state has as many ones, at random places, and zeros elsewhere.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RandomBinary {
    /// How many features there are.
    features: Located<Whole>,
    /// How many of them are one in each state.
    ones: Located<Whole>,
    /// What the randomness comes from: the same seed gives the same features everywhere.
    seed: Whole,
}

/// The same, to be drawn more than once: each state has as many ones, at random places, and zeros elsewhere.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DrawnFeatures {
    /// How many features there are.
    features: Located<Whole>,
    /// How many of them are one in each state.
    ones: Located<Whole>,
}

impl RandomBinary {
    /// The features of as many states. By chance, states may look alike.
    pub(crate) fn table(&self, states: usize) -> Result<Table, Mistake> {
        let drawn = DrawnFeatures { features: self.features.clone(), ones: self.ones.clone() };
        drawn.table(states, &mut Random::new(self.seed.0, RUN))
    }
}

impl DrawnFeatures {
    /// How many features there are, and how many of them are one in each state.
    pub fn counts(&self) -> [u64; 2] {
        [self.features.value.0, self.ones.value.0]
    }

    /// Draws the features of as many states. By chance, states may look alike.
    pub fn table(&self, states: usize, random: &mut Random) -> Result<Table, Mistake> {
        let (features, ones) = (count(&self.features, "features")?, count(&self.ones, "ones")?);
        if ones > features {
            let message = format!("{ones} of {features} features cannot be one");
            return Err(Mistake::at(&self.ones.span, message)
                .help(format!("`ones` lies between 1 and {features} here")));
        }
        let all = ones.saturating_mul(states as u64);
        if all > MOST_ONES {
            let message =
                format!("{states} states with {ones} ones each make {all}; at most {MOST_ONES} are possible");
            return Err(Mistake::at(&self.ones.span, message));
        }
        let row =
            |_| places(random, features as usize, ones as usize).into_iter().map(|f| (f, 1.0)).collect();
        let rows: Vec<Vec<(usize, f64)>> = (0..states).map(row).collect();
        Table::new(features as usize, &rows)
            .map_err(|error| Mistake::at(&self.features.span, error.to_string()))
    }
}

/// Different numbers below `n` at random, by Floyd's algorithm.
fn places(random: &mut Random, n: usize, many: usize) -> BTreeSet<usize> {
    let mut chosen = BTreeSet::new();
    for last in n - many..n {
        let place = random.below(last + 1);
        if !chosen.insert(place) {
            chosen.insert(last);
        }
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_is_as_likely() {
        let mut random = Random::new(1, RUN);
        let mut times = [0; 6];
        for _ in 0..6000 {
            let places = places(&mut random, 6, 3);
            assert_eq!(places.len(), 3);
            places.iter().for_each(|&f| times[f] += 1);
        }
        // Half of the draws each, with a standard deviation of 39.
        assert!(times.iter().all(|&n: &i32| (n - 3000).abs() < 200), "{times:?}");
    }
}
