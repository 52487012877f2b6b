//! The native half of every learner in Python.

use crate::columns::{Arrays, Columns, Numbers, unless_changed};
use crate::error::{DivergedError, OrRaise};
use crate::in_python::{Raised, with_parts};
use crate::memory;
use crate::problem::Problem;
use crate::saved::{self, NameAndText, Saved};
use crate::settings::{Settings, Sight, catalogue, known};
use crate::waiting::Pieces;
use emphatic::catalogue::Acts;
use emphatic::{Action, Composable, Draw, Isa, Real, Recipe, SavedState, State, Step, StepError};
use emphatic_problems::ProblemFile;
use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray1};
use pyo3::exceptions::{PyIndexError, PyOverflowError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyIterator};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};

/// A learner, or learners in lanes, of whatever parts.
pub(crate) struct Boxed<R> {
    pub(crate) learner: Box<dyn emphatic::Learner<R>>,
    /// What a part in Python has raised.
    pub(crate) raised: Raised,
}

impl<R: Real> Boxed<R> {
    /// Learns from some steps of a batch.
    pub(crate) fn teach(&mut self, columns: &Columns, range: Range<usize>) -> PyResult<()> {
        columns.teach(&mut *self.learner, &self.raised, range)
    }

    pub(crate) fn state(&mut self) -> PyResult<SavedState> {
        let state = self.learner.state();
        self.raised.check()?;
        state.or_raise()
    }
}

/// What one step did, all from the weights before it: `rho, emphasis, delta = agent.step(...)`.
#[pyclass(frozen, get_all, eq, module = "emphatic")]
#[derive(PartialEq)]
pub(crate) struct Update {
    /// ρ_t = π/μ of the action taken; 1 for a deterministic policy, which has no ratio.
    rho: f64,
    /// M_t.
    emphasis: f64,
    /// What the critic said of the action: δ_t, the advantage of the action taken, or ∂q/∂a.
    delta: f64,
}

#[pymethods]
impl Update {
    #[new]
    fn new(rho: f64, emphasis: f64, delta: f64) -> Self {
        Self { rho, emphasis, delta }
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        self.__getnewargs__().into_pyobject(py)?.try_iter()
    }

    /// For copies and pickles.
    fn __getnewargs__(&self) -> (f64, f64, f64) {
        (self.rho, self.emphasis, self.delta)
    }

    fn __repr__(&self) -> String {
        format!("Update(rho={:?}, emphasis={:?}, delta={:?})", self.rho, self.emphasis, self.delta)
    }
}

/// A learner.
#[pyclass(frozen, subclass, module = "emphatic._native")]
pub(crate) struct Learner {
    pub(crate) made: Arc<Made>,
    inside: Mutex<Inside>,
}

/// What a learner is made of.
pub(crate) struct Made {
    pub(crate) settings: Settings,
    pub(crate) recipe: Recipe,
    pub(crate) problems: Vec<Arc<ProblemFile>>,
    pub(crate) sight: Sight,
    /// An emphasis that is written in Python.
    pub(crate) in_python: Option<Py<PyAny>>,
}

impl Made {
    fn new(
        settings: Settings,
        problems: Vec<Arc<ProblemFile>>,
        in_python: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let (recipe, sight) = (settings.recipe(&problems)?, settings.features()?.sight());
        Ok(Self { settings, recipe, problems, sight, in_python })
    }

    /// Puts a learner together.
    pub(crate) fn compose(&self) -> PyResult<Boxed<f64>> {
        Self::side_by_side(&[self])
    }

    /// Puts learners together, one in each lane. They must differ in numbers alone.
    pub(crate) fn side_by_side<R: Composable>(all: &[&Self]) -> PyResult<Boxed<R>> {
        let recipes: Vec<&Recipe> = all.iter().map(|made| &made.recipe).collect();
        let mine = all.iter().filter_map(|made| made.in_python.as_ref());
        let parts = match all[0].in_python {
            Some(_) => Python::attach(|py| mine.map(|part| part.clone_ref(py)).collect()),
            None => Vec::new(),
        };
        let (catalogue, raised) = with_parts(catalogue(), parts, recipes[0].emphasis.features.as_ref());
        let composed = R::compose(&catalogue, &recipes, &known(&all[0].problems), Isa::best());
        raised.check()?;
        Ok(Boxed { learner: composed.or_raise()?, raised })
    }

    /// Puts a learner together that goes on from a state.
    pub(crate) fn restored(&self, state: &SavedState) -> PyResult<Boxed<f64>> {
        let mut boxed = self.compose()?;
        let restored = boxed.learner.restore(state);
        boxed.raised.check()?;
        restored.or_raise()?;
        Ok(boxed)
    }
}

