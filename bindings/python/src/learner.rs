//! The native half of every learner in Python.

use crate::batch::{BatchArrays, Numbers, unless_changed};
use crate::error::{DivergedError, Raise, raised, wrong_value};
use crate::interrupts::Chunks;
use crate::memory;
use crate::problem::Problem;
use crate::python_emphasis::{PendingException, catalogue_with};
use crate::safetensors_file::{StateFile, read_state};
use crate::settings::{Part, Settings, StateForm};
use crate::sweep::Start;
use emphatic::catalogue::{Acts, Role};
use emphatic::learner::uneven_emphasis;
use emphatic::{Action, Composable, Draw, Isa, KnownProblem, Recipe, SavedState, State, Step, StepError};
use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray1};
use pyo3::exceptions::{PyIndexError, PyOverflowError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyIterator, PyTuple, PyType};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};

/// A learner, or learners in lanes, with parts of any kind.
pub(crate) struct BoxedLearner<R> {
    pub(crate) learner: Box<dyn emphatic::Learner<R>>,
    pub(crate) exception: PendingException,
}

impl<R: emphatic::Real> BoxedLearner<R> {
    /// Calls a method of the learner. An exception that an emphasis in Python raised meanwhile comes before the method's own error.
    pub(crate) fn call<T, E: Raise>(
        &mut self,
        method: impl FnOnce(&mut dyn emphatic::Learner<R>) -> Result<T, E>,
    ) -> PyResult<T> {
        let result = method(&mut *self.learner);
        self.exception.check()?;
        result.map_err(raised)
    }
}

/// What one step did, all from the weights before it: `rho, emphasis, delta = agent.step(...)`.
#[pyclass(frozen, get_all, eq, new = "from_fields", module = "emphatic")]
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

/// What a learner is composed of. It never changes, so copies share it.
pub(crate) struct Composition {
    pub(crate) settings: Settings,
    pub(crate) recipe: Recipe,
    pub(crate) problems: Vec<Py<Problem>>,
    /// An emphasis that is written in Python.
    pub(crate) python_emphasis: Option<Py<PyAny>>,
    /// The form in which states are given.
    pub(crate) form: StateForm,
    /// Whether actions are given by their numbers.
    finite: bool,
}

impl Composition {
    /// Composes the first learner of a composition while other Python threads run.
    fn new(
        py: Python<'_>,
        settings: Settings,
        problems: Vec<Py<Problem>>,
        python_emphasis: Option<Py<PyAny>>,
    ) -> PyResult<(Self, BoxedLearner<f64>)> {
        py.detach(|| {
            let (recipe, form) = (settings.recipe(&problems)?, settings.features()?.form());
            let finite = settings.acts() == Some(Acts::Finite);
            let composition = Self { settings, recipe, problems, python_emphasis, form, finite };
            let boxed = composition.compose()?;
            Ok((composition, boxed))
        })
    }

    /// Composes a learner.
    pub(crate) fn compose(&self) -> PyResult<BoxedLearner<f64>> {
        Self::side_by_side(&[self])
    }

    /// Composes learners, one in each lane. They must differ in numbers alone.
    pub(crate) fn side_by_side<R: Composable>(all: &[&Self]) -> PyResult<BoxedLearner<R>> {
        let recipes: Vec<&Recipe> = all.iter().map(|composition| &composition.recipe).collect();
        let emphases: Vec<_> = all.iter().filter_map(|each| each.python_emphasis.as_ref()).collect();
        let (catalogue, exception) = catalogue_with(&emphases, recipes[0].emphasis.features.as_ref())?;
        let problems: Vec<KnownProblem> =
            all[0].problems.iter().map(|problem| problem.get().file.known.clone()).collect();
        let learner = R::compose(&catalogue, &recipes, &problems, Isa::best()).map_err(raised)?;
        Ok(BoxedLearner { learner, exception })
    }

    /// Composes a learner that goes on from a state.
    pub(crate) fn restored(&self, state: &SavedState) -> PyResult<BoxedLearner<f64>> {
        let mut boxed = self.compose()?;
        boxed.call(|learner| learner.restore(state))?;
        Ok(boxed)
    }
}

/// What changes in a learner.
struct LearnerState {
    boxed: BoxedLearner<f64>,
    /// γ of the next step, unless that gives its own.
    gamma: f64,
}

