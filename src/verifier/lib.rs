//! Verifier of certificates. It shares nothing with the library that writes them: fixed-point
//! numbers on big integers with outward rounding, its own exponential, its own recurrences. It
//! never searches; a certificate must contain all that a search would find. The lemmas and their
//! letters are in `src/proofs/trajectory/lemmas.md`. As a program:
//! `cargo run --release --example verifier FILE`. Proofs of convergence are checked by
//! `trajectory.rs` with `errors.rs`, proofs of critical points by `critical.rs`; both use only
//! `number.rs` and `flow.rs`, and `phi.rs` for the formula of an interaction. Proofs of landscapes
//! have up to millions of leaves, so `landscape.rs` with `circle.rs` and `tree.rs` uses exact
//! integers for gaps and intervals of doubles for the rest (`interval.rs`, `kernel.rs`, and
//! `formula.rs` for interactions other than the exponential). `expression.rs` reads the text of
//! formulas. `strata.rs` lists the ways in which tokens coincide.
//!
//! Proofs of landscapes on spheres are checked by `sphere.rs` and `sphere_point.rs`, which use
//! `interval.rs` and the inverse of a matrix in `circle.rs`.
//!
//! `time.rs` checks the time in which two clusters merge, `modes.rs` the number of modes.
//! `canonical.rs` refuses every file that is not written in the one way in which certificates are
//! written, and `walk.rs` shares the subtrees of a landscape among threads. A reader of one kind
//! of certificate reads 380 to 1340 lines of code (`tests/proofs/verifier.rs` counts them).

mod balance;
mod canonical;
mod circle;
mod critical;
mod errors;
mod expression;
mod flow;
mod formula;
mod interval;
mod kernel;
mod landscape;
mod modes;
pub mod number;
mod phi;
mod sphere;
mod sphere_point;
mod strata;
mod time;
mod trajectory;
mod tree;
mod walk;

/// Checks a certificate. Returns its statement, with the number of steps and the error.
///
/// **Errors** the first condition that could not be confirmed.
pub fn check(text: &str) -> Result<String, String> {
    check_watched(text, &|_| true)
}

/// As [`check`]. Of landscapes, `watch` is called now and then with the part of the lines that are
/// confirmed; the check ends if it returns false.
///
/// **Errors** as [`check`]; [`INTERRUPTED`].
pub fn check_watched(text: &str, watch: &(dyn Fn(f64) -> bool + Sync)) -> Result<String, String> {
    let kind = text.split(['\n', ' ']).next().unwrap_or_default();
    match kind {
        "{" => critical::check(text),
        "metastable-landscape" => landscape::check(text, watch),
        "metastable-spheres" => sphere::check(text, watch),
        "metastable-modes" => modes::check(text),
        "metastable-time" => time::check(text),
        "metastable-trajectory" => trajectory::check(text),
        _ => Err(format!("`{kind}` is no kind of certificate")),
    }
}

pub use walk::INTERRUPTED;
