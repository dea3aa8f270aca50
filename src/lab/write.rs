//! Writes files. A regular file is replaced completely or not at all; a device or a pipe is written
//! through.

use crate::error::{Error, Result};
use std::io::Write;
use std::path::{Path, PathBuf};

/// A suffix that no other writer uses, on this machine or on another one with the same disk.
pub(super) fn unique_suffix() -> String {
    use std::hash::{BuildHasher, Hasher, RandomState};
    static COUNT: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
    // The standard library seeds this state differently in every process.
    let mut hasher = RandomState::new().build_hasher();
    hasher.write_u64(COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed));
    format!("{}-{:016x}", std::process::id(), hasher.finish())
}

/// Writes a file atomically and durably: temporary file beside the target, flush, rename. A
/// symbolic link stays, and the file that it names is replaced. A special file ([`is_special`]) is
/// written through.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<()> {
    write_beside(path, bytes)?.map_or(Ok(()), TemporaryFile::finish)
}

/// A file to be written: its path and a function that gives its bytes.
pub type PendingFile<'a> = (PathBuf, Box<dyn FnOnce() -> Vec<u8> + Send + 'a>);

/// [`write_atomically`] for several files. Flushes run in parallel and take little longer than one;
/// renames follow in the given order, so if the last file exists, all do.
///
/// **Errors** the first file, in this order, that cannot be written.
pub fn write_together(files: Vec<PendingFile>) -> Result<()> {
    let partial: Vec<Result<Option<TemporaryFile>>> = std::thread::scope(|scope| {
        let threads: Vec<_> = files
            .into_iter()
            .map(|(path, bytes)| scope.spawn(move || write_beside(&path, &bytes())))
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    });
    let partial = partial.into_iter().collect::<Result<Vec<_>>>()?;
    partial.into_iter().flatten().try_for_each(TemporaryFile::finish)
}

/// A file beside the one that it will replace, removed on drop unless it was renamed.
pub struct TemporaryFile {
    file: PathBuf,
    path: PathBuf,
}

impl TemporaryFile {
    /// A file that the caller writes at [`TemporaryFile::place`].
    pub fn beside(path: &Path) -> Self {
        let mut file = destination(path).into_os_string();
        file.push(format!(".partial-{}", unique_suffix()));
        Self { file: file.into(), path: path.to_owned() }
    }

    /// Where it is written.
    pub fn place(&self) -> &Path {
        &self.file
    }

    /// Renames it.
    ///
    /// **Errors** a failed rename.
    pub fn finish(self) -> Result<()> {
        std::fs::rename(&self.file, destination(&self.path))
            .map_err(|e| Error::io(self.path.display(), "write", &e))
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.file);
    }
}

/// Tries whether a file can be written, before the work of which it will hold the result.
///
/// **Errors** a folder; a file that cannot be created.
pub fn check_writable(path: &Path) -> Result<()> {
    if path.is_dir() {
        let (path, place) = (path.display().to_string(), String::new());
        return Err(Error::File {
            path,
            place,
            problem: "found a folder, expected the name of a file".into(),
        });
    }
    if is_special(path) {
        return Ok(());
    }
    let empty = TemporaryFile::beside(path);
    let created = std::fs::File::create(empty.place()).map(drop);
    created.map_err(|e| Error::io(path.display(), "write", &e))
}

/// Writes the bytes beside a file, or through a special one.
fn write_beside(path: &Path, bytes: &[u8]) -> Result<Option<TemporaryFile>> {
    let failed = |e: std::io::Error| Error::io(path.display(), "write", &e);
    if is_special(path) {
        return write_through(&destination(path), bytes).map(|()| None).map_err(failed);
    }
    let partial = TemporaryFile::beside(path);
    let flushed = std::fs::File::create(&partial.file).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()
    });
    flushed.map_err(failed).map(|()| Some(partial))
}

fn write_through(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let named = |names: [&str; 3]| names.iter().any(|name| path == Path::new(name));
    let send = |out: &mut dyn Write| out.write_all(bytes).and_then(|()| out.flush());
    // Opened again, it would be written from its beginning, over other output.
    if named(["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"]) {
        return send(&mut std::io::stdout());
    }
    if named(["/dev/stderr", "/dev/fd/2", "/proc/self/fd/2"]) {
        return send(&mut std::io::stderr());
    }
    send(&mut std::fs::OpenOptions::new().append(true).open(path)?)
}

/// Whether a path, or the link that it is, names a device, a pipe, a socket, or an open file of
/// this process. Such a file is never renamed over.
pub fn is_special(path: &Path) -> bool {
    is_open_file(&destination(path))
        || std::fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir())
}

/// Whether a path names an open file of this process. It may be a link to a regular file.
fn is_open_file(path: &Path) -> bool {
    ["/dev/stdout", "/dev/stderr"].iter().any(|name| path == Path::new(name))
        || ["/dev/fd", "/proc/self/fd"].iter().any(|folder| path.starts_with(folder))
}

/// The file that a path names: symbolic links are followed, also to a file that does not exist yet.
fn destination(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    // As many links as the system follows.
    for _ in 0..40 {
        match std::fs::read_link(&path) {
            Ok(link) if !is_open_file(&path) => {
                path = path.parent().map_or_else(|| link.clone(), |folder| folder.join(&link));
            }
            _ => break,
        }
    }
    path
}
