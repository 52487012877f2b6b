//! Saved learners: safetensors files with the settings in the metadata.
//!
//! The tensors are the learner's numbers by its own names, and `gamma`, the discount into the next step.

use crate::error::{OrRaise, of_system};
use crate::learner::Learner as PyLearner;
use crate::memory;
use crate::problem::Problem;
use crate::safetensors_format_1 as format_1;
use crate::settings::Settings;
use emphatic::{Learner, Numbers, SavedState, Tensors};
use emphatic_lab::atomic_file::overwrite;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use safetensors::tensor::{Dtype, Metadata, TensorInfo};
use serde_json::{Value as Json, json};
use std::collections::HashMap;
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

const FORMAT: &str = "emphatic learner 2";

/// No header is longer.
const MOST_HEADER: u64 = 100_000_000;

/// How many bytes the tensors may differ from what the settings say.
const SLACK: f64 = 65536.0;

/// The name and the text of a problem file.
type NameAndText = (String, String);

/// A state with the header of its file.
pub(crate) struct StateFile {
    state: Tensors,
    header: Vec<u8>,
}

impl StateFile {
    /// Adds γ of the next step and metadata to a state.
    pub(crate) fn new(mut state: Tensors, gamma: f64, metadata: Vec<(&str, String)>) -> PyResult<Self> {
        state.insert("gamma", Numbers::Real(vec![gamma]));
        let metadata = metadata.into_iter().map(|(name, text)| (name.to_owned(), text)).collect();
        let header = header(&state, metadata).map_err(PyValueError::new_err)?;
        Ok(Self { state, header })
    }

    /// Adds the metadata of a file to a state.
    pub(crate) fn file(
        state: Tensors,
        gamma: f64,
        settings: &Settings,
        problems: &[Py<Problem>],
    ) -> PyResult<Self> {
        let files = problems.iter().map(|problem| &problem.get().file);
        let problems: Vec<_> = files.map(|file| (&file.name, &file.text)).collect();
        let metadata = [
            ("format", FORMAT.to_owned()),
            ("settings", settings.json()?),
            ("problems", json!(problems).to_string()),
        ];
        Self::new(state, gamma, metadata.into())
    }

    fn len(&self) -> usize {
        self.header.len() + self.state.iter().map(|(_, numbers)| 8 * numbers.len()).sum::<usize>()
    }

    fn write_to(&self, out: &mut dyn Write) -> std::io::Result<()> {
        out.write_all(&self.header)?;
        for (_, numbers) in in_order(&self.state) {
            match numbers {
                Numbers::Real(numbers) => numbers.iter().try_for_each(|x| out.write_all(&x.to_le_bytes()))?,
                Numbers::Whole(numbers) => {
                    numbers.iter().try_for_each(|x| out.write_all(&x.to_le_bytes()))?
                }
            }
        }
        Ok(())
    }

    pub(crate) fn write(&self, path: &Path) -> PyResult<()> {
        overwrite(path, |out| self.write_to(out)).map_err(failed(path))
    }

    pub(crate) fn bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        PyBytes::new_with(py, self.len(), |mut out| Ok(self.write_to(&mut out)?))
    }
}

/// The tensors in the order of the safetensors crate: by type, then by name.
fn in_order(state: &Tensors) -> impl Iterator<Item = (&str, &Numbers)> {
    let of_kind =
        |whole: bool| state.iter().filter(move |(_, all)| matches!(all, Numbers::Whole(_)) == whole);
    of_kind(true).chain(of_kind(false))
}

/// Writes the header of a file: its length, the metadata, and where each tensor is.
fn header(state: &Tensors, metadata: HashMap<String, String>) -> Result<Vec<u8>, String> {
    let mut end = 0;
    let info = |(name, numbers): (&str, &Numbers)| {
        let (start, count) = (end, numbers.len());
        end += 8 * count;
        let dtype = if let Numbers::Real(_) = numbers { Dtype::F64 } else { Dtype::U64 };
        (name.to_owned(), TensorInfo { dtype, shape: vec![count], data_offsets: (start, end) })
    };
    let infos = in_order(state).map(info).collect();
    let metadata = Metadata::new(Some(metadata), infos).map_err(|error| error.to_string())?;
    let mut entries = serde_json::to_value(&metadata).map_err(|error| error.to_string())?;
    // The crate writes the metadata in random order, but equal learners must be equal bytes.
    if let Some(Json::Object(metadata)) = entries.get_mut("__metadata__") {
        metadata.sort_keys();
    }
    let mut text = entries.to_string().into_bytes();
    text.resize(text.len().next_multiple_of(8), b' ');
    Ok([&(text.len() as u64).to_le_bytes(), &text[..]].concat())
}

