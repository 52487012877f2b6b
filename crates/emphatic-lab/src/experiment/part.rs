//! Parts of methods, by the catalogue.

use super::method::check_kinds;
use super::variant::{Axis, Owner};
use crate::part_file::{PartEntry, PartFile, PartValue, has_key};
use crate::policy_file::PolicyFile;
use crate::source::Sights;
use crate::sweep::{Located, Sweep};
use emphatic::PartRecipe;
use emphatic::catalogue::{Catalogue, Entry, Role, Setting};
use emphatic_problems::{Mistake, suggest};
use std::collections::{BTreeMap, HashSet};
use std::ops::Range;

/// The features that a part looks at, if nothing is said.
pub(super) const DEFAULT_SIGHT: &str = "critic";

/// One kind of part, with its numbers as they are written.
#[derive(Clone, Debug)]
pub(super) struct PartChoice {
    pub(super) entry: &'static Entry,
    /// Where its kind stands.
    pub(super) span: Range<usize>,
    /// Where its table stands.
    table: Range<usize>,
    pub(super) features: Option<Located<String>>,
    pub(super) inner: Option<Box<PartChoice>>,
    /// The settings that are given.
    entries: BTreeMap<String, PartEntry>,
}

/// The words `a`, `b` and `c`.
pub(super) fn listed<'a>(names: impl Iterator<Item = &'a str>, last: &str) -> String {
    let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    joined(&names.iter().map(String::as_str).collect::<Vec<_>>(), last)
}

/// The words a, b and c.
pub(super) fn joined(names: &[&str], last: &str) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [some @ .., one] => format!("{} {last} {one}", some.join(", ")),
    }
}

impl PartChoice {
    /// All choices that a part's table leaves open: kinds, features, and the part inside it.
    pub(super) fn all(role: Role, file: &PartFile, table: &Range<usize>) -> Result<Vec<Self>, Mistake> {
        let word = role.word();
        let known = || Catalogue::current().of(role).map(|entry| entry.name);
        let Some(kinds) = &file.kind else {
            let names: Vec<String> = known().map(|name| format!("\"{name}\"")).collect();
            return Err(Mistake::at(table, format!("the {word} has no kind"))
                .help(format!("kind = {}", names.join(" or "))));
        };
        let mut choices = Vec::new();
        for Located { value: kind, span } in kinds.distinct(&format!("{word}.kind"))? {
            let span = if span.is_empty() { table } else { span };
            let Some(entry) = Catalogue::current().find(role, kind) else {
                let message = format!("there is no {word} `{kind}`");
                return Err(Mistake::at(span, message).maybe_help(suggest(kind, known())));
            };
            Self::of_kind(entry, file, span, table, &mut choices)?;
        }
        Ok(choices)
    }

    /// Adds the choices of one kind.
    pub(super) fn of_kind(
        entry: &'static Entry,
        file: &PartFile,
        span: &Range<usize>,
        table: &Range<usize>,
        choices: &mut Vec<Self>,
    ) -> Result<(), Mistake> {
        let features = match &file.features {
            Some(features) => {
                let key = format!("{}.features", entry.role.word());
                features.distinct(&key)?.iter().cloned().map(Some).collect()
            }
            None => vec![None],
        };
        for features in features {
            Self::with_inner(entry, file, features, span, table, choices)?;
            check_kinds(1, choices.len(), table)?;
        }
        Ok(())
    }

    /// Adds the choices of one kind with every part inside it.
    fn with_inner(
        entry: &'static Entry,
        file: &PartFile,
        features: Option<Located<String>>,
        span: &Range<usize>,
        table: &Range<usize>,
        choices: &mut Vec<Self>,
    ) -> Result<(), Mistake> {
        let (mut own, mut rest) = (BTreeMap::new(), file.entries.clone());
        for setting in entry.settings {
            own.extend(rest.remove_entry(setting.name));
        }
        let choice = |inner| Self {
            entry,
            span: span.clone(),
            table: table.clone(),
            features: features.clone(),
            inner,
            entries: own.clone(),
        };
        let Some(declared) = &entry.inner else {
            choices.push(choice(None).checked(rest)?);
            return Ok(());
        };
        let default =
            vec![Located { value: PartValue::Part(PartFile::named(declared.default)), span: table.clone() }];
        let given = rest.remove(declared.name);
        let inside = match &given {
            Some(PartEntry { value, .. }) => value.several(declared.name)?,
            None => &default,
        };
        for Located { value, span: place } in inside {
            let PartValue::Part(part) = value else {
                let message = format!("`{}` is a number; it must be the name of a critic", declared.name);
                return Err(Mistake::at(place, message));
            };
            let mut part = part.clone();
            // Its settings may stand beside those of the part around it, if it has none of its own.
            for (name, entry) in &rest {
                if !part.may_have(Role::Critic, name) {
                    return Err(choice(None).unknown(name, entry));
                }
                if !part.entries.is_empty() {
                    let message =
                        format!("`{name}` stands beside `{}`, which has settings of its own", declared.name);
                    return Err(
                        Mistake::at(&entry.key, message).help(format!("put it into `{}`", declared.name))
                    );
                }
            }
            if part.entries.is_empty() {
                part.entries = rest.clone();
            }
            for mut inner in Self::all(Role::Critic, &part, place)? {
                if !inner.entry.tells.contains(&declared.tells) {
                    let message =
                        format!("the critic `{}` does not tell {}", inner.entry.name, declared.tells.words());
                    let fit =
                        Catalogue::current().of(Role::Critic).filter(|e| e.tells.contains(&declared.tells));
                    let help = format!("use {}", listed(fit.map(|entry| entry.name), "or"));
                    return Err(Mistake::at(place, message).help(help));
                }
                inner.features = inner.features.or_else(|| features.clone().filter(|_| inner.entry.features));
                inner.table = table.clone();
                choices.push(choice(Some(Box::new(inner))).checked(BTreeMap::new())?);
                check_kinds(1, choices.len(), table)?;
            }
        }
        Ok(())
    }

