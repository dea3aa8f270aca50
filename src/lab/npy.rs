//! One array in the format of NumPy.

use crate::flow::Table;

/// A dense array in C order.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// Lengths of the axes.
    pub shape: Vec<usize>,
    /// Entries, last axis fastest.
    pub data: Vec<f64>,
    /// Unit roundoff of the numbers as they were stored: 2^-53 for float64, 2^-24 for float32, 2^-11 for float16, 2^-8 for bfloat16.
    pub roundoff: f64,
}

/// Unit roundoff of double precision.
pub const ROUNDOFF: f64 = f64::EPSILON / 2.0;

/// Largest number of entries accepted from a file.
const MAX_ENTRIES: u64 = 1 << 28;

/// The array of an NPY file.
///
/// **Errors** in words: what is malformed, truncated, of an unknown type, too large, or not finite.
pub fn read(bytes: &[u8]) -> Result<Array, String> {
    let start = data_start(bytes)?;
    let file = npyz::NpyFile::new(bytes).map_err(|_| "not an NPY array, or truncated in its header")?;
    let shape: Vec<u64> = file.shape().to_vec();
    let entries = shape.iter().try_fold(1u64, |a, b| a.checked_mul(*b)).filter(|e| *e <= MAX_ENTRIES);
    if entries == Some(0) {
        return Err(format!("the shape {shape:?} has no entries"));
    }
    let Some(entries) = entries else {
        return Err(format!("the shape {shape:?} is too large; at most {MAX_ENTRIES} entries"));
    };
    if entries > bytes.len() as u64 {
        return Err(format!("truncated: the shape {shape:?} needs {entries} entries, the file has {} bytes", bytes.len()));
    }
    let fortran = file.order() == npyz::Order::Fortran && shape.len() > 1;
    let descr = file.dtype().descr().replace(['\'', '"', ' '], "");
    let halves = |to| halves(&bytes[start..], entries as usize, descr.starts_with('>'), to);
    let (data, roundoff) = match descr.as_str() {
        "<f8" | ">f8" | "=f8" => (numbers::<f64>(file, |v| v)?, ROUNDOFF),
        "<f4" | ">f4" | "=f4" => (numbers::<f32>(file, f64::from)?, 2f64.powi(-24)),
        "<f2" | ">f2" | "=f2" => (halves(|bits| half::f16::from_bits(bits).to_f64())?, 2f64.powi(-11)),
        // NumPy knows no bfloat16: packages that add it write two plain bytes an entry.
        "|V2" | "<V2" => (halves(|bits| half::bf16::from_bits(bits).to_f64())?, 2f64.powi(-8)),
        "<i8" | ">i8" => (numbers::<i64>(file, |v| v as f64)?, ROUNDOFF),
        "<i4" | ">i4" => (numbers::<i32>(file, f64::from)?, ROUNDOFF),
        other => {
            let known = "float64, float32, float16, bfloat16 (V2), or whole numbers of 4 or 8 bytes";
            return Err(format!("found element type {other}, expected {known}"));
        }
    };
    let shape: Vec<usize> = shape.iter().map(|s| *s as usize).collect();
    let data = if fortran { from_fortran(&shape, &data) } else { data };
    match data.iter().position(|v| !v.is_finite()) {
        Some(i) => Err(format!("entry {i}: found {}, expected a finite number", data[i])),
        None => Ok(Array { shape, data, roundoff }),
    }
}

fn numbers<T: npyz::Deserialize>(file: npyz::NpyFile<&[u8]>, to: impl Fn(T) -> f64) -> Result<Vec<f64>, String> {
    let read = file.into_vec::<T>().map_err(|e| format!("truncated or corrupt data: {e}"))?;
    Ok(read.into_iter().map(to).collect())
}

/// Numbers of two bytes.
fn halves(data: &[u8], entries: usize, big: bool, to: fn(u16) -> f64) -> Result<Vec<f64>, String> {
    let data = data.get(..2 * entries).ok_or_else(|| format!("truncated or corrupt data: {} bytes of {}", data.len(), 2 * entries))?;
    let pair = |b: &[u8]| if big { u16::from_be_bytes([b[0], b[1]]) } else { u16::from_le_bytes([b[0], b[1]]) };
    Ok(data.chunks_exact(2).map(|b| to(pair(b))).collect())
}

/// Where the data begin. Refuses headers that are not those of a plain array before they reach the parser: nested types cost it exponential time.
fn data_start(bytes: &[u8]) -> Result<usize, String> {
    if !bytes.starts_with(b"\x93NUMPY") || bytes.len() < 12 {
        return Err("not an NPY array, or truncated in its header".into());
    }
    let (start, length): (usize, usize) = match bytes[6] {
        1 => (10, usize::from(u16::from_le_bytes([bytes[8], bytes[9]]))),
        _ => (12, u32::from_le_bytes([bytes[8], bytes[9], bytes[10], bytes[11]]) as usize),
    };
    let header = bytes.get(start..start.saturating_add(length)).ok_or("truncated in its header")?;
    let nested = header.iter().filter(|b| b"([{".contains(b)).count();
    if length > 4096 || nested > 2 {
        return Err("found a structured or oversized header, expected a plain array of numbers".into());
    }
    Ok(start + length)
}

fn from_fortran(shape: &[usize], data: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; data.len()];
    for (k, v) in data.iter().enumerate() {
        let (mut rest, mut index, mut stride) = (k, 0, data.len());
        for s in shape {
            stride /= s;
            index += (rest % s) * stride;
            rest /= s;
        }
        out[index] = *v;
    }
    out
}

/// A table of ours with its column names, from NPY; its entries need not be finite. Nothing where the shapes disagree.
pub fn table(bytes: &[u8], columns: Vec<String>) -> Option<Table> {
    let file = npyz::NpyFile::new(bytes).ok()?;
    let shape = file.shape().to_vec();
    let data: Vec<f64> = file.into_vec().ok()?;
    if shape.len() != 2 || shape[1] as usize != columns.len() {
        return None;
    }
    let rows = if columns.is_empty() { Vec::new() } else { data.chunks(columns.len()).map(<[f64]>::to_vec).collect() };
    Some(Table { columns, rows })
}
