//! Long work with an ear for Ctrl-C.

use pyo3::prelude::*;
use std::ops::Range;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

/// How often Ctrl-C is looked for and progress is told.
const TICK: Duration = Duration::from_millis(100);

/// Messages, waited for.
pub(crate) struct Waiting<T> {
    messages: Receiver<T>,
    told: Instant,
}

impl<T: Send> Waiting<T> {
    pub(crate) fn new(messages: Receiver<T>) -> Self {
        Self { messages, told: Instant::now() }
    }

    /// The next message; nothing when no more will come. While it waits, others may run; now and then, however many messages there
    /// are, `tell` is called.
    pub(crate) fn next(&mut self, py: Python<'_>, tell: impl Fn() -> PyResult<()>) -> PyResult<Option<T>> {
        loop {
            if self.told.elapsed() >= TICK {
                py.check_signals()?;
                tell()?;
                self.told = Instant::now();
            }
            let messages = &mut self.messages;
            match py.detach(move || messages.recv_timeout(TICK)) {
                Ok(message) => return Ok(Some(message)),
                Err(RecvTimeoutError::Disconnected) => return Ok(None),
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// Waits until no more messages will come.
    pub(crate) fn finish(self, py: Python<'_>) {
        py.detach(move || while self.messages.recv().is_ok() {});
    }
}

/// Cuts work into pieces that each take about as long as one waits for Ctrl-C.
pub(crate) struct Pieces {
    range: Range<usize>,
    size: usize,
    begun: Instant,
}

impl Pieces {
    /// So many things to do, one after the other.
    pub(crate) fn new(count: usize) -> Self {
        Self { range: 0..count, size: 1, begun: Instant::now() }
    }
}

impl Iterator for Pieces {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        // Called when the piece before is done.
        let took = self.begun.elapsed();
        self.begun = Instant::now();
        // In few pieces: each costs a call into Python.
        if took < TICK / 8 {
            self.size = self.size.saturating_mul(8);
        } else if took > TICK {
            self.size = (self.size / 2).max(1);
        }
        let Range { start, end } = self.range;
        self.range.start = end.min(start.saturating_add(self.size));
        (start < end).then_some(start..self.range.start)
    }
}
