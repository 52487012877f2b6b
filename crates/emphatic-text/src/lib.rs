//! Text that is safe to show.
//!
//! A path or a name from a file may hold anything: characters that move the cursor, colour or retitle a terminal or reverse the
//! direction of reading, or megabytes of text. All such text passes through here before it is shown.
//!
//! | for | use |
//! |---|---|
//! | a name or a value within a line | [`shortened`] |
//! | a message that contains names | [`message`] |
//! | a page of several lines | [`printable_lines`] |
//! | a piece of a file, with places marked in it | [`printable_same_length`] |
//! | a number to the last digit | [`exact_number`] |
//! | a count or a time, rounded | [`short`], [`duration`] |
//! | rows and columns | [`table`] |
//! | CSV | [`csv`] |
//! | JSON | [`json_escaped`] |

pub mod csv;
mod exact_number;
mod message;
mod printable;
mod rounded;
mod table;

pub use exact_number::exact_number;
pub use message::message;
pub use printable::{
    is_unprintable, json_escaped, printable, printable_lines, printable_same_length, shortened,
};
pub use rounded::{duration, short};
pub use table::{LONGEST_CELL, table};
