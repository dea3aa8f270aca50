//! Arrays in the NPY format of NumPy.

use crate::flow::Table;
pub use crate::operation::Array;

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
    let header = Header::of(bytes)?;
    let shape = header.sides();
    let kind = match &header.kind {
        Kind::Plain(kind) => kind.as_str(),
        Kind::Fields(_) if header.is_table() => "<f8",
        Kind::Fields(_) => {
            return Err("found a structured header, expected a plain array of numbers, or fields \
                        of float64"
                .into());
        }
    };
    let entries =
        shape.iter().try_fold(1u64, |a, b| a.checked_mul(*b)).filter(|e| *e <= MAX_ENTRIES);
    if entries == Some(0) {
        return Err(format!("the shape {shape:?} has no entries"));
    }
    let Some(entries) = entries else {
        return Err(format!("the shape {shape:?} is too large; at most {MAX_ENTRIES} entries"));
    };
    let (data, roundoff) = decode(kind, &bytes[header.start..], entries as usize, &shape)?;
    let sides: Vec<usize> = shape.iter().map(|s| *s as usize).collect();
    let data =
        if header.fortran && header.shape.len() > 1 { from_fortran(&sides, &data) } else { data };
    Ok(Array { shape: sides, data, roundoff })
}

/// The first entries of data of a type in NumPy's notation, and the unit roundoff of the type.
fn decode(
    kind: &str,
    data: &[u8],
    entries: usize,
    shape: &[u64],
) -> Result<(Vec<f64>, f64), String> {
    let big = match kind.as_bytes().first() {
        Some(b'>') => true,
        Some(b'=') => cfg!(target_endian = "big"),
        _ => false,
    };
    /// Numbers of one type: its bytes in the order of the file, then its value.
    macro_rules! all {
        ($type:ty, $to:expr) => {{
            const SIZE: usize = size_of::<$type>();
            let taken = data.get(..SIZE * entries).ok_or_else(|| {
                format!(
                    "truncated: the shape {shape:?} needs {} bytes of data, the file has {}",
                    SIZE * entries,
                    data.len()
                )
            })?;
            let (numbers, _) = taken.as_chunks::<SIZE>();
            let value = |b: &[u8; SIZE]| {
                $to(if big { <$type>::from_be_bytes(*b) } else { <$type>::from_le_bytes(*b) })
            };
            numbers.iter().map(value).collect()
        }};
    }
    let known = match kind {
        "|i1" | "|u1" | "|b1" | "|V2" | "<V2" => kind,
        _ => kind.strip_prefix(['<', '>', '=']).unwrap_or(kind),
    };
    Ok(match known {
        "f8" => (all!(f64, |v| v), ROUNDOFF),
        "f4" => (all!(f32, f64::from), 2f64.powi(-24)),
        "f2" => (all!(u16, |bits| half::f16::from_bits(bits).to_f64()), 2f64.powi(-11)),
        // NumPy has no bfloat16; packages that add it write two plain bytes per entry.
        "|V2" | "<V2" => (all!(u16, |bits| half::bf16::from_bits(bits).to_f64()), 2f64.powi(-8)),
        "i8" => (all!(i64, |v| v as f64), ROUNDOFF),
        "u8" => (all!(u64, |v| v as f64), ROUNDOFF),
        "i4" => (all!(i32, f64::from), ROUNDOFF),
        "u4" => (all!(u32, f64::from), ROUNDOFF),
        "i2" => (all!(i16, f64::from), ROUNDOFF),
        "u2" => (all!(u16, f64::from), ROUNDOFF),
        "|i1" => (all!(i8, f64::from), ROUNDOFF),
        "|u1" => (all!(u8, f64::from), ROUNDOFF),
        // True is 1.
        "|b1" => {
            let numbers: Vec<f64> = all!(u8, f64::from);
            match numbers.iter().find(|v| **v > 1.0) {
                Some(v) => return Err(format!("found {v} as a boolean, expected 0 or 1")),
                None => (numbers, ROUNDOFF),
            }
        }
        _ => {
            let shown: String = kind.escape_debug().take(20).collect();
            let known = "float64, float32, float16, bfloat16 (V2), whole numbers or booleans";
            return Err(format!("found element type {shown}, expected {known}"));
        }
    })
}

/// The header of an NPY file: a Python dictionary of three keys in any order. It is read once from
/// left to right, whatever it holds.
struct Header {
    kind: Kind,
    fortran: bool,
    shape: Vec<u64>,
    /// Offset of the data.
    start: usize,
}

/// The type of an entry.
enum Kind {
    /// One number, in NumPy's notation: `<f8`.
    Plain(String),
    /// Names and types of fields.
    Fields(Vec<(String, String)>),
}

impl Header {
    fn of(bytes: &[u8]) -> Result<Self, String> {
        let range = header_of(bytes)?;
        let refused = || {
            "found a header of another kind, expected a type or fields with one type each, such as \
             {'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }"
                .to_owned()
        };
        let text = std::str::from_utf8(&bytes[range.clone()]).map_err(|_| refused())?;
        Self::parsed(text, range.end).ok_or_else(refused)
    }

