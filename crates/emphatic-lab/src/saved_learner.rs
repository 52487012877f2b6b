//! Saved learners: the safetensors files that `agent.save` writes in Python.
//!
//! The tensors are the learner's numbers by its own names; the metadata has its format and its settings as JSON. A file is never trusted.

use emphatic::{Numbers, Tensors};
use safetensors::tensor::{Dtype, Metadata};
use std::cmp::Ordering;
use std::io::{self, Read};

/// The format of the files.
pub const FORMAT: &str = "emphatic learner 2";

/// No header is longer.
const MOST_HEADER: u64 = 100_000_000;

/// Reads the header of a file, with its length; of a file in another format, no more than that.
pub fn read_header(file: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut header = Vec::new();
    file.take(8).read_to_end(&mut header)?;
    if let Ok(len) = header[..].try_into().map(u64::from_le_bytes)
        && len <= MOST_HEADER
    {
        file.take(len).read_to_end(&mut header)?;
    }
    Ok(header)
}

/// A header that makes sense.
#[derive(Debug)]
pub struct Header(Metadata);

impl Header {
    /// Parses the header that bytes begin with.
    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        let (len, rest) = bytes.split_first_chunk::<8>().ok_or("it has no header")?;
        let len = usize::try_from(u64::from_le_bytes(*len)).unwrap_or(usize::MAX);
        let header = rest.get(..len).ok_or("its header is cut, or too long")?;
        serde_json::from_slice(header).map(Self).map_err(|error| error.to_string())
    }

    /// Returns an entry of the metadata.
    pub fn entry(&self, name: &str) -> Result<&str, String> {
        let entries = self.0.metadata().as_ref().ok_or("it has no settings")?;
        entries.get(name).map(String::as_str).ok_or(format!("its metadata has no `{name}`"))
    }

    /// The number of bytes of all tensors.
    pub fn data_len(&self) -> usize {
        self.0.data_len()
    }

    /// Returns an error if a file of these bytes, with its header, is cut off or goes on after its tensors.
    pub fn check_len(&self, bytes: &[u8]) -> Result<(), String> {
        let header = bytes.first_chunk().map_or(0, |len| u64::from_le_bytes(*len));
        let right = header.saturating_add(8).saturating_add(self.data_len() as u64);
        match (bytes.len() as u64).cmp(&right) {
            Ordering::Less => Err("it ends too early".to_owned()),
            Ordering::Equal => Ok(()),
            Ordering::Greater => Err("it goes on after its tensors".to_owned()),
        }
    }

    /// Returns the tensors of a file, of which these are all bytes.
    pub fn tensors(&self, bytes: &[u8]) -> Result<Tensors, String> {
        let data = bytes.len().checked_sub(self.data_len()).map(|start| &bytes[start..]);
        let data = data.ok_or("it ends too early")?;
        let mut tensors = Tensors::default();
        for (name, info) in self.0.tensors() {
            let words = data[info.data_offsets.0..info.data_offsets.1].as_chunks().0.iter();
            let numbers = match info.dtype {
                Dtype::F64 => Numbers::Real(words.map(|word| f64::from_le_bytes(*word)).collect()),
                Dtype::U64 => Numbers::Whole(words.map(|word| u64::from_le_bytes(*word)).collect()),
                other => return Err(format!("{name} is {other:?}; it must be F64 or U64")),
            };
            tensors.insert(name, numbers);
        }
        Ok(tensors)
    }
}
