//! Running experiments, and reading their results.

use crate::error::{OrRaise, of_system};
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt32Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use emphatic_lab::store;
use emphatic_lab::{Ending, Event, Experiment, Options, Select, Stop, summarise};
use numpy::PyArray1;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

/// Runs what is missing of an experiment. Returns how many runs of settings diverged.
#[pyfunction]
pub(crate) fn run(
    py: Python<'_>,
    file: PathBuf,
    out: PathBuf,
    runs: Option<u32>,
    threads: Option<NonZeroUsize>,
    progress: Py<PyAny>,
) -> PyResult<u64> {
    let experiment = Experiment::open(&file).or_raise()?;
    let experiment = match runs {
        Some(runs) => experiment.with_runs(runs).or_raise()?,
        None => experiment,
    };
    let mut options = Options::default();
    options.threads = threads.map_or(options.threads, usize::from);
    let stop = Stop::default();
    let mut raised: Option<PyErr> = None;
    let mut on_event = |event: Event| {
        if let Err(error) = Python::attach(|py| report_event(py, &event, &progress)) {
            stop.stop();
            raised.get_or_insert(error);
        }
    };
    let report = py.detach(|| emphatic_lab::run(&experiment, &out, &options, &stop, &mut on_event));
    if let Some(error) = raised {
        return Err(error);
    }
    let report = report.or_raise()?;
    match report.ending {
        Ending::Finished | Ending::ShardFinished => Ok(report.diverged),
        Ending::Stopped => Err(PyRuntimeError::new_err("the experiment was stopped")),
    }
}

fn report_event(py: Python<'_>, event: &Event, progress: &Py<PyAny>) -> PyResult<()> {
    py.check_signals()?;
    match event {
        Event::Warning(warning) => {
            py.import("warnings")?.call_method1("warn", (*warning,))?;
        }
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
) -> PyResult<(String, String)> {
    let select = match select {
        None => None,
        Some("final") => Some(Select::Final),
        Some("area") => Some(Select::Area),
        Some(other) => {
            return Err(PyValueError::new_err(format!("select is `{other}`; it must be `final` or `area`")));
        }
    };
    let summary = py.detach(|| summarise(&directory, select)).or_raise()?;
    let json = serde_json::to_string(&summary).map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok((summary.text(), json))
}

/// Refuses a table that was put beside the results of another experiment.
#[pyfunction]
pub(crate) fn check_table(directory: PathBuf, path: PathBuf) -> PyResult<()> {
    store::check_table(&directory, &path).or_raise()
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

fn read(path: &Path) -> PyResult<Vec<RecordBatch>> {
    let failed = |error: std::io::Error| of_system(&error, format!("{}: {error}", path.display()));
    let file = std::fs::File::open(path).map_err(failed)?;
    let wrong = |error: String| PyValueError::new_err(format!("{}: {error}", path.display()));
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).and_then(|builder| builder.build());
    let reader = reader.map_err(|error| wrong(error.to_string()))?;
    reader.map(|batch| batch.map_err(|error| wrong(error.to_string()))).collect()
}

/// Returns numbers as a NumPy array with NaN for nulls, everything else as a list with `None` for nulls.
fn column<'py>(py: Python<'py>, parts: &[&dyn Array]) -> PyResult<Bound<'py, PyAny>> {
    use arrow_schema::DataType::{Boolean, Float64, Int64, List, UInt32, UInt64, Utf8};
    let nulls = parts.iter().any(|part| part.null_count() > 0);
    macro_rules! numbers {
        ($kind:ty, $whole:ty) => {{
            let all = parts.iter().flat_map(|part| part.as_primitive::<$kind>().iter());
            match nulls {
                true => {
                    PyArray1::from_vec(py, all.map(|x| x.map_or(f64::NAN, |x| x as f64)).collect()).into_any()
                }
                false => {
                    PyArray1::from_vec(py, all.map(|x| x.unwrap_or_default() as $whole).collect()).into_any()
                }
            }
        }};
    }
    Ok(match parts[0].data_type() {
        Float64 => numbers!(Float64Type, f64),
        UInt32 => numbers!(UInt32Type, i64),
        UInt64 => numbers!(UInt64Type, i64),
        Int64 => numbers!(Int64Type, i64),
        Utf8 => {
            let all: Vec<Option<&str>> =
                parts.iter().flat_map(|part| part.as_string::<i32>().iter()).collect();
            all.into_pyobject(py)?.into_any()
        }
        Boolean => {
            let all: Vec<Option<bool>> = parts.iter().flat_map(|part| part.as_boolean().iter()).collect();
            all.into_pyobject(py)?.into_any()
        }
        List(field) if *field.data_type() == Float64 => {
            let lists = parts.iter().flat_map(|part| part.as_list::<i32>().iter());
            let numbers = |list: arrow_array::ArrayRef| -> Vec<f64> {
                list.as_primitive::<Float64Type>().iter().map(|x| x.unwrap_or(f64::NAN)).collect()
            };
            let all: Vec<_> =
                lists.map(|list| list.map(|list| PyArray1::from_vec(py, numbers(list)))).collect();
            all.into_pyobject(py)?.into_any()
        }
        other => return Err(PyValueError::new_err(format!("columns of type {other} cannot be read"))),
    })
}
