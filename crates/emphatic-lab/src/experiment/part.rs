//! Parts of methods: what the catalogue makes of their tables.

use super::method::{check_kinds, critics_for};
use super::{Axis, Owner, Scenario};
use crate::experiment_file::{PartEntry, PartFile, PartValue, PolicyFile};
use crate::one_or_list::{Located, OneOrList};
use emphatic::PartRecipe;
use emphatic::catalogue::{Catalogue, Entry, Inner, Role, Setting};
use emphatic_problems::{Mistake, suggest};
use std::collections::{BTreeMap, HashSet};
use std::ops::Range;

/// The features that a part learns from if its table names none.
pub(super) const DEFAULT_FEATURES: &str = "critic";

/// One kind of part, with its numbers as they are written.
#[derive(Clone, Debug)]
pub(super) struct PartChoice {
    pub(super) entry: &'static Entry,
    /// The place of its kind.
    pub(super) span: Range<usize>,
    /// The place of its table.
    table: Range<usize>,
    pub(super) features: Option<Located<String>>,
    pub(super) inner: Option<Box<PartChoice>>,
    /// The settings that are given.
    entries: BTreeMap<String, PartEntry>,
}

/// Returns the words "`a`, `b` or `c`".
pub(super) fn joined_in_quotes<'a>(names: impl Iterator<Item = &'a str>, last: &str) -> String {
    let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    joined(&names.iter().map(String::as_str).collect::<Vec<_>>(), last)
}

/// Returns the words "a, b or c".
pub(super) fn joined(names: &[&str], last: &str) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [some @ .., one] => format!("{} {last} {one}", some.join(", ")),
    }
}

/// Returns whether a part has a setting, or a part inside it, of this name.
fn has_key(entry: &Entry, name: &str) -> bool {
    entry.setting(name).is_some() || entry.inner.is_some_and(|inner| inner.name == name)
}

/// Returns whether one of the kinds of critic that a table leaves open has a key. (A kind that does not exist is refused later.)
fn may_have(part: &PartFile, name: &str) -> bool {
    let find = |kind: &str| Catalogue::current().find(Role::Critic, kind);
    let mut kinds = part.kind.iter().flat_map(|kinds| &kinds.values);
    kinds.any(|kind| find(&kind.value).is_none_or(|entry| has_key(entry, name)))
}

/// Returns the entry of a kind of part in the catalogue.
pub(super) fn entry_of(role: Role, kind: &str, span: &Range<usize>) -> Result<&'static Entry, Mistake> {
    Catalogue::current().find(role, kind).ok_or_else(|| {
        let known = Catalogue::current().of(role).map(|entry| entry.name);
        Mistake::at(span, format!("there is no {} `{kind}`", role.word())).maybe_help(suggest(kind, known))
    })
}

impl PartChoice {
    /// Returns all choices that a part's table leaves open: kinds, features, and the part inside it.
    pub(super) fn all(role: Role, file: &PartFile, table: &Range<usize>) -> Result<Vec<Self>, Mistake> {
        let word = role.word();
        let Some(kinds) = &file.kind else {
            let known = Catalogue::current().of(role);
            let names: Vec<String> = known.map(|entry| format!("\"{}\"", entry.name)).collect();
            return Err(Mistake::at(table, format!("the {word} has no kind"))
                .help(format!("kind = {}", names.join(" or "))));
        };
        let mut choices = Vec::new();
        for Located { value: kind, span } in kinds.distinct(&format!("{word}.kind"))? {
            let span = if span.is_empty() { table } else { span };
            choices.extend(Self::of_kind(entry_of(role, kind, span)?, file, span, table)?);
            check_kinds(1, choices.len(), table)?;
        }
        Ok(choices)
    }

    /// Returns the choices of one kind.
    pub(super) fn of_kind(
        entry: &'static Entry,
        file: &PartFile,
        span: &Range<usize>,
        table: &Range<usize>,
    ) -> Result<Vec<Self>, Mistake> {
        let mut choices = Vec::new();
        let features = match &file.features {
            Some(features) => {
                let key = format!("{}.features", entry.role.word());
                features.distinct(&key)?.iter().cloned().map(Some).collect()
            }
            None => vec![None],
        };
        let (mut entries, mut others) = (BTreeMap::new(), file.entries.clone());
        for setting in entry.settings {
            entries.extend(others.remove_entry(setting.name));
        }
        for features in features {
            let choice = Self {
                entry,
                span: span.clone(),
                table: table.clone(),
                features,
                inner: None,
                entries: entries.clone(),
            };
            match &entry.inner {
                None => choices.push(choice.checked(&others)?),
                Some(inner) => choice.add_with_inner(inner, others.clone(), &mut choices)?,
            }
            check_kinds(1, choices.len(), table)?;
        }
        Ok(choices)
    }

