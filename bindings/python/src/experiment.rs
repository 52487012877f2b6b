//! Running experiments, and reading their results.

use crate::error::{failed, raised, wrong_value};
use crate::gymnasium;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt32Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use emphatic_lab::store;
use emphatic_lab::{Ending, Event, Experiment, Options, Select, Stop, SummaryOptions, summarise_as};
use numpy::PyArray1;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use pyo3::exceptions::{PyRuntimeError, PyUserWarning, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::cell::RefCell;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

/// Runs what is missing of an experiment. Returns how many runs of settings diverged. `environments` finds those of Gymnasium that it names.
#[pyfunction]
pub(crate) fn run(
    py: Python<'_>,
    file: PathBuf,
    out: PathBuf,
    runs: Option<u32>,
    threads: Option<NonZeroUsize>,
    environments: Py<PyAny>,
    progress: Py<PyAny>,
) -> PyResult<u64> {
    let experiment = with_runs(open(py, &file, &environments)?, runs)?;
    let mut options = Options::default();
    options.threads = threads.map_or(options.threads, usize::from);
    let stop = Stop::default();
    let mut exception: Option<PyErr> = None;
    let mut on_event = |event: Event| {
        if let Err(error) = Python::attach(|py| report_event(py, &event, &progress)) {
            stop.stop();
            exception.get_or_insert(error);
        }
    };
    let report = py.detach(|| emphatic_lab::run(&experiment, &out, &options, &stop, &mut on_event));
    exception.map_or(Ok(()), Err)?;
    let report = report.map_err(raised)?;
    match report.ending {
        Ending::Finished | Ending::ShardFinished => Ok(report.diverged),
        Ending::Stopped => Err(PyRuntimeError::new_err("the experiment was stopped")),
    }
}

/// Returns how much work an experiment is, in words.
#[pyfunction]
pub(crate) fn workload(
    py: Python<'_>,
    file: PathBuf,
    runs: Option<u32>,
    threads: Option<NonZeroUsize>,
    environments: Py<PyAny>,
) -> PyResult<String> {
    let experiment = with_runs(open(py, &file, &environments)?, runs)?;
    let threads = threads.map_or(Options::default().threads, usize::from);
    py.detach(|| emphatic_lab::workload(&experiment, threads)).map_err(raised)
}

fn with_runs(experiment: Experiment, runs: Option<u32>) -> PyResult<Experiment> {
    match runs {
        Some(runs) => experiment.with_runs(runs).map_err(wrong_value),
        None => Ok(experiment),
    }
}

/// Reads an experiment file. If an environment that it names cannot be made, the exception says what that comes from.
fn open(py: Python<'_>, file: &Path, environments: &Py<PyAny>) -> PyResult<Experiment> {
    let failure = RefCell::new(None);
    let find = |name: &str| {
        gymnasium::find(environments, name).inspect_err(|error| _ = failure.replace(Some(error.clone())))
    };
    let experiment = Experiment::open_with(file, Some(&find)).map_err(|error| match failure.take() {
        Some(cause) => gymnasium::caused_by(py, raised(error), &cause),
        None => raised(error),
    })?;
    environments.call_method1(py, "check", (file,))?;
    experiment.warnings().iter().try_for_each(|warning| warn(py, warning))?;
    Ok(experiment)
}

/// Warns at the place of the call of `emphatic.run` or `emphatic.check`, in whose frame this is.
fn warn(py: Python<'_>, warning: &str) -> PyResult<()> {
    let category = py.get_type::<PyUserWarning>();
    py.import("warnings")?.call_method1("warn", (warning, category, 2))?;
    Ok(())
}

fn report_event(py: Python<'_>, event: &Event, progress: &Py<PyAny>) -> PyResult<()> {
    py.check_signals()?;
    match event {
        Event::Warning(warning) => warn(py, warning)?,
        Event::Progress(now) => {
            progress.call1(py, (now.done, now.units, now.updates, now.elapsed.as_secs_f64()))?;
        }
    }
    Ok(())
}

/// Returns a summary of results, as text and as JSON.
#[pyfunction]
pub(crate) fn summary(
    py: Python<'_>,
    directory: PathBuf,
    select: Option<&str>,
    select_by: Option<String>,
    quantity: Option<String>,
) -> PyResult<(String, String)> {
    let select = match select {
        None => None,
        Some("final") => Some(Select::Final),
        Some("area") => Some(Select::Area),
        Some(other) => {
            return Err(PyValueError::new_err(format!("select is `{other}`; it must be `final` or `area`")));
        }
    };
    let mut options = SummaryOptions::default();
    (options.select, options.select_by, options.quantity) = (select, select_by, quantity);
    let summary = py.detach(|| summarise_as(&directory, &options)).map_err(raised)?;
    let json = serde_json::to_string(&summary).map_err(wrong_value)?;
    Ok((summary.text(), json))
}

/// Refuses a table that was put beside the results of another experiment.
#[pyfunction]
pub(crate) fn check_table(directory: PathBuf, path: PathBuf) -> PyResult<()> {
    store::check_table(&directory, &path).map_err(raised)
}

/// Reads the columns of a Parquet table.
#[pyfunction]
pub(crate) fn read_table<'py>(py: Python<'py>, path: PathBuf) -> PyResult<Bound<'py, PyDict>> {
    let batches = py.detach(|| read(&path))?;
    let columns = PyDict::new(py);
    let Some(first) = batches.first() else { return Ok(columns) };
    for (k, field) in first.schema().fields().iter().enumerate() {
        let parts: Vec<&dyn Array> = batches.iter().map(|batch| batch.column(k).as_ref()).collect();
        columns.set_item(field.name(), column(py, &parts)?)?;
    }
    Ok(columns)
}

