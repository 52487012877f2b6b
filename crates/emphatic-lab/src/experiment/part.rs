//! Parts of methods: what the catalogue makes of their tables.

use super::fit::critics_for;
use super::method::check_kinds;
use super::{Axis, Cell, Owner, Scenario};
use crate::experiment_file::{PartEntry, PartFile, PartValue, PolicyFile};
use crate::one_or_list::{Located, OneOrList};
use emphatic::PartRecipe;
use emphatic::catalogue::{Catalogue, Entry, Inner, Role, Setting};
use emphatic_problems::{Mistake, suggest};
use emphatic_text::exact_number;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ops::Range;

/// The setting of emphases that says how much they count.
pub(super) const LAMBDA_A: &str = "lambda_a";

/// What stands for the method's own emphasis where another part has an emphasis inside it.
pub(crate) const AS_ACTOR: &str = "actor";

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
    /// The parts inside it, each with its declaration.
    pub(super) inner: Vec<(&'static Inner, PartChoice)>,
    /// The settings that are given.
    entries: BTreeMap<String, PartEntry>,
    /// How many values before its own in the list that it is written in have the same kind.
    pub(super) ordinal: usize,
    /// Whether it is the method's own emphasis, inside another part.
    is_actors: bool,
}

/// Numbers the choices of each value of a list of parts, so that values of one kind can be told apart. They must all differ.
pub(super) fn numbered(
    key: &str,
    mut values: Vec<Located<Vec<PartChoice>>>,
) -> Result<Vec<Vec<PartChoice>>, Mistake> {
    let (mut seen, mut kinds) = (HashSet::new(), BTreeMap::<&str, usize>::new());
    for choices in &mut values {
        if choices.value.iter().any(|choice| seen.contains(&choice.meaning())) {
            return Err(choices.twice(key));
        }
        seen.extend(choices.value.iter().map(PartChoice::meaning));
        for choice in &mut choices.value {
            choice.ordinal = kinds.get(choice.entry.name).copied().unwrap_or(0);
        }
        let of_value: BTreeSet<&str> = choices.value.iter().map(|choice| choice.entry.name).collect();
        of_value.into_iter().for_each(|kind| *kinds.entry(kind).or_default() += 1);
    }
    Ok(values.into_iter().map(|choices| choices.value).collect())
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
    entry.setting(name).is_some() || entry.inner.iter().any(|inner| inner.name == name)
}

