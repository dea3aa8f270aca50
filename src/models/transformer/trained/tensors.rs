//! Tensors of a file by name: their positions, formats and numbers.

use super::Bytes;
use crate::error::{Error, Result};
use half::{bf16, f16};
use std::collections::BTreeMap;

/// The format in which numbers are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NumberFormat {
    /// Double precision.
    F64,
    /// Single precision.
    F32,
    /// Half precision.
    F16,
    /// The upper half of single precision.
    BF16,
    /// Blocks of 32: a scale in half precision, 32 signed bytes.
    Q8_0,
    /// Blocks of 32: a scale and a least number in half precision, 32 numbers of four bits.
    Q4_1,
}

impl NumberFormat {
    /// Number of numbers and of bytes in a block.
    pub fn block(self) -> (u64, u64) {
        match self {
            Self::F64 => (1, 8),
            Self::F32 => (1, 4),
            Self::F16 | Self::BF16 => (1, 2),
            Self::Q8_0 => (32, 34),
            Self::Q4_1 => (32, 20),
        }
    }

    /// Appends the numbers of whole blocks, exactly.
    fn decode(self, bytes: &[u8], out: &mut Vec<f64>) {
        let half = |b: &[u8]| f64::from(f16::from_le_bytes([b[0], b[1]]).to_f32());
        match self {
            Self::F64 => out.extend(bytes.as_chunks().0.iter().map(|b| f64::from_le_bytes(*b))),
            Self::F32 => {
                out.extend(bytes.as_chunks().0.iter().map(|b| f64::from(f32::from_le_bytes(*b))))
            }
            Self::F16 => out.extend(bytes.chunks_exact(2).map(half)),
            Self::BF16 => out.extend(
                bytes.as_chunks().0.iter().map(|b| f64::from(bf16::from_le_bytes(*b).to_f32())),
            ),
            Self::Q8_0 => {
                for b in bytes.chunks_exact(34) {
                    let scale = half(b);
                    out.extend(b[2..].iter().map(|q| scale * f64::from(q.cast_signed())));
                }
            }
            Self::Q4_1 => {
                for b in bytes.chunks_exact(20) {
                    let (scale, least) = (half(b), half(&b[2..]));
                    out.extend(b[4..].iter().map(|q| scale * f64::from(q & 15) + least));
                    out.extend(b[4..].iter().map(|q| scale * f64::from(q >> 4) + least));
                }
            }
        }
    }
}

/// The position and format of a tensor in its file.
#[derive(Clone, Debug, PartialEq)]
pub struct TensorEntry {
    /// Format of its numbers.
    pub format: NumberFormat,
    /// Lengths of its axes, the last one fastest.
    pub shape: Vec<usize>,
    /// Position of its first byte.
    pub start: u64,
}

/// The tensors of a file.
pub struct Tensors {
    path: String,
    bytes: Box<dyn Bytes>,
    entries: BTreeMap<String, TensorEntry>,
    /// Names of the omitted integer tensors: masks, positions.
    integers: Vec<String>,
}

impl Tensors {
    /// Tensors with these entries.
    ///
    /// **Errors** a tensor that ends beyond the file, or whose rows are no whole blocks.
    pub fn new(
        path: &str,
        bytes: Box<dyn Bytes>,
        entries: BTreeMap<String, TensorEntry>,
    ) -> Result<Self> {
        for (name, entry) in &entries {
            let (numbers, size) = entry.format.block();
            let count = entry.shape.iter().try_fold(1u64, |p, s| p.checked_mul(*s as u64));
            let whole = entry.shape.last().is_none_or(|s| (*s as u64).is_multiple_of(numbers));
            let end = count
                .filter(|_| whole)
                .and_then(|c| (c / numbers).checked_mul(size))
                .and_then(|b| entry.start.checked_add(b));
            if end.is_none_or(|e| e > bytes.count()) {
                let problem = match end {
                    None => format!(
                        "its shape {:?} is no whole number of blocks of {numbers}",
                        entry.shape
                    ),
                    Some(e) => {
                        format!("truncated: it ends at byte {e}, the file has {}", bytes.count())
                    }
                };
                return Err(Error::File {
                    path: path.into(),
                    place: format!("tensor {name}"),
                    problem,
                });
            }
        }
        Ok(Self { path: path.into(), bytes, entries, integers: Vec::new() })
    }

