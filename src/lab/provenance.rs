//! Provenance: where a result comes from. Every artefact carries the same block.

use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::sync::OnceLock;

/// Increased whenever a published number may change by more than its stated error.
pub const NUMERICAL_VERSION: u32 = 14;

/// Version of the columns of stored tables and of how they are written. Cells of another version
/// are run again. Version 3: tables in NPY are structured arrays; a column `leaders`.
pub const FORMAT: u32 = 3;

/// The provenance block. It holds no user name, host, absolute path or time: figures must be
/// reproducible byte for byte, and times are in record.json only.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct Provenance {
    /// Tool and version.
    pub tool: String,
    /// See [`NUMERICAL_VERSION`].
    pub numerical_version: u32,
    /// Commit of the build, or `unknown`.
    pub commit: String,
    /// Compiler of the build, or `unknown`.
    pub compiler: String,
    /// Target of the build.
    pub target: String,
    /// The artefact: an experiment, cell, command or figure.
    pub what: String,
    /// SHA-256 of the resolved configuration.
    pub config_hash: String,
    /// The command that reproduces the artefact.
    pub reproduce: String,
}

/// Commit and compiler of the program.
static BUILD: OnceLock<(&str, &str)> = OnceLock::new();

/// Sets commit and compiler of the program; the first call counts. The library does not know them,
/// since otherwise every new commit would rebuild it.
pub fn built_from(commit: &'static [u8; 40], compiler: &'static str) {
    let known = commit.iter().all(u8::is_ascii_hexdigit);
    BUILD.get_or_init(|| {
        (std::str::from_utf8(commit).ok().filter(|_| known).unwrap_or("unknown"), compiler)
    });
}

/// Commit and compiler of the program, `unknown` if they were not set ([`built_from`]).
pub fn build() -> (&'static str, &'static str) {
    *BUILD.get().unwrap_or(&("unknown", "unknown"))
}

/// The commit in the last line of git's log of HEAD, whose fields are old commit, new commit,
/// author, time and reason. Zeros for an empty log.
///
/// ```
/// use metastable::lab::provenance::head_commit;
/// let (old, new) = ("a".repeat(40), "b".repeat(40));
/// let log = format!("{new} {old} Ann <a@b> 1 +0000\tcommit\n{old} {new} Ann <a@b> 2 +0000\tcommit\n");
/// assert_eq!(head_commit(log.as_bytes()), [b'b'; 40]);
/// assert_eq!(head_commit(b""), [0; 40]);
/// ```
pub const fn head_commit(log: &[u8]) -> [u8; 40] {
    // Search from the end: the log may be long, and the build script runs this.
    let mut start = log.len();
    while start > 0 && (start == log.len() || log[start - 1] != b'\n') {
        start -= 1;
    }
    match log.split_at(start).1.split_at_checked(41) {
        Some((_, rest)) => match rest.first_chunk() {
            Some(commit) => *commit,
            None => [0; 40],
        },
        None => [0; 40],
    }
}

impl Provenance {
    /// The block of an artefact. Paths in its texts are shortened by [`without_folders`].
    pub fn new(what: impl Into<String>, config: &str, reproduce: impl Into<String>) -> Self {
        Self {
            tool: format!("metastable {}", env!("CARGO_PKG_VERSION")),
            numerical_version: NUMERICAL_VERSION,
            commit: build().0.into(),
            compiler: build().1.into(),
            target: format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS),
            what: without_folders(&what.into()),
            config_hash: hash(config),
            reproduce: without_folders(&reproduce.into()),
        }
    }

    /// One line of JSON.
    pub fn json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// The lines for a CSV header.
    pub fn csv_header(&self) -> Vec<String> {
        vec![format!("provenance: {}", self.json())]
    }
}

/// Characters that may surround a path in a line.
const AROUND: [char; 10] = ['=', ',', ';', '+', '\'', '"', '(', ')', '[', ']'];

/// A line without the folders of this machine: an absolute path becomes relative to the working
/// folder if it lies inside it, otherwise the name of its file.
///
/// ```
/// use metastable::lab::provenance::without_folders;
/// let here = std::env::current_dir().unwrap().join("runs").join("a.csv");
/// let there = std::env::temp_dir().join("elsewhere").join("b.csv");
/// let line = format!("metastable solve --tokens {} --masses={}", here.display(), there.display());
/// assert_eq!(without_folders(&line).replace('\\', "/"), "metastable solve --tokens runs/a.csv --masses=b.csv");
/// ```
pub fn without_folders(line: &str) -> String {
    let here = working_folder();
    let (mut out, mut rest) = (String::with_capacity(line.len()), line);
    while !rest.is_empty() {
        let end =
            rest.find(|c: char| c.is_whitespace() || AROUND.contains(&c)).unwrap_or(rest.len());
        out.push_str(&local(&rest[..end], here.as_deref()));
        let after = rest[end..].chars().next().map_or(0, char::len_utf8);
        out.push_str(&rest[end..end + after]);
        rest = &rest[end + after..];
    }
    out
}

