//! Texts are plain: comments and pages have lines of at most 100 columns, sentences that are not
//! too long, and no turns of phrase that make one read twice. Public names are made of words that
//! the glossary or `tests/data/words.txt` holds.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

const COLUMNS: usize = 100;
/// Words of a sentence, formulas and code not counted.
const SENTENCE: usize = 45;

/// What makes a sentence hard to read, and what to write instead.
const AVOID: [(&str, &str); 14] = [
    ("nobody", "name who, or use the passive"),
    ("whoever", "name who"),
    ("that which", "name the thing"),
    ("none that", "name the thing"),
    ("of one's own", "of your own, or custom"),
    ("so often", "a number, or at this interval"),
    ("so many", "a number, or as many as"),
    ("is said", "name who says it, and where"),
    ("the same once more", "say what is repeated"),
    ("by name only", "say how it is chosen"),
    ("nothing is said", "say what is left out"),
    ("what it is not", "name the thing"),
    ("has to be believed", "say how it is checked"),
    ("it is what", "name the thing"),
];

/// A paragraph of prose: its file, its first line, its text.
struct Paragraph {
    file: PathBuf,
    line: usize,
    text: String,
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        if path.is_dir() {
            if !["target", "data", "runs", "node_modules"].contains(&name.as_str())
                && (!name.starts_with('.') || name == ".github")
            {
                files(&path, found);
            }
        } else if name.ends_with(".rs") || name.ends_with(".md") {
            found.push(path);
        }
    }
}

/// The prose of a file as (number of the line, text); an empty text ends a paragraph. Of a Rust
/// file these are the comments.
fn prose(path: &Path, text: &str) -> Vec<(usize, String)> {
    let rust = path.extension().is_some_and(|e| e == "rs");
    let mut fence = false;
    let mut lines = Vec::new();
    for (k, line) in text.lines().enumerate() {
        let line = line.trim_start();
        let body = match line.strip_prefix("//") {
            Some(rest) if rust => rest.trim_start_matches(['/', '!']),
            None if !rust => line,
            _ => {
                lines.push((k + 1, String::new()));
                continue;
            }
        };
        if body.trim_start().starts_with("```") {
            fence = !fence;
        }
        let table = body.trim_start().starts_with(['|', '<', '#', '!'])
            || body.contains("```")
            || body.trim_start().starts_with('[');
        let apart = fence || table || body.starts_with("     ") || (rust && body.starts_with("!["));
        lines.push((k + 1, if apart { String::new() } else { body.trim().to_owned() }));
        if apart && !fence && !table {
            lines.push((k + 1, String::new()));
        }
    }
    lines
}

fn paragraphs() -> Vec<Paragraph> {
    let mut found = Vec::new();
    files(root(), &mut found);
    let mut all = Vec::new();
    for file in found {
        let text = fs::read_to_string(&file).expect("UTF-8");
        let mut now = Paragraph { file: file.clone(), line: 0, text: String::new() };
        for (line, part) in prose(&file, &text).into_iter().chain([(0, String::new())]) {
            let item = part.starts_with("- ") || part.starts_with("* ");
            if (part.is_empty() || item) && !now.text.is_empty() {
                all.push(std::mem::replace(
                    &mut now,
                    Paragraph { file: file.clone(), line: 0, text: String::new() },
                ));
            }
            if !part.is_empty() {
                if now.text.is_empty() {
                    now.line = line;
                }
                now.text = format!("{} {part}", now.text);
            }
        }
    }
    all
}

/// Sentences of a text without its code and formulas.
fn sentences(text: &str) -> Vec<String> {
    let prose: String = text.split('`').step_by(2).collect::<Vec<_>>().join(" x ");
    let mut all = vec![String::new()];
    for word in prose.split_whitespace() {
        let now = all.last_mut().expect("one");
        now.push_str(word);
        now.push(' ');
        if word.ends_with(['.', ';', '?', '!', ':']) && !["e.g.", "i.e.", "cf."].contains(&word) {
            all.push(String::new());
        }
    }
    all
}

/// What makes this text hard to read.
fn faults(text: &str) -> Vec<String> {
    let lower = text.to_lowercase();
    let phrases = AVOID.iter().filter(|(phrase, _)| {
        lower.split('`').step_by(2).any(|outside_code| outside_code.contains(phrase))
    });
    let phrases = phrases.map(|(phrase, instead)| format!("`{phrase}` ({instead})"));
    let long = sentences(text).into_iter().filter_map(|sentence| {
        let is_word = |w: &&str| w.chars().filter(|c| c.is_alphabetic()).count() > 1;
        let words = sentence.split_whitespace().filter(is_word).count();
        let start: String = sentence.chars().take(60).collect();
        (words > SENTENCE).then(|| format!("a sentence of {words} words: {start}..."))
    });
    phrases.chain(long).collect()
}

