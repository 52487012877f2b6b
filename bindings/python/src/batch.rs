//! Batches of transitions, as columns.

use crate::learner::BoxedLearner;
use crate::settings::StateForm;
use emphatic::{Action, Isa, LearnError, Real, State, Step};
use numpy::{PyReadonlyArrayDyn, PyUntypedArrayMethods};
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// How many steps are read at once: few enough for the processor's cache.
const STEPS_AT_ONCE: usize = 256;

/// The states of many steps.
#[derive(Clone, Copy)]
pub(crate) enum States<'a> {
    Vectors { numbers: &'a [f64], width: usize },
    Active { features: &'a [usize], width: usize },
    Numbers(&'a [usize]),
}

impl<'a> States<'a> {
    /// The state of one step.
    #[inline(always)]
    pub(crate) fn at(&self, t: usize) -> State<'a> {
        match *self {
            Self::Vectors { numbers, width } => State::Vector(&numbers[t * width..(t + 1) * width]),
            Self::Active { features, width } => State::Active(&features[t * width..(t + 1) * width]),
            Self::Numbers(numbers) => State::Number(numbers[t]),
        }
    }
}

/// The actions of many steps.
#[derive(Clone, Copy)]
pub(crate) enum Actions<'a> {
    Numbers(&'a [usize]),
    Reals(&'a [f64]),
}

impl Actions<'_> {
    #[inline(always)]
    pub(crate) fn at(&self, t: usize) -> Action {
        match *self {
            Self::Numbers(all) => Action::Number(all[t]),
            Self::Reals(all) => Action::Real(all[t]),
        }
    }
}

/// The columns of a batch.
#[derive(Clone, Copy)]
pub(crate) struct Columns<'a> {
    pub(crate) x: States<'a>,
    action: Actions<'a>,
    reward: &'a [f64],
    x_next: States<'a>,
    mu: &'a [f64],
    gamma: &'a [f64],
    gamma_next: &'a [f64],
    interest: &'a [f64],
    /// Whether a time limit cut the episode after the step.
    truncated: &'a [bool],
}

impl<'a> Columns<'a> {
    pub(crate) fn len(&self) -> usize {
        self.reward.len()
    }

    /// The discount into the state after a step: 0 after a time limit, so that the traces start afresh.
    pub(crate) fn gamma_after(&self, t: usize) -> f64 {
        if self.truncated[t] { 0.0 } else { self.gamma_next[t] }
    }

    #[inline(always)]
    pub(crate) fn step(&self, t: usize) -> Step<State<'a>, Action> {
        Step {
            state: self.x.at(t),
            action: self.action.at(t),
            mu: self.mu[t],
            reward: self.reward[t],
            next: self.x_next.at(t),
            gamma: self.gamma[t],
            gamma_next: self.gamma_next[t],
            interest: self.interest[t],
        }
    }
}

impl<R: Real> BoxedLearner<R> {
    /// Learns from a range of a batch's steps.
    pub(crate) fn learn(&mut self, columns: &Columns, range: Range<usize>) -> PyResult<()> {
        let mut steps = Vec::with_capacity(STEPS_AT_ONCE.min(range.len()));
        for start in range.clone().step_by(STEPS_AT_ONCE) {
            steps.clear();
            steps.extend((start..range.end.min(start + STEPS_AT_ONCE)).map(|t| columns.step(t)));
            let in_batch = |mut error: LearnError| {
                error.index += start;
                error
            };
            self.call(|learner| learner.learn(Isa::best(), &steps).map_err(in_batch))?;
        }
        Ok(())
    }
}

/// Reads the user's arrays. Another thread may write to them after they were checked, so an index may be out of range: that panic
/// becomes an exception.
pub(crate) fn unless_changed<T>(read: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|_| {
        Err(PyRuntimeError::new_err(
            "the batch was changed while it was learned from; no other thread may write to its arrays meanwhile",
        ))
    })
}

type Reals<'py> = PyReadonlyArrayDyn<'py, f64>;

/// An array of real or of whole numbers.
#[derive(FromPyObject)]
pub(crate) enum Numbers<'py> {
    Reals(Reals<'py>),
    Whole(PyReadonlyArrayDyn<'py, isize>),
}

impl Numbers<'_> {
    /// The number of rows, and of numbers in each row.
    fn shape(&self) -> (usize, usize) {
        let shape = match self {
            Self::Reals(array) => array.shape(),
            Self::Whole(array) => array.shape(),
        };
        (shape.first().copied().unwrap_or(0), shape.get(1).copied().unwrap_or(1))
    }

    pub(crate) fn rows(&self) -> usize {
        self.shape().0
    }

    pub(crate) fn states(&self, form: StateForm) -> PyResult<States<'_>> {
        let width = self.shape().1;
        Ok(match (self, form) {
            (Self::Reals(x), StateForm::Vector) => States::Vectors { numbers: x.as_slice()?, width },
            (Self::Whole(x), StateForm::Active) => States::Active { features: indices(x.as_slice()?), width },
            (Self::Whole(x), StateForm::Number) => States::Numbers(indices(x.as_slice()?)),
            _ => return Err(PyTypeError::new_err("x is of another kind than the learner's features")),
        })
    }

    pub(crate) fn actions(&self) -> PyResult<Actions<'_>> {
        match self {
            Self::Reals(array) => Ok(Actions::Reals(array.as_slice()?)),
            Self::Whole(array) => Ok(Actions::Numbers(indices(array.as_slice()?))),
        }
    }
}

/// Reads whole numbers as indices. A negative number becomes a huge one, which is out of range too.
fn indices(numbers: &[isize]) -> &[usize] {
    bytemuck::cast_slice(numbers)
}

/// The arrays of a Python `Batch`, which has checked their types and shapes.
#[derive(FromPyObject)]
pub(crate) struct BatchArrays<'py> {
    x: Numbers<'py>,
    action: Numbers<'py>,
    reward: Reals<'py>,
    x_next: Numbers<'py>,
    mu: Reals<'py>,
    gamma: Reals<'py>,
    gamma_next: Reals<'py>,
    interest: Reals<'py>,
    truncated: PyReadonlyArrayDyn<'py, bool>,
}

impl BatchArrays<'_> {
    pub(crate) fn columns(&self, form: StateForm) -> PyResult<Columns<'_>> {
        let len = self.reward.len();
        let reals = [&self.mu, &self.gamma, &self.gamma_next, &self.interest].map(|column| column.len());
        let rows = [self.x.rows(), self.x_next.rows(), self.action.rows(), self.truncated.len()];
        if reals.iter().chain(&rows).any(|rows| *rows != len) {
            return Err(PyValueError::new_err("the batch's columns have different lengths"));
        }
        Ok(Columns {
            x: self.x.states(form)?,
            action: self.action.actions()?,
            reward: self.reward.as_slice()?,
            x_next: self.x_next.states(form)?,
            mu: self.mu.as_slice()?,
            gamma: self.gamma.as_slice()?,
            gamma_next: self.gamma_next.as_slice()?,
            interest: self.interest.as_slice()?,
            truncated: self.truncated.as_slice()?,
        })
    }
}
