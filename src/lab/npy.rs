//! Arrays in the NPY format of NumPy.

use crate::flow::Table;

/// A dense array in C order.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// Lengths of the axes.
    pub shape: Vec<usize>,
    /// Entries, last axis fastest.
    pub data: Vec<f64>,
    /// Unit roundoff of the numbers as they were stored: 2^-53 for float64, 2^-24 for float32,
    /// 2^-11 for float16, 2^-8 for bfloat16.
    pub roundoff: f64,
}

/// Unit roundoff of double precision.
pub const ROUNDOFF: f64 = f64::EPSILON / 2.0;

/// Largest number of entries accepted from a file.
const MAX_ENTRIES: u64 = 1 << 28;

/// The array of an NPY file; a structured array of float64 is a table of shape rows x fields.
///
/// **Errors** in words: what is malformed, truncated, of an unknown type, too large, or not finite.
pub fn read(bytes: &[u8]) -> Result<Array, String> {
    let array = read_any(bytes)?;
    match array.data.iter().position(|v| !v.is_finite()) {
        Some(i) => Err(format!("entry {i}: found {}, expected a finite number", array.data[i])),
        None => Ok(array),
    }
}

/// [`read`], but entries may be NaN or infinite.
pub fn read_any(bytes: &[u8]) -> Result<Array, String> {
    if let Some(fields) = Fields::of(bytes)? {
        let shape = vec![fields.rows, fields.names.len()];
        if fields.rows == 0 {
            return Err(format!("the shape {shape:?} has no entries"));
        }
        return Ok(Array { data: fields.numbers(bytes)?, shape, roundoff: ROUNDOFF });
    }
    let start = data_start(bytes)?;
    let native = with_plain_order(bytes);
    let bytes = native.as_deref().unwrap_or(bytes);
    let file = npyz::NpyFile::new(bytes).map_err(|_| unknown_header(bytes))?;
    let shape: Vec<u64> = file.shape().to_vec();
    let entries =
        shape.iter().try_fold(1u64, |a, b| a.checked_mul(*b)).filter(|e| *e <= MAX_ENTRIES);
    if entries == Some(0) {
        return Err(format!("the shape {shape:?} has no entries"));
    }
    let Some(entries) = entries else {
        return Err(format!("the shape {shape:?} is too large; at most {MAX_ENTRIES} entries"));
    };
    if entries > bytes.len() as u64 {
        return Err(format!(
            "truncated: the shape {shape:?} needs {entries} entries, the file has {} bytes",
            bytes.len()
        ));
    }
    let fortran = file.order() == npyz::Order::Fortran && shape.len() > 1;
    let descr = file.dtype().descr().replace(['\'', '"', ' '], "");
    let halves = |to| halves(&bytes[start..], entries as usize, descr.starts_with('>'), to);
    let (data, roundoff) = match descr.as_str() {
        "<f8" | ">f8" | "=f8" => (numbers::<f64>(file, |v| v)?, ROUNDOFF),
        "<f4" | ">f4" | "=f4" => (numbers::<f32>(file, f64::from)?, 2f64.powi(-24)),
        "<f2" | ">f2" | "=f2" => {
            (halves(|bits| half::f16::from_bits(bits).to_f64())?, 2f64.powi(-11))
        }
        // NumPy has no bfloat16; packages that add it write two plain bytes per entry.
        "|V2" | "<V2" => (halves(|bits| half::bf16::from_bits(bits).to_f64())?, 2f64.powi(-8)),
        "<i8" | ">i8" => (numbers::<i64>(file, |v| v as f64)?, ROUNDOFF),
        "<u8" | ">u8" => (numbers::<u64>(file, |v| v as f64)?, ROUNDOFF),
        "<i4" | ">i4" => (numbers::<i32>(file, f64::from)?, ROUNDOFF),
        "<u4" | ">u4" => (numbers::<u32>(file, f64::from)?, ROUNDOFF),
        "<i2" | ">i2" => (numbers::<i16>(file, f64::from)?, ROUNDOFF),
        "<u2" | ">u2" => (numbers::<u16>(file, f64::from)?, ROUNDOFF),
        "|i1" => (numbers::<i8>(file, f64::from)?, ROUNDOFF),
        "|u1" => (numbers::<u8>(file, f64::from)?, ROUNDOFF),
        // True is 1.
        "|b1" => (numbers::<bool>(file, f64::from)?, ROUNDOFF),
        other => {
            let known = "float64, float32, float16, bfloat16 (V2), whole numbers or booleans";
            return Err(format!("found element type {other}, expected {known}"));
        }
    };
    let shape: Vec<usize> = shape.iter().map(|s| *s as usize).collect();
    let data = if fortran { from_fortran(&shape, &data) } else { data };
    Ok(Array { shape, data, roundoff })
}

