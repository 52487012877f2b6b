//! Where the results of an experiment are kept: a directory that a process may leave at any moment, even killed,
//! without losing a unit that reached it.
//!
//! ```text
//! DIR/results.parquet    all units, once finished
//! DIR/finalists.parquet  the same for more runs of the finalists
//! DIR/fresh.parquet      the same for fresh runs
//! DIR/manifest.json      which experiment this is
//! DIR/experiment.toml, DIR/problems/     the experiment file as run, and the problem files it names
//! DIR/environments.json  what is known of environments that live elsewhere
//! DIR/parts/results-000001.parquet ...   finished units while under way
//! DIR/damaged/           files that were found changed, kept but not used
//! DIR/lock               locked while a process works here
//! ```
//!
//! Every file appears whole or not at all, and a file is removed only after its units are in another one. A unit may
//! therefore be in two files; it counts once.

mod error;
mod files;
mod foreign;
mod identity;
mod lock;
pub(crate) mod manifest;
mod part_files;

pub use error::StoreError;
pub use identity::label;
pub(crate) use identity::{fingerprint, fingerprint_of_bytes};
pub use part_files::Kind;

use crate::table::{self, EncodedUnit, StoredUnit, Table, Unit};
use lock::Lock;
use part_files::{FINISHED, PARTS, Tables};
use serde_json::{Value, json};
use std::fs;
use std::ops::Deref;
use std::path::{Path, PathBuf};

/// Problem files are kept apart, where they cannot take the name of anything else.
pub(crate) const PROBLEMS: &str = "problems";

/// What a directory is opened for.
#[derive(Clone, Copy, Debug)]
pub struct Contents<'a> {
    /// Files to be there beside the results, by name: in the directory itself, or in `problems`.
    pub files: &'a [(&'a str, &'a [u8])],
    /// What makes it this experiment: results of different identities never share a directory.
    pub identity: &'a Value,
    /// How many runs it is to have of each kind, in the order of [`Kind`]: no fewer than it has already.
    pub runs: [u32; 3],
}

/// A results directory as it was when it was opened.
pub struct View {
    dir: PathBuf,
    manifest: Value,
    /// The labels of the tables of each kind.
    labels: [String; 3],
    tables: [Tables; 3],
    warnings: Vec<String>,
}

/// Files that cannot be used, with the reason.
type Damaged = Vec<(PathBuf, StoreError)>;

impl View {
    /// Opens the directory as it is now, without the lock: also while another process works there.
    pub fn open(dir: &Path) -> Result<View, StoreError> {
        let (mut view, damaged) = View::load(dir, existing_manifest(dir)?)?;
        view.warnings = damaged.iter().map(|(_, error)| format!("{error}; its units do not count")).collect();
        let missing = Kind::ALL.into_iter().filter_map(|kind| view.missing(kind));
        view.warnings.extend(missing.map(|error| error.to_string()).collect::<Vec<_>>());
        Ok(view)
    }

    fn load(dir: &Path, manifest: Value) -> Result<(View, Damaged), StoreError> {
        let labels = Kind::ALL.map(|kind| label(&manifest["identity"], kind.name()));
        let (mut tables, mut damaged) = (<[Tables; 3]>::default(), Damaged::new());
        for kind in Kind::ALL {
            tables[kind as usize] = part_files::load(dir, kind, &labels[kind as usize], &mut damaged)?;
        }
        Ok((View { dir: dir.to_owned(), manifest, labels, tables, warnings: Vec::new() }, damaged))
    }

    fn tables(&self, kind: Kind) -> &Tables {
        &self.tables[kind as usize]
    }

    /// The directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// What manifest.json holds.
    pub fn manifest(&self) -> &Value {
        &self.manifest
    }

    /// One message for each damaged file.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Whether a unit is finished.
    pub fn has(&self, kind: Kind, unit: Unit) -> bool {
        self.tables(kind).has(unit)
    }

    /// How many units are finished.
    pub fn count(&self, kind: Kind) -> usize {
        self.tables(kind).count()
    }

