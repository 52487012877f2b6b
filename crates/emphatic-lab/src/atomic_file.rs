//! Kill-safe writes: whenever the process is killed, a file has either its old contents or all of the new ones.
//!
//! The new contents go to a temporary file beside the old one, reach the disk, and only then take its name.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The extension of files that are not complete yet.
const TEMPORARY: &str = "emphatic-tmp";

/// The new contents of a file, which keeps its old ones until [`AtomicFile::commit`]. If this is dropped before, they stay.
#[derive(Debug)]
pub struct AtomicFile {
    /// Where the new contents are written. Closed before its name is removed.
    pub file: File,
    temporary: Temporary,
    to: PathBuf,
}

/// The name of a temporary file, removed when dropped.
#[derive(Debug)]
struct Temporary(PathBuf);

impl Drop for Temporary {
    fn drop(&mut self) {
        // It is of no use, and there is nobody to report to.
        let _ = fs::remove_file(&self.0);
    }
}

impl AtomicFile {
    /// Begins to write a file. What a killed process left of an earlier attempt is overwritten.
    pub fn create(to: &Path) -> io::Result<AtomicFile> {
        let mut name = to.as_os_str().to_owned();
        name.push(".");
        name.push(TEMPORARY);
        let temporary = Temporary(PathBuf::from(name));
        let file =
            OpenOptions::new().read(true).write(true).create(true).truncate(true).open(&temporary.0)?;
        Ok(AtomicFile { file, temporary, to: to.to_owned() })
    }

    /// Puts the new contents in place. Once this returns, they outlive a crash of the system, too.
    pub fn commit(self) -> io::Result<()> {
        let to = self.to.clone();
        self.sync_and_rename()?;
        sync_directory(&to)
    }

    fn sync_and_rename(self) -> io::Result<()> {
        let AtomicFile { file, mut temporary, to } = self;
        file.sync_all()?;
        drop(file);
        fs::rename(&temporary.0, &to)?;
        // Nothing is left to be removed.
        temporary.0.clear();
        Ok(())
    }
}

/// Whether a file of this name is one that was never committed.
pub(crate) fn is_temporary(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|extension| extension == TEMPORARY)
}

/// Makes the names in the directory of `path` durable. Only on Unix can a directory be opened for that.
pub(crate) fn sync_directory(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(parent) if cfg!(unix) => {
            let directory = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
            File::open(directory)?.sync_all()
        }
        _ => Ok(()),
    }
}

/// Overwrites a file that belongs to the user: a link stays a link, permissions stay as they are, several threads and
/// processes may write it at once, and a device or a pipe is written directly.
pub fn overwrite(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let fill = |file: &File| {
        let mut buffer = BufWriter::new(file);
        write(&mut buffer)?;
        buffer.flush()
    };
    let to = match path.canonicalize() {
        Ok(known) if known.is_file() => known,
        Err(_) if !path.is_symlink() => path.to_owned(),
        // A device or a pipe, or a link that leads nowhere yet.
        _ => return fill(&File::create(path)?),
    };
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let temporary = to.with_file_name(format!(".{}.{number}.new", std::process::id()));
    let file = File::create_new(&temporary)?;
    let new = AtomicFile { file, temporary: Temporary(temporary), to };
    fill(&new.file)?;
    if let Ok(metadata) = new.to.metadata() {
        new.file.set_permissions(metadata.permissions())?;
    }
    new.sync_and_rename()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::ErrorKind;
    use tempfile::tempdir;

    fn files(dir: &Path) -> usize {
        fs::read_dir(dir).unwrap().count()
    }

    #[test]
    fn a_write_is_seen_only_once_it_is_committed() {
        let dir = tempdir().unwrap();
        let to = dir.path().join("t");
        fs::write(&to, "before").unwrap();
        let mut new = AtomicFile::create(&to).unwrap();
        new.file.write_all(b"after").unwrap();
        assert_eq!(fs::read(&to).unwrap(), b"before");
        new.commit().unwrap();
        assert_eq!(fs::read(&to).unwrap(), b"after");
        assert_eq!(files(dir.path()), 1);
    }

    #[test]
    fn a_failed_write_leaves_the_old_contents() {
        let dir = tempdir().unwrap();
        let to = dir.path().join("t");
        fs::write(&to, "before").unwrap();
        drop(AtomicFile::create(&to).unwrap());
        let failed = overwrite(&to, |_| Err(ErrorKind::StorageFull.into()));
        assert_eq!(failed.unwrap_err().kind(), ErrorKind::StorageFull);
        assert_eq!(fs::read(&to).unwrap(), b"before");
        assert_eq!(files(dir.path()), 1);
        let directory = dir.path().join("directory");
        fs::create_dir(&directory).unwrap();
        assert!(AtomicFile::create(&directory).unwrap().commit().is_err());
        assert!(overwrite(&directory, |_| Ok(())).is_err());
        assert_eq!(files(dir.path()), 2);
    }

    #[cfg(unix)]
    #[test]
    fn links_and_permissions_of_an_overwritten_file_stay() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let dir = tempdir().unwrap();
        let [to, link] = ["t", "link"].map(|name| dir.path().join(name));
        fs::write(&to, "before").unwrap();
        fs::set_permissions(&to, fs::Permissions::from_mode(0o640)).unwrap();
        symlink(&to, &link).unwrap();
        overwrite(&link, |file| file.write_all(b"after")).unwrap();
        assert!(link.is_symlink());
        assert_eq!(fs::read(&to).unwrap(), b"after");
        assert_eq!(to.metadata().unwrap().permissions().mode() & 0o777, 0o640);
        assert_eq!(files(dir.path()), 2);
    }
}
