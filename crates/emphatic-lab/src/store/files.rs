//! What the store does with single files and directories.

use super::StoreError;
use crate::atomic_file::{AtomicFile, is_temporary, sync_directory};
use std::fs;
use std::io::{ErrorKind, Write};
use std::path::Path;

/// The names in a directory, sorted; empty if it does not exist.
pub(super) fn names(dir: &Path) -> Result<Vec<String>, StoreError> {
    let failed = StoreError::on("read", dir);
    let entries = match fs::read_dir(dir) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(&failed)?,
    };
    let name = |entry: fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
    let mut names: Vec<String> =
        entries.map(|entry| entry.map(name)).collect::<Result<_, _>>().map_err(&failed)?;
    names.sort();
    Ok(names)
}

/// The bytes of a file; `None` if it does not exist.
pub(super) fn read(path: &Path) -> Result<Option<Vec<u8>>, StoreError> {
    match fs::read(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        bytes => bytes.map(Some).map_err(StoreError::on("read", path)),
    }
}

pub(super) fn write(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    let write = || {
        let mut new = AtomicFile::create(path)?;
        new.file.write_all(bytes)?;
        new.commit()
    };
    write().map_err(StoreError::on("write", path))
}

pub(super) fn write_if_different(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    if read(path)?.as_deref() == Some(bytes) { Ok(()) } else { write(path, bytes) }
}

/// Makes a directory, unless it exists.
pub(super) fn create_dir(path: &Path) -> Result<(), StoreError> {
    if path.is_dir() {
        return Ok(());
    }
    fs::create_dir(path).map_err(StoreError::on("create", path))?;
    sync_parent(path)
}

/// Makes durable which files the directory of `path` has.
pub(super) fn sync_parent(path: &Path) -> Result<(), StoreError> {
    sync_directory(path).map_err(StoreError::on("write", path))
}

/// Removes a file, if it still exists.
pub(super) fn remove(path: &Path) -> Result<(), StoreError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        removed => removed.map_err(StoreError::on("remove", path)),
    }
}

/// Removes files that a killed process did not complete.
pub(super) fn remove_temporaries(dir: &Path) -> Result<(), StoreError> {
    for name in names(dir)?.iter().filter(|name| is_temporary(name)) {
        remove(&dir.join(name))?;
    }
    Ok(())
}