    /// The finished units, each once, in canonical order.
    pub fn units(&self, kind: Kind) -> impl Iterator<Item = StoredUnit<'_>> {
        self.tables(kind).units()
    }

    /// How many runs have finished units, counted up to the last one.
    pub(crate) fn runs(&self, kind: Kind) -> u64 {
        self.units(kind).map(|stored| u64::from(stored.unit().run) + 1).max().unwrap_or(0)
    }

    /// The error that the finished table of a kind is not there, if the manifest counts units of it that are nowhere.
    pub(crate) fn missing(&self, kind: Kind) -> Option<StoreError> {
        let units = self.manifest[kind.count_key()]["done"].as_u64().unwrap_or(0);
        let path = kind.path(&self.dir, FINISHED);
        let is_missing = units > self.count(kind) as u64 && !path.exists();
        is_missing.then_some(StoreError::MissingTable { path, units })
    }

    /// How many runs of settings diverged, of one kind.
    pub fn diverged_runs(&self, kind: Kind) -> u64 {
        self.units(kind).map(|stored| u64::from(stored.diverged())).sum()
    }
}

fn existing_manifest(dir: &Path) -> Result<Value, StoreError> {
    manifest::read(dir)?.ok_or_else(|| StoreError::NoResults { dir: dir.to_owned() })
}

/// An error if a Parquet file in a results directory, also the table of settings, belongs to another experiment.
pub fn check_table(dir: &Path, path: &Path) -> Result<(), StoreError> {
    let manifest = existing_manifest(dir)?;
    let table = path.file_stem().unwrap_or_default().to_string_lossy();
    if table::label_of(path)? != Some(label(&manifest["identity"], &table)) {
        let (path, beside) = (path.to_owned(), dir.join(manifest::MANIFEST));
        return Err(StoreError::OtherTable { path, beside });
    }
    Ok(())
}

/// A results directory that this process, and no other, works in.
///
/// It is a [`View`] that follows what this process writes.
pub struct Store {
    view: View,
    /// The number of the next part. No number is used twice, so that a [`View`] elsewhere never takes one part for another.
    next: u64,
    lock: Lock,
}

impl Deref for Store {
    type Target = View;

    fn deref(&self) -> &View {
        &self.view
    }
}

impl Store {
    /// Opens the directory for this experiment, or makes it. Damaged files are moved aside: see [`View::warnings`].
    pub fn open(dir: &Path, contents: &Contents) -> Result<Store, StoreError> {
        fs::create_dir_all(dir).map_err(StoreError::on("create", dir))?;
        // Before the lock file is made, because nothing may be put into a foreign directory; and again once it is locked,
        // because only then nobody else changes it.
        check(dir, contents)?;
        let lock = Lock::acquire(dir)?;
        let found = check(dir, contents)?;
        let is_new = found.is_none();
        let manifest = found.unwrap_or_else(|| manifest::new(contents.identity));
        let (view, damaged) = View::load(dir, manifest)?;
        for (kind, asked) in Kind::ALL.into_iter().zip(contents.runs) {
            check_runs(&view, kind, asked)?;
        }
        let next = view.tables.iter().flat_map(Tables::parts).max().unwrap_or(0) + 1;
        let mut store = Store { view, next, lock };
        store.write_files(contents)?;
        if is_new {
            manifest::write(dir, &store.manifest)?;
        }
        for (path, error) in damaged {
            store.view.warnings.push(part_files::move_aside(dir, &path, &error)?);
        }
        let missing = Kind::ALL.into_iter().filter_map(|kind| store.missing(kind));
        let missing: Vec<String> =
            missing.map(|error| format!("{error}; its units will be run again")).collect();
        store.view.warnings.extend(missing);
        Ok(store)
    }

    /// Writes the files beside the results, and removes what a killed process left.
    fn write_files(&self, contents: &Contents) -> Result<(), StoreError> {
        for dir in [self.dir.clone(), self.dir.join(PARTS), self.dir.join(PROBLEMS)] {
            files::remove_temporaries(&dir)?;
        }
        for (name, bytes) in contents.files {
            let path = self.dir.join(name);
            if let Some(parent) = path.parent() {
                files::create_dir(parent)?;
            }
            files::write_if_different(&path, bytes)?;
        }
        Ok(())
    }

    /// Stores finished units in one new part. Once this returns, they are safe.
    pub fn add(&mut self, kind: Kind, mut units: Vec<EncodedUnit>) -> Result<(), StoreError> {
        if units.is_empty() {
            return Ok(());
        }
        units.sort_by_key(EncodedUnit::unit);
        self.add_part(kind, |label, path| table::write(label, units, path))
    }

    /// Stores copies of units from another directory of the same experiment in one new part. Once this returns, they are safe.
    pub fn copy(&mut self, kind: Kind, units: &[StoredUnit]) -> Result<(), StoreError> {
        let Some(first) = units.first() else { return Ok(()) };
        self.add_part(kind, |label, path| table::copy(label, units, first.table().schema(), path))
    }

