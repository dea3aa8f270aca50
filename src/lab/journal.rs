//! A file with one line for each small cell. A line is appended and flushed at once, so a kill
//! loses only the cell being computed.

use super::provenance::hash;
use crate::error::{Error, Result};
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// Lines `id checksum text`, found by their id.
pub struct Journal {
    path: PathBuf,
    /// For each id, the offset and the length of its text. If an id has several lines, the last one
    /// counts.
    lines: Mutex<HashMap<String, (u64, u64)>>,
}

impl Journal {
    /// Opens the journal at this path; a missing file is an empty journal.
    ///
    /// **Errors** a file that cannot be read.
    pub fn open(path: PathBuf) -> Result<Self> {
        let mut lines = HashMap::new();
        if let Ok(file) = std::fs::File::open(&path) {
            let (mut reader, mut at, mut line) = (BufReader::new(file), 0, Vec::new());
            while reader
                .read_until(b'\n', &mut line)
                .map_err(|e| Error::io(path.display(), "read", &e))?
                > 0
            {
                // The last line of a killed run may lack its end.
                if let (Some(id), true) = (line.split(|b| *b == b' ').next(), line.ends_with(b"\n"))
                {
                    lines.insert(String::from_utf8_lossy(id).into_owned(), (at, line.len() as u64));
                }
                at += line.len() as u64;
                line.clear();
            }
        }
        Ok(Self { path, lines: Mutex::new(lines) })
    }

    /// The ids of all lines.
    pub fn ids(&self) -> Vec<String> {
        self.table().keys().cloned().collect()
    }

    /// True if there is a line with this id, intact or damaged.
    pub fn has(&self, id: &str) -> bool {
        self.table().contains_key(id)
    }

    /// The text of an id; `None` if there is no such line.
    ///
    /// **Errors** a file that cannot be read; a line that does not match its checksum.
    pub fn get(&self, id: &str) -> Result<Option<String>> {
        let Some((at, length)) = self.table().get(id).copied() else { return Ok(None) };
        let mut line = String::new();
        let read = |line: &mut String| -> std::io::Result<usize> {
            let mut file = std::fs::File::open(&self.path)?;
            file.seek(SeekFrom::Start(at))?;
            file.take(length).read_to_string(line)
        };
        read(&mut line).map_err(|e| Error::io(self.path.display(), "read", &e))?;
        let mut parts = line.trim_end().splitn(3, ' ').skip(1);
        match (parts.next(), parts.next()) {
            (Some(checksum), Some(text)) if checksum == hash(text) => Ok(Some(text.to_owned())),
            _ => Err(Error::File {
                path: self.path.display().to_string(),
                place: format!("cell {id}"),
                problem: "does not match its checksum".into(),
            }),
        }
    }

    /// Appends a text without line breaks and flushes it to disk.
    ///
    /// **Errors** a file that cannot be written.
    pub fn append(&self, id: &str, text: &str) -> Result<()> {
        let mut lines = self.table();
        let line = format!("{id} {} {text}\n", hash(text));
        let write = || -> std::io::Result<u64> {
            let mut file = std::fs::OpenOptions::new()
                .create(true)
                .append(true)
                .read(true)
                .open(&self.path)?;
            let mut at = file.seek(SeekFrom::End(0))?;
            // A new line starts after a line that was cut off.
            if at > 0 && !ends_with_newline(&self.path, at)? {
                file.write_all(b"\n")?;
                at += 1;
            }
            file.write_all(line.as_bytes())?;
            file.sync_data()?;
            Ok(at)
        };
        let at = write().map_err(|e| Error::io(self.path.display(), "write", &e))?;
        lines.insert(id.to_owned(), (at, line.len() as u64));
        Ok(())
    }

    fn table(&self) -> std::sync::MutexGuard<'_, HashMap<String, (u64, u64)>> {
        self.lines.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

fn ends_with_newline(path: &Path, length: u64) -> std::io::Result<bool> {
    let (mut file, mut last) = (std::fs::File::open(path)?, [0]);
    file.seek(SeekFrom::Start(length - 1))?;
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}
