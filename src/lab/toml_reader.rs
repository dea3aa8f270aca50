//! Reads TOML files and reports every problem with its line, the value found, the value expected
//! and the nearest key.

use super::range;
use crate::error::{Error, format_number, nearest};
use crate::operation::{Given, Kind, Parameters};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A table being read. Problems are collected; reading goes on after an error.
pub struct Reader<'a> {
    path: String,
    source: &'a str,
    table: Spanned<DeTable<'a>>,
    /// All problems so far.
    pub problems: Vec<Error>,
    known: Vec<&'static str>,
    /// Keys of subtables, each with the name of its subtable.
    inner: Vec<(&'static str, &'static str)>,
    /// Unknown keys of subtables: byte offset, key, name of the subtable, nearest known key.
    unknown_inner_keys: Vec<(usize, String, &'static str, Option<String>)>,
    malformed: bool,
    /// Offsets of the values that override those of the file, each with the text that gave it.
    changes: Vec<(usize, String)>,
}

/// A value that overrides a key of the file.
pub struct OverriddenKey {
    /// The text that gave it, for errors.
    flag: String,
    /// Depth of the key in subtables: 1 for `model.q`.
    depth: usize,
    /// Its offset if it came after the file and the overrides before it.
    at: usize,
    /// `KEY = VALUE`, preceded by blanks so that its offsets follow those of the file.
    text: String,
}

impl OverriddenKey {
    /// The overrides of a file with this text, each from its origin, key and TOML value.
    pub fn all(
        source: &str,
        changes: impl IntoIterator<Item = (String, String, String)>,
    ) -> Vec<Self> {
        let mut at = source.len() + 1;
        let one = |(flag, key, value): (String, String, String)| {
            let text = format!("{}{key} = {value}\n", " ".repeat(at));
            let change = Self { flag, depth: key.matches('.').count(), at, text };
            at = change.text.len() + 1;
            change
        };
        changes.into_iter().map(one).collect()
    }
}

impl<'a> Reader<'a> {
    fn of(path: &str, source: &'a str, table: Spanned<DeTable<'a>>) -> Self {
        let (problems, known, inner, unknown_inner_keys, changes) = Default::default();
        Self {
            path: path.into(),
            source,
            table,
            problems,
            known,
            inner,
            unknown_inner_keys,
            malformed: false,
            changes,
        }
    }

    /// Parses the document; syntax errors are problems too.
    pub fn new(path: &str, source: &'a str) -> Self {
        let (table, errors) = DeTable::parse_recoverable(source);
        let mut reader = Self::of(path, source, table);
        // One missing bracket may give an error in every line after it.
        for e in errors.iter().take(5) {
            let span = e.span().unwrap_or_default();
            let message = e.message().lines().next().unwrap_or("malformed");
            // The error of the parser gives the position of the key but not its name.
            let key = source
                .get(span.clone())
                .filter(|k| message.contains("duplicate key") && !k.is_empty());
            reader.problem(
                span.start,
                key.map_or(message.to_owned(), |k| format!("{message} `{}`", k.trim())),
            );
        }
        reader.malformed = !errors.is_empty();
        reader
    }

    /// The document with overrides for some keys.
    pub fn with_overrides(path: &str, source: &'a str, changes: &'a [OverriddenKey]) -> Self {
        let mut reader = Self::new(path, source);
        for change in changes {
            reader.changes.push((change.at, change.flag.clone()));
            let (table, errors) = DeTable::parse_recoverable(&change.text);
            let merged = match errors.first() {
                Some(e) => Err(e.message().lines().next().unwrap_or("malformed").to_owned()),
                None => merge(reader.table.get_mut(), table.into_inner(), change.depth),
            };
            if let Err(problem) = merged {
                reader.problem(change.at, problem);
            }
        }
        reader
    }

