//! Transitions as columns: what a batch is to the native code.

use crate::error::OrRaise;
use crate::in_python::Raised;
use crate::settings::Sight;
use emphatic::{Action, Isa, LearnError, Learner, Real, State, Step};
use numpy::{PyReadonlyArrayDyn, PyUntypedArrayMethods};
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// So many steps are looked at together: few enough to stay in the processor's cache.
const TOGETHER: usize = 256;

/// What is seen of the states of many steps, one after the other.
#[derive(Clone, Copy)]
pub(crate) enum States<'a> {
    Vectors(&'a [f64], usize),
    Active(&'a [usize], usize),
    Numbers(&'a [usize]),
}

impl<'a> States<'a> {
    /// The state of one step.
    #[inline(always)]
    pub(crate) fn at(&self, t: usize) -> State<'a> {
        match *self {
            Self::Vectors(all, width) => State::Vector(&all[t * width..(t + 1) * width]),
            Self::Active(all, width) => State::Active(&all[t * width..(t + 1) * width]),
            Self::Numbers(all) => State::Number(all[t]),
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
    fn at(&self, t: usize) -> Action {
        match *self {
            Self::Numbers(all) => Action::Number(all[t]),
            Self::Reals(all) => Action::Real(all[t]),
        }
    }
}

/// Many steps.
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
    /// Where a time limit cut an episode.
    truncated: &'a [bool],
}

impl<'a> Columns<'a> {
    pub(crate) fn len(&self) -> usize {
        self.reward.len()
    }

    /// The discount into the state after a step: after a time limit the traces start afresh.
    pub(crate) fn gamma_after(&self, t: usize) -> f64 {
        if self.truncated[t] { 0.0 } else { self.gamma_next[t] }
    }

    #[inline(always)]
    fn step(&self, t: usize) -> Step<State<'a>, Action> {
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

    /// Lets a learner, or learners in lanes, learn from some of the steps.
    pub(crate) fn teach<R: Real>(
        &self,
        learner: &mut dyn Learner<R>,
        raised: &Raised,
        range: Range<usize>,
    ) -> PyResult<()> {
        let mut steps = Vec::with_capacity(TOGETHER.min(range.len()));
        for start in range.clone().step_by(TOGETHER) {
            steps.clear();
            steps.extend((start..range.end.min(start + TOGETHER)).map(|t| self.step(t)));
            let in_batch = |mut error: LearnError| {
                error.index += start;
                error
            };
            let learned = learner.learn(Isa::best(), &steps).map_err(in_batch);
            raised.check()?;
            learned.or_raise()?;
        }
        Ok(())
    }
}

/// Learns from arrays, which belong to the user: if another thread writes to them, what was checked need not be what is used, and
/// an index may not exist after all.
pub(crate) fn unless_changed<T>(learn: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    catch_unwind(AssertUnwindSafe(learn)).unwrap_or_else(|_| {
        Err(PyRuntimeError::new_err(
            "the batch was changed while it was learned from; no other thread may write to its arrays meanwhile",
        ))
    })
}

/// NumPy arrays that hold columns, borrowed for reading.
pub(crate) struct Arrays<'py> {
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

type Reals<'py> = PyReadonlyArrayDyn<'py, f64>;

/// An array of real or of whole numbers.
pub(crate) enum Numbers<'py> {
    Reals(Reals<'py>),
    Whole(PyReadonlyArrayDyn<'py, isize>),
}

impl<'py> Numbers<'py> {
    pub(crate) fn new(array: &Bound<'py, PyAny>) -> PyResult<Self> {
        if let Ok(reals) = array.extract::<PyReadonlyArrayDyn<'py, f64>>() {
            return Ok(Self::Reals(reals));
        }
        Ok(Self::Whole(array.extract()?))
    }

    /// The number of rows, and how many numbers each has; one if they are no lists.
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

    pub(crate) fn states(&self, sight: Sight) -> PyResult<States<'_>> {
        let width = self.shape().1;
        match (self, sight) {
            (Self::Reals(array), Sight::Vector) => Ok(States::Vectors(array.as_slice()?, width)),
            (Self::Whole(array), Sight::Active) => Ok(States::Active(whole(array.as_slice()?), width)),
            (Self::Whole(array), Sight::Number) => Ok(States::Numbers(whole(array.as_slice()?))),
            _ => Err(PyTypeError::new_err("x is of another kind than the learner's features")),
        }
    }

    fn actions(&self) -> PyResult<Actions<'_>> {
        match self {
            Self::Reals(array) => Ok(Actions::Reals(array.as_slice()?)),
            Self::Whole(array) => Ok(Actions::Numbers(whole(array.as_slice()?))),
        }
    }
}

/// A negative number becomes a huge one, which does not exist either.
fn whole(numbers: &[isize]) -> &[usize] {
    bytemuck::cast_slice(numbers)
}

impl<'py> Arrays<'py> {
    /// The arrays of a `Batch`, which has checked their types and shapes.
    pub(crate) fn of(batch: &Bound<'py, PyAny>) -> PyResult<Self> {
        let column = |name: &str| batch.getattr(name);
        let reals = |name: &str| -> PyResult<Reals<'py>> { column(name)?.extract() };
        let arrays = Self {
            x: Numbers::new(&column("x")?)?,
            action: Numbers::new(&column("action")?)?,
            reward: reals("reward")?,
            x_next: Numbers::new(&column("x_next")?)?,
            mu: reals("mu")?,
            gamma: reals("gamma")?,
            gamma_next: reals("gamma_next")?,
            interest: reals("interest")?,
            truncated: column("truncated")?.extract()?,
        };
        let len = arrays.reward.len();
        let others =
            [&arrays.mu, &arrays.gamma, &arrays.gamma_next, &arrays.interest].map(|column| column.len());
        let rows = [arrays.x.rows(), arrays.x_next.rows(), arrays.action.rows(), arrays.truncated.len()];
        if others.iter().chain(&rows).any(|rows| *rows != len) {
            return Err(PyValueError::new_err("the batch's columns have different lengths"));
        }
        Ok(arrays)
    }

    pub(crate) fn columns(&self, sight: Sight) -> PyResult<Columns<'_>> {
        Ok(Columns {
            x: self.x.states(sight)?,
            action: self.action.actions()?,
            reward: self.reward.as_slice()?,
            x_next: self.x_next.states(sight)?,
            mu: self.mu.as_slice()?,
            gamma: self.gamma.as_slice()?,
            gamma_next: self.gamma_next.as_slice()?,
            interest: self.interest.as_slice()?,
            truncated: self.truncated.as_slice()?,
        })
    }
}
