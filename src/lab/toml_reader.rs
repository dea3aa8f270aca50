//! Reading TOML with every problem reported: line, what was found, what was expected, the nearest key.

use crate::error::{Error, nearest, show};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A table being read; problems are collected, not thrown.
pub struct Reader<'a> {
    path: String,
    source: &'a str,
    table: Spanned<DeTable<'a>>,
    /// All problems so far.
    pub problems: Vec<Error>,
    known: Vec<&'static str>,
    malformed: bool,
}

impl<'a> Reader<'a> {
    /// Parses the document; syntax errors are problems too.
    pub fn new(path: &str, source: &'a str) -> Self {
        let (table, errors) = DeTable::parse_recoverable(source);
        let mut reader = Self { path: path.into(), source, table, problems: Vec::new(), known: Vec::new(), malformed: false };
        // One broken bracket may be reported for every line after it.
        for e in errors.iter().take(5) {
            let span = e.span().unwrap_or_default();
            let said = e.message().lines().next().unwrap_or("malformed");
            // The parser marks the key, and does not say it.
            let key = source.get(span.clone()).filter(|k| said.contains("duplicate key") && !k.is_empty());
            reader.problem(span.start, key.map_or(said.to_owned(), |k| format!("{said} `{}`", k.trim())));
        }
        reader.malformed = !errors.is_empty();
        reader
    }

    /// Books a problem at a byte of the source. After a syntax error the rest of the table is not to be trusted, so nothing more is booked.
    pub fn problem(&mut self, at: usize, problem: String) {
        if self.malformed {
            return;
        }
        let end = at.min(self.source.len());
        let line = self.source.as_bytes()[..end].iter().filter(|b| **b == b'\n').count() + 1;
        let plain = problem.chars().map(|c| if c.is_control() { '?' } else { c }).collect();
        self.problems.push(Error::File { path: self.path.clone(), place: format!("line {line}"), problem: plain });
    }

    /// The value of a key with its place.
    fn take(&mut self, key: &'static str) -> Option<(usize, DeValue<'a>)> {
        self.known.push(key);
        self.table.get_ref().get(key).map(|v| (v.span().start, v.get_ref().clone()))
    }

    /// Books a wrong value.
    fn wrong(&mut self, at: usize, key: &str, value: &DeValue, expected: &str) {
        self.problem(at, format!("{key}: found {}, expected {expected}", describe(value)));
    }

    /// A path given in the file, relative to the file's own folder.
    pub fn beside(&self, file: &str) -> std::path::PathBuf {
        std::path::Path::new(&self.path).parent().unwrap_or_else(|| std::path::Path::new("")).join(file)
    }

    fn refuse_empty(&mut self, at: usize, key: &str, value: &DeValue) {
        if value.as_array().is_some_and(|list| list.is_empty()) {
            self.problem(at, format!("{key}: found an empty list, expected at least one value"));
        }
    }

