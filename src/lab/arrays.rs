//! Numeric arrays from files, pipes and the standard input: CSV, NPY and NPZ, and tables to CSV and NPY.

use super::npy::{self, ROUNDOFF};
use crate::error::{Error, Result};
use crate::flow::Table;
use crate::sphere::Tokens;
use std::io::{Cursor, Read, Write};
use std::path::{Path, PathBuf};

pub use super::npy::{Array, npy_bytes, npy_table};

/// Most bytes that are read from a pipe or the standard input, which have no size.
const MAX_STREAM: u64 = 1 << 30;

/// Most bytes that an array of an NPZ archive may unpack to (a small archive can hold a very long run of zeros); larger ones come as NPY.
const MAX_MEMBER: u64 = 256 << 20;

pub(super) fn malformed(path: &Path, place: impl Into<String>, problem: impl Into<String>) -> Error {
    Error::File { path: path.display().to_string(), place: place.into(), problem: problem.into() }
}

/// Reads CSV, NPY or NPZ, from a file, a pipe, or the standard input (`-`); `member` names the array of an NPZ (optional when it holds one array).
///
/// **Errors** a file that cannot be read, ragged rows, entries that are not numbers (line and column), truncated data, a missing member (the members
/// are listed), a stream of more than a gigabyte.
pub fn read(path: &Path, member: Option<&str>) -> Result<Array> {
    parse(path, &load(path)?, member)
}

/// All bytes of a file, a pipe, or the standard input (`-`).
pub fn load(path: &Path) -> Result<Vec<u8>> {
    let stream = |from: &mut dyn Read| -> std::io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        from.take(MAX_STREAM + 1).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let regular = std::fs::metadata(path).is_ok_and(|m| m.is_file() || m.is_dir());
    let bytes = match path.to_str() {
        Some("-") => stream(&mut std::io::stdin().lock()),
        _ if regular => std::fs::read(path),
        // Pipes and devices have no size, and some have no end.
        _ => std::fs::File::open(path).and_then(|mut f| stream(&mut f)),
    }
    .map_err(|e| match e.kind() {
        std::io::ErrorKind::NotFound => malformed(path, "", "no such file"),
        _ => Error::io(path.display(), "read", &e),
    })?;
    if !regular && bytes.len() as u64 > MAX_STREAM {
        return Err(malformed(path, "", format!("more than {} MB, the most that is read from a stream", MAX_STREAM >> 20)));
    }
    Ok(bytes)
}

/// The same from bytes already in memory. Their beginning says the format, where the extension of `path` does not.
pub fn parse(path: &Path, bytes: &[u8], member: Option<&str>) -> Result<Array> {
    if bytes.is_empty() {
        return Err(malformed(path, "", "the file is empty"));
    }
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or("").to_ascii_lowercase();
    let named = |e: &str| extension == e;
    let (array, archive) = match &bytes[..bytes.len().min(6)] {
        start if named("npy") || !named("npz") && start == b"\x93NUMPY" => (true, false),
        start if named("npz") || start.starts_with(b"PK\x03\x04") => (false, true),
        _ => (false, false),
    };
    if let (Some(name), false) = (member, archive) {
        return Err(malformed(
            path,
            "",
            format!("found the array name `{name}`, but the file holds one array only; archives (.npz) hold several"),
        ));
    }
    match (array, archive) {
        (true, _) => npy::read(bytes).map_err(|problem| malformed(path, "", problem)),
        (_, true) => npz(path, bytes, member),
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
                malformed(path, format!("line {line}, column {}", c + 1), format!("found `{}`, {}", shorten(field), hint(field)))
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
    Ok(Array { shape: vec![rows, columns], data, roundoff: ROUNDOFF })
}

/// What was expected instead of a field: the separators of other countries are told apart from words.
fn hint(field: &str) -> &'static str {
    let european =
        field.contains(';') && field.split(';').all(|f| f.trim().is_empty() || f.trim().replace(',', ".").parse::<f64>().is_ok());
    if european {
        "which has semicolons (and perhaps decimal commas); expected commas, blanks or tabs between numbers, and points in them"
    } else {
        "expected a number"
    }
}

fn shorten(field: &str) -> String {
    let plain: String = field.chars().take(40).map(|c| if c.is_control() { '?' } else { c }).collect();
    if field.chars().count() > 40 { format!("{plain}...") } else { plain }
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
    npy::read(&content).map_err(|problem| malformed(path, format!("array {name}"), problem))
}

/// Tokens from a file: rows are points of the sphere; `normalise` divides every row by its length.
///
/// **Errors** as [`read`], an array that is not a table, and rows that are not unit vectors (naming file and row).
pub fn tokens(path: &Path, member: Option<&str>, normalise: bool) -> Result<Tokens> {
    placed(path, &read(path, member)?, |d, rows| if normalise { Tokens::normalised(d, rows) } else { Tokens::new(d, rows) })
}

