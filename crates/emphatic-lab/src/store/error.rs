//! Why a results directory cannot be used.

use super::manifest::{MANIFEST, VERSION};
use crate::disk_error::DiskError;
use crate::table::TableError;
use std::path::PathBuf;
use thiserror::Error;

/// The directory could not be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StoreError {
    /// An operation on a file or directory failed.
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
    /// The directory was removed or replaced since it was opened.
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
    /// The directory has no results.
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
