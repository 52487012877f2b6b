//! Decision problems as files.
//!
//! ```
//! use emphatic_problems::ProblemFile;
//!
//! let text = r#"
//!     states = ["near", "far"]
//!     actions = ["stay", "leave"]
//!     start = "near"
//!     gamma = 0.9
//!     behaviour = { stay = 0.5, leave = 0.5 }
//!     transitions = [
//!       { from = "near", action = "stay", to = "near", reward = 0.1 },
//!       { from = "near", action = "leave", to = "far" },
//!       { from = "far", action = "stay", reward = 1, end = true },
//!       { from = "far", action = "leave", end = true },
//!     ]
//! "#;
//! let problem = ProblemFile::parse(text, "two-states.toml")?;
//! assert_eq!(problem.world.states().len(), 2);
//! # Ok::<(), emphatic_problems::FileError>(())
//! ```
//!
//! | concept | where |
//! |---|---|
//! | a problem file as it is written, and what it means | [`problem_file`] |
//! | regular problems that need no long lists: a grid, a chain, a random problem | `pattern` |
//! | the same in JSON | `json` |
//! | problems that come with the program | [`shipped`] |
//! | a problem with its behaviour and interest | [`World`] |
//! | what is wrong with a file, and where | [`FileError`] |
//! | what of the file a message shows | `excerpt` |
//! | values as they are written | [`values`] |

#![forbid(unsafe_code)]

mod excerpt;
mod file_error;
mod json;
mod names;
mod pattern;
pub mod problem_file;
mod read;
mod schema;
pub mod shipped;
pub mod values;
mod world;

pub use file_error::{FileError, Mistake, ValueError, suggest};
pub use problem_file::{ProblemFile, Target, schema};
pub use read::{ReadError, read_text};
pub use schema::schema_of;
pub use shipped::{SHIPPED, Shipped};
pub use values::{Behaviour, Expected, Interest, Number, Share, Whole};
pub use world::World;
