//! Where the results of an experiment are kept: a directory that a process may leave at any moment, even killed,
//! without losing a unit that reached it.
//!
//! ```text
//! DIR/results.parquet    all units, once finished
//! DIR/fresh.parquet      the same for fresh runs
//! DIR/manifest.json      which experiment this is
//! DIR/experiment.toml, DIR/problems/     the experiment file as run, and the problem files it names
//! DIR/parts/results-000001.parquet ...   finished units while under way
//! DIR/damaged/           files that were found changed, kept but not used
//! DIR/lock               locked while a process works here
//! ```
//!
//! Every file appears whole or not at all, and a file is removed only after its units are in another one. A unit may
//! so be in two files; it counts once.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use bytes::Bytes;
use emphatic_text::shortened;
use serde_json::{Map, Value, json};
use thiserror::Error;

use crate::table::{
    DiskError, Table, TableError, Unit, concatenate, is_temporary, label_of, sync_directory, write_atomically,
};

/// The layout of a directory that this code reads and writes.
const FORMAT: u64 = 2;
const VERSION: &str = env!("CARGO_PKG_VERSION");
const MANIFEST: &str = "manifest.json";
const LOCK: &str = "lock";
const PARTS: &str = "parts";
/// Problem files are kept apart, where they cannot take the name of anything else.
pub(crate) const PROBLEMS: &str = "problems";
const DAMAGED: &str = "damaged";
/// More parts than these of about the same size are put together.
const CROWD: usize = 32;
/// How many differences between two experiments are told.
const TOLD: usize = 3;

/// The directory could not be used.
#[derive(Debug, Error)]
pub enum StoreError {
    /// The file system refused.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// A table could not be written or read.
    #[error(transparent)]
    Table(TableError),
    /// Another process holds the lock.
    #[error(
        "{} is in use by another process; wait until it has ended, or choose another directory", dir.display()
    )]
    InUse {
        /// The directory.
        dir: PathBuf,
    },
    /// The directory holds something else.
    #[error(
        "{} holds files that are no results of this experiment ({found}); nothing was changed there; \
         choose another directory", dir.display()
    )]
    NotOurs {
        /// The directory.
        dir: PathBuf,
        /// What was found there.
        found: String,
    },
    /// The directory holds results of another experiment.
    #[error(
        "{} holds results of another experiment ({}); nothing was changed there; choose another directory",
        dir.display(), differences.join("; ")
    )]
    OtherExperiment {
        /// The directory.
        dir: PathBuf,
        /// The keys that differ, with both values.
        differences: Vec<String>,
    },
    /// The directory was written by another version.
    #[error(
        "{} holds results of emphatic {found}, and this is {VERSION}: results of another version may differ \
         in their bits; choose another directory", dir.display()
    )]
    OtherVersion {
        /// The directory.
        dir: PathBuf,
        /// The version that wrote it.
        found: String,
    },
    /// The directory has more runs than are asked for.
    #[error(
        "{} holds {there} runs of this experiment and {asked} are asked for; ask for as many or more \
         ({there}), or choose another directory", dir.display()
    )]
    FewerRuns {
        /// The directory.
        dir: PathBuf,
        /// How many it has.
        there: u64,
        /// How many are asked for.
        asked: u32,
    },
    /// The directory is not the one that was opened any more.
    #[error(
        "{} was removed or replaced while the experiment was running, and what was finished with it; \
         run the same command again", dir.display()
    )]
    Gone {
        /// The directory.
        dir: PathBuf,
    },
    /// The manifest cannot be understood.
    #[error("{} {what}; restore the file, or choose another directory", path.display())]
    BadManifest {
        /// The manifest.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// There is nothing to read.
    #[error(
        "{} holds no results: it has no {MANIFEST}; give the directory that an experiment was run into",
        dir.display()
    )]
    NoResults {
        /// The directory.
        dir: PathBuf,
    },
}

impl From<TableError> for StoreError {
    fn from(error: TableError) -> StoreError {
        match error {
            TableError::Disk(error) => StoreError::Disk(error),
            error => StoreError::Table(error),
        }
    }
}

/// The two kinds of units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Runs of all settings.
    Results,
    /// Fresh runs of the chosen settings.
    Fresh,
}

impl Kind {
    const ALL: [Kind; 2] = [Kind::Results, Kind::Fresh];

    fn name(self) -> &'static str {
        match self {
            Kind::Results => "results",
            Kind::Fresh => "fresh",
        }
    }

    /// The table with this number: 0 is the finished one, the others are parts.
    fn path(self, dir: &Path, number: u64) -> PathBuf {
        match number {
            0 => dir.join(format!("{}.parquet", self.name())),
            _ => dir.join(PARTS).join(format!("{}-{number:06}.parquet", self.name())),
        }
    }

    /// The number of the part with this file name.
    fn number(self, file: &str) -> Option<u64> {
        let digits = file.strip_prefix(self.name())?.strip_prefix('-')?.strip_suffix(".parquet")?;
        let number = u64::from(digits.parse::<u32>().ok()?);
        (number > 0 && digits == format!("{number:06}")).then_some(number)
    }
}

/// A number that tells values apart (FNV-1a), whatever the order of their keys: experiments by their identities, say.
pub fn fingerprint(value: &Value) -> String {
    fn sorted(value: &Value) -> Value {
        match value {
            Value::Object(map) => {
                let keys: BTreeSet<&String> = map.keys().collect();
                keys.into_iter().map(|key| (key.clone(), sorted(&map[key]))).collect()
            }
            Value::Array(list) => list.iter().map(sorted).collect(),
            other => other.clone(),
        }
    }
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    format!("{:016x}", sorted(value).to_string().bytes().fold(0xcbf2_9ce4_8422_2325, step))
}

