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
//! assert_eq!(problem.known.states().len(), 2);
//! # Ok::<(), emphatic_problems::FileError>(())
//! ```
//!
//! | concept | where |
//! |---|---|
//! | a problem file, from its text to the problem | `problem_file` |
//! | listed states, actions and transitions | `transitions` |
//! | regular problems that need no long lists | `pattern`: `grid`, `chain`, `random` |
//! | features of actor and critic | `features`; random ones in `random_binary` |
//! | behaviour and target | `policy`; a target that takes the shortest path to a state in `shortest_path` |
//! | the interest | `interest` |
//! | problems that come with the program | [`shipped`] |
//! | JSON, read as TOML | `json` |
//! | states and actions by name or number | `names` |
//! | a value and its place in the file | `located` |
//! | numbers, and values that are a scalar or a table | [`values`] |
//! | the JSON Schema of files | `schema` |
//! | what is wrong with a file, and where | [`FileError`], in `file_error`; the text it shows in `excerpt` |
//! | TOML's messages in plain words; the nearest right word | `toml_message`, `suggest` |

#![forbid(unsafe_code)]

mod excerpt;
mod features;
mod file_error;
mod interest;
mod json;
mod located;
mod names;
mod pattern;
mod policy;
mod problem_file;
mod random_binary;
mod schema;
pub mod shipped;
mod shortest_path;
mod suggest;
mod toml_message;
mod transitions;
pub mod values;

pub use file_error::{FileError, Mistake, ReadError, ValueError};
pub use interest::{Interest, InterestWord};
pub use names::{find_action, find_state};
pub use policy::{Behaviour, BehaviourWord, Share, Target, TargetEntry, TargetValue, softmax_weights};
pub use problem_file::{ProblemFile, read_text, schema};
pub use random_binary::DrawnFeatures;
pub use schema::schema_of;
pub use shipped::{SHIPPED, Shipped};
pub use suggest::suggest;
pub use values::{Expected, Number, Whole};
