//! The progress bar: on a terminal; elsewhere a line now and then; nothing if quiet.

use crate::output::{say, warn};
use emphatic_lab::store::Kind;
use emphatic_lab::{Event, Progress};
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// How often a line is written if there is no terminal.
const EVERY: Duration = Duration::from_secs(5);

/// Shows progress.
pub(crate) struct Display {
    quiet: bool,
    /// On a terminal.
    bar: Option<ProgressBar>,
    /// When the last line was written.
    last_line: Instant,
    /// The name of the present task, if it is one of several.
    prefix: String,
}

impl Display {
    pub(crate) fn new(quiet: bool) -> Self {
        let on_terminal = !quiet && std::io::stderr().is_terminal();
        Self {
            quiet,
            bar: on_terminal.then(|| ProgressBar::new(0).with_style(style("{msg}"))),
            last_line: Instant::now(),
            prefix: String::new(),
        }
    }

    /// Begins another task.
    pub(crate) fn begin(&mut self, what: &str) {
        self.prefix = format!("{what}: ");
        if let Some(bar) = &self.bar {
            // It is not known yet how much there is to do.
            bar.set_style(style("{msg}"));
            bar.set_message(format!("{what} ..."));
            bar.tick();
        }
    }

    pub(crate) fn show_event(&mut self, event: Event) {
        match event {
            Event::Warning(warning) => self.warn(warning),
            Event::Progress(_) if self.quiet => {}
            Event::Progress(progress) => self.show(&progress),
        }
    }

    /// Shows a warning, even if quiet.
    fn warn(&self, warning: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| warn(warning)),
            None => warn(warning),
        }
    }

    fn show(&mut self, progress: &Progress) {
        let (prefix, message, Progress { done, units, .. }) = (&self.prefix, message(progress), *progress);
        let line = format!("{prefix}{done} of {units} units, {message}");
        self.advance(done, units, format!("units, {prefix}{message}"), &line);
    }

    /// Shows how many of all things are done.
    pub(crate) fn count(&mut self, done: usize, all: usize, what: &str) {
        self.advance(done, all, what.to_owned(), &format!("{done} of {all} {what}"));
    }

    /// Moves the bar, with a message behind the numbers; without a bar, writes the line now and then.
    fn advance(&mut self, done: usize, all: usize, message: String, line: &str) {
        if let Some(bar) = &self.bar {
            bar.set_style(style("{bar:32} {pos} of {len} {msg}"));
            bar.set_length(all as u64);
            bar.set_position(done as u64);
            bar.set_message(message);
        } else if !self.quiet && self.last_line.elapsed() >= EVERY {
            self.last_line = Instant::now();
            say(line);
        }
    }

    /// Removes the bar.
    pub(crate) fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

/// Returns the number of updates a second, and the time left.
fn message(progress: &Progress) -> String {
    let Progress { kind, units, before, done, updates, elapsed } = *progress;
    let seconds = elapsed.as_secs_f64();
    let rate = short(updates as f64 / seconds.max(1e-9));
    let what = match kind {
        Kind::Results => "",
        Kind::Finalists => " on runs of finalists",
        Kind::Fresh => " on fresh runs",
    };
    let left = match done.saturating_sub(before) {
        0 => String::new(),
        new => format!(", {} left", duration(seconds * units.saturating_sub(done) as f64 / new as f64)),
    };
    format!("{rate} updates a second{what}{left}")
}

/// Returns a number with about three digits, and a letter for its magnitude.
pub(crate) fn short(x: f64) -> String {
    let scales = [(1e15, " P"), (1e12, " T"), (1e9, " G"), (1e6, " M"), (1e3, " k")];
    match scales.iter().find(|(scale, _)| x >= *scale) {
        Some((scale, letter)) => {
            let x = x / scale;
            let digits = if x >= 100.0 { 0 } else { 1 };
            format!("{x:.digits$}{letter}")
        }
        None => format!("{x:.0} "),
    }
    .trim_end()
    .to_owned()
}

/// Returns a time in a unit that suits it.
pub(crate) fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 60.0 => format!("{s:.1} s"),
        s if s < 3600.0 => format!("{:.0} min", s / 60.0),
        s if s < 48.0 * 3600.0 => format!("{:.1} h", s / 3600.0),
        s => format!("{:.1} days", s / 86400.0),
    }
}
