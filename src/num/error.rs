//! Errors of the library: which input was wrong, what was found, what was expected.
//!
//! An error is data; a front end turns it into a sentence and names parameters in its own way. A
//! text inside an error refers to a parameter as `--time-scale`; text in backticks is left alone.
//! [`Error::render`] replaces these references: the command line writes flags, `Display` writes the
//! names of the library, `time_scale`, which are those of Python and of experiment files.

use std::fmt;

/// Result with [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// What the operating system said about a file operation.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct IoCause {
    /// The kind of failure.
    pub kind: std::io::ErrorKind,
    /// The message.
    pub message: String,
}

impl From<&std::io::Error> for IoCause {
    fn from(e: &std::io::Error) -> Self {
        Self { kind: e.kind(), message: e.to_string() }
    }
}

impl fmt::Display for IoCause {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for IoCause {}

/// Why an input was refused or an operation failed. A version may add variants.
///
/// ```
/// use metastable::Error;
/// use std::error::Error as _;
/// let cause = std::io::Error::from(std::io::ErrorKind::PermissionDenied);
/// let e = Error::io("runs", "create the folder", &cause);
/// assert_eq!(e.source().unwrap().to_string(), cause.to_string());
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Error {
    /// A parameter is out of range or malformed.
    Parameter {
        /// Its name in the library (`t_end`), or as a flag (`--t-end`).
        name: String,
        /// The value found.
        found: String,
        /// The range or form expected.
        expected: String,
    },
    /// A row of a tokens table is not a point of the sphere.
    Token {
        /// Row of the table, counted from 1 without comment lines.
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
        /// All registered names.
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
    /// A quantity lies beyond the range of f64.
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
    /// The processor's arithmetic violates an assumption of the proofs.
    Arithmetic {
        /// The violation.
        fault: &'static str,
    },
    /// A file operation failed.
    Io {
        /// The path.
        path: String,
        /// The operation.
        doing: &'static str,
        /// What the operating system said.
        cause: IoCause,
    },
    /// Interrupted by the user.
    Interrupted {
        /// How to resume.
        resume: String,
    },
}

impl Error {
    /// A parameter error.
    pub fn parameter(
        name: impl Into<String>,
        found: impl fmt::Display,
        expected: impl Into<String>,
    ) -> Self {
        Self::Parameter { name: name.into(), found: found.to_string(), expected: expected.into() }
    }

    /// An unknown name among the known ones.
    pub fn unknown<'a>(
        kind: &'static str,
        found: &str,
        known: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        Self::Unknown {
            kind,
            found: found.into(),
            known: known.into_iter().map(str::to_owned).collect(),
        }
    }

    /// An I/O error with its path. A missing file that was to be read is an input error.
    pub fn io(path: impl fmt::Display, doing: &'static str, cause: &std::io::Error) -> Self {
        if cause.kind() == std::io::ErrorKind::NotFound && doing.starts_with("read") {
            return Self::File {
                path: path.to_string(),
                place: String::new(),
                problem: "no such file".into(),
            };
        }
        Self::Io { path: path.to_string(), doing, cause: cause.into() }
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

    /// The registered name closest to an unknown one, if it is likely to be meant.
    ///
    /// ```
    /// let e = metastable::Error::unknown("law", "unifrom", ["uniform", "cap"]);
    /// assert_eq!(e.nearest(), Some("uniform"));
    /// ```
    pub fn nearest(&self) -> Option<&str> {
        let Self::Unknown { found, known, .. } = self else { return None };
        nearest(found, known.iter().map(String::as_str))
    }

    /// The error as a sentence in which `name` writes every parameter.
    ///
    /// ```
    /// let e = metastable::Error::parameter("t_end", 9, "less than --log-from; see `run --out`");
    /// let flags = |name: &str| format!("--{}", name.replace('_', "-"));
    /// let sentence = "--t-end: found 9, expected less than --log-from; see `run --out`";
    /// assert_eq!(e.render(&flags), sentence);
    /// let sentence = "t_end: found 9, expected less than log_from; see `run --out`";
    /// assert_eq!(e.to_string(), sentence);
    /// ```
    pub fn render(&self, name: &dyn Fn(&str) -> String) -> String {
        match self {
            Self::Parameter { name: parameter, found, expected } => {
                let parameter = parameter.strip_prefix("--").unwrap_or(parameter);
                format!(
                    "{}: found {}, expected {}",
                    name(parameter),
                    with_names(found, name),
                    with_names(expected, name)
                )
            }
            Self::Many(all) => all.iter().map(|e| e.render(name)).collect::<Vec<_>>().join("\n"),
            other => with_names(&other.nested(), name),
        }
    }

    /// The error as the text of another error: references to parameters are kept.
    pub fn nested(&self) -> String {
        match self {
            Self::Parameter { name, found, expected } => {
                format!("{name}: found {found}, expected {expected}")
            }
            Self::Many(all) => all.iter().map(Self::nested).collect::<Vec<_>>().join("\n"),
            Self::Token { row, problem } => format!("row {row}: {problem}"),
            Self::Unknown { kind, found, known } => {
                let few = nearest_few(found, known.iter().map(String::as_str), 3);
                let near = self.nearest().filter(|near| few.first() == Some(near));
                let near = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
                let listed = if known.is_empty() {
                    "there are none".to_owned()
                } else if known.len() <= SHORT || *kind == PREDICTION {
                    format!("known: {}", known.join(", "))
                } else {
                    format!("nearest of {}: {}", known.len(), few.join(", "))
                };
                format!("unknown {kind} `{found}`{near} ({listed})")
            }
            Self::File { path, place, problem } if place.is_empty() => format!("{path}: {problem}"),
            Self::File { path, place, problem } => format!("{path}, {place}: {problem}"),
            Self::Beyond { quantity, hint } => {
                format!("{quantity} lies beyond double precision; {hint}")
            }
            Self::Numerical { what } => what.clone(),
            Self::Arithmetic { fault } => {
                format!("no proof is possible: the processor's arithmetic is not IEEE ({fault})")
            }
            Self::Io { path, doing, cause } => format!("{path}: could not {doing}: {cause}"),
            Self::Interrupted { resume } => format!("interrupted; {resume}"),
        }
    }
}

/// The text with every reference `--name` outside backticks written by `name`.
pub fn with_names(text: &str, name: &dyn Fn(&str) -> String) -> String {
    let parts = text
        .split('`')
        .enumerate()
        .map(|(k, part)| if k % 2 == 0 { references(part, name) } else { part.to_owned() });
    parts.collect::<Vec<_>>().join("`")
}

fn references(text: &str, name: &dyn Fn(&str) -> String) -> String {
    let mut pieces = text.split("--");
    let mut out = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        // A path such as `a--b.csv` is no reference.
        if !piece.starts_with(|c: char| c.is_ascii_lowercase())
            || out.ends_with(|c: char| !" (\n'".contains(c))
        {
            out.push_str("--");
            out.push_str(piece);
            continue;
        }
        let end =
            piece.find(|c: char| !(c.is_ascii_alphanumeric() || c == '-')).unwrap_or(piece.len());
        out.push_str(&name(&piece[..end]));
        out.push_str(&piece[end..]);
    }
    out
}

/// The problem of a malformed JSON text, without the Rust types that the parser's message names.
///
/// ```
/// let e = serde_json::from_str::<Vec<f64>>("{}").unwrap_err();
/// let message = metastable::error::wrong_json(&e, "a list of numbers");
/// assert!(message.starts_with("found JSON of something else (line 1, ") && message.ends_with("expected a list of numbers"));
/// ```
pub fn wrong_json(e: &serde_json::Error, expected: &str) -> String {
    use serde_json::error::Category;
    let text = e.to_string();
    let named =
        |before: &str| text.strip_prefix(before)?.split_once('`').map(|(name, _)| name.to_owned());
    let found = match e.classify() {
        Category::Data => named("missing field `")
            .map(|name| format!("no field `{name}`"))
            .or_else(|| named("unknown variant `").map(|word| format!("the unknown word `{word}`")))
            .unwrap_or_else(|| "JSON of something else".into()),
        Category::Eof => "JSON that ends too early".into(),
        Category::Syntax | Category::Io => "no JSON".into(),
    };
    let place = if e.line() > 0 {
        format!(" (line {}, column {})", e.line(), e.column())
    } else {
        String::new()
    };
    format!("found {found}{place}, expected {expected}")
}

/// Edit distance to a name or, plus one, to one of its words: `gama` is near `gamma-curve`.
fn distance(found: &str, name: &str) -> usize {
    let name = name.to_lowercase();
    let words = name
        .split('-')
        .filter(|w| w.len() > 3 && name.contains('-'))
        .map(|w| strsim::damerau_levenshtein(found, w) + 1);
    words.chain([strsim::damerau_levenshtein(found, &name)]).min().unwrap_or(usize::MAX)
}

/// The known name nearest to `found` in edit distance, if it is near enough for a typing error.
pub fn nearest<'a>(found: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    known
        .into_iter()
        .map(|k| (distance(&found.to_lowercase(), k), k))
        .min()
        .filter(|(distance, k)| *distance <= 2.max(k.len() / 3))
        .map(|(_, k)| k)
}