/// A learner.
#[pyclass(frozen, subclass, module = "emphatic._native")]
pub(crate) struct Learner {
    pub(crate) composition: Arc<Composition>,
    state: Arc<Mutex<LearnerState>>,
    /// The form of the policy.
    #[pyo3(get)]
    policy: Py<PyAny>,
    /// What the critic is made of; `critic_weights` has what it has learned.
    #[pyo3(get)]
    critic: Py<PyAny>,
    emphasis: Py<PyAny>,
    /// How the policy learns; `None` if by the learner's own rule.
    #[pyo3(get)]
    actor: Option<Py<PyAny>>,
}

#[pymethods]
impl Learner {
    /// Gives a learner of this very class, as all functions here return it, the class that was asked for.
    #[new]
    fn new(learner: &Bound<'_, PyAny>) -> PyResult<Self> {
        let given = learner.cast_exact::<Self>()?.get();
        Ok(given.sharing(learner.py(), given.state.clone()))
    }

    /// Composes a learner of its parts' Python objects. `class_name` is written to files.
    #[staticmethod]
    #[pyo3(name = "_composed")]
    #[allow(clippy::too_many_arguments)] // They are one composition.
    fn composed(
        py: Python<'_>,
        class_name: String,
        rule: &str,
        policy: Bound<'_, PyAny>,
        critic: Bound<'_, PyAny>,
        emphasis: Bound<'_, PyAny>,
        actor: Option<Bound<'_, PyAny>>,
        alpha: f64,
        warm_up: u64,
        subset: Option<(usize, u64)>,
    ) -> PyResult<Self> {
        let mut problems = Vec::new();
        let mut settings = Settings {
            class: class_name,
            rule: serde_json::from_value(rule.into()).map_err(wrong_value)?,
            policy: Part::read(&policy, Role::Policy, &mut problems)?,
            actions: None,
            critic: Part::read(&critic, Role::Critic, &mut problems)?,
            emphasis: Part::read(&emphasis, Role::Emphasis, &mut problems)?,
            actor: actor.as_ref().map(|actor| Part::read(actor, Role::Actor, &mut problems)).transpose()?,
            alpha,
            warm_up,
            subset,
        };
        if settings.acts() == Some(Acts::Finite) {
            settings.actions = Some(policy.getattr("actions")?.extract()?);
        }
        let python_emphasis = settings.emphasis.is_python().then(|| emphasis.clone().unbind());
        let (composition, boxed) = Composition::new(py, settings, problems, python_emphasis)?;
        Ok(Self {
            composition: Arc::new(composition),
            state: Arc::new(Mutex::new(LearnerState { boxed, gamma: 0.0 })),
            policy: policy.unbind(),
            critic: critic.unbind(),
            emphasis: emphasis.unbind(),
            actor: actor.map(Bound::unbind),
        })
    }

    /// Composes a learner of settings as JSON, which goes on from a state as bytes. `python_emphasis` is the class of an emphasis
    /// that is written in Python.
    #[staticmethod]
    #[pyo3(name = "_restored")]
    fn restored(
        py: Python<'_>,
        settings: &str,
        problems: Vec<Py<Problem>>,
        state: &[u8],
        python_emphasis: Option<Bound<'_, PyType>>,
    ) -> PyResult<Self> {
        let settings = Settings::parse(settings)?;
        let python_emphasis =
            python_emphasis.map(|class| settings.emphasis.python_object(&class)).transpose()?;
        let (composition, mut boxed) = Composition::new(py, settings, problems, python_emphasis)?;
        let Composition { settings, problems, python_emphasis, .. } = &composition;
        let bytes = state.len() as f64 + settings.bytes(1).copy;
        memory::check(bytes, || format!("the state of {settings}"))?;
        let gamma = read_state(state, &mut boxed)?;
        let object = |part: &Part, role, actions| part.object(py, role, problems, actions).map(Bound::unbind);
        Ok(Self {
            policy: object(&settings.policy, Role::Policy, settings.actions)?,
            critic: object(&settings.critic, Role::Critic, None)?,
            emphasis: match python_emphasis {
                Some(emphasis) => emphasis.clone_ref(py),
                None => object(&settings.emphasis, Role::Emphasis, None)?,
            },
            actor: settings.actor.as_ref().map(|actor| object(actor, Role::Actor, None)).transpose()?,
            composition: Arc::new(composition),
            state: Arc::new(Mutex::new(LearnerState { boxed, gamma })),
        })
    }