/// What changes.
pub(crate) struct Inside {
    pub(crate) boxed: Boxed<f64>,
    /// γ of the next step, unless it says otherwise.
    pub(crate) gamma: f64,
}

/// What a learner is made from: its settings as JSON, or a learner that is not yet Python's.
#[derive(FromPyObject)]
pub(crate) enum Source<'py> {
    Settings(String),
    Ready(PyRef<'py, Ready>),
}

/// A learner on its way to Python, where it gets its class.
#[pyclass(frozen, module = "emphatic._native")]
pub(crate) struct Ready(Mutex<Option<Learner>>);

impl Ready {
    fn take(&self) -> PyResult<Learner> {
        let learner = self.0.try_lock().ok().and_then(|mut learner| learner.take());
        learner.ok_or_else(|| PyRuntimeError::new_err("this learner has been taken already"))
    }
}

#[pymethods]
impl Learner {
    #[new]
    #[pyo3(signature = (source, problems=Vec::new(), state=None, in_python=None))]
    fn new(
        py: Python<'_>,
        source: Source<'_>,
        problems: Vec<PyRef<'_, Problem>>,
        state: Option<&Bound<'_, PyBytes>>,
        in_python: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let settings = match source {
            Source::Ready(ready) => return ready.take(),
            Source::Settings(json) => json,
        };
        let settings = Settings::parse(&settings)?;
        let problems: Vec<_> = problems.iter().map(|problem| problem.file.clone()).collect();
        let (made, boxed) = py.detach(|| -> PyResult<_> {
            let made = Made::new(settings, problems, in_python)?;
            let boxed = made.compose()?;
            Ok((Arc::new(made), boxed))
        })?;
        let mut inside = Inside { boxed, gamma: 0.0 };
        if let Some(state) = state {
            let bytes = state.as_bytes();
            let need = bytes.len() as f64 + made.settings.size(1).copy;
            memory::ask(need, || format!("the state of {}", made.settings))?;
            let read = saved::read_state(bytes, &mut *inside.boxed.learner);
            inside.boxed.raised.check()?;
            inside.gamma = read?;
        }
        Ok(Self { made, inside: Mutex::new(inside) })
    }

    /// Reads a learner that was saved: its settings as JSON, its problems (name and text), its state.
    #[staticmethod]
    #[pyo3(name = "_read")]
    fn read(py: Python<'_>, path: PathBuf) -> PyResult<(String, Vec<NameAndText>, Bound<'_, PyBytes>)> {
        saved::read_file(py, &path)
    }