    /// Records a problem at an offset of the source. After a syntax error the rest of the file
    /// cannot be trusted, so nothing more is recorded.
    pub fn problem(&mut self, at: usize, problem: String) {
        if self.malformed {
            return;
        }
        let end = at.min(self.source.len());
        let before = &self.source.as_bytes()[..end];
        let line = before.iter().filter(|b| **b == b'\n').count() + 1;
        let start = before.iter().rposition(|b| *b == b'\n').map_or(0, |k| k + 1);
        let column = String::from_utf8_lossy(&before[start..]).chars().count() + 1;
        let change = self.changes.iter().rev().find(|change| change.0 <= at);
        let place = || format!("line {line}, column {column}");
        let place = change.map_or_else(place, |change| change.1.clone());
        let plain = problem.chars().map(|c| if c.is_control() { '?' } else { c }).collect();
        self.problems.push(Error::File { path: self.path.clone(), place, problem: plain });
    }

    /// The value of a key with its offset.
    fn take(&mut self, key: &'static str) -> Option<(usize, DeValue<'a>)> {
        self.known.push(key);
        self.table.get_ref().get(key).map(|v| (v.span().start, v.get_ref().clone()))
    }

    /// Records a wrong value.
    fn mismatch(&mut self, at: usize, key: &str, value: &DeValue, expected: &str) {
        self.problem(at, format!("{key}: found {}, expected {expected}", describe(value)));
    }

    /// A path in the file, relative to the folder of the file.
    pub fn sibling_path(&self, file: &str) -> std::path::PathBuf {
        std::path::Path::new(&self.path)
            .parent()
            .unwrap_or_else(|| std::path::Path::new(""))
            .join(file)
    }

    fn refuse_empty(&mut self, at: usize, key: &str, value: &DeValue) {
        if value.as_array().is_some_and(|list| list.is_empty()) {
            self.problem(at, format!("{key}: found an empty list, expected at least one value"));
        }
    }

