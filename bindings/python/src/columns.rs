//! Transitions as columns: what a batch is to the native code.

use crate::settings::Sight;
use emphatic::Step;
use numpy::{PyReadonlyArrayDyn, PyUntypedArrayMethods};
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What is seen of one state.
#[derive(Clone, Copy)]
pub(crate) enum Seen<'a> {
    Vector(&'a [f64]),
    Active(&'a [usize]),
    Number(&'a usize),
}

/// What is seen of the states of many steps, one after the other.
#[derive(Clone, Copy)]
pub(crate) enum States<'a> {
    Vectors(&'a [f64], usize),
    Active(&'a [usize], usize),
    Numbers(&'a [usize]),
}

impl<'a> States<'a> {
    /// The state of one step.
    pub(crate) fn at(&self, t: usize) -> Seen<'a> {
        match *self {
            Self::Vectors(all, width) => Seen::Vector(<[f64]>::at((all, width), t)),
            Self::Active(all, width) => Seen::Active(<[usize]>::at((all, width), t)),
            Self::Numbers(all) => Seen::Number(&all[t]),
        }
    }
}

/// The actions of many steps.
#[derive(Clone, Copy)]
pub(crate) enum Actions<'a> {
    Numbers(&'a [usize]),
    Reals(&'a [f64]),
}

/// Many steps.
#[derive(Clone, Copy)]
pub(crate) struct Columns<'a> {
    pub(crate) x: States<'a>,
    pub(crate) action: Actions<'a>,
    pub(crate) reward: &'a [f64],
    pub(crate) x_next: States<'a>,
    pub(crate) mu: &'a [f64],
    pub(crate) gamma: &'a [f64],
    pub(crate) gamma_next: &'a [f64],
    pub(crate) interest: &'a [f64],
    /// Where a time limit cut an episode.
    truncated: &'a [bool],
}

impl Columns<'_> {
    pub(crate) fn len(&self) -> usize {
        self.reward.len()
    }

    /// The discount into the state after a step: after a time limit the traces start afresh.
    pub(crate) fn gamma_after(&self, t: usize) -> f64 {
        if self.truncated[t] { 0.0 } else { self.gamma_next[t] }
    }
}

/// The types in which features see a state.
pub(crate) trait State {
    /// Many of them.
    type Column<'a>: Copy;

    fn one<'a>(seen: Seen<'a>) -> Option<&'a Self>;

    fn column<'a>(states: States<'a>) -> Option<Self::Column<'a>>;

    fn at<'a>(column: Self::Column<'a>, t: usize) -> &'a Self;
}

impl State for [f64] {
    type Column<'a> = (&'a [f64], usize);

    fn one<'a>(seen: Seen<'a>) -> Option<&'a Self> {
        if let Seen::Vector(x) = seen { Some(x) } else { None }
    }

    fn column<'a>(states: States<'a>) -> Option<Self::Column<'a>> {
        if let States::Vectors(all, width) = states { Some((all, width)) } else { None }
    }

    #[inline(always)]
    fn at<'a>((all, width): Self::Column<'a>, t: usize) -> &'a Self {
        &all[t * width..(t + 1) * width]
    }
}

impl State for [usize] {
    type Column<'a> = (&'a [usize], usize);

    fn one<'a>(seen: Seen<'a>) -> Option<&'a Self> {
        if let Seen::Active(x) = seen { Some(x) } else { None }
    }

    fn column<'a>(states: States<'a>) -> Option<Self::Column<'a>> {
        if let States::Active(all, width) = states { Some((all, width)) } else { None }
    }

    #[inline(always)]
    fn at<'a>((all, width): Self::Column<'a>, t: usize) -> &'a Self {
        &all[t * width..(t + 1) * width]
    }
}

impl State for usize {
    type Column<'a> = &'a [usize];

    fn one<'a>(seen: Seen<'a>) -> Option<&'a Self> {
        if let Seen::Number(x) = seen { Some(x) } else { None }
    }

    fn column<'a>(states: States<'a>) -> Option<&'a [usize]> {
        if let States::Numbers(all) = states { Some(all) } else { None }
    }

    #[inline(always)]
    fn at<'a>(all: Self::Column<'a>, t: usize) -> &'a Self {
        &all[t]
    }
}

/// The types of actions.
pub(crate) trait Action: Copy {
    fn one(action: OneAction) -> Option<Self>;

    fn column<'a>(actions: Actions<'a>) -> Option<&'a [Self]>;
}

/// The action of one step.
#[derive(Clone, Copy)]
pub(crate) enum OneAction {
    Number(usize),
    Real(f64),
}

impl Action for usize {
    fn one(action: OneAction) -> Option<Self> {
        if let OneAction::Number(a) = action { Some(a) } else { None }
    }

    fn column<'a>(actions: Actions<'a>) -> Option<&'a [Self]> {
        if let Actions::Numbers(all) = actions { Some(all) } else { None }
    }
}

impl Action for f64 {
    fn one(action: OneAction) -> Option<Self> {
        if let OneAction::Real(a) = action { Some(a) } else { None }
    }

    fn column<'a>(actions: Actions<'a>) -> Option<&'a [Self]> {
        if let Actions::Reals(all) = actions { Some(all) } else { None }
    }
}

/// Columns of the types that a learner has.
pub(crate) struct Typed<'a, S: State + ?Sized, A> {
    x: S::Column<'a>,
    x_next: S::Column<'a>,
    action: &'a [A],
    numbers: Columns<'a>,
}

impl<'a, S: State + ?Sized, A: Action> Typed<'a, S, A> {
    pub(crate) fn new(columns: Columns<'a>) -> PyResult<Self> {
        let wrong =
            || PyTypeError::new_err("the batch's x or actions are of another kind than the learner's");
        Ok(Self {
            x: S::column(columns.x).ok_or_else(wrong)?,
            x_next: S::column(columns.x_next).ok_or_else(wrong)?,
            action: A::column(columns.action).ok_or_else(wrong)?,
            numbers: columns,
        })
    }

    #[inline(always)]
    pub(crate) fn step(&self, t: usize) -> Step<&'a S, A> {
        let Columns { reward, mu, gamma, gamma_next, interest, .. } = self.numbers;
        Step {
            state: S::at(self.x, t),
            action: self.action[t],
            mu: mu[t],
            reward: reward[t],
            next: S::at(self.x_next, t),
            gamma: gamma[t],
            gamma_next: gamma_next[t],
            interest: interest[t],
        }
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
