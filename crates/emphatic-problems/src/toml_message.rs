//! The messages of the TOML reader, in plain words.

use crate::file_error::ValueError;
use crate::suggest::suggest;

/// The TOML reader represents a date as a table with this key.
const DATE: &str = "$__toml_private_datetime";

/// A message of the TOML reader in the words of this project, with what would be right. `marked` is the text that it marks.
pub(crate) fn translated(message: &str, marked: &str) -> ValueError {
    let (found, expected) = message.rsplit_once(", expected ").unwrap_or((message, ""));
    let named = |prefix: &str| found.strip_prefix(prefix).and_then(|name| name.strip_suffix('`'));
    if found.contains(DATE) {
        return ValueError::new("a date does not belong here");
    }
    if let Some(key) = named("unknown field `") {
        let help = suggest(key, quoted(expected));
        return ValueError::new(format!("there is no key `{key}` here")).maybe_help(help);
    }
    if let Some(word) = named("unknown variant `") {
        let help = suggest(word, quoted(expected));
        return ValueError::new(format!("the word `{word}` is not known here")).maybe_help(help);
    }
    if let Some(key) = named("missing field `") {
        let help = needed(key).map(str::to_owned);
        return ValueError::new(format!("the key `{key}` is missing")).maybe_help(help);
    }
    if found.starts_with("invalid length") && expected.starts_with("struct ") {
        return ValueError::new("expected a table, found a list");
    }
    let Some(found) = found.strip_prefix("invalid type: ").or_else(|| found.strip_prefix("invalid value: "))
    else {
        return ValueError::new(syntax(message, marked));
    };
    let (found, expected) = (in_words(found, marked), in_words(expected, ""));
    let is_header = found == "a table" && expected == "a list" && marked.starts_with('[');
    let help = is_header.then(|| format!("a list of tables has double brackets: [{marked}]"));
    ValueError::new(format!("expected {expected}, found {found}")).maybe_help(help)
}

/// A message about the syntax itself.
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

/// The help for a file without this key.
pub(crate) fn needed(key: &str) -> Option<&'static str> {
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

/// A value as serde describes it, in the words of TOML.
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
