//! `manifest.json`: which experiment a directory belongs to, and how far it is.

use super::identity::{differences, short};
use super::{StoreError, files};
use serde_json::{Value, json};
use std::path::Path;

/// The layout of directories that this code reads and writes.
const FORMAT: u64 = 2;
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");
pub(super) const MANIFEST: &str = "manifest.json";

/// The manifest of a new directory.
pub(super) fn new(identity: &Value) -> Value {
    json!({ "format": FORMAT, "emphatic": VERSION, "identity": identity })
}

/// The manifest with more fields. `format`, `emphatic` and `identity` stay as they are.
pub(super) fn with(manifest: &Value, fields: &Value) -> Value {
    let mut manifest = manifest.clone();
    for (key, value) in fields.as_object().into_iter().flatten() {
        if !["format", "emphatic", "identity"].contains(&key.as_str()) {
            manifest[key] = value.clone();
        }
    }
    manifest
}

/// Reads the manifest of a directory; `None` if there is no such file.
pub(super) fn read(dir: &Path) -> Result<Option<Value>, StoreError> {
    let path = dir.join(MANIFEST);
    let Some(bytes) = files::read(&path)? else { return Ok(None) };
    let manifest: Value = serde_json::from_slice(&bytes).map_err(|error| StoreError::BadManifest {
        path: path.clone(),
        what: format!("is no JSON: {error}"),
    })?;
    if manifest["format"] != FORMAT {
        let found = short(&manifest["format"]);
        let what = match manifest["format"].as_u64() {
            Some(older) if older < FORMAT => {
                format!("has format {older}, of an earlier version of this program; this one writes {FORMAT}")
            }
            _ => format!("should have format {FORMAT}, but has {found}"),
        };
        return Err(StoreError::BadManifest { path, what });
    }
    Ok(Some(manifest))
}

pub(super) fn write(dir: &Path, manifest: &Value) -> Result<(), StoreError> {
    files::write(&dir.join(MANIFEST), format!("{manifest:#}\n").as_bytes())
}

/// An error if a directory with this manifest was written by another version, or for another experiment.
pub(super) fn check(dir: &Path, manifest: &Value, identity: &Value) -> Result<(), StoreError> {
    let found = version(manifest);
    if found != VERSION {
        return Err(StoreError::OtherVersion { dir: dir.to_owned(), found: found.to_owned() });
    }
    if manifest["identity"] != *identity {
        let differences = differences(&manifest["identity"], identity);
        return Err(StoreError::OtherExperiment { dir: dir.to_owned(), differences });
    }
    Ok(())
}

/// The version that wrote a directory.
pub(crate) fn version(manifest: &Value) -> &str {
    manifest["emphatic"].as_str().unwrap_or("of unknown version")
}
