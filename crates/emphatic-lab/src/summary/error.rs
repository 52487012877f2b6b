//! Why results cannot be summarised.

use crate::experiment::TooManyUnits;
use crate::store::StoreError;
use crate::table::TableError;
use emphatic_problems::ReadError;
use thiserror::Error;

/// Results that cannot be summarised.
#[derive(Debug, Error, miette::Diagnostic)]
#[non_exhaustive]
pub enum SummaryError {
    /// The directory could not be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A table could not be read.
    #[error(transparent)]
    Table(#[from] TableError),
    /// The experiment file beside the results cannot be read.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Read(#[from] ReadError),
    /// The experiment file beside the results is not theirs.
    #[error(
        "{0}/experiment.toml is not the file that these results are of: put back the one they were run with"
    )]
    Changed(String),
    /// The manifest beside the results asks for more units than are possible.
    #[error(transparent)]
    TooManyUnits(#[from] TooManyUnits),
    /// The objective was not recorded.
    #[error("the objective was not recorded, so there is nothing to choose the best settings by")]
    NoObjective,
    /// This quantity was not recorded.
    #[error("`{0}` was not recorded as a number")]
    NotRecorded(String),
    /// No unit is finished yet.
    #[error("{dir} has no finished runs yet{}", warnings.iter().map(|w| format!("; {w}")).collect::<String>())]
    Nothing {
        /// The directory.
        dir: String,
        /// What is damaged there.
        warnings: Vec<String>,
    },
}
