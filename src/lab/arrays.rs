//! Reads numeric arrays from files, pipes and standard input (CSV, NPY, NPZ); writes tables as CSV
//! and NPY.

use super::npy::{self, ROUNDOFF};
use crate::error::{Error, Result};
use crate::flow::Table;
use crate::labelled_table::LabelledTable;
use crate::sphere::Tokens;
use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};

pub use super::npy::{Array, npy_bytes, npy_table};
pub use super::write::{PendingFile, write_atomically, write_together};

/// Largest number of bytes read from a pipe or standard input, whose size is unknown.
const MAX_STREAM: u64 = 1 << 30;

/// Largest size of an unpacked array of an NPZ archive: a small archive can hold a very long run of
/// zeros. Larger arrays can be read as NPY.
const MAX_MEMBER: u64 = 256 << 20;

pub(super) fn malformed(
    path: &Path,
    place: impl Into<String>,
    problem: impl Into<String>,
) -> Error {
    Error::File { path: path.display().to_string(), place: place.into(), problem: problem.into() }
}

/// Reads CSV, NPY or NPZ from a file, a pipe, or standard input (`-`); `member` names the array in
/// an NPZ archive (optional if it holds one array).
///
/// **Errors** a file that cannot be read, ragged rows, entries that are not numbers (line and
/// column), truncated data, a missing member (the members are listed), a stream of more than a
/// gigabyte.
pub fn read(path: &Path, member: Option<&str>) -> Result<Array> {
    match named(path).filter(|_| member.is_none()) {
        Some((file, name)) => parse(&file, &load(&file)?, Some(name)),
        None => parse(path, &load(path)?, member),
    }
}

/// The file and the name of `hidden.npz:hidden_states`; `None` for other paths.
pub fn named(path: &Path) -> Option<(PathBuf, &str)> {
    let text = path.to_str().filter(|_| !path.exists())?;
    let (file, name) = text.rsplit_once(".npz:")?;
    Some((format!("{file}.npz").into(), name))
}

/// Reads all bytes of a file, a pipe, or standard input (`-`).
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
        // Pipes and devices have no size, and some never end.
        _ => std::fs::File::open(path).and_then(|mut f| stream(&mut f)),
    }
    .map_err(|e| match e.kind() {
        std::io::ErrorKind::NotFound => malformed(path, "", "no such file"),
        _ => Error::io(path.display(), "read", &e),
    })?;
    if !regular && bytes.len() as u64 > MAX_STREAM {
        return Err(malformed(
            path,
            "",
            format!("more than {} MB, the most that is read from a stream", MAX_STREAM >> 20),
        ));
    }
    Ok(bytes)
}

/// [`read`] from bytes in memory. The extension of `path` tells the format; otherwise the first
/// bytes do.
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
            format!(
                "found the array name `{name}`, but the file holds one array only; archives (.npz) \
                hold several"
            ),
        ));
    }
    match (array, archive) {
        (true, _) => npy::read(bytes).map_err(|problem| malformed(path, "", problem)),
        (_, true) => npz(path, bytes, member),
        // All other files are text, one row per line.
        _ => csv(path, bytes),
    }
}

