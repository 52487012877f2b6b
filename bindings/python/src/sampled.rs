//! The diagnosis of a batch.

use crate::batch::{BatchArrays, unless_changed};
use crate::error::wrong_value;
use crate::memory;
use crate::settings::FeaturesPart;
use emphatic_diagnosis::{Experience, diagnose_experience};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;

/// Returns the diagnosis of a batch as JSON and as text. `actions` is their number, 0 if an action is a real number; `target` is π(A_t|S_t).
#[pyfunction]
pub(crate) fn diagnose_batch(
    py: Python<'_>,
    batch: BatchArrays<'_>,
    features: &Bound<'_, PyAny>,
    actions: usize,
    target: Option<PyReadonlyArray1<'_, f64>>,
) -> PyResult<(String, String)> {
    let part = FeaturesPart::read(features)?;
    let (features, columns) = (part.features()?, batch.columns(part.form())?);
    memory::check(400.0 * columns.len() as f64, || format!("a diagnosis of {} steps", columns.len()))?;
    let target = target.map(|target| target.as_slice().map(<[f64]>::to_vec)).transpose()?;
    let found = unless_changed(|| {
        py.detach(|| {
            let steps: Vec<_> = (0..columns.len()).map(|t| columns.step(t)).collect();
            let actions = (0..actions).map(|action| action.to_string()).collect();
            let name = "the batch".to_owned();
            let experience = Experience { name, steps: &steps, features: &features, actions, target };
            diagnose_experience(&experience).map_err(wrong_value)
        })
    })?;
    Ok((serde_json::to_string(&found).map_err(wrong_value)?, found.text()))
}
