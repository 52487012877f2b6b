//! What a part sees of a state: a few active features with their values.
//!
//! Actor, critic and emphasis may each look at their own features of the same state.

use thiserror::Error;

/// A state that the features cannot describe.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum FeatureError {
    /// The state's number is too large.
    #[error("state {state} does not exist: there are {states} states, numbered from 0")]
    State {
        /// The state asked for.
        state: usize,
        /// How many there are.
        states: usize,
    },
    /// An active feature's number is too large.
    #[error("feature {index} does not exist: there are {len} features, numbered from 0")]
    Index {
        /// The feature asked for.
        index: usize,
        /// How many there are.
        len: usize,
    },
    /// A dense feature vector of another length.
    #[error("a feature vector has {got} entries; it must have {len}")]
    Length {
        /// The length of the vector given.
        got: usize,
        /// The length it must have.
        len: usize,
    },
    /// More features at once than was said.
    #[error(
        "{got} features are active at once; at most {most} may be, since the step-size is divided by that number"
    )]
    TooMany {
        /// How many are active.
        got: usize,
        /// How many may be.
        most: usize,
    },
    /// A feature that is not a number.
    #[error("feature {index} is {value}; features must be finite")]
    Value {
        /// The feature.
        index: usize,
        /// Its value.
        value: f64,
    },
}

/// A description of states by features.
pub trait Features {
    /// What is seen of a state: its number, a vector, a list of indices.
    type State: ?Sized;

    /// Whether every state lists all features, in their order.
    const ALL: bool = false;

    /// The number of features.
    fn len(&self) -> usize;

    /// Whether there are no features at all.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of features by which step-sizes are divided: the most that are active at once.
    fn most_active(&self) -> usize;

    /// Whether this state can be described; everything else may assume that it can.
    fn check(&self, state: &Self::State) -> Result<(), FeatureError>;

    /// The active features of a state, with their values.
    fn active(&self, state: &Self::State) -> impl Iterator<Item = (usize, f64)> + Clone;
}

/// A feature for each state: the tabular case.
#[derive(Clone, Debug, PartialEq)]
pub struct OneHot {
    /// The number of states.
    pub states: usize,
}

impl Features for OneHot {
    type State = usize;

    #[inline(always)]
    fn len(&self) -> usize {
        self.states
    }

    #[inline(always)]
    fn most_active(&self) -> usize {
        1
    }

    #[inline(always)]
    fn check(&self, state: &usize) -> Result<(), FeatureError> {
        check_state(*state, self.states)
    }

    #[inline(always)]
    fn active(&self, state: &usize) -> impl Iterator<Item = (usize, f64)> + Clone {
        std::iter::once((*state, 1.0))
    }
}

/// Features of numbered states, written out in a table. States with the same row are aliased.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    len: usize,
    most_active: usize,
    /// Where each state's entries start, and the end of the last.
    starts: Vec<usize>,
    entries: Vec<(usize, f64)>,
}

impl Table {
    /// A table from each state's active features and their values.
    pub fn new(len: usize, rows: &[Vec<(usize, f64)>]) -> Result<Self, FeatureError> {
        let mut table = Self { len, most_active: 1, starts: vec![0], entries: Vec::new() };
        for row in rows {
            for &(index, value) in row {
                check_index(index, len)?;
                check_value(index, value)?;
                if value != 0.0 {
                    table.entries.push((index, value));
                }
            }
            let active = table.entries.len() - table.starts[table.starts.len() - 1];
            table.most_active = table.most_active.max(active);
            table.starts.push(table.entries.len());
        }
        Ok(table)
    }

    /// One feature for each group: state `s` has the single feature `groups[s]`.
    ///
    /// ```
    /// // The counterexample: S1 and S2 look the same.
    /// let aliased = emphatic::Table::aliased(&[0, 1, 1]);
    /// ```
    pub fn aliased(groups: &[usize]) -> Self {
        Self {
            len: groups.iter().max().map_or(0, |most| most.saturating_add(1)),
            most_active: 1,
            starts: (0..=groups.len()).collect(),
            entries: groups.iter().map(|&group| (group, 1.0)).collect(),
        }
    }

    /// A table from each state's feature vector; all must have the same length.
    pub fn dense(rows: &[Vec<f64>]) -> Result<Self, FeatureError> {
        let len = rows.first().map_or(0, Vec::len);
        if let Some(row) = rows.iter().find(|row| row.len() != len) {
            return Err(FeatureError::Length { got: row.len(), len });
        }
        let rows: Vec<_> = rows.iter().map(|row| row.iter().copied().enumerate().collect()).collect();
        Self::new(len, &rows)
    }

    /// The number of states that the table describes.
    #[inline(always)]
    pub fn states(&self) -> usize {
        self.starts.len() - 1
    }
}

impl Features for Table {
    type State = usize;

    #[inline(always)]
    fn len(&self) -> usize {
        self.len
    }

    #[inline(always)]
    fn most_active(&self) -> usize {
        self.most_active
    }

    #[inline(always)]
    fn check(&self, state: &usize) -> Result<(), FeatureError> {
        check_state(*state, self.states())
    }

