//! Angular momentum.

use crate::theorem::prelude::*;

const ROUNDINGS: f64 = 16.0;
const LARGEST_N: usize = 32;
const LARGEST_BETA: f64 = 50.0;
const END_ERROR: f64 = 1e-11;

/// # Derivation
///
/// The projection removes a multiple of `x_i`, and `x_i ^ x_i = 0`, so `x_i ^ x_i' = sum_j m_j
/// e^{beta G_ij} x_i ^ x_j` for USA. Multiplied by `m_i`, the term `(i, j)` changes its sign if `i`
/// and `j` are exchanged, because `G_ij = G_ji`: the sum over both vanishes. SA divides the
/// velocity of token `i` by `Z_i = sum_j m_j e^{beta G_ij}`; multiplied by `Z_i` it is that of USA.
///
/// On the circle `x_i ^ x_i' = theta_i'`, so USA keeps `sum_i m_i theta_i`. Tokens of an open half
/// circle stay within the arc that they span (`hemisphere-monotone`), so their lifted angles never
/// wind around, and they end at one angle (`cone-collapse`), which is the mean of the initial ones.
pub static ENTRY: Claim = Claim {
    name: "angular-momentum",
    title: "Angular momentum vanishes, so USA on a half circle ends at the mean angle",
    lets: "`Z_i = sum_j m_j e^{beta G_ij}` for SA and `Z_i = 1` for USA (U1)",
    then: "`sum_i m_i Z_i x_i ^ x_i' = 0`. So USA on the circle keeps the mean of the lifted \
           angles with the masses as weights, and tokens of an open half circle end there.",
    tested: "to `{ROUNDINGS} eps (n + d + |beta|)` of `sum_ij m_i m_j e^{beta G_ij} |x_i ^ x_j|`, \
             the size of the terms that cancel. USA with `n <= {LARGEST_N}` also runs from a half \
             circle to one cluster, with `beta` cut off at -{LARGEST_BETA} and {LARGEST_BETA}, and \
             ends at the mean to {END_ERROR}",
    numbers: &[
        ("ROUNDINGS", ROUNDINGS),
        ("LARGEST_N", LARGEST_N as f64),
        ("LARGEST_BETA", LARGEST_BETA),
        ("END_ERROR", END_ERROR),
    ],
    domain: PAIRS,
    source: "arXiv:2312.10794, section 7 (circle); antisymmetry in general",
    trials: (60, 400),
    trial: |case, ctx| {
        let (softmax, exponent) =
            (case.row_weights()? == RowWeights::Softmax, ctx.claimed_constant(1.0));
        let vanishes = momentum(case, ctx, softmax, exponent)?;
        if softmax || case.n > LARGEST_N {
            return Ok(vanishes);
        }
        Ok(vanishes.and(consensus(case, ctx, exponent)?))
    },
    constant: "the exponent of `m_i Z_i` (for USA, of `m_i`)",
    control: Control {
        what: "SA without the weights `Z_i`",
        trial: |ctx| momentum(&Case::with_random_masses(6, 3, 2.0, "sa"), ctx, false, 1.0),
    },
    ..Claim::IDENTITY
};

fn momentum(case: &Case, ctx: &mut Context, with_z: bool, exponent: f64) -> Result<Finding> {
    let x = ctx.tokens(case)?;
    let v = ctx.velocity(case, &x)?;
    let (d, beta) = (case.d, case.beta);
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
    Ok(Finding::identity(
        worst,
        ROUNDINGS * f64::EPSILON * ((case.n + d) as f64 + beta.abs()) * scale,
    ))
}

/// Compares the last angle of a run from a half circle with the mean of the first ones. The error
/// of the mean is not amplified: it is the tolerance 1e-13 times the path length of a few radians,
/// plus the rounding of some thousand steps.
fn consensus(case: &Case, ctx: &mut Context, exponent: f64) -> Result<Finding> {
    let beta = case.beta.clamp(-LARGEST_BETA, LARGEST_BETA);
    let case = Case { d: 2, beta, law: "cap:radius=1.57", ..*case };
    let x = ctx.tokens(&case)?;
    ctx.asserts_convergence(&case, &x);
    let weights: Vec<f64> = x.masses().iter().map(|m| m.powf(exponent)).collect();
    let mean = dot(&x.angles(), &weights) / weights.iter().sum::<f64>();
    let options = Options {
        rtol: ctx.rtol() * SYMMETRY_TOLERANCE,
        stop_at_one_cluster: true,
        ..Options::default()
    };
    let end = solve(&case.build()?, &x, FOREVER, &options, &mut [])?;
    if end.clusters.n() > 1 {
        return Err(Error::Numerical { what: end.outcome.to_string() });
    }
    Ok(Finding::identity((end.clusters.angles()[0] - mean).abs(), END_ERROR))
}
