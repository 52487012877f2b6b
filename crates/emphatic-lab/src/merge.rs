//! Merges the results of shards into one directory.

use crate::engine;
use crate::experiment::Experiment;
use crate::runs;
use crate::store::manifest::{VERSION, version};
use crate::store::{Kind, StoreError, View};
use crate::table::StoredUnit;
use std::path::{Path, PathBuf};

/// The outcome of a merge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Merged {
    /// How many units the directory has now.
    pub done: usize,
    /// How many the experiment has.
    pub units: usize,
    /// Whether fresh runs are still to be made.
    pub fresh: bool,
    /// One message for each damaged file in the directory of the merged results.
    pub warnings: Vec<String>,
}

/// Merges the results in some directories into `out`. The directories stay as they are.
pub fn merge(dirs: &[PathBuf], out: &Path) -> Result<Merged, StoreError> {
    let shards = open_all(dirs)?;
    // Shards may have been asked for different numbers of runs.
    let Some((_, experiment)) = shards.iter().max_by_key(|(_, experiment)| experiment.runs) else {
        return Ok(Merged { done: 0, units: 0, fresh: false, warnings: Vec::new() });
    };
    let mut store = engine::open(experiment, out)?;
    for (view, _) in &shards {
        let is_missing = |stored: &StoredUnit| !store.has(Kind::Results, stored.unit());
        let missing: Vec<StoredUnit> = view.units(Kind::Results).filter(is_missing).collect();
        store.copy(Kind::Results, &missing)?;
    }
    store.finish(Kind::Results, &|_| true)?;
    let (done, units) = (store.count(Kind::Results), experiment.units());
    let fresh = experiment.fresh_runs > 0;
    let mut fields = engine::counts(experiment, &store, done == units && !fresh);
    let seconds = shards.iter().filter_map(|(view, _)| view.manifest()["wall_seconds"].as_f64());
    fields["wall_seconds"] = seconds.sum::<f64>().into();
    store.set_manifest(&fields)?;
    Ok(Merged { done, units, fresh, warnings: store.warnings().to_vec() })
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
