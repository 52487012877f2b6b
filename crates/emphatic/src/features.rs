//! Features of states: the active features of a state with their values.
//!
//! Actor, critic and emphasis may each have their own features of the same state.

use crate::Real;
use crate::basis::{Coded, Observed};
use crate::saved_state::digest;
use std::fmt;
use std::sync::Arc;
use thiserror::Error;

/// A state that the features cannot describe.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
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
    /// An observation of another length than the basis has dimensions.
    #[error("an observation has {got} entries; it must have {len}")]
    ObservationLength {
        /// The length of the observation given.
        got: usize,
        /// The length it must have.
        len: usize,
    },
    /// An entry of an observation that is not finite.
    #[error("entry {index} of the observation is {value}; it must be finite")]
    ObservationValue {
        /// Its place.
        index: usize,
        /// Its value.
        value: f64,
    },
    /// More features at once than were declared.
    #[error(
        "{got} features are active at once; at most {most} may be, since the step-size is divided by that number"
    )]
    TooMany {
        /// How many are active.
        got: usize,
        /// How many may be.
        most: usize,
    },
    /// A state in another form than that of the features.
    #[error("a state comes as {got}; these features are of {right}")]
    Kind {
        /// The form it was given in.
        got: &'static str,
        /// The form it must have.
        right: &'static str,
    },
    /// An entry of an observation that is out of bounds.
    #[error(
        "entry {index} of the observation is {value}, outside of the bounds {low} to {high} of `{basis}`"
    )]
    Outside {
        /// Its place.
        index: usize,
        /// Its value.
        value: f64,
        /// The lower bound.
        low: f64,
        /// The upper bound.
        high: f64,
        /// The basis that has these bounds.
        basis: &'static str,
    },
    /// An entry of an observation that is not one of the whole numbers it may be.
    #[error(
        "entry {index} of the observation is {value}; it must be a whole number between {low} and {high}"
    )]
    NotWhole {
        /// Its place.
        index: usize,
        /// Its value.
        value: f64,
        /// The least that it may be.
        low: f64,
        /// The largest.
        high: f64,
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

/// A state as experience has it, from which each part computes its own features.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum State<'a> {
    /// Its number.
    Number(usize),
    /// A vector of features.
    Vector(&'a [f64]),
    /// A list of active features, each with the value one (tile coding).
    Active(&'a [usize]),
    /// An observation of which the features have been computed, by every basis that parts have.
    Coded(Coded<'a>),
}

impl State<'_> {
    /// Its name in messages.
    fn kind(&self) -> &'static str {
        match self {
            Self::Number(_) => "a state's number",
            Self::Vector(_) => "a vector of features",
            Self::Active(_) => "a list of active features",
            Self::Coded(_) => "features of other bases",
        }
    }
}

/// Types that represent a state.
pub trait AsState {
    /// Returns the state.
    fn as_state(&self) -> State<'_>;
}

macro_rules! as_state {
    ($(($($const:tt)*) $type:ty => |$this:ident| $state:expr;)*) => {
        $(impl<$($const)*> AsState for $type {
            #[inline(always)]
            fn as_state(&self) -> State<'_> {
                let $this = self;
                $state
            }
        })*
    };
}
as_state! {
    () State<'_> => |state| *state;
    () usize => |number| State::Number(*number);
    () [f64] => |vector| State::Vector(vector);
    () Vec<f64> => |vector| State::Vector(vector);
    (const N: usize) [f64; N] => |vector| State::Vector(vector);
    () [usize] => |active| State::Active(active);
    () Vec<usize> => |active| State::Active(active);
    (const N: usize) [usize; N] => |active| State::Active(active);
}

impl<S: AsState + ?Sized> AsState for &S {
    #[inline(always)]
    fn as_state(&self) -> State<'_> {
        (**self).as_state()
    }
}

/// An active feature and its value.
type Active = (usize, f64);

/// The active features of a state, with their values.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Row<'a> {
    entries: &'a [Active],
    /// Whether it is one feature with the value one, as in a table of states.
    is_one: bool,
}

