//! Long work that Ctrl-C can interrupt.

use pyo3::prelude::*;
use std::ops::Range;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

/// How often Ctrl-C is looked for and progress is reported.
const TICK: Duration = Duration::from_millis(100);

/// Messages from threads that do the work.
pub(crate) struct Messages<T> {
    receiver: Receiver<T>,
    reported: Instant,
}

impl<T: Send> Messages<T> {
    pub(crate) fn new(receiver: Receiver<T>) -> Self {
        Self { receiver, reported: Instant::now() }
    }

    /// Waits for the next message while other Python threads run, and calls `report` at every tick. Returns `None` if no more
    /// will come.
    pub(crate) fn next(&mut self, py: Python<'_>, report: impl Fn() -> PyResult<()>) -> PyResult<Option<T>> {
        loop {
            if self.reported.elapsed() >= TICK {
                py.check_signals()?;
                report()?;
                self.reported = Instant::now();
            }
            let receiver = &mut self.receiver;
            match py.detach(move || receiver.recv_timeout(TICK)) {
                Ok(message) => return Ok(Some(message)),
                Err(RecvTimeoutError::Disconnected) => return Ok(None),
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// Waits until no more messages will come.
    pub(crate) fn finish(self, py: Python<'_>) {
        py.detach(move || while self.receiver.recv().is_ok() {});
    }
}

/// Splits work into chunks that each take about one tick.
pub(crate) struct Chunks {
    range: Range<usize>,
    size: usize,
    begun: Instant,
}

impl Chunks {
    /// Splits `count` pieces of work that are done one after the other.
    pub(crate) fn new(count: usize) -> Self {
        Self { range: 0..count, size: 1, begun: Instant::now() }
    }
}

impl Iterator for Chunks {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        // Called when the chunk before is done.
        let took = self.begun.elapsed();
        self.begun = Instant::now();
        // Few chunks, because each costs a call into Python.
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