/// A saved learner that was read from a file.
#[pyclass(frozen, module = "emphatic._native")]
pub(crate) struct SavedLearner {
    settings: Settings,
    /// The name and the text of each problem.
    #[pyo3(get)]
    problems: Vec<NameAndText>,
    /// The whole file.
    bytes: Py<PyBytes>,
}

#[pymethods]
impl SavedLearner {
    /// Reads a file. One that is larger or smaller than its settings say is not read to its end.
    #[new]
    fn new(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let failed = failed(&path);
        let wrong = |why: String| {
            PyValueError::new_err(format!("{}: this is not a saved learner: {why}", path.display()))
        };
        let mut file = File::open(&path).map_err(&failed)?;
        let header = py.detach(|| read_header(&mut file)).map_err(&failed)?;
        let header_bytes = memory::PARSED_JSON * header.len() as f64;
        memory::check(header_bytes, || format!("{}: its header", path.display()))?;
        let metadata = parsed_header(&header).map_err(wrong)?;
        let (settings, problems) = contents(&metadata).map_err(wrong)?;
        check_length(&settings, metadata.data_len()).map_err(wrong)?;
        memory::check(metadata.data_len() as f64, || format!("{}: its tensors", path.display()))?;
        let bytes = PyBytes::new_with(py, header.len() + metadata.data_len(), |bytes| {
            let (head, data) = bytes.split_at_mut(header.len());
            head.copy_from_slice(&header);
            py.detach(|| file.read_exact(data)).map_err(|error| match error.kind() {
                std::io::ErrorKind::UnexpectedEof => wrong("it ends too early".to_owned()),
                _ => failed(error),
            })
        })?;
        match file.read(&mut [0]).map_err(&failed)? {
            0 => Ok(Self { settings, problems, bytes: bytes.unbind() }),
            _ => Err(wrong("it goes on after its tensors".to_owned())),
        }
    }

    /// The name of the learner's class.
    #[getter]
    fn class_name(&self) -> &str {
        &self.settings.class
    }

    /// The name of the rule by which the actor learns.
    #[getter]
    fn rule(&self) -> &'static str {
        self.settings.rule.name()
    }

    /// The name of the class of an emphasis that is written in Python; `None` if it is not.
    #[getter]
    fn python_emphasis(&self) -> Option<String> {
        let emphasis = &self.settings.emphasis;
        emphasis.is_python().then(|| emphasis.class.clone().unwrap_or_default())
    }

    /// Composes the learner, which goes on from its saved state. `python_emphasis` is the class of an emphasis that is written in
    /// Python.
    fn restored(
        &self,
        py: Python<'_>,
        problems: Vec<Py<Problem>>,
        python_emphasis: Option<Bound<'_, PyAny>>,
    ) -> PyResult<PyLearner> {
        let emphasis = &self.settings.emphasis;
        let restored = |class: Bound<'_, PyAny>| -> PyResult<Py<PyAny>> {
            let features = emphasis.features.as_ref().map(|features| features.object(py)).transpose()?;
            Ok(class.call_method1("_restored", (emphasis.numbers.clone(), features))?.unbind())
        };
        let python_emphasis = python_emphasis.map(restored).transpose()?;
        PyLearner::restored(py, self.settings.clone(), problems, self.bytes.as_bytes(py), python_emphasis)
    }
}

