//! A referee of certificates that shares nothing with the library that writes them: fixed point on big integers, rounded outwards, its own exponential, its
//! own recurrences. It never searches for what a certificate has to say. The lemmas are in `src/landscape/trajectory/lemmas.md`; letters are theirs.
//! A program of its own: `cargo run --release --example referee FILE`. Proofs of convergence are `trajectory.rs`, proofs of critical points `critical.rs`;
//! both rest on `number.rs` and `flow.rs`, and on nothing else.
//!
//! 532 lines of code: 17 the program, 141 arithmetic, elimination and reading, 119 the flow with its series and its derivative, 168 convergence (51 of them the bound of the second derivative), 87 critical points. A
//! shorter one would have to bound less well than the proofs need that it reads: without tangent frames enclosures are wider, with a simpler second derivative balls of starts are refused.

mod critical;
mod flow;
pub(crate) mod number;
mod trajectory;

/// Checks a certificate and returns its statement and how it was reached. **Errors** the first thing that could not be confirmed.
pub fn check(text: &str) -> Result<String, String> {
    let mut file = number::Reader::new(text);
    if file.is("kind") { critical::check(&mut file) } else { trajectory::check(&mut file) }
}
