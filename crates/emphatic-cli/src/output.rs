//! What is said to the user: on standard output what was asked for, on standard error everything else.

use emphatic_text::{json_escaped, printable, printable_lines};
use miette::{Diagnostic, IntoDiagnostic, LabeledSpan, Report, Severity, SourceCode};
use serde::Serialize;
use std::fmt;
use std::io::{ErrorKind, Write};
use std::path::Path;

/// Prints text for people to standard output.
pub(crate) fn print(text: &str) -> miette::Result<()> {
    print_as_it_is(&printable_lines(text))
}

/// A path within a line.
pub(crate) fn path(path: &Path) -> String {
    printable(&path.display().to_string()).into_owned()
}

/// Prints data to standard output.
pub(crate) fn print_json(data: &impl Serialize) -> miette::Result<()> {
    print_as_it_is(&(json_escaped(&serde_json::to_string_pretty(data).into_diagnostic()?) + "\n"))
}

/// Prints to standard output what is our own. Whoever reads it may stop reading.
pub(crate) fn print_as_it_is(text: &str) -> miette::Result<()> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Report::msg(format!("could not write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// Says something on standard error. Whoever hears it may have gone, or the disk it goes to may be full: that is no reason to stop
/// working.
pub(crate) fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "{}", printable_lines(text));
}

/// Says what is not as it should be, but can be gone on with.
pub(crate) fn warn(warning: &str) {
    say(&format!("warning: {}", printable(warning)));
}

/// Says why a command could not do what it was asked to.
pub(crate) fn complain(report: Report) {
    // Colours and marks are ours; what is told is made harmless within.
    let _ = writeln!(std::io::stderr(), "{:?}", Report::new(Harmless(report)));
}

/// An error whose words are safe for a terminal. (The piece of a file that it shows is made so where the error is made.)
#[derive(Debug)]
struct Harmless(Report);

impl fmt::Display for Harmless {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&printable(&self.0.to_string()))
    }
}

// Without a source: messages tell what lies behind them.
impl std::error::Error for Harmless {}

impl Diagnostic for Harmless {
    fn severity(&self) -> Option<Severity> {
        self.0.severity()
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        let help = self.0.help()?.to_string();
        Some(Box::new(printable_lines(&help)))
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.0.source_code()
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        self.0.labels()
    }
}
