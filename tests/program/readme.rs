//! The commands and programs of the README, the guide and the paper are current. (Their Rust
//! programs are doc-tests.) The commands are those of a POSIX shell.

use crate::program::{NO_PROGRESS, files_below};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Runs a line in a shell in a folder, with the program on the path. Returns its output and whether
/// it succeeded.
fn shell(folder: &Path, line: &str) -> (String, bool) {
    let program = Path::new(env!("CARGO_BIN_EXE_metastable")).parent().expect("a folder");
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap_or_default());
    let whole = format!("exec 2>&1; {line}");
    let out = Command::new("sh")
        .args(["-c", &whole])
        .env("PATH", path)
        .env(NO_PROGRESS.0, NO_PROGRESS.1)
        .current_dir(folder)
        .output()
        .expect("a shell");
    (String::from_utf8_lossy(&out.stdout).into_owned(), out.status.success())
}

/// The fenced blocks of a page: the words after the fence, and the text.
fn blocks(page: &str) -> Vec<(Vec<&str>, String)> {
    let mut out: Vec<(Vec<&str>, String)> = Vec::new();
    let mut inside = false;
    for line in page.lines() {
        match line.strip_prefix("```") {
            Some(words) if !inside => out.push((words.split_whitespace().collect(), String::new())),
            None if inside => out.last_mut().expect("a block").1.push_str(&format!("{line}\n")),
            _ => {}
        }
        inside ^= line.starts_with("```");
    }
    out
}

/// Words agree if they are equal, or numbers within 2 %. `...` matches any rest of a line.
fn same(expected: &str, found: &str) -> bool {
    let mut found = found.split_whitespace();
    for word in expected.split_whitespace() {
        if word == "..." {
            return true;
        }
        let Some(other) = found.next() else { return false };
        let number = |w: &str| w.trim_end_matches([',', ';']).parse::<f64>().ok();
        let near = matches!((number(word), number(other)), (Some(a), Some(b)) if (a - b).abs() <= 0.02 * a.abs());
        // `runs/x-...` matches the beginning of a word.
        let begins = word.strip_suffix("...").is_some_and(|start| other.starts_with(start));
        if word != other && !near && !begins {
            return false;
        }
    }
    found.next().is_none()
}

/// Compares an output with the page. A line `...` matches any number of lines.
fn shown(expected: &[&str], found: &[&str]) -> bool {
    match expected {
        [] => found.is_empty(),
        ["..."] => true,
        ["...", rest @ ..] => (0..=found.len()).any(|k| shown(rest, &found[k..])),
        [line, rest @ ..] => {
            // `... words ...` matches a line that contains the words.
            let good = |f: &str| match line.strip_prefix("... ") {
                Some(words) => words.split("...").all(|w| {
                    f.split_whitespace()
                        .collect::<Vec<_>>()
                        .join(" ")
                        .contains(&w.split_whitespace().collect::<Vec<_>>().join(" "))
                }),
                None => same(line, f),
            };
            found.first().is_some_and(|f| good(f)) && shown(rest, &found[1..])
        }
    }
}

/// Runs the commands of a `console` block and compares their output.
fn console(folder: &Path, text: &str) {
    for part in format!("\n{text}").split("\n$ ").skip(1) {
        let (line, expected) = part.split_once('\n').unwrap_or((part, ""));
        let (output, good) = shell(folder, line);
        assert!(good, "{line}: {output}");
        let expected: Vec<&str> =
            expected.lines().map(str::trim).filter(|l| !l.is_empty()).collect();
        let found: Vec<&str> = output.lines().map(str::trim).filter(|l| !l.is_empty()).collect();
        assert!(shown(&expected, &found), "{line} printed\n{output}");
    }
}

/// Runs a program in a language that may not be installed. Returns whether it ran.
fn program(folder: &Path, interpreter: &str, probe: &str, text: &str) -> bool {
    let installed =
        Command::new(interpreter).args(["-c", probe]).output().is_ok_and(|o| o.status.success());
    if installed {
        std::fs::write(folder.join("program"), text).expect("writable");
        let (output, good) = shell(folder, &format!("{interpreter} program"));
        assert!(good, "{text}\n{output}");
    }
    installed
}

/// What was done with the blocks of pages.
#[derive(Default)]
struct Followed {
    /// Number of commands that ran.
    commands: usize,
    /// Number of Python programs that ran, and of all Python programs.
    programs: (usize, usize),
    /// Blocks that do not run here, by kind.
    left_out: BTreeMap<String, usize>,
}

/// Kinds of blocks that do not run here, with their numbers.
fn kinds(expected: &[(&str, usize)]) -> BTreeMap<String, usize> {
    expected.iter().map(|(kind, count)| ((*kind).to_owned(), *count)).collect()
}

