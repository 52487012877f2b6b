//! The files that units are in: the finished table of each kind, and numbered parts while the experiment is under way.

use super::{Damaged, StoreError, files};
use crate::table::{StoredUnit, Table, Unit};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

pub(super) const PARTS: &str = "parts";
const DAMAGED: &str = "damaged";
/// If there are more parts than this of about the same size, they become one.
pub(super) const MOST_PARTS: usize = 32;
/// The number of the finished table.
pub(super) const FINISHED: u64 = 0;

/// The kinds of units, in the order in which they are run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Runs of all settings.
    Results,
    /// More runs of the finalists, the settings that did best in the runs of all.
    Finalists,
    /// Fresh runs of the chosen settings.
    Fresh,
}

impl Kind {
    pub(crate) const ALL: [Kind; 3] = [Kind::Results, Kind::Finalists, Kind::Fresh];

    /// The name of its finished table.
    pub(super) fn name(self) -> &'static str {
        match self {
            Kind::Results => "results",
            Kind::Finalists => "finalists",
            Kind::Fresh => "fresh",
        }
    }

    /// The key of the manifest that counts its units.
    pub(crate) fn count_key(self) -> &'static str {
        match self {
            Kind::Results => "units",
            Kind::Finalists => "finalist_units",
            Kind::Fresh => "fresh_units",
        }
    }

    /// What its runs are called.
    pub(crate) fn runs(self) -> &'static str {
        match self {
            Kind::Results => "runs",
            Kind::Finalists => "finalist runs",
            Kind::Fresh => "fresh runs",
        }
    }

    /// The kinds of runs that only chosen settings have, in order: they are chosen by the runs before.
    pub(crate) const OF_CHOSEN: [Kind; 2] = [Kind::Finalists, Kind::Fresh];

    /// The key of the manifest that lists the settings that are chosen for it; `None` if all have it.
    pub(super) fn settings_key(self) -> Option<&'static str> {
        match self {
            Kind::Results => None,
            Kind::Finalists => Some("finalist_settings"),
            Kind::Fresh => Some("fresh_settings"),
        }
    }

    /// The key of files that says how many runs there are.
    pub(crate) fn runs_key(self) -> &'static str {
        match self {
            Kind::Results => "runs",
            Kind::Finalists => "finalist_runs",
            Kind::Fresh => "fresh_runs",
        }
    }

    /// The path of the table with this number: [`FINISHED`], or that of a part.
    pub(super) fn path(self, dir: &Path, number: u64) -> PathBuf {
        match number {
            FINISHED => dir.join(format!("{}.parquet", self.name())),
            _ => dir.join(PARTS).join(format!("{}-{number:06}.parquet", self.name())),
        }
    }

    /// The number of the part with this file name; `None` if it is not the name of a part.
    fn number(self, file: &str) -> Option<u64> {
        let digits = file.strip_prefix(self.name())?.strip_prefix('-')?.strip_suffix(".parquet")?;
        let number = u64::from(digits.parse::<u32>().ok()?);
        (number > FINISHED && digits == format!("{number:06}")).then_some(number)
    }
}

/// The tables of a kind by number, and where in them each unit is.
#[derive(Default)]
pub(super) struct Tables {
    pub(super) by_number: BTreeMap<u64, Table>,
    locations: BTreeMap<Unit, Location>,
}

#[derive(Clone, Copy)]
struct Location {
    /// The number of the table.
    table: u64,
    /// The index of the row group.
    group: usize,
}

impl Tables {
    pub(super) fn insert(&mut self, number: u64, table: Table) {
        for (group, stored) in table.units().enumerate() {
            self.locations.insert(stored.unit(), Location { table: number, group });
        }
        self.by_number.insert(number, table);
    }

    pub(super) fn has(&self, unit: Unit) -> bool {
        self.locations.contains_key(&unit)
    }

    pub(super) fn count(&self) -> usize {
        self.locations.len()
    }