impl<'a> Row<'a> {
    /// Features with their values.
    #[inline(always)]
    pub fn of(entries: &'a [(usize, f64)]) -> Self {
        Self { entries, is_one: false }
    }

    /// The number of active features.
    #[inline(always)]
    pub fn len(self) -> usize {
        self.entries.len()
    }

    /// Whether no feature is active.
    #[inline(always)]
    pub fn is_empty(self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the feature if there is just one and its value is one: then no loop and no product is needed. (`None` in lanes,
    /// where the loop makes no difference, and one piece of code compiles faster than two.)
    #[inline(always)]
    pub(crate) fn one<R: Real>(self) -> Option<usize> {
        if R::LANES == 1 && self.is_one { Some(self.entries[0].0) } else { None }
    }

    /// The active features and their values.
    #[inline(always)]
    pub fn iter(self) -> impl Iterator<Item = (usize, f64)> + Clone + use<'a> {
        self.entries.iter().copied()
    }

    /// The same, two by two, and the one that is left over.
    #[inline(always)]
    pub(crate) fn by_twos(self) -> (&'a [[Active; 2]], &'a [Active]) {
        self.entries.as_chunks()
    }
}

/// Room for the rows of states that do not come from a table.
#[derive(Debug, Default)]
pub struct Scratch(Vec<(usize, f64)>);

impl Clone for Scratch {
    /// Empty, with the same capacity.
    fn clone(&self) -> Self {
        Self(Vec::with_capacity(self.0.capacity()))
    }
}

/// The features that a part has of a state.
#[derive(Clone, Debug, PartialEq)]
pub enum Features {
    /// States come as vectors of features. All features count as active.
    Dense {
        /// The length of the vectors.
        len: usize,
    },
    /// States come as lists of active features, each with the value one (tile coding).
    Active {
        /// The number of features.
        len: usize,
        /// How many are active at once (the number of tilings).
        most_active: usize,
    },
    /// States come as numbers, and their features are written out in a table.
    Table(Arc<Table>),
    /// States come as observations, vectors of numbers, of which a basis computes the features.
    Observed(Observed),
}

impl Features {
    /// Vectors of this length.
    pub fn dense(len: usize) -> Self {
        Self::Dense { len }
    }

    /// Lists of at most `most_active` out of `len` features.
    pub fn active(len: usize, most_active: usize) -> Self {
        Self::Active { len, most_active }
    }

    /// One feature for each state: the tabular case.
    pub fn one_hot(states: usize) -> Self {
        Table::one_hot(states).into()
    }

    /// The number of features.
    #[inline(always)]
    pub fn len(&self) -> usize {
        match self {
            Self::Dense { len } | Self::Active { len, .. } => *len,
            Self::Table(table) => table.len,
            Self::Observed(observed) => observed.len(),
        }
    }

    /// Whether there are no features at all.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of features by which step-sizes are divided: the most that are active at once.
    pub fn most_active(&self) -> usize {
        match self {
            Self::Dense { len } => (*len).max(1),
            Self::Active { most_active, .. } => (*most_active).max(1),
            Self::Table(table) => table.most_active,
            Self::Observed(observed) => observed.basis().most_active().max(1),
        }
    }

    /// Whether every state lists all features, in their order.
    #[inline(always)]
    pub(crate) fn are_dense(&self) -> bool {
        match self {
            Self::Dense { .. } => true,
            Self::Observed(observed) => observed.is_dense(),
            Self::Active { .. } | Self::Table(_) => false,
        }
    }

    /// Returns an error if the features cannot describe this state; everything else may assume that they can.
    #[inline(always)]
    pub fn check(&self, state: State) -> Result<(), FeatureError> {
        match (self, state) {
            (Self::Table(table), State::Number(state)) => check_state(state, table.states()),
            (Self::Dense { len }, State::Vector(vector)) => check_vector(vector, *len),
            (Self::Active { len, most_active }, State::Active(list)) => {
                if list.len() > *most_active {
                    return Err(FeatureError::TooMany { got: list.len(), most: *most_active });
                }
                list.iter().try_for_each(|&index| check_index(index, *len))
            }
            (Self::Observed(observed), State::Vector(observation)) => {
                check_vector(observation, observed.basis().dimensions()).map_err(of_observation)?;
                observed.basis().check(observation)
            }
            (Self::Observed(observed), State::Coded(coded))
                if coded.len(observed.view()) == Some(observed.len()) =>
            {
                Ok(())
            }
            _ => Err(self.wrong_kind(state)),
        }
    }

