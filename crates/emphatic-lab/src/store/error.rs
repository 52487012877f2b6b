//! Why results could not be written or read.

use super::Kind;
use super::manifest::{MANIFEST, VERSION};
use crate::experiment::TooManyUnits;
use crate::table::Unit;
use emphatic_problems::ReadError;
use parquet::errors::ParquetError;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// A results directory, or a file in it, that could not be used.
#[derive(Debug, Error, miette::Diagnostic)]
#[non_exhaustive]
pub enum StoreError {
    /// An operation on a file or directory failed.
    #[error("{}", disk_message(action, path, source))]
    Disk {
        /// What was being done.
        action: &'static str,
        /// To which file or directory.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A file as a whole is not, or no longer, a table of ours.
    #[error("{} is damaged: {what}; a table is right only as it was written", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// The bytes of one unit changed since they were written.
    #[error(
        "{} is damaged: the bytes of block {}, run {} do not have the checksum they were written with",
        path.display(), unit.block, unit.run
    )]
    DamagedUnit {
        /// The file.
        path: PathBuf,
        /// The unit.
        unit: Unit,
    },
    /// A table is sound, but of another experiment.
    #[error("{} is of another experiment than {}, or another of its tables", path.display(), beside.display())]
    OtherTable {
        /// The file.
        path: PathBuf,
        /// The file that says which experiment it should be.
        beside: PathBuf,
    },
    /// A column that does not exist was asked for.
    #[error("{} has no column `{column}`; it has {}", path.display(), columns.join(", "))]
    NoColumn {
        /// The file.
        path: PathBuf,
        /// The column that was asked for.
        column: String,
        /// The columns that exist.
        columns: Vec<String>,
    },
    /// Units with different columns cannot go into the same table.
    #[error(
        "{} cannot go into {}: its columns are ({found}), but should be ({expected})",
        path.display(), to.display()
    )]
    OtherColumns {
        /// The file that the unit comes from.
        path: PathBuf,
        /// The file that was to be written.
        to: PathBuf,
        /// The columns of the unit.
        found: String,
        /// The columns of the file to be written.
        expected: String,
    },
    /// A unit without rows cannot be stored.
    #[error("block {}, run {} has no rows; a unit has at least one", unit.block, unit.run)]
    NoRows {
        /// The unit.
        unit: Unit,
    },
    /// Any other error of the Parquet library.
    #[error("{}: {source}", path.display())]
    Parquet {
        /// The file.
        path: PathBuf,
        /// The library's error.
        source: ParquetError,
    },
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
    /// The directory has more runs of a kind than are asked for.
    #[error(
        "{} holds {there} {} of this experiment and {asked} are asked for; ask for as many or more \
         (`{} = {there}`), or choose another directory", dir.display(), kind.runs(), kind.runs_key()
    )]
    FewerRuns {
        /// The directory.
        dir: PathBuf,
        /// Which runs.
        kind: Kind,
        /// How many it has.
        there: u64,
        /// How many are asked for.
        asked: u32,
    },
    /// A finished table is not there any more.
    #[error("{} is missing, and the {MANIFEST} beside it counts {units} finished units", path.display())]
    #[diagnostic(help("put the file back, or run the experiment again"))]
    MissingTable {
        /// The table.
        path: PathBuf,
        /// How many units it should have.
        units: u64,
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
    /// The experiment file beside the results cannot be read.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Read(#[from] ReadError),
    /// The experiment file beside the results is not theirs.
    #[error(
        "{}/experiment.toml is not the file that these results are of: put back the one they were run with",
        dir.display()
    )]
    Changed {
        /// The directory.
        dir: PathBuf,
    },
    /// The manifest beside the results asks for more units than are possible.
    #[error(transparent)]
    TooManyUnits(#[from] TooManyUnits),
    /// Nothing was recorded that is better when it is larger or smaller.
    #[error("no objective, return or error was recorded, so there is nothing to choose the best settings by")]
    NoObjective,
    /// Settings are not chosen by this quantity.
    #[error("no settings are chosen by `{quantity}`, but by `{}`", judged_by.join("`, `"))]
    NotJudgedBy {
        /// What was asked for.
        quantity: String,
        /// What they are chosen by.
        judged_by: Vec<String>,
    },
    /// This quantity was not recorded.
    #[error("`{quantity}` was not recorded as a number")]
    NotRecorded {
        /// What was asked for.
        quantity: String,
        /// What was recorded.
        #[help]
        help: Option<String>,
    },
    /// No unit is finished yet.
    #[error(
        "{} has no finished runs yet{}",
        dir.display(), warnings.iter().map(|w| format!("; {w}")).collect::<String>()
    )]
    NoRuns {
        /// The directory.
        dir: PathBuf,
        /// What is damaged there.
        warnings: Vec<String>,
    },
    /// Shards of different experiments cannot be merged.
    #[error("{} and {} hold different experiments; only shards of the same one can be merged", .0.display(), .1.display())]
    DifferentShards(PathBuf, PathBuf),
    /// A shard of another version cannot be merged.
    #[error(
        "{} holds results of emphatic {found}, and this is {VERSION}: results of different versions may differ in \
         their bits, and are not merged", dir.display()
    )]
    OtherVersionOfShard {
        /// The shard.
        dir: PathBuf,
        /// The version that wrote it.
        found: String,
    },
    /// A part of a shard is damaged.
    #[error("{0}; run that shard again, then merge")]
    DamagedShard(String),
}

