//! Errors of the file system, each with the path it is about and what the user can do.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// An operation on a file or directory failed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DiskError {
    /// No space is left, or the quota is used up.
    #[error(
        "the disk is full: could not write {}; what was finished before is safe; \
         free some space and run the same command again", path.display()
    )]
    Full {
        /// What was being written.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The file would be larger than the user's limits allow.
    #[error(
        "could not write {}: it would be larger than your limits (ulimit -f) or the file system allow; what was finished \
         before is safe; raise the limit, or choose another place, and run the same command again", path.display()
    )]
    TooLarge {
        /// What was being written.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// Anything else.
    #[error("could not {action} {}: {source}{}", path.display(), remedy(source.kind()))]
    Failed {
        /// What was being done.
        action: &'static str,
        /// To which file or directory.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

fn remedy(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            "; choose a directory that you may read and write"
        }
        ErrorKind::NotADirectory | ErrorKind::AlreadyExists => "; a file is where a directory should be",
        ErrorKind::IsADirectory => "; a directory is where a file should be",
        _ => "",
    }
}

impl DiskError {
    /// For `map_err`: what was being done to which path.
    pub(crate) fn on(action: &'static str, path: &Path) -> impl Fn(io::Error) -> DiskError {
        move |source| {
            let path = path.to_owned();
            match source.kind() {
                ErrorKind::StorageFull | ErrorKind::QuotaExceeded => DiskError::Full { path, source },
                ErrorKind::FileTooLarge => DiskError::TooLarge { path, source },
                _ => DiskError::Failed { action, path, source },
            }
        }
    }

    /// The system's error.
    pub fn system(&self) -> &io::Error {
        match self {
            DiskError::Full { source, .. }
            | DiskError::TooLarge { source, .. }
            | DiskError::Failed { source, .. } => source,
        }
    }

    /// Whether there is no such file.
    pub(crate) fn is_not_found(&self) -> bool {
        self.system().kind() == ErrorKind::NotFound
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_and_a_limit_on_files_have_different_messages() {
        let message = |kind: ErrorKind| DiskError::on("write", Path::new("results"))(kind.into()).to_string();
        let full = "the disk is full: could not write results; what was finished before is safe";
        assert!(message(ErrorKind::StorageFull).starts_with(full));
        assert!(message(ErrorKind::QuotaExceeded).starts_with(full));
        let limit = "could not write results: it would be larger than your limits (ulimit -f) or the file system allow";
        assert!(message(ErrorKind::FileTooLarge).starts_with(limit));
    }
}
