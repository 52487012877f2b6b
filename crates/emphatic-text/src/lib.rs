//! Text for people.
//!
//! What comes from a file or is a path may hold anything: characters that move the cursor, colour or retitle a terminal, reverse the
//! direction of reading, or run on for megabytes. Everything of that kind goes through here before it is shown.
//!
//! | for | use |
//! |---|---|
//! | a name or a value within a line | [`shortened`] |
//! | a message in which names stand | [`message`] |
//! | a page of several lines | [`harmless_lines`] |
//! | a piece of a file, with places marked in it | [`same_length`] |
//! | rows and columns | [`table`] |
//! | CSV | [`csv`] |
//! | JSON | [`json_escaped`] |

pub mod csv;
mod harmless;
mod message;
mod table;

pub use harmless::{harmless, harmless_lines, is_harmful, json_escaped, same_length, shortened};
pub use message::message;
pub use table::{LONGEST, table};
