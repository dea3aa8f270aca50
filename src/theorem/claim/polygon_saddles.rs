//! Polygons of clusters.

use super::{Case, Claim, Control, Expected, Finding, Margin};
use crate::attention::{Energy, EnergyScale};
use crate::error::Result;
use crate::num::sum::dot;
use crate::sphere::Tokens;

/// Clusters at regular polygons have an explicit ascent direction, the pairing mode.
pub static ENTRY: Claim = Claim {
    name: "polygon-saddles",
    title: "Polygons of clusters are saddles for every beta > 0",
    statement: "For every beta > 0 the critical points with clusters at a regular m-gon (equal for m >= 3, of any sizes for m = 2) have an ascent direction: \
                the curvature of E_beta along the pairing mode of the polygon is positive.",
    hypotheses: "beta > 0, clusters at a regular m-gon",
    applies: |case| case.beta > 0.0,
    citation: "linearisation at the m-gon; arXiv:2312.10794, (B.2)-(B.3)",
    expected: Expected::Holds,
    almost_sure: false,
    cases: &[
        Case::new(6, 2, 0.3, "usa"),
        Case::new(6, 3, 5.2, "usa"),
        Case::new(8, 2, 6.0, "usa"),
        Case::new(12, 2, 12.5, "usa"),
        Case::new(12, 4, 37.0, "usa"),
    ],
    quick: 3,
    trials: (6, 30),
    trial: |case, ctx| {
        let divisors: Vec<usize> = (2..=case.n).filter(|m| case.n % m == 0).collect();
        let m = divisors[ctx.stream.index(divisors.len())];
        // At m = 2 the two poles may carry any number of tokens.
        let first = if m == 2 { 1 + ctx.stream.index(case.n - 1) } else { 0 };
        let vertex = |i: usize| if m == 2 { usize::from(i >= first) } else { i % m };
        let mut x = vec![0.0; case.n * case.d];
        for (i, row) in x.chunks_exact_mut(case.d).enumerate() {
            let angle = std::f64::consts::TAU * vertex(i) as f64 / m as f64;
            (row[0], row[1]) = (angle.cos(), angle.sin());
        }
        let x = Tokens::new(case.d, x)?;
        curvature(
            case.beta,
            &x,
            |i| if m == 2 { vertex(i) as f64 } else { ((vertex(i) * (m / 2)) as f64 * std::f64::consts::TAU / m as f64).cos() },
            m,
        )
    },
    control: Control {
        what: "beta = -1: the regular triangle is a strict local maximum modulo rotation",
        trial: |_| {
            let angles: Vec<f64> = (0..3).map(|k| f64::from(k) * std::f64::consts::TAU / 3.0).collect();
            curvature(-1.0, &Tokens::from_angles(&angles)?, |i| angles[i].cos(), 3)
        },
    },
};

/// Curvature of the energy along the rotation of vertex clusters in their plane by `speed(i)` (the pairing mode of the m-gon), over the kernel between
/// neighbouring vertices: positive means an ascent direction. Clusters cancel exactly, so e^{-2 beta} is resolved.
fn curvature(beta: f64, x: &Tokens, speed: impl Fn(usize) -> f64, m: usize) -> Result<Finding> {
    let mut u = vec![0.0; x.coordinates().len()];
    for (i, (row, x)) in u.chunks_exact_mut(x.d()).zip(x.rows()).enumerate() {
        (row[0], row[1]) = (-speed(i) * x[1], speed(i) * x[0]);
    }
    let mut h = vec![0.0; u.len()];
    Energy::new(beta, EnergyScale::Shifted).scaled_hess_vec(x, &u, &mut h);
    let neighbour = (-beta.abs() * (1.0 - (std::f64::consts::TAU / m as f64).cos())).exp();
    let value = dot(&u, &h) / (dot(&u, &u) * neighbour);
    // Rounding of coordinates at 1e-16 changes the kernel by beta u.
    Ok(Finding::Margin(Margin { value, evaluation: 64.0 * f64::EPSILON * (1.0 + beta.abs()), ..Margin::default() }))
}