    fn add_part(
        &mut self,
        kind: Kind,
        write: impl FnOnce(&str, &Path) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        self.lock.check(&self.dir)?;
        files::create_dir(&self.dir.join(PARTS))?;
        let (number, part) = write_part(&self.view, kind, &mut self.next, write)?;
        self.view.tables[kind as usize].insert(number, part);
        self.compact(kind)
    }

    /// Puts parts together, so that there are few files and no unit is copied often.
    fn compact(&mut self, kind: Kind) -> Result<(), StoreError> {
        while let Some(old) = self.tables(kind).too_many_parts() {
            let tables = self.view.tables(kind);
            let units = tables.units_in(&old);
            let schema = tables.by_number[&old[0]].schema();
            let copy = |label: &str, path: &Path| table::copy(label, &units, schema, path);
            let (number, part) = write_part(&self.view, kind, &mut self.next, copy)?;
            let tables = &mut self.view.tables[kind as usize];
            tables.insert(number, part);
            for number in old {
                files::remove(&kind.path(&self.view.dir, number))?;
                tables.by_number.remove(&number);
            }
        }
        Ok(())
    }

    /// Writes the finished table with the wanted units, in canonical order, and removes the parts. Units that are not
    /// wanted are gone then.
    pub fn finish(&mut self, kind: Kind, wanted: &dyn Fn(Unit) -> bool) -> Result<(), StoreError> {
        self.lock.check(&self.dir)?;
        let tables = self.tables(kind);
        let Some(schema) = tables.by_number.values().next().map(Table::schema) else { return Ok(()) };
        let units: Vec<StoredUnit> = tables.units().filter(|stored| wanted(stored.unit())).collect();
        if tables.is_finished(&units) {
            return Ok(());
        }
        let to = kind.path(&self.dir, FINISHED);
        table::copy(&self.labels[kind as usize], &units, schema, &to)?;
        let table = Table::open(&to)?;
        self.remove_parts(kind)?;
        let mut finished = Tables::default();
        finished.insert(FINISHED, table);
        self.view.tables[kind as usize] = finished;
        Ok(())
    }

    /// Removes all units of a kind.
    pub fn discard(&mut self, kind: Kind) -> Result<(), StoreError> {
        self.lock.check(&self.dir)?;
        let finished = kind.path(&self.dir, FINISHED);
        files::remove(&finished)?;
        self.remove_parts(kind)?;
        files::sync_parent(&finished)?;
        self.view.tables[kind as usize] = Tables::default();
        Ok(())
    }

    fn remove_parts(&self, kind: Kind) -> Result<(), StoreError> {
        for number in self.tables(kind).parts() {
            files::remove(&kind.path(&self.dir, number))?;
        }
        // It stays if another kind has parts.
        let _ = fs::remove_dir(self.dir.join(PARTS));
        Ok(())
    }

    /// Writes down the settings that are chosen to have so many units of a kind. Of those that it has, the ones that stay are kept.
    pub(crate) fn choose(
        &mut self,
        kind: Kind,
        settings: &[usize],
        units: usize,
        stays: &dyn Fn(Unit) -> bool,
    ) -> Result<(), StoreError> {
        let Some(key) = kind.settings_key() else { return Ok(()) };
        let none = json!({ "done": 0, "all": units });
        // First what would be missed, then what would be taken for runs of these settings.
        self.set_manifest(&json!({ kind.count_key(): none }))?;
        let any_stays = self.units(kind).any(|stored| stays(stored.unit()));
        if any_stays {
            self.finish(kind, stays)?
        } else {
            self.discard(kind)?
        }
        self.set_manifest(&json!({ key: settings }))
    }

    /// Puts fields into the manifest. `format`, `emphatic` and `identity` stay as they are.
    pub fn set_manifest(&mut self, fields: &Value) -> Result<(), StoreError> {
        self.lock.check(&self.dir)?;
        let manifest = manifest::with(&self.manifest, fields);
        manifest::write(&self.dir, &manifest)?;
        self.view.manifest = manifest;
        Ok(())
    }
}

/// Returns the settings that are chosen to have runs of a kind.
pub(crate) fn chosen_settings(view: &View, kind: Kind) -> Vec<usize> {
    let list = kind.settings_key().and_then(|key| view.manifest[key].as_array());
    list.into_iter().flatten().filter_map(|k| k.as_u64()).map(|k| k as usize).collect()
}

