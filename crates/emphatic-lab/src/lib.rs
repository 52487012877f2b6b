//! Experiments with off-policy learners, as files.
//!
//! A file names a problem and methods; any value that is a list is swept. One run's experience is generated once for a
//! whole block of settings, which learn from it side by side in lanes, on all cores. Finished units reach the disk at least every two
//! seconds, so that nothing finished is lost, and the tables are the same bits however they came about.
//!
//! ```
//! use emphatic_lab::{Experiment, Options, Stop, run, summarise};
//! use std::path::Path;
//!
//! let text = r#"
//!     problem = "counterexample"
//!     runs = 3
//!     episodes = 100
//!     [[method]]
//!     algorithm = "ace"
//!     alpha = [0.01, 0.1]
//!     lambda_a = 1
//!     critic = "exact"
//! "#;
//! let experiment = Experiment::parse(text, "example.toml", Path::new(""))?;
//! let dir = tempfile::tempdir()?;
//! run(&experiment, dir.path(), &Options::default(), &Stop::default(), &mut |_news| {})?;
//! let summary = summarise(dir.path(), None)?;
//! assert_eq!(summary.methods[0].settings.len(), 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | concept | where |
//! |---|---|
//! | experiment files as written, and their JSON Schema | `file`, `part_file`, `policy_file`, `sweep` |
//! | … as understood: scenarios, methods, settings, blocks | `experiment` |
//! | problem files | the crate `emphatic-problems` |
//! | where experience comes from | `source` |
//! | settings that learn side by side, and what is recorded of them | `group`, `measure` |
//! | a unit: one stream, one block of settings | `unit`, `rows` |
//! | threads, shards, fresh runs | `engine`, `merge` |
//! | the directory of results | [`store`], [`table`] |
//! | what came out | `runs`, `summary`, [`statistics`] |

pub mod atomic_file;
mod disk_error;
mod engine;
mod estimate;
mod experiment;
mod file;
mod group;
mod measure;
mod merge;
mod part_file;
mod policy_file;
mod rows;
mod runs;
mod settings_table;
mod source;
pub mod statistics;
pub mod store;
mod summary;
mod sweep;
pub mod table;
mod unit;

pub use disk_error::DiskError;
pub use emphatic_problems::{FileError, ReadError};
pub use engine::{Ending, News, Options, Progress, Report, RunError, Shard, Stop, run};
pub use estimate::{Estimate, estimate};
pub use experiment::{Cell, Experiment, Length, Method, TooManyUnits};
pub use file::{Select, schema};
pub use merge::{MergeError, Merged, merge};
pub use runs::{Run, read_runs};
pub use summary::{
    FreshSummary, MethodSummary, Point, SettingSummary, Statistics, Summary, SummaryError, summarise,
    summarise_without_intervals,
};
pub use unit::{LaneCount, Machine, UnitError};
