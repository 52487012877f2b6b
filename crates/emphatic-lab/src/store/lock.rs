//! The lock of a results directory: at most one process works there.

use super::StoreError;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::path::Path;

pub(super) const LOCK: &str = "lock";

/// A held lock. The system releases it when the process ends, however it does.
pub(super) struct Lock(File);

impl Lock {
    pub(super) fn acquire(dir: &Path) -> Result<Lock, StoreError> {
        let path = dir.join(LOCK);
        let failed = StoreError::on("lock", &path);
        let file =
            OpenOptions::new().write(true).create(true).truncate(false).open(&path).map_err(&failed)?;
        match file.try_lock() {
            Ok(()) => Ok(Lock(file)),
            Err(TryLockError::WouldBlock) => Err(StoreError::InUse { dir: dir.to_owned() }),
            Err(TryLockError::Error(error)) => Err(failed(error)),
        }
    }

    /// An error if this lock is not in the directory any more: somebody has removed or replaced it, and what is written now would
    /// go to a directory in which everything else is missing.
    pub(super) fn check(&self, dir: &Path) -> Result<(), StoreError> {
        match fs::metadata(dir.join(LOCK)) {
            Ok(now) if self.0.metadata().is_ok_and(|own| is_same_file(&own, &now)) => Ok(()),
            _ => Err(StoreError::Gone { dir: dir.to_owned() }),
        }
    }
}

#[cfg(unix)]
fn is_same_file(a: &fs::Metadata, b: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (a.dev(), a.ino()) == (b.dev(), b.ino())
}

#[cfg(not(unix))]
fn is_same_file(a: &fs::Metadata, b: &fs::Metadata) -> bool {
    a.created().ok() == b.created().ok()
}
