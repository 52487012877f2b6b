//! Saved learners: safetensors files with the settings in the metadata.
//!
//! The tensors are the learner's numbers by its own names, and `gamma`, the discount into the next step.

use crate::error::failed;
use crate::learner::BoxedLearner;
use crate::memory;
use crate::problem::Problem;
use crate::safetensors_format_1 as format_1;
use crate::settings::Settings;
use emphatic::{Numbers, SavedState, Tensors};
use emphatic_lab::atomic_file::overwrite;
use emphatic_lab::saved_learner::{FORMAT, Header, read_header};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use safetensors::tensor::{Dtype, TensorInfo};
use serde_json::json;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

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
    pub(crate) fn new(mut state: Tensors, gamma: f64, metadata: &BTreeMap<&str, String>) -> Self {
        state.insert("gamma", Numbers::Real(vec![gamma]));
        let header = header(&state, metadata);
        Self { state, header }
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
        Ok(Self::new(state, gamma, &metadata.into()))
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
        let tensors: usize = self.state.iter().map(|(_, numbers)| 8 * numbers.len()).sum();
        PyBytes::new_with(py, self.header.len() + tensors, |mut out| Ok(self.write_to(&mut out)?))
    }
}

/// The tensors in the order of the safetensors crate: by type, then by name.
fn in_order(state: &Tensors) -> impl Iterator<Item = (&str, &Numbers)> {
    let of_kind =
        |whole: bool| state.iter().filter(move |(_, all)| matches!(all, Numbers::Whole(_)) == whole);
    of_kind(true).chain(of_kind(false))
}

/// Writes the header of a file: its length, the metadata, and where each tensor is. (The crate would write the metadata in random
/// order, but equal learners must be equal bytes.)
fn header(state: &Tensors, metadata: &BTreeMap<&str, String>) -> Vec<u8> {
    let mut entries = json!({ "__metadata__": metadata });
    let mut end = 0;
    for (name, numbers) in in_order(state) {
        let (start, count) = (end, numbers.len());
        end += 8 * count;
        let dtype = if let Numbers::Real(_) = numbers { Dtype::F64 } else { Dtype::U64 };
        entries[name] = json!(TensorInfo { dtype, shape: vec![count], data_offsets: (start, end) });
    }
    let mut text = entries.to_string().into_bytes();
    text.resize(text.len().next_multiple_of(8), b' ');
    [&(text.len() as u64).to_le_bytes(), &text[..]].concat()
}

/// A saved learner that was read from a file, as `Learner._restored` takes it.
#[derive(IntoPyObject)]
pub(crate) struct SavedLearner<'py> {
    class_name: String,
    rule: String,
    /// The class of an emphasis that is written in Python.
    python_emphasis: Option<String>,
    /// The settings as JSON.
    settings: String,
    problems: Vec<NameAndText>,
    /// The whole file.
    state: Bound<'py, PyBytes>,
}

/// Reads a saved learner. A file that is larger or smaller than its settings say is not read to its end.
#[pyfunction]
pub(crate) fn read_learner(py: Python<'_>, path: PathBuf) -> PyResult<SavedLearner<'_>> {
    let failed = failed(&path);
    let wrong = |why: String| {
        PyValueError::new_err(format!("{}: this is not a saved learner: {why}", path.display()))
    };
    let mut file = File::open(&path).map_err(&failed)?;
    let header = py.detach(|| read_header(&mut file)).map_err(&failed)?;
    let header_bytes = memory::PARSED_JSON * header.len() as f64;
    memory::check(header_bytes, || format!("{}: its header", path.display()))?;
    let metadata = Header::parse(&header).map_err(wrong)?;
    let (settings, problems) = contents(&metadata).map_err(wrong)?;
    check_length(&settings, metadata.data_len()).map_err(wrong)?;
    memory::check(metadata.data_len() as f64, || format!("{}: its tensors", path.display()))?;
    let state = PyBytes::new_with(py, header.len() + metadata.data_len(), |bytes| {
        let (head, data) = bytes.split_at_mut(header.len());
        head.copy_from_slice(&header);
        py.detach(|| file.read_exact(data)).map_err(|error| match error.kind() {
            std::io::ErrorKind::UnexpectedEof => wrong("it ends too early".to_owned()),
            _ => failed(error),
        })
    })?;
    match file.read(&mut [0]).map_err(&failed)? {
        0 => Ok(SavedLearner {
            rule: json!(settings.rule).as_str().unwrap_or_default().to_owned(),
            python_emphasis: settings.emphasis.python_class(),
            settings: settings.json()?,
            class_name: settings.class,
            problems,
            state,
        }),
        _ => Err(wrong("it goes on after its tensors".to_owned())),
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

fn contents(metadata: &Header) -> Result<(Settings, Vec<NameAndText>), String> {
    let settings = metadata.entry("settings");
    let settings = match metadata.entry("format")? {
        FORMAT => parsed(settings?)?,
        format_1::FORMAT => format_1::settings(settings?)?,
        other => return Err(format!("its format is `{other}`; this version reads `{FORMAT}`")),
    };
    Ok((settings, parsed(metadata.entry("problems")?)?))
}

/// Restores a learner to the state in these bytes. The learner checks the name, the type and the length of every tensor and changes
/// nothing if one does not fit. Returns γ of the next step.
pub(crate) fn read_state(bytes: &[u8], learner: &mut BoxedLearner<f64>) -> PyResult<f64> {
    let wrong = |why: String| PyValueError::new_err(format!("this is not the state of a learner: {why}"));
    let header = Header::parse(bytes).map_err(wrong)?;
    let mut state = header.tensors(bytes).map_err(wrong)?;
    if header.entry("format") == Ok(format_1::FORMAT) {
        let settings = header.entry("settings").and_then(format_1::settings).map_err(wrong)?;
        state = format_1::state(&settings, state).map_err(wrong)?;
    }
    let gamma = match state.remove("gamma") {
        Some(Numbers::Real(gamma)) if gamma.len() == 1 => gamma[0],
        _ => return Err(wrong("it has no number `gamma`".to_owned())),
    };
    if !(0.0..=1.0).contains(&gamma) {
        return Err(wrong(format!("gamma is {gamma}; it must lie between 0 and 1")));
    }
    learner.call(|learner| learner.restore(&SavedState::without_settings(state)))?;
    Ok(gamma)
}

/// Writes a file whole or not at all. A link stays one, and what may be done with the file stays as it was.
#[pyfunction]
pub(crate) fn write_file(path: PathBuf, bytes: &[u8]) -> PyResult<()> {
    overwrite(&path, |out| out.write_all(bytes)).map_err(failed(&path))
}

pub(crate) fn parsed<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}
