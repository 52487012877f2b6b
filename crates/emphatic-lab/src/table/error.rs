//! Why a table could not be written or read.

use super::Unit;
use crate::disk_error::DiskError;
use parquet::errors::ParquetError;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// A table could not be written or read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TableError {
    /// An operation on the file failed.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// The file as a whole is not, or no longer, a table of ours.
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
    /// The table is sound, but of another experiment.
    #[error("{} is of another experiment than {}, or another of its tables", path.display(), beside.display())]
    OtherExperiment {
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
}

impl TableError {
    /// Whether the contents of the file are at fault, and not the disk.
    pub(crate) fn is_damage(&self) -> bool {
        use TableError::{Damaged, DamagedUnit, OtherExperiment};
        matches!(self, Damaged { .. } | DamagedUnit { .. } | OtherExperiment { .. })
    }

    /// For `map_err`: an error of the disk that Parquet has wrapped, a full disk say, is unwrapped.
    pub(super) fn parquet(path: &Path) -> impl Fn(ParquetError) -> TableError {
        move |error| match error {
            ParquetError::External(inner) => match inner.downcast::<io::Error>() {
                Ok(io) => DiskError::on("write", path)(*io).into(),
                Err(inner) => {
                    TableError::Parquet { path: path.to_owned(), source: ParquetError::External(inner) }
                }
            },
            source => TableError::Parquet { path: path.to_owned(), source },
        }
    }

    /// For `map_err`: a file that ends early or makes no sense is damaged; anything else is an error of the disk.
    pub(super) fn reading(path: &Path) -> impl Fn(io::Error) -> TableError {
        move |error| match error.kind() {
            ErrorKind::InvalidData => TableError::Damaged { path: path.to_owned(), what: error.to_string() },
            ErrorKind::UnexpectedEof => {
                TableError::Damaged { path: path.to_owned(), what: "its end is missing".to_owned() }
            }
            _ => DiskError::on("read", path)(error).into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_recognised_behind_an_error_of_parquet() {
        let full = io::Error::from(ErrorKind::StorageFull);
        let text = TableError::parquet(Path::new("t"))(full.into()).to_string();
        assert!(text.starts_with("the disk is full: could not write t; what"), "{text}");
    }
}
