//! Directories that belong to somebody else: nothing may be written there.

use super::lock::LOCK;
use super::part_files::PARTS;
use super::{Contents, PROBLEMS, StoreError, files};
use crate::atomic_file::is_temporary;
use std::path::Path;

/// How many foreign files a message lists.
const MOST_LISTED: usize = 3;

/// An error if a directory without a manifest holds anything but what a start that was killed leaves.
pub(super) fn refuse(dir: &Path, contents: &Contents) -> Result<(), StoreError> {
    let mut foreign = Vec::new();
    for name in files::names(dir)? {
        if !is_leftover(&dir.join(&name), &name, contents)? {
            foreign.push(name);
        }
    }
    if foreign.is_empty() {
        return Ok(());
    }
    let more = if foreign.len() > MOST_LISTED { ", ..." } else { "" };
    foreign.truncate(MOST_LISTED);
    Err(StoreError::NotOurs { dir: dir.to_owned(), found: foreign.join(", ") + more })
}

fn is_leftover(path: &Path, name: &str, contents: &Contents) -> Result<bool, StoreError> {
    if name == LOCK {
        return Ok(path.is_file());
    }
    if name == PARTS {
        return Ok(path.is_dir() && files::names(path)?.is_empty());
    }
    if name == PROBLEMS && path.is_dir() {
        for file in files::names(path)? {
            if !is_ours(&path.join(&file), &format!("{PROBLEMS}/{file}"), contents)? {
                return Ok(false);
            }
        }
        return Ok(true);
    }
    is_ours(path, name, contents)
}

/// Whether a file belongs beside the results, or is an incomplete one that does. With other bytes it may be the user's own.
fn is_ours(path: &Path, name: &str, contents: &Contents) -> Result<bool, StoreError> {
    match contents.files.iter().find(|(file, _)| *file == name) {
        Some((_, bytes)) => Ok(files::read(path)?.as_deref() == Some(*bytes)),
        None => Ok(is_temporary(name) && path.is_file()),
    }
}