fn csv(path: &Path, bytes: &[u8]) -> Result<Array> {
    let text = std::str::from_utf8(bytes).map_err(|_| {
        malformed(path, "", "found binary data, expected CSV text (or a file named .npy or .npz)")
    })?;
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .comment(Some(b'#'))
        .trim(csv::Trim::All)
        .from_reader(text.trim_start_matches('\u{feff}').as_bytes());
    let (mut data, mut columns, mut rows, mut named) = (Vec::new(), 0, 0, false);
    // The line of the first row, if its last cell is empty.
    let mut open = None;
    for record in reader.records() {
        let record = record.map_err(|e| malformed(path, "", e.to_string()))?;
        let line = record.position().map_or(0, csv::Position::line);
        // Files written by hand often have a trailing comma, or blanks instead of commas.
        let fields: Vec<&str> = if record.len() == 1 {
            record[0].split_whitespace().collect()
        } else {
            record.iter().collect()
        };
        let trailing = fields.last() == Some(&"");
        let fields = if trailing { &fields[..fields.len() - 1] } else { &fields[..] };
        // Tables of this program have one line of column names.
        let is_name =
            |f: &&str| f.starts_with(|c: char| c.is_alphabetic()) && f.parse::<f64>().is_err();
        if fields.is_empty() || (rows == 0 && !named && fields.iter().all(is_name)) {
            named |= !fields.is_empty();
            continue;
        }
        for (c, field) in fields.iter().enumerate() {
            let value: f64 = field.parse().map_err(|_| {
                malformed(
                    path,
                    format!("line {line}, column {}", c + 1),
                    format!("found `{}`, {}", shorten(field), hint(field)),
                )
            })?;
            if !value.is_finite() {
                let problem = format!("found {value}, expected a finite number");
                return Err(malformed(path, format!("line {line}, column {}", c + 1), problem));
            }
            data.push(value);
        }
        let empty = |line: u64, column: usize| {
            let place = format!("line {line}, column {column}");
            Err(malformed(path, place, "found nothing, expected a number"))
        };
        match (rows, fields.len()) {
            (0, count) => (columns, open) = (count, trailing.then_some(line)),
            (_, count) if count == columns => {}
            (_, count) if trailing && count + 1 == columns => return empty(line, columns),
            (_, count) => match open {
                Some(first) if count == columns + 1 => return empty(first, count),
                _ => {
                    let problem =
                        format!("found {count} numbers, expected {columns} as in the first row");
                    return Err(malformed(path, format!("line {line}"), problem));
                }
            },
        }
        rows += 1;
    }
    if rows == 0 {
        return Err(malformed(path, "", "found no rows of numbers"));
    }
    Ok(Array { shape: vec![rows, columns], data, roundoff: ROUNDOFF })
}

/// What was expected instead of a field. Numbers with semicolons, decimal commas or a typographic
/// minus get a hint of their own.
fn hint(field: &str) -> &'static str {
    let european = field.contains(';')
        && field
            .split(';')
            .all(|f| f.trim().is_empty() || f.trim().replace(',', ".").parse::<f64>().is_ok());
    if european {
        "which has semicolons (and perhaps decimal commas); expected commas, blanks or tabs \
        between numbers, and points in them"
    } else if field.replace(['\u{2212}', '\u{2013}'], "-").parse::<f64>().is_ok() {
        "which has a typographic minus; expected the sign - of the keyboard"
    } else {
        "expected a number"
    }
}

fn shorten(field: &str) -> String {
    let plain: String =
        field.chars().take(40).map(|c| if c.is_control() { '?' } else { c }).collect();
    if field.chars().count() > 40 { format!("{plain}...") } else { plain }
}

/// The names of the arrays in an NPZ archive; empty for other files.
pub fn members(bytes: &[u8]) -> Vec<String> {
    let Ok(archive) = zip::ZipArchive::new(Cursor::new(bytes)) else { return Vec::new() };
    archive
        .file_names()
        .filter_map(|n| n.ok().map(|n| n.trim_end_matches(".npy").to_owned()))
        .collect()
}

