//! The solver page, tested without a browser: it is complete and small, needs no network, and
//! contains the solver of its checksum. `.ci/page` opens it in a browser.

use crate::program::Place;
use sha2::{Digest, Sha256};
use std::path::Path;

#[test]
fn the_page_is_one_small_file_without_network() {
    let at = Place::with(&[]);
    at.json("page --out talk.html");
    let page = at.read("talk.html");
    assert!(page.starts_with("<!doctype html>") && page.trim_end().ends_with("</html>"));
    assert!(page.len() < 2_000_000, "{} bytes", page.len());
    let network = "{{ }}</ src=\" @import https:// <iframe fetch(";
    for word in network.split(' ').chain(["<link rel=\"stylesheet"]) {
        assert!(!page.contains(word), "{word}");
    }
    // The only address is the name of a format.
    assert_eq!(page.matches("http://").count(), page.matches("http://www.w3.org/2000/svg").count());
    assert!(page.contains("default-src 'none'"), "the page does not forbid network requests");
    // A folder is no file.
    at.refused("page --out .", "metastable.html");
}

#[test]
fn the_solver_has_the_recorded_checksum() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/cli/page");
    let engine = std::fs::read(folder.join("engine.wasm")).expect("the solver");
    let stamp = std::fs::read_to_string(folder.join("engine.txt")).expect("its checksum");
    let found: String = Sha256::digest(&engine).iter().map(|b| format!("{b:02x}")).collect();
    assert_eq!(stamp.lines().next(), Some(found.as_str()));
    assert!(engine.starts_with(b"\0asm"));
}

#[test]
fn mpi_is_refused_by_a_program_without_mpi() {
    if !cfg!(feature = "mpi") {
        let solve = "solve --init uniform --n 8 --d 3 --beta 4 --t-end 1 --mpi";
        Place::with(&[]).refused(solve, "--features mpi");
    }
}