    #[cold]
    fn wrong_kind(&self, state: State) -> FeatureError {
        let right = match self {
            Self::Table(_) => State::Number(0),
            Self::Dense { .. } | Self::Observed(_) => State::Vector(&[]),
            Self::Active { .. } => State::Active(&[]),
        };
        FeatureError::Kind { got: state.kind(), right: right.kind() }
    }

    /// Returns room for a row, so that no step allocates.
    pub fn scratch(&self) -> Scratch {
        Scratch(match self {
            Self::Dense { len } => Vec::with_capacity(*len),
            // A list is not longer than there are features, unless some are listed twice.
            Self::Active { len, most_active } => Vec::with_capacity((*most_active).min(*len)),
            Self::Observed(observed) => Vec::with_capacity(observed.basis().most_active()),
            Self::Table(_) => Vec::new(),
        })
    }

    /// Returns the active features of a state that has been checked. Those that do not come from a table are written to
    /// `scratch`.
    #[inline(always)]
    pub fn row<'a>(&'a self, state: State<'a>, scratch: &'a mut Scratch) -> Row<'a> {
        if let (Self::Table(table), State::Number(state)) = (self, state) {
            return table.row(state);
        }
        if let (Self::Observed(observed), State::Coded(coded)) = (self, state) {
            return coded.row(observed.view());
        }
        scratch.0.clear();
        match state {
            State::Vector(vector) if let Self::Observed(observed) = self => {
                observed.basis().write(vector, &mut scratch.0);
            }
            State::Vector(vector) => scratch.0.extend(vector.iter().copied().enumerate()),
            State::Active(list) => scratch.0.extend(list.iter().map(|&index| (index, 1.0))),
            State::Number(_) | State::Coded(_) => {}
        }
        Row { entries: &scratch.0, is_one: false }
    }

    /// Returns the active features of a numbered state that has been checked.
    #[inline(always)]
    pub fn of_number(&self, state: usize) -> Row<'_> {
        if let Self::Table(table) = self { table.row(state) } else { Row::default() }
    }
}

impl fmt::Display for Features {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Dense { len } => write!(f, "vectors of {len} features"),
            Self::Active { len, most_active } => write!(f, "at most {most_active} of {len} features at once"),
            Self::Table(table) => {
                let starts = table.starts.iter().map(|start| *start as u64);
                let entries = table.entries.iter().flat_map(|(f, x)| [*f as u64, x.to_bits()]);
                let (states, len) = (table.states(), table.len);
                write!(
                    f,
                    "a table of {states} states and {len} features (digest {:016x})",
                    digest(starts.chain(entries))
                )
            }
            Self::Observed(observed) => write!(f, "{}", observed.recipe()),
        }
    }
}

impl From<Table> for Features {
    fn from(table: Table) -> Self {
        Self::Table(Arc::new(table))
    }
}

impl From<&Table> for Features {
    fn from(table: &Table) -> Self {
        table.clone().into()
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
    /// Whether every state has one feature, with the value one.
    all_one: bool,
}

impl Table {
    /// A table from each state's active features and their values.
    pub fn new(len: usize, rows: &[Vec<(usize, f64)>]) -> Result<Self, FeatureError> {
        let mut table = Self { len, most_active: 1, starts: vec![0], entries: Vec::new(), all_one: false };
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
        table.all_one = table.starts.iter().enumerate().all(|(state, start)| state == *start)
            && table.entries.iter().all(|(_, value)| *value == 1.0);
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
            all_one: true,
        }
    }

    /// One feature for each state.
    pub fn one_hot(states: usize) -> Self {
        Self::aliased(&(0..states).collect::<Vec<_>>())
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

    /// The number of features.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no features at all.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The most features that a state has at once.
    pub fn most_active(&self) -> usize {
        self.most_active
    }

    /// Returns the active features of a state, which must exist.
    #[inline(always)]
    pub fn row(&self, state: usize) -> Row<'_> {
        if self.all_one {
            return Row { entries: std::slice::from_ref(&self.entries[state]), is_one: true };
        }
        Row { entries: &self.entries[self.starts[state]..self.starts[state + 1]], is_one: false }
    }

