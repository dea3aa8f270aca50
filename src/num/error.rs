//! The errors of the library: what was found, where, and what was expected. Every `Display` is a sentence for the user.

use std::fmt;

/// Result with [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// Why an input was refused or an operation could not be done. No variant is a catch-all.
#[derive(Clone, Debug, PartialEq)]
pub enum Error {
    /// A parameter is out of range or malformed.
    Parameter {
        /// Its name as the user wrote it (a flag, a key, an argument).
        name: String,
        /// What was found.
        found: String,
        /// The range or form expected.
        expected: String,
    },
    /// A row of a tokens table is not a point of the sphere.
    Token {
        /// Row, counted from 1 as in an editor without comments.
        row: usize,
        /// What is wrong with it.
        problem: String,
    },
    /// A name that is not registered.
    Unknown {
        /// Kind of object ("dynamics", "law", ...).
        kind: &'static str,
        /// The name given.
        found: String,
        /// All known names.
        known: Vec<String>,
    },
    /// A file is malformed.
    File {
        /// The path as given.
        path: String,
        /// Line or member, when known.
        place: String,
        /// What is wrong.
        problem: String,
    },
    /// Several problems of one experiment file.
    Many(Vec<Error>),
    /// A quantity lies beyond f64.
    Beyond {
        /// The quantity.
        quantity: String,
        /// The normalisation or log form that works.
        hint: String,
    },
    /// A computation failed.
    Numerical {
        /// What failed and where.
        what: String,
    },
    /// The processor's arithmetic breaks what proofs rest on.
    Arithmetic {
        /// What was seen.
        fault: &'static str,
    },
    /// The machine failed.
    Io {
        /// The path.
        path: String,
        /// What was being done.
        doing: &'static str,
        /// The system's words.
        cause: String,
    },
    /// Interrupted by the user.
    Interrupted {
        /// How to go on.
        resume: String,
    },
}

impl Error {
    /// A parameter error.
    pub fn parameter(name: impl Into<String>, found: impl fmt::Display, expected: impl Into<String>) -> Self {
        Self::Parameter { name: name.into(), found: found.to_string(), expected: expected.into() }
    }

    /// An unknown name among the known ones.
    pub fn unknown<'a>(kind: &'static str, found: &str, known: impl IntoIterator<Item = &'a str>) -> Self {
        Self::Unknown { kind, found: found.into(), known: known.into_iter().map(str::to_owned).collect() }
    }

    /// An I/O error with its path; a file to read that is not there is a mistake of the input.
    pub fn io(path: impl fmt::Display, doing: &'static str, cause: &std::io::Error) -> Self {
        if cause.kind() == std::io::ErrorKind::NotFound && doing.starts_with("read") {
            return Self::File { path: path.to_string(), place: String::new(), problem: "no such file".into() };
        }
        Self::Io { path: path.to_string(), doing, cause: cause.to_string() }
    }

    /// The process exit code (design: 1 input, 4 numerical, 5 I/O, 130 interrupted).
    pub fn exit_code(&self) -> i32 {
        match self {
            Self::Numerical { .. } | Self::Arithmetic { .. } => 4,
            Self::Io { .. } => 5,
            Self::Interrupted { .. } => 130,
            _ => 1,
        }
    }
}

/// What is wrong with a text of JSON, as a sentence for people: for values of a wrong kind the
/// parser's own words are types of Rust.
///
/// ```
/// let e = serde_json::from_str::<Vec<f64>>("{}").unwrap_err();
/// let said = metastable::error::wrong_json(&e, "a list of numbers");
/// assert!(said.starts_with("found JSON of something else (line 1, ") && said.ends_with("expected a list of numbers"));
/// ```
pub fn wrong_json(e: &serde_json::Error, expected: &str) -> String {
    use serde_json::error::Category;
    let said = e.to_string();
    let named = |before: &str| said.strip_prefix(before)?.split_once('`').map(|(name, _)| name.to_owned());
    let found = match e.classify() {
        Category::Data => named("missing field `")
            .map(|name| format!("no field `{name}`"))
            .or_else(|| named("unknown variant `").map(|word| format!("the unknown word `{word}`")))
            .unwrap_or_else(|| "JSON of something else".into()),
        Category::Eof => "JSON that ends too early".into(),
        Category::Syntax | Category::Io => "no JSON".into(),
    };
    let place = if e.line() > 0 { format!(" (line {}, column {})", e.line(), e.column()) } else { String::new() };
    format!("found {found}{place}, expected {expected}")
}