    /// The choice, unless something of it has no meaning.
    fn checked(self, rest: BTreeMap<String, PartEntry>) -> Result<Self, Mistake> {
        if let Some((name, entry)) = rest.iter().next() {
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

    /// A key that the part has no use for.
    fn unknown(&self, name: &str, entry: &PartEntry) -> Mistake {
        let (role, own) = (self.entry.role.word(), self.entry.name);
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
            return Mistake::at(&entry.key, format!("the {role} `{own}` has no setting `{name}`"))
                .maybe_help(suggest(name, known));
        }
        let role = match self.entry.role {
            _ if owners.len() == 1 => role,
            Role::Policy => "policies",
            Role::Critic => "critics",
            Role::Emphasis => "emphases",
        };
        Mistake::at(&entry.value.span, format!("`{name}` has no meaning here"))
            .help(format!("it belongs to the {role} {}", listed(owners.into_iter(), "and")))
    }

    /// The part without its numbers, in a source with these features.
    pub(super) fn recipe(&self, sights: &Sights) -> Result<PartRecipe, Mistake> {
        let mut recipe = PartRecipe::new(self.entry.name);
        if self.entry.features {
            let default = if self.entry.role == Role::Policy { "actor" } else { DEFAULT_SIGHT };
            let sight = self.features.as_ref().map_or(default, |features| features.value.as_str());
            let Some(features) = sights.find(sight) else {
                let span = self.features.as_ref().map_or(&self.span, |features| &features.span);
                let message = format!("there are no features `{sight}`");
                return Err(Mistake::at(span, message).maybe_help(suggest(sight, sights.names())));
            };
            recipe.features = Some(features.clone());
        }
        if let Some(inner) = &self.inner {
            recipe = recipe.with_inner(inner.recipe(sights)?);
        }
        Ok(recipe)
    }

    /// Adds the values of its settings, those of the part inside it first.
    pub(super) fn add_axes(&self, owner: Owner, axes: &mut Vec<Axis>) -> Result<(), Mistake> {
        if let Some(inner) = &self.inner {
            let deeper = match owner {
                Owner::Actor => Owner::Actor,
                Owner::Part(role, depth) => Owner::Part(role, depth + 1),
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

    fn missing(&self, setting: &Setting) -> Mistake {
        let (role, name) = (self.entry.role.word(), setting.name);
        let help = format!(
            "it is the {} of `{}`; give a number, or a list to sweep: {role} = {{ kind = …, {name} = … }}",
            setting.about, self.entry.name
        );
        Mistake::at(&self.table, format!("the {role} needs `{name}`")).help(help)
    }

    /// The same with a number that stands outside its table.
    pub(super) fn with_number(mut self, name: &str, given: &Sweep<PartValue>) -> Result<Self, Mistake> {
        if self.entry.setting(name).is_none() {
            let entry = PartEntry { key: given.span.clone(), value: given.clone() };
            return Err(self.unknown(name, &entry));
        }
        let entry = PartEntry { key: given.span.clone(), value: given.clone() };
        if self.entries.insert(name.to_owned(), entry).is_some() {
            return Err(Mistake::at(&given.span, format!("`{name}` is given twice"))
                .help("give it here or in the emphasis's table, not in both"));
        }
        Ok(self)
    }
}

/// A setting's column in the table of settings: its name; with that of its part before it, where another part has a setting of that name or the
/// part is no critic.
fn column(setting: &Setting, owner: Owner, axes: &[Axis]) -> String {
    let place = match owner {
        Owner::Actor => "actor",
        Owner::Part(role, _) => role.word(),
    };
    let name = match owner {
        Owner::Part(Role::Emphasis, _) if setting.name == "lambda_a" => setting.name.to_owned(),
        Owner::Part(Role::Policy | Role::Emphasis, _) => format!("{place}.{}", setting.name),
        Owner::Actor | Owner::Part(Role::Critic, _) => setting.name.to_owned(),
    };
    let taken = |name: &str| axes.iter().any(|axis| axis.column == name);
    let longer = std::iter::successors(Some(name), |name| Some(format!("{place}.{name}")));
    longer.into_iter().find(|name| !taken(name)).unwrap_or_default()
}

/// The values of a list, each once.
pub(super) fn values(setting: &Setting, sweep: &Sweep<PartValue>) -> Result<Vec<f64>, Mistake> {
    let name = setting.name;
    let mut values = Vec::new();
    let mut seen = HashSet::new();
    for Located { value, span } in sweep.several(name)? {
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
