//! The house stays as it was drawn: layers, no circles, file sizes, one registration line, no printing and no clock below the lab.

use crate::imports::{self, Crate, circles, names};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// A module may use only modules that stand before it; lab and draw do not know each other.
const LAYERS: [&str; 19] = [
    "error",
    "num",
    "sphere",
    "attention",
    "transformer",
    "recurrent",
    "flow",
    "continuity",
    "landscape",
    "clusters",
    "entropy",
    "theory",
    "theorem",
    "study",
    "prelude",
    "lab",
    "draw",
    "paper_figs",
    "cli",
];

fn rust_files(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of the project").flatten() {
        let path = entry.path();
        if path.is_dir() {
            rust_files(&path, out);
        } else if path.extension().is_some_and(|e| e == "rs") {
            out.push(path);
        }
    }
}

fn sources() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    for folder in ["src", "paper_figs", "tests", "benches"] {
        rust_files(&root.join(folder), &mut files);
    }
    files.sort();
    files.into_iter().map(|f| (f.strip_prefix(root).expect("inside").to_path_buf(), fs::read_to_string(&f).expect("text"))).collect()
}

/// A file up to its unit tests, which stand at its end.
fn without_tests(text: &str) -> &str {
    text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default()
}

/// The layer of a file: its folder under src, or the top folder.
fn layer(path: &Path) -> Option<usize> {
    let mut parts = path.components().map(|c| c.as_os_str().to_string_lossy().into_owned());
    let top = parts.next()?;
    let name = if top == "src" { parts.next()?.trim_end_matches(".rs").to_owned() } else { top };
    LAYERS.iter().position(|l| *l == name)
}

fn imports() -> BTreeSet<imports::Import> {
    Crate::read(Path::new(env!("CARGO_MANIFEST_DIR"))).imports()
}

#[test]
fn modules_import_only_from_layers_before_theirs() {
    let imports = imports();
    assert!(imports.len() > 1000, "only {} imports read", imports.len());
    for i in &imports {
        let (Some(from), Some(to)) = (layer(Path::new(&i.from)), layer(Path::new(&i.to))) else {
            assert!(i.from == "src/lib.rs", "{} or {} is of no layer", i.from, i.to);
            continue;
        };
        assert!(to <= from, "{} imports from {}, a layer after its own", i.from, i.to);
        assert!(LAYERS[from] != "draw" || LAYERS[to] != "lab", "{} imports from {}: draw does not know lab", i.from, i.to);
    }
}

#[test]
fn no_circles_of_imports_between_files() {
    if let Some((file, circle)) = circles(&imports()).first_key_value() {
        panic!("{file} lies on a circle of imports among {circle:#?}");
    }
}

#[test]
fn files_stay_short() {
    let sources = sources();
    for (path, text) in &sources {
        let lines = text.lines().count();
        assert!(lines <= 600, "{} has {lines} lines", path.display());
    }
    let long: Vec<&PathBuf> = sources.iter().filter(|(p, t)| p.starts_with("src") && t.lines().count() > 400).map(|(p, _)| p).collect();
    let share = long.len() as f64 / sources.len() as f64;
    assert!(share < 0.05, "files above 400 lines: {long:?}");
}

#[test]
fn nothing_below_the_lab_prints_reads_files_looks_at_a_clock_or_knows_a_flag() {
    let lab = LAYERS.iter().position(|l| *l == "lab").expect("a layer");
    for (path, text) in sources() {
        if layer(&path).is_some_and(|own| own < lab) && path.starts_with("src") {
            for word in ["println!", "eprintln!", "std::fs", "Instant::now", "SystemTime", "current_num_threads"] {
                assert!(!text.contains(word), "{}: {word}", path.display());
            }
            for line in text.lines().filter(|l| !l.trim_start().starts_with("//")) {
                let flag = line.match_indices("--").any(|(k, _)| line[k + 2..].starts_with(|c: char| c.is_ascii_lowercase()));
                assert!(!flag, "{}: a flag of the command line: {line}", path.display());
            }
        }
    }
}

#[test]
fn every_plug_in_file_has_its_line_and_its_entry() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for folder in [
        "src/recurrent/map",
        "src/theorem/claim",
        "src/flow/observable",
        "src/study",
        "paper_figs",
    ] {
        let register = fs::read_to_string(root.join(folder).join("mod.rs")).expect("a register");
        for entry in fs::read_dir(root.join(folder)).expect("a folder").flatten() {
            let name = entry.file_name().to_string_lossy().trim_end_matches(".rs").to_owned();
            if name != "mod" && entry.path().extension().is_some_and(|e| e == "rs") {
                assert!(register.contains(&format!("pub mod {name};")), "{folder}/{name}.rs");
                assert!(fs::read_to_string(entry.path()).expect("text").contains("pub static ENTRY"), "{folder}/{name}.rs");
            }
        }
    }
}