/// A word, quoted for a shell where necessary.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-.,:=/+".contains(c);
    if word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// The working folder; `None` for the root.
fn working_folder() -> Option<std::path::PathBuf> {
    std::env::current_dir().ok().filter(|here| here.parent().is_some())
}

/// The words of a command, quoted for a shell, without the folders of this machine. A word, or its
/// part after the first `=`, may be a path with spaces.
///
/// ```
/// use metastable::lab::provenance::command_without_folders;
/// let there = std::env::temp_dir().join("Jane Doe").join("two words.csv").display().to_string();
/// let words = ["--tokens".into(), there.clone(), format!("--masses={there}"), "--init".into(), "cap:radius=0.3".into()];
/// let expected = "--tokens 'two words.csv' '--masses=two words.csv' --init cap:radius=0.3";
/// assert_eq!(command_without_folders(&words), expected);
/// ```
pub fn command_without_folders(words: &[String]) -> String {
    let here = working_folder();
    let one = |word: &String| match word.split_once('=') {
        _ if Path::new(word).is_absolute() => local(word, here.as_deref()),
        Some((flag, value)) if Path::new(value).is_absolute() => {
            format!("{flag}={}", local(value, here.as_deref()))
        }
        _ => without_folders(word),
    };
    words.iter().map(|w| quoted(&one(w))).collect::<Vec<_>>().join(" ")
}

/// A word without the folders of this machine. A slash before a single word is not a path but a
/// division.
fn local(word: &str, here: Option<&Path>) -> String {
    let path = Path::new(word);
    let name = path.file_name().filter(|_| path.is_absolute() && path.components().count() > 2);
    let Some(name) = name else { return word.to_owned() };
    match here.and_then(|here| path.strip_prefix(here).ok()) {
        Some(inside) if inside.as_os_str().is_empty() => ".".to_owned(),
        Some(inside) => inside.display().to_string(),
        None => name.to_string_lossy().into_owned(),
    }
}

/// SHA-256 in hexadecimal.
pub fn hash(text: impl AsRef<[u8]>) -> String {
    use sha2::{Digest, Sha256};
    Sha256::digest(text.as_ref()).iter().map(|b| format!("{b:02x}")).collect()
}

/// Reads the block from a CSV, JSON, SVG, PNG, GIF or HTML file of this program; for an NPY file,
/// from the record or table beside it.
///
/// **Errors** a file without a block.
pub fn read(path: &Path) -> Result<Provenance> {
    let no_block = |problem: &str| Error::File {
        path: path.display().to_string(),
        place: String::new(),
        problem: problem.into(),
    };
    if !path.exists() {
        return Err(no_block("no such file"));
    }
    if path.is_dir() {
        let own = ["record.json", "results.csv", "report.html"]
            .into_iter()
            .map(|name| path.join(name))
            .find(|p| p.is_file());
        return own.map_or_else(
            || Err(no_block("found a folder that is no result, expected a file")),
            |own| read(&own),
        );
    }
    let bytes = std::fs::read(path).map_err(|e| Error::io(path.display(), "read", &e))?;
    if let Some(block) = block(&bytes) {
        return Ok(block);
    }
    // Arrays and captions carry no block: it is in the record or the table beside them.
    for beside in [
        path.with_file_name("record.json"),
        path.with_file_name("results.csv"),
        path.with_extension("csv"),
    ] {
        if path.extension().is_some_and(|e| e == "npy" || e == "txt") && beside.exists() {
            return read(&beside);
        }
    }
    Err(no_block("holds no provenance block of metastable"))
}

/// The block in the bytes of a file.
pub fn block(bytes: &[u8]) -> Option<Provenance> {
    let comment = bytes.starts_with(b"GIF8").then(|| gif_comment(bytes));
    let text = String::from_utf8_lossy(comment.as_deref().unwrap_or(bytes));
    text.match_indices("\"tool\"").find_map(|(at, _)| {
        // Records for readers have blanks after the brace.
        let start = text[..at].trim_end().strip_suffix('{')?.len();
        let mut values =
            serde_json::Deserializer::from_str(&text[start..]).into_iter::<Provenance>();
        values.next()?.ok().filter(|block| block.tool.starts_with("metastable"))
    })
}

/// The first comment of a GIF file. Its bytes come in blocks, each preceded by its length.
fn gif_comment(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut at = bytes.windows(2).position(|w| w == [0x21, 0xfe]).map_or(bytes.len(), |p| p + 2);
    while let Some(length) = bytes.get(at).copied().map(usize::from).filter(|l| *l > 0) {
        out.extend_from_slice(bytes.get(at + 1..at + 1 + length).unwrap_or_default());
        at += 1 + length;
    }
    out
}