    fn parsed(text: &str, start: usize) -> Option<Self> {
        let (mut kind, mut fortran, mut shape) = (None, None, None);
        let mut rest = text.trim_start().strip_prefix('{')?;
        loop {
            rest = rest.trim_start();
            if let Some(after) = rest.strip_prefix('}') {
                // Nothing follows, and no key is missing.
                let complete = after.trim().is_empty();
                return complete.then_some(Self {
                    kind: kind?,
                    fortran: fortran?,
                    shape: shape?,
                    start,
                });
            }
            let (key, after) = word(rest)?;
            let value = after.trim_start().strip_prefix(':')?.trim_start();
            let is_known = match key.as_str() {
                "descr" => kind.is_some(),
                "fortran_order" => fortran.is_some(),
                _ => shape.is_some(),
            };
            if is_known {
                return None;
            }
            match key.as_str() {
                "descr" => (kind, rest) = Kind::parsed(value).map(|(k, r)| (Some(k), r))?,
                "fortran_order" => {
                    let (order, after) = [("True", true), ("False", false)]
                        .into_iter()
                        .find_map(|(text, order)| Some((order, value.strip_prefix(text)?)))?;
                    (fortran, rest) = (Some(order), after);
                }
                "shape" => {
                    let (sides, after) = value.strip_prefix('(')?.split_once(')')?;
                    // A tuple of one number ends with a comma; that of none is empty.
                    let sides = sides.trim();
                    let sides = sides.strip_suffix(',').unwrap_or(sides);
                    let each = sides.split(',').filter(|_| !sides.is_empty());
                    let all = each.map(|s| s.trim().trim_end_matches('L').parse().ok());
                    (shape, rest) = (Some(all.collect::<Option<Vec<u64>>>()?), after);
                }
                _ => return None,
            }
            rest = rest.trim_start();
            rest = rest.strip_prefix(',').or_else(|| rest.starts_with('}').then_some(rest))?;
        }
    }

    /// Whether this is a structured array of one axis whose fields are all float64.
    fn is_table(&self) -> bool {
        let double = |(_, kind): &(String, String)| kind == "<f8";
        matches!(&self.kind, Kind::Fields(fields) if !fields.is_empty() && fields.iter().all(double))
            && self.shape.len() == 1
    }

    /// The lengths of the axes; fields are the last one.
    fn sides(&self) -> Vec<u64> {
        let width = match &self.kind {
            Kind::Plain(_) => None,
            Kind::Fields(fields) => Some(fields.len() as u64),
        };
        self.shape.iter().copied().chain(width).collect()
    }
}

impl Kind {
    /// A type and the text after it. Fields with a shape or fields of their own are not known.
    fn parsed(text: &str) -> Option<(Self, &str)> {
        let Some(mut rest) = text.strip_prefix('[') else {
            return word(text).map(|(kind, after)| (Self::Plain(kind), after));
        };
        let mut fields = Vec::new();
        loop {
            rest = rest.trim_start_matches([' ', ',']);
            if let Some(after) = rest.strip_prefix(']') {
                return Some((Self::Fields(fields), after));
            }
            let (name, after) = word(rest.strip_prefix('(')?)?;
            let (kind, after) = word(after.trim_start().strip_prefix(',')?.trim_start())?;
            fields.push((name, kind));
            rest = after.trim_start().strip_prefix(')')?;
        }
    }
}

/// The byte range of the header.
fn header_of(bytes: &[u8]) -> Result<std::ops::Range<usize>, String> {
    if !bytes.starts_with(b"\x93NUMPY") || bytes.len() < 12 {
        return Err("not an NPY array, or truncated in its header".into());
    }
    let (start, length): (usize, usize) = match bytes[6] {
        1 => (10, usize::from(u16::from_le_bytes([bytes[8], bytes[9]]))),
        2 | 3 => (12, u32::from_le_bytes([bytes[8], bytes[9], bytes[10], bytes[11]]) as usize),
        other => return Err(format!("found NPY version {other}, expected 1, 2 or 3")),
    };
    let end = start.saturating_add(length);
    if end > bytes.len() { Err("truncated in its header".into()) } else { Ok(start..end) }
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
    let header = Header::of(bytes).ok().filter(Header::is_table)?;
    let Kind::Fields(fields) = header.kind else { return None };
    Some(fields.into_iter().map(|f| f.0).collect())
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
    if fields(bytes).is_some_and(|names| names != columns) {
        return None;
    }
    let header = Header::of(bytes).ok()?;
    let shape = header.sides();
    let width = *shape.get(1).filter(|_| shape.len() == 2)? as usize;
    if width != columns.len() {
        return None;
    }
    let entries =
        shape.iter().try_fold(1u64, |a, b| a.checked_mul(*b)).filter(|e| *e <= MAX_ENTRIES)?;
    let double = header.is_table() || matches!(&header.kind, Kind::Plain(kind) if kind == "<f8");
    let data = double.then(|| decode("<f8", &bytes[header.start..], entries as usize, &shape));
    let (data, _) = data?.ok()?;
    let rows = if columns.is_empty() {
        Vec::new()
    } else {
        data.chunks(columns.len()).map(<[f64]>::to_vec).collect()
    };
    Some(Table { columns, rows })
}
