//! Numeric arrays from files: CSV, NPY and NPZ (float64, float32 or integers), and tables to CSV and NPY.

use crate::error::{Error, Result};
use crate::flow::Table;
use crate::sphere::Tokens;
use std::io::{Cursor, Read, Write};
use std::path::Path;

/// A dense array in C order.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// Lengths of the axes.
    pub shape: Vec<usize>,
    /// Entries, last axis fastest.
    pub data: Vec<f64>,
}

/// Largest number of entries accepted from a file.
const MAX_ENTRIES: u64 = 1 << 28;

/// Most bytes that an array of an NPZ archive may unpack to (a small archive can hold a very long run of zeros); larger ones come as NPY.
const MAX_MEMBER: u64 = 256 << 20;

fn malformed(path: &Path, place: impl Into<String>, problem: impl Into<String>) -> Error {
    Error::File { path: path.display().to_string(), place: place.into(), problem: problem.into() }
}

/// Reads a CSV, NPY or NPZ file by its extension; `member` names the array of an NPZ (optional when it holds one array).
///
/// **Errors** a file that cannot be read, an unknown extension, ragged rows, entries that are not numbers (line and column), truncated data, a
/// missing member (the members are listed).
pub fn read(path: &Path, member: Option<&str>) -> Result<Array> {
    // Devices and pipes have no end and no size: only regular files are read.
    if std::fs::metadata(path).is_ok_and(|m| !m.is_file() && !m.is_dir()) {
        return Err(malformed(path, "", "not a regular file"));
    }
    let bytes = std::fs::read(path).map_err(|e| match e.kind() {
        std::io::ErrorKind::NotFound => malformed(path, "", "no such file"),
        _ => Error::io(path.display(), "read", &e),
    })?;
    parse(path, &bytes, member)
}

/// The same from bytes already in memory; `path` decides the format by its extension and is named in errors.
pub fn parse(path: &Path, bytes: &[u8], member: Option<&str>) -> Result<Array> {
    if bytes.is_empty() {
        return Err(malformed(path, "", "the file is empty"));
    }
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or("").to_ascii_lowercase();
    if let (Some(name), false) = (member, extension == "npz") {
        return Err(malformed(
            path,
            "",
            format!("found the array name `{name}`, but the file holds one array only; archives (.npz) hold several"),
        ));
    }
    match extension.as_str() {
        "npy" => npy(path, "", bytes),
        "npz" => npz(path, bytes, member),
        // Everything else is text: one row per line.
        _ => csv(path, bytes),
    }
}

fn csv(path: &Path, bytes: &[u8]) -> Result<Array> {
    let text = std::str::from_utf8(bytes)
        .map_err(|_| malformed(path, "", "found binary data, expected CSV text (or a file named .npy or .npz)"))?;
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .comment(Some(b'#'))
        .trim(csv::Trim::All)
        .from_reader(text.trim_start_matches('\u{feff}').as_bytes());
    let (mut data, mut columns, mut rows, mut named) = (Vec::new(), 0, 0, false);
    for record in reader.records() {
        let record = record.map_err(|e| malformed(path, "", e.to_string()))?;
        let line = record.position().map_or(0, csv::Position::line);
        // A trailing comma or blanks instead of commas are common in hand-made files.
        let fields: Vec<&str> = if record.len() == 1 { record[0].split_whitespace().collect() } else { record.iter().collect() };
        let fields = if fields.last() == Some(&"") { &fields[..fields.len() - 1] } else { &fields[..] };
        // Our own tables carry one line of column names.
        let is_name = |f: &&str| f.starts_with(|c: char| c.is_alphabetic()) && f.parse::<f64>().is_err();
        if fields.is_empty() || (rows == 0 && !named && fields.iter().all(is_name)) {
            named |= !fields.is_empty();
            continue;
        }
        for (c, field) in fields.iter().enumerate() {
            let value: f64 = field.parse().map_err(|_| {
                malformed(path, format!("line {line}, column {}", c + 1), format!("found `{}`, expected a number", shorten(field)))
            })?;
            if !value.is_finite() {
                let problem = format!("found {value}, expected a finite number");
                return Err(malformed(path, format!("line {line}, column {}", c + 1), problem));
            }
            data.push(value);
        }
        if rows == 0 {
            columns = fields.len();
        } else if fields.len() != columns {
            let problem = format!("found {} numbers, expected {columns} as in the first row", fields.len());
            return Err(malformed(path, format!("line {line}"), problem));
        }
        rows += 1;
    }
    if rows == 0 {
        return Err(malformed(path, "", "found no rows of numbers"));
    }
    Ok(Array { shape: vec![rows, columns], data })
}

