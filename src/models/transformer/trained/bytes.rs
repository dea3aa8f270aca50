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
