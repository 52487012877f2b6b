//! The progress bar: on a terminal; elsewhere a line now and then; nothing if quiet.

use crate::output::{say, warn};
use emphatic_lab::store::Kind;
use emphatic_lab::{Event, Progress};
use emphatic_text::{duration, short};
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
