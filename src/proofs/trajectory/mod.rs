//! Proofs that a start, and every start near it, converges to one point.
//!
//! An accurate path is followed by polynomials in f64; what they miss of the flow (their defect), how fast nearby configurations part and how far the field is
//! from linear are bounded in intervals. One number bounds the distance between the path and every true solution; when it leaves all tokens in an open
//! hemisphere, the cone lemma ends the proof. Solvers propose, only intervals dispose, and [`Convergence::to_text`] writes down what a checker needs.
#![doc = include_str!("lemmas.md")]

mod curvature;
mod growth;
mod hemisphere;
mod local;
mod path;
mod proof;
mod run;
mod series;
mod start;
mod step;
mod system;
#[cfg(test)]
mod tests;
mod text;
mod tube;

use crate::error::Result;
use crate::num::interval::trusted;
pub use proof::{Cause, Convergence, Lost};
use run::MOST_STEPS;
pub use start::Neighbourhood;

/// Slacks of the growth rate, from coarse to fine.
const SLACKS: [f64; 3] = [0.5, 0.1, 0.02];

/// Proves that every start of the neighbourhood converges to one point, or says where that was lost with the finest pieces.
///
/// **Cost** about `n^3 d^2` operations per step and piece: 0.05 s for 8 tokens on the circle, 0.4 s for 16 in `R^3` at beta = 4, 2 s for 32.
/// **Errors** a processor that breaks the arithmetic ([`trusted`]).
///
/// ```
/// use metastable::attention::{RowWeights, Variant};
/// use metastable::proofs::trajectory::{Neighbourhood, prove};
/// use metastable::sphere::Tokens;
/// let x = Tokens::from_angles(&[0.0, 1.9, 4.0]).unwrap();
/// let near = Neighbourhood::new(Variant::mutual(RowWeights::Softmax), 1.0, &x, 1e-6).unwrap();
/// assert!(prove(&near).unwrap().is_ok());
/// // The regular triangle is at rest.
/// let x = Tokens::from_angles(&[0.0, 1.0, 2.0].map(|k| k * std::f64::consts::TAU / 3.0)).unwrap();
/// let near = Neighbourhood::new(Variant::mutual(RowWeights::Softmax), 1.0, &x, 0.0).unwrap();
/// assert!(prove(&near).unwrap().is_err());
/// ```
pub fn prove(start: &Neighbourhood) -> Result<std::result::Result<Convergence, Lost>> {
    trusted()?;
    let mut found = run::attempt(start, SLACKS[0], MOST_STEPS);
    for slack in &SLACKS[1..] {
        if found.is_err() {
            found = run::attempt(start, *slack, MOST_STEPS);
        }
    }
    Ok(found)
}

/// The same with coarse pieces only and about `work` units of `n^3 d^2` operations: for many starts, where those that take long may stay unproved. A start
/// in an open hemisphere costs nothing.
///
/// **Errors** as [`prove`].
pub fn prove_within(start: &Neighbourhood, work: f64) -> Result<std::result::Result<Convergence, Lost>> {
    trusted()?;
    let (n, d) = (start.masses.len() as f64, start.d as f64);
    Ok(run::attempt(start, SLACKS[0], ((work / (n.powi(3) * d * d)) as usize).min(MOST_STEPS)))
}
