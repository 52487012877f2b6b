//! Waiting for other threads with an ear for Ctrl-C.

use pyo3::prelude::*;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

/// How often Ctrl-C is looked for and progress is told.
const TICK: Duration = Duration::from_millis(100);

/// The next message; nothing when no more will come. While it waits, others may run and `tell` is called now and then.
pub(crate) fn next<T: Send>(
    py: Python<'_>,
    messages: &mut Receiver<T>,
    tell: impl Fn() -> PyResult<()>,
) -> PyResult<Option<T>> {
    loop {
        let waiting = &mut *messages;
        match py.detach(move || waiting.recv_timeout(TICK)) {
            Ok(message) => return Ok(Some(message)),
            Err(RecvTimeoutError::Disconnected) => return Ok(None),
            Err(RecvTimeoutError::Timeout) => {
                py.check_signals()?;
                tell()?;
            }
        }
    }
}