fn npz(path: &Path, bytes: &[u8], member: Option<&str>) -> Result<Array> {
    let bad = |problem: String| malformed(path, "", problem);
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes))
        .map_err(|e| bad(format!("not an NPZ archive, or truncated: {e}")))?;
    let names = members(bytes);
    let name = match member {
        Some(name) => names.iter().find(|n| *n == name),
        None if names.len() == 1 => names.first(),
        None if names.is_empty() => return Err(bad("holds no arrays".into())),
        None => {
            return Err(bad(format!(
                "holds several arrays ({}); name one with --array",
                names.join(", ")
            )));
        }
    };
    let name = name
        .ok_or_else(|| {
            bad(Error::unknown("array", member.unwrap_or(""), names.iter().map(String::as_str))
                .to_string())
        })?
        .clone();
    let mut content = Vec::new();
    let entry =
        archive.by_name(&format!("{name}.npy")).map_err(|e| bad(format!("array {name}: {e}")))?;
    // Reading one byte more than the limit detects larger arrays: the size in the directory of the
    // archive may be wrong.
    entry.take(MAX_MEMBER + 1).read_to_end(&mut content).map_err(|e| {
        malformed(path, format!("array {name}"), format!("truncated or corrupt: {e}"))
    })?;
    if content.len() as u64 > MAX_MEMBER {
        let problem = format!(
            "unpacks to more than {} MB, the most that is read from an archive; give the array as \
            an NPY file",
            MAX_MEMBER >> 20
        );
        return Err(malformed(path, format!("array {name}"), problem));
    }
    npy::read(&content).map_err(|problem| malformed(path, format!("array {name}"), problem))
}

/// Reads tokens from a file: rows are points of the sphere; `normalise` divides every row by its
/// length.
///
/// **Errors** as [`read`], an array that is not a table, and rows that are not unit vectors (naming
/// file and row).
pub fn tokens(path: &Path, member: Option<&str>, normalise: bool) -> Result<Tokens> {
    tokens_from_rows(path, &read(path, member)?, |d, rows| {
        if normalise { Tokens::normalised(d, rows) } else { Tokens::new(d, rows) }
    })
}

/// Tolerance, in unit roundoffs, for the length of a unit vector stored in lower precision: its
/// coordinates are rounded, and so was the sum that normalised it.
const LENGTH_ROUNDOFFS: f64 = 16.0;

/// Makes tokens from the rows of an array with a constructor that takes d and the rows. Rows that
/// the constructor refuses, but that are unit vectors to the precision in which they were stored,
/// are divided by their lengths.
///
/// **Errors** an array that is not a table, and rows that the constructor refuses (naming file and
/// row).
pub fn tokens_from_rows(
    path: &Path,
    array: &Array,
    constructor: impl Fn(usize, Vec<f64>) -> Result<Tokens>,
) -> Result<Tokens> {
    let made = match array.shape[..] {
        [_, d] => constructor(d, array.data.clone()).or_else(|e| match e {
            Error::Token { .. } if array.roundoff > ROUNDOFF && is_unit(d, array) => {
                constructor(d, Tokens::normalised(d, array.data.clone())?.coordinates().to_vec())
            }
            e => Err(e),
        }),
        _ => Err(Error::parameter(
            "shape",
            format!("{:?}", array.shape),
            "a table n x d, one token per row",
        )),
    };
    made.map_err(|e| match e {
        // Radii do not come from this file.
        Error::Parameter { ref name, .. } if name == "radii" => e,
        e => malformed(path, "", e.nested()),
    })
}

/// True if every row has length 1 to the stored precision.
fn is_unit(d: usize, array: &Array) -> bool {
    let tolerance = LENGTH_ROUNDOFFS * array.roundoff;
    array.data.chunks_exact(d).all(|r| (crate::num::sum::dot(r, r).sqrt() - 1.0).abs() <= tolerance)
}

/// Reads a matrix with its number of rows.
pub fn matrix(path: &Path, member: Option<&str>) -> Result<(usize, Vec<f64>)> {
    let array = read(path, member)?;
    match array.shape[..] {
        [rows, _] => Ok((rows, array.data)),
        _ => Err(malformed(path, "", format!("found shape {:?}, expected a matrix", array.shape))),
    }
}

/// Reads a list of numbers (one per row, or one row).
pub fn list(path: &Path, member: Option<&str>) -> Result<Vec<f64>> {
    let array = read(path, member)?;
    if array.shape.iter().filter(|s| **s > 1).count() > 1 {
        return Err(malformed(
            path,
            "",
            format!("found shape {:?}, expected one number per row", array.shape),
        ));
    }
    Ok(array.data)
}