/// Runs all commands of a page in a temporary folder.
fn follow(page: &str, followed: &mut Followed) {
    let folder = tempfile::tempdir().expect("a folder");
    let data = Path::new("tests/data/minilm_hidden_states.npz");
    std::fs::create_dir_all(folder.path().join("tests/data")).expect("writable");
    std::fs::copy(root().join(data), folder.path().join(data)).expect("copied");
    let models = root().join("tests/data/models");
    for file in files_below(&models) {
        let inside = file.strip_prefix(root()).expect("inside");
        let copy = folder.path().join(inside);
        std::fs::create_dir_all(copy.parent().expect("a folder")).expect("writable");
        std::fs::copy(&file, copy).expect("copied");
    }
    for (words, text) in blocks(page) {
        match words[..] {
            [_, file] if !file.starts_with(',') => {
                std::fs::write(folder.path().join(file), &text).expect("writable")
            }
            ["sh"] => {
                for line in
                    text.lines().filter(|l| !l.trim().is_empty() && !l.starts_with("cargo "))
                {
                    let (output, good) = shell(folder.path(), line);
                    assert!(good, "{line}: {output}");
                    followed.commands += 1;
                }
            }
            ["console"] => {
                console(folder.path(), &text);
                followed.commands += text.matches("$ ").count();
            }
            ["python"] => {
                let ran = program(folder.path(), "python3", "import numpy", &text);
                followed.programs.0 += usize::from(ran);
                followed.programs.1 += 1;
            }
            _ => *followed.left_out.entry(words.join(" ")).or_default() += 1,
        }
    }
}

#[test]
fn every_command_of_the_readme_gives_the_shown_output() {
    let mut done = Followed::default();
    follow(&read("README.md"), &mut done);
    assert!(done.commands >= 7, "{} commands", done.commands);
    // src/python/tests/test_docs.py runs the Python program.
    assert_eq!(done.left_out, kinds(&[("bibtex", 1), ("py", 1), ("text", 1)]));
}

#[test]
fn the_readme_counts_what_the_program_lists() {
    let folder = tempfile::tempdir().expect("a folder");
    let listed = |what: &str| {
        let (text, good) = shell(folder.path(), &format!("metastable list {what}"));
        assert!(good, "{text}");
        text.lines().skip(1).map(str::to_owned).collect::<Vec<String>>()
    };
    let claims = listed("theorems");
    let of = |status: &str| claims.iter().filter(|l| l.contains(&format!("[{status}, "))).count();
    let page = read("README.md").split_whitespace().collect::<Vec<_>>().join(" ");
    for (count, what) in [
        (listed("papers").len(), "papers"),
        (listed("topics").len(), "topics"),
        (of("misprinted"), "misprints"),
        (of("folklore"), "common errors"),
    ] {
        assert!(page.contains(&format!(" {count} {what}")), "{count} {what}");
    }
    assert!(of("refuted conjecture") == 1 && page.contains("a refuted conjecture"));
    assert!(claims.len() > 100 && page.contains("more than a hundred claims"));
}

#[test]
fn every_command_of_the_guide_gives_the_shown_output() {
    let pages =
        std::fs::read_dir(root().join("src/guide")).expect("a folder").flatten().map(|e| e.path());
    let pages = pages.filter(|p| p.extension().is_some_and(|e| e == "md"));
    let mut done = Followed::default();
    pages.for_each(|p| follow(&read(p), &mut done));
    assert!(done.commands >= 160, "{} commands", done.commands);
    // Doc-tests run the programs in Rust, src/python/tests/test_docs.py one of those in Python. The
    // others need Dask, Julia, results of other commands or several machines.
    let expected = [("bash", 2), ("julia", 1), ("py", 4), ("rust", 8), ("text", 7), ("toml", 1)];
    assert_eq!(done.left_out, kinds(&expected));
    let (ran, all) = done.programs;
    assert!(all == 3 && (ran == all || ran == 0), "{ran} of {all} Python programs ran");
    if ran == 0 {
        println!("not tested: {all} programs of the guide, since python3 has no NumPy");
    }
}

#[test]
fn every_command_of_the_paper_gives_the_shown_output() {
    let mut done = Followed::default();
    follow(&read("src/guide/paper/paper.md"), &mut done);
    assert!(done.commands >= 4 && done.left_out.is_empty(), "{} commands", done.commands);
}

#[test]
fn outputs_are_compared_with_tolerance_and_wildcards() {
    assert!(
        same("t = 4: reached ...", "t = 4: reached (spectral)") && same("rate 0.24", "rate 0.2401")
    );
    assert!(!same("rate 0.24", "rate 0.25") && !same("rate", "rate 1") && !same("rate 1", "rate"));
    assert!(
        shown(&["a", "...", "c"], &["a", "b", "b", "c"]) && !shown(&["a", "...", "c"], &["a", "b"])
    );
    assert!(shown(&["... y ..."], &["x y z"]) && !shown(&["... y ..."], &["x z"]));
}
