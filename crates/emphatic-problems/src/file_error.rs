//! The errors of files: what is wrong, where, and what would be right.
//!
//! A [`ValueError`] becomes a [`Mistake`] when its place is known, and a [`FileError`] when its file is known.

use crate::excerpt::{Excerpt, first_line};
use crate::toml_message::{needed, translated};
use emphatic::ProblemError;
use emphatic_text::message;
use miette::{Diagnostic, SourceSpan};
use std::ops::Range;
use std::sync::Arc;
use thiserror::Error;

/// A file that cannot be read, or that is wrong.
#[derive(Debug, Error, Diagnostic)]
#[non_exhaustive]
pub enum ReadError {
    /// It cannot be read.
    #[error("{path} cannot be read: {error}")]
    Io {
        /// Which file.
        path: String,
        /// Why.
        error: std::io::Error,
    },
    /// There is no such file, nor a problem of that name.
    #[error("there is no file {name}, and no problem of that name comes with the program")]
    Unknown {
        /// The name.
        name: String,
        /// What would be right.
        #[help]
        help: Option<String>,
    },
    /// It is not text.
    #[error("{0} is not a text file in UTF-8")]
    NotText(String),
    /// It is too large.
    #[error("{0} is larger than 100 MB, the most that is read")]
    #[diagnostic(help(
        "a regular problem needs no list of its transitions: see the patterns `grid`, `chain` and `random`"
    ))]
    TooLarge(String),
    /// It is wrong.
    #[error(transparent)]
    #[diagnostic(transparent)]
    File(#[from] Box<FileError>),
}

impl From<FileError> for ReadError {
    fn from(error: FileError) -> Self {
        Self::File(Box::new(error))
    }
}

/// An error in the text of an experiment or problem file, with its place.
#[derive(Clone, Debug, Error, Diagnostic)]
#[error("{message}")]
pub struct FileError {
    message: String,
    #[source_code]
    source_code: Arc<Excerpt>,
    #[label("here")]
    span: Option<SourceSpan>,
    #[help]
    help: Option<String>,
}

/// A mistake at a place in a file, before the name and text of the file are attached by [`Mistake::in_file`].
#[derive(Clone, Debug, Error)]
#[error("{error}")]
pub struct Mistake {
    /// What is wrong.
    pub error: ValueError,
    /// Which bytes of the text are wrong; `None` if the mistake is not in one place.
    pub span: Option<Range<usize>>,
    /// The file the mistake is in, if not the one being read but one that it names.
    other_file: Option<OtherFile>,
}

#[derive(Clone, Debug)]
struct OtherFile {
    name: String,
    text: String,
}

/// An invalid value, before its place in a file is attached by [`ValueError::at`].
#[derive(Clone, Debug, Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct ValueError {
    /// What is wrong.
    pub message: String,
    /// What would be right.
    pub help: Option<String>,
}

impl ValueError {
    /// Without help.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), help: None }
    }

    /// Adds what would be right.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds what would be right, if there is anything to say.
    pub fn maybe_help(mut self, help: Option<String>) -> Self {
        self.help = self.help.or(help);
        self
    }

    /// The error at this place.
    pub fn at(self, span: &Range<usize>) -> Mistake {
        Mistake { error: self, span: Some(span.clone()), other_file: None }
    }
}

impl From<ProblemError> for ValueError {
    fn from(error: ProblemError) -> Self {
        let help = match &error {
            ProblemError::Sum { sum, .. } if (sum - 1.0).abs() < 1e-3 => {
                Some("give more digits: a sum may be off by rounding, one part in 10⁹")
            }
            ProblemError::Missing { .. } => Some(
                "every action needs a transition in every state; one that does nothing leads back to the state",
            ),
            ProblemError::Stationary(..) => {
                Some("let episodes end: they start again, and come to all that the start leads to")
            }
            _ => None,
        };
        ValueError::new(error.to_string()).maybe_help(help.map(str::to_owned))
    }
}

impl Mistake {
    /// A mistake at `span`.
    pub fn at(span: &Range<usize>, message: impl Into<String>) -> Self {
        ValueError::new(message).at(span)
    }

    /// A mistake that is not in one place.
    pub fn whole_file(message: impl Into<String>) -> Self {
        Self { error: ValueError::new(message), span: None, other_file: None }
    }

    /// A key is missing.
    pub fn missing(key: &str) -> Self {
        Self::whole_file(format!("the key `{key}` is missing")).maybe_help(needed(key).map(str::to_owned))
    }

    /// Adds what would be right.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.error = self.error.help(help);
        self
    }

    /// Adds what would be right, if there is anything to say.
    pub fn maybe_help(mut self, help: Option<String>) -> Self {
        self.error = self.error.maybe_help(help);
        self
    }

    /// An error of the TOML reader, in plain words.
    pub fn toml(error: &toml::de::Error, text: &str) -> Self {
        let marked = error.span().and_then(|span| text.get(span)).unwrap_or("");
        let mut translated = translated(error.message(), marked);
        // A key that the whole file lacks has no place. One that a table lacks has the table's.
        let is_missing = error.message().starts_with("missing field");
        let span = error.span().filter(|span| !is_missing || span.start > 0);
        translated.help = translated.help.filter(|_| !is_missing || span.is_none());
        Self { error: translated, span, other_file: None }
    }

    /// The same mistake, in another file than the one being read.
    pub fn in_other_file(mut self, name: String, text: &str) -> Self {
        self.other_file = Some(OtherFile { name, text: text.to_owned() });
        self
    }

    /// The mistake as an error of this file, unless it is in another one.
    pub fn in_file(self, name: &str, text: &str) -> FileError {
        let (name, text) = match &self.other_file {
            Some(other) => (other.name.as_str(), other.text.as_str()),
            None => (name, text),
        };
        // Where no place is shown, the message says which file it is about.
        let words = match self.span {
            Some(_) => self.error.message,
            None => format!("{name}: {}", self.error.message),
        };
        FileError {
            message: message(&words),
            source_code: Arc::new(Excerpt::new(name, text)),
            span: self.span.map(|span| first_line(span, text).into()),
            help: self.error.help.as_deref().map(message),
        }
    }
}