/// What a table says it is: of the experiment with this identity, and which of its tables (`results`, `fresh` or `settings`).
pub fn label(identity: &Value, table: &str) -> String {
    format!("{}/{table}", fingerprint(identity))
}

/// What a directory is opened for.
#[derive(Clone, Copy, Debug)]
pub struct Contents<'a> {
    /// Files to be there beside the results, by name: in the directory itself, or in `problems`.
    pub files: &'a [(&'a str, &'a [u8])],
    /// What makes it this experiment: results of different identities never share a directory.
    pub identity: &'a Value,
    /// How many runs it is to have: no fewer than are there.
    pub runs: u32,
}

/// Where a unit is: the number of its table, and its row group.
#[derive(Clone, Copy)]
struct Place {
    table: u64,
    group: usize,
}

/// The tables of a kind by number, and where in them each unit is.
#[derive(Default)]
struct Shelf {
    tables: BTreeMap<u64, Table>,
    places: BTreeMap<Unit, Place>,
}

impl Shelf {
    fn insert(&mut self, number: u64, table: Table) {
        for (group, &(unit, _)) in table.units().iter().enumerate() {
            self.places.insert(unit, Place { table: number, group });
        }
        self.tables.insert(number, table);
    }

    /// Each unit once, in canonical order.
    fn iter(&self) -> impl Iterator<Item = (Unit, &Table, usize)> {
        self.places.iter().map(|(&unit, place)| (unit, &self.tables[&place.table], place.group))
    }

    /// The parts to put together: those of a size of which there are too many, and all smaller ones.
    fn crowd(&self) -> Option<Vec<u64>> {
        let mut classes: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
        for (&number, table) in self.tables.iter().filter(|&(&number, _)| number > 0) {
            let class = table.units().len().max(1).ilog(CROWD);
            classes.entry(class).or_default().push(number);
        }
        let crowded = *classes.iter().find(|(_, parts)| parts.len() > CROWD)?.0;
        Some(
            classes.into_iter().filter(|&(class, _)| class <= crowded).flat_map(|(_, parts)| parts).collect(),
        )
    }
}

/// A results directory as it was when it was opened.
pub struct View {
    dir: PathBuf,
    manifest: Value,
    /// What tables of each kind say they are.
    labels: [String; 2],
    shelves: [Shelf; 2],
    warnings: Vec<String>,
}

impl View {
    fn new(dir: &Path, manifest: Value) -> View {
        let labels = Kind::ALL.map(|kind| label(&manifest["identity"], kind.name()));
        View { dir: dir.to_owned(), manifest, labels, shelves: Default::default(), warnings: vec![] }
    }

    fn shelf(&self, kind: Kind) -> &Shelf {
        &self.shelves[kind as usize]
    }

    /// What tables of a kind say they are: see [`label`].
    pub fn label(&self, kind: Kind) -> &str {
        &self.labels[kind as usize]
    }

    /// The directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// What manifest.json holds.
    pub fn manifest(&self) -> &Value {
        &self.manifest
    }

    /// What was found damaged, in words.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Whether a unit is finished.
    pub fn has(&self, kind: Kind, unit: Unit) -> bool {
        self.shelf(kind).places.contains_key(&unit)
    }

    /// How many units are finished.
    pub fn count(&self, kind: Kind) -> usize {
        self.shelf(kind).places.len()
    }

    /// The finished units in canonical order, and how many of their runs diverged.
    pub fn units(&self, kind: Kind) -> impl Iterator<Item = (Unit, u32)> {
        self.tables(kind).map(|(unit, table, group)| (unit, table.units()[group].1))
    }

    /// The finished units in canonical order, each with its table and its row group there.
    pub fn tables(&self, kind: Kind) -> impl Iterator<Item = (Unit, &Table, usize)> {
        self.shelf(kind).iter()
    }
}

/// A results directory that this process, and no other, works in.
pub struct Store {
    view: View,
    /// The number of the next part.
    next: u64,
    /// Released by the system when the process ends, however it does.
    lock: File,
}

impl Store {
    /// Opens the directory for this experiment, or makes it. Files found damaged are moved aside: see
    /// [`Store::warnings`].
    pub fn open(dir: &Path, contents: &Contents) -> Result<Store, StoreError> {
        fs::create_dir_all(dir).map_err(DiskError::on("create", dir))?;
        // Before the lock file is made, because nothing may be put into a foreign directory; and once locked again,
        // because only then nobody else changes it.
        check(dir, contents)?;
        let lock = lock(dir)?;
        let manifest = check(dir, contents)?;
        remove_temporaries(dir)?;
        remove_temporaries(&dir.join(PARTS))?;
        remove_temporaries(&dir.join(PROBLEMS))?;
        for (name, bytes) in contents.files {
            let path = dir.join(name);
            if let Some(parent) = path.parent().filter(|parent| !parent.exists()) {
                fs::create_dir(parent).map_err(DiskError::on("create", parent))?;
                sync_directory(parent)?;
            }
            write_if_different(&path, bytes)?;
        }
        let manifest = match manifest {
            Some(manifest) => manifest,
            None => begin_manifest(dir, contents.identity)?,
        };
        let mut view = View::new(dir, manifest);
        let mut next = 1;
        for kind in Kind::ALL {
            let (shelf, damaged) = load(dir, kind, view.label(kind))?;
            next = shelf.tables.keys().fold(next, |next, number| next.max(number + 1));
            view.shelves[kind as usize] = shelf;
            for (path, error) in damaged {
                view.warnings.push(move_aside(dir, &path, &error)?);
            }
        }
        Ok(Store { view, next, lock })
    }

