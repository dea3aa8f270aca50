//! The discrete layer map climbs the energy for every step size.

use super::{Case, Claim, Context, Control, Expected, Finding, plain};
use crate::attention::{Energy, EnergyScale, layer::Layer};
use crate::error::Result;
use crate::num::stats::nan_min;

/// `E(X') >= E(X)` for `x' = normalise(x + eta a)`, every eta in [0, inf].
pub static ENTRY: Claim = Claim {
    name: "layer-energy",
    title: "A layer climbs the energy for every step size",
    statement: "For V = Q^T K = I the map x_i <- normalise(x_i + eta sum_j A_ij x_j) (softmax or unnormalised) never decreases E_beta, whatever eta in [0, inf]: the \
                change of log E is at least -16 u (1 + beta).",
    hypotheses: "V = Q^T K symmetric positive semidefinite (tested with I)",
    applies: |case| case.beta >= 0.0,
    citation: "convexity of z -> sum_j m_j e^{beta <z, x_j>} on R^d; mean shift: Cheng 1995",
    expected: Expected::Holds,
    almost_sure: false,
    cases: &[
        Case::new(6, 2, 4.0, "sa"),
        Case::new(8, 3, 20.0, "sa"),
        Case::new(5, 5, 2.0, "usa"),
        Case::new(12, 3, 50.0, "sa"),
        Case::new(4, 2, 0.5, "usa"),
    ],
    quick: 5,
    trials: (20, 200),
    trial: |case, ctx| {
        let eta = [0.01, 0.1, 1.0, 10.0, 1e6, f64::INFINITY][ctx.stream.index(6)];
        climb(case, ctx, eta)
    },
    control: Control { what: "the repulsive layer (V = -I)", trial: |ctx| climb(&Case::new(6, 3, 2.0, "repulsive-sa"), ctx, 0.3) },
};

fn climb(case: &Case, ctx: &mut Context, eta: f64) -> Result<Finding> {
    let mut x = ctx.weighted_tokens(case, "uniform")?;
    let (dynamics, energy) = (plain(case.dynamics, case.beta, case.n)?, Energy::new(case.beta, EnergyScale::Unit));
    let mut scratch = vec![0.0; x.coordinates().len()];
    let mut worst = f64::INFINITY;
    let mut before = energy.log_unit(&x);
    for _ in 0..40 {
        Layer::new(eta)?.step(dynamics.as_ref(), &mut x, &mut scratch);
        let after = energy.log_unit(&x);
        worst = nan_min(worst, after - before);
        before = after;
    }
    // The log energy is a sum of exponents known to a few u times beta.
    Ok(Finding::at_most(-worst, 16.0 * f64::EPSILON * (1.0 + case.beta)))
}