/// Unit roundoffs by which the length of a unit vector that was stored in fewer digits may differ from 1: its coordinates are rounded, and so was the
/// sum by which it was normalised.
const LENGTH_ROUNDOFFS: f64 = 16.0;

/// Tokens from the rows of a table by a rule that is given d and the rows. Rows that the rule takes for no unit vectors, but that are unit vectors to the
/// digits of the type they were stored in, are divided by their lengths.
///
/// **Errors** an array that is not a table, and rows that the rule refuses (naming file and row).
pub fn placed(path: &Path, array: &Array, place: impl Fn(usize, Vec<f64>) -> Result<Tokens>) -> Result<Tokens> {
    let made = match array.shape[..] {
        [_, d] => place(d, array.data.clone()).or_else(|e| match e {
            Error::Token { .. } if array.roundoff > ROUNDOFF && is_unit(d, array) => {
                place(d, Tokens::normalised(d, array.data.clone())?.coordinates().to_vec())
            }
            e => Err(e),
        }),
        _ => Err(Error::parameter("shape", format!("{:?}", array.shape), "a table n x d, one token per row")),
    };
    made.map_err(|e| match e {
        // These come from elsewhere.
        Error::Parameter { ref name, .. } if name == "radii" => e,
        e => malformed(path, "", e.to_string()),
    })
}

/// True when every row has length 1 to the digits that were stored.
fn is_unit(d: usize, array: &Array) -> bool {
    let tolerance = LENGTH_ROUNDOFFS * array.roundoff;
    array.data.chunks_exact(d).all(|r| (crate::num::sum::dot(r, r).sqrt() - 1.0).abs() <= tolerance)
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

/// A table of ours with its names, from an NPY file that [`npy_table`] made; its entries need not
/// be finite.
///
/// **Errors** a file that cannot be read; an array without names.
pub fn table(path: &Path) -> Result<Table> {
    let bytes = load(path)?;
    let found = npy::fields(&bytes).and_then(|names| npy::table(&bytes, names));
    found.ok_or_else(|| malformed(path, "", "found no structured array of float64, expected a table as `run` and `solve --out` write it"))
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
        for (k, v) in row.iter().enumerate() {
            if k > 0 {
                out.push(',');
            }
            push_number(&mut out, *v);
        }
        out.push('\n');
    }
    out
}

/// Appends the shortest digits that give `v` back, without an exponent, as `v.to_string()` does; of two that are as short and as near it may take the other
/// one. JSON's way of finding them is several times as fast, and is taken where it writes neither `1.0` nor an exponent.
pub fn push_number(out: &mut String, v: f64) {
    use std::fmt::Write;
    let plain = (1e-4..1e15).contains(&v.abs()) && v.fract() != 0.0;
    let number = if plain { serde_json::Number::from_f64(v) } else { None };
    // A string takes everything.
    let _ = match number {
        Some(number) => write!(out, "{number}"),
        None => write!(out, "{v}"),
    };
}

/// A word that no other writer has, on this machine or on another one that shares the disk.
pub(super) fn unique() -> String {
    use std::hash::{BuildHasher, Hasher, RandomState};
    static COUNT: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
    // A state drawn by the standard library: another one in every process.
    let mut hasher = RandomState::new().build_hasher();
    hasher.write_u64(COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed));
    format!("{}-{:016x}", std::process::id(), hasher.finish())
}

/// Writes bytes durably: temporary file beside the target, flush, rename.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<()> {
    Partial::new(path.to_owned(), bytes)?.finish()
}

/// A file to be written: its path, and what makes its bytes.
pub type Making<'a> = (PathBuf, Box<dyn FnOnce() -> Vec<u8> + Send + 'a>);

/// [`write_atomically`] for several files: the flushes side by side, which take the disk little more time than one, then the names in the order given, so
/// that where the last file is all are.
///
/// **Errors** the first file, in this order, that cannot be written.
pub fn write_together(files: Vec<Making>) -> Result<()> {
    let partial: Vec<Result<Partial>> = std::thread::scope(|scope| {
        let threads: Vec<_> = files.into_iter().map(|(path, bytes)| scope.spawn(move || Partial::new(path, &bytes()))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    });
    partial.into_iter().collect::<Result<Vec<_>>>()?.into_iter().try_for_each(Partial::finish)
}

/// A file on the disk that has not its name yet; it goes when it gets none.
struct Partial {
    file: PathBuf,
    path: PathBuf,
}

impl Partial {
    fn new(path: PathBuf, bytes: &[u8]) -> Result<Self> {
        let mut file = path.as_os_str().to_owned();
        file.push(format!(".partial-{}", unique()));
        let partial = Self { file: file.into(), path };
        let flushed = std::fs::File::create(&partial.file).and_then(|mut file| {
            file.write_all(bytes)?;
            file.sync_all()
        });
        flushed.map_err(|e| Error::io(partial.path.display(), "write", &e)).map(|()| partial)
    }

    fn finish(self) -> Result<()> {
        std::fs::rename(&self.file, &self.path).map_err(|e| Error::io(self.path.display(), "write", &e))
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.file);
    }
}