/// Edit distance to a name, or one more than that to one of its words: `gama` means `gamma-curve`.
fn distance(found: &str, name: &str) -> usize {
    let name = name.to_lowercase();
    let words = name.split('-').filter(|w| w.len() > 3 && name.contains('-')).map(|w| strsim::damerau_levenshtein(found, w) + 1);
    words.chain([strsim::damerau_levenshtein(found, &name)]).min().unwrap_or(usize::MAX)
}

/// The known name nearest to `found` in edit distance, if any is near enough to be a slip of the pen.
pub fn nearest<'a>(found: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    known
        .into_iter()
        .map(|k| (distance(&found.to_lowercase(), k), k))
        .min()
        .filter(|(distance, k)| *distance <= 2.max(k.len() / 3))
        .map(|(_, k)| k)
}

/// A list up to this length is printed whole, a longer one by the names nearest to what was found.
const SHORT: usize = 8;

/// The `count` known names nearest to `found`: those that contain it, then by edit distance; each once.
pub fn nearest_few<'a>(found: &str, known: impl IntoIterator<Item = &'a str>, count: usize) -> Vec<&'a str> {
    let found = found.to_lowercase();
    let mut ranked: Vec<(usize, &str)> = known
        .into_iter()
        .map(|k| {
            let inside = found.len() > 2 && k.to_lowercase().contains(&found);
            (if inside { 1 } else { distance(&found, k) }, k)
        })
        .collect();
    ranked.sort_unstable();
    ranked.dedup();
    ranked.into_iter().take(count).map(|(_, k)| k).collect()
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Parameter { name, found, expected } => write!(f, "{name}: found {found}, expected {expected}"),
            Self::Token { row, problem } => write!(f, "row {row}: {problem}"),
            Self::Unknown { kind, found, known } => {
                write!(f, "unknown {kind} `{found}`")?;
                let few = nearest_few(found, known.iter().map(String::as_str), 3);
                let near = nearest(found, known.iter().map(String::as_str));
                if let Some(near) = near.filter(|near| few.first() == Some(near)) {
                    write!(f, "; did you mean `{near}`?")?;
                }
                if known.len() <= SHORT {
                    return write!(f, " (known: {})", known.join(", "));
                }
                write!(f, " (nearest of {}: {})", known.len(), few.join(", "))
            }
            Self::File { path, place, problem } if place.is_empty() => write!(f, "{path}: {problem}"),
            Self::File { path, place, problem } => write!(f, "{path}, {place}: {problem}"),
            Self::Many(all) => {
                let lines: Vec<String> = all.iter().map(ToString::to_string).collect();
                write!(f, "{}", lines.join("\n"))
            }
            Self::Beyond { quantity, hint } => write!(f, "{quantity} lies beyond double precision; {hint}"),
            Self::Numerical { what } => write!(f, "{what}"),
            Self::Arithmetic { fault } => write!(f, "nothing is proved on this processor as it is set: {fault}"),
            Self::Io { path, doing, cause } => write!(f, "{path}: could not {doing}: {cause}"),
            Self::Interrupted { resume } => write!(f, "interrupted; {resume}"),
        }
    }
}

impl std::error::Error for Error {}

/// A number for people: without hundreds of zeros.
pub fn show(value: f64) -> String {
    let size = value.abs();
    if size != 0.0 && !(1e-5..1e15).contains(&size) { format!("{value:e}") } else { value.to_string() }
}

/// Checks that a number is finite and inside `[lo, hi]`.
pub fn in_range(name: &str, value: f64, lo: f64, hi: f64) -> Result<f64> {
    if value.is_finite() && value >= lo && value <= hi {
        // Negative zero would print and hash differently from zero.
        Ok(if value == 0.0 { 0.0 } else { value })
    } else {
        Err(Error::parameter(name, show(value), format!("a number in [{}, {}]", show(lo), show(hi))))
    }
}
