//! Memory, asked for before it is needed.
//!
//! Where Rust misses memory it ends the process. So what needs much of it first asks for all of it at once, and gives it back: what is
//! not to be had is a `MemoryError`.

use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use std::collections::TryReserveError;
use std::hint::black_box;

/// What is less is not worth asking for.
const LITTLE: f64 = 65536.0;

/// No machine has as much, though some promise it.
const TOO_MUCH: f64 = (1_u64 << 45) as f64;

/// Raises `MemoryError` if so many bytes are not to be had. The message starts with what does not fit.
pub(crate) fn ask(bytes: f64, what: impl FnOnce() -> String) -> PyResult<()> {
    if bytes < LITTLE {
        return Ok(());
    }
    let mut room = Vec::<u8>::new();
    // With the allocator's own share, and whatever small is needed beside.
    let asked = room.try_reserve_exact((1.02 * bytes + 1e6) as usize);
    // The compiler may leave out memory that is not used, and then takes it for granted.
    black_box(&mut room);
    if asked.is_ok() && bytes < TOO_MUCH { Ok(()) } else { Err(too_much(what())) }
}

fn too_much(what: String) -> PyErr {
    PyMemoryError::new_err(format!("{what} does not fit into memory"))
}

/// Room for so many numbers.
pub(crate) fn room(count: usize) -> PyResult<Vec<f64>> {
    let mut room = Vec::new();
    let missed = |_: TryReserveError| too_much(format!("a list of {count} numbers"));
    room.try_reserve_exact(count).map_err(missed)?;
    Ok(room)
}

/// A copy of numbers.
pub(crate) fn copied(numbers: &[f64]) -> PyResult<Vec<f64>> {
    let mut copy = room(numbers.len())?;
    copy.extend_from_slice(numbers);
    Ok(copy)
}