/// Where the header names the element type, without its quote, and the rest of the header.
fn element_type(bytes: &[u8]) -> Option<(usize, &str)> {
    let header = header_of(bytes).ok()?;
    let text = std::str::from_utf8(&bytes[header.clone()]).ok()?;
    let (_, after) = text.split_once("'descr':")?;
    let kind = after.trim_start().strip_prefix(['\'', '"'])?;
    Some((header.end - kind.len(), kind))
}

/// The bytes of an array in the order of this machine, `=f8`, with the name of this order.
fn with_plain_order(bytes: &[u8]) -> Option<Vec<u8>> {
    let (at, kind) = element_type(bytes)?;
    if !kind.starts_with('=') {
        return None;
    }
    let mut plain = bytes.to_vec();
    plain[at] = if cfg!(target_endian = "little") { b'<' } else { b'>' };
    Some(plain)
}

/// What is wrong with a header that the parser refuses.
fn unknown_header(bytes: &[u8]) -> String {
    let kind = element_type(bytes).map(|(_, kind)| kind.split(['\'', '"']).next().unwrap_or(kind));
    let named = kind.map_or("an unknown element type, for example".to_owned(), |kind| {
        let shown: String = kind.escape_debug().take(20).collect();
        format!("the element type {shown}, expected such as <f8 for float64")
    });
    format!("found a header that NumPy does not write: {named}")
}

fn numbers<T: npyz::Deserialize>(
    file: npyz::NpyFile<&[u8]>,
    to: impl Fn(T) -> f64,
) -> Result<Vec<f64>, String> {
    let read = file.into_vec::<T>().map_err(|e| format!("truncated or corrupt data: {e}"))?;
    Ok(read.into_iter().map(to).collect())
}

/// Decodes numbers of two bytes.
fn halves(data: &[u8], entries: usize, big: bool, to: fn(u16) -> f64) -> Result<Vec<f64>, String> {
    let data = data.get(..2 * entries).ok_or_else(|| {
        format!("truncated or corrupt data: {} bytes of {}", data.len(), 2 * entries)
    })?;
    let pair = |b: &[u8]| {
        if big { u16::from_be_bytes([b[0], b[1]]) } else { u16::from_le_bytes([b[0], b[1]]) }
    };
    Ok(data.chunks_exact(2).map(|b| to(pair(b))).collect())
}

/// The byte range of the header.
fn header_of(bytes: &[u8]) -> Result<std::ops::Range<usize>, String> {
    if !bytes.starts_with(b"\x93NUMPY") || bytes.len() < 12 {
        return Err("not an NPY array, or truncated in its header".into());
    }
    let (start, length): (usize, usize) = match bytes[6] {
        1 => (10, usize::from(u16::from_le_bytes([bytes[8], bytes[9]]))),
        _ => (12, u32::from_le_bytes([bytes[8], bytes[9], bytes[10], bytes[11]]) as usize),
    };
    let end = start.saturating_add(length);
    if end > bytes.len() { Err("truncated in its header".into()) } else { Ok(start..end) }
}

