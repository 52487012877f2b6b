//! Environments: several episodes side by side.

use crate::batch::{Actions, Numbers};
use crate::memory;
use emphatic::{Action, Random};
use emphatic_environments::{self as environments, Description, ENVIRONMENTS, Environment, Outcome};
use emphatic_problems::suggest;
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use std::sync::{Arc, Mutex, MutexGuard};

/// What an environment is.
#[derive(IntoPyObject)]
pub(crate) struct Described {
    name: &'static str,
    about: &'static str,
    source: &'static str,
    /// How many numbers a state is.
    state: usize,
    /// What is observed, with the range that features cover, whether it is never left, and whether its ends meet.
    observations: Vec<(&'static str, f64, f64, bool, bool)>,
    /// The names of the actions; `None` if the action is a real number.
    actions: Option<Vec<&'static str>>,
    /// The least and the greatest real action.
    range: Option<(f64, f64)>,
    limit: Option<u32>,
    gymnasium: Option<&'static str>,
}

impl From<&Description> for Described {
    fn from(of: &Description) -> Self {
        let observed = of.observations.iter();
        let (actions, range) = match of.actions {
            environments::Actions::Finite(names) => (Some(names.to_vec()), None),
            environments::Actions::Real { low, high, .. } => (None, Some((low, high))),
        };
        Self {
            name: of.name,
            about: of.about,
            source: of.source,
            state: of.state,
            observations: observed.map(|o| (o.name, o.low, o.high, o.bounded, o.wraps)).collect(),
            actions,
            range,
            limit: of.limit,
            gymnasium: of.gymnasium,
        }
    }
}

/// Describes all environments.
#[pyfunction]
pub(crate) fn simulators() -> Vec<Described> {
    ENVIRONMENTS.iter().map(|listed| listed.description.into()).collect()
}

/// Several episodes of an environment, side by side, each with its own random stream.
#[pyclass(frozen, module = "emphatic._native")]
pub(crate) struct Simulator {
    environment: Arc<dyn Environment>,
    /// After how many steps an episode is cut short.
    limit: Option<u64>,
    episodes: Mutex<Episodes>,
}

#[derive(Clone)]
struct Episodes {
    /// One after the other.
    states: Vec<f64>,
    randoms: Vec<Random>,
    /// How many steps each has taken.
    steps: Vec<u64>,
}

/// Observations, rewards, terminated and truncated.
type Stepped<'py> = (
    Bound<'py, PyArray2<f64>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<bool>>,
    Bound<'py, PyArray1<bool>>,
);

#[pymethods]
impl Simulator {
    /// Episodes that have not begun, in the environment of this name.
    #[new]
    fn new(name: &str, count: usize, limit: Option<u64>) -> PyResult<Self> {
        let Some(environment) = environments::find(name) else {
            let names = ENVIRONMENTS.iter().map(|listed| listed.description.name);
            let help = suggest(name, names).unwrap_or_default();
            return Err(PyValueError::new_err(format!("there is no environment `{name}`; {help}")));
        };
        let Description { state, observations, .. } = environment.description();
        // With what a step returns.
        let bytes = 8.0 * count as f64 * (state + observations.len() + 8) as f64;
        memory::check(bytes, || format!("{count} environments"))?;
        let episodes = Episodes {
            states: vec![0.0; count * state],
            randoms: vec![Random::new(0, 0); count],
            steps: vec![0; count],
        };
        Ok(Self { environment, limit, episodes: Mutex::new(episodes) })
    }

    fn __deepcopy__(&self, _memo: &Bound<'_, PyAny>) -> PyResult<Self> {
        let episodes = Mutex::new(self.lock()?.clone());
        Ok(Self { environment: self.environment.clone(), limit: self.limit, episodes })
    }

    /// Begins new random streams, keyed by these seeds; those without one go on.
    fn seed(&self, seeds: Vec<Option<u64>>) -> PyResult<()> {
        let mut episodes = self.lock()?;
        check_count(seeds.len(), episodes.steps.len())?;
        for (random, seed) in episodes.randoms.iter_mut().zip(seeds) {
            if let Some(seed) = seed {
                *random = Random::new(seed, 0);
            }
        }
        Ok(())
    }

    /// Begins an episode in these environments, in a state that is drawn or in the given one.
    fn begin(
        &self,
        chosen: PyReadonlyArray1<'_, bool>,
        states: Option<PyReadonlyArray2<'_, f64>>,
    ) -> PyResult<()> {
        let chosen = chosen.as_slice()?;
        let mut episodes = self.lock()?;
        check_count(chosen.len(), episodes.steps.len())?;
        if let Some(states) = &states {
            check_count(states.as_slice()?.len(), episodes.states.len())?;
        }
        let width = self.description().state;
        for i in (0..chosen.len()).filter(|i| chosen[*i]) {
            match &states {
                None => episodes.begin(&*self.environment, i),
                Some(states) => {
                    let range = i * width..(i + 1) * width;
                    episodes.states[range.clone()].copy_from_slice(&states.as_slice()?[range]);
                    episodes.steps[i] = 0;
                }
            }
        }
        Ok(())
    }