/// Refuses tensors that have more or fewer bytes than the settings say.
fn check_length(settings: &Settings, len: usize) -> Result<(), String> {
    let bytes = settings.bytes(1);
    // The settings do not say how much an emphasis in Python holds.
    let most = if settings.emphasis.is_python() { f64::INFINITY } else { bytes.state };
    if (bytes.least_state - SLACK..=most + SLACK).contains(&(len as f64)) {
        return Ok(());
    }
    let right = format!("with its settings it would have {} to {}", bytes.least_state, bytes.state);
    Err(format!("its tensors have {len} bytes; {right}"))
}

/// Reads the header of a file, with its length; of a file in another format, no more than that.
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

/// Parses the header that bytes begin with.
fn parsed_header(bytes: &[u8]) -> Result<Metadata, String> {
    let (len, rest) = bytes.split_first_chunk::<8>().ok_or("it has no header")?;
    let len = usize::try_from(u64::from_le_bytes(*len)).unwrap_or(usize::MAX);
    let header = rest.get(..len).ok_or("its header is cut, or too long")?;
    serde_json::from_slice(header).map_err(|error| error.to_string())
}

/// Returns an entry of the metadata.
fn entry<'a>(metadata: &'a Metadata, name: &str) -> Result<&'a str, String> {
    let entries = metadata.metadata().as_ref().ok_or("it has no settings")?;
    entries.get(name).map(String::as_str).ok_or(format!("its metadata has no `{name}`"))
}

fn contents(metadata: &Metadata) -> Result<(Settings, Vec<NameAndText>), String> {
    let settings = entry(metadata, "settings");
    let settings = match entry(metadata, "format")? {
        FORMAT => parsed(settings?)?,
        format_1::FORMAT => format_1::settings(settings?)?,
        other => return Err(format!("its format is `{other}`; this version reads `{FORMAT}`")),
    };
    Ok((settings, parsed(entry(metadata, "problems")?)?))
}

/// Restores a learner to the state in these bytes. The learner checks the name, the type and the length of every tensor and changes
/// nothing if one does not fit. Returns γ of the next step.
pub(crate) fn read_state(bytes: &[u8], learner: &mut dyn Learner<f64>) -> PyResult<f64> {
    let wrong = |why: String| PyValueError::new_err(format!("this is not the state of a learner: {why}"));
    let metadata = parsed_header(bytes).map_err(wrong)?;
    let data = bytes.len().checked_sub(metadata.data_len()).map(|start| &bytes[start..]);
    let data = data.ok_or_else(|| wrong("it ends too early".to_owned()))?;
    let mut state = Tensors::default();
    for (name, info) in metadata.tensors() {
        let words = data[info.data_offsets.0..info.data_offsets.1].as_chunks().0.iter();
        let numbers = match info.dtype {
            Dtype::F64 => Numbers::Real(words.map(|word| f64::from_le_bytes(*word)).collect()),
            Dtype::U64 => Numbers::Whole(words.map(|word| u64::from_le_bytes(*word)).collect()),
            other => return Err(wrong(format!("{name} is {other:?}; it must be F64 or U64"))),
        };
        state.insert(name, numbers);
    }
    if entry(&metadata, "format") == Ok(format_1::FORMAT) {
        let settings = entry(&metadata, "settings").and_then(format_1::settings).map_err(wrong)?;
        state = format_1::state(&settings, state).map_err(wrong)?;
    }
    let gamma = match state.remove("gamma") {
        Some(Numbers::Real(gamma)) if gamma.len() == 1 => gamma[0],
        _ => return Err(wrong("it has no number `gamma`".to_owned())),
    };
    if !(0.0..=1.0).contains(&gamma) {
        return Err(wrong(format!("gamma is {gamma}; it must lie between 0 and 1")));
    }
    learner.restore(&SavedState::without_settings(state)).or_raise()?;
    Ok(gamma)
}

/// Writes a file whole or not at all. A link stays one, and what may be done with the file stays as it was.
#[pyfunction]
pub(crate) fn write_file(path: PathBuf, bytes: &[u8]) -> PyResult<()> {
    overwrite(&path, |out| out.write_all(bytes)).map_err(failed(&path))
}

/// For `map_err`: an error of the system about this file.
fn failed(path: &Path) -> impl Fn(std::io::Error) -> PyErr {
    move |error| of_system(&error, format!("{}: {error}", path.display()))
}

pub(crate) fn parsed<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}