/// An error if a directory has more runs of a kind than are asked for.
pub(crate) fn check_runs(view: &View, kind: Kind, asked: u32) -> Result<(), StoreError> {
    let there = view.runs(kind);
    if there <= u64::from(asked) {
        return Ok(());
    }
    Err(StoreError::FewerRuns { dir: view.dir.clone(), kind, there, asked })
}

/// Writes the next part. Returns its number and the table.
fn write_part(
    view: &View,
    kind: Kind,
    next: &mut u64,
    write: impl FnOnce(&str, &Path) -> Result<(), StoreError>,
) -> Result<(u64, Table), StoreError> {
    let number = *next;
    let path = kind.path(&view.dir, number);
    write(&view.labels[kind as usize], &path)?;
    // Only now, so that a failed write leaves no gap.
    *next += 1;
    Ok((number, Table::open(&path)?))
}

/// Returns the manifest, if the directory has one; an error if the directory holds anything but this experiment.
fn check(dir: &Path, contents: &Contents) -> Result<Option<Value>, StoreError> {
    let found = manifest::read(dir)?;
    match &found {
        Some(manifest) => manifest::check(dir, manifest, contents.identity)?,
        None => foreign::refuse(dir, contents)?,
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::files::names;
    use super::lock::LOCK;
    use super::manifest::{MANIFEST, VERSION};
    use super::part_files::MOST_PARTS;
    use super::*;
    use crate::table::tests::{assert_rows, encoded, identity, unit};
    use std::sync::atomic::{AtomicBool, Ordering};
    use tempfile::{TempDir, tempdir};

    const FILES: [(&str, &[u8]); 2] = [("settings.parquet", b"settings"), ("experiment.toml", b"experiment")];

    fn open_as(dir: &Path, identity: &Value) -> Result<Store, StoreError> {
        Store::open(dir, &Contents { files: &FILES, identity, runs: [u32::MAX; 3] })
    }

    fn open(dir: &TempDir) -> Store {
        open_as(dir.path(), &identity()).unwrap()
    }

    fn refusal(dir: &Path, identity: &Value) -> StoreError {
        open_as(dir, identity).err().expect("it is refused")
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
        store.add(Kind::Fresh, vec![encoded(9, 1)]).unwrap();
        store.add(Kind::Fresh, vec![]).unwrap();
        drop(store);
        let mut store = open(&dir);
        let units: Vec<_> =
            store.units(Kind::Results).map(|stored| (stored.unit(), stored.diverged())).collect();
        assert_eq!(units, [(unit(0, 0), 0), (unit(0, 1), 1), (unit(1, 0), 0)]);
        assert!(store.has(Kind::Fresh, unit(9, 1)) && !store.has(Kind::Results, unit(9, 1)));
        store.units(Kind::Results).for_each(assert_rows);
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

    /// Once all finalist runs of all methods were discarded when one finalist changed.
    #[test]
    fn runs_of_blocks_that_stay_are_kept_when_others_are_chosen() {
        let dir = tempdir().unwrap();
        let mut store = open(&dir);
        store.choose(Kind::Finalists, &[3, 8], 4, &|_| true).unwrap();
        let units = [(0, 0), (1, 0), (0, 1), (1, 1)];
        store.add(Kind::Finalists, Vec::from(units.map(|(block, run)| encoded(block, run)))).unwrap();
        store.choose(Kind::Finalists, &[3, 9], 4, &|unit| unit.block == 0).unwrap();
        drop(store);
        let mut store = open(&dir);
        assert_eq!(chosen_settings(&store, Kind::Finalists), [3, 9]);
        let left: Vec<Unit> = store.units(Kind::Finalists).map(|stored| stored.unit()).collect();
        assert_eq!((left, store.warnings().len()), (vec![unit(0, 0), unit(0, 1)], 0));
        store.choose(Kind::Finalists, &[4, 9], 4, &|_| false).unwrap();
        assert_eq!(store.count(Kind::Finalists), 0);
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

        let view = View::open(dir.path()).unwrap();
        assert_eq!((view.count(Kind::Results), view.warnings().len()), (2, 3));
        assert!(part(&dir, 3).exists());

        let mut store = open(&dir);
        let units: Vec<_> = store.units(Kind::Results).map(|stored| stored.unit().run).collect();
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
            let error = refusal(dir.path(), &json!({}));
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
        drop(open_as(dir, &there).unwrap());
        assert!(open_as(dir, &there).is_ok());
        let now = json!({ "learner": { "alpha": 0.2, "name": "ace" }, "runs": [1], "long": "y", "new": 1 });
        let error = refusal(dir, &now).to_string();
        assert!(error.contains("learner.alpha: 0.1 there, 0.2 now"), "{error}");
        assert!(error.contains("new: nothing there, 1 now; 2 more"), "{error}");
        let manifest = dir.join(MANIFEST);
        let text = fs::read_to_string(&manifest).unwrap();
        fs::write(&manifest, text.replace(VERSION, "0.0.7")).unwrap();
        assert!(
            matches!(refusal(dir, &json!({})), StoreError::OtherVersion { found, .. } if found == "0.0.7")
        );
        fs::write(&manifest, text.replace("\"format\": 2", "\"format\": 1")).unwrap();
        let error = refusal(dir, &json!({})).to_string();
        assert!(error.contains("has format 1, of an earlier version of this program"), "{error}");
        for broken in ["", "[1]", &text[..text.len() / 2], "\u{0}"] {
            fs::write(&manifest, broken).unwrap();
            assert!(matches!(refusal(dir, &json!({})), StoreError::BadManifest { .. }), "{broken}");
            assert!(matches!(View::open(dir), Err(StoreError::BadManifest { .. })), "{broken}");
        }
    }

    #[test]
    fn only_one_process_works_in_a_directory() {
        let dir = tempdir().unwrap();
        let first = open(&dir);
        let error = refusal(dir.path(), &identity()).to_string();
        assert!(error.contains("is in use by another process"), "{error}");
        assert!(View::open(dir.path()).is_ok());
        drop(first);
        open(&dir);
    }

    #[test]
    fn paths_that_cannot_be_used_are_named() {
        let dir = tempdir().unwrap();
        let file = dir.path().join("file");
        fs::write(&file, "").unwrap();
        for path in [file.clone(), file.join("below")] {
            let error = refusal(&path, &json!({})).to_string();
            assert!(error.contains("file") && error.contains("where a directory should be"), "{error}");
        }
        assert!(matches!(View::open(&dir.path().join("none")), Err(StoreError::NoResults { .. })));
        let mut store = open_as(&dir.path().join("new/below"), &identity()).unwrap();
        fs::create_dir_all(dir.path().join("new/below/parts/results-000001.parquet")).unwrap();
        assert!(store.add(Kind::Results, vec![encoded(0, 0)]).is_err());
        assert_eq!(names(&dir.path().join("new/below/parts")).unwrap(), ["results-000001.parquet"]);
        drop(store);
        assert!(matches!(refusal(&dir.path().join("new/below"), &identity()), StoreError::Disk { .. }));
    }

    #[test]
    fn the_manifest_takes_fields_but_keeps_its_own() {
        let dir = tempdir().unwrap();
        let mut store = open(&dir);
        let fields = json!({ "chosen": [1, 2], "format": 7, "identity": 8, "emphatic": 9 });
        store.set_manifest(&fields).unwrap();
        let right =
            json!({ "format": 2, "emphatic": VERSION, "identity": { "name": "bound" }, "chosen": [1, 2] });
        assert_eq!(*store.manifest(), right);
        drop(store);
        assert_eq!(*open(&dir).manifest(), right);
        assert_eq!(*View::open(dir.path()).unwrap().manifest(), right);
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
                    let view = View::open(dir.path()).unwrap();
                    let count = view.count(Kind::Results);
                    assert!(before <= count && view.warnings().is_empty());
                    // Units are added in order, so none may be missing.
                    assert!(view.units(Kind::Results).map(|stored| stored.unit().run).eq(0..count as u32));
                    before = count;
                }
            });
            for run in 0..UNITS {
                add(&mut store, &[(0, run)]);
                assert!(names(&dir.path().join(PARTS)).unwrap().len() <= 3 * MOST_PARTS);
            }
            done.store(true, Ordering::Relaxed);
            reader.join().unwrap();
        });
        drop(store);
        let mut store = open(&dir);
        assert_eq!(store.count(Kind::Results), UNITS as usize);
        let view = View::open(dir.path()).unwrap();
        store.finish(Kind::Results, &|_| true).unwrap();
        // An open view can still be read, although the parts are gone.
        view.units(Kind::Results).step_by(97).for_each(assert_rows);
        assert_eq!(Table::open(&part(&dir, 0)).unwrap().units().count(), UNITS as usize);
    }
}