    /// Writes the whole learner, traces included, to a safetensors file; `emphatic.load` reads it. The tensors are its numbers,
    /// the metadata its settings.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let Made { settings, problems, .. } = &*self.made;
        let problems: Vec<_> = problems.iter().map(|p| (p.name.clone(), p.text.clone())).collect();
        let (state, gamma) = self.state()?;
        py.detach(|| Saved::file(state.into_tensors(), gamma, settings, &problems)?.write(&path))
    }

    /// The same once more.
    #[pyo3(name = "_twin")]
    fn twin(&self, py: Python<'_>) -> PyResult<Ready> {
        let (made, size) = (&self.made, self.made.settings.size(1));
        memory::ask(size.learner + 2.0 * size.copy, || format!("a copy of {}", made.settings))?;
        let (state, gamma) = self.state()?;
        let boxed = py.detach(|| made.restored(&state))?;
        Ok(self.with(Inside { boxed, gamma }))
    }

    /// The state, traces included, for this very version of the package.
    #[pyo3(name = "_state")]
    fn state_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let (state, gamma) = self.state()?;
        Saved::new(state.into_tensors(), gamma, Vec::new())?.bytes(py)
    }

    /// The settings as JSON.
    #[pyo3(name = "_settings_json")]
    fn settings_json(&self) -> PyResult<String> {
        self.made.settings.json()
    }

    /// Learns from one step: in a state seen as `x` the behaviour took `action` with probability (or density) `mu`, got `reward` and came to a
    /// state seen as `x_next`. A step that makes no sense raises an error and changes nothing.
    ///
    /// `gamma_next` is the discount out of the state: 0 ends the episode, and `x_next` is not looked at then. `gamma`, the discount
    /// into it, is remembered from the step before unless it is given. `interest` left out is 1.
    #[pyo3(signature = (x, action, reward, x_next, *, mu, gamma_next, interest=None, gamma=None))]
    #[allow(clippy::too_many_arguments)] // They are one step.
    fn step(
        &self,
        x: &Bound<'_, PyAny>,
        action: &Bound<'_, PyAny>,
        reward: &Bound<'_, PyAny>,
        x_next: &Bound<'_, PyAny>,
        mu: &Bound<'_, PyAny>,
        gamma_next: &Bound<'_, PyAny>,
        interest: Option<&Bound<'_, PyAny>>,
        gamma: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Update> {
        let (reward, mu) = (real(reward, "reward")?, real(mu, "mu")?);
        let gamma_next = real(gamma_next, "gamma_next")?;
        let interest = interest.map_or(Ok(1.0), |interest| real(interest, "interest"))?;
        let gamma = gamma.map(|gamma| real(gamma, "gamma")).transpose()?;
        let (x, action) = (Input::new(x, self.sight(), "x")?, self.action(action)?);
        // What lies beyond an end may be anything.
        let next = if gamma_next == 0.0 { None } else { Some(Input::new(x_next, self.sight(), "x_next")?) };
        let state = x.seen()?;
        let next = next.as_ref().map_or(Ok(state), Input::seen)?;
        let mut inside = self.inside()?;
        let gamma = gamma.unwrap_or(inside.gamma);
        let step = Step { state, action, mu, reward, next, gamma, gamma_next, interest };
        let updated = inside.boxed.learner.update(&step).or_raise();
        inside.boxed.raised.check()?;
        let emphatic::Update { rho, emphasis, delta, .. } = updated?;
        inside.gamma = gamma_next;
        Ok(Update { rho, emphasis, delta })
    }

    /// The next step is the first of an episode, whatever came before: for time limits.
    fn new_episode(&self) -> PyResult<()> {
        self.inside()?.gamma = 0.0;
        Ok(())
    }

    #[pyo3(name = "_learn")]
    fn learn_batch(
        &self,
        py: Python<'_>,
        batch: &Bound<'_, PyAny>,
        progress: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let arrays = Arrays::of(batch)?;
        let columns = arrays.columns(self.sight())?;
        // A learner that is left half-way is not used any more: its lock knows.
        unless_changed(|| {
            let mut inside = self.inside()?;
            for piece in Pieces::new(columns.len()) {
                let Inside { boxed, gamma } = &mut *inside;
                let before = boxed.learner.steps();
                let learned = py.detach(|| boxed.teach(&columns, piece.clone()));
                // A step that makes no sense may come after others.
                if let Some(last) = (boxed.learner.steps() - before).checked_sub(1) {
                    *gamma = columns.gamma_after(piece.start + last as usize);
                }
                learned?;
                py.check_signals()?;
                progress.call1((piece.end, columns.len()))?;
            }
            Ok(())
        })
    }

    /// The numbers of π(·|s) in one state.
    #[pyo3(name = "_distribution")]
    fn distribution<'py>(
        &self,
        py: Python<'py>,
        x: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let x = Input::new(x, self.sight(), "x")?;
        Ok(PyArray1::from_vec(py, self.acting()?.boxed.learner.distribution(x.seen()?).or_raise()?))
    }

    /// The same in many states, flat.
    #[pyo3(name = "_distributions")]
    fn distributions<'py>(
        &self,
        py: Python<'py>,
        x: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let x = Numbers::new(x)?;
        let (states, rows) = (x.states(self.sight())?, x.rows());
        let all = unless_changed(|| {
            let mut inside = self.acting()?;
            let mut all = memory::room(rows.saturating_mul(self.made.settings.outputs()))?;
            for mut piece in Pieces::new(rows) {
                let (learner, all) = (&mut inside.boxed.learner, &mut all);
                py.detach(move || {
                    piece.try_for_each(|t| {
                        all.extend(learner.distribution(states.at(t)).or_raise()?);
                        Ok::<_, PyErr>(())
                    })
                })?;
                py.check_signals()?;
            }
            Ok(all)
        })?;
        Ok(PyArray1::from_vec(py, all))
    }

    /// π(a|x): the probability, or the density, of an action.
    fn probability(&self, x: &Bound<'_, PyAny>, action: &Bound<'_, PyAny>) -> PyResult<f64> {
        let (x, action) = (Input::new(x, self.sight(), "x")?, self.action(action)?);
        let probability = self.acting()?.boxed.learner.probability(x.seen()?, action).or_raise()?;
        let computed = "a deterministic policy has no probabilities; `action(x)` is what it does";
        probability.ok_or_else(|| PyTypeError::new_err(computed))
    }

    /// Draws an action with numbers of a NumPy generator.
    #[pyo3(name = "_sample")]
    fn sample_with(
        &self,
        py: Python<'_>,
        x: &Bound<'_, PyAny>,
        rng: &Bound<'_, PyAny>,
    ) -> PyResult<Py<PyAny>> {
        let x = Input::new(x, self.sight(), "x")?;
        let mut numbers = Generator { rng, failed: None };
        let sampled = self.acting()?.boxed.learner.sample(0, x.seen()?, &mut numbers);
        numbers.failed.map_or(Ok(()), Err)?;
        if sampled == Err(StepError::Acting) {
            self.check()?;
        }
        Ok(match sampled.or_raise()? {
            Action::Number(action) => action.into_pyobject(py)?.into_any().unbind(),
            Action::Real(action) => action.into_pyobject(py)?.into_any().unbind(),
        })
    }

    /// θ, flat: a copy.
    #[pyo3(name = "_weights")]
    fn weights_flat<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Ok(PyArray1::from_vec(py, memory::copied(self.inside()?.boxed.learner.weights())?))
    }

    #[pyo3(name = "_set_weights")]
    fn set_weights_flat(&self, weights: PyReadonlyArray1<'_, f64>) -> PyResult<()> {
        let weights = memory::copied(weights.as_slice()?)?;
        self.inside()?.boxed.learner.set_weights(weights).or_raise()
    }

    /// What the critic and the emphasis have learned, flat, by the names of the equations.
    #[pyo3(name = "_estimates")]
    fn estimates<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.check_state_memory()?;
        let all = PyDict::new(py);
        let mut inside = self.inside()?;
        let estimates = inside.boxed.learner.estimates();
        inside.boxed.raised.check()?;
        for (name, weights) in estimates.or_raise()? {
            all.set_item(name, PyArray1::from_vec(py, weights))?;
        }
        Ok(all)
    }

    /// How many steps it has learned from.
    #[getter]
    fn steps(&self) -> PyResult<u64> {
        Ok(self.inside()?.boxed.learner.steps())
    }

    /// The number of the step (the first is 1) after which the weights were no longer finite.
    #[getter]
    fn diverged(&self) -> PyResult<Option<u64>> {
        Ok(self.inside()?.boxed.learner.diverged(0))
    }

    /// Raises `DivergedError` if the weights have left the finite numbers.
    fn check(&self) -> PyResult<()> {
        match self.diverged()? {
            None => Ok(()),
            Some(step) => Err(DivergedError::new_err(format!(
                "the learner diverged at step {step}: its weights are no longer finite"
            ))),
        }
    }
}