fn shorten(field: &str) -> String {
    let plain: String = field.chars().take(40).map(|c| if c.is_control() { '?' } else { c }).collect();
    if field.chars().count() > 40 { format!("{plain}...") } else { plain }
}

fn npy(path: &Path, place: &str, bytes: &[u8]) -> Result<Array> {
    let bad = |problem: String| malformed(path, place, problem);
    check_header(bytes).map_err(bad)?;
    let file = npyz::NpyFile::new(bytes).map_err(|_| bad("not an NPY array, or truncated in its header".into()))?;
    let shape: Vec<u64> = file.shape().to_vec();
    let entries = shape.iter().try_fold(1u64, |a, b| a.checked_mul(*b)).filter(|e| *e <= MAX_ENTRIES);
    if entries == Some(0) {
        return Err(bad(format!("the shape {shape:?} has no entries")));
    }
    let Some(entries) = entries else {
        return Err(bad(format!("the shape {shape:?} is too large; at most {MAX_ENTRIES} entries")));
    };
    if entries > bytes.len() as u64 {
        return Err(bad(format!("truncated: the shape {shape:?} needs {entries} entries, the file has {} bytes", bytes.len())));
    }
    let fortran = file.order() == npyz::Order::Fortran && shape.len() > 1;
    let descr = file.dtype().descr().replace(['\'', '"', ' '], "");
    let truncated = |e: std::io::Error| bad(format!("truncated or corrupt data: {e}"));
    fn floats<T: npyz::Deserialize>(file: npyz::NpyFile<&[u8]>, to: impl Fn(T) -> f64) -> std::io::Result<Vec<f64>> {
        Ok(file.into_vec::<T>()?.into_iter().map(to).collect())
    }
    let data = match descr.as_str() {
        "<f8" | ">f8" | "=f8" => floats::<f64>(file, |v| v),
        "<f4" | ">f4" | "=f4" => floats::<f32>(file, f64::from),
        "<i8" | ">i8" => floats::<i64>(file, |v| v as f64),
        "<i4" | ">i4" => floats::<i32>(file, f64::from),
        other => return Err(bad(format!("found element type {other}, expected float64 (<f8) or float32 (<f4)"))),
    }
    .map_err(truncated)?;
    let shape: Vec<usize> = shape.iter().map(|s| *s as usize).collect();
    let data = if fortran { from_fortran(&shape, &data) } else { data };
    if let Some(i) = data.iter().position(|v| !v.is_finite()) {
        return Err(bad(format!("entry {i}: found {}, expected a finite number", data[i])));
    }
    Ok(Array { shape, data })
}

/// Refuses headers that are not those of a plain array before they reach the parser: nested types cost it exponential time.
fn check_header(bytes: &[u8]) -> std::result::Result<(), String> {
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
    Ok(())
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

/// The names of the arrays of an NPZ archive; none of another file.
pub fn members(bytes: &[u8]) -> Vec<String> {
    let Ok(archive) = zip::ZipArchive::new(Cursor::new(bytes)) else { return Vec::new() };
    archive.file_names().filter_map(|n| n.ok().map(|n| n.trim_end_matches(".npy").to_owned())).collect()
}

fn npz(path: &Path, bytes: &[u8], member: Option<&str>) -> Result<Array> {
    let bad = |problem: String| malformed(path, "", problem);
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).map_err(|e| bad(format!("not an NPZ archive, or truncated: {e}")))?;
    let names = members(bytes);
    let name = match member {
        Some(name) => names.iter().find(|n| *n == name),
        None if names.len() == 1 => names.first(),
        None if names.is_empty() => return Err(bad("holds no arrays".into())),
        None => return Err(bad(format!("holds several arrays ({}); name one of them", names.join(", ")))),
    };
    let name =
        name.ok_or_else(|| bad(Error::unknown("array", member.unwrap_or(""), names.iter().map(String::as_str)).to_string()))?.clone();
    let mut content = Vec::new();
    let entry = archive.by_name(&format!("{name}.npy")).map_err(|e| bad(format!("array {name}: {e}")))?;
    // One byte more tells an array that is too large from one that just fits: the size in the archive's own table need not be true.
    entry
        .take(MAX_MEMBER + 1)
        .read_to_end(&mut content)
        .map_err(|e| malformed(path, format!("array {name}"), format!("truncated or corrupt: {e}")))?;
    if content.len() as u64 > MAX_MEMBER {
        let problem =
            format!("unpacks to more than {} MB, the most that is read from an archive; give the array as an NPY file", MAX_MEMBER >> 20);
        return Err(malformed(path, format!("array {name}"), problem));
    }
    npy(path, &format!("array {name}"), &content)
}