    /// The directory as it is now, to look at only: without the lock, also while another process works there.
    pub fn read_only(dir: &Path) -> Result<View, StoreError> {
        let Some(manifest) = read_manifest(dir)? else {
            return Err(StoreError::NoResults { dir: dir.to_owned() });
        };
        let mut view = View::new(dir, manifest);
        for kind in Kind::ALL {
            let (shelf, damaged) = load(dir, kind, view.label(kind))?;
            view.shelves[kind as usize] = shelf;
            view.warnings.extend(damaged.iter().map(|(_, error)| format!("{error}; its units do not count")));
        }
        Ok(view)
    }

    /// An error if a Parquet file in a directory of results, also the table of settings, is of another experiment.
    pub fn check_table(dir: &Path, path: &Path) -> Result<(), StoreError> {
        let Some(manifest) = read_manifest(dir)? else {
            return Err(StoreError::NoResults { dir: dir.to_owned() });
        };
        let table = path.file_stem().unwrap_or_default().to_string_lossy();
        if label_of(path)?.as_deref() != Some(&*label(&manifest["identity"], &table)) {
            let (path, beside) = (path.to_owned(), dir.join(MANIFEST));
            return Err(TableError::OtherExperiment { path, beside }.into());
        }
        Ok(())
    }

    /// The directory as this process sees it.
    pub fn view(&self) -> &View {
        &self.view
    }

    /// See [`View::warnings`].
    pub fn warnings(&self) -> &[String] {
        self.view.warnings()
    }

    /// See [`View::manifest`].
    pub fn manifest(&self) -> &Value {
        self.view.manifest()
    }

    /// See [`View::has`].
    pub fn has(&self, kind: Kind, unit: Unit) -> bool {
        self.view.has(kind, unit)
    }

    /// See [`View::count`].
    pub fn count(&self, kind: Kind) -> usize {
        self.view.count(kind)
    }

    /// See [`View::units`].
    pub fn units(&self, kind: Kind) -> impl Iterator<Item = (Unit, u32)> {
        self.view.units(kind)
    }

    /// Stores finished units, as [`encode`](crate::table::encode) gives them, in one new part. Once this returns, they
    /// are safe.
    pub fn add(&mut self, kind: Kind, units: Vec<Bytes>) -> Result<(), StoreError> {
        let tables: Vec<Table> = units.into_iter().map(Table::from_bytes).collect::<Result<_, _>>()?;
        let mut sources: Vec<(&Table, usize)> = tables
            .iter()
            .flat_map(|table| (0..table.units().len()).map(move |group| (table, group)))
            .collect();
        sources.sort_by_key(|(table, group)| table.units()[*group].0);
        let Some(&(first, _)) = sources.first() else { return Ok(()) };
        self.check_still_there()?;
        let parts = self.view.dir.join(PARTS);
        if !parts.is_dir() {
            fs::create_dir(&parts).map_err(DiskError::on("create", &parts))?;
            sync_directory(&parts)?;
        }
        let (number, part) = write_part(&self.view, kind, &mut self.next, &sources, first)?;
        self.view.shelves[kind as usize].insert(number, part);
        self.compact(kind)
    }

    /// Puts parts together, so that there are few files and no unit is copied often.
    fn compact(&mut self, kind: Kind) -> Result<(), StoreError> {
        while let Some(old) = self.view.shelf(kind).crowd() {
            let shelf = self.view.shelf(kind);
            let sources: Vec<(&Table, usize)> = shelf
                .places
                .values()
                .filter(|place| old.contains(&place.table))
                .map(|place| (&shelf.tables[&place.table], place.group))
                .collect();
            let Some(first) = old.first().map(|number| &shelf.tables[number]) else { return Ok(()) };
            let (number, part) = write_part(&self.view, kind, &mut self.next, &sources, first)?;
            let shelf = &mut self.view.shelves[kind as usize];
            shelf.insert(number, part);
            for number in old {
                remove(&kind.path(&self.view.dir, number))?;
                shelf.tables.remove(&number);
            }
        }
        Ok(())
    }

    /// Writes the finished table with the wanted units, in canonical order, and removes the parts. Units that are not
    /// wanted are gone then.
    pub fn finish(&mut self, kind: Kind, wanted: &dyn Fn(Unit) -> bool) -> Result<(), StoreError> {
        self.check_still_there()?;
        let shelf = self.view.shelf(kind);
        let Some(schema) = shelf.tables.values().next().map(Table::schema) else { return Ok(()) };
        let sources: Vec<(&Table, usize)> =
            shelf.iter().filter(|&(unit, ..)| wanted(unit)).map(|(_, table, group)| (table, group)).collect();
        if is_finished(shelf, &sources) {
            return Ok(());
        }
        let to = kind.path(&self.view.dir, 0);
        concatenate(self.view.label(kind), &sources, schema, &to)?;
        let table = Table::open(&to)?;
        self.remove_parts(kind)?;
        let mut finished = Shelf::default();
        finished.insert(0, table);
        self.view.shelves[kind as usize] = finished;
        Ok(())
    }

    /// Removes all units of a kind.
    pub fn discard(&mut self, kind: Kind) -> Result<(), StoreError> {
        self.check_still_there()?;
        let finished = kind.path(&self.view.dir, 0);
        remove(&finished)?;
        self.remove_parts(kind)?;
        sync_directory(&finished)?;
        self.view.shelves[kind as usize] = Shelf::default();
        Ok(())
    }