impl Learner {
    /// A learner with the same settings and another inside.
    pub(crate) fn with(&self, inside: Inside) -> Ready {
        Ready(Mutex::new(Some(Self { made: self.made.clone(), inside: Mutex::new(inside) })))
    }

    pub(crate) fn sight(&self) -> Sight {
        self.made.sight
    }

    /// The weights, if nothing has been learned yet.
    pub(crate) fn fresh_weights(&self) -> PyResult<Option<Vec<f64>>> {
        let inside = self.inside()?;
        (inside.boxed.learner.steps() == 0)
            .then(|| memory::copied(inside.boxed.learner.weights()))
            .transpose()
    }

    fn inside(&self) -> PyResult<MutexGuard<'_, Inside>> {
        let half_way = || {
            PyRuntimeError::new_err(
                "this learner was left half-way by an earlier error; load it or make a new one",
            )
        };
        match self.inside.try_lock() {
            Ok(inside) if inside.boxed.raised.half_way() => Err(half_way()),
            Ok(inside) => Ok(inside),
            Err(TryLockError::WouldBlock) => Err(PyRuntimeError::new_err(
                "this learner is in use by another thread; let each thread have its own: learner.copy()",
            )),
            Err(TryLockError::Poisoned(_)) => Err(half_way()),
        }
    }

    /// To see how it acts: there is room for a distribution.
    fn acting(&self) -> PyResult<MutexGuard<'_, Inside>> {
        let settings = &self.made.settings;
        memory::ask(16.0 * settings.outputs() as f64, || format!("what {settings} does"))?;
        self.inside()
    }

    fn check_state_memory(&self) -> PyResult<()> {
        let settings = &self.made.settings;
        memory::ask(settings.size(1).copy, || format!("a copy of the state of {settings}"))
    }

    /// The state, and γ of the next step.
    fn state(&self) -> PyResult<(SavedState, f64)> {
        self.check_state_memory()?;
        let mut inside = self.inside()?;
        Ok((inside.boxed.state()?, inside.gamma))
    }

    fn action(&self, action: &Bound<'_, PyAny>) -> PyResult<Action> {
        match self.made.settings.acts() {
            Some(Acts::Finite) => {
                let (number, actions) =
                    (whole(action, "the action")?, self.made.settings.actions.unwrap_or(0));
                usize::try_from(number).map(Action::Number).map_err(|_| {
                    PyIndexError::new_err(format!(
                        "action {number} does not exist: there are {actions} actions, numbered from 0"
                    ))
                })
            }
            _ => Ok(Action::Real(real(action, "the action")?)),
        }
    }
}

