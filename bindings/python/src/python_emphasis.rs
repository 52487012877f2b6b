//! Emphases that are written in Python, to try out an idea.
//!
//! One call serves all learners in lanes. An exception is kept until the learner returns to Python; until then the emphasis is NaN.

use crate::learner::shown;
use crate::memory;
use emphatic::catalogue::{Build, Role, Size};
use emphatic::{
    Built, Catalogue, ComposeError, Declaration, Emphasis, Features, Lanes, Part, PartBuilder, Real, Row,
    Seen, StateError, Visitor,
};
use numpy::{PyArray1, PyArrayDyn, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The name of such an emphasis in files.
pub(crate) const KIND: &str = "python";

const DECLARATION: Declaration = Declaration {
    features: true,
    ..Declaration::new(Role::Emphasis, KIND, "PythonEmphasis", "an emphasis that is written in Python")
};

/// The exception that an emphasis in Python has raised; always empty for a learner without one.
#[derive(Clone, Default)]
pub(crate) struct PendingException(Option<Arc<Pending>>);

#[derive(Default)]
struct Pending {
    error: Mutex<Option<PyErr>>,
    /// Whether it was raised in the middle of a step.
    half_way: AtomicBool,
}

impl PendingException {
    /// Raises the exception, if there is one.
    pub(crate) fn check(&self) -> PyResult<()> {
        let Some(pending) = &self.0 else { return Ok(()) };
        pending.error.lock().unwrap_or_else(PoisonError::into_inner).take().map_or(Ok(()), Err)
    }

    /// Whether the learner was left in the middle of a step.
    pub(crate) fn half_way(&self) -> bool {
        self.0.as_ref().is_some_and(|pending| pending.half_way.load(Ordering::Relaxed))
    }

    fn set(&self, error: PyErr, half_way: bool) {
        if let Some(pending) = &self.0 {
            pending.half_way.fetch_or(half_way, Ordering::Relaxed);
            pending.error.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        }
    }
}

/// Returns the catalogue with these Python objects, one for each learner, as an emphasis; the standard one if there are none.
pub(crate) fn catalogue_with(
    emphases: &[&Py<PyAny>],
    features: Option<&Features>,
) -> PyResult<(Catalogue, PendingException)> {
    let standard = Catalogue::standard().clone();
    if emphases.is_empty() {
        return Ok((standard, PendingException::default()));
    }
    let exception = PendingException(Some(Arc::default()));
    let part = Python::attach(|py| PythonPart::new(py, emphases, features.cloned(), exception.clone()))?;
    let emphasis = PythonEmphasis(Arc::new(part));
    Ok((standard.with_builder(DECLARATION, |_| Size::default(), emphasis), exception))
}

/// An emphasis in Python, which also builds itself into a learner.
#[derive(Clone)]
struct PythonEmphasis(Arc<PythonPart>);

impl Build for PythonEmphasis {
    fn one(&self, _: &PartBuilder<f64>) -> Result<Built<f64>, ComposeError> {
        Ok(Built::Emphasis(Box::new(self.clone())))
    }

    fn sixteen(&self, _: &PartBuilder<Lanes<16>>) -> Result<Built<Lanes<16>>, ComposeError> {
        Ok(Built::Emphasis(Box::new(self.clone())))
    }
}

/// A Python object that weighs the steps of `learners` learners.
struct PythonPart {
    part: Py<PyAny>,
    weigh: Py<PyAny>,
    learn: Option<Py<PyAny>>,
    needs_ratio: bool,
    state: Vec<StateArray>,
    learners: usize,
    features: Option<Features>,
    exception: PendingException,
}

/// An array of the emphasis that changes.
struct StateArray {
    name: String,
    /// The shape that `reset` made it.
    shape: Vec<usize>,
}

impl PythonPart {
    fn new(
        py: Python<'_>,
        emphases: &[&Py<PyAny>],
        features: Option<Features>,
        exception: PendingException,
    ) -> PyResult<Self> {
        let part = py.import("emphatic.in_python")?.call_method1("side_by_side", (emphases,))?;
        let learns: bool = part.getattr("_learns")?.extract()?;
        let mut this = Self {
            weigh: part.getattr("weigh")?.unbind(),
            learn: if learns { Some(part.getattr("learn")?.unbind()) } else { None },
            needs_ratio: part.getattr("needs_ratio")?.extract()?,
            state: Vec::new(),
            part: part.clone().unbind(),
            learners: emphases.len(),
            features,
            exception,
        };
        for name in part.getattr("state")?.extract::<Vec<String>>()? {
            let shape = this.array(py, &name)?.shape().to_vec();
            this.state.push(StateArray { name, shape });
        }
        Ok(this)
    }

    /// Calls a method, unless one has failed. Returns NaN if it fails.
    fn call<R: Real>(&self, method: impl FnOnce(Python<'_>) -> PyResult<R>) -> R {
        if !self.exception.half_way() {
            match Python::attach(method) {
                Ok(number) => return number,
                Err(error) => self.exception.set(error, true),
            }
        }
        R::splat(f64::NAN)
    }

    fn arguments<'py>(
        &self,
        py: Python<'py>,
        step: &Seen,
        rho: impl Real,
    ) -> PyResult<(Py<PartStep>, Bound<'py, PyArray1<f64>>)> {
        let seen = |row: Row| self.features.as_ref().map(|features| ActiveFeatures::new(row, features));
        let step = PartStep {
            gamma: step.gamma,
            gamma_next: step.gamma_next,
            interest: step.interest,
            reward: step.reward,
            x: seen(step.x),
            x_next: seen(step.x_next),
        };
        let rho = PyArray1::from_iter(py, (0..self.learners).map(|learner| rho.lane(learner)));
        Ok((Py::new(py, step)?, rho))
    }

    /// Returns what `weigh` returned, a number for each learner, in lanes. Lanes without a learner do as the first.
    fn numbers<R: Real>(&self, returned: &Bound<'_, PyAny>) -> PyResult<R> {
        let class = || self.part.bind(returned.py()).get_type().name().map(|name| name.to_string());
        // No subclass: a masked array is not all numbers.
        let Ok(array) = returned.cast_exact::<PyArray1<f64>>() else {
            let right = format!("it must be a NumPy array of {} float64", self.learners);
            let (class, got) = (class()?, shown(returned));
            return Err(PyTypeError::new_err(format!("weigh of {class} returned {got}; {right}")));
        };
        if array.len() != self.learners {
            let (class, got, right) = (class()?, array.len(), self.learners);
            let message = format!("weigh of {class} returned {got} numbers; there are {right} learners");
            return Err(PyValueError::new_err(message));
        }
        let array = array.readonly();
        let numbers = array.as_array();
        Ok(R::from_lanes(|lane| numbers[if lane < self.learners { lane } else { 0 }]))
    }

    /// Returns an array that changes.
    fn array<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let part = self.part.bind(py);
        let class = part.get_type().name()?;
        match part.getattr(name)?.cast_into_exact::<PyArrayDyn<f64>>() {
            Ok(array) if array.shape().first() == Some(&self.learners) => Ok(array),
            _ => {
                let right = format!("its first dimension must be that of the {} learners", self.learners);
                let message = format!("`{name}` of {class} must be a NumPy array of float64; {right}");
                Err(PyTypeError::new_err(message))
            }
        }
    }

    /// Returns an array that changes, and its numbers in lanes.
    fn read<'py, R: Real>(
        &self,
        py: Python<'py>,
        StateArray { name, shape }: &StateArray,
    ) -> PyResult<(Bound<'py, PyArrayDyn<f64>>, Vec<R>)> {
        let array = self.array(py, name)?;
        if array.shape() != shape {
            let class = self.part.bind(py).get_type().name()?;
            let got = array.shape();
            return Err(PyValueError::new_err(format!(
                "`{name}` of {class} has the shape {got:?}; `reset` made it {shape:?}, and so it must stay"
            )));
        }
        // Three copies: as it is, by learner, and for the visitor.
        memory::check(24.0 * array.len() as f64, || format!("a copy of `{name}`"))?;
        let all: Vec<f64> = array.readonly().as_array().iter().copied().collect();
        let each = all.len() / self.learners;
        let of = |k: usize| R::from_lanes(|lane| all[if lane < self.learners { lane * each } else { 0 } + k]);
        Ok((array, (0..each).map(of).collect()))
    }

    /// Writes numbers to an array in place, because other arrays may be views of it.
    fn write(&self, array: &Bound<'_, PyArrayDyn<f64>>, numbers: &[impl Real]) -> PyResult<()> {
        let of = |learner: usize| numbers.iter().map(move |number| number.lane(learner));
        let restored = PyArray1::from_iter(array.py(), (0..self.learners).flat_map(of));
        array.set_item(array.py().Ellipsis(), restored.reshape(array.shape())?)
    }
}

