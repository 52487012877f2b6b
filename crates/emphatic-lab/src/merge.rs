//! Puts the results of shards together.

use crate::engine::{self, RunError};
use crate::experiment::Experiment;
use crate::store::{Kind, Store, StoreError, View};
use crate::summary::SummaryError;
use crate::table::{self, TableError};
use emphatic_problems::ReadError;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// How many units are taken over at a time.
const AT_ONCE: usize = 256;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What was put together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Merged {
    /// How many units the directory has now.
    pub done: usize,
    /// How many the experiment has.
    pub units: usize,
    /// Whether fresh runs are still to be made.
    pub fresh: bool,
    /// What was found damaged where the results were put.
    pub warnings: Vec<String>,
}

/// Results that cannot be put together.
#[derive(Debug, Error, miette::Diagnostic)]
pub enum MergeError {
    /// A directory refused.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A table refused.
    #[error(transparent)]
    Table(#[from] TableError),
    /// The new directory refused.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The experiment file beside the results cannot be read.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Read(#[from] ReadError),
    /// A file beside the results is not theirs.
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

/// Puts the results in some directories together in `out`. The directories stay as they are.
pub fn merge(dirs: &[PathBuf], out: &Path) -> Result<Merged, MergeError> {
    let mut sources: Vec<(View, Experiment)> = Vec::new();
    for dir in dirs {
        let view = Store::read_only(dir)?;
        let found = view.manifest()["emphatic"].as_str().unwrap_or("of unknown version");
        if found != VERSION {
            return Err(MergeError::OtherVersion { dir: dir.clone(), found: found.to_owned() });
        }
        if let Some(warning) = view.warnings().first() {
            return Err(MergeError::Damaged(warning.clone()));
        }
        let experiment = Experiment::open(&dir.join("experiment.toml"))?;
        if experiment.identity() != view.manifest()["identity"] {
            return Err(SummaryError::Changed(dir.display().to_string()).into());
        }
        if let Some((first, same)) = sources.first()
            && same.identity() != experiment.identity()
        {
            return Err(MergeError::Different(first.dir().to_owned(), dir.clone()));
        }
        sources.push((view, experiment));
    }
    // Shards may have been asked for different numbers of runs.
    let Some(experiment) = sources.iter().map(|(_, e)| e).max_by_key(|e| e.runs) else {
        return Ok(Merged { done: 0, units: 0, fresh: false, warnings: Vec::new() });
    };
    let mut store = engine::open(experiment, out)?;
    for (view, _) in &sources {
        let mut waiting = Vec::new();
        for (unit, table, group) in view.tables(Kind::Results) {
            if store.has(Kind::Results, unit) {
                continue;
            }
            let diverged = table.units()[group].1;
            let schema = table.schema().clone();
            let columns: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
            let rows = table.read(group, &columns)?;
            waiting.push(table::encode(view.label(Kind::Results), unit, diverged, &rows)?);
            if waiting.len() == AT_ONCE {
                store.add(Kind::Results, std::mem::take(&mut waiting))?;
            }
        }
        if !waiting.is_empty() {
            store.add(Kind::Results, waiting)?;
        }
    }
    store.finish(Kind::Results, &|_| true)?;
    let (done, units) = (store.count(Kind::Results), experiment.units());
    let fresh = experiment.fresh_runs > 0;
    let mut fields = engine::counts(experiment, &store, done == units && !fresh);
    let seconds: f64 = sources.iter().filter_map(|(view, _)| view.manifest()["wall_seconds"].as_f64()).sum();
    fields.insert("wall_seconds".to_owned(), seconds.into());
    store.set_manifest(fields)?;
    Ok(Merged { done, units, fresh, warnings: store.warnings().to_vec() })
}