    /// The tensors of several files as those of one.
    ///
    /// **Errors** a tensor that two of the files have.
    pub(super) fn joined(path: &str, parts: Vec<Self>) -> Result<Self> {
        let (mut files, mut entries, mut integers) = (Vec::new(), BTreeMap::new(), Vec::new());
        let mut start = 0;
        for part in parts {
            for (name, entry) in part.entries {
                if entries.contains_key(&name) {
                    return Err(Error::File {
                        path: path.into(),
                        place: format!("tensor {name}"),
                        problem: "found in two of the files, expected it in one".into(),
                    });
                }
                entries.insert(name, TensorEntry { start: start + entry.start, ..entry });
            }
            integers.extend(part.integers);
            start += part.bytes.count();
            files.push(part.bytes);
        }
        Ok(Self { path: path.into(), bytes: Box::new(files), entries, integers })
    }

    /// The same tensors; those for which `name` finds another name have that one, unless it is
    /// taken.
    pub(super) fn renamed(mut self, name: impl Fn(&str) -> Option<String>) -> Self {
        let pair = |old: &String| Some((old.clone(), name(old)?));
        let pairs: Vec<(String, String)> = self.entries.keys().filter_map(pair).collect();
        for (old, new) in pairs {
            if self.entries.contains_key(&new) {
                continue;
            }
            if let Some(entry) = self.entries.remove(&old) {
                self.entries.insert(new, entry);
            }
        }
        self
    }

    /// Records the names of omitted integer tensors.
    pub fn without_integers(self, integers: Vec<String>) -> Self {
        Self { integers, ..self }
    }

    /// True for an omitted integer tensor.
    pub fn is_integer(&self, name: &str) -> bool {
        self.integers.iter().any(|w| w == name)
    }

    /// Path of the file, as given.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The entries by name.
    pub fn entries(&self) -> &BTreeMap<String, TensorEntry> {
        &self.entries
    }

    /// The numbers of a tensor, or of some of its rows (along the last axis).
    ///
    /// **Errors** no such tensor, a row beyond the last one, bytes that cannot be read, a number
    /// that is not finite.
    pub fn rows(&self, name: &str, rows: Option<&[usize]>) -> Result<Vec<f64>> {
        let error = |problem: String| Error::File {
            path: self.path.clone(),
            place: format!("tensor {name}"),
            problem,
        };
        let entry = self.entries.get(name).ok_or_else(|| error("not in the file".into()))?;
        let width = entry.shape.last().copied().unwrap_or(1);
        let count = entry.shape.iter().product::<usize>() / width.max(1);
        let (numbers, size) = entry.format.block();
        let length = (width as u64 / numbers * size) as usize;
        let mut out = Vec::new();
        let mut read = |from: usize, many: usize| -> Result<()> {
            let mut bytes = vec![0; many * length];
            self.bytes.fill(entry.start + (from * length) as u64, &mut bytes)?;
            let before = out.len();
            entry.format.decode(&bytes, &mut out);
            match out[before..].iter().position(|v| !v.is_finite()) {
                None => Ok(()),
                Some(k) => Err(error(format!(
                    "found {} at number {}, expected finite numbers",
                    out[before + k],
                    from * width + k + 1
                ))),
            }
        };
        match rows {
            // Piece by piece: the bytes of a large tensor are never all in memory.
            None => (0..count).step_by(PIECE).try_for_each(|r| read(r, PIECE.min(count - r)))?,
            Some(rows) => rows.iter().try_for_each(|r| {
                if *r >= count {
                    return Err(error(format!("found row {r}, expected one below {count}")));
                }
                read(*r, 1)
            })?,
        }
        Ok(out)
    }
}

/// Number of rows read at a time.
const PIECE: usize = 1 << 10;