    #[inline(always)]
    fn active(&self, state: &usize) -> impl Iterator<Item = (usize, f64)> + Clone {
        self.entries[self.starts[*state]..self.starts[*state + 1]].iter().copied()
    }
}

/// States that come as vectors of features. All features count as active.
#[derive(Clone, Debug, PartialEq)]
pub struct Dense {
    /// The length of the vectors.
    pub len: usize,
}

impl Features for Dense {
    type State = [f64];
    const ALL: bool = true;

    #[inline(always)]
    fn len(&self) -> usize {
        self.len
    }

    #[inline(always)]
    fn most_active(&self) -> usize {
        self.len.max(1)
    }

    #[inline(always)]
    fn check(&self, state: &[f64]) -> Result<(), FeatureError> {
        if state.len() != self.len {
            return Err(FeatureError::Length { got: state.len(), len: self.len });
        }
        // Without a branch for each: the usual case is that all are.
        if state.iter().fold(true, |all, value| all & value.is_finite()) {
            return Ok(());
        }
        state.iter().enumerate().try_for_each(|(index, &value)| check_value(index, value))
    }

    #[inline(always)]
    fn active(&self, state: &[f64]) -> impl Iterator<Item = (usize, f64)> + Clone {
        state.iter().copied().enumerate()
    }
}

/// States that come as lists of active features, each with the value one (tile coding).
#[derive(Clone, Debug, PartialEq)]
pub struct Active {
    /// The number of features.
    pub len: usize,
    /// How many are active at once (the number of tilings).
    pub most_active: usize,
}

impl Features for Active {
    type State = [usize];

    #[inline(always)]
    fn len(&self) -> usize {
        self.len
    }

    #[inline(always)]
    fn most_active(&self) -> usize {
        self.most_active.max(1)
    }

    #[inline(always)]
    fn check(&self, state: &[usize]) -> Result<(), FeatureError> {
        if state.len() > self.most_active {
            return Err(FeatureError::TooMany { got: state.len(), most: self.most_active });
        }
        state.iter().try_for_each(|&index| check_index(index, self.len))
    }

    #[inline(always)]
    fn active(&self, state: &[usize]) -> impl Iterator<Item = (usize, f64)> + Clone {
        state.iter().map(|&index| (index, 1.0))
    }
}

#[inline(always)]
pub(crate) fn check_state(state: usize, states: usize) -> Result<(), FeatureError> {
    if state < states { Ok(()) } else { Err(FeatureError::State { state, states }) }
}

#[inline(always)]
fn check_index(index: usize, len: usize) -> Result<(), FeatureError> {
    if index < len { Ok(()) } else { Err(FeatureError::Index { index, len }) }
}

#[inline(always)]
fn check_value(index: usize, value: f64) -> Result<(), FeatureError> {
    if value.is_finite() { Ok(()) } else { Err(FeatureError::Value { index, value }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen<F: Features>(features: &F, state: &F::State) -> Vec<(usize, f64)> {
        features.active(state).collect()
    }

    #[test]
    fn each_kind_lists_its_active_features() {
        assert_eq!(seen(&OneHot { states: 3 }, &2), [(2, 1.0)]);
        assert_eq!(seen(&Dense { len: 2 }, &[0.5, -1.0]), [(0, 0.5), (1, -1.0)]);
        assert_eq!(seen(&Active { len: 9, most_active: 2 }, &[7, 3]), [(7, 1.0), (3, 1.0)]);
        let aliased = Table::aliased(&[0, 1, 1]);
        assert_eq!((seen(&aliased, &1), seen(&aliased, &2)), (vec![(1, 1.0)], vec![(1, 1.0)]));
        let table = Table::dense(&[vec![1.0, 0.0, 2.0], vec![0.0, 3.0, 0.0]]).unwrap();
        assert_eq!((seen(&table, &0), seen(&table, &1)), (vec![(0, 1.0), (2, 2.0)], vec![(1, 3.0)]));
        assert_eq!((table.states(), table.len(), table.most_active()), (2, 3, 2));
    }

    #[test]
    fn what_cannot_be_described_is_refused_by_name() {
        assert_eq!(OneHot { states: 3 }.check(&3), Err(FeatureError::State { state: 3, states: 3 }));
        assert_eq!(Dense { len: 2 }.check(&[1.0]), Err(FeatureError::Length { got: 1, len: 2 }));
        assert!(matches!(Dense { len: 1 }.check(&[f64::NAN]), Err(FeatureError::Value { index: 0, .. })));
        let error = Active { len: 9, most_active: 2 }.check(&[1, 9]).unwrap_err();
        assert_eq!(error.to_string(), "feature 9 does not exist: there are 9 features, numbered from 0");
        assert_eq!(
            Active { len: 9, most_active: 2 }.check(&[1, 2, 3]),
            Err(FeatureError::TooMany { got: 3, most: 2 })
        );
        assert_eq!(Table::new(1, &[vec![(1, 1.0)]]), Err(FeatureError::Index { index: 1, len: 1 }));
        assert_eq!(Table::dense(&[vec![1.0], vec![]]), Err(FeatureError::Length { got: 0, len: 1 }));
    }
}
