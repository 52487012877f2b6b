//! Errors as Python's exceptions, with the same messages.

use crate::gymnasium::episode_error;
use emphatic::{ComposeError, FeatureError, LearnError, SettingError, StateError, StepError};
use emphatic_lab::store::StoreError;
use emphatic_lab::{RunError, SourceError, UnitError};
use emphatic_problems::ReadError;
use emphatic_text::printable_lines;
use miette::Diagnostic;
use pyo3::exceptions::{
    PyFileNotFoundError, PyIndexError, PyIsADirectoryError, PyMemoryError, PyNotADirectoryError, PyOSError,
    PyRuntimeError, PyTypeError, PyValueError,
};
use pyo3::prelude::*;
use std::path::Path;

pyo3::create_exception!(
    emphatic,
    DivergedError,
    pyo3::exceptions::PyArithmeticError,
    "A learner whose weights have left the finite numbers: its step-size was probably too large."
);

pyo3::create_exception!(
    emphatic,
    FileError,
    PyValueError,
    "A problem file or an experiment file that makes no sense; the message says where and what would be right."
);

/// An error of the library that becomes a Python exception.
pub(crate) trait Raise {
    fn raise(&self) -> PyErr;
}

/// For `map_err`: an error of the library as its Python exception.
pub(crate) fn raised(error: impl Raise) -> PyErr {
    error.raise()
}

impl Raise for FeatureError {
    fn raise(&self) -> PyErr {
        of_step(&StepError::Features(self.clone()), self.to_string())
    }
}

impl Raise for StepError {
    fn raise(&self) -> PyErr {
        of_step(self, self.to_string())
    }
}

/// An index out of range is an `IndexError`, a value of another kind a `TypeError`.
fn of_step(error: &StepError, message: String) -> PyErr {
    match error {
        StepError::Action { .. }
        | StepError::Features(FeatureError::State { .. } | FeatureError::Index { .. }) => {
            PyIndexError::new_err(message)
        }
        StepError::ActionKind(..) | StepError::Features(FeatureError::Kind { .. }) => {
            PyTypeError::new_err(message)
        }
        _ => PyValueError::new_err(message),
    }
}

impl Raise for LearnError {
    fn raise(&self) -> PyErr {
        of_step(&self.source, self.to_string())
    }
}

impl Raise for ComposeError {
    fn raise(&self) -> PyErr {
        match self {
            Self::TooMany(_) => PyMemoryError::new_err(self.to_string()),
            Self::Incompatible(_)
            | Self::Policy
            | Self::Ratio
            | Self::Setting(SettingError::Missing { .. } | SettingError::Unknown { .. }) => {
                PyTypeError::new_err(self.to_string())
            }
            _ => PyValueError::new_err(self.to_string()),
        }
    }
}

/// Returns an error as a `ValueError`.
pub(crate) fn wrong_value(error: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}

impl Raise for StateError {
    fn raise(&self) -> PyErr {
        wrong_value(self)
    }
}

/// Returns an error of the system as Python's subclass of `OSError` for it.
fn of_system(error: &std::io::Error, message: String) -> PyErr {
    match error.kind() {
        std::io::ErrorKind::IsADirectory => PyIsADirectoryError::new_err(message),
        std::io::ErrorKind::NotADirectory => PyNotADirectoryError::new_err(message),
        kind => std::io::Error::new(kind, message).into(),
    }
}

/// For `map_err`: an error of the system about this file.
pub(crate) fn failed(path: &Path) -> impl Fn(std::io::Error) -> PyErr {
    move |error| of_system(&error, format!("{}: {error}", path.display()))
}

/// Returns an error in a file as an exception that says where, what, and what would be right.
pub(crate) fn in_file(error: &emphatic_problems::FileError) -> PyErr {
    let mut text = String::new();
    let label = error.labels().and_then(|mut labels| labels.next());
    if let (Some(label), Some(source)) = (label, error.source_code())
        && let Ok(place) = source.read_span(label.inner(), 0, 0)
    {
        let name = place.name().unwrap_or("the text");
        text += &format!("{name}, line {}, column {}: ", place.line() + 1, place.column() + 1);
    }
    text += &error.to_string();
    if let Some(help) = error.help() {
        text += &format!("\nhelp: {help}");
    }
    FileError::new_err(text)
}

impl Raise for ReadError {
    fn raise(&self) -> PyErr {
        match self {
            Self::Io { error, .. } => of_system(error, words(self)),
            Self::Unknown { help, .. } => {
                let help = help.as_ref().map_or(String::new(), |help| format!("\nhelp: {help}"));
                PyFileNotFoundError::new_err(words(&format!("{self}{help}")))
            }
            Self::File(error) => in_file(error),
            _ => FileError::new_err(words(self)),
        }
    }
}

impl Raise for StoreError {
    fn raise(&self) -> PyErr {
        let words = words(self);
        match self {
            Self::Disk { source, .. } => of_system(source, words),
            Self::Read(error) => error.raise(),
            Self::Gone { .. } => PyOSError::new_err(words),
            Self::InUse { .. } => PyRuntimeError::new_err(words),
            _ => PyValueError::new_err(words),
        }
    }
}

/// Removes control characters from a message that may hold a path or a name: a traceback goes to a terminal.
fn words(error: &impl std::fmt::Display) -> String {
    printable_lines(&error.to_string())
}

impl Raise for UnitError {
    fn raise(&self) -> PyErr {
        of_unit(self, words(self))
    }
}

/// An environment that fails is told from what else may go wrong.
fn of_unit(error: &UnitError, message: String) -> PyErr {
    match error {
        UnitError::Source(error @ SourceError::External { .. }) => episode_error(message, error),
        _ => PyRuntimeError::new_err(message),
    }
}

impl Raise for RunError {
    fn raise(&self) -> PyErr {
        match self {
            Self::Store(error) => error.raise(),
            Self::Unit { source, .. } => of_unit(source, words(self)),
            _ => PyRuntimeError::new_err(words(self)),
        }
    }
}