/// Returns whether one of the kinds of a part that a table leaves open has a key. (A kind that does not exist is refused later.)
fn may_have(part: &PartFile, role: Role, name: &str) -> bool {
    let find = |kind: &str| Catalogue::current().find(role, kind);
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
            let (span, table, inner) = (span.clone(), table.clone(), Vec::new());
            let entries = entries.clone();
            let choice = Self { entry, span, table, features, inner, entries, ordinal: 0, is_actors: false };
            choices.extend(choice.with_parts_inside(others.clone())?);
            check_kinds(1, choices.len(), &choices[0].table)?;
        }
        Ok(choices)
    }

    /// Returns this choice with all parts that may be inside it. `others` are the keys that are not settings of its own.
    fn with_parts_inside(self, mut others: BTreeMap<String, PartEntry>) -> Result<Vec<Self>, Mistake> {
        let given: Vec<Option<PartEntry>> =
            self.entry.inner.iter().map(|inner| others.remove(inner.name)).collect();
        let mut choices = vec![self.clone()];
        for (declared, given) in self.entry.inner.iter().zip(given) {
            let inside = self.inside(declared, given.as_ref(), &mut others)?;
            check_kinds(choices.len(), inside.len(), &self.table)?;
            let with = |choice: &Self, inner: &Self| {
                let mut choice = choice.clone();
                choice.inner.push((declared, inner.clone()));
                choice
            };
            choices = choices.iter().flat_map(|choice| inside.iter().map(|i| with(choice, i))).collect();
        }
        choices.into_iter().map(|choice| choice.checked(&others)).collect()
    }

    /// Returns what may be one of the parts inside this one. Keys in `others` that are settings of it are taken out.
    fn inside(
        &self,
        declared: &'static Inner,
        given: Option<&PartEntry>,
        others: &mut BTreeMap<String, PartEntry>,
    ) -> Result<Vec<Self>, Mistake> {
        let default = PartValue::Part(PartFile::named(declared.default));
        let default = [Located { value: default, span: self.table.clone() }];
        let inside = match given {
            Some(entry) => entry.value.non_empty(declared.name)?,
            None => &default[..],
        };
        let role = declared.role.word();
        let mut parts = Vec::new();
        for Located { value, span } in inside {
            let PartValue::Part(part) = value else {
                let message = format!("`{}` is a number; it must be the name of a {role}", declared.name);
                return Err(Mistake::at(span, message));
            };
            parts.push((part, span));
        }
        let belongs = |name: &str| parts.iter().any(|(part, _)| may_have(part, declared.role, name));
        let names: Vec<String> = others.keys().filter(|name| belongs(name)).cloned().collect();
        let beside: BTreeMap<String, PartEntry> =
            names.into_iter().filter_map(|name| others.remove_entry(&name)).collect();
        let (mut values, mut kinds) = (Vec::new(), 0);
        for (part, span) in parts {
            let part = self.with_beside(declared, part, &beside)?;
            let mut choices = Self::all_inside(declared.role, &part, span)?;
            for inner in &mut choices {
                inner.check_inside(declared, span)?;
                let default = self.features.clone().filter(|_| inner.entry.features);
                inner.features = inner.features.take().or(default);
                inner.table = self.table.clone();
            }
            kinds += choices.len();
            check_kinds(1, kinds, &self.table)?;
            values.push(Located { value: choices, span: span.clone() });
        }
        Ok(numbered(declared.name, values)?.concat())
    }

    /// Returns all choices of a part inside another: as elsewhere, or the method's own emphasis, which is not known yet.
    fn all_inside(role: Role, file: &PartFile, table: &Range<usize>) -> Result<Vec<Self>, Mistake> {
        let is_actors = |kind: &Located<String>| role == Role::Emphasis && kind.value == AS_ACTOR;
        let Some(place) = file.kind.iter().flat_map(|kinds| &kinds.values).find(|kind| is_actors(kind))
        else {
            return Self::all(role, file, table);
        };
        if file.kind.as_ref().is_some_and(|kinds| kinds.is_list) {
            return Err(Mistake::at(
                &place.span,
                format!("`{AS_ACTOR}` stands alone, not in a list of kinds"),
            ));
        }
        if let Some(entry) = file.entries.values().next() {
            let message = format!("the emphasis `{AS_ACTOR}` has the settings of the method's own emphasis");
            return Err(Mistake::at(&entry.key, message).help("give them there"));
        }
        let mut none = Self::all(role, &PartFile::named("none"), table)?;
        none.iter_mut().for_each(|choice| choice.is_actors = true);
        Ok(none)
    }

    /// Returns the part with the method's own emphasis where that is to be inside it.
    pub(super) fn with_actors(&self, emphasis: &Self) -> Self {
        let mut part = self.clone();
        for (_, inner) in &mut part.inner {
            *inner = match inner.is_actors {
                true => Self { is_actors: true, ..emphasis.clone() },
                false => inner.with_actors(emphasis),
            };
            if inner.is_actors {
                inner.entries.remove(LAMBDA_A);
            }
        }
        part
    }

    /// Adds the places inside it at which the method's own emphasis is.
    pub(super) fn add_actors(&self, role: Role, inside: &[&'static str], places: &mut Vec<Owner>) {
        for (declared, inner) in &self.inner {
            let inside = [inside, &[declared.name]].concat();
            match inner.is_actors {
                true => places.push(Owner::Part { role, inside }),
                false => inner.add_actors(role, &inside, places),
            }
        }
    }

    /// Returns all that it means, with what is left out: choices of one meaning are the same part.
    fn meaning(&self) -> String {
        let features = self.features.as_ref().map_or(DEFAULT_FEATURES, |features| &features.value);
        let number = |value: &Located<PartValue>| match &value.value {
            PartValue::Number(x) => Some(*x),
            PartValue::Part(_) => None,
        };
        let numbers = |setting: &Setting| match self.entries.get(setting.name) {
            Some(entry) => entry.value.values.iter().map(number).collect(),
            None => vec![setting.default],
        };
        let settings: Vec<Vec<Option<f64>>> = self.entry.settings.iter().map(numbers).collect();
        let inner: Vec<String> = self.inner.iter().map(|(_, inner)| inner.meaning()).collect();
        format!("{} {} {features:?} {settings:?} {inner:?}", self.entry.name, self.is_actors)
    }

    /// Adds the ordinals of it and of the parts inside it, by the columns that name them.
    pub(super) fn add_ordinals(&self, column: &str, ordinals: &mut Vec<(String, usize)>) {
        ordinals.push((column.to_owned(), self.ordinal));
        for (declared, inner) in &self.inner {
            inner.add_ordinals(&format!("{column}_{}", declared.name), ordinals);
        }
    }

    /// Returns an error if the part cannot be inside another as it is declared.
    fn check_inside(&self, declared: &Inner, span: &Range<usize>) -> Result<(), Mistake> {
        if let Some(signal) = declared.signal.filter(|_| !declared.admits(&self.entry.declaration)) {
            let message = format!("the critic `{}` does not tell {}", self.entry.name, signal.words());
            return Err(Mistake::at(span, message).help(critics_for(signal)));
        }
        match self.entries.get(LAMBDA_A) {
            Some(entry) if self.entry.role == Role::Emphasis => {
                Err(Mistake::at(&entry.key, format!("`{LAMBDA_A}` has no meaning inside a critic"))
                    .help("the critic's own `lambda` says how much the emphasis counts"))
            }
            _ => Ok(()),
        }
    }

    /// Returns the part inside this one with keys that stand beside it, which are its own settings if its table has none.
    fn with_beside(
        &self,
        declared: &Inner,
        part: &PartFile,
        beside: &BTreeMap<String, PartEntry>,
    ) -> Result<PartFile, Mistake> {
        for (name, entry) in beside {
            if !may_have(part, declared.role, name) {
                return Err(self.unknown(name, entry));
            }
            if !part.entries.is_empty() {
                let message =
                    format!("`{name}` stands beside `{}`, which has settings of its own", declared.name);
                return Err(Mistake::at(&entry.key, message).help(format!("put it into `{}`", declared.name)));
            }
        }
        let entries = if part.entries.is_empty() { beside } else { &part.entries };
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
                _ if self.entry.features => &["kind", "features"],
                _ => &["kind"],
            };
            let known = self.entry.settings.iter().map(|setting| setting.name);
            let known =
                known.chain(keys.iter().copied()).chain(self.entry.inner.iter().map(|inner| inner.name));
            return Mistake::at(&entry.key, format!("the {role} `{part}` has no setting `{name}`"))
                .maybe_help(suggest(name, known));
        }
        let role = if owners.len() == 1 { role } else { self.entry.role.plural() };
        let owners = format!("the {role} {}", joined_in_quotes(owners.into_iter(), "and"));
        // A name of this very part that is hardly another is what was meant.
        let own = suggest(name, self.entry.settings.iter().map(|setting| setting.name));
        let help = match own.filter(|own| own.starts_with("did you mean")) {
            Some(own) => format!("{own} `{name}` belongs to {owners}"),
            None => format!("it belongs to {owners}"),
        };
        Mistake::at(&entry.value.span, format!("`{name}` has no meaning for {}", self.title())).help(help)
    }

    fn title(&self) -> String {
        format!("the {} `{}`", self.entry.role.word(), self.entry.name)
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
        for (declared, inner) in &self.inner {
            recipe = recipe.with_inner(declared.name, inner.recipe(scenario)?);
        }
        Ok(recipe)
    }

    /// Adds the places of all parts that see the problem's features for critics: those may be drawn anew for each run.
    pub(super) fn add_critic_features(&self, role: Role, inside: &[&'static str], places: &mut Vec<Owner>) {
        let name = self.features.as_ref().map_or(DEFAULT_FEATURES, |features| &features.value);
        if self.entry.features && name == DEFAULT_FEATURES {
            places.push(Owner::Part { role, inside: inside.to_vec() });
        }
        for (declared, inner) in &self.inner {
            inner.add_critic_features(role, &[inside, &[declared.name]].concat(), places);
        }
    }

    /// Adds the values of its settings, those of the parts inside it first. The part is in a learner's part of this role, by these names.
    pub(super) fn add_axes(
        &self,
        role: Role,
        inside: &[&'static str],
        axes: &mut Vec<Axis>,
    ) -> Result<(), Mistake> {
        // The method's own emphasis has its numbers once.
        for (declared, inner) in self.inner.iter().filter(|(_, inner)| !inner.is_actors) {
            inner.add_axes(role, &[inside, &[declared.name]].concat(), axes)?;
        }
        let is_inside = |setting: &Setting| !inside.is_empty() && setting.name == LAMBDA_A;
        for setting in self.entry.settings.iter().filter(|setting| !is_inside(setting)) {
            let values = match (self.entries.get(setting.name), setting.default) {
                (Some(entry), _) => values(setting, &entry.value)?,
                (None, Some(default)) => vec![default],
                (None, None) => return Err(self.missing(setting)),
            };
            let (column, inside) = (column(setting, role, axes), inside.to_vec());
            axes.push(Axis { column, setting: *setting, owner: Owner::Part { role, inside }, values });
        }
        Ok(())
    }

    /// Adds the columns that name the parts inside it, under the name of its place. A schedule that nobody asked for is not worth a column.
    pub(super) fn add_columns_inside(
        &self,
        place: &mut String,
        features: &str,
        columns: &mut Vec<(String, Cell)>,
    ) {
        for (declared, inner) in &self.inner {
            let outside = place.len();
            *place += &format!("_{}", declared.name);
            let name = if inner.is_actors { AS_ACTOR } else { inner.entry.name };
            if declared.role != Role::Schedule || name != declared.default {
                columns.push((place.clone(), Cell::Text(name.to_owned())));
            }
            let own = inner.features.as_ref().map_or(DEFAULT_FEATURES, |own| &own.value);
            if inner.entry.features && own != features {
                columns.push((format!("{place}_features"), Cell::Text(own.to_owned())));
            }
            inner.add_columns_inside(place, own, columns);
            place.truncate(outside);
        }
    }

    /// Returns the error of a setting that must be given, but is not.
    fn missing(&self, setting: &Setting) -> Mistake {
        let (role, name) = (self.entry.role.word(), setting.name);
        let help = format!(
            "`{name}` of `{}`: {}; give a number, or a list to sweep: {role} = {{ kind = …, {name} = … }}",
            self.entry.name, setting.about
        );
        Mistake::at(&self.table, format!("the {role} needs `{name}`")).help(help)
    }

    /// Returns the error of a number that the part, or one inside it, refuses though it lies in the setting's range.
    pub(super) fn refused(&self, name: &str, value: f64, right: &str) -> Mistake {
        let place = self.place_of(name, value).unwrap_or(&self.span);
        Mistake::at(place, format!("`{name}` is {}; {right}", exact_number(value)))
    }

    /// Returns where a number of the part, or of one inside it, is written.
    fn place_of(&self, name: &str, value: f64) -> Option<&Range<usize>> {
        let is_it = |x: &&Located<PartValue>| matches!(x.value, PartValue::Number(x) if x == value);
        let own = self.entries.get(name).and_then(|entry| entry.value.values.iter().find(is_it));
        let inside = || self.inner.iter().find_map(|(_, inner)| inner.place_of(name, value));
        own.map(|x| &x.span).or_else(inside)
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
fn column(setting: &Setting, role: Role, axes: &[Axis]) -> String {
    let place = role.word();
    let name = match role {
        Role::Critic => setting.name.to_owned(),
        _ if setting.name == LAMBDA_A => setting.name.to_owned(),
        _ => format!("{place}.{}", setting.name),
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
            return Err(Mistake::at(
                span,
                format!("`{name}` is {}; {}", exact_number(x), setting.range.right()),
            ));
        }
        if !seen.insert(x.to_bits()) {
            return Err(Mistake::at(span, format!("`{name}` has {} twice", exact_number(x)))
                .help("each value is a setting of its own: leave one out"));
        }
        values.push(x);
    }
    Ok(values)
}
