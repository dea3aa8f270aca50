//! The contents of a file, by ranges of bytes.

use crate::error::{Error, Result};

/// A file, or bytes in memory.
pub trait Bytes: Send + Sync {
    /// Number of bytes.
    fn count(&self) -> u64;
    /// Fills `out` with the bytes from `start` on.
    ///
    /// **Errors** a range that cannot be read.
    fn fill(&self, start: u64, out: &mut [u8]) -> Result<()>;
}

/// Files one after the other. A range must lie inside one of them.
impl Bytes for Vec<Box<dyn Bytes>> {
    fn count(&self) -> u64 {
        self.iter().map(|file| file.count()).sum()
    }

    fn fill(&self, start: u64, out: &mut [u8]) -> Result<()> {
        let mut before = 0;
        for file in self {
            let end = before + file.count();
            if start < end {
                return file.fill(start - before, out);
            }
            before = end;
        }
        if out.is_empty() {
            return Ok(());
        }
        Err(Error::parameter("bytes", before, format!("{} more from {start} on", out.len())))
    }
}

impl Bytes for Vec<u8> {
    fn count(&self) -> u64 {
        self.len() as u64
    }

    fn fill(&self, start: u64, out: &mut [u8]) -> Result<()> {
        let part = usize::try_from(start).ok().and_then(|s| self.get(s..s.checked_add(out.len())?));
        match part {
            Some(part) => {
                out.copy_from_slice(part);
                Ok(())
            }
            None => Err(Error::parameter(
                "bytes",
                self.len(),
                format!("{} more from {start} on", out.len()),
            )),
        }
    }
}