    /// Returns the active features of a state, which must exist, and their values.
    #[inline(always)]
    pub fn active(&self, state: usize) -> impl Iterator<Item = (usize, f64)> + Clone {
        self.row(state).iter()
    }
}

#[inline(always)]
fn check_vector(vector: &[f64], len: usize) -> Result<(), FeatureError> {
    if vector.len() != len {
        return Err(FeatureError::Length { got: vector.len(), len });
    }
    // Without a branch for each: the usual case is that all are.
    if vector.iter().fold(true, |all, value| all & value.is_finite()) {
        return Ok(());
    }
    vector.iter().enumerate().try_for_each(|(index, &value)| check_value(index, value))
}

/// The same error of an observation as of a vector of features.
#[cold]
fn of_observation(error: FeatureError) -> FeatureError {
    match error {
        FeatureError::Length { got, len } => FeatureError::ObservationLength { got, len },
        FeatureError::Value { index, value } => FeatureError::ObservationValue { index, value },
        other => other,
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

    fn seen(features: &Features, state: impl AsState) -> Vec<(usize, f64)> {
        features.row(state.as_state(), &mut Scratch::default()).iter().collect()
    }

    #[test]
    fn each_kind_lists_its_active_features() {
        assert_eq!(seen(&Features::one_hot(3), 2), [(2, 1.0)]);
        assert_eq!(seen(&Features::dense(2), [0.5, -1.0]), [(0, 0.5), (1, -1.0)]);
        assert_eq!(seen(&Features::active(9, 2), [7, 3]), [(7, 1.0), (3, 1.0)]);
        let aliased = Features::from(Table::aliased(&[0, 1, 1]));
        assert_eq!((seen(&aliased, 1), seen(&aliased, 2)), (vec![(1, 1.0)], vec![(1, 1.0)]));
        let table = Table::dense(&[vec![1.0, 0.0, 2.0], vec![0.0, 3.0, 0.0]]).unwrap();
        assert_eq!((table.states(), table.len(), table.most_active()), (2, 3, 2));
        let table = Features::from(table);
        assert_eq!((seen(&table, 0), seen(&table, 1)), (vec![(0, 1.0), (2, 2.0)], vec![(1, 3.0)]));
        let table = Features::from(Table::new(2, &[vec![], vec![(1, 2.0), (0, 0.0)]]).unwrap());
        assert_eq!((seen(&table, 0), seen(&table, 1)), (vec![], vec![(1, 2.0)]));
    }

    #[test]
    fn what_cannot_be_described_is_refused_by_name() {
        let check = |features: &Features, state: &dyn AsState| features.check(state.as_state());
        let tiles = Features::active(9, 2);
        assert_eq!(check(&Features::one_hot(3), &3), Err(FeatureError::State { state: 3, states: 3 }));
        assert_eq!(check(&Features::dense(2), &[1.0]), Err(FeatureError::Length { got: 1, len: 2 }));
        let nan = check(&Features::dense(1), &[f64::NAN]);
        assert!(matches!(nan, Err(FeatureError::Value { index: 0, .. })));
        let error = check(&tiles, &[1, 9]).unwrap_err();
        assert_eq!(error.to_string(), "feature 9 does not exist: there are 9 features, numbered from 0");
        assert_eq!(check(&tiles, &[1, 2, 3]), Err(FeatureError::TooMany { got: 3, most: 2 }));
        let error = check(&tiles, &1).unwrap_err();
        let right = "a state comes as a state's number; these features are of a list of active features";
        assert_eq!(error.to_string(), right);
        assert_eq!(Table::new(1, &[vec![(1, 1.0)]]), Err(FeatureError::Index { index: 1, len: 1 }));
        assert_eq!(Table::dense(&[vec![1.0], vec![]]), Err(FeatureError::Length { got: 0, len: 1 }));
    }
}