/// The offset of the data. Refuses headers of other than plain arrays before they reach the parser,
/// because nested types cost it exponential time.
fn data_start(bytes: &[u8]) -> Result<usize, String> {
    let header = header_of(bytes)?;
    let text = &bytes[header.clone()];
    // Brackets inside words are units of time. Words in other quotes are not told apart.
    let step = if text.iter().any(|b| b"\"\\".contains(b)) { 1 } else { 2 };
    let outside = text.split(|b| *b == b'\'').step_by(step).flatten();
    let nested = outside.filter(|b| b"([{".contains(b)).count();
    if header.len() > 4096 || nested > 2 {
        return Err(
            "found a structured or oversized header, expected a plain array of numbers, or \
            fields of float64"
                .into(),
        );
    }
    Ok(header.end)
}

/// The header of a structured array of one axis whose fields are all float64.
struct Fields {
    names: Vec<String>,
    rows: usize,
    /// Offset of the data.
    start: usize,
}

impl Fields {
    /// `None` for a plain array, or a structured array with other fields. The header is read once
    /// from left to right, whatever it holds.
    fn of(bytes: &[u8]) -> Result<Option<Self>, String> {
        let header = header_of(bytes)?;
        let text = std::str::from_utf8(&bytes[header.clone()]).ok();
        let Some((names, rows)) = text.and_then(Self::parsed) else { return Ok(None) };
        if names.is_empty()
            || (rows as u64).checked_mul(names.len() as u64).is_none_or(|e| e > MAX_ENTRIES)
        {
            return Ok(None);
        }
        Ok(Some(Self { names, rows, start: header.end }))
    }

    /// The names of the fields and the number of rows, parsed from a header in Python syntax.
    fn parsed(header: &str) -> Option<(Vec<String>, usize)> {
        let (before, list) = header.split_once("'descr':")?;
        let (mut rest, mut names) = (list.trim_start().strip_prefix('[')?, Vec::new());
        loop {
            rest = rest.trim_start_matches([' ', ',']);
            if let Some(after) = rest.strip_prefix(']') {
                rest = after;
                break;
            }
            let (name, after) = word(rest.strip_prefix('(')?)?;
            let (kind, after) = word(after.trim_start().strip_prefix(',')?.trim_start())?;
            if kind != "<f8" {
                return None;
            }
            names.push(name);
            rest = after.trim_start().strip_prefix(')')?;
        }
        // The keys of the header may have any order.
        let shape = rest.split_once("'shape':").or_else(|| before.split_once("'shape':"))?.1;
        let (sides, _) = shape.trim_start().strip_prefix('(')?.split_once(')')?;
        let rows = sides.trim().trim_end_matches(',').trim().parse().ok()?;
        Some((names, rows))
    }

    /// All numbers, row by row.
    fn numbers(&self, bytes: &[u8]) -> Result<Vec<f64>, String> {
        let entries = self.rows * self.names.len();
        let data = bytes.get(self.start..self.start + 8 * entries);
        let data = data.ok_or_else(|| {
            format!(
                "truncated: the shape {:?} needs {entries} entries",
                [self.rows, self.names.len()]
            )
        })?;
        Ok(data
            .chunks_exact(8)
            .map(|b| f64::from_le_bytes([b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7]]))
            .collect())
    }
}

/// A quoted string in Python syntax, and the text after it.
fn word(text: &str) -> Option<(String, &str)> {
    let quote = text.chars().next().filter(|c| ['\'', '"'].contains(c))?;
    let (mut out, mut escaped) = (String::new(), false);
    for (at, c) in text.char_indices().skip(1) {
        match c {
            c if escaped => {
                out.push(c);
                escaped = false;
            }
            '\\' => escaped = true,
            c if c == quote => return Some((out, &text[at + c.len_utf8()..])),
            c => out.push(c),
        }
    }
    None
}