    /// A table inside, read like one of its own; its problems are problems of this one.
    pub fn inside<R>(&mut self, key: &'static str, read: impl FnOnce(&mut Reader<'a>) -> R) -> Option<R> {
        let (at, value) = self.take(key)?;
        let DeValue::Table(table) = value else {
            self.wrong(at, key, &value, "a table");
            return None;
        };
        let table = Spanned::new(at..at, table);
        let (path, source, malformed) = (self.path.clone(), self.source, self.malformed);
        let mut reader = Reader { path, source, table, problems: Vec::new(), known: Vec::new(), malformed };
        let out = read(&mut reader);
        self.problems.extend(reader.finish());
        Some(out)
    }

    /// The string under a key, when it is one; nothing is booked otherwise.
    pub fn word(&mut self, key: &'static str) -> Option<String> {
        self.take(key)?.1.as_str().map(str::to_owned)
    }

    /// True when the key is present.
    pub fn has(&self, key: &str) -> bool {
        self.table.get_ref().contains_key(key)
    }

    /// The byte where a key's value starts.
    pub fn place(&self, key: &str) -> usize {
        self.table.get_ref().get(key).map_or(0, |v| v.span().start)
    }

    /// A string.
    pub fn string(&mut self, key: &'static str) -> Option<String> {
        let (at, value) = self.take(key)?;
        match value.as_str() {
            Some(s) => Some(s.to_owned()),
            None => {
                self.wrong(at, key, &value, "a string");
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
                None => self.wrong(at, key, &item, "a string"),
            }
        }
        Some(out)
    }

    /// Values of a key whose lists are an axis: of strings, or of lists of strings where one value may be a list (`many`).
    pub fn variants(&mut self, key: &'static str, many: bool) -> Option<Vec<Vec<String>>> {
        let (at, value) = self.take(key)?;
        self.refuse_empty(at, key, &value);
        let nested = value.as_array().is_some_and(|list| list.iter().any(|i| i.get_ref().as_array().is_some()));
        let mut out = Vec::new();
        for (at, item) in items(at, &value) {
            let mut one = Vec::new();
            for (at, word) in items(at, &item) {
                match word.as_str() {
                    Some(s) => one.push(s.to_owned()),
                    None => self.wrong(at, key, &word, "a string"),
                }
            }
            if nested && !many {
                self.problem(at, format!("{key}: found a list in a list, expected strings"));
            }
            self.refuse_empty(at, key, &item);
            out.push(one);
        }
        // A plain list of a key that may be a list is one value.
        Some(if many && !nested { vec![out.concat()] } else { out })
    }

    /// A flag.
    pub fn flag(&mut self, key: &'static str) -> Option<bool> {
        let (at, value) = self.take(key)?;
        value.as_bool().or_else(|| {
            self.wrong(at, key, &value, "true or false");
            None
        })
    }

    /// A number or a list of numbers or ranges (`"0.1..9:lin90"`, `"1..100:log20"`), each inside `[lo, hi]`.
    pub fn numbers(&mut self, key: &'static str, lo: f64, hi: f64) -> Option<Vec<f64>> {
        let (at, value) = self.take(key)?;
        let mut out = Vec::new();
        self.refuse_empty(at, key, &value);
        for (at, item) in items(at, &value) {
            let values = match (number(&item), item.as_str()) {
                (Some(v), _) => vec![v],
                (None, Some(text)) => match range(text) {
                    Ok(values) => values,
                    Err(problem) => {
                        self.problem(at, format!("{key}: {problem}"));
                        continue;
                    }
                },
                _ => {
                    self.wrong(at, key, &item, "a number or a range such as \"0.1..9:lin90\"");
                    continue;
                }
            };
            for v in values {
                // NaN fails the comparison and is refused here as well.
                if v >= lo && v <= hi {
                    out.push(v);
                } else {
                    self.problem(at, format!("{key}: found {}, expected a number in [{}, {}]", show(v), show(lo), show(hi)));
                    break;
                }
            }
        }
        Some(out)
    }

    /// One number inside `[lo, hi]`.
    pub fn number(&mut self, key: &'static str, lo: f64, hi: f64) -> Option<f64> {
        let at = self.place(key);
        let values = self.numbers(key, lo, hi)?;
        if values.len() > 1 {
            self.problem(at, format!("{key}: found a list of {} numbers, expected one", values.len()));
        }
        values.first().copied()
    }

    /// One or several whole numbers inside `[lo, hi]`.
    pub fn counts(&mut self, key: &'static str, lo: usize, hi: usize) -> Option<Vec<usize>> {
        let at = self.place(key);
        let values = self.numbers(key, lo as f64, hi as f64)?;
        if let Some(v) = values.iter().find(|v| v.fract() != 0.0) {
            self.problem(at, format!("{key}: found {v}, expected whole numbers"));
        }
        Some(values.iter().map(|v| *v as usize).collect())
    }

    /// One whole number inside `[lo, hi]`.
    pub fn count(&mut self, key: &'static str, lo: usize, hi: usize) -> Option<usize> {
        let at = self.place(key);
        let values = self.counts(key, lo, hi)?;
        if values.len() > 1 {
            self.problem(at, format!("{key}: found a list of {} numbers, expected one", values.len()));
        }
        values.first().copied()
    }

    /// A table of numbers written as rows.
    pub fn rows(&mut self, key: &'static str) -> Option<Vec<Vec<f64>>> {
        let (at, value) = self.take(key)?;
        let mut out = Vec::new();
        for (at, row) in items(at, &value) {
            let numbers: Option<Vec<f64>> = row.as_array().and_then(|r| r.iter().map(|v| number(v.get_ref())).collect());
            match numbers {
                Some(r) => out.push(r),
                None => self.wrong(at, key, &row, "rows of numbers"),
            }
        }
        Some(out)
    }

    /// Every key that was never asked for is a problem; call last.
    pub fn finish(mut self) -> Vec<Error> {
        let unknown: Vec<(usize, String)> = self
            .table
            .get_ref()
            .iter()
            .filter(|(k, _)| !self.known.contains(&k.get_ref().as_ref()))
            .map(|(k, _)| (k.span().start, k.get_ref().to_string()))
            .collect();
        for (at, key) in unknown {
            let hint = nearest(&key, self.known.iter().copied()).map_or(String::new(), |n| format!("; did you mean `{n}`?"));
            self.problem(at, format!("unknown key `{key}`{hint}"));
        }
        // In the order of the file.
        let line = |e: &Error| match e {
            Error::File { place, .. } => place.trim_start_matches("line ").parse::<usize>().unwrap_or(0),
            _ => 0,
        };
        self.problems.sort_by_key(line);
        self.problems
    }
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
        DeValue::Float(f) => f.as_str().replace('_', "").parse().ok(),
        _ => None,
    }
}