impl StoreError {
    /// For `map_err`: what was being done to which path.
    pub(crate) fn on(action: &'static str, path: &Path) -> impl Fn(io::Error) -> StoreError {
        move |source| StoreError::Disk { action, path: path.to_owned(), source }
    }

    /// For `map_err`: an error of the disk that Parquet has wrapped, a full disk say, is unwrapped.
    pub(crate) fn parquet(path: &Path) -> impl Fn(ParquetError) -> StoreError {
        let other = |source| StoreError::Parquet { path: path.to_owned(), source };
        move |error| match error {
            ParquetError::External(inner) => match inner.downcast::<io::Error>() {
                Ok(io) => StoreError::on("write", path)(*io),
                Err(inner) => other(ParquetError::External(inner)),
            },
            source => other(source),
        }
    }

    /// For `map_err`: a file that ends early or makes no sense is damaged; anything else is an error of the disk.
    pub(crate) fn reading(path: &Path) -> impl Fn(io::Error) -> StoreError {
        let damaged = |what| StoreError::Damaged { path: path.to_owned(), what };
        move |error| match error.kind() {
            ErrorKind::InvalidData => damaged(error.to_string()),
            ErrorKind::UnexpectedEof => damaged("its end is missing".to_owned()),
            _ => StoreError::on("read", path)(error),
        }
    }

    /// Whether the contents of a table are at fault, and not the disk.
    pub(super) fn is_damage(&self) -> bool {
        use StoreError::{Damaged, DamagedUnit, OtherTable};
        matches!(self, Damaged { .. } | DamagedUnit { .. } | OtherTable { .. })
    }
}

/// The message of an error of the system, with what the user can do.
fn disk_message(action: &str, path: &Path, error: &io::Error) -> String {
    let path = path.display();
    let remedy = match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            return format!(
                "the disk is full: could not write {path}; what was finished before is safe; \
                 free some space and run the same command again"
            );
        }
        ErrorKind::FileTooLarge => {
            return format!(
                "could not write {path}: it would be larger than your limits (ulimit -f) or the file system allow; \
                 what was finished before is safe; raise the limit, or choose another place, and run the same command \
                 again"
            );
        }
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            "; choose a directory that you may read and write"
        }
        ErrorKind::NotADirectory | ErrorKind::AlreadyExists => "; a file is where a directory should be",
        ErrorKind::IsADirectory => "; a directory is where a file should be",
        _ => "",
    };
    format!("could not {action} {path}: {error}{remedy}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_and_a_limit_on_files_have_different_messages() {
        let message =
            |kind: ErrorKind| StoreError::on("write", Path::new("results"))(kind.into()).to_string();
        let full = "the disk is full: could not write results; what was finished before is safe";
        assert!(message(ErrorKind::StorageFull).starts_with(full));
        assert!(message(ErrorKind::QuotaExceeded).starts_with(full));
        let limit = "could not write results: it would be larger than your limits (ulimit -f) or the file system allow";
        assert!(message(ErrorKind::FileTooLarge).starts_with(limit));
    }

    #[test]
    fn a_full_disk_is_recognised_behind_an_error_of_parquet() {
        let full = io::Error::from(ErrorKind::StorageFull);
        let text = StoreError::parquet(Path::new("t"))(full.into()).to_string();
        assert!(text.starts_with("the disk is full: could not write t; what"), "{text}");
    }
}