/// Files that compare texts, and why.
const COMPARING: [(&str, &str); 26] = [
    ("src/cli/answer.rs", "what the parser of flags says is near"),
    ("src/cli/parts.rs", "the names of files"),
    ("src/lab/arrays.rs", "file endings and the types of NPY"),
    ("src/lab/provenance.rs", "file endings"),
    ("src/lab/store.rs", "the names of unfinished files"),
    ("src/lab/parse.rs", "keys of an experiment"),
    ("src/lab/toml_reader.rs", "words of an experiment"),
    ("src/lab/range.rs", "words of a range"),
    ("src/lab/computation.rs", "words of a range"),
    ("src/continuity/density.rs", "words of a density"),
    ("src/cli/region.rs", "words of a grid"),
    ("src/cli/parameter.rs", "words of a range"),
    ("src/cli/run.rs", "file endings"),
    ("src/cli/measure/outcome.rs", "the names of columns"),
    ("src/cli/clusters.rs", "the names of columns"),
    ("src/lab/run.rs", "the names of columns"),
    ("src/cli/figure/drawn.rs", "file endings"),
    ("src/cli/figure/gathering.rs", "file endings and the command that wrote a table"),
    ("src/cli/result_folder.rs", "file endings and the names of columns"),
    ("src/cli/movie.rs", "the names of columns"),
    ("src/cli/film.rs", "file endings"),
    ("src/cli/input.rs", "what the parser of flags says of a number"),
    ("src/lab/frame.rs", "words of a frame, columns of tables"),
    ("src/lab/npy.rs", "element types of the format"),
    ("src/lab/difference.rs", "file endings"),
    ("src/lab/model.rs", "words of a model"),
];

/// What these need to know of a model, a law, a space or a kernel is data: names are read where things are registered.
#[test]
fn nothing_is_recognised_by_its_name() {
    let folders =
        ["continuity", "landscape", "clusters", "entropy", "theory", "theorem", "study", "lab", "cli"].map(|f| format!("src/{f}/"));
    let mut wrong = Vec::new();
    let mut unused: BTreeSet<&str> = COMPARING.iter().map(|c| c.0).collect();
    for (path, text) in sources() {
        let own = path.to_string_lossy().replace('\\', "/");
        if !own.starts_with("paper_figs/") && !folders.iter().any(|f| own.starts_with(f)) {
            continue;
        }
        let found = names::compared(without_tests(&text));
        if !found.is_empty() && !unused.remove(own.as_str()) {
            wrong.push(format!("{own} compares with {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "what they want to know is data, as `Variant`, `Facts` or an enum that is parsed once: {wrong:#?}");
    assert!(unused.is_empty(), "nothing is compared any more in {unused:?}");
}

/// Names that several types have, and why.
const SHARED_NAMES: [(&str, &str); 2] = [
    ("Arguments", "the flags of a command, one type a file"),
    ("Job", "one evaluation: of attention without matrices by a kernel, and of heads with sources of their own"),
];

#[test]
fn one_name_one_type() {
    let (mut seen, mut wrong) = (BTreeMap::new(), Vec::new());
    for (path, text) in
        sources().into_iter().filter(|(p, _)| p.starts_with("src") && !p.starts_with("src/python") || p.starts_with("paper_figs"))
    {
        for name in names::shown_types(&text) {
            let also = seen.insert(name.clone(), path.clone());
            if let Some(also) = also.filter(|_| !SHARED_NAMES.iter().any(|(known, _)| *known == name)) {
                wrong.push(format!("`{name}` is a type of {} and of {}", path.display(), also.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(seen.len() > 200, "only {} types read", seen.len());
}

#[test]
fn one_loop_asks_for_steps_and_judges_them() {
    // Systems are asked by the loop alone; the steppers of tokens by their system, and by the stepper that is made of two.
    let askers = ["drive.rs", "particles.rs", "mover.rs"].map(|f| format!("src/flow/{f}"));
    let (mut asking, mut judging) = (BTreeSet::new(), BTreeSet::new());
    for (path, text) in sources() {
        let own = path.to_string_lossy().replace('\\', "/");
        let code: Vec<&str> = without_tests(&text).lines().filter(|l| !l.trim_start().starts_with("//")).collect();
        if own.starts_with("src/") && code.iter().any(|l| l.contains(".attempt(")) {
            asking.insert(own.clone());
        }
        if own.starts_with("src/") && code.iter().any(|l| l.contains(".judge(")) {
            judging.insert(own);
        }
    }
    assert_eq!(asking, BTreeSet::from(askers));
    assert_eq!(judging, BTreeSet::from(["src/flow/drive.rs".to_owned()]));
}

#[test]
fn citations_are_to_papers() {
    // Numbered sections of notes that are not here would send a reader nowhere.
    for (path, text) in sources() {
        for word in ["theory ", "design ", "theory2 ", "rigor "] {
            let numbered = |(k, w): (usize, &str)| text[k + w.len()..].starts_with(|c: char| c.is_ascii_digit());
            let own = path.ends_with("architecture.rs");
            assert!(own || !text.match_indices(word).any(numbered), "{}: a section of a document that is not here", path.display());
        }
    }
}

#[test]
fn no_left_overs() {
    for (path, text) in sources() {
        let own = path.to_string_lossy().replace('\\', "/");
        if own.ends_with("architecture.rs") {
            continue;
        }
        for word in ["TODO", "FIXME", "todo!(", "unimplemented!(", "dbg!(", "#[ignore"] {
            assert!(!text.contains(word), "{own}: {word}");
        }
    }
}
