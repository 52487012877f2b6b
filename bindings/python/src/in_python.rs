//! Emphases that are written in Python: for the first try of an idea.
//!
//! One call serves all learners in lanes. Whatever is raised is kept until the learner has come back to Python; until then the emphasis is
//! not a number.

use crate::memory;
use emphatic::catalogue::{Build, Role, Size};
use emphatic::{
    Built, Catalogue, ComposeError, Declaration, Emphasis, Features, Lanes, Part, PartBuilder, Real, Row,
    Seen, StateError, Visitor,
};
use numpy::{PyArray1, PyArrayDyn, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Its name in files.
pub(crate) const KIND: &str = "python";

const DECLARATION: Declaration = Declaration {
    features: true,
    ..Declaration::new(Role::Emphasis, KIND, "PythonEmphasis", "an emphasis that is written in Python")
};

/// What an emphasis in Python has raised, if there is one.
#[derive(Clone, Default)]
pub(crate) struct Raised(Option<Arc<Kept>>);

#[derive(Default)]
struct Kept {
    error: Mutex<Option<PyErr>>,
    /// In the middle of a step.
    half_way: AtomicBool,
}

impl Raised {
    /// Raises it now.
    pub(crate) fn check(&self) -> PyResult<()> {
        match &self.0 {
            None => Ok(()),
            Some(kept) => {
                kept.error.lock().unwrap_or_else(PoisonError::into_inner).take().map_or(Ok(()), Err)
            }
        }
    }

    /// Whether the learner was left in the middle of a step.
    pub(crate) fn half_way(&self) -> bool {
        self.0.as_ref().is_some_and(|kept| kept.half_way.load(Ordering::Relaxed))
    }

    fn keep(&self, error: PyErr, half_way: bool) {
        if let Some(kept) = &self.0 {
            kept.half_way.fetch_or(half_way, Ordering::Relaxed);
            kept.error.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        }
    }
}

/// The catalogue with these parts as an emphasis, one for each learner; without any, as it is.
pub(crate) fn with_parts(
    catalogue: &Catalogue,
    parts: Vec<Py<PyAny>>,
    features: Option<&Features>,
) -> (Catalogue, Raised) {
    if parts.is_empty() {
        return (catalogue.clone(), Raised::default());
    }
    let raised = Raised(Some(Arc::default()));
    let builder = Builder { parts, features: features.cloned(), raised: raised.clone() };
    (catalogue.clone().with_builder(DECLARATION, |_| Size::default(), builder), raised)
}

struct Builder {
    parts: Vec<Py<PyAny>>,
    features: Option<Features>,
    raised: Raised,
}

impl Build for Builder {
    fn one(&self, _: &PartBuilder<f64>) -> Result<Built<f64>, ComposeError> {
        self.build()
    }

    fn eight(&self, _: &PartBuilder<Lanes<8>>) -> Result<Built<Lanes<8>>, ComposeError> {
        self.build()
    }

    fn sixteen(&self, _: &PartBuilder<Lanes<16>>) -> Result<Built<Lanes<16>>, ComposeError> {
        self.build()
    }
}

impl Builder {
    fn build<R: Real>(&self) -> Result<Built<R>, ComposeError> {
        match Python::attach(|py| self.in_python(py)) {
            Ok(emphasis) => Ok(Built::Emphasis(Box::new(emphasis))),
            Err(error) => {
                self.raised.keep(error, false);
                Err(ComposeError::Incompatible("the emphasis in Python raised an exception".to_owned()))
            }
        }
    }

    fn in_python<R: Real>(&self, py: Python<'_>) -> PyResult<InPython<R>> {
        let parts: Vec<&Py<PyAny>> = self.parts.iter().collect();
        let part = py.import("emphatic.in_python")?.call_method1("side_by_side", (parts,))?;
        let learns: bool = part.getattr("_learns")?.extract()?;
        let mut emphasis = InPython {
            weigh: part.getattr("weigh")?.unbind(),
            learn: if learns { Some(part.getattr("learn")?.unbind()) } else { None },
            needs_ratio: part.getattr("needs_ratio")?.extract()?,
            state: Vec::new(),
            part: part.clone().unbind(),
            learners: self.parts.len(),
            features: self.features.clone(),
            raised: self.raised.clone(),
            number: PhantomData,
        };
        for name in part.getattr("state")?.extract::<Vec<String>>()? {
            let shape = emphasis.array(py, &name)?.shape().to_vec();
            emphasis.state.push((name, shape));
        }
        Ok(emphasis)
    }
}

/// An emphasis in Python, for as many learners as there are.
struct InPython<R> {
    part: Py<PyAny>,
    weigh: Py<PyAny>,
    learn: Option<Py<PyAny>>,
    needs_ratio: bool,
    /// The names of its arrays that change, and their shapes.
    state: Vec<(String, Vec<usize>)>,
    learners: usize,
    features: Option<Features>,
    raised: Raised,
    number: PhantomData<fn() -> R>,
}

impl<R: Real> InPython<R> {
    /// Calls a method, unless one has failed.
    fn called(&mut self, call: impl FnOnce(&Self, Python<'_>) -> PyResult<R>) -> R {
        if !self.raised.half_way() {
            match Python::attach(|py| call(self, py)) {
                Ok(number) => return number,
                Err(error) => self.raised.keep(error, true),
            }
        }
        R::splat(f64::NAN)
    }

    fn arguments<'py>(
        &self,
        py: Python<'py>,
        step: &Seen,
        rho: R,
    ) -> PyResult<(Py<PartStep>, Bound<'py, PyArray1<f64>>)> {
        let dense = matches!(self.features, Some(Features::Dense { .. }));
        let seen = |row: Row| self.features.as_ref().map(|_| SeenRow::new(row, dense));
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

    /// A number for each learner; lanes without one do as the first.
    fn numbers(&self, returned: &Bound<'_, PyAny>) -> PyResult<R> {
        let class = || self.part.bind(returned.py()).get_type().name().map(|name| name.to_string());
        // Not a subclass, whose numbers may not be all: a masked array has a mask.
        let Ok(array) = returned.cast_exact::<PyArray1<f64>>() else {
            let right = format!("it must be a NumPy array of {} float64", self.learners);
            let got = returned.repr().map_or_else(|_| "unprintable".to_owned(), |text| text.to_string());
            return Err(PyTypeError::new_err(format!("weigh of {} returned {got}; {right}", class()?)));
        };
        if array.len() != self.learners {
            return Err(PyValueError::new_err(format!(
                "weigh of {} returned {} numbers; there are {} learners",
                class()?,
                array.len(),
                self.learners
            )));
        }
        let array = array.readonly();
        let numbers = array.as_array();
        Ok(R::from_lanes(|lane| numbers[if lane < self.learners { lane } else { 0 }]))
    }

    /// One of its arrays that change.
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

    /// Shows one of its arrays to a visitor, which may change it.
    fn tensor(
        &self,
        py: Python<'_>,
        (name, shape): &(String, Vec<usize>),
        visitor: &mut Visitor,
    ) -> PyResult<Result<(), StateError>> {
        let array = self.array(py, name)?;
        if array.shape() != shape {
            let class = self.part.bind(py).get_type().name()?;
            let got = array.shape();
            return Err(PyValueError::new_err(format!(
                "`{name}` of {class} has the shape {got:?}; `reset` made it {shape:?}, and so it must stay"
            )));
        }
        // Once as it is, once by learner, once for the visitor.
        memory::ask(24.0 * array.len() as f64, || format!("a copy of `{name}`"))?;
        let all: Vec<f64> = array.readonly().as_array().iter().copied().collect();
        let each = all.len() / self.learners;
        let of = |k: usize| R::from_lanes(|lane| all[if lane < self.learners { lane * each } else { 0 } + k]);
        let mut numbers: Vec<R> = (0..each).map(of).collect();
        if let Err(error) = visitor.numbers(name, numbers.iter_mut()) {
            return Ok(Err(error));
        }
        if visitor.restores() {
            let of = |learner: usize| numbers.iter().map(move |number| number.lane(learner));
            let restored: Vec<f64> = (0..self.learners).flat_map(of).collect();
            let restored = PyArray1::from_vec(py, restored).reshape(shape.clone())?;
            // In its place: other arrays may be views of it.
            array.set_item(py.Ellipsis(), restored)?;
        }
        Ok(Ok(()))
    }
}

impl<R: Real> Part<R> for InPython<R> {
    fn features(&self) -> Option<&Features> {
        self.features.as_ref()
    }

    fn tensors(&mut self, visitor: &mut Visitor) -> Result<(), StateError> {
        Python::attach(|py| {
            for array in &self.state {
                match self.tensor(py, array, visitor) {
                    Ok(shown) => shown?,
                    Err(error) => {
                        let name = &array.0;
                        self.raised.keep(error, false);
                        return Err(StateError::Part(format!(
                            "`{name}` of the emphasis in Python cannot be read"
                        )));
                    }
                }
            }
            Ok(())
        })
    }
}

impl<R: Real> Emphasis<R> for InPython<R> {
    fn weigh(&mut self, step: &Seen, rho: R) -> R {
        self.called(|this, py| {
            this.numbers(this.weigh.bind(py).call1(this.arguments(py, step, rho)?)?.as_any())
        })
    }

    fn needs_ratio(&self) -> bool {
        self.needs_ratio
    }

    fn learns(&self) -> bool {
        self.learn.is_some()
    }

    fn learn(&mut self, step: &Seen, rho: R) -> R {
        self.called(|this, py| {
            if let Some(learn) = &this.learn {
                learn.bind(py).call1(this.arguments(py, step, rho)?)?;
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
    x: Option<SeenRow>,
    x_next: Option<SeenRow>,
}

#[pymethods]
impl PartStep {
    /// The part's features of S_t: a vector, or the numbers of the active ones and their values. `None` if the part has no `features`.
    #[getter]
    fn x<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.x.as_ref().map(|row| row.array(py)).transpose()
    }

    /// The same of S_{t+1}; none are active beyond an end.
    #[getter]
    fn x_next<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.x_next.as_ref().map(|row| row.array(py)).transpose()
    }
}

/// The active features of a state.
struct SeenRow {
    /// Left out, they are all features in their order.
    indices: Option<Vec<isize>>,
    values: Vec<f64>,
}

impl SeenRow {
    fn new(row: Row, dense: bool) -> Self {
        let indices = (!dense).then(|| row.iter().map(|(feature, _)| feature as isize).collect());
        Self { indices, values: row.iter().map(|(_, value)| value).collect() }
    }

    fn array<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let values = PyArray1::from_slice(py, &self.values);
        Ok(match &self.indices {
            None => values.into_any(),
            Some(indices) => (PyArray1::from_slice(py, indices), values).into_pyobject(py)?.into_any(),
        })
    }
}