    fn remove_parts(&self, kind: Kind) -> Result<(), StoreError> {
        for &number in self.view.shelf(kind).tables.keys().filter(|&&number| number > 0) {
            remove(&kind.path(&self.view.dir, number))?;
        }
        // It stays if the other kind has parts.
        let _ = fs::remove_dir(self.view.dir.join(PARTS));
        Ok(())
    }

    /// An error if the directory is not the one that was opened any more: somebody has removed it, and what is written now would
    /// make one in which everything else is missing.
    fn check_still_there(&self) -> Result<(), StoreError> {
        match fs::metadata(self.view.dir.join(LOCK)) {
            Ok(now) if self.lock.metadata().is_ok_and(|own| is_same_file(&own, &now)) => Ok(()),
            _ => Err(StoreError::Gone { dir: self.view.dir.clone() }),
        }
    }

    /// Puts fields into the manifest. `format`, `emphatic` and `identity` stay as they are.
    pub fn set_manifest(&mut self, fields: Map<String, Value>) -> Result<(), StoreError> {
        self.check_still_there()?;
        let mut manifest = self.view.manifest.clone();
        if let Some(object) = manifest.as_object_mut() {
            let ours = ["format", "emphatic", "identity"];
            object.extend(fields.into_iter().filter(|(key, _)| !ours.contains(&key.as_str())));
        }
        write_manifest(&self.view.dir, &manifest)?;
        self.view.manifest = manifest;
        Ok(())
    }
}

#[cfg(unix)]
fn is_same_file(a: &fs::Metadata, b: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (a.dev(), a.ino()) == (b.dev(), b.ino())
}

#[cfg(not(unix))]
fn is_same_file(a: &fs::Metadata, b: &fs::Metadata) -> bool {
    a.created().ok() == b.created().ok()
}

fn write_part(
    view: &View,
    kind: Kind,
    next: &mut u64,
    sources: &[(&Table, usize)],
    like: &Table,
) -> Result<(u64, Table), StoreError> {
    let number = *next;
    let path = kind.path(&view.dir, number);
    concatenate(view.label(kind), sources, like.schema(), &path)?;
    // Only now, so that a failed write leaves no gap.
    *next += 1;
    Ok((number, Table::open(&path)?))
}

/// Whether there is only the finished table and it has exactly these units, in this order.
fn is_finished(shelf: &Shelf, sources: &[(&Table, usize)]) -> bool {
    let unit = |&(table, group): &(&Table, usize)| table.units()[group].0;
    match (shelf.tables.get(&0), shelf.tables.len()) {
        (Some(table), 1) => table.units().iter().map(|&(unit, _)| unit).eq(sources.iter().map(unit)),
        _ => false,
    }
}

/// The manifest, if there is one; an error if the directory holds anything but this experiment.
fn check(dir: &Path, contents: &Contents) -> Result<Option<Value>, StoreError> {
    let Some(manifest) = read_manifest(dir)? else {
        return refuse_foreign(dir, contents).map(|()| None);
    };
    let found = manifest["emphatic"].as_str().unwrap_or("of unknown version");
    if found != VERSION {
        return Err(StoreError::OtherVersion { dir: dir.to_owned(), found: found.to_owned() });
    }
    if manifest["identity"] != *contents.identity {
        let differences = told_differences(&manifest["identity"], contents.identity);
        return Err(StoreError::OtherExperiment { dir: dir.to_owned(), differences });
    }
    let runs = Store::read_only(dir)?.units(Kind::Results).map(|(unit, _)| u64::from(unit.run) + 1).max();
    let there = runs.unwrap_or(0);
    if there > u64::from(contents.runs) {
        return Err(StoreError::FewerRuns { dir: dir.to_owned(), there, asked: contents.runs });
    }
    Ok(Some(manifest))
}

/// Without a manifest, only what a killed start leaves may be there.
fn refuse_foreign(dir: &Path, contents: &Contents) -> Result<(), StoreError> {
    let mut foreign = Vec::new();
    for name in names(dir)? {
        if !is_leftover(&dir.join(&name), &name, contents)? {
            foreign.push(name);
        }
    }
    if foreign.is_empty() {
        return Ok(());
    }
    let more = if foreign.len() > TOLD { ", ..." } else { "" };
    foreign.truncate(TOLD);
    Err(StoreError::NotOurs { dir: dir.to_owned(), found: foreign.join(", ") + more })
}

fn is_leftover(path: &Path, name: &str, contents: &Contents) -> Result<bool, StoreError> {
    if name == LOCK {
        return Ok(path.is_file());
    }
    if name == PARTS {
        return Ok(path.is_dir() && names(path)?.is_empty());
    }
    if name == PROBLEMS && path.is_dir() {
        for file in names(path)? {
            if !is_kept(&path.join(&file), &format!("{PROBLEMS}/{file}"), contents)? {
                return Ok(false);
            }
        }
        return Ok(true);
    }
    is_kept(path, name, contents)
}

/// Whether a file is one that belongs beside the results, or a part of one. With other bytes it may be the user's own.
fn is_kept(path: &Path, name: &str, contents: &Contents) -> Result<bool, StoreError> {
    match contents.files.iter().find(|(file, _)| *file == name) {
        Some((_, bytes)) => Ok(read(path)?.as_deref() == Some(*bytes)),
        None => Ok(is_temporary(name) && path.is_file()),
    }
}

fn lock(dir: &Path) -> Result<File, StoreError> {
    let path = dir.join(LOCK);
    let failed = DiskError::on("lock", &path);
    let file = OpenOptions::new().write(true).create(true).truncate(false).open(&path).map_err(&failed)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(StoreError::InUse { dir: dir.to_owned() }),
        Err(TryLockError::Error(error)) => Err(failed(error).into()),
    }
}

