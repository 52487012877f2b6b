//! Memory: how much a learner takes, and whether it is available before it is used.
//!
//! Rust ends the process when memory runs out. So what needs much of it first allocates all of it at once and frees it again; if
//! that fails, a `MemoryError` is raised.

use crate::settings::{FeaturesPart, Part, Settings};
use emphatic::catalogue::{Extent, Role, Size};
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use std::borrow::Cow;
use std::hint::black_box;

/// Less than this is not checked.
const LITTLE: f64 = 65536.0;

/// No machine has as much, though some systems promise it.
const TOO_MUCH: f64 = (1_u64 << 45) as f64;

/// JSON takes at most this many times its length in memory while it is parsed: `[],` is short.
pub(crate) const PARSED_JSON: f64 = 40.0;

/// Raises `MemoryError` unless this many bytes are available. `what` begins the message: what does not fit.
pub(crate) fn check(bytes: f64, what: impl FnOnce() -> String) -> PyResult<()> {
    if bytes < LITTLE {
        return Ok(());
    }
    let mut room = Vec::<u8>::new();
    // With the allocator's own share, and small allocations beside it.
    let reserved = room.try_reserve_exact((1.02 * bytes + 1e6) as usize);
    // The compiler may leave out an allocation that is not used.
    black_box(&mut room);
    if reserved.is_ok() && bytes < TOO_MUCH { Ok(()) } else { Err(too_much(what())) }
}

fn too_much(what: String) -> PyErr {
    PyMemoryError::new_err(format!("{what} does not fit into memory"))
}

/// Returns an empty vector with room for `count` numbers.
pub(crate) fn with_capacity(count: usize) -> PyResult<Vec<f64>> {
    let mut numbers = Vec::new();
    numbers.try_reserve_exact(count).map_err(|_| too_much(format!("a list of {count} numbers")))?;
    Ok(numbers)
}

/// Returns zeros for `rows` times `width` numbers.
pub(crate) fn zeros<T: Copy + Default>(rows: usize, width: usize) -> PyResult<Vec<T>> {
    let count = rows.saturating_mul(width);
    let mut numbers = Vec::new();
    numbers
        .try_reserve_exact(count)
        .map_err(|_| too_much(format!("an array of {rows} times {width} numbers")))?;
    numbers.resize(count, T::default());
    Ok(numbers)
}

/// Copies numbers.
pub(crate) fn copied(numbers: &[f64]) -> PyResult<Vec<f64>> {
    let mut copy = with_capacity(numbers.len())?;
    copy.extend_from_slice(numbers);
    Ok(copy)
}

/// The bytes that a learner, or learners in lanes, take. All are upper bounds but for `least_state`. Floating point, which does not overflow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LearnerBytes {
    /// The learner in memory.
    pub(crate) learner: f64,
    /// Its saved state.
    pub(crate) state: f64,
    /// What copying the state takes.
    pub(crate) copy: f64,
    /// The policy's weights.
    pub(crate) weights: f64,
    /// A lower bound of the saved state of one learner.
    pub(crate) least_state: f64,
}

impl Settings {
    /// Returns the bytes that one learner, or learners in lanes, take.
    pub(crate) fn bytes(&self, lanes: usize) -> LearnerBytes {
        let features = self.policy.features.as_ref();
        let (lanes, outputs) = (lanes as f64, self.outputs() as f64);
        let weights = features.map_or(0.0, |features| features.len() as f64) * outputs;
        let mut parts = vec![(Role::Critic, &self.critic), (Role::Emphasis, &self.emphasis)];
        parts.extend(self.actor.as_ref().map(|actor| (Role::Actor, actor)));
        let sizes = parts.into_iter().map(|(role, part)| part.size(role, features, weights, outputs));
        let Size { in_lanes, shared } = sizes.fold(Size::default(), plus);
        let in_lanes = lanes * in_lanes;
        let tables: f64 = self.all_features().map(FeaturesPart::table).sum();
        // Distributions, the advantages of all actions, and a list of the actions.
        let beside = (4.0 * lanes + 1.0) * outputs;
        let state = lanes * weights + in_lanes + shared + outputs;
        LearnerBytes {
            learner: 8.0 * (lanes * weights + in_lanes + shared + beside + tables),
            state: 8.0 * state,
            // Traces are collected first.
            copy: 8.0 * (state + in_lanes),
            weights: 8.0 * lanes * weights,
            least_state: 8.0 * weights,
        }
    }
}

impl Part {
    /// Returns how many numbers the part holds, with the parts inside it, for a policy with these features, weights and outputs.
    fn size(&self, role: Role, policys: Option<&FeaturesPart>, weights: f64, outputs: f64) -> Size {
        let features = self.features.as_ref().or(policys);
        let extent = Extent {
            features: features.map_or(0.0, |features| features.len() as f64),
            states: features.map_or(0.0, FeaturesPart::states),
            actions: outputs,
            weights,
            numbers: &self.numbers,
        };
        let own = self.entry(role).map_or_else(Default::default, |entry| entry.size(&extent));
        let declared = self.entry(role).map_or(&[][..], |entry| entry.inner);
        declared.iter().fold(own, |sum, inner| {
            let default = || Self { kind: inner.default.to_owned(), ..Self::default() };
            let part = self.inner.get(inner.name).map_or_else(|| Cow::Owned(default()), Cow::Borrowed);
            // A schedule is for the features of the part around it; other parts have their own, or the policy's.
            let around = if inner.role == Role::Schedule { features } else { policys };
            plus(sum, part.size(inner.role, around, weights, outputs))
        })
    }
}

fn plus(one: Size, other: Size) -> Size {
    Size { in_lanes: one.in_lanes + other.in_lanes, shared: one.shared + other.shared }
}

impl FeaturesPart {
    /// Returns the number of states, 0 if they have no numbers.
    fn states(&self) -> f64 {
        match self {
            Self::Dense { .. } | Self::Active { .. } | Self::Observed { .. } => 0.0,
            Self::OneHot { states } => *states as f64,
            Self::Table { rows, .. } => rows.len() as f64,
        }
    }

    /// Returns how many numbers the table of features holds, with what it is built from.
    fn table(&self) -> f64 {
        match self {
            Self::Dense { .. } | Self::Active { .. } | Self::Observed { .. } => 0.0,
            Self::OneHot { states } => 4.0 * *states as f64,
            // A vector may have room for twice as many.
            Self::Table { rows, .. } => rows.iter().map(|row| 2.0 + 4.0 * row.len() as f64).sum(),
        }
    }
}