/// Reads the rows of a Parquet table, some at a time: how many there are in all is only known once they are read, whatever the
/// file says.
fn read(path: &Path) -> PyResult<Vec<RecordBatch>> {
    let file = std::fs::File::open(path).map_err(failed(path))?;
    let wrong = |error: &dyn std::fmt::Display| wrong_value(format!("{}: {error}", path.display()));
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).and_then(|builder| builder.build());
    let reader = reader.map_err(|error| wrong(&error))?;
    reader.map(|batch| batch.map_err(|error| wrong(&error))).collect()
}

/// Returns numbers as a NumPy array with NaN for nulls, everything else as a list with `None` for nulls.
fn column<'py>(py: Python<'py>, parts: &[&dyn Array]) -> PyResult<Bound<'py, PyAny>> {
    use arrow_schema::DataType::{Boolean, Float64, Int64, List, UInt32, UInt64, Utf8};
    macro_rules! numbers {
        ($kind:ty, $whole:ty) => {{
            let all = parts.iter().flat_map(|part| part.as_primitive::<$kind>().iter());
            match parts.iter().all(|part| part.null_count() == 0) {
                true => PyArray1::from_iter(py, all.map(|x| x.unwrap_or_default() as $whole)).into_any(),
                false => PyArray1::from_iter(py, all.map(|x| x.map_or(f64::NAN, |x| x as f64))).into_any(),
            }
        }};
    }
    macro_rules! list {
        ($array:ident => $values:expr) => {
            parts.iter().flat_map(|$array| $values).collect::<Vec<_>>().into_pyobject(py)?.into_any()
        };
    }
    Ok(match parts[0].data_type() {
        Float64 => numbers!(Float64Type, f64),
        UInt32 => numbers!(UInt32Type, i64),
        UInt64 => numbers!(UInt64Type, i64),
        Int64 => numbers!(Int64Type, i64),
        Utf8 => list!(array => array.as_string::<i32>().iter()),
        Boolean => list!(array => array.as_boolean().iter()),
        List(field) if *field.data_type() == Float64 => {
            let numbers = |list: arrow_array::ArrayRef| {
                let numbers = list.as_primitive::<Float64Type>().iter();
                PyArray1::from_iter(py, numbers.map(|x| x.unwrap_or(f64::NAN)))
            };
            list!(array => array.as_list::<i32>().iter().map(|list| list.map(numbers)))
        }
        other => return Err(PyValueError::new_err(format!("columns of type {other} cannot be read"))),
    })
}
