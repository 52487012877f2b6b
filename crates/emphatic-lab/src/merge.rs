//! Merges the results of shards into one directory.

use crate::engine;
use crate::experiment::Experiment;
use crate::runs;
use crate::store::manifest::{VERSION, version};
use crate::store::{Kind, Store, StoreError, View, check_runs, chosen_settings};
use crate::table::StoredUnit;
use std::path::{Path, PathBuf};

/// The outcome of a merge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Merged {
    /// How many units the directory has now.
    pub done: usize,
    /// How many the experiment has.
    pub units: usize,
    /// Whether that is all: no runs of finalists and no fresh runs are still to be made either.
    pub complete: bool,
    /// One message for each damaged file in the directory of the merged results, and one if runs of finalists or fresh runs there are discarded.
    pub warnings: Vec<String>,
}

/// Merges the results in some directories into `out`. The directories stay as they are.
pub fn merge(dirs: &[PathBuf], out: &Path) -> Result<Merged, StoreError> {
    let shards = open_all(dirs)?;
    // Shards may have been asked for different numbers of runs.
    let asked = |experiment: &Experiment| {
        (experiment.runs, experiment.finalist_runs, experiment.finalists, experiment.fresh_runs)
    };
    // Of several that ask for as much, the first.
    let Some((first, experiment)) = shards.iter().rev().max_by_key(|(_, experiment)| asked(experiment))
    else {
        return Ok(Merged { done: 0, units: 0, complete: true, warnings: Vec::new() });
    };
    for (view, _) in &shards {
        Kind::OF_CHOSEN.iter().try_for_each(|kind| check_runs(view, *kind, experiment.runs_of(*kind)))?;
    }
    let mut store = engine::open(experiment, out)?;
    for (view, _) in &shards {
        copy_missing(&mut store, Kind::Results, view)?;
    }
    store.finish(Kind::Results, &|_| true)?;
    let (done, units) = (store.count(Kind::Results), experiment.units());
    let mut warnings = store.warnings().to_vec();
    let chooses =
        |experiment: &Experiment| (experiment.select, experiment.judged_by.clone(), experiment.finalists);
    if let Some((other, _)) = shards.iter().find(|(_, other)| chooses(other) != chooses(experiment)) {
        warnings.push(format!(
            "{} and {} choose settings in different ways: `select`, `select_by` and `finalists` are those of the first",
            first.dir().display(),
            other.dir().display()
        ));
    }
    let mut complete = done == units;
    for kind in Kind::OF_CHOSEN.into_iter().filter(|kind| experiment.runs_of(*kind) > 0) {
        complete = complete && merge_chosen(experiment, &mut store, kind, &shards, &mut warnings)?;
    }
    let mut fields = engine::counts(experiment, &store, complete);
    let seconds = shards.iter().filter_map(|(view, _)| view.manifest()["wall_seconds"].as_f64());
    fields["wall_seconds"] = seconds.sum::<f64>().into();
    store.set_manifest(&fields)?;
    Ok(Merged { done, units, complete, warnings })
}

/// Merges the runs of finalists, or fresh runs, of shards that had all runs before them, and so could choose the same settings. Returns true if no more
/// are to be made.
fn merge_chosen(
    experiment: &Experiment,
    store: &mut Store,
    kind: Kind,
    shards: &[(View, Experiment)],
    warnings: &mut Vec<String>,
) -> Result<bool, StoreError> {
    let (chosen, warning) = engine::choose(experiment, store, kind)?;
    warnings.extend(warning);
    let chose = |view: &View| chosen_settings(view, kind);
    for (view, _) in shards {
        if chose(view) == chosen {
            copy_missing(store, kind, view)?;
        } else if view.count(kind) > 0 {
            let (runs, dir) = (kind.runs(), view.dir().display());
            warnings.push(format!(
                "the {runs} in {dir} are left out: they are of other settings than the best of all results"
            ));
        }
    }
    store.finish(kind, &|unit| unit.run < experiment.runs_of(kind))?;
    Ok(store.count(kind) == engine::units_of_kind(experiment, store, kind))
}

fn copy_missing(store: &mut Store, kind: Kind, from: &View) -> Result<(), StoreError> {
    let is_missing = |stored: &StoredUnit| !store.has(kind, stored.unit());
    let missing: Vec<StoredUnit> = from.units(kind).filter(is_missing).collect();
    store.copy(kind, &missing)
}

/// Opens the shards, which must be of this version, undamaged and of the same experiment.
fn open_all(dirs: &[PathBuf]) -> Result<Vec<(View, Experiment)>, StoreError> {
    let mut shards: Vec<(View, Experiment)> = Vec::new();
    for dir in dirs {
        let view = View::open(dir)?;
        let found = version(view.manifest());
        if found != VERSION {
            return Err(StoreError::OtherVersionOfShard { dir: dir.clone(), found: found.to_owned() });
        }
        if let Some(warning) = view.warnings().first() {
            return Err(StoreError::DamagedShard(warning.clone()));
        }
        let experiment = runs::experiment_of(&view)?;
        if let Some((first, _)) = shards.first()
            && first.manifest()["identity"] != view.manifest()["identity"]
        {
            return Err(StoreError::DifferentShards(first.dir().to_owned(), dir.clone()));
        }
        shards.push((view, experiment));
    }
    Ok(shards)
}
