//! Proofs that a start, and every start near it, converges to one point.
//!
//! Polynomials computed in f64 follow an approximate path. Interval arithmetic bounds three things:
//! the defect of the path (how far it is from a solution), the rate at which nearby configurations
//! part, and how far the field is from its linear part. They give one number, the error: a bound of
//! the distance between the path and every true solution. When the error leaves all tokens in an
//! open hemisphere, the cone lemma ends the proof. [`ConvergenceProof::to_text`] writes what a
//! verifier needs.
#![doc = include_str!("lemmas.md")]

mod curvature;
mod enclosure;
mod error_tube;
mod hemisphere;
mod path;
mod proof;
mod search;
mod series;
mod start;
mod step;
mod system;
mod tangent_jacobian;
#[cfg(test)]
mod tests;
mod text;

use crate::error::Result;
use crate::num::interval::check_fp_environment;
pub use proof::{Cause, ConvergenceProof, ProofFailure};
use search::MAX_STEPS;
pub use start::Neighbourhood;

/// Widths allowed to the enclosures of the growth rate, from coarse to fine.
const GROWTH_WIDTHS: [f64; 3] = [0.5, 0.1, 0.02];

/// Proves that every start of the neighbourhood converges to one point. If that fails, returns
/// where it failed with the finest pieces.
///
/// **Cost** about `n^3 d^2` operations per step and piece: 0.05 s for 8 tokens on the circle, 0.4 s
/// for 16 in `R^3` at beta = 4, 2 s for 32. **Errors** a processor that breaks the arithmetic
/// ([`check_fp_environment`]).
///
/// ```
/// use metastable::attention::{RowWeights, Variant};
/// use metastable::proofs::trajectory::{Neighbourhood, prove};
/// use metastable::sphere::Tokens;
/// let x = Tokens::from_angles(&[0.0, 1.9, 4.0]).unwrap();
/// let near = Neighbourhood::new(Variant::mutual(RowWeights::Softmax), 1.0, &x, 1e-6).unwrap();
/// assert!(prove(&near).unwrap().is_ok());
/// // The regular triangle is a fixed point.
/// let x = Tokens::from_angles(&[0.0, 1.0, 2.0].map(|k| k * std::f64::consts::TAU / 3.0)).unwrap();
/// let near = Neighbourhood::new(Variant::mutual(RowWeights::Softmax), 1.0, &x, 0.0).unwrap();
/// assert!(prove(&near).unwrap().is_err());
/// ```
pub fn prove(start: &Neighbourhood) -> Result<std::result::Result<ConvergenceProof, ProofFailure>> {
    check_fp_environment()?;
    let mut found = search::search(start, GROWTH_WIDTHS[0], MAX_STEPS);
    for width in &GROWTH_WIDTHS[1..] {
        if found.is_err() {
            found = search::search(start, *width, MAX_STEPS);
        }
    }
    Ok(found)
}

/// [`prove`] with coarse pieces only and with about `work` times `n^3 d^2` operations. It serves
/// many starts of which some may stay unproved. A start in an open hemisphere costs nothing.
///
/// **Errors** as [`prove`].
pub fn prove_with_budget(
    start: &Neighbourhood,
    work: f64,
) -> Result<std::result::Result<ConvergenceProof, ProofFailure>> {
    check_fp_environment()?;
    let (n, d) = (start.masses.len() as f64, start.d as f64);
    Ok(search::search(
        start,
        GROWTH_WIDTHS[0],
        ((work / (n.powi(3) * d * d)) as usize).min(MAX_STEPS),
    ))
}
