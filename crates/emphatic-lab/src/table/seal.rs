//! The seal of a table: a checksum of the footer, within the footer. Row groups have the same kind of checksum.

use bytes::{Buf, Bytes};
use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::ops::Range;

/// What a Parquet file begins and ends with.
pub(super) const MAGIC: &[u8] = b"PAR1";
/// The key of the seal in the footer's metadata.
pub(super) const KEY: &str = "emphatic.checksum";
/// What the value of the seal begins with: the footer is searched for it.
const PREFIX: &str = "footer:";
/// Hexadecimal digits of a checksum.
const DIGITS: usize = 16;

/// A file, or bytes in memory.
pub(super) trait Input: Read + Seek + Send {}
impl<T: Read + Seek + Send> Input for T {}

pub(super) fn read_range(input: &mut (impl Input + ?Sized), range: Range<u64>) -> io::Result<Bytes> {
    let length = range.end.saturating_sub(range.start);
    input.seek(SeekFrom::Start(range.start))?;
    let mut bytes = Vec::new();
    input.take(length).read_to_end(&mut bytes)?;
    if bytes.len() as u64 != length {
        return Err(ErrorKind::UnexpectedEof.into());
    }
    Ok(bytes.into())
}

/// A checksum in the manner of FNV-1a, but by words. Each step is one-to-one: a single changed word always changes the result.
pub(super) fn checksum(bytes: &[u8]) -> u64 {
    let mix = |sum: u64, word: [u8; 8]| {
        let sum = (sum ^ u64::from_le_bytes(word)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        sum ^ (sum >> 32)
    };
    let (words, rest) = bytes.as_chunks::<8>();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    let sum = words.iter().fold(bytes.len() as u64, |sum, &word| mix(sum, word));
    mix(sum, last)
}

/// The footer of a Parquet file.
pub(super) struct Footer {
    /// Where it begins.
    pub(super) start: u64,
    pub(super) bytes: Bytes,
}

impl Footer {
    pub(super) fn read(input: &mut (impl Input + ?Sized)) -> io::Result<Footer> {
        let length = input.seek(SeekFrom::End(0))?;
        if length < 12 || read_range(input, 0..4)? != MAGIC {
            return Err(invalid("it does not begin as a Parquet file"));
        }
        let mut tail = read_range(input, length - 8..length)?;
        let size = u64::from(tail.get_u32_le());
        if tail != MAGIC || size > length - 12 {
            return Err(invalid("its end is missing"));
        }
        let start = length - 8 - size;
        Ok(Footer { start, bytes: read_range(input, start..length - 8)? })
    }

    /// An error if the footer does not have the checksum it was written with.
    pub(super) fn check_seal(&self) -> io::Result<()> {
        let digits = digits(&self.bytes)?;
        let mut unsealed = self.bytes.to_vec();
        unsealed[digits.clone()].fill(b'0');
        if format!("{:016x}", checksum(&unsealed)).as_bytes() != &self.bytes[digits] {
            return Err(invalid("its footer does not have the checksum it was written with"));
        }
        Ok(())
    }
}

fn invalid(what: impl Into<String>) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, what.into())
}

/// The seal before the checksum is known: zeros in its place.
pub(super) fn blank() -> String {
    format!("{PREFIX}{:0DIGITS$}", 0)
}

/// Where the digits of the seal are in the footer.
fn digits(footer: &[u8]) -> io::Result<Range<usize>> {
    let last = footer.windows(PREFIX.len()).rposition(|window| window == PREFIX.as_bytes());
    last.map(|at| at + PREFIX.len()..at + PREFIX.len() + DIGITS)
        .filter(|digits| digits.end <= footer.len())
        .ok_or_else(|| invalid(format!("its footer has no `{KEY}`")))
}

/// Replaces the [`blank`] seal of a file by the checksum of its footer.
pub(super) fn seal(file: &mut File) -> io::Result<()> {
    let Footer { start, bytes } = Footer::read(file)?;
    let mut footer = Vec::from(bytes);
    order_by_type(&mut footer);
    let digits = digits(&footer)?;
    let sum = format!("{:016x}", checksum(&footer));
    footer[digits].copy_from_slice(sum.as_bytes());
    file.seek(SeekFrom::Start(start))?;
    file.write_all(&footer)
}

/// Makes a footer say of every column that its statistics are in the order of its type.
///
/// The Parquet library says of doubles that they are in IEEE 754's total order, which without NaN is the same order; but readers
/// that do not know it, Polars until recently among them, refuse the whole file.
pub(crate) fn order_by_type(footer: &mut [u8]) {
    const BY_TYPE: u8 = 0x1C;
    const IN_TOTAL: u8 = 0x2C;
    // A footer ends with the orders, three bytes for each column, and a zero.
    let Some((_, orders)) = footer.split_last_mut() else { return };
    for order in orders.rchunks_exact_mut(3) {
        match order {
            [which @ (BY_TYPE | IN_TOTAL), 0, 0] => *which = BY_TYPE,
            _ => return,
        }
    }
}
