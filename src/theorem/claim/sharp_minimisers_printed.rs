//! Theorem 9.2 in the direction in which it is printed.

use super::{Case, Claim, Control, Expected, Finding, always};

/// "Every global minimum is a sharp configuration with at least two distinct inner products, or the 600-cell": n = 2 refutes it.
pub static ENTRY: Claim = Claim {
    name: "sharp-minimisers-printed",
    title: "Minimisers have at least two inner products (as printed)",
    statement: "Any global minimiser of the repulsive energy is a sharp configuration with m > 1 distinct inner products, or the 600-cell.",
    hypotheses: "equal masses, beta > 0",
    applies: always,
    citation: "arXiv:2312.10794, Theorem 9.2 (printed in the converse direction)",
    expected: Expected::Violated,
    almost_sure: false,
    cases: &[Case::new(2, 3, 2.0, "repulsive-usa"), Case::new(4, 3, 3.0, "repulsive-usa")],
    quick: 2,
    trials: (1, 1),
    trial: |case, _| distinct_inner_products(case.n, case.d),
    control: Control { what: "the antipodal pair has one inner product", trial: |_| distinct_inner_products(2, 2) },
};

/// Number of distinct inner products of the minimiser minus 3/2.
fn distinct_inner_products(n: usize, d: usize) -> crate::Result<Finding> {
    let Some(points) = super::sharp_minimisers::sharp(n, d) else { return Ok(Finding::Missed) };
    let x = crate::sphere::Tokens::normalised(d, points)?;
    let mut values: Vec<f64> = (0..n).flat_map(|i| (0..i).map(move |j| (i, j))).map(|(i, j)| x.inner(i, j)).collect();
    values.sort_by(f64::total_cmp);
    values.dedup_by(|a, b| (*a - *b).abs() < 1e-9);
    Ok(Finding::exact(values.len() as f64 - 1.5))
}
