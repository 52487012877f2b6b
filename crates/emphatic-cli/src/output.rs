//! Output: what was asked for goes to standard output, everything else to standard error.

use emphatic_text::{json_escaped, printable, printable_lines};
use miette::{Diagnostic, IntoDiagnostic, LabeledSpan, Report, Severity, SourceCode};
use serde::Serialize;
use std::fmt;
use std::io::{ErrorKind, Write};
use std::path::Path;

/// Prints text for people to standard output.
pub(crate) fn print(text: &str) -> miette::Result<()> {
    print_unchanged(&printable_lines(text))
}

/// Returns a path that can be shown within a line.
pub(crate) fn path(path: &Path) -> String {
    printable(&path.display().to_string()).into_owned()
}

/// Returns a path as it is written in a command to be copied, for a POSIX shell.
pub(crate) fn quoted(path: &Path) -> String {
    let path = printable(&path.display().to_string()).into_owned();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./+:@%,".contains(c);
    // What begins with a hyphen would be an option.
    let path = if path.starts_with('-') { format!("./{path}") } else { path };
    match !path.is_empty() && path.chars().all(is_plain) {
        true => path,
        false => format!("'{}'", path.replace('\'', r"'\''")),
    }
}

/// Prints data to standard output.
pub(crate) fn print_json(data: &impl Serialize) -> miette::Result<()> {
    print_unchanged(&(json_escaped(&serde_json::to_string_pretty(data).into_diagnostic()?) + "\n"))
}

/// Prints text that needs no escaping to standard output. It is not an error if the reader stops reading.
pub(crate) fn print_unchanged(text: &str) -> miette::Result<()> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Report::msg(format!("could not write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// Prints text for people to standard error. If that fails, because nobody reads it or a disk is full, the work goes on.
pub(crate) fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "{}", printable_lines(text));
}

/// Prints a warning to standard error.
pub(crate) fn warn(warning: &str) {
    say(&format!("warning: {}", printable(warning)));
}

/// Prints to standard error why a command failed.
pub(crate) fn report_error(report: Report) {
    // `Printable` escapes the message; colours and marks are added around it.
    let _ = writeln!(std::io::stderr(), "{:?}", Report::new(Printable(report)));
}

/// An error whose words are safe for a terminal. (The excerpt of a file that it shows is already escaped.)
#[derive(Debug)]
struct Printable(Report);

impl fmt::Display for Printable {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&printable(&self.0.to_string()))
    }
}

// It has no source: messages already contain it.
impl std::error::Error for Printable {}

impl Diagnostic for Printable {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Once a path with a space was two words for the shell that it was copied to.
    #[test]
    fn paths_in_commands_are_quoted() {
        let paths = ["results/x-1.toml", "my results", "it's", "$HOME", "", "-x", "~a", "ä"];
        let words =
            ["results/x-1.toml", "'my results'", r"'it'\''s'", "'$HOME'", "''", "./-x", "'~a'", "'ä'"];
        assert_eq!(paths.map(|path| quoted(Path::new(path))), words);
    }
}
