//! Angular momentum.

use crate::theorem::prelude::*;

/// `sum_i m_i x_i ^ x_i' = 0` (USA) and `sum_i m_i Z_i x_i ^ x_i' = 0` (SA), because
/// `m_i m_j e^{beta G_ij} x_i ^ x_j` is antisymmetric.
///
/// # Derivation
///
/// The projection removes a multiple of `x_i`, and `x_i ^ x_i = 0`, so
/// `x_i ^ x_i' = sum_j m_j e^{beta G_ij} x_i ^ x_j` for USA. Multiplied by `m_i`, the term (i, j)
/// changes its sign if i and j are exchanged, because `G_ij = G_ji`: the sum over both vanishes. SA
/// divides the velocity of token i by `Z_i = sum_j m_j e^{beta G_ij}`; multiplied by `Z_i` it is
/// that of USA.
pub static ENTRY: Claim = Claim {
    name: "angular-momentum",
    title: "Angular momentum vanishes",
    lets: "Z_i = sum_j m_j e^{beta G_ij}",
    then: "Then sum_i m_i x_i ^ x_i' = 0 for USA and sum_i m_i Z_i x_i ^ x_i' = 0 for SA.",
    tested: "to 16 eps (n + d + |beta|) of sum_ij m_i m_j e^{beta G_ij} |x_i ^ x_j|, the size of \
             the terms that cancel",
    domain: PAIRS,
    source: "arXiv:2312.10794, section 7 (circle); antisymmetry in general",
    trials: (100, 600),
    trial: |case, ctx| momentum(case, ctx, case.row_weights()? == RowWeights::Softmax),
    constant: "the exponent of m_i Z_i (for USA, of m_i)",
    control: Control {
        what: "SA without the weights Z_i",
        trial: |ctx| momentum(&Case::with_random_masses(6, 3, 2.0, "sa"), ctx, false),
    },
    ..Claim::IDENTITY
};

fn momentum(case: &Case, ctx: &mut Context, with_z: bool) -> Result<Finding> {
    let x = ctx.tokens(case)?;
    let v = ctx.velocity(case, &x)?;
    let (d, beta, exponent) = (case.d, case.beta, ctx.claimed_constant(1.0));
    let (mut total, mut scale) = (vec![0.0; d * d], TINY);
    // All sums are divided by e^|beta|.
    let unit = (-case.row_weights()?.log_consensus_row_sum(beta.abs())).exp();
    for (i, (x_i, v_i)) in x.rows().zip(v.chunks_exact(d)).enumerate() {
        let z: f64 =
            if with_z { (0..case.n).map(|j| weight(beta, &x, i, j)).sum() } else { x.masses()[i] };
        let factor = unit * z.powf(exponent);
        for a in 0..d {
            for b in 0..d {
                total[a * d + b] += factor * (x_i[a] * v_i[b] - x_i[b] * v_i[a]);
            }
        }
        scale += (0..case.n).map(|j| weight(beta, &x, i, j) * sine(&x, i, j)).sum::<f64>();
    }
    // Lengths are 1 to 2 eps, so e^{beta G} and the kernel of chords differ by 4 |beta| eps; inner
    // products have the error 2 eps, and exponents up to 2 |beta| are rounded. This gives 9 |beta|
    // eps, plus the rounding of sums of n and d terms.
    let worst = total.iter().fold(0.0f64, |m, t| nan_max(m, t.abs()));
    Ok(Finding::identity(worst, 16.0 * f64::EPSILON * ((case.n + d) as f64 + beta.abs()) * scale))
}
