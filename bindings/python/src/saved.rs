//! Learners on disk: safetensors, with the settings in the metadata.
//!
//! The state of a learner is a tree of values. Its numbers become tensors, named by where they are in the tree; what is left, the form of the tree, is
//! kept as JSON beside the settings.

use crate::error::of_system;
use crate::settings::Settings;
use ciborium::Value;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde_json::{Map, Value as Json, json};
use std::collections::HashMap;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const FORMAT: &str = "emphatic learner 1";

pub(crate) fn to_cbor(state: &Value) -> PyResult<Vec<u8>> {
    let mut bytes = Vec::new();
    let unwritten = |error| PyValueError::new_err(format!("the state could not be written: {error}"));
    ciborium::into_writer(state, &mut bytes).map_err(unwritten)?;
    Ok(bytes)
}

pub(crate) fn from_cbor(bytes: &[u8]) -> PyResult<Value> {
    ciborium::from_reader(bytes)
        .map_err(|error| PyValueError::new_err(format!("this is not the state of a learner: {error}")))
}

/// A problem that an exact part knows.
pub(crate) type NameAndText = (String, String);

/// A saved learner.
pub(crate) struct Saved {
    pub(crate) settings: Arc<Settings>,
    pub(crate) problems: Vec<NameAndText>,
    pub(crate) state: Value,
}

/// Numbers of one kind.
struct Tensor {
    dtype: Dtype,
    bytes: Vec<u8>,
    count: usize,
}

impl Saved {
    pub(crate) fn write(&self, path: &Path) -> PyResult<()> {
        let mut tensors = Vec::new();
        let form = take_apart(&self.state, String::new(), &mut tensors)?;
        let metadata = HashMap::from([
            ("format".to_owned(), FORMAT.to_owned()),
            ("settings".to_owned(), self.settings.json()),
            ("problems".to_owned(), json!(self.problems).to_string()),
            ("form".to_owned(), form.to_string()),
        ]);
        let unwritten = |error| PyValueError::new_err(format!("{}: {error}", path.display()));
        let views = tensors.iter().map(|(name, tensor)| {
            Ok((name.as_str(), TensorView::new(tensor.dtype, vec![tensor.count], &tensor.bytes)?))
        });
        let views: Vec<_> = views.collect::<Result<_, _>>().map_err(unwritten)?;
        let mut bytes = safetensors::serialize(views, Some(metadata)).map_err(unwritten)?;
        sort_metadata(&mut bytes)
            .map_err(|error| PyValueError::new_err(format!("{}: {error}", path.display())))?;
        write_file(path.to_owned(), &bytes)
    }

    pub(crate) fn read(path: &Path) -> PyResult<Self> {
        let failed = |error: std::io::Error| of_system(&error, format!("{}: {error}", path.display()));
        let bytes = std::fs::read(path).map_err(failed)?;
        let wrong = |why: String| {
            PyValueError::new_err(format!("{}: this is not a saved learner: {why}", path.display()))
        };
        Self::from_bytes(&bytes).map_err(wrong)
    }

    fn from_bytes(bytes: &[u8]) -> Result<Self, String> {
        let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(|error| error.to_string())?;
        let tensors = SafeTensors::deserialize(bytes).map_err(|error| error.to_string())?;
        let entries = metadata.metadata().as_ref().ok_or("it has no settings")?;
        let entry = |name: &str| entries.get(name).ok_or(format!("its metadata has no `{name}`"));
        if entry("format")? != FORMAT {
            return Err(format!("its format is `{}`; this version reads `{FORMAT}`", entry("format")?));
        }
        let form: Json = parsed(entry("form")?)?;
        Ok(Self {
            settings: Arc::new(parsed(entry("settings")?)?),
            problems: parsed(entry("problems")?)?,
            state: put_together(&form, &tensors)?,
        })
    }
}

/// The library writes the metadata in an order that is another every time. The same learner shall be the same bytes.
fn sort_metadata(bytes: &mut [u8]) -> Result<(), String> {
    let (len, rest) = bytes.split_first_chunk_mut::<8>().ok_or("there is no header")?;
    let header = rest.get_mut(..u64::from_le_bytes(*len) as usize).ok_or("the header is cut")?;
    let mut entries: Map<String, Json> = serde_json::from_slice(header).map_err(|error| error.to_string())?;
    if let Some(Json::Object(metadata)) = entries.get_mut("__metadata__") {
        metadata.sort_keys();
    }
    let sorted = Json::Object(entries).to_string();
    // As many bytes as before; the header is filled up with spaces.
    let (text, filling) = header.split_at_mut_checked(sorted.len()).ok_or("the header has grown")?;
    text.copy_from_slice(sorted.as_bytes());
    filling.fill(b' ');
    Ok(())
}