    /// Adds this choice with every part inside it. `others` are the keys that are not settings of its own.
    fn add_with_inner(
        self,
        declared: &Inner,
        mut others: BTreeMap<String, PartEntry>,
        choices: &mut Vec<Self>,
    ) -> Result<(), Mistake> {
        let default = PartValue::Part(PartFile::named(declared.default));
        let default = [Located { value: default, span: self.table.clone() }];
        let given = others.remove(declared.name);
        let inside = match &given {
            Some(entry) => entry.value.non_empty(declared.name)?,
            None => &default[..],
        };
        for Located { value, span } in inside {
            let PartValue::Part(part) = value else {
                let message = format!("`{}` is a number; it must be the name of a critic", declared.name);
                return Err(Mistake::at(span, message));
            };
            let part = self.with_others(declared, part, &others)?;
            for mut inner in Self::all(Role::Critic, &part, span)? {
                if !inner.entry.signals.contains(&declared.signal) {
                    let message = format!(
                        "the critic `{}` does not tell {}",
                        inner.entry.name,
                        declared.signal.words()
                    );
                    return Err(Mistake::at(span, message).help(critics_for(declared.signal)));
                }
                let default = self.features.clone().filter(|_| inner.entry.features);
                inner.features = inner.features.or(default);
                inner.table = self.table.clone();
                let choice = Self { inner: Some(Box::new(inner)), ..self.clone() };
                choices.push(choice.checked(&BTreeMap::new())?);
                check_kinds(1, choices.len(), &self.table)?;
            }
        }
        Ok(())
    }

    /// Returns the part inside this one with keys that stand beside it, which are its own settings if its table has none.
    fn with_others(
        &self,
        declared: &Inner,
        part: &PartFile,
        others: &BTreeMap<String, PartEntry>,
    ) -> Result<PartFile, Mistake> {
        for (name, entry) in others {
            if !may_have(part, name) {
                return Err(self.unknown(name, entry));
            }
            if !part.entries.is_empty() {
                let message =
                    format!("`{name}` stands beside `{}`, which has settings of its own", declared.name);
                return Err(Mistake::at(&entry.key, message).help(format!("put it into `{}`", declared.name)));
            }
        }
        let entries = if part.entries.is_empty() { others } else { &part.entries };
        Ok(PartFile { entries: entries.clone(), ..part.clone() })
    }

    /// Returns the choice, or an error if it has other keys than its own, or features without a use for them.
    fn checked(self, others: &BTreeMap<String, PartEntry>) -> Result<Self, Mistake> {
        if let Some((name, entry)) = others.iter().next() {
            return Err(self.unknown(name, entry));
        }
        match &self.features {
            Some(features) if !self.entry.features => {
                let help =
                    format!("the {} `{}` looks at no features", self.entry.role.word(), self.entry.name);
                Err(Mistake::at(&features.span, "`features` has no meaning here").help(help))
            }
            _ => Ok(self),
        }
    }

    /// Returns the error of a key that the part has no use for.
    fn unknown(&self, name: &str, entry: &PartEntry) -> Mistake {
        let (role, part) = (self.entry.role.word(), self.entry.name);
        let has = |other: &&Entry| has_key(other, name);
        let owners: Vec<&str> =
            Catalogue::current().of(self.entry.role).filter(has).map(|other| other.name).collect();
        if owners.is_empty() {
            let keys: &[&str] = match self.entry.role {
                Role::Policy => &PolicyFile::KEYS,
                Role::Critic | Role::Emphasis if self.entry.features => &["kind", "features"],
                Role::Critic | Role::Emphasis => &["kind"],
            };
            let known = self.entry.settings.iter().map(|setting| setting.name);
            let known = known.chain(keys.iter().copied()).chain(self.entry.inner.map(|inner| inner.name));
            return Mistake::at(&entry.key, format!("the {role} `{part}` has no setting `{name}`"))
                .maybe_help(suggest(name, known));
        }
        let role = match self.entry.role {
            _ if owners.len() == 1 => role,
            Role::Policy => "policies",
            Role::Critic => "critics",
            Role::Emphasis => "emphases",
        };
        Mistake::at(&entry.value.span, format!("`{name}` has no meaning here"))
            .help(format!("it belongs to the {role} {}", joined_in_quotes(owners.into_iter(), "and")))
    }