    /// Each unit once, in canonical order.
    pub(super) fn units(&self) -> impl Iterator<Item = StoredUnit<'_>> {
        self.locations.values().map(|location| self.by_number[&location.table].unit(location.group))
    }

    /// The units that count in the tables with these numbers, in canonical order.
    pub(super) fn units_in(&self, numbers: &[u64]) -> Vec<StoredUnit<'_>> {
        let inside = self.locations.values().filter(|location| numbers.contains(&location.table));
        inside.map(|location| self.by_number[&location.table].unit(location.group)).collect()
    }

    /// Whether there is only the finished table and it has exactly these units, in this order.
    pub(super) fn is_finished(&self, units: &[StoredUnit]) -> bool {
        match (self.by_number.get(&FINISHED), self.by_number.len()) {
            (Some(table), 1) => {
                table.units().map(|stored| stored.unit()).eq(units.iter().map(StoredUnit::unit))
            }
            _ => false,
        }
    }

    pub(super) fn parts(&self) -> impl Iterator<Item = u64> {
        self.by_number.keys().copied().filter(|&number| number != FINISHED)
    }

    /// The parts that are to become one: those of a size of which there are too many, and all smaller ones.
    pub(super) fn too_many_parts(&self) -> Option<Vec<u64>> {
        let mut classes: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
        for number in self.parts() {
            let class = self.by_number[&number].len().max(1).ilog(MOST_PARTS);
            classes.entry(class).or_default().push(number);
        }
        let largest = *classes.iter().find(|(_, parts)| parts.len() > MOST_PARTS)?.0;
        Some(
            classes.into_iter().filter(|&(class, _)| class <= largest).flat_map(|(_, parts)| parts).collect(),
        )
    }
}

/// Opens and verifies all tables of a kind, which must have this label. Those that cannot be used are added to `damaged`.
pub(super) fn load(dir: &Path, kind: Kind, label: &str, damaged: &mut Damaged) -> Result<Tables, StoreError> {
    let mut tables = Tables::default();
    for (TableFile { number, .. }, table) in open_all(dir, kind)? {
        match table.and_then(|table| verified(table, label, dir)) {
            Ok(table) => tables.insert(number, table),
            Err(error) if error.is_damage() => damaged.push((kind.path(dir, number), error)),
            Err(error) => return Err(error),
        }
    }
    Ok(tables)
}

fn verified(table: Table, label: &str, dir: &Path) -> Result<Table, StoreError> {
    if table.label() != label {
        let (path, beside) = (table.path().to_owned(), dir.join(super::manifest::MANIFEST));
        return Err(StoreError::OtherTable { path, beside });
    }
    table.units().try_for_each(|stored| stored.verify())?;
    Ok(table)
}

/// A table file as listed: if another one takes its place, size or time are different.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct TableFile {
    number: u64,
    size: u64,
    modified: Option<SystemTime>,
}

/// Opens all tables of a kind. Another process may be putting parts together at the same time: it writes the new file before it
/// removes the old ones, so if nothing was removed between two listings, the second one is complete.
fn open_all(dir: &Path, kind: Kind) -> Result<BTreeMap<TableFile, Result<Table, StoreError>>, StoreError> {
    let mut opened = BTreeMap::new();
    let mut before: Option<BTreeSet<TableFile>> = None;
    loop {
        let listed = list(dir, kind)?;
        opened.retain(|file, _| listed.contains(file));
        for file in &listed {
            if !opened.contains_key(file) {
                match Table::open(&kind.path(dir, file.number)) {
                    Err(StoreError::Disk { source, .. }) if source.kind() == ErrorKind::NotFound => {}
                    Err(error) if !error.is_damage() => return Err(error),
                    table => drop(opened.insert(file.clone(), table)),
                }
            }
        }
        let whole = opened.len() == listed.len();
        if whole && before.is_some_and(|before| before.is_subset(&listed)) {
            return Ok(opened);
        }
        before = Some(listed);
    }
}

fn list(dir: &Path, kind: Kind) -> Result<BTreeSet<TableFile>, StoreError> {
    let mut listed = BTreeSet::new();
    let parts = files::names(&dir.join(PARTS))?;
    // The finished table last: if parts have gone into it meanwhile, it has them.
    for number in parts.iter().filter_map(|name| kind.number(name)).chain([FINISHED]) {
        let path = kind.path(dir, number);
        match fs::metadata(&path) {
            Ok(metadata) => {
                let modified = metadata.modified().ok();
                listed.insert(TableFile { number, size: metadata.len(), modified });
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(StoreError::on("read", &path)(error)),
        }
    }
    Ok(listed)
}

/// Moves a damaged file out of the way. Returns a warning that says so.
pub(super) fn move_aside(dir: &Path, path: &Path, error: &StoreError) -> Result<String, StoreError> {
    let damaged = dir.join(DAMAGED);
    fs::create_dir_all(&damaged).map_err(StoreError::on("create", &damaged))?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let mut to = damaged.join(&*name);
    for copy in 1.. {
        if fs::symlink_metadata(&to).is_err() {
            break;
        }
        to = damaged.join(format!("{name}.{copy}"));
    }
    fs::rename(path, &to).map_err(StoreError::on("move", path))?;
    Ok(format!("{error}; it was moved to {}, and its units will be run again", to.display()))
}