    /// What is observed of all states.
    fn observations<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let episodes = self.lock()?;
        self.observed(py, &episodes)
    }

    /// A copy of all states.
    #[getter]
    fn states<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let episodes = self.lock()?;
        let states = memory::copied(&episodes.states)?;
        PyArray1::from_vec(py, states).reshape([episodes.steps.len(), self.description().state])
    }

    /// Puts all environments into these states. Episodes go on from there.
    fn set_states(&self, states: PyReadonlyArray2<'_, f64>) -> PyResult<()> {
        let (states, mut episodes) = (states.as_slice()?, self.lock()?);
        check_count(states.len(), episodes.states.len())?;
        episodes.states.copy_from_slice(states);
        Ok(())
    }

    /// What an action must be, in words.
    #[getter]
    fn right_action(&self) -> String {
        match self.description().actions {
            environments::Actions::Finite(names) => {
                format!("one of 0 to {} ({})", names.len() - 1, names.join(", "))
            }
            environments::Actions::Real { low, high, .. } if low.is_finite() => {
                format!("a number between {low} and {high}; gymnasium.wrappers.ClipAction takes any action")
            }
            environments::Actions::Real { .. } => "a finite number".to_owned(),
        }
    }

    /// Takes a step in every environment; where `resets` says so, begins an episode instead. An action that does not exist raises
    /// Gymnasium's `InvalidAction`, and nothing has been done.
    fn step<'py>(
        &self,
        py: Python<'py>,
        actions: &Bound<'py, PyAny>,
        resets: PyReadonlyArray1<'py, bool>,
    ) -> PyResult<Stepped<'py>> {
        // To try both kinds would take longer than the steps.
        let actions = match self.description().actions {
            environments::Actions::Finite(_) => Numbers::Whole(actions.extract()?),
            environments::Actions::Real { .. } => Numbers::Reals(actions.extract()?),
        };
        let count = actions.rows();
        let (actions, resets) = (actions.actions()?, resets.as_slice()?);
        let mut locked = self.lock()?;
        let episodes = &mut *locked;
        check_count(count, episodes.steps.len())?;
        check_count(resets.len(), episodes.steps.len())?;
        self.check_actions(py, actions, resets)?;
        let outcomes = py.detach(|| episodes.step(&*self.environment, actions, resets));
        let cut = |steps: &u64| self.limit.is_some_and(|limit| *steps >= limit);
        Ok((
            self.observed(py, episodes)?,
            PyArray1::from_iter(py, outcomes.iter().map(|outcome| outcome.reward)),
            PyArray1::from_iter(py, outcomes.iter().map(|outcome| outcome.is_over)),
            PyArray1::from_iter(py, episodes.steps.iter().map(cut)),
        ))
    }
}

impl Episodes {
    fn begin(&mut self, environment: &dyn Environment, i: usize) {
        let width = environment.description().state;
        environment.start(&mut self.states[i * width..(i + 1) * width], &mut self.randoms[i]);
        self.steps[i] = 0;
    }

    fn step(&mut self, environment: &dyn Environment, actions: Actions<'_>, resets: &[bool]) -> Vec<Outcome> {
        let width = environment.description().state;
        let mut one = |i: usize| {
            if resets[i] {
                self.begin(environment, i);
                return Outcome::default();
            }
            self.steps[i] += 1;
            let state = &mut self.states[i * width..(i + 1) * width];
            environment.step(state, actions.at(i), &mut self.randoms[i])
        };
        (0..resets.len()).map(&mut one).collect()
    }
}

impl Simulator {
    fn description(&self) -> &Description {
        self.environment.description()
    }

    fn lock(&self) -> PyResult<MutexGuard<'_, Episodes>> {
        // Waiting would be for ever: the other thread waits for Python.
        let used = "this environment is in use by another thread; let each thread have its own";
        self.episodes.try_lock().map_err(|_| PyRuntimeError::new_err(used))
    }

    fn observed<'py>(&self, py: Python<'py>, episodes: &Episodes) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let (count, width) = (episodes.steps.len(), self.description().observations.len());
        let mut all = memory::zeros(count, width)?;
        py.detach(|| self.environment.observe_all(&episodes.states, &mut all));
        PyArray1::from_vec(py, all).reshape([count, width])
    }

    /// Refuses an action that does not exist.
    fn check_actions(&self, py: Python<'_>, actions: Actions<'_>, resets: &[bool]) -> PyResult<()> {
        let taken = |i: &usize| !resets[*i];
        let wrong = (0..resets.len()).filter(taken).find(|i| !self.has_action(actions.at(*i)));
        let Some(i) = wrong else { return Ok(()) };
        let which = if resets.len() == 1 { String::new() } else { format!(" of environment {i}") };
        let action = match actions.at(i) {
            // Negative ones were read as indices.
            Action::Number(number) => (number as isize).to_string(),
            Action::Real(real) => real.to_string(),
        };
        let message = format!("the action{which} is {action}; it must be {}", self.right_action());
        Err(PyErr::from_value(py.import("gymnasium.error")?.getattr("InvalidAction")?.call1((message,))?))
    }

    fn has_action(&self, action: Action) -> bool {
        match (self.description().actions, action) {
            (environments::Actions::Finite(names), Action::Number(number)) => number < names.len(),
            (environments::Actions::Real { low, high, .. }, Action::Real(real)) => {
                real.is_finite() && low <= real && real <= high
            }
            _ => false,
        }
    }
}

fn check_count(given: usize, right: usize) -> PyResult<()> {
    if given == right {
        Ok(())
    } else {
        Err(PyValueError::new_err(format!("{given} given; there are {right}")))
    }
}
