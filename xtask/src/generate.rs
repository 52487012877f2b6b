//! `cargo xtask generate`: files that are written from the catalogue and from the sources.

use crate::{cargo, output, public_api};
use emphatic::catalogue::{Acts, Catalogue, Entry, Inner, Need, Role, Setting, Signal};
use serde_json::json;
use std::fmt::Write;
use std::path::Path;

/// Python's classes of the parts.
const FILE: &str = "bindings/python/python/emphatic/catalogue.py";

/// Files that hold what the command prints from the catalogue, and its arguments. (The command's tests check that they are current.)
const PRINTED: [(&str, &[&str]); 2] = [
    ("docs/parts.md", &["parts", "--markdown"]),
    ("crates/emphatic-lab/experiment.schema.json", &["schema"]),
];

/// Writes the files. With `check`, returns an error if Python's classes or a listing of the public API are not what would be
/// written.
pub(crate) fn generate(check: bool) -> Result<(), String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files = vec![(FILE.to_owned(), text(Catalogue::standard()))];
    for name in public_api::CRATES {
        files.push((format!("crates/{name}/public-api.txt"), public_api::listing(&root, name)?));
    }
    if !check {
        for (file, arguments) in PRINTED {
            let command = ["run", "--quiet", "--package", "emphatic-cli", "--"];
            files.push((file.to_owned(), output(cargo().args(command).args(arguments))?));
        }
    }
    for (file, text) in files {
        let (path, failed) = (root.join(&file), |error: std::io::Error| format!("{file}: {error}"));
        if !check {
            std::fs::write(path, text).map_err(failed)?;
        } else if std::fs::read_to_string(path).map_err(failed)? != text {
            return Err(format!(
                "{file} is not current: run `cargo xtask generate`, and look at what has changed"
            ));
        }
    }
    Ok(())
}

/// Words that Python has another use for: those of `keyword.kwlist` that a setting could be called by.
const KEYWORDS: [&str; 32] = [
    "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del", "elif", "else",
    "except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal", "not",
    "or", "pass", "raise", "return", "try", "while", "with", "yield",
];

const HEAD: &str = r#""""The policies, critics and emphases that there are. Written by `cargo xtask generate` from the catalogue: change that, not this."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Union

from .parts import REQUIRED, Features, Part

if TYPE_CHECKING:
    from .problem import Problem
"#;

/// Returns the text of Python's classes.
fn text(catalogue: &Catalogue) -> String {
    let mut text = HEAD.to_owned();
    text += "\n__all__ = [\n";
    let mut classes: Vec<&str> = catalogue.iter().map(|entry| entry.class).collect();
    classes.sort_unstable();
    for class in classes {
        let _ = writeln!(text, "    \"{class}\",");
    }
    text += "]\n";
    for role in Role::ALL {
        let heading = role.heading();
        let gap = if role == Role::Policy { "" } else { "\n" };
        let _ = write!(text, "{gap}\n# --- {heading} ---\n");
        for entry in in_order(catalogue, role) {
            class(&mut text, entry);
        }
    }
    text += "\n\n# --- What each kind of learner takes ---\n\n";
    unions(&mut text, catalogue);
    text += "\n# By role and by name in files.\nPARTS: dict[str, dict[str, type[Part]]] = {\n";
    for role in Role::ALL {
        let _ = writeln!(text, "    \"{}\": {{", role.word());
        for entry in in_order(catalogue, role) {
            let _ = writeln!(text, "        \"{}\": {},", entry.name, entry.class);
        }
        text += "    },\n";
    }
    text += "}\n";
    text
}

/// Returns the parts of a role, those that need a problem last.
fn in_order(catalogue: &Catalogue, role: Role) -> impl Iterator<Item = &Entry> {
    let exact = |entry: &&Entry| entry.needs.contains(&Need::Problem);
    catalogue.of(role).filter(move |entry| !exact(entry)).chain(catalogue.of(role).filter(exact))
}

fn class(text: &mut String, entry: &Entry) {
    let _ = write!(text, "\n\n@dataclass(frozen=True, repr=False)\nclass {}(Part):\n", entry.class);
    let fields = fields(entry);
    docstring(text, entry, &fields);
    for Field { name, kind, default, .. } in &fields {
        let default = default.as_ref().map_or(String::new(), |default| format!(" = {default}"));
        let _ = writeln!(text, "    {name}: {kind}{default}");
    }
    if !fields.is_empty() {
        text.push('\n');
    }
    let _ = writeln!(text, "    _kind: ClassVar[str] = \"{}\"", entry.name);
    if !entry.signals.is_empty() {
        let words: Vec<String> = entry.signals.iter().map(|signal| json!(signal).to_string()).collect();
        let comma = if words.len() == 1 { "," } else { "" };
        let _ = writeln!(text, "    _tells: ClassVar[tuple[str, ...]] = ({}{comma})", words.join(", "));
    }
    if let Some(Inner { name, signal, .. }) = entry.inner {
        let signal = json!(signal);
        let _ = writeln!(text, "    _inner: ClassVar[tuple[str, str] | None] = (\"{name}\", {signal})");
    }
    if let Some(acts) = entry.acts {
        let _ = writeln!(text, "    _acts: ClassVar[str] = {}", json!(acts));
    }
}

