//! What is wrong with a file, and where.

use miette::{Diagnostic, NamedSource, SourceSpan};
use std::ops::Range;
use std::sync::Arc;
use thiserror::Error;

/// What is wrong with an experiment or problem file, where, and what would be right.
#[derive(Clone, Debug, Error, Diagnostic)]
#[error("{message}")]
pub struct FileError {
    message: String,
    #[source_code]
    source_code: NamedSource<Arc<str>>,
    #[label("here")]
    span: Option<SourceSpan>,
    #[help]
    help: Option<String>,
}

/// What is wrong with a value, before it is known which file it stands in.
#[derive(Clone, Debug)]
pub(crate) struct Wrong {
    pub(crate) message: String,
    pub(crate) span: Option<Range<usize>>,
    pub(crate) help: Option<String>,
}

impl Wrong {
    /// What is wrong with what stands at `span`.
    pub(crate) fn at(span: &Range<usize>, message: impl Into<String>) -> Self {
        Self { message: message.into(), span: Some(span.clone()), help: None }
    }

    /// What is wrong with the file as a whole.
    pub(crate) fn anywhere(message: impl Into<String>) -> Self {
        Self { message: message.into(), span: None, help: None }
    }

    /// The same with what would be right.
    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The same with what would be right, if there is anything to say.
    pub(crate) fn maybe_help(mut self, help: Option<String>) -> Self {
        self.help = self.help.or(help);
        self
    }

    /// The error in this file.
    pub(crate) fn in_file(self, name: &str, text: &str) -> FileError {
        FileError {
            message: self.message,
            source_code: NamedSource::new(name, Arc::from(text)).with_language("toml"),
            span: self.span.map(|span| (span.start.min(text.len())..span.end.min(text.len())).into()),
            help: self.help,
        }
    }
}

/// What the reader of TOML says, in the words of this project.
impl From<toml::de::Error> for Wrong {
    fn from(error: toml::de::Error) -> Self {
        let message = error.message();
        let wrong = Self { message: message.to_owned(), span: error.span(), help: None }
            .maybe_help(nearest_of(message));
        match (quoted(message).next(), message.starts_with("unknown field")) {
            (Some(key), true) => Self { message: format!("there is no key `{key}` here"), ..wrong },
            _ => wrong,
        }
    }
}

/// The words in backquotes.
fn quoted(message: &str) -> impl Iterator<Item = &str> {
    message.split('`').skip(1).step_by(2)
}

/// For "unknown field `a`, expected one of `b`, `c`": the nearest of the others, and all of them.
fn nearest_of(message: &str) -> Option<String> {
    if !message.starts_with("unknown ") {
        return None;
    }
    let mut words = quoted(message);
    let wrong = words.next()?;
    suggest(wrong, words)
}

/// "did you mean …?", or what there is.
pub(crate) fn suggest<'a>(wrong: &str, right: impl Iterator<Item = &'a str>) -> Option<String> {
    const MOST: usize = 20;
    let right: Vec<&str> = right.collect();
    let near = right.iter().map(|word| (strsim::damerau_levenshtein(&wrong.to_lowercase(), word), word));
    match near.min_by_key(|(distance, _)| *distance) {
        Some((distance, word)) if distance <= 2.max(word.len() / 3) => {
            Some(format!("did you mean `{word}`?"))
        }
        Some(_) if right.len() > MOST => {
            Some(format!("there are {} and {} more", right[..MOST].join(", "), right.len() - MOST))
        }
        Some(_) => Some(format!("there are {}", right.join(", "))),
        None => None,
    }
}