/// Tokens from a file: rows are points of the sphere; `normalise` divides every row by its length.
///
/// **Errors** as [`read`], an array that is not a table, and rows that are not unit vectors (naming file and row).
pub fn tokens(path: &Path, member: Option<&str>, normalise: bool) -> Result<Tokens> {
    placed(path, member, |d, rows| if normalise { Tokens::normalised(d, rows) } else { Tokens::new(d, rows) })
}

/// Tokens from the rows of a file by a rule that is given d and the rows.
///
/// **Errors** as [`read`], an array that is not a table, and rows that the rule refuses (naming file and row).
pub fn placed(path: &Path, member: Option<&str>, place: impl FnOnce(usize, Vec<f64>) -> Result<Tokens>) -> Result<Tokens> {
    let array = read(path, member)?;
    let made = match array.shape[..] {
        [_, d] => place(d, array.data),
        _ => Err(Error::parameter("shape", format!("{:?}", array.shape), "a table n x d, one token per row")),
    };
    made.map_err(|e| match e {
        // These come from elsewhere.
        Error::Parameter { ref name, .. } if name == "radii" => e,
        e => malformed(path, "", e.to_string()),
    })
}

/// A matrix from a file with its number of rows.
pub fn matrix(path: &Path, member: Option<&str>) -> Result<(usize, Vec<f64>)> {
    let array = read(path, member)?;
    match array.shape[..] {
        [rows, _] => Ok((rows, array.data)),
        _ => Err(malformed(path, "", format!("found shape {:?}, expected a matrix", array.shape))),
    }
}

/// A list of numbers from a file (one per row, or one row).
pub fn list(path: &Path, member: Option<&str>) -> Result<Vec<f64>> {
    let array = read(path, member)?;
    if array.shape.iter().filter(|s| **s > 1).count() > 1 {
        return Err(malformed(path, "", format!("found shape {:?}, expected one number per row", array.shape)));
    }
    Ok(array.data)
}

/// A table as CSV text: a `#` line per header entry, column names, shortest round-trip decimals.
pub fn csv_text(table: &Table, header: &[String]) -> String {
    let mut out = String::new();
    for line in header {
        out.push_str(&format!("# {line}\n"));
    }
    out.push_str(&table.columns.join(","));
    out.push('\n');
    for row in &table.rows {
        let cells: Vec<String> = row.iter().map(ToString::to_string).collect();
        out.push_str(&cells.join(","));
        out.push('\n');
    }
    out
}

/// The table's numbers as an NPY array of shape rows x columns.
pub fn npy_bytes(table: &Table) -> Vec<u8> {
    let shape = format!("({}, {}), ", table.rows.len(), table.columns.len());
    let mut header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}}}");
    // The data start at a multiple of 64 bytes; the header ends with a newline.
    while (10 + header.len() + 1) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let mut out = b"\x93NUMPY\x01\x00".to_vec();
    out.extend((header.len() as u16).to_le_bytes());
    out.extend(header.as_bytes());
    for v in table.rows.iter().flatten() {
        out.extend(v.to_le_bytes());
    }
    out
}

/// Writes bytes durably: temporary file beside the target, flush, rename.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut partial = path.as_os_str().to_owned();
    partial.push(format!(".partial-{}", std::process::id()));
    let partial = std::path::PathBuf::from(partial);
    let attempt = || -> std::io::Result<()> {
        let mut file = std::fs::File::create(&partial)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        std::fs::rename(&partial, path)
    };
    attempt().map_err(|e| {
        let _ = std::fs::remove_file(&partial);
        Error::io(path.display(), "write", &e)
    })
}
