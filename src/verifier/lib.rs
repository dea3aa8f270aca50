//! Verifier of certificates. It shares nothing with the library that writes them: fixed-point
//! numbers on big integers with outward rounding, its own exponential, its own recurrences. It
//! never searches; a certificate must contain all that a search would find. The lemmas and their
//! letters are in `src/proofs/trajectory/lemmas.md`. As a program:
//! `cargo run --release --example verifier FILE`. Proofs of convergence are checked by
//! `trajectory.rs` with `errors.rs`, proofs of critical points by `critical.rs`; both use only
//! `number.rs` and `flow.rs`, and `phi.rs` for the formula of an interaction. Proofs of landscapes
//! have up to millions of leaves, so `landscape.rs` uses exact integers for gaps and intervals of
//! doubles for the rest (`interval.rs`, `kernel.rs`, and `formula.rs` for interactions other than
//! the exponential). `expression.rs` reads the text of formulas. `strata.rs` lists the ways in
//! which tokens coincide.
//!
//! Proofs of landscapes on spheres are checked by `sphere.rs` and `sphere_point.rs`, which use
//! `interval.rs` and the inverse of a matrix in `landscape.rs`.
//!
//! Lines of code, without blank lines and comments: about 610 for a proof of convergence, 440 for a
//! proof of a critical point, 790 for both, 270 for formulas. Landscapes add 920 lines that use one
//! line of `number.rs` and none of the others, formulas 240 and the reader of their text, and small
//! beta 60; spheres have 760 lines and use 130 of those.

mod balance;
mod critical;
mod errors;
mod expression;
mod flow;
mod formula;
mod interval;
mod kernel;
mod landscape;
pub mod number;
mod phi;
mod sphere;
mod sphere_point;
mod strata;
mod trajectory;

/// Checks a certificate. Returns its statement, with the number of steps and the error.
/// **Errors** the first condition that could not be confirmed.
pub fn check(text: &str) -> Result<String, String> {
    match text.chars().next() {
        Some('{') => critical::check(text),
        Some('m') if text.starts_with("metastable-landscape") => landscape::check(text),
        Some('m') if text.starts_with("metastable-spheres") => sphere::check(text),
        _ => trajectory::check(text),
    }
}
