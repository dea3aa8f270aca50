//! Which existing files a command replaces.
//!
//! A file of this program says itself for which problem it was written: it holds a provenance
//! block, or it is a certificate, which begins with its hypotheses. A command replaces a file of
//! the same problem, an empty file, and a file with the bytes that it would write. Everything else
//! is a file that somebody may need.

use super::provenance::{self, Provenance};
use super::write::{is_special, write_atomically};
use crate::error::{Error, Result};
use std::io::Read;
use std::path::{Path, PathBuf};

/// Which existing files are replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replace {
    /// Those of the same problem.
    SameProblem,
    /// All files of this program.
    Own,
    /// All files.
    All,
}

/// The problem for which a file was written.
#[derive(Clone, Debug, PartialEq)]
pub enum Problem {
    /// That of a provenance block.
    Result(Box<Provenance>),
    /// The hypotheses of a certificate, one a line, or another text that only files of the same
    /// problem share.
    Hypotheses(String),
}

/// The first words of lines that state the hypotheses of a certificate.
const HYPOTHESES: [&str; 20] = [
    "kind",
    "masses",
    "upper",
    "beta",
    "interaction",
    "parameter",
    "gaps",
    "average",
    "dynamics",
    "tokens",
    "dimension",
    "radius",
    "start",
    "weights",
    "share",
    "from",
    "to",
    "gauss",
    "exponential",
    "samples",
];

/// Number of bytes in which the problem of a file is searched.
const SEARCHED: u64 = 64 << 20;

impl From<&Provenance> for Problem {
    fn from(block: &Provenance) -> Self {
        Self::Result(Box::new(block.clone()))
    }
}

impl Problem {
    /// The problem that a file with these bytes names; `None` for a file of another program, and
    /// for one that names none.
    ///
    /// ```
    /// use metastable::lab::replace::Problem;
    /// let (one, other) = ("metastable-time 1\nbeta 1p0\norder 14\n", "metastable-time 1\nbeta 1p1\n");
    /// let hypotheses = Problem::Hypotheses("metastable-time 1\nbeta 1p0\n".into());
    /// assert_eq!(Problem::of(one.as_bytes()), Some(hypotheses));
    /// assert_ne!(Problem::of(one.as_bytes()), Problem::of(other.as_bytes()));
    /// assert_eq!(Problem::of(b"1,0\n0,1\n"), None);
    /// ```
    pub fn of(bytes: &[u8]) -> Option<Self> {
        if let Some(text) = stated(bytes) {
            return Some(Self::Hypotheses(text));
        }
        provenance::block(bytes).map(|block| Self::Result(Box::new(block)))
    }

    /// Whether two files are about the same problem: the same settings, or the same command.
    pub fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Result(a), Self::Result(b)) => {
                a.what == b.what && (a.config_hash == b.config_hash || a.reproduce == b.reproduce)
            }
            _ => self == other,
        }
    }

    /// The problem of an existing file. Captions and arrays hold none: that of the table beside
    /// them counts.
    fn of_file(path: &Path) -> Option<Self> {
        let mut bytes = Vec::new();
        std::fs::File::open(path).ok()?.take(SEARCHED).read_to_end(&mut bytes).ok()?;
        Self::of(&bytes).or_else(|| {
            let bare = path.extension().is_some_and(|e| e == "txt" || e == "npy");
            if bare { Self::of_file(&path.with_extension("csv")) } else { None }
        })
    }
}

/// The text that identifies a certificate or a manual page.
fn stated(bytes: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(bytes);
    if text.starts_with("metastable-") {
        let mut lines = text.lines();
        let states = |line: &&str| HYPOTHESES.contains(&line.split(' ').next().unwrap_or_default());
        let first = lines.next().into_iter();
        return Some(first.chain(lines.take_while(states)).map(|l| format!("{l}\n")).collect());
    }
    // The point itself is a part of the statement: two proofs of one problem are equal.
    let point = text.starts_with("{\n  \"kind\": \"metastable critical point");
    if point {
        return Some(text.into_owned());
    }
    let page = text.lines().take(5).find(|line| line.starts_with(".TH metastable"));
    page.map(|line| line.split(' ').take(2).collect::<Vec<_>>().join(" "))
}

/// Checks whether a file may be written: if it exists, `replace` must allow it. `same` tells
/// whether a problem is the one for which it will be written.
///
/// **Errors** a file that is not replaced.
pub fn check(path: &Path, replace: Replace, same: &dyn Fn(&Problem) -> bool) -> Result<()> {
    let refused = |problem: &str| Error::File {
        path: path.display().to_string(),
        place: String::new(),
        problem: format!("{problem}; only --force replaces it"),
    };
    let keeps = std::fs::metadata(path).is_ok_and(|found| found.is_file() && found.len() > 0);
    if replace == Replace::All || !keeps || is_special(path) {
        return Ok(());
    }
    match Problem::of_file(path) {
        Some(own) if replace == Replace::Own || same(&own) => Ok(()),
        Some(_) => Err(refused("found the result of another problem")),
        None => Err(refused("found a file that this program did not write")),
    }
}

/// Writes the files of one problem, if all of them may be written ([`check`]). A file that has its
/// bytes already may.
///
/// **Errors** a file that is not replaced, or that cannot be written.
pub fn write(
    files: Vec<(PathBuf, Vec<u8>)>,
    problem: Option<&Problem>,
    replace: Replace,
) -> Result<()> {
    let same = |found: &Problem| problem.is_some_and(|own| own.is_same(found));
    for (path, bytes) in &files {
        let long = std::fs::metadata(path).is_ok_and(|m| m.len() == bytes.len() as u64);
        if !(long && !is_special(path) && std::fs::read(path).is_ok_and(|found| found == *bytes)) {
            check(path, replace, &same)?;
        }
    }
    files.iter().try_for_each(|(path, bytes)| write_atomically(path, bytes))
}
