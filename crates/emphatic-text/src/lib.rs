//! Text for people.
//!
//! What comes from a file or is a path may hold anything: characters that move the cursor, colour or retitle a terminal, reverse the
//! direction of reading, or run on for megabytes. Everything of that kind goes through here before it is shown.
//!
//! | for | use |
//! |---|---|
//! | a name or a value within a line | [`shortened`] |
//! | a message in which names stand | [`message`] |
//! | a page of several lines | [`printable_lines`] |
//! | a piece of a file, with places marked in it | [`printable_same_length`] |
//! | rows and columns | [`table`] |
//! | CSV | [`csv`] |
//! | JSON | [`json_escaped`] |

pub mod csv;
mod message;
mod printable;
mod table;

pub use message::message;
pub use printable::{
    is_unprintable, json_escaped, printable, printable_lines, printable_same_length, shortened,
};
pub use table::{LONGEST_CELL, table};
