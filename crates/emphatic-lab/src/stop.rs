//! Asking a run to stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Asks a running experiment to stop, from another thread or a signal handler.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Asks it to stop. Finished units are kept.
    pub fn stop(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Returns the flag that asks it to stop: a signal handler can do no more than set it.
    pub fn flag(&self) -> Arc<AtomicBool> {
        self.0.clone()
    }

    /// Returns whether it was asked to stop.
    pub fn is_stopped(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