    /// Reads a subtable with a reader of its own; its problems become problems of this reader.
    /// `expected` names the allowed values, such as "a table, or ..".
    pub fn subtable<R>(
        &mut self,
        key: &'static str,
        expected: &str,
        read: impl FnOnce(&mut Reader<'a>) -> R,
    ) -> Option<R> {
        let (at, value) = self.take(key)?;
        let DeValue::Table(table) = value else {
            self.mismatch(at, key, &value, expected);
            return None;
        };
        let mut reader = Reader::of(&self.path, self.source, Spanned::new(at..at, table));
        (reader.malformed, reader.changes) = (self.malformed, self.changes.clone());
        let out = read(&mut reader);
        self.problems.append(&mut reader.problems);
        // Whether an unknown key belongs to the outer table is known only when everything has been
        // read.
        for (at, unknown) in reader.unknown() {
            let near = nearest(&unknown, reader.known.iter().copied()).map(str::to_owned);
            self.unknown_inner_keys.push((at, unknown, key, near));
        }
        Some(out)
    }

    /// Declares the keys of a subtable: an unknown key with such a name gets a hint.
    pub fn declare_subtable(
        &mut self,
        table: &'static str,
        keys: impl IntoIterator<Item = &'static str>,
    ) {
        self.inner.extend(keys.into_iter().map(|key| (key, table)));
    }

    /// The value of a key if it is a string; otherwise `None` without a problem.
    pub fn word(&mut self, key: &'static str) -> Option<String> {
        self.take(key)?.1.as_str().map(str::to_owned)
    }

    /// The first string in the list of a key that passes a test; records no problem.
    pub fn listed(&self, key: &str, test: impl Fn(&str) -> bool) -> Option<String> {
        let list = self.table.get_ref().get(key)?.get_ref().as_array()?;
        list.iter().filter_map(|v| v.get_ref().as_str()).find(|s| test(s)).map(str::to_owned)
    }

    /// True if the key is present.
    pub fn has(&self, key: &str) -> bool {
        self.table.get_ref().contains_key(key)
    }

    /// The offset of the value of a key.
    pub fn offset(&self, key: &str) -> usize {
        self.table.get_ref().get(key).map_or(0, |v| v.span().start)
    }

    /// A string.
    pub fn string(&mut self, key: &'static str) -> Option<String> {
        let (at, value) = self.take(key)?;
        match value.as_str() {
            Some(s) => Some(s.to_owned()),
            None => {
                self.mismatch(at, key, &value, "a string");
                None
            }
        }
    }

    /// A string or a list of strings.
    pub fn strings(&mut self, key: &'static str) -> Option<Vec<(usize, String)>> {
        let (at, value) = self.take(key)?;
        let mut out = Vec::new();
        self.refuse_empty(at, key, &value);
        for (at, item) in items(at, &value) {
            match item.as_str() {
                Some(s) => out.push((at, s.to_owned())),
                None => self.mismatch(at, key, &item, "a string"),
            }
        }
        Some(out)
    }

    /// The values of a key whose lists are an axis of the grid: a list of strings, or a list of
    /// lists if one value may itself be a list (`many`).
    pub fn variants(&mut self, key: &'static str, many: bool) -> Option<Vec<Vec<String>>> {
        let (at, value) = self.take(key)?;
        self.refuse_empty(at, key, &value);
        let nested = value
            .as_array()
            .is_some_and(|list| list.iter().any(|i| i.get_ref().as_array().is_some()));
        let mut out = Vec::new();
        for (at, item) in items(at, &value) {
            let mut one = Vec::new();
            for (at, word) in items(at, &item) {
                match word.as_str() {
                    Some(s) => one.push(s.to_owned()),
                    None => self.mismatch(at, key, &word, "a string"),
                }
            }
            if nested && !many {
                self.problem(at, format!("{key}: found a list in a list, expected strings"));
            }
            self.refuse_empty(at, key, &item);
            out.push(one);
        }
        // If a value may be a list, a plain list is one value.
        Some(if many && !nested { vec![out.concat()] } else { out })
    }

    /// A flag.
    pub fn flag(&mut self, key: &'static str) -> Option<bool> {
        let (at, value) = self.take(key)?;
        value.as_bool().or_else(|| {
            self.mismatch(at, key, &value, "true or false");
            None
        })
    }

    /// A number or a list of numbers or ranges (`"0.1..9:lin90"`, `"1..100:log20"`), each inside
    /// `[lo, hi]`.
    pub fn numbers(&mut self, key: &'static str, lo: f64, hi: f64) -> Option<Vec<f64>> {
        let (at, value) = self.take(key)?;
        let mut out = Vec::new();
        self.refuse_empty(at, key, &value);
        for (at, item) in items(at, &value) {
            let values = match (number(&item), item.as_str()) {
                (Some(v), _) => Ok(vec![v]),
                (None, Some(text)) if text.contains("..") || text.contains(',') => {
                    range::reals(text)
                }
                (None, Some(text)) => {
                    let quotes = if text.trim().parse::<f64>().is_ok() {
                        "; write numbers without quotes"
                    } else {
                        ""
                    };
                    Err(Error::parameter(key, describe(&item), format!("{}{quotes}", range::FORMS)))
                }
                _ => Err(Error::parameter(
                    key,
                    describe(&item),
                    "a number, or a range such as \"0.1..9:lin90\"",
                )),
            };
            let values = match values {
                Ok(values) => values,
                Err(e) => {
                    self.problem(at, range::named(e, key).to_string());
                    continue;
                }
            };
            for v in values {
                // NaN fails the comparison and is refused here as well.
                if v >= lo && v <= hi {
                    out.push(v);
                } else {
                    self.problem(
                        at,
                        format!(
                            "{key}: found {}, expected a number in [{}, {}]",
                            format_number(v),
                            format_number(lo),
                            format_number(hi)
                        ),
                    );
                    break;
                }
            }
        }
        Some(out)
    }

    /// One number inside `[lo, hi]`.
    pub fn number(&mut self, key: &'static str, lo: f64, hi: f64) -> Option<f64> {
        let values = self.numbers(key, lo, hi)?;
        self.single(key, &values)
    }

    /// A seed: a whole number of 64 bits, as on the command line.
    pub fn seed(&mut self, key: &'static str) -> Option<u64> {
        let (at, value) = self.take(key)?;
        let seed = match &value {
            DeValue::Integer(i) => {
                u64::from_str_radix(&i.as_str().replace('_', ""), i.radix()).ok()
            }
            DeValue::Float(_) => {
                let whole = |v: &f64| v.fract() == 0.0 && (0.0..=9e15).contains(v);
                number(&value).filter(whole).map(|v| v as u64)
            }
            _ => None,
        };
        if seed.is_none() {
            let expected = format!("a whole number in [0, {}]", u64::MAX);
            self.mismatch(at, key, &value, &expected);
        }
        seed
    }

    /// Records that the value of a key is wrong.
    pub fn wrong(&mut self, key: &'static str, expected: &str) {
        if let Some((at, value)) = self.take(key) {
            self.mismatch(at, key, &value, expected);
        }
    }

    /// The single value of a key that does not take a list.
    fn single<T: Copy>(&mut self, key: &str, values: &[T]) -> Option<T> {
        if values.len() > 1 {
            self.problem(
                self.offset(key),
                format!("{key}: found a list of {} numbers, expected one", values.len()),
            );
        }
        values.first().copied()
    }

    /// One or several whole numbers inside `[lo, hi]`.
    pub fn counts(&mut self, key: &'static str, lo: usize, hi: usize) -> Option<Vec<usize>> {
        let at = self.offset(key);
        let values = self.numbers(key, lo as f64, hi as f64)?;
        if let Some(v) = values.iter().find(|v| v.fract() != 0.0) {
            self.problem(at, format!("{key}: found {v}, expected whole numbers"));
        }
        Some(values.iter().map(|v| *v as usize).collect())
    }

    /// One whole number inside `[lo, hi]`.
    pub fn count(&mut self, key: &'static str, lo: usize, hi: usize) -> Option<usize> {
        let values = self.counts(key, lo, hi)?;
        self.single(key, &values)
    }

    /// The parameters of a table that are among these keys; the others have their defaults. A
    /// wrong value is a problem of the file, and its parameter has its default too.
    pub fn parameters<P: Parameters>(&mut self, keys: &[&str]) -> Option<P> {
        let mut given = Given::default();
        for p in P::table().iter().filter(|p| keys.contains(&p.name)) {
            let (low, high) = p.bounds();
            let text = match p.kind {
                Kind::Whole => {
                    self.count(p.name, low as usize, high as usize).map(|v| v.to_string())
                }
                Kind::Real => self.number(p.name, low, high).map(|v| format!("{v:?}")),
                Kind::Switch => self.flag(p.name).map(|v| v.to_string()),
                _ => self.string(p.name),
            };
            let Some(text) = text else { continue };
            match p.read(&text) {
                Ok(()) => given.add(p.name, &text),
                // A number out of its range is a problem already.
                Err(_) if matches!(p.kind, Kind::Whole | Kind::Real) => {}
                Err(e) => {
                    let at = self.offset(p.name);
                    self.problem(at, format!("{}: {e}", p.name));
                }
            }
        }
        P::of(&given).ok()
    }

    /// A table of numbers written as rows.
    pub fn rows(&mut self, key: &'static str) -> Option<Vec<Vec<f64>>> {
        let (at, value) = self.take(key)?;
        let mut out = Vec::new();
        for (at, row) in items(at, &value) {
            let numbers: Option<Vec<f64>> =
                row.as_array().and_then(|r| r.iter().map(|v| number(v.get_ref())).collect());
            match numbers {
                Some(r) => out.push(r),
                None => self.mismatch(at, key, &row, "rows of numbers"),
            }
        }
        Some(out)
    }

    /// Keys that were not read, with their offsets.
    fn unknown(&self) -> Vec<(usize, String)> {
        let is_known = |key: &str| self.known.contains(&key);
        let keys = self.table.get_ref().keys().filter(|k| !is_known(k.get_ref().as_ref()));
        keys.map(|k| (k.span().start, k.get_ref().to_string())).collect()
    }

    /// Records every key that was not read as a problem; call it last.
    pub fn finish(mut self) -> Vec<Error> {
        for (at, key) in self.unknown() {
            let inner = self.inner.iter().find(|(inner, _)| *inner == key);
            let hint = match (inner, nearest(&key, self.known.iter().copied())) {
                (Some((_, table)), _) => {
                    format!("; did you mean `{table}.{key}`, a key of [{table}]?")
                }
                (None, Some(near)) => format!("; did you mean `{near}`?"),
                (None, None) => String::new(),
            };
            self.problem(at, format!("unknown key `{key}`{hint}"));
        }
        for (at, key, table, near) in std::mem::take(&mut self.unknown_inner_keys) {
            let hint = match near {
                // All lines after the line [table] belong to that table.
                _ if self.known.iter().any(|k| *k == key) => {
                    format!(" in [{table}]; it belongs above the line [{table}]")
                }
                Some(near) => format!("; did you mean `{near}`?"),
                None => String::new(),
            };
            self.problem(at, format!("unknown key `{key}`{hint}"));
        }
        // In the order of the file.
        let line = |e: &Error| match e {
            Error::File { place, .. } => {
                let number = place.trim_start_matches("line ").split(',').next();
                number.and_then(|number| number.parse::<usize>().ok()).unwrap_or(0)
            }
            _ => 0,
        };
        self.problems.sort_by_key(line);
        self.problems
    }
}

/// Overrides keys of a table; subtables are merged key by key down to this depth.
fn merge<'a>(into: &mut DeTable<'a>, from: DeTable<'a>, depth: usize) -> Result<(), String> {
    for (key, value) in from {
        let name = key.get_ref().to_string();
        let deeper = depth > 0 && value.get_ref().is_table();
        match into.get_mut(name.as_str()) {
            Some(old) if deeper => match (old.get_mut(), value.into_inner()) {
                (DeValue::Table(old), DeValue::Table(new)) => merge(old, new, depth - 1)?,
                (old, _) => {
                    let found = describe(old);
                    return Err(format!(
                        "{name}: found {found} in the file, expected a table [{name}]"
                    ));
                }
            },
            Some(old) => *old = value,
            None => {
                into.insert(key, value);
            }
        }
    }
    Ok(())
}

