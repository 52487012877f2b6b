//! What is wrong with a file, and where.

use crate::excerpt::{Excerpt, first_line};
use emphatic_text::message;
use miette::{Diagnostic, SourceSpan};
use std::ops::Range;
use std::sync::Arc;
use thiserror::Error;

/// What is wrong with an experiment or problem file, where, and what would be right.
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
#[error("{message}")]
pub struct Mistake {
    /// What is wrong.
    pub message: String,
    /// The bytes of the text that are wrong; `None` if the error is about the file as a whole.
    pub span: Option<Range<usize>>,
    /// What would be right.
    pub help: Option<String>,
    /// The name and text of the file, if it is not the one being read but one that it names.
    file: Option<(String, String)>,
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
    /// An error with what would be right, if there is anything to say.
    pub fn new(message: impl Into<String>, help: Option<String>) -> Self {
        Self { message: message.into(), help }
    }

    /// The error at this place.
    pub fn at(self, span: &Range<usize>) -> Mistake {
        Mistake::at(span, self.message).maybe_help(self.help)
    }
}

impl Mistake {
    /// What is wrong with what stands at `span`.
    pub fn at(span: &Range<usize>, message: impl Into<String>) -> Self {
        Self { message: message.into(), span: Some(span.clone()), help: None, file: None }
    }

    /// What is wrong with the file as a whole.
    pub fn whole_file(message: impl Into<String>) -> Self {
        Self { message: message.into(), span: None, help: None, file: None }
    }

    /// What a file lacks.
    pub fn missing(key: &str) -> Self {
        Self::whole_file(format!("the key `{key}` is missing")).maybe_help(needed(key).map(str::to_owned))
    }

    /// The same with what would be right.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The same with what would be right, if there is anything to say.
    pub fn maybe_help(mut self, help: Option<String>) -> Self {
        self.help = self.help.or(help);
        self
    }

    /// What the reader of TOML says about this text.
    pub fn toml(error: &toml::de::Error, text: &str) -> Self {
        let marked = error.span().and_then(|span| text.get(span)).unwrap_or("");
        let (message, help) = plain(error.message(), marked);
        // What the whole file lacks stands nowhere in it. What a part of it lacks is another thing.
        let lacks = error.message().starts_with("missing field");
        let span = error.span().filter(|span| !lacks || span.start > 0);
        let help = help.filter(|_| !lacks || span.is_none());
        Self { message, span, help, file: None }
    }

    /// The same in another file than the one that is being read.
    pub fn in_other_file(mut self, name: String, text: &str) -> Self {
        self.file = Some((name, text.to_owned()));
        self
    }

    /// The error in this file.
    pub fn in_file(self, name: &str, text: &str) -> FileError {
        let other = self.file.as_ref().map(|(name, text)| (name.as_str(), text.as_str()));
        let (name, text) = other.unwrap_or((name, text));
        // Where no place is shown, the message says which file it is about.
        let words = match self.span {
            Some(_) => self.message,
            None => format!("{name}: {}", self.message),
        };
        FileError {
            message: message(&words),
            source_code: Arc::new(Excerpt::new(name, text)),
            span: self.span.map(|span| first_line(span, text).into()),
            help: self.help.as_deref().map(message),
        }
    }
}

/// What the reader of TOML calls a date, which it hands out as a table with this key.
const DATE: &str = "$__toml_private_datetime";

/// What the reader of TOML says, in the words of this project, and what would be right. `marked` is what it marks.
fn plain(message: &str, marked: &str) -> (String, Option<String>) {
    let (found, expected) = message.rsplit_once(", expected ").unwrap_or((message, ""));
    let named = |prefix: &str| found.strip_prefix(prefix).and_then(|name| name.strip_suffix('`'));
    if found.contains(DATE) {
        return ("a date does not belong here".to_owned(), None);
    }
    if let Some(key) = named("unknown field `") {
        return (format!("there is no key `{key}` here"), suggest(key, quoted(expected)));
    }
    if let Some(word) = named("unknown variant `") {
        return (format!("the word `{word}` is not known here"), suggest(word, quoted(expected)));
    }
    if let Some(key) = named("missing field `") {
        return (format!("the key `{key}` is missing"), needed(key).map(str::to_owned));
    }
    if found.starts_with("invalid length") && expected.starts_with("struct ") {
        return ("expected a table, found a list".to_owned(), None);
    }
    let other = found.strip_prefix("invalid type: ").or_else(|| found.strip_prefix("invalid value: "));
    match other.map(|other| (in_words(other, marked), in_words(expected, ""))) {
        Some((found, expected)) => {
            let is_table = found == "a table" && expected == "a list";
            let is_header = is_table && marked.starts_with('[');
            let help = is_header.then(|| format!("a list of tables has double brackets: [{marked}]"));
            (format!("expected {expected}, found {found}"), help)
        }
        None => (syntax(message, marked), None),
    }
}

