//! Angular momentum.

use super::{Betas, Case, Claim, Context, Control, Domain, Finding, Kind, Sizes, Status};
use crate::error::Result;
use crate::num::stats::nan_max;

/// `sum_i m_i x_i ^ x_i' = 0` (USA), `sum_i m_i Z_i x_i ^ x_i' = 0` (SA).
pub static ENTRY: Claim = Claim {
    name: "angular-momentum",
    title: "Angular momentum vanishes",
    statement: "sum_i m_i x_i ^ x_i' = 0 for USA and sum_i m_i Z_i x_i ^ x_i' = 0 for SA with Z_i = sum_j m_j e^{beta <x_i, x_j>} (antisymmetry of the pair forces): \
                deviation over the sum of the terms' sizes at most (8 + 4 |beta|) eps.",
    domain: Domain { beta: Betas::Linear(-20.0, 100.0), n: Sizes::Range(2, 64), d: Sizes::Range(2, 32), ..Domain::ATTENTION },
    narrower: "Q = K = V = I",
    citation: "arXiv:2312.10794, section 7 (circle); antisymmetry in general",
    status: Status::Theorem,
    kind: Kind::Identity,
    trials: (12, 100),
    trial: |case, ctx| momentum(case, ctx, case.dynamics == "sa"),
    perturbed: "beta in the weights Z_i",
    control: Control { what: "SA without the weights Z_i", trial: |ctx| momentum(&Case::weighted(6, 3, 2.0, "sa"), ctx, false) },
    proof: None,
};

fn momentum(case: &Case, ctx: &mut Context, with_z: bool) -> Result<Finding> {
    let x = ctx.tokens(case)?;
    let v = ctx.velocity(case, &x)?;
    let (d, beta) = (case.d, if with_z { ctx.stated(case.beta) } else { case.beta });
    // All weights over their largest: no exponential of a positive number.
    let top = (0..case.n * case.n).map(|p| beta * x.inner(p / case.n, p % case.n)).fold(f64::NEG_INFINITY, f64::max);
    let weight = |i: usize| -> f64 { (0..case.n).map(|j| x.masses()[j] * (beta * x.inner(i, j) - top).exp()).sum() };
    let (mut total, mut scale) = (vec![0.0; d * d], f64::MIN_POSITIVE);
    for (i, (x_i, v_i)) in x.rows().zip(v.chunks_exact(d)).enumerate() {
        let m = x.masses()[i] * if with_z { weight(i) } else { 1.0 };
        for (a, b) in (0..d).flat_map(|a| (0..a).map(move |b| (a, b))) {
            total[a * d + b] += m * (x_i[a] * v_i[b] - x_i[b] * v_i[a]);
        }
        scale += m * v_i.iter().fold(0.0f64, |s, v| s.max(v.abs()));
    }
    // Inner products are known to an eps, so weights to beta eps; both the velocity and Z_i carry them.
    let tolerance = (8.0 + 4.0 * case.beta.abs()) * f64::EPSILON;
    Ok(Finding::identity(total.iter().fold(0.0f64, |m, t| nan_max(m, t.abs())) / scale, tolerance))
}