impl<R: Real> Part<R> for PythonEmphasis {
    fn features(&self) -> Option<&Features> {
        self.0.features.as_ref()
    }

    fn tensors(&mut self, visitor: &mut Visitor) -> Result<(), StateError> {
        Python::attach(|py| {
            for state @ StateArray { name, .. } in &self.0.state {
                let failed = |error| {
                    self.0.exception.set(error, false);
                    StateError::Part(format!("`{name}` of the emphasis in Python cannot be read"))
                };
                let (array, mut numbers) = self.0.read::<R>(py, state).map_err(failed)?;
                visitor.numbers(name, numbers.iter_mut())?;
                if visitor.restores() {
                    self.0.write(&array, &numbers).map_err(failed)?;
                }
            }
            Ok(())
        })
    }
}

impl<R: Real> Emphasis<R> for PythonEmphasis {
    fn weigh(&mut self, step: &Seen, rho: R) -> R {
        let part = &*self.0;
        part.call(|py| part.numbers(&part.weigh.bind(py).call1(part.arguments(py, step, rho)?)?))
    }

    fn needs_ratio(&self) -> bool {
        self.0.needs_ratio
    }

    fn learns(&self) -> bool {
        self.0.learn.is_some()
    }

    fn learn(&mut self, step: &Seen, rho: R) -> R {
        let part = &*self.0;
        part.call(|py| {
            if let Some(learn) = &part.learn {
                learn.bind(py).call1(part.arguments(py, step, rho)?)?;
            }
            Ok(R::zero())
        })
    }
}