/// Writes a file whole or not at all. A link stays one, and what may be done with the file stays as it was.
#[pyfunction]
pub(crate) fn write_file(path: PathBuf, bytes: &[u8]) -> PyResult<()> {
    let write = || -> std::io::Result<()> {
        let known = match path.canonicalize() {
            Ok(known) if known.is_file() => known,
            Err(_) if !path.is_symlink() => path.clone(),
            // A device or a pipe, or a link that leads nowhere yet.
            _ => return std::fs::write(&path, bytes),
        };
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let new = known.with_file_name(format!(".{}.{number}.new", std::process::id()));
        let written = File::create_new(&new).and_then(|mut file| {
            file.write_all(bytes)?;
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
    write().map_err(|error| of_system(&error, format!("{}: {error}", path.display())))
}

fn parsed<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}

/// Moves the numbers of a tree into tensors. Gives its form, in which a tensor is a text: its name.
fn take_apart(value: &Value, name: String, tensors: &mut Vec<(String, Tensor)>) -> PyResult<Json> {
    if let Some(tensor) = Tensor::of(value) {
        tensors.push((name.clone(), tensor));
        return Ok(match value {
            Value::Array(_) => json!({ "tensor": name }),
            _ => json!({ "number": name }),
        });
    }
    let below = |part: &str| match part {
        "Ok" | "Err" => name.clone(), // Which of two parts it is, the form says.
        _ if name.is_empty() => part.to_owned(),
        _ => format!("{name}.{part}"),
    };
    Ok(match value {
        Value::Map(entries) => {
            let mut form = Map::new();
            for (key, value) in entries {
                let key = key.as_text().unwrap_or_default();
                form.insert(key.to_owned(), take_apart(value, below(key), tensors)?);
            }
            json!({ "map": form })
        }
        Value::Array(list) => match columns(list) {
            Some(columns) => {
                let take = |(k, column): (usize, Value)| take_apart(&column, below(&k.to_string()), tensors);
                json!({ "columns": columns.into_iter().enumerate().map(take).collect::<PyResult<Vec<_>>>()? })
            }
            None => {
                let take = |(k, item): (usize, &Value)| take_apart(item, below(&k.to_string()), tensors);
                json!({ "list": list.iter().enumerate().map(take).collect::<PyResult<Vec<_>>>()? })
            }
        },
        Value::Null => Json::Null,
        other => {
            return Err(PyValueError::new_err(format!(
                "the state has {other:?} at {name}, which cannot be saved"
            )));
        }
    })
}

/// A list of rows of the same kind, such as (feature, trace), by columns.
fn columns(list: &[Value]) -> Option<Vec<Value>> {
    let rows: Vec<&Vec<Value>> = list.iter().map(Value::as_array).collect::<Option<_>>()?;
    let width = rows.first()?.len();
    let alike =
        rows.iter().all(|row| row.len() == width && row.iter().all(|x| x.is_float() || x.is_integer()));
    alike.then(|| (0..width).map(|k| Value::Array(rows.iter().map(|row| row[k].clone()).collect())).collect())
}

impl Tensor {
    /// A number, or a list of numbers of one kind.
    fn of(value: &Value) -> Option<Self> {
        let list = match value {
            Value::Array(list) if !list.is_empty() => list.as_slice(),
            single => std::slice::from_ref(single),
        };
        let reals: Option<Vec<f64>> = list.iter().map(Value::as_float).collect();
        if let Some(reals) = reals {
            return Some(Self::new(Dtype::F64, reals.iter().map(|x| x.to_le_bytes())));
        }
        let whole = |x: &Value| x.as_integer().and_then(|x| u64::try_from(x).ok());
        let whole: Vec<u64> = list.iter().map(whole).collect::<Option<_>>()?;
        Some(Self::new(Dtype::U64, whole.iter().map(|x| x.to_le_bytes())))
    }

    fn new(dtype: Dtype, numbers: impl ExactSizeIterator<Item = [u8; 8]>) -> Self {
        Self { dtype, count: numbers.len(), bytes: numbers.flatten().collect() }
    }
}

/// The tree again.
fn put_together(form: &Json, tensors: &SafeTensors) -> Result<Value, String> {
    let wrong = || format!("its form is broken at {form}");
    let Json::Object(entries) = form else { return Ok(Value::Null) };
    let (kind, inner) = entries.iter().next().ok_or_else(wrong)?;
    let list = || -> Result<Vec<Value>, String> {
        inner.as_array().ok_or_else(wrong)?.iter().map(|form| put_together(form, tensors)).collect()
    };
    match kind.as_str() {
        "tensor" => Ok(Value::Array(numbers(inner, tensors)?)),
        "number" => numbers(inner, tensors)?.into_iter().next().ok_or_else(wrong),
        "map" => {
            let entries = inner.as_object().ok_or_else(wrong)?.iter();
            let put =
                |(key, form): (&String, &Json)| Ok((Value::Text(key.clone()), put_together(form, tensors)?));
            Ok(Value::Map(entries.map(put).collect::<Result<_, String>>()?))
        }
        "list" => Ok(Value::Array(list()?)),
        "columns" => {
            let columns = list()?;
            let columns: Option<Vec<&Vec<Value>>> = columns.iter().map(Value::as_array).collect();
            let columns = columns.ok_or_else(wrong)?;
            let rows = columns.first().map_or(0, |column| column.len());
            if columns.iter().any(|column| column.len() != rows) {
                return Err(wrong());
            }
            let row = |r: usize| Value::Array(columns.iter().map(|column| column[r].clone()).collect());
            Ok(Value::Array((0..rows).map(row).collect()))
        }
        _ => Err(wrong()),
    }
}

fn numbers(name: &Json, tensors: &SafeTensors) -> Result<Vec<Value>, String> {
    let name = name.as_str().unwrap_or_default();
    let tensor = tensors.tensor(name).map_err(|error| format!("{name}: {error}"))?;
    let words = tensor.data().as_chunks::<8>().0.iter();
    match tensor.dtype() {
        Dtype::F64 => Ok(words.map(|word| Value::Float(f64::from_le_bytes(*word))).collect()),
        Dtype::U64 => Ok(words.map(|word| Value::Integer(u64::from_le_bytes(*word).into())).collect()),
        other => Err(format!("{name} is {other:?}; it must be F64 or U64")),
    }
}