    /// Returns the recipe of the part in a scenario, without its numbers.
    pub(super) fn recipe(&self, scenario: &Scenario) -> Result<PartRecipe, Mistake> {
        let mut recipe = PartRecipe::new(self.entry.name);
        if self.entry.features {
            let default = if self.entry.role == Role::Policy { "actor" } else { DEFAULT_FEATURES };
            let (name, span) = match &self.features {
                Some(features) => (features.value.as_str(), &features.span),
                None => (default, &self.span),
            };
            recipe.features = Some(scenario.features(name).map_err(|error| error.at(span))?.clone());
        }
        if let Some(inner) = &self.inner {
            recipe = recipe.with_inner(inner.recipe(scenario)?);
        }
        Ok(recipe)
    }

    /// Adds the values of its settings, those of the part inside it first.
    pub(super) fn add_axes(&self, owner: Owner, axes: &mut Vec<Axis>) -> Result<(), Mistake> {
        if let Some(inner) = &self.inner {
            let deeper = match owner {
                Owner::Actor => Owner::Actor,
                Owner::Part { role, depth } => Owner::Part { role, depth: depth + 1 },
            };
            inner.add_axes(deeper, axes)?;
        }
        for setting in self.entry.settings {
            let values = match (self.entries.get(setting.name), setting.default) {
                (Some(entry), _) => values(setting, &entry.value)?,
                (None, Some(default)) => vec![default],
                (None, None) => return Err(self.missing(setting)),
            };
            let column = column(setting, owner, axes);
            axes.push(Axis { column, name: setting.name, owner, values });
        }
        Ok(())
    }

    /// Returns the error of a setting that must be given, but is not.
    fn missing(&self, setting: &Setting) -> Mistake {
        let (role, name) = (self.entry.role.word(), setting.name);
        let help = format!(
            "it is the {} of `{}`; give a number, or a list to sweep: {role} = {{ kind = …, {name} = … }}",
            setting.about, self.entry.name
        );
        Mistake::at(&self.table, format!("the {role} needs `{name}`")).help(help)
    }

    /// Returns the part with a number that is given outside its table.
    pub(super) fn with_number(mut self, name: &str, given: &OneOrList<PartValue>) -> Result<Self, Mistake> {
        let entry = PartEntry { key: given.span.clone(), value: given.clone() };
        if self.entry.setting(name).is_none() {
            return Err(self.unknown(name, &entry));
        }
        if self.entries.insert(name.to_owned(), entry).is_some() {
            return Err(Mistake::at(&given.span, format!("`{name}` is given twice"))
                .help("give it here or in the emphasis's table, not in both"));
        }
        Ok(self)
    }
}

/// Returns a setting's column in the table of settings: its name, preceded by that of its part if the part is not a critic or another part
/// has a setting of that name.
fn column(setting: &Setting, owner: Owner, axes: &[Axis]) -> String {
    let place = match owner {
        Owner::Actor => "actor",
        Owner::Part { role, .. } => role.word(),
    };
    let name = match owner {
        Owner::Part { role: Role::Emphasis, .. } if setting.name == "lambda_a" => setting.name.to_owned(),
        Owner::Part { role: Role::Policy | Role::Emphasis, .. } => format!("{place}.{}", setting.name),
        Owner::Actor | Owner::Part { role: Role::Critic, .. } => setting.name.to_owned(),
    };
    let is_taken = |name: &str| axes.iter().any(|axis| axis.column == name);
    let mut longer = std::iter::successors(Some(name), |name| Some(format!("{place}.{name}")));
    longer.find(|name| !is_taken(name)).unwrap_or_default()
}

/// Returns the values of a setting, which must lie in its range and differ.
pub(super) fn values(setting: &Setting, list: &OneOrList<PartValue>) -> Result<Vec<f64>, Mistake> {
    let name = setting.name;
    let mut values = Vec::new();
    let mut seen = HashSet::new();
    for Located { value, span } in list.non_empty(name)? {
        let PartValue::Number(x) = *value else {
            return Err(Mistake::at(span, format!("`{name}` must be a number")));
        };
        if !setting.range.contains(x) {
            return Err(Mistake::at(span, format!("`{name}` is {x}; {}", setting.range.right())));
        }
        if !seen.insert(x.to_bits()) {
            return Err(Mistake::at(span, format!("`{name}` has {x} twice"))
                .help("each value is a setting of its own: leave one out"));
        }
        values.push(x);
    }
    Ok(values)
}