/// A step as a part in Python sees it.
#[pyclass(frozen, module = "emphatic")]
pub(crate) struct PartStep {
    /// γ_t: the discount of the transition into the state.
    #[pyo3(get)]
    gamma: f64,
    /// γ_{t+1}: the discount of the transition out of it.
    #[pyo3(get)]
    gamma_next: f64,
    /// i(S_t).
    #[pyo3(get)]
    interest: f64,
    /// R_{t+1}.
    #[pyo3(get)]
    reward: f64,
    x: Option<ActiveFeatures>,
    x_next: Option<ActiveFeatures>,
}

// A new array at every access: many parts never look, and what one writes to it changes nothing else.
#[pymethods]
impl PartStep {
    /// The part's features of S_t: a vector, or the numbers of the active ones and their values. `None` if the part has no `features`.
    #[getter]
    fn x<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.x.as_ref().map(|row| row.array(py)).transpose()
    }

    /// The same of S_{t+1}; beyond an end none are active, and a vector is zero.
    #[getter]
    fn x_next<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.x_next.as_ref().map(|row| row.array(py)).transpose()
    }
}

/// The active features of a state.
struct ActiveFeatures {
    /// `None` for a vector of all features.
    indices: Option<Vec<isize>>,
    values: Vec<f64>,
}

impl ActiveFeatures {
    fn new(row: Row, features: &Features) -> Self {
        // A vector where all may be active at once.
        let is_vector = match features {
            Features::Dense { .. } => true,
            Features::Observed(observed) => observed.basis().most_active() == features.len(),
            Features::Active { .. } | Features::Table(_) => false,
        };
        if is_vector {
            let mut values = vec![0.0; features.len()];
            // Beyond an end no feature is active.
            row.iter().for_each(|(feature, value)| values[feature] = value);
            return Self { indices: None, values };
        }
        let indices = row.iter().map(|(feature, _)| feature as isize).collect();
        Self { indices: Some(indices), values: row.iter().map(|(_, value)| value).collect() }
    }

    fn array<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let values = PyArray1::from_slice(py, &self.values);
        Ok(match &self.indices {
            None => values.into_any(),
            Some(indices) => (PyArray1::from_slice(py, indices), values).into_pyobject(py)?.into_any(),
        })
    }
}