/// The header of an NPY file in C order; type and shape are in Python syntax.
pub(super) fn header(kind: &str, shape: &str) -> Vec<u8> {
    let mut text = format!("{{'descr': {kind}, 'fortran_order': False, 'shape': {shape}}}");
    // Version 1 counts the header in two bytes, version 2 in four; version 3 is version 2 in UTF-8.
    let short = text.len() + 64 <= usize::from(u16::MAX);
    let (version, start) = match (text.is_ascii(), short) {
        (true, true) => (1, 10),
        (true, false) => (2, 12),
        (false, _) => (3, 12),
    };
    // The data start at a multiple of 64 bytes; the header ends with a newline.
    while (start + text.len() + 1) % 64 != 0 {
        text.push(' ');
    }
    text.push('\n');
    let mut out = b"\x93NUMPY".to_vec();
    out.extend([version, 0]);
    match version {
        1 => out.extend((text.len() as u16).to_le_bytes()),
        _ => out.extend((text.len() as u32).to_le_bytes()),
    }
    out.extend(text.as_bytes());
    out
}

/// A table as a plain array of shape rows x columns.
pub fn npy_bytes(table: &Table) -> Vec<u8> {
    with_numbers(
        header("'<f8'", &format!("({}, {}), ", table.rows.len(), table.columns.len())),
        table,
    )
}

/// A table as a structured array with one float64 field per column. If columns have no names, or
/// two have the same name, the result is a plain array.
///
/// ```
/// use metastable::flow::Table;
/// use metastable::lab::arrays::{npy_table, parse};
/// let table = Table { columns: vec!["t".into(), "energy".into()], rows: vec![vec![0.0, 0.5], vec![1.0, 0.25]] };
/// let bytes = npy_table(&table);
/// assert!(String::from_utf8_lossy(&bytes).contains("[('t', '<f8'), ('energy', '<f8')]"));
/// assert_eq!(parse("t.npy".as_ref(), &bytes, None).unwrap().shape, [2, 2]);
/// ```
pub fn npy_table(table: &Table) -> Vec<u8> {
    let distinct: std::collections::BTreeSet<&String> =
        table.columns.iter().filter(|c| !c.is_empty()).collect();
    if table.columns.is_empty() || distinct.len() < table.columns.len() {
        return npy_bytes(table);
    }
    let field = |c: &String| format!("('{}', '<f8')", c.replace('\\', "\\\\").replace('\'', "\\'"));
    let fields: Vec<String> = table.columns.iter().map(field).collect();
    with_numbers(
        header(&format!("[{}]", fields.join(", ")), &format!("({},), ", table.rows.len())),
        table,
    )
}

fn with_numbers(mut out: Vec<u8>, table: &Table) -> Vec<u8> {
    table.rows.iter().flatten().for_each(|v| out.extend(v.to_le_bytes()));
    out
}

/// The field names of a structured array of float64; `None` for other files.
pub fn fields(bytes: &[u8]) -> Option<Vec<String>> {
    Fields::of(bytes).ok()?.map(|f| f.names)
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

/// Reads a table from NPY: a structured array with these columns, or a plain array, as versions
/// before format 3 wrote them. Entries may be NaN.
pub fn table(bytes: &[u8], columns: Vec<String>) -> Option<Table> {
    let (data, width) = if let Some(fields) = Fields::of(bytes).ok()? {
        if fields.names != columns {
            return None;
        }
        (fields.numbers(bytes).ok()?, columns.len())
    } else {
        data_start(bytes).ok()?;
        let file = npyz::NpyFile::new(bytes).ok()?;
        let width = *file.shape().get(1).filter(|_| file.shape().len() == 2)? as usize;
        (file.into_vec().ok()?, width)
    };
    if width != columns.len() {
        return None;
    }
    let rows = if columns.is_empty() {
        Vec::new()
    } else {
        data.chunks(columns.len()).map(<[f64]>::to_vec).collect()
    };
    Some(Table { columns, rows })
}
