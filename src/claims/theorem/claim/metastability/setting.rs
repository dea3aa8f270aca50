//! Two clusters, and heads with a symmetric matrix: what several claims of the topic use.

use crate::theorem::prelude::*;

/// The largest beta of [`TWO_CLUSTERS`].
pub(super) const LARGEST_BETA: f64 = 300.0;

/// Two clusters of any masses under SA and USA.
pub(super) const TWO_CLUSTERS: Domain = Domain {
    n: Sizes::Fixed(2),
    d: Sizes::Range(2, 16),
    beta: Betas::Linear(0.0, LARGEST_BETA),
    laws: &[],
    ..Domain::ATTENTION
};

/// Two clusters at an angle, with their masses.
pub(super) fn pair(d: usize, angle: f64, masses: &[f64]) -> Result<Tokens> {
    let mut x = vec![0.0; 2 * d];
    x[0] = 1.0;
    (x[d], x[d + 1]) = (angle.cos(), angle.sin());
    Tokens::new(d, x)?.with_masses(masses)
}

/// SA with `Q^T K = V = S` symmetric.
pub(super) const SYMMETRIC: Domain = Domain {
    n: Sizes::List(&[2, 4, 8, 16]),
    d: Sizes::Range(2, 6),
    beta: Betas::Log(0.05, 4.0),
    dynamics: &["sa"],
    ..Domain::EQUAL_MASSES
};

/// The symmetric matrix with these eigenvalues and eigenvectors (the rows of `basis`).
pub(super) fn symmetric(values: &[f64], basis: &[f64]) -> Vec<f64> {
    let d = values.len();
    let entry =
        |k: usize| (0..d).map(|e| basis[e * d + k / d] * values[e] * basis[e * d + k % d]).sum();
    (0..d * d).map(entry).collect()
}

/// SA with `Q^T K = V = S`, the symmetric matrix with these eigenvalues and eigenvectors.
pub(super) fn symmetric_attention(beta: f64, values: &[f64], basis: &[f64]) -> Result<Dynamics> {
    let (d, s) = (values.len(), symmetric(values, basis));
    let head = Head::new(d, Some((d, s.clone())), None, Some((d, s)))?;
    Ok(Dynamics::single(Attention { heads: vec![head], ..Attention::new(beta) }))
}
