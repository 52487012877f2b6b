//! Ratios, emphasis and returns of whole rollouts, for networks of one's own.
//!
//! All arrays are contiguous, of one shape [time, batch]. Python has checked every value.

use crate::error::wrong_value;
use crate::memory;
use emphatic::FollowOn;
use emphatic::real::elementary::exp;
use numpy::ndarray::Dimension;
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// From this many numbers on, other Python threads may run meanwhile. For fewer, releasing the lock costs more than it is worth.
const LARGE: usize = 1 << 14;

/// min(exp(`log_pi` − `log_mu`), `clip`).
#[pyfunction]
pub(crate) fn rho<'py>(
    py: Python<'py>,
    log_pi: PyReadonlyArray2<'py, f64>,
    log_mu: PyReadonlyArray2<'py, f64>,
    clip: f64,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let (shape, [log_pi, log_mu]) = of_one_shape([&log_pi, &log_mu])?;
    compute(py, shape, |rho| {
        for ((rho, log_pi), log_mu) in rho.iter_mut().zip(log_pi).zip(log_mu) {
            *rho = exp(log_pi - log_mu).min(clip);
        }
    })
}

/// M_t = (1 − λ_a) i_t + λ_a F_t with F_t = γ_t ρ_{t−1} F_{t−1} + i_t, where `initial` is ρ_{−1} F_{−1}.
#[pyfunction]
pub(crate) fn emphasis<'py>(
    py: Python<'py>,
    rho: PyReadonlyArray2<'py, f64>,
    gamma: PyReadonlyArray2<'py, f64>,
    interest: PyReadonlyArray2<'py, f64>,
    lambda_a: f64,
    initial: PyReadonlyArray1<'py, f64>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let (shape, [rho, gamma, interest]) = of_one_shape([&rho, &gamma, &interest])?;
    let batch = shape[1];
    let initial = initial.as_slice()?;
    if initial.len() != batch {
        return Err(PyValueError::new_err(format!("initial has {} numbers, not {batch}", initial.len())));
    }
    let trace = FollowOn::builder().lambda_a(lambda_a).build().map_err(wrong_value)?;
    memory::check((size_of_val(&trace) * batch) as f64, || format!("{batch} traces"))?;
    let mut traces: Vec<FollowOn<f64>> = initial.iter().map(|carried| trace.carrying(*carried)).collect();
    compute(py, shape, |emphasis| {
        for row in rows(shape) {
            let (rho, gamma, interest) = (&rho[row.clone()], &gamma[row.clone()], &interest[row.clone()]);
            let emphasis = &mut emphasis[row];
            for (b, trace) in traces.iter_mut().enumerate() {
                emphasis[b] = trace.next(gamma[b], interest[b], rho[b]);
            }
        }
    })
}

/// G_t = v_t + ρ_t (δ_t + γ_{t+1} λ_{t+1} (G_{t+1} − v_{t+1})). A `lambda_next` of 0 ends the sum: it bootstraps.
#[pyfunction]
pub(crate) fn lambda_returns<'py>(
    py: Python<'py>,
    reward: PyReadonlyArray2<'py, f64>,
    gamma_next: PyReadonlyArray2<'py, f64>,
    value: PyReadonlyArray2<'py, f64>,
    value_next: PyReadonlyArray2<'py, f64>,
    rho: PyReadonlyArray2<'py, f64>,
    lambda_next: PyReadonlyArray2<'py, f64>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let (shape, [reward, gamma_next, value, value_next, rho, lambda_next]) =
        of_one_shape([&reward, &gamma_next, &value, &value_next, &rho, &lambda_next])?;
    let batch = shape[1];
    // G − v of the next step.
    let mut excess = memory::with_capacity(batch)?;
    excess.resize(batch, 0.0);
    compute(py, shape, |returns| {
        for row in rows(shape).rev() {
            let (reward, gamma_next) = (&reward[row.clone()], &gamma_next[row.clone()]);
            let (value, value_next) = (&value[row.clone()], &value_next[row.clone()]);
            let (rho, lambda_next) = (&rho[row.clone()], &lambda_next[row.clone()]);
            let returns = &mut returns[row];
            for b in 0..batch {
                let delta = reward[b] + gamma_next[b] * value_next[b] - value[b];
                let rest = unless_zero(gamma_next[b] * lambda_next[b], excess[b]);
                excess[b] = unless_zero(rho[b], delta + rest);
                returns[b] = value[b] + excess[b];
            }
        }
    })
}

/// `factor · x`, and 0 if the factor is 0 even if x has overflowed.
#[inline(always)]
fn unless_zero(factor: f64, x: f64) -> f64 {
    if factor == 0.0 { 0.0 } else { factor * x }
}

/// Returns the shape that all arrays have, and their numbers.
fn of_one_shape<'a, const N: usize>(
    arrays: [&'a PyReadonlyArray2<'_, f64>; N],
) -> PyResult<([usize; 2], [&'a [f64]; N])> {
    let (time, batch) = arrays[0].dims().into_pattern();
    let mut slices: [&[f64]; N] = [&[]; N];
    for (slice, array) in slices.iter_mut().zip(arrays) {
        if array.shape() != [time, batch] {
            let shape = array.shape();
            return Err(PyValueError::new_err(format!("shapes [{time}, {batch}] and {shape:?} differ")));
        }
        *slice = array.as_slice()?;
    }
    Ok(([time, batch], slices))
}

/// Returns where the numbers of each time are.
fn rows([time, batch]: [usize; 2]) -> impl DoubleEndedIterator<Item = std::ops::Range<usize>> {
    (0..time).map(move |t| t * batch..(t + 1) * batch)
}

/// Returns a new array, filled by `fill`.
fn compute(
    py: Python<'_>,
    [time, batch]: [usize; 2],
    fill: impl FnOnce(&mut [f64]) + Send,
) -> PyResult<Bound<'_, PyArray2<f64>>> {
    let mut numbers = memory::with_capacity(time * batch)?;
    numbers.resize(time * batch, 0.0);
    if numbers.len() < LARGE {
        fill(&mut numbers)
    } else {
        py.detach(|| fill(&mut numbers))
    }
    PyArray1::from_vec(py, numbers).reshape([time, batch])
}
