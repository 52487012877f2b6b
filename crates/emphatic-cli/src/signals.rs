//! Signals: what asks to stop, and what is no reason to die.

use emphatic_lab::Stop;
use miette::miette;
use signal_hook::flag::{register, register_conditional_shutdown};
use std::ffi::c_int;
use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// What a shell makes of a process that was interrupted.
const INTERRUPTED: c_int = 130;

/// What Ctrl-C and termination stop. The first signal asks, the second insists.
pub(crate) fn stop_on_signals() -> miette::Result<Stop> {
    use signal_hook::consts::{SIGINT, SIGTERM};
    // Of its own: a run also stops for other reasons, and the first signal after that is still the first.
    let (stop, asked) = (Stop::default(), Arc::new(AtomicBool::new(false)));
    let signals = [SIGINT, SIGTERM].into_iter().chain(hang_up()).filter(|signal| !is_ignored(*signal));
    for signal in signals {
        let handle = |signal| -> io::Result<()> {
            // In this order: at the first signal the flag is not set yet.
            register_conditional_shutdown(signal, INTERRUPTED, asked.clone())?;
            register(signal, asked.clone())?;
            register(signal, stop.flag()).map(drop)
        };
        handle(signal).map_err(|error| miette!("signals cannot be handled: {error}"))?;
    }
    Ok(stop)
}

/// Lets writing beyond the largest file that the user's limits allow fail like any other, instead of killing the process.
pub(crate) fn survive_file_limits() {
    #[cfg(unix)]
    if !is_ignored(signal_hook::consts::SIGXFSZ) {
        // If it cannot be handled, it is as deadly as before.
        let _ = register(signal_hook::consts::SIGXFSZ, Arc::new(AtomicBool::new(false)));
    }
}

/// The hang-up of a terminal, where it can be told whether it is to be ignored, as `nohup` asks; elsewhere it keeps its meaning.
fn hang_up() -> Option<c_int> {
    #[cfg(target_os = "linux")]
    return Some(signal_hook::consts::SIGHUP);
    #[cfg(not(target_os = "linux"))]
    None
}

/// Whether who started this process wants it to ignore a signal: `nohup`, or a script that put it into the background.
fn is_ignored(signal: c_int) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}
