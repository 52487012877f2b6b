//! Merges the results of shards into one directory.

use crate::engine::{self, RunError};
use crate::experiment::Experiment;
use crate::runs;
use crate::store::manifest::{VERSION, version};
use crate::store::{Kind, StoreError, View};
use crate::summary::SummaryError;
use crate::table::StoredUnit;
use std::path::{Path, PathBuf};
use thiserror::Error;

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

/// Results that cannot be merged.
#[derive(Debug, Error, miette::Diagnostic)]
#[non_exhaustive]
pub enum MergeError {
    /// A directory could not be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The directory of the merged results could not be opened.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The experiment file beside the results cannot be read, or is not theirs.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Summary(#[from] SummaryError),
    /// Results of different experiments.
    #[error("{} and {} hold different experiments; only shards of the same one can be merged", .0.display(), .1.display())]
    Different(PathBuf, PathBuf),
    /// A shard of another version.
    #[error(
        "{} holds results of emphatic {found}, and this is {VERSION}: results of different versions may differ in \
         their bits, and are not merged", dir.display()
    )]
    OtherVersion {
        /// The shard.
        dir: PathBuf,
        /// The version that wrote it.
        found: String,
    },
    /// A part of a shard is damaged.
    #[error("{0}; run that shard again, then merge")]
    Damaged(String),
}

/// The results that one process made of its part of the units.
struct ShardResults {
    view: View,
    experiment: Experiment,
}

/// Merges the results in some directories into `out`. The directories stay as they are.
pub fn merge(dirs: &[PathBuf], out: &Path) -> Result<Merged, MergeError> {
    let shards = open_all(dirs)?;
    // Shards may have been asked for different numbers of runs.
    let Some(experiment) = shards.iter().map(|shard| &shard.experiment).max_by_key(|e| e.runs) else {
        return Ok(Merged { done: 0, units: 0, fresh: false, warnings: Vec::new() });
    };
    let mut store = engine::open(experiment, out)?;
    for ShardResults { view, .. } in &shards {
        let is_missing = |stored: &StoredUnit| !store.has(Kind::Results, stored.unit());
        let missing: Vec<StoredUnit> = view.units(Kind::Results).filter(is_missing).collect();
        store.copy(Kind::Results, &missing)?;
    }
    store.finish(Kind::Results, &|_| true)?;
    let (done, units) = (store.count(Kind::Results), experiment.units());
    let fresh = experiment.fresh_runs > 0;
    let mut fields = engine::counts(experiment, &store, done == units && !fresh);
    let seconds = |shard: &ShardResults| shard.view.manifest()["wall_seconds"].as_f64();
    fields.insert("wall_seconds".to_owned(), shards.iter().filter_map(seconds).sum::<f64>().into());
    store.set_manifest(fields)?;
    Ok(Merged { done, units, fresh, warnings: store.warnings().to_vec() })
}

/// Opens the shards, which must be of this version, undamaged and of the same experiment.
fn open_all(dirs: &[PathBuf]) -> Result<Vec<ShardResults>, MergeError> {
    let mut shards: Vec<ShardResults> = Vec::new();
    for dir in dirs {
        let view = View::open(dir)?;
        let found = version(view.manifest());
        if found != VERSION {
            return Err(MergeError::OtherVersion { dir: dir.clone(), found: found.to_owned() });
        }
        if let Some(warning) = view.warnings().first() {
            return Err(MergeError::Damaged(warning.clone()));
        }
        let experiment = runs::experiment_of(&view)?;
        if let Some(first) = shards.first()
            && first.view.manifest()["identity"] != view.manifest()["identity"]
        {
            return Err(MergeError::Different(first.view.dir().to_owned(), dir.clone()));
        }
        shards.push(ShardResults { view, experiment });
    }
    Ok(shards)
}