fn describe(value: &DeValue) -> String {
    match value {
        DeValue::String(s) => format!("the string \"{}\"", s.chars().take(40).collect::<String>()),
        DeValue::Integer(i) => i.as_str().to_owned(),
        DeValue::Float(f) => f.as_str().to_owned(),
        DeValue::Boolean(b) => b.to_string(),
        DeValue::Datetime(d) => d.to_string(),
        DeValue::Array(a) => format!("a list of {} items", a.len()),
        DeValue::Table(_) => "a table".to_owned(),
    }
}

/// Longest range.
const MAX_RANGE: usize = 1_000_000;

/// `a..b:linK` or `a..b:logK`: K values from a to b, equally spaced or in geometric progression.
///
/// ```
/// use metastable::lab::toml_reader::range;
/// assert_eq!(range("1..3:lin3").unwrap(), vec![1.0, 2.0, 3.0]);
/// assert!(range("1..3:cubic3").is_err());
/// ```
pub fn range(text: &str) -> Result<Vec<f64>, String> {
    let expected = || format!("found \"{text}\", expected a range \"a..b:linK\" or \"a..b:logK\"");
    let (ends, rule) = text.split_once(':').ok_or_else(expected)?;
    let (a, b) = ends.split_once("..").ok_or_else(expected)?;
    let (a, b): (f64, f64) = (a.trim().parse().map_err(|_| expected())?, b.trim().parse().map_err(|_| expected())?);
    if rule.len() < 4 || !rule.is_ascii() || !a.is_finite() || !b.is_finite() {
        return Err(expected());
    }
    let count: usize = rule[3..].parse().map_err(|_| expected())?;
    if !(2..=MAX_RANGE).contains(&count) {
        return Err(format!("found {count} values in \"{text}\", expected 2 to {MAX_RANGE}"));
    }
    let last = (count - 1) as f64;
    let at = |k: usize, f: &dyn Fn(f64) -> f64| if k + 1 == count { b } else { f(k as f64 / last) };
    match &rule[..3] {
        "lin" => Ok((0..count).map(|k| at(k, &|s| a + (b - a) * s)).collect()),
        "log" if a > 0.0 && b > 0.0 => Ok((0..count).map(|k| at(k, &|s| a * (b / a).powf(s))).collect()),
        "log" => Err(format!("found \"{text}\", expected positive ends for a log range")),
        _ => Err(expected()),
    }
}
