//! Experiments with off-policy learners.

mod engine;
mod estimate;
mod experiment;
mod file;
mod file_error;
mod learners;
mod merge;
mod problem_file;
mod rows;
mod settings_table;
pub mod statistics;
pub mod store;
mod summary;
mod sweep;
pub mod table;
mod unit;
mod world;

pub use engine::{Ending, News, Options, Progress, Report, RunError, Shard, Stop, run};
pub use estimate::{Estimate, estimate};
pub use experiment::{Cell, Experiment, Length, Method, Quantity, ReadError};
pub use file::schema;
pub use file_error::FileError;
pub use merge::{MergeError, Merged, merge};
pub use summary::{
    By, FreshSummary, MethodSummary, Point, SettingSummary, Statistics, Summary, SummaryError, summarise,
};
pub use unit::{LaneCount, Machine, UnitError};
