//! The page of the browser, without one: it is whole, small, asks nobody for anything, and holds the solver that its stamp names. `.ci/page` opens it.

use crate::program::{json, refused};
use sha2::{Digest, Sha256};
use std::path::Path;

#[test]
fn the_page_is_one_small_file_that_asks_nobody() {
    let at = tempfile::tempdir().expect("a folder");
    json(at.path(), "page --out talk.html");
    let page = std::fs::read_to_string(at.path().join("talk.html")).expect("written");
    assert!(page.starts_with("<!doctype html>") && page.trim_end().ends_with("</html>"));
    assert!(page.len() < 2_000_000, "{} bytes", page.len());
    for word in ["{{", "}}</", "src=\"", "@import", "<link rel=\"stylesheet", "https://", "<iframe", "fetch("] {
        assert!(!page.contains(word), "{word}");
    }
    // The one address is the name of a format.
    assert_eq!(page.matches("http://").count(), page.matches("http://www.w3.org/2000/svg").count());
    assert!(page.contains("default-src 'none'"), "the browser is not told to ask nobody");
}

#[test]
fn the_solver_in_it_is_the_one_that_its_stamp_names() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/cli/page");
    let engine = std::fs::read(folder.join("engine.wasm")).expect("the solver");
    let stamp = std::fs::read_to_string(folder.join("engine.txt")).expect("its stamp");
    let found: String = Sha256::digest(&engine).iter().map(|b| format!("{b:02x}")).collect();
    assert_eq!(stamp.lines().next(), Some(found.as_str()));
    assert!(engine.starts_with(b"\0asm"));
}

#[test]
fn a_folder_is_no_file() {
    let at = tempfile::tempdir().expect("a folder");
    refused(at.path(), "page --out .", "metastable.html");
}

#[test]
fn a_program_without_processes_says_so() {
    if cfg!(feature = "mpi") {
        return;
    }
    let at = tempfile::tempdir().expect("a folder");
    refused(at.path(), "solve --init uniform --n 8 --d 3 --beta 4 --t-end 1 --mpi", "--features mpi");
}
