//! Learners on disk: safetensors, with the settings in the metadata.
//!
//! The state of a learner is a tree of values. Its numbers become tensors, named by where they are in the tree; what is left, the form of the tree, is
//! kept as JSON beside the settings.

use crate::error::of_system;
use crate::form::{Node, Tensor, Writable, put_together, take_apart};
use crate::memory;
use crate::settings::{Settings, TEXT_IN_MEMORY};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use safetensors::tensor::{Metadata, TensorInfo};
use serde_json::{Value as Json, json};
use std::collections::HashMap;
use std::fs::File;
use std::io::{BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

const FORMAT: &str = "emphatic learner 1";

/// A header is not longer.
const MOST_HEADER: u64 = 100_000_000;

/// The form of any learner is not longer, and a file is not farther from what its settings say.
const MOST_FORM: usize = 1 << 16;

/// A problem that an exact part knows: its name and its text.
pub(crate) type NameAndText = (String, String);

/// A state, ready to be written.
pub(crate) struct Saved {
    state: Box<dyn Writable>,
    header: Vec<u8>,
    tensors: Vec<Tensor>,
}

impl Saved {
    /// With more entries of the metadata than the form.
    pub(crate) fn new(state: Box<dyn Writable>, more: Vec<(&str, String)>) -> PyResult<Self> {
        let mut tensors = Vec::new();
        let shape = state.walk(None)?;
        let form = take_apart(&shape, "", &[], &mut tensors).to_string();
        let mut metadata: HashMap<String, String> = HashMap::from([("form".to_owned(), form)]);
        metadata.extend(more.into_iter().map(|(name, text)| (name.to_owned(), text)));
        // The order of the library.
        tensors.sort_by(|a, b| b.dtype.cmp(&a.dtype).then_with(|| a.name.cmp(&b.name)));
        let header = header(&tensors, metadata).map_err(PyValueError::new_err)?;
        Ok(Self { state, header, tensors })
    }

    /// With all that a file has.
    pub(crate) fn file(
        state: Box<dyn Writable>,
        settings: &Settings,
        problems: &[NameAndText],
    ) -> PyResult<Self> {
        let more = [
            ("format", FORMAT.to_owned()),
            ("settings", settings.json()?),
            ("problems", json!(problems).to_string()),
        ];
        Self::new(state, more.into())
    }

    fn len(&self) -> usize {
        self.header.len() + self.tensors.iter().map(|tensor| 8 * tensor.count).sum::<usize>()
    }

    fn write_to(&self, out: &mut dyn Write) -> std::io::Result<()> {
        out.write_all(&self.header)?;
        for tensor in &self.tensors {
            self.state.walk(Some((&tensor.way, &mut *out)))?;
        }
        Ok(())
    }

    pub(crate) fn write(&self, path: &Path) -> PyResult<()> {
        write_whole(path, |out| self.write_to(out))
    }

    pub(crate) fn bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        PyBytes::new_with(py, self.len(), |mut out| Ok(self.write_to(&mut out)?))
    }
}

/// The header of a file: its length, the metadata, and where each tensor is.
fn header(tensors: &[Tensor], metadata: HashMap<String, String>) -> Result<Vec<u8>, String> {
    let mut end = 0;
    let info = |tensor: &Tensor| {
        let start = end;
        end += 8 * tensor.count;
        let info = TensorInfo { dtype: tensor.dtype, shape: vec![tensor.count], data_offsets: (start, end) };
        (tensor.name.clone(), info)
    };
    let infos = tensors.iter().map(info).collect();
    let metadata = Metadata::new(Some(metadata), infos).map_err(|error| error.to_string())?;
    let mut entries = serde_json::to_value(&metadata).map_err(|error| error.to_string())?;
    // The library writes the metadata in an order that is another every time. The same learner shall be the same bytes.
    if let Some(Json::Object(metadata)) = entries.get_mut("__metadata__") {
        metadata.sort_keys();
    }
    let mut text = entries.to_string().into_bytes();
    text.resize(text.len().next_multiple_of(8), b' ');
    Ok([&(text.len() as u64).to_le_bytes(), &text[..]].concat())
}