/// A NumPy generator, as policies draw from it.
struct Generator<'a, 'py> {
    rng: &'a Bound<'py, PyAny>,
    failed: Option<PyErr>,
}

impl Generator<'_, '_> {
    fn number(&mut self, method: &str) -> f64 {
        let number = self.rng.call_method0(method).and_then(|number| number.extract());
        number.unwrap_or_else(|error| {
            self.failed.get_or_insert(error);
            0.0
        })
    }
}

impl Draw for Generator<'_, '_> {
    fn uniform(&mut self) -> f64 {
        self.number("random")
    }

    fn normal(&mut self) -> f64 {
        self.number("standard_normal")
    }
}

fn shown(value: &Bound<'_, PyAny>) -> String {
    value.repr().map_or_else(|_| "unprintable".to_owned(), |text| text.to_string())
}

/// A real number of any kind.
fn real(value: &Bound<'_, PyAny>, what: &str) -> PyResult<f64> {
    value.extract().map_err(|error: PyErr| {
        if error.is_instance_of::<PyOverflowError>(value.py()) {
            return PyValueError::new_err(format!("{what} is larger than any float; it must be finite"));
        }
        if error.is_instance_of::<PyTypeError>(value.py()) {
            return PyTypeError::new_err(format!("{what} is {}; it must be a real number", shown(value)));
        }
        error
    })
}

/// A whole number of any kind; a bool or a float is none.
fn whole(value: &Bound<'_, PyAny>, what: &str) -> PyResult<isize> {
    let wrong = || PyTypeError::new_err(format!("{what} is {}; it must be a whole number", shown(value)));
    if value.is_instance_of::<PyBool>() {
        return Err(wrong());
    }
    value.extract().map_err(|error: PyErr| {
        if error.is_instance_of::<PyOverflowError>(value.py()) {
            return PyIndexError::new_err(format!("{what} is {}; there are not that many", shown(value)));
        }
        if error.is_instance_of::<PyTypeError>(value.py()) { wrong() } else { error }
    })
}

/// What was given for one state.
enum Input<'py> {
    Vector(PyReadonlyArray1<'py, f64>),
    Active(PyReadonlyArray1<'py, isize>),
    Number(usize),
}

impl<'py> Input<'py> {
    fn new(x: &Bound<'py, PyAny>, sight: Sight, name: &str) -> PyResult<Self> {
        match sight {
            Sight::Vector => {
                if let Some(array) = readable(x)? {
                    return Ok(Self::Vector(array));
                }
                Ok(Self::Vector(converted(x, "vector", name)?.extract()?))
            }
            Sight::Active => {
                if let Some(array) = readable(x)? {
                    return Ok(Self::Active(array));
                }
                Ok(Self::Active(converted(x, "active", name)?.extract()?))
            }
            Sight::Number => {
                let number = whole(x, name)?;
                let wrong =
                    |_| PyIndexError::new_err(format!("{name} is {number}; states are numbered from 0"));
                Ok(Self::Number(usize::try_from(number).map_err(wrong)?))
            }
        }
    }

    fn seen(&self) -> PyResult<State<'_>> {
        Ok(match self {
            Self::Vector(array) => State::Vector(array.as_slice()?),
            Self::Active(array) => State::Active(bytemuck::cast_slice(array.as_slice()?)),
            Self::Number(number) => State::Number(*number),
        })
    }
}

/// An array that can be read as it is.
fn readable<'py, T: numpy::Element>(x: &Bound<'py, PyAny>) -> PyResult<Option<PyReadonlyArray1<'py, T>>> {
    // Not a subclass, whose numbers may not be all: a masked array has a mask.
    let Ok(array) = x.cast_exact::<PyArray1<T>>() else { return Ok(None) };
    let array = array.try_readonly()?;
    Ok(array.as_slice().is_ok().then_some(array))
}

/// What is no array of the right type, made one by Python, or refused.
fn converted<'py>(x: &Bound<'py, PyAny>, how: &str, name: &str) -> PyResult<Bound<'py, PyAny>> {
    x.py().import("emphatic.convert")?.call_method1(how, (x, name))
}