/// A single value or the items of a list.
fn items<'a>(at: usize, value: &DeValue<'a>) -> Vec<(usize, DeValue<'a>)> {
    match value.as_array() {
        Some(list) => list.iter().map(|v| (v.span().start, v.get_ref().clone())).collect(),
        None => vec![(at, value.clone())],
    }
}

fn number(value: &DeValue) -> Option<f64> {
    match value {
        DeValue::Integer(i) if i.radix() == 10 => i.as_str().replace('_', "").parse().ok(),
        DeValue::Integer(i) => {
            let whole = u64::from_str_radix(&i.as_str().replace('_', ""), i.radix()).ok();
            whole.map(|v| v as f64)
        }
        DeValue::Float(f) => f.as_str().replace('_', "").parse().ok(),
        _ => None,
    }
}

fn describe(value: &DeValue) -> String {
    match value {
        DeValue::String(s) => format!("the string \"{}\"", s.chars().take(40).collect::<String>()),
        DeValue::Integer(i) => {
            let prefix = match i.radix() {
                2 => "0b",
                8 => "0o",
                16 => "0x",
                _ => "",
            };
            format!("{prefix}{}", i.as_str())
        }
        DeValue::Float(f) => f.as_str().to_owned(),
        DeValue::Boolean(b) => b.to_string(),
        DeValue::Datetime(d) => d.to_string(),
        DeValue::Array(a) => format!("a list of {} items", a.len()),
        DeValue::Table(_) => "a table".to_owned(),
    }
}