/// A field of a dataclass.
struct Field {
    name: String,
    kind: &'static str,
    default: Option<String>,
    about: String,
}

impl Field {
    fn new(name: &str, kind: &'static str, default: Option<&str>, about: &str) -> Self {
        let (default, about) = (default.map(str::to_owned), about.to_owned());
        Self { name: name.to_owned(), kind, default, about }
    }
}

/// Returns the fields of a part, those without a default first. (A policy begins with its features.)
fn fields(entry: &Entry) -> Vec<Field> {
    let mut fields = Vec::new();
    if entry.role == Role::Policy && entry.features {
        fields.push(Field::new("features", "Features", None, "what it sees of a state"));
    }
    if entry.acts == Some(Acts::Finite) {
        fields.push(Field::new("actions", "int", None, "the number of actions"));
    }
    if entry.needs.contains(&Need::Problem) {
        fields.push(Field::new("problem", "Problem", None, "the problem that it knows"));
    }
    for Setting { name, default, about, .. } in entry.settings {
        let name = if KEYWORDS.contains(name) { format!("{name}_") } else { (*name).to_owned() };
        fields.push(Field::new(&name, "float", default.map(|x| format!("{x:?}")).as_deref(), about));
    }
    if let Some(inner) = entry.inner {
        let required = fields.iter().any(|field| field.default.is_some()).then_some("REQUIRED");
        fields.push(Field::new(inner.name, union_of(inner.signal), required, inner.about));
    }
    if entry.role != Role::Policy && entry.features {
        let about = "what it sees of a state; left out, what the policy sees";
        fields.push(Field::new("features", "Features | None", Some("None"), about));
    }
    fields
}

fn docstring(text: &mut String, entry: &Entry, fields: &[Field]) {
    let _ = write!(text, "    \"\"\"{}.", sentence(entry.about));
    if !entry.source.is_empty() {
        let _ = write!(text, "\n\n    Source: {}.", entry.source);
    }
    if !fields.is_empty() {
        text.push('\n');
    }
    for field in fields {
        let _ = write!(text, "\n    `{}`: {}.", field.name, field.about);
    }
    let one_line = fields.is_empty() && entry.source.is_empty();
    *text += if one_line { "\"\"\"\n\n" } else { "\n    \"\"\"\n\n" };
}

/// Begins the text with a capital, unless it begins with a symbol.
fn sentence(about: &str) -> String {
    let word: String = about.chars().take_while(|c| c.is_alphanumeric()).collect();
    let rest = &about[word.len()..];
    match word.chars().next() {
        Some(first) if word == "a" || (word.len() > first.len_utf8() && rest.starts_with(' ')) => {
            format!("{}{}", first.to_uppercase(), &about[first.len_utf8()..])
        }
        _ => about.to_owned(),
    }
}

fn union_of(signal: Signal) -> &'static str {
    match signal {
        Signal::Delta => "ValueCritic",
        Signal::Advantages => "ActionCritic",
        Signal::Slope => "SlopeCritic",
    }
}

fn unions(text: &mut String, catalogue: &Catalogue) {
    let mut union = |name: &str, entries: Vec<&Entry>| {
        let classes: Vec<&str> = entries.iter().map(|entry| entry.class).collect();
        let _ = match &classes[..] {
            [one] => writeln!(text, "{name} = {one}"),
            many => writeln!(text, "{name} = Union[{}]", many.join(", ")),
        };
    };
    let policies = |suits: &dyn Fn(Acts) -> bool| {
        in_order(catalogue, Role::Policy).filter(|policy| policy.acts.is_some_and(suits)).collect()
    };
    union("Policy", policies(&|_| true));
    union("StochasticPolicy", policies(&|acts| acts != Acts::Deterministic));
    union("FinitePolicy", policies(&|acts| acts == Acts::Finite));
    union("DeterministicPolicy", policies(&|acts| acts == Acts::Deterministic));
    let critics = |signal: Signal| {
        in_order(catalogue, Role::Critic).filter(|part| part.signals.contains(&signal)).collect()
    };
    union("Critic", in_order(catalogue, Role::Critic).collect());
    for signal in [Signal::Delta, Signal::Advantages, Signal::Slope] {
        union(union_of(signal), critics(signal));
    }
    let emphases = || in_order(catalogue, Role::Emphasis);
    union("Emphasis", emphases().collect());
    union("RatioFreeEmphasis", emphases().filter(|part| !part.needs.contains(&Need::Ratio)).collect());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_files_are_current() {
        generate(true).unwrap();
    }

    #[test]
    fn sentences_begin_with_capitals_unless_with_symbols() {
        assert_eq!(sentence("the action x·θ"), "The action x·θ");
        assert_eq!(sentence("a real action"), "A real action");
        for symbol in ["q̂(s,b) by GQ(λ)", "v, q or ∂q/∂a", "m(S_t)/d_μ(S_t)", "GTD(λ): v̂"] {
            assert_eq!(sentence(symbol), symbol);
        }
    }
}
