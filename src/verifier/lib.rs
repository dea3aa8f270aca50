//! A referee of certificates that shares nothing with the library that writes them: fixed point on big integers, rounded outwards, its own exponential, its
//! own recurrences. It never searches for what a certificate has to say. The lemmas are in `src/proofs/trajectory/lemmas.md`; letters are theirs.
//! A program of its own: `cargo run --release --example referee FILE`. Proofs of convergence are `trajectory.rs` with `errors.rs`, proofs of critical points
//! `critical.rs`; both rest on `number.rs` and `flow.rs`, and on nothing else.
//!
//! Lines of code, neither blank nor comment: 400 for a proof of convergence, 279 for one of a critical point, 499 in all. That is 17 the program, 115
//! arithmetic, elimination and reading, 48 the flow and its series, 100 the growth of errors, 120 the rest of convergence, 99 critical points.

mod critical;
mod errors;
mod flow;
pub mod number;
mod trajectory;

/// Checks a certificate and returns its statement and how it was reached. **Errors** the first thing that could not be confirmed.
pub fn check(text: &str) -> Result<String, String> {
    if text.starts_with('{') { critical::check(text) } else { trajectory::check(text) }
}
