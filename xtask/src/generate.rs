//! `cargo xtask generate`: files that are written from the catalogue and from the sources.

use crate::{cargo, output, public_api, run, tables};
use emphatic::basis::{BasisEntry, BasisSetting, Kind};
use emphatic::catalogue::{Acts, Catalogue, Entry, Inner, Need, Range, Role, Setting, Signal};
use serde_json::json;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Python's classes of the parts.
const FILE: &str = "bindings/python/python/emphatic/catalogue.py";

/// Files that hold what the command prints from the catalogue, and its arguments. (The command's tests check that they are current.)
const PRINTED: [(&str, &[&str]); 3] = [
    ("docs/parts.md", &["parts", "--markdown"]),
    ("crates/emphatic-lab/experiment.schema.json", &["schema"]),
    ("crates/emphatic-problems/problem.schema.json", &["schema", "problem"]),
];

/// Writes the files. With `check`, returns an error if Python's classes, a listing of the public API or a table of settings is not what would
/// be written.
pub(crate) fn generate(check: bool) -> Result<(), String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files = vec![(FILE.to_owned(), text(Catalogue::standard()))];
    for name in public_api::CRATES {
        files.push((format!("crates/{name}/public-api.txt"), public_api::listing(&root, name)?));
    }
    files.extend(tables::pages(&root, Catalogue::standard())?);
    if !check {
        // All of it, as it is tested: for the command alone, dependencies have other features and everything is compiled anew.
        run(cargo().args(["build", "--quiet", "--workspace", "--all-targets"]))?;
        let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
        let command = target.join("debug/emphatic");
        for (file, arguments) in PRINTED {
            files.push((file.to_owned(), output(Command::new(&command).args(arguments))?));
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

/// The roles in the order of the file: the defaults of fields are instances of classes above them.
const ROLES: [Role; 5] = [Role::Policy, Role::Schedule, Role::Emphasis, Role::Critic, Role::Actor];

/// The setting of emphases that is 1 inside a critic.
const LAMBDA_A: &str = "lambda_a";

/// The length of a line, with its end, that is written as one.
const LINE: usize = 111;

const HEAD: &str = r#""""The bases, policies, critics, emphases, actors and schedules that there are. Written by `cargo xtask generate` from the catalogue: change that, not this."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, Union

from numpy.typing import ArrayLike

from .bases import Basis, Setting
from .parts import REQUIRED, Features, Inner, Part
from .tiles import TileCoding

if TYPE_CHECKING:
    from .problem import Problem
"#;

/// Returns the text of Python's classes.
fn text(catalogue: &Catalogue) -> String {
    let mut text = HEAD.to_owned();
    text += "\n__all__ = [\n";
    let bases = catalogue.bases().map(|entry| entry.class);
    let mut classes: Vec<&str> = catalogue.iter().map(|entry| entry.class).chain(bases).collect();
    classes.sort_unstable();
    for class in classes {
        let _ = writeln!(text, "    \"{class}\",");
    }
    text += "]\n\n# --- Bases: features of observations ---\n";
    catalogue.bases().for_each(|entry| basis(&mut text, entry));
    for role in ROLES {
        let heading = role.heading();
        let _ = write!(text, "\n\n# --- {heading} ---\n");
        for entry in in_order(catalogue, role) {
            class(&mut text, catalogue, entry);
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
    text += "}\n\nBASES: dict[str, type[Basis]] = {\n";
    for entry in catalogue.bases() {
        let _ = writeln!(text, "    \"{}\": {},", entry.name, entry.class);
    }
    text += "}\n";
    text
}

/// Writes the class of a basis.
fn basis(text: &mut String, entry: &BasisEntry) {
    // The only one that returns the numbers of active features.
    let base = if entry.name == "tiles" { "TileCoding" } else { "Basis" };
    let _ = write!(text, "\n\nclass {}({base}):\n", entry.class);
    let fields: Vec<Field> = entry.settings.iter().map(basis_field).collect();
    docstring(text, entry.about, entry.source, &fields);

    let bounds = |setting: &&BasisSetting| setting.kind != Kind::Numbers;
    for setting in entry.settings.iter().filter(bounds) {
        let _ = writeln!(text, "    {}: {}", setting.name, attribute(setting));
    }
    let _ = writeln!(text, "\n    _kind: ClassVar[str] = \"{}\"", entry.name);
    let settings = entry.settings.iter().filter(bounds).map(|setting| {
        let default = basis_default(setting).unwrap_or_else(|| "None".to_owned());
        format!("\"{}\": (\"{}\", {default})", setting.name, kind_word(setting.kind))
    });
    list(text, "    _settings: ClassVar[dict[str, Setting]] = {", &settings.collect::<Vec<_>>(), "}");

    let (mut parameters, mut has_star) = (vec!["self".to_owned()], false);
    for Field { name, kind, default, .. } in &fields {
        if default.is_some() && !has_star {
            parameters.push("*".to_owned());
            has_star = true;
        }
        let default = default.as_ref().map_or(String::new(), |default| format!(" = {default}"));
        parameters.push(format!("{name}: {kind}{default}"));
    }
    text.push('\n');
    list(text, "    def __init__(", &parameters, ") -> None:");
    let given: Vec<String> = fields.iter().map(|Field { name, .. }| format!("{name}={name}")).collect();
    list(text, "        self._set(", &given, ")");
}

/// Returns the parameter of a setting.
fn basis_field(setting: &BasisSetting) -> Field {
    let kind = match setting.kind {
        Kind::Count | Kind::Whole => "int".to_owned(),
        Kind::Counts => "int | Sequence[int]".to_owned(),
        Kind::Positive => "float".to_owned(),
        Kind::Numbers => "ArrayLike".to_owned(),
        Kind::Flag => "bool".to_owned(),
        Kind::Flags => "bool | Sequence[bool]".to_owned(),
        Kind::Word(words) => format!("Literal[{}]", quoted(words)),
    };
    let default = basis_default(setting);
    let kind = if default.as_deref() == Some("None") { format!("{kind} | None") } else { kind };
    // In Python, no environment fills them in.
    let about = setting.about.trim_end_matches("; that of the environment, if it has one").to_owned();
    let left_out = match (setting.default, default.as_deref()) {
        (Some(default), Some("None")) => format!("; left out, {default}"),
        _ => String::new(),
    };
    Field { name: setting.name.to_owned(), kind, default, about: about + &left_out }
}

/// Returns what a setting is once it has been read.
fn attribute(setting: &BasisSetting) -> String {
    match setting.kind {
        Kind::Counts if basis_default(setting).is_some() => "tuple[int, ...] | None".to_owned(),
        Kind::Counts => "tuple[int, ...]".to_owned(),
        Kind::Flags => "tuple[bool, ...]".to_owned(),
        _ => basis_field(setting).kind,
    }
}

/// Returns the default of a setting in Python: None if it cannot be given as a value. `None` if there is no default.
fn basis_default(setting: &BasisSetting) -> Option<String> {
    let default = setting.default?;
    Some(match setting.kind {
        Kind::Flag | Kind::Flags => if default == "true" { "True" } else { "False" }.to_owned(),
        Kind::Positive => default.parse().map_or("None".to_owned(), |number: f64| format!("{number:?}")),
        Kind::Word(_) => default.to_owned(),
        _ => default.parse().map_or("None".to_owned(), |number: u64| number.to_string()),
    })
}

fn kind_word(kind: Kind) -> &'static str {
    match kind {
        Kind::Count => "count",
        Kind::Counts => "counts",
        Kind::Whole => "whole",
        Kind::Positive => "positive",
        Kind::Numbers => "numbers",
        Kind::Flag => "flag",
        Kind::Flags => "flags",
        Kind::Word(_) => "word",
    }
}

fn quoted(words: &[&str]) -> String {
    words.iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(", ")
}

/// Returns the parts of a role, those that need a problem last.
fn in_order(catalogue: &Catalogue, role: Role) -> impl Iterator<Item = &Entry> {
    let exact = |entry: &&Entry| entry.needs.contains(&Need::Problem);
    catalogue.of(role).filter(move |entry| !exact(entry)).chain(catalogue.of(role).filter(exact))
}

fn class(text: &mut String, catalogue: &Catalogue, entry: &Entry) {
    let _ = write!(text, "\n\n@dataclass(frozen=True, repr=False)\nclass {}(Part):\n", entry.class);
    let fields = fields(catalogue, entry);
    docstring(text, entry.about, entry.source, &fields);
    for Field { name, kind, default, .. } in &fields {
        let default = default.as_ref().map_or(String::new(), |default| format!(" = {default}"));
        let _ = writeln!(text, "    {name}: {kind}{default}");
    }
    if !fields.is_empty() {
        text.push('\n');
    }
    let _ = writeln!(text, "    _role: ClassVar[str] = \"{}\"", entry.role.word());
    let _ = writeln!(text, "    _kind: ClassVar[str] = \"{}\"", entry.name);
    let words =
        |words: Vec<serde_json::Value>| -> Vec<String> { words.iter().map(ToString::to_string).collect() };
    if !entry.signals.is_empty() {
        let signals = words(entry.signals.iter().map(|signal| json!(signal)).collect());
        tuple(text, "    _tells: ClassVar[tuple[str, ...]] = ", &signals);
    }
    if !entry.needs.is_empty() {
        let needs = words(entry.needs.iter().map(|need| json!(need)).collect());
        tuple(text, "    _needs: ClassVar[tuple[str, ...]] = ", &needs);
    }
    if !entry.inner.is_empty() {
        let inner = entry.inner.iter().map(|Inner { name, role, signal, .. }| {
            let signal = signal.map_or("None".to_owned(), |signal| json!(signal).to_string());
            format!("(\"{name}\", \"{}\", {signal})", role.word())
        });
        tuple(text, "    _inner: ClassVar[tuple[Inner, ...]] = ", &inner.collect::<Vec<_>>());
    }
    if let Some(acts) = entry.acts {
        let _ = writeln!(text, "    _acts: ClassVar[str] = {}", json!(acts));
    }
}

/// Writes a tuple.
fn tuple(text: &mut String, before: &str, items: &[String]) {
    let comma = if items.len() == 1 { "," } else { "" };
    list(text, &format!("{before}("), items, &format!("{comma})"));
}

/// Writes a line, or one line for each item if it would be too long.
fn list(text: &mut String, before: &str, items: &[impl AsRef<str>], after: &str) {
    let items: Vec<&str> = items.iter().map(AsRef::as_ref).collect();
    let line = format!("{before}{}{after}\n", items.join(", "));
    if line.chars().count() <= LINE {
        *text += &line;
        return;
    }
    let indent: String = before.chars().take_while(|c| *c == ' ').collect();
    let _ = writeln!(text, "{before}");
    for item in items {
        let _ = writeln!(text, "{indent}    {item},");
    }
    let _ = writeln!(text, "{indent}{}", after.trim_start_matches(','));
}

/// A field of a dataclass.
struct Field {
    name: String,
    kind: String,
    default: Option<String>,
    about: String,
}

impl Field {
    fn new(name: &str, kind: &str, default: Option<&str>, about: &str) -> Self {
        let (default, about) = (default.map(str::to_owned), about.to_owned());
        Self { name: name.to_owned(), kind: kind.to_owned(), default, about }
    }
}

/// Returns the fields of a part, those without a default first. (A policy begins with its features. The parts inside that may be left out
/// come last.)
fn fields(catalogue: &Catalogue, entry: &Entry) -> Vec<Field> {
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
    let (set, required): (Vec<&Setting>, Vec<&Setting>) =
        entry.settings.iter().partition(|setting| setting.default.is_some());
    for Setting { name, range, default, about } in required.into_iter().chain(set) {
        let name = if KEYWORDS.contains(name) { format!("{name}_") } else { (*name).to_owned() };
        let (kind, default) = match range {
            Range::Count => ("int", default.map(|x| format!("{x}"))),
            _ => ("float", default.map(|x| format!("{x:?}"))),
        };
        fields.push(Field::new(&name, kind, default.as_deref(), about));
    }
    let (critics, others): (Vec<&Inner>, Vec<&Inner>) =
        entry.inner.iter().partition(|inner| inner.role == Role::Critic);
    for inner in critics {
        let required = fields.iter().any(|field| field.default.is_some()).then_some("REQUIRED");
        fields.push(Field::new(inner.name, union_of(inner), required, inner.about));
    }
    if entry.role != Role::Policy && entry.features {
        let about = "what it sees of a state; left out, what the policy sees";
        fields.push(Field::new("features", "Features | None", Some("None"), about));
    }
    for inner in others {
        let about = match inner.role {
            Role::Emphasis => {
                format!("{}. Its `{LAMBDA_A}`, if it has one, is 1: no other can be given", inner.about)
            }
            _ => inner.about.to_owned(),
        };
        fields.push(Field::new(inner.name, union_of(inner), Some(&default_inside(catalogue, inner)), &about));
    }
    fields
}

/// Returns an instance of the part that is taken by default inside another.
fn default_inside(catalogue: &Catalogue, inner: &Inner) -> String {
    let Some(default) = catalogue.find(inner.role, inner.default) else { return "REQUIRED".to_owned() };
    let has_lambda_a = inner.role == Role::Emphasis && default.setting(LAMBDA_A).is_some();
    let arguments = if has_lambda_a { format!("{LAMBDA_A}=1.0") } else { String::new() };
    format!("{}({arguments})", default.class)
}

fn docstring(text: &mut String, about: &str, source: &str, fields: &[Field]) {
    let _ = write!(text, "    \"\"\"{}.", sentence(about));
    if !source.is_empty() {
        let _ = write!(text, "\n\n    Source: {}.", source);
    }
    if !fields.is_empty() {
        text.push('\n');
    }
    for field in fields {
        let _ = write!(text, "\n    `{}`: {}.", field.name, field.about);
    }
    let one_line = fields.is_empty() && source.is_empty();
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

/// Returns the union of the parts that may be inside another.
fn union_of(inner: &Inner) -> &'static str {
    match (inner.role, inner.signal) {
        (Role::Policy, _) => "Policy",
        (Role::Critic, Some(signal)) => critics_of(signal),
        (Role::Critic, None) => "Critic",
        (Role::Emphasis, _) => "Emphasis",
        (Role::Actor, _) => "Actor",
        (Role::Schedule, _) => "Schedule",
    }
}

fn critics_of(signal: Signal) -> &'static str {
    match signal {
        Signal::Delta => "ValueCritic",
        Signal::Advantages => "ActionCritic",
        Signal::Slope => "SlopeCritic",
    }
}

fn unions(text: &mut String, catalogue: &Catalogue) {
    let mut union = |name: &str, entries: Vec<&Entry>| {
        let classes: Vec<&str> = entries.iter().map(|entry| entry.class).collect();
        match &classes[..] {
            [one] => *text += &format!("{name} = {one}\n"),
            many => list(text, &format!("{name} = Union["), many, "]"),
        }
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
        union(critics_of(signal), critics(signal));
    }
    let emphases = || in_order(catalogue, Role::Emphasis);
    union("Emphasis", emphases().collect());
    let ratio_free =
        |part: &&Entry| !part.needs.iter().any(|need| matches!(need, Need::Ratio | Need::Finite));
    union("RatioFreeEmphasis", emphases().filter(ratio_free).collect());
    let actors = || in_order(catalogue, Role::Actor);
    union("Actor", actors().collect());
    for (name, signal) in [("ValueActor", Signal::Delta), ("ActionActor", Signal::Advantages)] {
        union(name, actors().filter(|part| part.signals.contains(&signal)).collect());
    }
    union("Schedule", in_order(catalogue, Role::Schedule).collect());
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