fn read_manifest(dir: &Path) -> Result<Option<Value>, StoreError> {
    let path = dir.join(MANIFEST);
    let Some(bytes) = read(&path)? else { return Ok(None) };
    let manifest: Value = serde_json::from_slice(&bytes).map_err(|error| StoreError::BadManifest {
        path: path.clone(),
        what: format!("is no JSON: {error}"),
    })?;
    if manifest["format"] != FORMAT {
        let found = told(&manifest["format"]);
        let what = match manifest["format"].as_u64() {
            Some(older) if older < FORMAT => {
                format!("has format {older}, of an earlier version of this program; this one writes {FORMAT}")
            }
            _ => format!("should have format {FORMAT}, but has {found}"),
        };
        return Err(StoreError::BadManifest { path, what });
    }
    Ok(Some(manifest))
}

fn begin_manifest(dir: &Path, identity: &Value) -> Result<Value, StoreError> {
    let manifest = json!({ "format": FORMAT, "emphatic": VERSION, "identity": identity });
    write_manifest(dir, &manifest)?;
    Ok(manifest)
}

fn write_manifest(dir: &Path, manifest: &Value) -> Result<(), StoreError> {
    write_bytes(&dir.join(MANIFEST), format!("{manifest:#}\n").as_bytes())
}

/// The dotted keys at which two values differ, with what is there and what is given now.
fn differences(key: &str, there: &Value, now: &Value, all: &mut Vec<String>) {
    match (there, now) {
        (Value::Object(a), Value::Object(b)) => {
            let keys: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
            for name in keys {
                let key = if key.is_empty() { name.clone() } else { format!("{key}.{name}") };
                differences(&key, &there[name], &now[name], all);
            }
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            let entries = a.iter().zip(b).enumerate();
            entries.for_each(|(k, (there, now))| differences(&format!("{key}[{k}]"), there, now, all));
        }
        _ if there == now => {}
        _ => {
            let key = if key.is_empty() { "identity" } else { key };
            all.push(format!("{key}: {} there, {} now", told(there), told(now)));
        }
    }
}

fn told_differences(there: &Value, now: &Value) -> Vec<String> {
    let mut all = Vec::new();
    differences("", there, now, &mut all);
    if all.len() > TOLD {
        let more = all.len() - TOLD;
        all.truncate(TOLD);
        all.push(format!("{more} more"));
    }
    all
}

/// What is told of a value.
fn told(value: &Value) -> String {
    if value.is_null() { "nothing".to_owned() } else { shortened(&value.to_string(), 40) }
}

/// A table file as listed: another one in its place differs in size or time.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Listed {
    number: u64,
    size: u64,
    modified: Option<SystemTime>,
}

fn list(dir: &Path, kind: Kind) -> Result<BTreeSet<Listed>, StoreError> {
    let mut listed = BTreeSet::new();
    let parts = names(&dir.join(PARTS))?;
    // The finished table last: if parts have gone into it meanwhile, it has them.
    for number in parts.iter().filter_map(|name| kind.number(name)).chain([0]) {
        let path = kind.path(dir, number);
        match fs::metadata(&path) {
            Ok(metadata) => {
                let modified = metadata.modified().ok();
                listed.insert(Listed { number, size: metadata.len(), modified });
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(DiskError::on("read", &path)(error).into()),
        }
    }
    Ok(listed)
}

type Opened = BTreeMap<Listed, Result<Table, TableError>>;
type Damage = Vec<(PathBuf, TableError)>;

/// Opens all tables of a kind. Another process may be putting parts together meanwhile: it writes the new file before
/// it removes the old ones, so if nothing was removed between two listings, the second one is complete.
fn open_all(dir: &Path, kind: Kind) -> Result<Opened, StoreError> {
    let mut opened = Opened::new();
    let mut before = None;
    loop {
        let listed = list(dir, kind)?;
        opened.retain(|file, _| listed.contains(file));
        for file in &listed {
            if !opened.contains_key(file) {
                match Table::open(&kind.path(dir, file.number)) {
                    Err(TableError::Disk(error)) if error.is_not_found() => {}
                    Err(error) if !error.is_damage() => return Err(error.into()),
                    table => drop(opened.insert(file.clone(), table)),
                }
            }
        }
        let whole = opened.len() == listed.len();
        if whole && before.is_some_and(|before: BTreeSet<Listed>| before.is_subset(&listed)) {
            return Ok(opened);
        }
        before = Some(listed);
    }
}

/// All sound tables of a kind, and the damaged ones with what is wrong with them.
fn load(dir: &Path, kind: Kind, label: &str) -> Result<(Shelf, Damage), StoreError> {
    let mut shelf = Shelf::default();
    let mut damaged = Vec::new();
    for (Listed { number, .. }, table) in open_all(dir, kind)? {
        match table.and_then(|table| verified(table, label, dir)) {
            Ok(table) => shelf.insert(number, table),
            Err(error) if error.is_damage() => damaged.push((kind.path(dir, number), error)),
            Err(error) => return Err(error.into()),
        }
    }
    Ok((shelf, damaged))
}

fn verified(table: Table, label: &str, dir: &Path) -> Result<Table, TableError> {
    if table.label() != label {
        return Err(TableError::OtherExperiment {
            path: table.path().to_owned(),
            beside: dir.join(MANIFEST),
        });
    }
    (0..table.units().len()).try_for_each(|index| table.verify(index))?;
    Ok(table)
}

/// Moves a damaged file out of the way, and says so.
fn move_aside(dir: &Path, path: &Path, error: &TableError) -> Result<String, StoreError> {
    let damaged = dir.join(DAMAGED);
    fs::create_dir_all(&damaged).map_err(DiskError::on("create", &damaged))?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let mut to = damaged.join(&*name);
    for copy in 1.. {
        if fs::symlink_metadata(&to).is_err() {
            break;
        }
        to = damaged.join(format!("{name}.{copy}"));
    }
    fs::rename(path, &to).map_err(DiskError::on("move", path))?;
    Ok(format!("{error}; it was moved to {}, and its units will be run again", to.display()))
}

fn remove_temporaries(dir: &Path) -> Result<(), StoreError> {
    for name in names(dir)?.iter().filter(|name| is_temporary(name)) {
        remove(&dir.join(name))?;
    }
    Ok(())
}

/// The names in a directory, sorted; none if it does not exist.
fn names(dir: &Path) -> Result<Vec<String>, StoreError> {
    let failed = DiskError::on("read", dir);
    let entries = match fs::read_dir(dir) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(&failed)?,
    };
    let name = |entry: fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
    let mut names: Vec<String> =
        entries.map(|entry| entry.map(name)).collect::<Result<_, _>>().map_err(&failed)?;
    names.sort();
    Ok(names)
}