/// Reads a file: the settings as JSON, the problems, and all of its bytes, from which the state can be [read](read_state). A file that is larger
/// or smaller than what its settings say is not read to the end.
pub(crate) fn read_file<'py>(
    py: Python<'py>,
    path: &Path,
) -> PyResult<(String, Vec<NameAndText>, Bound<'py, PyBytes>)> {
    let failed = |error: std::io::Error| of_system(&error, format!("{}: {error}", path.display()));
    let wrong = |why: String| {
        PyValueError::new_err(format!("{}: this is not a saved learner: {why}", path.display()))
    };
    let mut file = File::open(path).map_err(failed)?;
    let header = py.detach(|| read_header(&mut file)).map_err(failed)?;
    memory::ask(TEXT_IN_MEMORY * header.len() as f64, || format!("{}: its header", path.display()))?;
    let metadata = parsed_header(&header).map_err(wrong)?;
    let (settings, problems) = contents(&metadata).map_err(wrong)?;
    let size = settings.structure.size(1);
    let slack = MOST_FORM as f64;
    if !(size.least - slack..=size.state + slack).contains(&(metadata.data_len() as f64)) {
        let right = format!("with its settings it would have {} to {}", size.least, size.state);
        return Err(wrong(format!("its tensors have {} bytes; {right}", metadata.data_len())));
    }
    let bytes = PyBytes::new_with(py, header.len() + metadata.data_len(), |bytes| {
        let (head, data) = bytes.split_at_mut(header.len());
        head.copy_from_slice(&header);
        py.detach(|| file.read_exact(data)).map_err(|error| match error.kind() {
            std::io::ErrorKind::UnexpectedEof => wrong("it ends too early".to_owned()),
            _ => failed(error),
        })
    })?;
    match file.read(&mut [0]).map_err(failed)? {
        0 => Ok((settings.json()?, problems, bytes)),
        _ => Err(wrong("it goes on after its tensors".to_owned())),
    }
}

/// The header of a file, with its length; of a file that is none, no more than that.
fn read_header(file: &mut File) -> std::io::Result<Vec<u8>> {
    let mut header = Vec::new();
    file.take(8).read_to_end(&mut header)?;
    if let Ok(len) = header[..].try_into().map(u64::from_le_bytes)
        && len <= MOST_HEADER
    {
        file.take(len).read_to_end(&mut header)?;
    }
    Ok(header)
}

/// The header that bytes begin with.
fn parsed_header(bytes: &[u8]) -> Result<Metadata, String> {
    let (len, rest) = bytes.split_first_chunk::<8>().ok_or("it has no header")?;
    let len = usize::try_from(u64::from_le_bytes(*len)).unwrap_or(usize::MAX);
    let header = rest.get(..len).ok_or("its header is cut, or too long")?;
    serde_json::from_slice(header).map_err(|error| error.to_string())
}

/// An entry of the metadata.
fn entry<'a>(metadata: &'a Metadata, name: &str) -> Result<&'a str, String> {
    let entries = metadata.metadata().as_ref().ok_or("it has no settings")?;
    entries.get(name).map(String::as_str).ok_or(format!("its metadata has no `{name}`"))
}

fn contents(metadata: &Metadata) -> Result<(Settings, Vec<NameAndText>), String> {
    let format = entry(metadata, "format")?;
    if format != FORMAT {
        return Err(format!("its format is `{format}`; this version reads `{FORMAT}`"));
    }
    Ok((parsed(entry(metadata, "settings")?)?, parsed(entry(metadata, "problems")?)?))
}

/// Puts together the state that was written to these bytes, and hands it over.
pub(crate) fn read_state<T>(bytes: &[u8], read: impl FnOnce(Node) -> PyResult<T>) -> PyResult<T> {
    let wrong = |why: String| PyValueError::new_err(format!("this is not the state of a learner: {why}"));
    let metadata = parsed_header(bytes).map_err(wrong)?;
    // The rest of the bytes, unless there are too few.
    let data = bytes.len().checked_sub(metadata.data_len()).map(|start| &bytes[start..]);
    let data = data.ok_or_else(|| wrong("it ends too early".to_owned()))?;
    let tensors = metadata.tensors().into_iter();
    let tensors = tensors.map(|(name, info)| (name, (info, &data[info.data_offsets.0..info.data_offsets.1])));
    let form = entry(&metadata, "form").map_err(wrong)?;
    if form.len() > MOST_FORM {
        return Err(wrong(format!("its form has {} characters", form.len())));
    }
    let form = parsed(form).map_err(wrong)?;
    read(put_together(&form, &mut tensors.collect()).map_err(wrong)?)
}

/// Writes a file whole or not at all. A link stays one, and what may be done with the file stays as it was.
#[pyfunction]
pub(crate) fn write_file(path: PathBuf, bytes: &[u8]) -> PyResult<()> {
    write_whole(&path, |out| out.write_all(bytes))
}

fn write_whole(path: &Path, write: impl Fn(&mut dyn Write) -> std::io::Result<()>) -> PyResult<()> {
    let fill = |file: &File| {
        let mut out = BufWriter::new(file);
        write(&mut out)?;
        out.flush()
    };
    let written = || -> std::io::Result<()> {
        let known = match path.canonicalize() {
            Ok(known) if known.is_file() => known,
            Err(_) if !path.is_symlink() => path.to_owned(),
            // A device or a pipe, or a link that leads nowhere yet.
            _ => return fill(&File::create(path)?),
        };
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let new = known.with_file_name(format!(".{}.{number}.new", std::process::id()));
        let written = File::create_new(&new).and_then(|file| {
            fill(&file)?;
            if let Ok(metadata) = known.metadata() {
                file.set_permissions(metadata.permissions())?;
            }
            file.sync_all()?;
            std::fs::rename(&new, &known)
        });
        if written.is_err() {
            let _ = std::fs::remove_file(&new);
        }
        written
    };
    written().map_err(|error| of_system(&error, format!("{}: {error}", path.display())))
}

fn parsed<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}
