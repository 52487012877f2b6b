//! Signals: those that ask the command to stop, and one that must not kill it.

use emphatic_lab::Stop;
use miette::miette;
use signal_hook::flag::{register, register_conditional_shutdown};
use std::ffi::c_int;
use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The exit code of a process that was interrupted, as shells have it.
const INTERRUPTED: c_int = 130;

/// Returns a [`Stop`] that is set by Ctrl-C, termination and hang-up. A second signal ends the process at once.
pub(crate) fn stop_on_signals() -> miette::Result<Stop> {
    use signal_hook::consts::{SIGINT, SIGTERM};
    // `asked` is separate, since a run may also stop for other reasons: the first signal after that must not end the process.
    let (stop, asked) = (Stop::default(), Arc::new(AtomicBool::new(false)));
    let signals = [SIGINT, SIGTERM].into_iter().chain(hang_up()).filter(|signal| !is_ignored(*signal));
    for signal in signals {
        let handle = |signal| -> io::Result<()> {
            // In this order, so that the flag is not set yet when the first signal comes.
            register_conditional_shutdown(signal, INTERRUPTED, asked.clone())?;
            register(signal, asked.clone())?;
            register(signal, stop.flag()).map(drop)
        };
        handle(signal).map_err(|error| miette!("signals cannot be handled: {error}"))?;
    }
    Ok(stop)
}

/// Makes a write beyond the user's limit on the size of files fail like any other, instead of killing the process.
pub(crate) fn survive_file_limits() {
    #[cfg(unix)]
    if !is_ignored(signal_hook::consts::SIGXFSZ) {
        // If it cannot be handled, it kills the process as before.
        let _ = register(signal_hook::consts::SIGXFSZ, Arc::new(AtomicBool::new(false)));
    }
}

/// Returns the signal of a hang-up on systems where `is_ignored` works: `nohup` asks to ignore it.
fn hang_up() -> Option<c_int> {
    #[cfg(target_os = "linux")]
    return Some(signal_hook::consts::SIGHUP);
    #[cfg(not(target_os = "linux"))]
    None
}

/// Returns whether the process was started with a signal ignored: by `nohup`, or by a script in the background.
fn is_ignored(signal: c_int) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}
