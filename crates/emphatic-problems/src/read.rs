//! The text of files.

use crate::file_error::FileError;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The largest file that is read. What is larger has millions of lines, for which there are patterns.
const MOST_BYTES: u64 = 100_000_000;

/// A file that cannot be read, or that is wrong.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
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
    /// It is no text.
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

/// The text of a file.
pub fn read_text(path: &Path) -> Result<String, ReadError> {
    let shown = || path.display().to_string();
    let failed = |error| ReadError::Io { path: shown(), error };
    let mut bytes = Vec::new();
    File::open(path).and_then(|file| file.take(MOST_BYTES + 1).read_to_end(&mut bytes)).map_err(failed)?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(ReadError::TooLarge(shown()));
    }
    // A zero byte is UTF-8, but no text has one.
    let text = String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'));
    text.ok_or_else(|| ReadError::NotText(shown()))
}