/// A file's bytes, if there is such a file.
fn read(path: &Path) -> Result<Option<Vec<u8>>, StoreError> {
    match fs::read(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        bytes => Ok(Some(bytes.map_err(DiskError::on("read", path))?)),
    }
}

fn write_bytes(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    write_atomically(path, |file| Ok(file.write_all(bytes).map_err(DiskError::on("write", path))?))?;
    Ok(())
}

fn write_if_different(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    if read(path)?.as_deref() == Some(bytes) { Ok(()) } else { write_bytes(path, bytes) }
}

/// Removes a file; it is as well if it is gone already.
fn remove(path: &Path) -> Result<(), StoreError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        removed => Ok(removed.map_err(DiskError::on("remove", path))?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::tests::{assert_rows, bound, encoded, encoded_as, unit};
    use std::sync::atomic::{AtomicBool, Ordering};
    use tempfile::{TempDir, tempdir};

    const FILES: [(&str, &[u8]); 2] = [("settings.parquet", b"settings"), ("experiment.toml", b"experiment")];

    fn open_as(dir: &Path, identity: Value) -> Result<Store, StoreError> {
        Store::open(dir, &Contents { files: &FILES, identity: &identity, runs: u32::MAX })
    }

    fn open(dir: &TempDir) -> Store {
        open_as(dir.path(), bound()).unwrap()
    }

    fn refusal(dir: &Path, identity: Value) -> StoreError {
        match open_as(dir, identity) {
            Ok(_) => panic!("opened"),
            Err(error) => error,
        }
    }

    fn part(dir: &TempDir, number: u64) -> PathBuf {
        Kind::Results.path(dir.path(), number)
    }

    fn add(store: &mut Store, units: &[(u32, u32)]) {
        store.add(Kind::Results, units.iter().map(|&(block, run)| encoded(block, run)).collect()).unwrap();
    }

    /// The bytes of results.parquet if units come in these parts.
    fn finished(parts: &[&[(u32, u32)]]) -> Vec<u8> {
        let dir = tempdir().unwrap();
        let mut store = open(&dir);
        parts.iter().for_each(|units| add(&mut store, units));
        store.finish(Kind::Results, &|_| true).unwrap();
        assert!(!dir.path().join(PARTS).exists());
        fs::read(part(&dir, 0)).unwrap()
    }

    #[test]
    fn the_finished_table_does_not_depend_on_the_order_of_parts() {
        let one = finished(&[&[(0, 0), (0, 1), (1, 0), (1, 1)]]);
        assert_eq!(finished(&[&[(1, 1), (0, 1)], &[(1, 0)], &[(0, 0)]]), one);
        assert_eq!(finished(&[&[(0, 0)], &[(1, 0), (0, 0)], &[(1, 1), (0, 1)], &[(1, 1)]]), one);
    }

    #[test]
    fn a_reopened_directory_has_all_units_once() {
        let dir = tempdir().unwrap();
        let mut store = open(&dir);
        add(&mut store, &[(1, 0), (0, 1)]);
        add(&mut store, &[(0, 1), (0, 0)]);
        store.add(Kind::Fresh, vec![encoded_as(Kind::Fresh, 9, 1)]).unwrap();
        store.add(Kind::Fresh, vec![]).unwrap();
        drop(store);
        let mut store = open(&dir);
        let units: Vec<_> = store.units(Kind::Results).collect();
        assert_eq!(units, [(unit(0, 0), 0), (unit(0, 1), 1), (unit(1, 0), 0)]);
        assert!(store.has(Kind::Fresh, unit(9, 1)) && !store.has(Kind::Results, unit(9, 1)));
        for (unit, table, group) in store.view().tables(Kind::Results) {
            assert_rows(table, group, unit);
        }
        store.finish(Kind::Results, &|_| true).unwrap();
        // Continued with another run after it was finished.
        add(&mut store, &[(0, 2)]);
        drop(store);
        let mut store = open(&dir);
        assert_eq!(store.count(Kind::Results), 4);
        store.finish(Kind::Results, &|_| true).unwrap();
        assert_eq!(fs::read(part(&dir, 0)).unwrap(), finished(&[&[(0, 0), (0, 1), (0, 2), (1, 0)]]));
        assert!(store.warnings().is_empty());
        assert_eq!(store.count(Kind::Fresh), 1);
        store.discard(Kind::Fresh).unwrap();
        assert_eq!((store.count(Kind::Fresh), store.count(Kind::Results)), (0, 4));
        drop(store);
        assert_eq!(open(&dir).count(Kind::Fresh), 0);
    }

    #[test]
    fn finishing_takes_what_is_wanted_and_rests_when_done() {
        let dir = tempdir().unwrap();
        let mut store = open(&dir);
        store.finish(Kind::Results, &|_| true).unwrap();
        assert!(!part(&dir, 0).exists());
        add(&mut store, &[(0, 0), (0, 1), (0, 2)]);
        store.finish(Kind::Results, &|unit| unit.run < 2).unwrap();
        assert_eq!(store.count(Kind::Results), 2);
        fs::write(part(&dir, 0), "not written again").unwrap();
        store.finish(Kind::Results, &|unit| unit.run < 2).unwrap();
        assert_eq!(fs::read(part(&dir, 0)).unwrap(), b"not written again");
    }

    #[test]
    fn a_crash_between_finishing_and_removing_parts_does_no_harm() {
        let dir = tempdir().unwrap();
        let mut store = open(&dir);
        add(&mut store, &[(0, 0), (0, 1)]);
        let bytes = fs::read(part(&dir, 1)).unwrap();
        store.finish(Kind::Results, &|_| true).unwrap();
        let right = fs::read(part(&dir, 0)).unwrap();
        fs::create_dir(dir.path().join(PARTS)).unwrap();
        fs::write(part(&dir, 1), bytes).unwrap();
        drop(store);
        let mut store = open(&dir);
        assert_eq!(store.count(Kind::Results), 2);
        store.finish(Kind::Results, &|_| true).unwrap();
        assert_eq!(fs::read(part(&dir, 0)).unwrap(), right);
        assert!(!part(&dir, 1).exists());
    }

    #[test]
    fn damaged_tables_are_moved_aside_and_reported() {
        let dir = tempdir().unwrap();
        let mut store = open(&dir);
        add(&mut store, &[(0, 0)]);
        store.finish(Kind::Results, &|_| true).unwrap();
        drop(store);
        let mut store = open(&dir);
        (1..5).for_each(|run| add(&mut store, &[(0, run)]));
        drop(store);
        let bytes = fs::read(part(&dir, 1)).unwrap();
        fs::write(part(&dir, 1), &bytes[..bytes.len() / 2]).unwrap();
        let mut bytes = fs::read(part(&dir, 3)).unwrap();
        bytes[40] ^= 1;
        fs::write(part(&dir, 3), &bytes).unwrap();
        fs::write(part(&dir, 0), "").unwrap();

        let view = Store::read_only(dir.path()).unwrap();
        assert_eq!((view.count(Kind::Results), view.warnings().len()), (2, 3));
        assert!(part(&dir, 3).exists());

        let mut store = open(&dir);
        let units: Vec<_> = store.units(Kind::Results).map(|(unit, _)| unit.run).collect();
        assert_eq!(units, [2, 4]);
        let warnings = store.warnings().join("\n");
        assert!(warnings.contains("results.parquet is damaged: it does not begin"), "{warnings}");
        assert!(warnings.contains("results-000001.parquet is damaged: its end is missing"), "{warnings}");
        assert!(warnings.contains("the bytes of block 0, run 3 do not have the checksum"), "{warnings}");
        assert!(warnings.contains("its units will be run again"), "{warnings}");
        assert_eq!(fs::read(dir.path().join("damaged/results-000003.parquet")).unwrap(), bytes);
        [0, 1, 3].iter().for_each(|&run| add(&mut store, &[(0, run)]));
        store.finish(Kind::Results, &|_| true).unwrap();
        let right = finished(&[&[(0, 0), (0, 1), (0, 2), (0, 3), (0, 4)]]);
        assert_eq!(fs::read(part(&dir, 0)).unwrap(), right);

        // A second one of the same name is kept, too.
        fs::write(part(&dir, 0), "").unwrap();
        drop(store);
        assert_eq!(open(&dir).count(Kind::Results), 0);
        assert!(dir.path().join("damaged/results.parquet.1").exists());
    }

    #[test]
    fn damage_after_opening_is_never_copied() {
        let dir = tempdir().unwrap();
        let mut store = open(&dir);
        add(&mut store, &[(0, 0)]);
        let mut bytes = fs::read(part(&dir, 1)).unwrap();
        bytes[40] ^= 1;
        fs::write(part(&dir, 1), &bytes).unwrap();
        let error = store.finish(Kind::Results, &|_| true).unwrap_err().to_string();
        assert!(error.contains("results-000001.parquet") && error.contains("block 0, run 0"), "{error}");
        assert!(!part(&dir, 0).exists() && part(&dir, 1).exists());
    }

    #[test]
    fn leftovers_of_a_killed_process_are_removed() {
        let dir = tempdir().unwrap();
        let temporary = dir.path().join("settings.parquet.emphatic-tmp");
        fs::write(&temporary, "half").unwrap();
        fs::write(dir.path().join(LOCK), "").unwrap();
        fs::write(dir.path().join("experiment.toml"), "experiment").unwrap();
        fs::create_dir(dir.path().join(PARTS)).unwrap();
        let mut store = open(&dir);
        assert!(!temporary.exists());
        add(&mut store, &[(0, 0)]);
        drop(store);
        let temporary = dir.path().join("parts/results-000002.parquet.emphatic-tmp");
        fs::write(&temporary, "half").unwrap();
        assert_eq!(open(&dir).count(Kind::Results), 1);
        assert!(!temporary.exists());
    }

    #[test]
    fn foreign_directories_stay_untouched() {
        for (name, text) in [("thesis.tex", "mine"), ("experiment.toml", "mine"), ("parts/x", "mine")] {
            let dir = tempdir().unwrap();
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
            let error = refusal(dir.path(), json!({}));
            let first = name.split('/').next().unwrap();
            assert!(matches!(&error, StoreError::NotOurs { found, .. } if found == first), "{error}");
            assert_eq!(names(dir.path()).unwrap(), [first]);
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
    }

    #[test]
    fn another_experiment_or_version_is_refused_with_the_reason() {
        let dir = tempdir().unwrap();
        let dir = dir.path();
        let long = "x".repeat(100);
        let there =
            json!({ "learner": { "alpha": 0.1, "name": "ace" }, "runs": [1, 2], "long": long, "old": 1 });
        drop(open_as(dir, there.clone()).unwrap());
        assert!(open_as(dir, there).is_ok());
        let now = json!({ "learner": { "alpha": 0.2, "name": "ace" }, "runs": [1], "long": "y", "new": 1 });
        let error = refusal(dir, now).to_string();
        assert!(error.contains("learner.alpha: 0.1 there, 0.2 now"), "{error}");
        assert!(error.contains("new: nothing there, 1 now; 2 more"), "{error}");
        let manifest = dir.join(MANIFEST);
        let text = fs::read_to_string(&manifest).unwrap();
        fs::write(&manifest, text.replace(VERSION, "0.0.7")).unwrap();
        assert!(
            matches!(refusal(dir, json!({})), StoreError::OtherVersion { found, .. } if found == "0.0.7")
        );
        fs::write(&manifest, text.replace("\"format\": 2", "\"format\": 1")).unwrap();
        assert!(
            refusal(dir, json!({}))
                .to_string()
                .contains("has format 1, of an earlier version of this program")
        );
        for broken in ["", "[1]", &text[..text.len() / 2], "\u{0}"] {
            fs::write(&manifest, broken).unwrap();
            assert!(matches!(refusal(dir, json!({})), StoreError::BadManifest { .. }), "{broken}");
            assert!(matches!(Store::read_only(dir), Err(StoreError::BadManifest { .. })), "{broken}");
        }
    }

    #[test]
    fn only_one_process_works_in_a_directory() {
        let dir = tempdir().unwrap();
        let first = open(&dir);
        let error = refusal(dir.path(), bound()).to_string();
        assert!(error.contains("is in use by another process"), "{error}");
        assert!(Store::read_only(dir.path()).is_ok());
        drop(first);
        open(&dir);
    }

    #[test]
    fn paths_that_cannot_be_used_are_named() {
        let dir = tempdir().unwrap();
        let file = dir.path().join("file");
        fs::write(&file, "").unwrap();
        for path in [file.clone(), file.join("below")] {
            let error = refusal(&path, json!({})).to_string();
            assert!(error.contains("file") && error.contains("where a directory should be"), "{error}");
        }
        assert!(matches!(Store::read_only(&dir.path().join("none")), Err(StoreError::NoResults { .. })));
        let mut store = open_as(&dir.path().join("new/below"), bound()).unwrap();
        fs::create_dir_all(dir.path().join("new/below/parts/results-000001.parquet")).unwrap();
        assert!(store.add(Kind::Results, vec![encoded(0, 0)]).is_err());
        assert_eq!(names(&dir.path().join("new/below/parts")).unwrap(), ["results-000001.parquet"]);
        drop(store);
        assert!(matches!(refusal(&dir.path().join("new/below"), bound()), StoreError::Disk(_)));
    }

    #[test]
    fn the_manifest_takes_fields_but_keeps_its_own() {
        let dir = tempdir().unwrap();
        let mut store = open(&dir);
        let fields = json!({ "chosen": [1, 2], "format": 7, "identity": 8, "emphatic": 9 });
        store.set_manifest(fields.as_object().unwrap().clone()).unwrap();
        let right =
            json!({ "format": 2, "emphatic": VERSION, "identity": { "name": "bound" }, "chosen": [1, 2] });
        assert_eq!(*store.manifest(), right);
        drop(store);
        assert_eq!(*open(&dir).manifest(), right);
        assert_eq!(*Store::read_only(dir.path()).unwrap().manifest(), right);
        assert_eq!(fs::read(dir.path().join("settings.parquet")).unwrap(), b"settings");
    }

    #[test]
    fn many_parts_become_few_and_can_be_read_meanwhile() {
        const UNITS: u32 = 2000;
        let dir = tempdir().unwrap();
        let mut store = open(&dir);
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let reader = scope.spawn(|| {
                let mut before = 0;
                while !done.load(Ordering::Relaxed) {
                    let view = Store::read_only(dir.path()).unwrap();
                    let count = view.count(Kind::Results);
                    assert!(before <= count && view.warnings().is_empty());
                    // Units are added in order, so none may be missing.
                    assert!(view.units(Kind::Results).map(|(unit, _)| unit.run).eq(0..count as u32));
                    before = count;
                }
            });
            for run in 0..UNITS {
                add(&mut store, &[(0, run)]);
                assert!(names(&dir.path().join(PARTS)).unwrap().len() <= 3 * CROWD);
            }
            done.store(true, Ordering::Relaxed);
            reader.join().unwrap();
        });
        drop(store);
        let mut store = open(&dir);
        assert_eq!(store.count(Kind::Results), UNITS as usize);
        let view = Store::read_only(dir.path()).unwrap();
        store.finish(Kind::Results, &|_| true).unwrap();
        // What was opened can still be read, though the parts are gone.
        for (unit, table, group) in view.tables(Kind::Results).step_by(97) {
            assert_rows(table, group, unit);
        }
        assert_eq!(Table::open(&part(&dir, 0)).unwrap().units().len(), UNITS as usize);
    }
}