/// Reads a table with column names from an NPY file that [`npy_table`] wrote; entries may be NaN.
///
/// **Errors** a file that cannot be read; an array without names.
pub fn table(path: &Path) -> Result<Table> {
    let bytes = load(path)?;
    let found = npy::fields(&bytes).and_then(|names| npy::table(&bytes, names));
    found.ok_or_else(|| {
        malformed(
            path,
            "",
            "found no structured array of float64, expected a table as `run` and `solve --out` \
            write it",
        )
    })
}

/// A table as CSV text: the header as `#` lines, column names, and numbers as the shortest decimals
/// that are read back exactly.
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

/// [`csv_text`] of a table with columns of words. The header lists the numbers that stand for these
/// words in NPY. Commas in words become semicolons.
pub fn labelled_csv(table: &LabelledTable, header: &[String]) -> String {
    let legend = table.legend().into_iter().map(|line| format!("in NPY, {line}"));
    let mut out = csv_text(
        &Table { columns: table.columns.clone(), rows: Vec::new() },
        &[header, &legend.collect::<Vec<_>>()].concat(),
    );
    let words: Vec<Option<&[String]>> = table.columns.iter().map(|c| table.words(c)).collect();
    for row in &table.rows {
        for (k, v) in row.iter().enumerate() {
            if k > 0 {
                out.push(',');
            }
            match words[k].and_then(|words| words.get(*v as usize)) {
                Some(word) => out.push_str(&word.replace(',', ";")),
                None => push_number(&mut out, *v),
            }
        }
        out.push('\n');
    }
    out
}

/// A table that [`csv_text`] or [`labelled_csv`] wrote. A column with an entry that is not a number
/// is a column of words.
///
/// **Errors** a file that cannot be read; a row of another length than the line of names.
pub fn labelled_table(path: &Path) -> Result<LabelledTable> {
    let text = std::fs::read_to_string(path).map_err(|e| Error::io(path.display(), "read", &e))?;
    let mut lines =
        text.lines().filter(|l| !l.starts_with('#')).map(|l| l.split(',').collect::<Vec<_>>());
    let names = lines.next().unwrap_or_default();
    let rows: Vec<Vec<&str>> = lines.collect();
    if let Some(k) = rows.iter().position(|row| row.len() != names.len()) {
        let problem = format!("found {} entries, expected {}", rows[k].len(), names.len());
        return Err(malformed(path, format!("row {}", k + 1), problem));
    }
    let mut table = LabelledTable::new(&names);
    table.rows = vec![Vec::new(); rows.len()];
    for (c, name) in names.into_iter().enumerate() {
        let numbers: Option<Vec<f64>> = rows.iter().map(|row| row[c].parse().ok()).collect();
        let mut words: Vec<&str> = Vec::new();
        let numbers = numbers.unwrap_or_else(|| {
            let indices = rows.iter().map(|row| {
                let known = words.iter().position(|w| *w == row[c]);
                known.unwrap_or_else(|| {
                    words.push(row[c]);
                    words.len() - 1
                }) as f64
            });
            indices.collect()
        });
        table.rows.iter_mut().zip(numbers).for_each(|(row, v)| row.push(v));
        if !words.is_empty() {
            table = table.with_labels(name, words);
        }
    }
    Ok(table)
}

/// Appends the shortest decimals that are read back as `v`, with an exponent below 1e-7 and from
/// 1e21 on; of two equally short and equally near ones it may choose the other. The algorithm of
/// the JSON writer is several times as fast; it is used where it writes neither `1.0` nor an
/// exponent.
pub fn push_number(out: &mut String, v: f64) {
    use std::fmt::Write;
    let size = v.abs();
    let plain = (1e-4..1e15).contains(&size) && v.fract() != 0.0;
    let number = if plain { serde_json::Number::from_f64(v) } else { None };
    // Writing to a string cannot fail.
    let _ = match number {
        Some(number) => write!(out, "{number}"),
        None if v.is_finite() && size > 0.0 && !(1e-7..1e21).contains(&size) => {
            write!(out, "{v:e}")
        }
        None => write!(out, "{v}"),
    };
}