    /// Writes the whole learner, traces included, to a safetensors file; `emphatic.load` reads it. The tensors are its numbers,
    /// the metadata its settings.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let Composition { settings, problems, .. } = &*self.composition;
        let (state, gamma) = self.state()?;
        py.detach(|| StateFile::file(state.into_tensors(), gamma, settings, problems)?.write(&path))
    }

    /// Copies the learner.
    #[pyo3(name = "_copy")]
    fn copied(&self, py: Python<'_>) -> PyResult<Self> {
        let Composition { settings, .. } = &*self.composition;
        let bytes = settings.bytes(1);
        memory::check(bytes.learner + 2.0 * bytes.copy, || format!("a copy of {settings}"))?;
        let (state, gamma) = self.state()?;
        let boxed = py.detach(|| self.composition.restored(&state))?;
        Ok(self.with_state(py, boxed, gamma))
    }

    /// The state, traces included, for this version of the package.
    #[pyo3(name = "_state")]
    fn state_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let (state, gamma) = self.state()?;
        StateFile::new(state.into_tensors(), gamma, &BTreeMap::new()).bytes(py)
    }

    /// What `_restored` needs beside the state: the settings as JSON, the problems that exact parts know, and the class of an
    /// emphasis that is written in Python.
    #[pyo3(name = "_composition")]
    fn pickled<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let Composition { settings, problems, python_emphasis, .. } = &*self.composition;
        let class = python_emphasis.as_ref().map(|emphasis| emphasis.bind(py).get_type());
        (settings.json()?, problems, class).into_pyobject(py)
    }

    /// How states are weighted; `emphasis_weights` has what it has learned.
    #[getter]
    fn emphasis<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        // A copy: one that is written in Python can be changed.
        py.import("copy")?.call_method1("copy", (&self.emphasis,))
    }

    /// The actor's step-size, before it is divided by the number of active features.
    #[getter]
    fn alpha(&self) -> f64 {
        self.composition.settings.alpha
    }

    /// In how many steps the actor waits at first, while critic and emphasis learn.
    #[getter]
    fn warm_up(&self) -> u64 {
        self.composition.settings.warm_up
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
        let (x, action) = (StateArgument::new(x, self.composition.form, "x")?, self.action(action)?);
        // After an end, `x_next` may be anything.
        let see_next = || StateArgument::new(x_next, self.composition.form, "x_next");
        let next = (gamma_next != 0.0).then(see_next).transpose()?;
        let state = x.state()?;
        let next = next.as_ref().map_or(Ok(state), StateArgument::state)?;
        let mut locked = self.lock()?;
        let gamma = gamma.unwrap_or(locked.gamma);
        let step = Step { state, action, mu, reward, next, gamma, gamma_next, interest };
        let emphatic::Update { rho, emphasis, delta, .. } =
            locked.boxed.call(|learner| learner.update(&step))?;
        locked.gamma = gamma_next;
        Ok(Update { rho, emphasis, delta })
    }

    /// The next step is the first of an episode, whatever came before: for time limits.
    fn new_episode(&self) -> PyResult<()> {
        self.lock()?.gamma = 0.0;
        Ok(())
    }

    #[pyo3(name = "_learn")]
    fn learn_batch(
        &self,
        py: Python<'_>,
        batch: BatchArrays<'_>,
        progress: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let columns = batch.columns(self.composition.form)?;
        // A panic poisons the lock, so a learner that was left half-way cannot be used any more.
        unless_changed(|| {
            let mut locked = self.lock()?;
            for chunk in Chunks::new(columns.len()) {
                let LearnerState { boxed, gamma } = &mut *locked;
                let before = boxed.learner.steps();
                let learned = py.detach(|| boxed.learn(&columns, chunk.clone()));
                // Some steps may have been learned from before one was refused.
                if let Some(last) = (boxed.learner.steps() - before).checked_sub(1) {
                    *gamma = columns.gamma_after(chunk.start + last as usize);
                }
                learned?;
                py.check_signals()?;
                progress.call1((chunk.end, columns.len()))?;
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
        let x = StateArgument::new(x, self.composition.form, "x")?;
        Ok(PyArray1::from_vec(
            py,
            self.lock_to_act()?.boxed.learner.distribution(x.state()?).map_err(raised)?,
        ))
    }

    /// The same in many states, flat.
    #[pyo3(name = "_distributions")]
    fn distributions<'py>(&self, py: Python<'py>, x: Numbers<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let (states, rows) = (x.states(self.composition.form)?, x.rows());
        let all = unless_changed(|| {
            let mut locked = self.lock_to_act()?;
            let mut all = memory::with_capacity(rows.saturating_mul(self.outputs()))?;
            for mut chunk in Chunks::new(rows) {
                let (learner, all) = (&mut locked.boxed.learner, &mut all);
                py.detach(move || {
                    chunk.try_for_each(|t| {
                        all.extend(learner.distribution(states.at(t)).map_err(raised)?);
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
        let (x, action) = (StateArgument::new(x, self.composition.form, "x")?, self.action(action)?);
        let probability =
            self.lock_to_act()?.boxed.learner.probability(x.state()?, action).map_err(raised)?;
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
        let x = StateArgument::new(x, self.composition.form, "x")?;
        let mut numbers = Generator { rng, failed: None };
        let sampled = self.lock_to_act()?.boxed.learner.sample(0, x.state()?, &mut numbers);
        numbers.failed.map_or(Ok(()), Err)?;
        if sampled == Err(StepError::Acting) {
            self.check()?;
        }
        Ok(match sampled.map_err(raised)? {
            Action::Number(action) => action.into_pyobject(py)?.into_any().unbind(),
            Action::Real(action) => action.into_pyobject(py)?.into_any().unbind(),
        })
    }

    /// A copy of θ, flat.
    #[pyo3(name = "_weights")]
    fn weights_flat<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Ok(PyArray1::from_vec(py, memory::copied(self.lock()?.boxed.learner.weights())?))
    }

    #[pyo3(name = "_set_weights")]
    fn set_weights_flat(&self, weights: PyReadonlyArray1<'_, f64>) -> PyResult<()> {
        let weights = memory::copied(weights.as_slice()?)?;
        self.lock()?.boxed.learner.set_weights(weights).map_err(wrong_value)
    }

    /// The number of the policy's weights for each feature.
    #[getter(_outputs)]
    fn outputs(&self) -> usize {
        self.composition.settings.outputs()
    }

    /// What the parts have learned, flat, by the names of the equations.
    #[pyo3(name = "_estimates")]
    fn estimates<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.check_state_memory()?;
        let all = PyDict::new(py);
        for (name, weights) in self.lock()?.boxed.call(|learner| learner.estimates())? {
            all.set_item(name, PyArray1::from_vec(py, weights))?;
        }
        Ok(all)
    }

    /// How many steps it has learned from.
    #[getter]
    fn steps(&self) -> PyResult<u64> {
        Ok(self.lock()?.boxed.learner.steps())
    }

    /// The number of the step (the first is 1) after which the weights were no longer finite.
    #[getter]
    fn diverged(&self) -> PyResult<Option<u64>> {
        Ok(self.lock()?.boxed.learner.diverged(0))
    }

    /// How many of the steps at which the actor learned the updates count like, as a share of them: (Σ|M|)² / (n Σ M²), estimated from one step in
    /// sixteen. 1: all count alike; near 0: the emphasis of a few outweighs all others. `None` before the actor has learned, and after
    /// it has diverged.
    #[getter]
    fn effective_sample(&self) -> PyResult<Option<f64>> {
        Ok(self.lock()?.boxed.learner.effective_sample(0))
    }

    /// What is to be said of an emphasis by which few steps count for all; `None` if it is even enough.
    #[getter(_uneven_emphasis)]
    fn uneven_emphasis(&self) -> PyResult<Option<String>> {
        let learner = &self.lock()?.boxed.learner;
        let share = learner.effective_sample(0);
        Ok(share.and_then(|share| uneven_emphasis(learner.steps(), share)))
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
    /// Returns a learner with the same composition and this state.
    fn sharing(&self, py: Python<'_>, state: Arc<Mutex<LearnerState>>) -> Self {
        Self {
            composition: self.composition.clone(),
            state,
            policy: self.policy.clone_ref(py),
            critic: self.critic.clone_ref(py),
            emphasis: self.emphasis.clone_ref(py),
            actor: self.actor.as_ref().map(|actor| actor.clone_ref(py)),
        }
    }

    /// Returns a learner with the same composition and another state.
    pub(crate) fn with_state(&self, py: Python<'_>, boxed: BoxedLearner<f64>, gamma: f64) -> Self {
        self.sharing(py, Arc::new(Mutex::new(LearnerState { boxed, gamma })))
    }

    /// Copies what a sweep starts from.
    pub(crate) fn start(&self) -> PyResult<Start> {
        let mut locked = self.lock()?;
        match locked.boxed.learner.steps() {
            0 => Ok(Start::New(memory::copied(locked.boxed.learner.weights())?)),
            steps => {
                self.check_state_memory()?;
                Ok(Start::After(steps, locked.boxed.call(|learner| learner.state())?))
            }
        }
    }

    /// γ of the next step.
    pub(crate) fn gamma(&self) -> PyResult<f64> {
        Ok(self.lock()?.gamma)
    }

    fn lock(&self) -> PyResult<MutexGuard<'_, LearnerState>> {
        let wrong = match self.state.try_lock() {
            Ok(state) if !state.boxed.exception.half_way() => return Ok(state),
            Err(TryLockError::WouldBlock) => {
                "this learner is in use by another thread; let each thread have its own: learner.copy()"
            }
            _ => "this learner was left half-way by an earlier error; load it or make a new one",
        };
        Err(PyRuntimeError::new_err(wrong))
    }

    /// Locks the learner to see how it acts, if memory has room for a distribution.
    fn lock_to_act(&self) -> PyResult<MutexGuard<'_, LearnerState>> {
        let settings = &self.composition.settings;
        memory::check(16.0 * settings.outputs() as f64, || format!("what {settings} does"))?;
        self.lock()
    }

    fn check_state_memory(&self) -> PyResult<()> {
        let settings = &self.composition.settings;
        memory::check(settings.bytes(1).copy, || format!("a copy of the state of {settings}"))
    }

    /// Copies the state, with γ of the next step.
    fn state(&self) -> PyResult<(SavedState, f64)> {
        self.check_state_memory()?;
        let mut locked = self.lock()?;
        Ok((locked.boxed.call(|learner| learner.state())?, locked.gamma))
    }

    fn action(&self, action: &Bound<'_, PyAny>) -> PyResult<Action> {
        if !self.composition.finite {
            return Ok(Action::Real(real(action, "the action")?));
        }
        let actions = self.outputs();
        let negative =
            |number| format!("action {number} does not exist: there are {actions} actions, numbered from 0");
        Ok(Action::Number(index(action, "the action", negative)?))
    }
}

/// A NumPy generator that policies draw from.
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

/// Returns `repr(value)`.
pub(crate) fn shown(value: &Bound<'_, PyAny>) -> String {
    value.repr().map_or_else(|_| "unprintable".to_owned(), |text| text.to_string())
}

/// Reads a real number of any Python type.
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

/// Reads a whole number of any Python type but bool and float. `negative` returns the message for one below 0.
fn index(value: &Bound<'_, PyAny>, what: &str, negative: impl FnOnce(isize) -> String) -> PyResult<usize> {
    let wrong = || PyTypeError::new_err(format!("{what} is {}; it must be a whole number", shown(value)));
    if value.is_instance_of::<PyBool>() {
        return Err(wrong());
    }
    let number: isize = value.extract().map_err(|error: PyErr| {
        if error.is_instance_of::<PyOverflowError>(value.py()) {
            return PyIndexError::new_err(format!("{what} is {}; there are not that many", shown(value)));
        }
        if error.is_instance_of::<PyTypeError>(value.py()) { wrong() } else { error }
    })?;
    usize::try_from(number).map_err(|_| PyIndexError::new_err(negative(number)))
}

/// A state as it was passed from Python.
enum StateArgument<'py> {
    Vector(PyReadonlyArray1<'py, f64>),
    Active(PyReadonlyArray1<'py, isize>),
    Number(usize),
}

impl<'py> StateArgument<'py> {
    fn new(x: &Bound<'py, PyAny>, form: StateForm, name: &str) -> PyResult<Self> {
        Ok(match form {
            StateForm::Vector => Self::Vector(array(x, "vector", name)?),
            StateForm::Active => Self::Active(array(x, "active", name)?),
            StateForm::Number => {
                let negative = |number| format!("{name} is {number}; states are numbered from 0");
                Self::Number(index(x, name, negative)?)
            }
        })
    }

    fn state(&self) -> PyResult<State<'_>> {
        Ok(match self {
            Self::Vector(array) => State::Vector(array.as_slice()?),
            Self::Active(array) => State::Active(bytemuck::cast_slice(array.as_slice()?)),
            Self::Number(number) => State::Number(*number),
        })
    }
}

/// Returns an array as it is if it can be read, else converted by a function of `emphatic.convert`.
fn array<'py, T: numpy::Element>(
    x: &Bound<'py, PyAny>,
    convert: &str,
    name: &str,
) -> PyResult<PyReadonlyArray1<'py, T>> {
    // No subclass: a masked array is not all numbers.
    if let Ok(array) = x.cast_exact::<PyArray1<T>>() {
        let array = array.try_readonly()?;
        if array.as_slice().is_ok() {
            return Ok(array);
        }
    }
    x.py().import("emphatic.convert")?.call_method1(convert, (x, name))?.extract()
}