/// What is wrong with the writing itself.
fn syntax(message: &str, marked: &str) -> String {
    let plainer = [
        ("integer number overflowed", "this number is too large"),
        ("floating-point number overflowed", "this number is too large"),
        ("string values must be quoted", "text must stand in quotation marks"),
        ("invalid basic string, expected `\"`", "the text has no closing quotation mark"),
        ("missing comma between array elements", "a comma is missing here, or the `]` of the list before"),
        ("unexpected key or value, expected newline", "the line should end here"),
        ("cannot recurse further", "this is nested too deeply"),
    ];
    if message == "duplicate key" {
        return format!("the key `{}` is given twice", marked.trim_matches('"'));
    }
    match plainer.iter().find(|(theirs, _)| message.starts_with(theirs)) {
        Some(("string values must be quoted", _)) if marked.is_empty() => {
            "a value is missing here".to_owned()
        }
        Some((_, ours)) => (*ours).to_owned(),
        None => message.to_owned(),
    }
}

/// What files need, for one that lacks it.
fn needed(key: &str) -> Option<&'static str> {
    match key {
        "problem" | "runs" | "method" => Some(
            "an experiment has a `problem`, `runs`, `episodes` or `steps`, and a [[method]] for each method",
        ),
        "states" | "actions" | "start" | "behaviour" | "transitions" => Some(
            "a problem has `states`, `actions`, a `start`, a `behaviour` and `transitions`, or a pattern: [grid], [chain] or [random]",
        ),
        _ => None,
    }
}

/// What serde calls a value, in the words of TOML.
fn in_words(value: &str, marked: &str) -> String {
    let is_date = marked.starts_with(|c: char| c.is_ascii_digit());
    match value {
        "map" if is_date => "a date".to_owned(),
        "map" | "a map" => "a table".to_owned(),
        "sequence" | "a sequence" => "a list".to_owned(),
        "a string" => "text in quotation marks".to_owned(),
        "a boolean" => "true or false".to_owned(),
        _ if value.starts_with("struct ") => "a table".to_owned(),
        _ if value.starts_with("enum ") => "a word in quotation marks".to_owned(),
        _ => match value.split_once(' ') {
            Some(("string", _)) if is_date => "a date".to_owned(),
            Some(("string", text)) => format!("the text {text}"),
            Some(("boolean", _)) => quoted(value).collect(),
            Some(("integer" | "floating", _)) => format!("the number {}", quoted(value).collect::<String>()),
            _ => value.to_owned(),
        },
    }
}

/// The words in backquotes.
fn quoted(message: &str) -> impl Iterator<Item = &str> {
    message.split('`').skip(1).step_by(2)
}

/// "did you mean …?" if one word is nearer than all others, or what there is.
pub fn suggest<'a>(wrong: &str, right: impl Iterator<Item = &'a str>) -> Option<String> {
    const MOST: usize = 20;
    let right: Vec<&str> = right.collect();
    if let Some(word) = nearest(wrong, &right) {
        return Some(format!("did you mean `{word}`?"));
    }
    match right.len() {
        0 => None,
        1 => Some(format!("there is only `{}`", right[0])),
        n if n > MOST => Some(format!("there are {} and {} more", right[..MOST].join(", "), n - MOST)),
        _ => Some(format!("there are {}", right.join(", "))),
    }
}

/// The word that is meant, if one is nearer than all others. To compare two words takes the product of their lengths, so that
/// only words of a usual length are compared, with words of about the same length, and not with too many.
fn nearest<'a>(wrong: &str, right: &[&'a str]) -> Option<&'a str> {
    const LONGEST: usize = 40;
    const MOST: usize = 100_000;
    let length = |word: &str| word.chars().take(LONGEST + 1).count();
    let wrong_length = length(wrong);
    if wrong_length > LONGEST {
        return None;
    }
    let wrong = wrong.to_lowercase();
    let mut longer = right.iter().filter(|word| wrong.len() > 2 && word.starts_with(&wrong));
    if let (Some(word), None) = (longer.next(), longer.next()) {
        return Some(word);
    }
    let off = |length: usize| if length < 4 { 1 } else { 2.max(length / 3) };
    let is_like = |word: &&&str| {
        let length = length(word);
        length <= LONGEST && length.abs_diff(wrong_length) <= off(length)
    };
    let like: Vec<&&str> = right.iter().filter(is_like).take(MOST + 1).collect();
    if like.len() > MOST {
        return None;
    }
    let distance = |word: &str| strsim::damerau_levenshtein(&wrong, &word.to_lowercase());
    let distances: Vec<usize> = like.iter().map(|word| distance(word)).collect();
    let least = *distances.iter().min()?;
    let mut nearest = like.iter().zip(&distances).filter(|(_, distance)| **distance == least);
    match (nearest.next(), nearest.next()) {
        (Some((word, _)), None) if least <= off(length(word)) => Some(word),
        _ => None,
    }
}
