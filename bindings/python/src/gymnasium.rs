//! Environments of Gymnasium as sources of experiments: Python is called to open, to reset and to step them, and for nothing else.

use emphatic::Action;
use emphatic::basis::Dimension;
use emphatic_lab::{
    Actions, ExternalEnvironment, ExternalError, ExternalOutcome, Interface, Session, SourceError,
};
use numpy::{PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyList;
use serde_json::Value;
use std::sync::Arc;

/// A kind of environment, `emphatic.sessions.Kind`.
#[derive(Debug)]
struct GymnasiumEnvironment {
    kind: Py<PyAny>,
    interface: Interface,
    identity: Value,
}

/// The names of actions, or the bounds of a real one.
#[derive(FromPyObject)]
enum Acting {
    Names(Vec<String>),
    Bounds((f64, f64)),
}

/// Finds an environment by its name in experiment files, through `emphatic.sessions.Environments`.
pub(crate) fn find(
    environments: &Py<PyAny>,
    name: &str,
) -> Result<Arc<dyn ExternalEnvironment>, ExternalError> {
    Python::attach(|py| {
        let found = environments.bind(py).call1((name,)).and_then(|kind| described(name, &kind));
        let environment = found.map_err(|error| external(py, error))?;
        Ok(Arc::new(environment) as Arc<dyn ExternalEnvironment>)
    })
}

fn described(name: &str, kind: &Bound<'_, PyAny>) -> PyResult<GymnasiumEnvironment> {
    let (low, high): (Vec<f64>, Vec<f64>) =
        (kind.getattr("low")?.extract()?, kind.getattr("high")?.extract()?);
    let bounds = low.into_iter().zip(high);
    let identity: String = kind.getattr("identity")?.extract()?;
    let interface = Interface {
        name: name.to_owned(),
        shown: kind.getattr("shown")?.extract()?,
        space: bounds.map(|(low, high)| Dimension { low, high, wraps: false }).collect(),
        actions: match kind.getattr("actions")?.extract()? {
            Acting::Names(names) => Actions::Finite(names),
            Acting::Bounds((low, high)) => Actions::Real { low, high, standard_deviation: 1.0 },
        },
        limit: kind.getattr("limit")?.extract()?,
    };
    let identity = serde_json::from_str(&identity).unwrap_or(Value::String(identity));
    Ok(GymnasiumEnvironment { kind: kind.clone().unbind(), interface, identity })
}

/// Returns an exception of Python as an error, which keeps it.
fn external(py: Python<'_>, error: PyErr) -> ExternalError {
    let value = error.value(py);
    let attribute = |name: &str| value.getattr(name).ok();
    ExternalError {
        message: value.to_string(),
        help: attribute("help").and_then(|help| help.extract().ok()),
        which: attribute("which").and_then(|which| which.extract().ok()).unwrap_or(0),
        cause: Some(Arc::new(error)),
    }
}

/// Lets an exception say what it comes from: what the environment itself raised.
pub(crate) fn caused_by(py: Python<'_>, raised: PyErr, error: &ExternalError) -> PyErr {
    let kept = error.cause.as_ref().and_then(|cause| cause.downcast_ref::<PyErr>());
    if let Some(kept) = kept {
        raised.set_cause(py, Some(kept.cause(py).unwrap_or_else(|| kept.clone_ref(py))));
    }
    raised
}

/// Returns the exception of an environment that failed while an experiment was run.
pub(crate) fn episode_error(message: String, error: &SourceError) -> PyErr {
    let help = "what was finished is kept; when the environment is mended, the same call goes on";
    Python::attach(|py| {
        let class = py.import("emphatic.rollout").and_then(|module| module.getattr("EpisodeError"));
        let raised = class.and_then(|class| class.call1((format!("{message}\nhelp: {help}"),)));
        let raised = raised.map_or_else(|error| error, PyErr::from_value);
        match error {
            SourceError::External { source, .. } => caused_by(py, raised, source),
            _ => raised,
        }
    })
}

impl ExternalEnvironment for GymnasiumEnvironment {
    fn interface(&self) -> &Interface {
        &self.interface
    }

    fn identity(&self) -> Value {
        self.identity.clone()
    }

    fn open(&self, count: usize) -> Result<Box<dyn Session>, ExternalError> {
        Python::attach(|py| {
            let open = || {
                let session = self.kind.bind(py).call_method1("open", (count,))?;
                let rows = session.getattr("rows")?.cast_into::<PyArray2<f64>>()?.unbind();
                let method = |name: &str| session.getattr(name).map(Bound::unbind);
                Ok(GymnasiumSession {
                    reset: method("reset")?,
                    step: method("step")?,
                    close: method("close")?,
                    rows,
                })
            };
            Ok(Box::new(open().map_err(|error| external(py, error))?) as Box<dyn Session>)
        })
    }
}

/// Some environments of a kind, `emphatic.sessions.Session`.
struct GymnasiumSession {
    reset: Py<PyAny>,
    step: Py<PyAny>,
    close: Py<PyAny>,
    /// What is observed: a row for each environment that a call is about.
    rows: Py<PyArray2<f64>>,
}

impl GymnasiumSession {
    /// Copies what was observed by the last call.
    fn copy_rows(&self, py: Python<'_>, observations: &mut [f64]) -> PyResult<()> {
        let rows = self.rows.bind(py).readonly();
        observations.copy_from_slice(&rows.as_slice()?[..observations.len()]);
        Ok(())
    }
}

impl Session for GymnasiumSession {
    fn reset(&mut self, place: usize, seed: u64, observation: &mut [f64]) -> Result<(), ExternalError> {
        Python::attach(|py| {
            let reset = self.reset.call1(py, (place, seed));
            reset.and_then(|_| self.copy_rows(py, observation)).map_err(|error| external(py, error))
        })
    }

    fn step(
        &mut self,
        places: &[usize],
        actions: &[Action],
        observations: &mut [f64],
        outcomes: &mut [ExternalOutcome],
    ) -> Result<(), ExternalError> {
        Python::attach(|py| {
            let mut step = || {
                let taken = PyList::empty(py);
                actions.iter().try_for_each(|action| match action {
                    Action::Number(number) => taken.append(*number),
                    Action::Real(real) => taken.append(*real),
                })?;
                let stepped = self.step.bind(py).call1((places, taken))?;
                let stepped: Vec<(f64, bool, bool, Option<f64>)> = stepped.extract()?;
                for (outcome, (reward, terminated, truncated, gamma_next)) in outcomes.iter_mut().zip(stepped)
                {
                    *outcome = ExternalOutcome { reward, terminated, truncated, gamma_next };
                }
                self.copy_rows(py, observations)
            };
            step().map_err(|error| external(py, error))
        })
    }
}

impl Drop for GymnasiumSession {
    fn drop(&mut self) {
        // Python may have ended already; and an environment that does not close is not worth an error.
        Python::try_attach(|py| self.close.call0(py).ok());
    }
}
