//! Experiments with off-policy learners, as files.
//!
//! A file names a problem and methods; any value that is a list is swept. One run's experience is generated once for a
//! whole block of settings, which learn from it side by side in lanes, on all cores. Finished units reach the disk at least every two
//! seconds, so that nothing finished is lost, and the tables are the same bits for any number of threads, lanes and shards.
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
//! run(&experiment, dir.path(), &Options::default(), &Stop::default(), &mut |_event| {})?;
//! let summary = summarise(dir.path(), None)?;
//! assert_eq!(summary.methods[0].settings.len(), 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | concept | where |
//! |---|---|
//! | experiment files as written | `experiment_file`, `one_or_list` |
//! | the JSON Schema of experiment files | `schema` |
//! | experiments as understood: scenarios, methods, grids of settings, blocks | `experiment` |
//! | the catalogue from which learners are composed | `learners` |
//! | problem files | the crate `emphatic-problems` |
//! | behaviours as written; saved learners, whose policies may act | `behaviour_file`, [`saved_learner`] |
//! | sources of experience | `source` |
//! | experience of a simulator, to be looked at | `simulated` |
//! | what is recorded: the objective and other measures | `measure` |
//! | a unit: one stream teaches a block of settings, which are recorded | `unit` |
//! | how it is run: threads, shards, lanes; asking it to stop | `options`, `stop` |
//! | running it: threads, fresh runs, progress | `engine`, `merge` |
//! | the directory of results | [`store`], [`table`] |
//! | results | `runs`, `summary`, [`statistics`]; pictures of them in `plot` |

pub mod atomic_file;
mod behaviour_file;
mod collisions;
mod engine;
mod estimate;
mod experiment;
mod experiment_file;
mod features_file;
mod learners;
mod measure;
mod merge;
mod one_or_list;
mod options;
mod plot;
mod runs;
pub mod saved_learner;
mod schema;
mod settings_table;
mod simulated;
mod source;
pub mod statistics;
mod stop;
pub mod store;
mod summary;
pub mod table;
mod unevenness;
mod unit;
mod workload;

pub use emphatic_problems::{FileError, ReadError};
pub use engine::{Ending, Event, Progress, Report, RunError, run};
pub use experiment::{Cell, Experiment, FindExternal, Length, Method, TooManyUnits};
pub use experiment_file::Select;
pub use merge::{Merged, merge};
pub use options::{LaneCount, Options, Shard};
pub use plot::{Plot, PlotError, PlotKind, PlotOptions, plot};
pub use runs::{Run, read_runs};
pub use schema::schema;
pub use simulated::{Recorded, Simulated, SimulatedArguments};
pub use source::{
    Actions, ExternalEnvironment, ExternalError, ExternalOutcome, Interface, Session, SourceError,
};
pub use stop::Stop;
pub use summary::{
    Diverged, FixedPoint, FreshSummary, MethodSummary, MethodWithoutBest, Point, SettingSummary, Statistics,
    Summary, SummaryOptions, summarise, summarise_as,
};
pub use unit::UnitError;
pub use workload::workload;