/// The kind of names that are always listed whole: who asks for a prediction does not know them.
pub const PREDICTION: &str = "prediction";

/// Lists up to this length are printed whole; of longer ones the nearest names.
const SHORT: usize = 8;

/// The `count` known names nearest to `found`: those that contain it, then by edit distance; each
/// once.
pub fn nearest_few<'a>(
    found: &str,
    known: impl IntoIterator<Item = &'a str>,
    count: usize,
) -> Vec<&'a str> {
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

/// Parameters by their names in the library: `t_end`.
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Parameter { name, found, expected } if !name.starts_with("--") => {
                let written = |name: &str| name.replace('-', "_");
                write!(
                    f,
                    "{name}: found {}, expected {}",
                    with_names(found, &written),
                    with_names(expected, &written)
                )
            }
            _ => f.write_str(&self.render(&|name| name.replace('-', "_"))),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { cause, .. } => Some(cause),
            Self::Many(all) => all.first().map(|e| e as _),
            _ => None,
        }
    }
}

/// A number in its shortest form, with an exponent if it is very small or large.
pub fn format_number(value: f64) -> String {
    let size = value.abs();
    if size != 0.0 && !(1e-5..1e15).contains(&size) {
        format!("{value:e}")
    } else {
        value.to_string()
    }
}

/// Checks that a number is finite and inside `[lo, hi]`.
pub fn in_range(name: &str, value: f64, lo: f64, hi: f64) -> Result<f64> {
    if value.is_finite() && value >= lo && value <= hi {
        // Negative zero would print and hash differently from zero.
        Ok(if value == 0.0 { 0.0 } else { value })
    } else {
        Err(Error::parameter(
            name,
            format_number(value),
            format!("a number in [{}, {}]", format_number(lo), format_number(hi)),
        ))
    }
}