#[test]
fn sentences_are_plain() {
    let wrong: Vec<String> = paragraphs()
        .iter()
        .flat_map(|p| {
            let file = p.file.strip_prefix(root()).expect("below").display();
            let place = format!("{file}:{}", p.line);
            faults(&p.text).into_iter().map(move |fault| format!("{place}: {fault}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{} places:\n{}", wrong.len(), wrong.join("\n"));
    // Controls: the check finds a phrase, not inside code, and a long sentence, not two short ones.
    assert_eq!(faults("Nobody reads it.").len(), 1);
    assert!(faults("`nobody` is a name.").is_empty());
    let half = "word ".repeat(SENTENCE - 5);
    assert_eq!(faults(&format!("{half}and {half}.")).len(), 1);
    assert!(faults(&format!("{half}end. {half}end.")).is_empty());
}

#[test]
fn lines_of_text_end_at_100_columns() {
    let mut found = Vec::new();
    files(root(), &mut found);
    let mut wrong = Vec::new();
    for file in found {
        let text = fs::read_to_string(&file).expect("UTF-8");
        let lines: BTreeMap<usize, String> = prose(&file, &text).into_iter().collect();
        for (k, line) in text.lines().enumerate() {
            let is_prose = lines.get(&(k + 1)).is_some_and(|t| t.contains(' '));
            if is_prose && line.chars().count() > COLUMNS && !line.contains("://") {
                wrong.push(format!(
                    "{}:{}",
                    file.strip_prefix(root()).expect("below").display(),
                    k + 1
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{} lines:\n{}", wrong.len(), wrong.join("\n"));
}

/// The words of public items: functions, types, fields, constants, modules.
fn public_words(found: &[PathBuf]) -> BTreeMap<String, String> {
    let mut words = BTreeMap::new();
    for file in found
        .iter()
        .filter(|f| f.starts_with(root().join("src")) && f.extension().is_some_and(|e| e == "rs"))
    {
        let text = fs::read_to_string(file).expect("UTF-8");
        for line in text.lines() {
            let Some(rest) = line.trim_start().strip_prefix("pub ") else { continue };
            let mut parts = rest.split_whitespace().skip_while(|w| {
                ["const", "static", "fn", "struct", "enum", "trait", "type", "mod"].contains(w)
            });
            let name = parts.next().unwrap_or_default();
            let name: String =
                name.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            if ["use", "crate", "self"].contains(&name.as_str()) {
                continue;
            }
            for word in split(&name) {
                words.entry(word).or_insert_with(|| {
                    format!("{}: {name}", file.strip_prefix(root()).expect("below").display())
                });
            }
        }
    }
    words
}

/// `EnergyScale`, `energy_scale` and `ENERGY_SCALE` are `energy` and `scale`.
fn split(name: &str) -> Vec<String> {
    let mut words = Vec::new();
    for part in name.split(['_', '-']) {
        let upper = part.chars().all(|c| !c.is_lowercase());
        let mut now = String::new();
        for c in part.chars() {
            if c.is_uppercase() && !upper && !now.is_empty() {
                words.push(std::mem::take(&mut now));
            }
            now.extend(c.to_lowercase());
        }
        words.push(now);
    }
    words.retain(|w| w.len() > 2 && w.chars().all(char::is_alphabetic));
    words
}

#[test]
fn public_names_are_made_of_known_words() {
    let mut found = Vec::new();
    files(root(), &mut found);
    let list = root().join("tests/data/words.txt");
    let words = public_words(&found);
    if std::env::var_os("METASTABLE_RENEW").is_some() {
        let all: Vec<&str> = words.keys().map(String::as_str).collect();
        fs::write(&list, format!("{}\n", all.join("\n"))).expect("a file");
    }
    let kept = fs::read_to_string(&list).expect("a file");
    let glossary =
        fs::read_to_string(root().join("src/guide/glossary.md")).expect("a file").to_lowercase();
    let known: BTreeSet<&str> =
        kept.split_whitespace().chain(glossary.split(|c: char| !c.is_alphabetic())).collect();
    let unknown: Vec<String> = words
        .iter()
        .filter(|(w, _)| !known.contains(w.as_str()))
        .map(|(w, at)| format!("{w} ({at})"))
        .collect();
    assert!(
        unknown.is_empty(),
        "words that neither the glossary nor tests/data/words.txt has: define them in src/guide/glossary.md, or add them to the list if every \
         mathematician or programmer knows them:\n{}",
        unknown.join("\n")
    );
}
