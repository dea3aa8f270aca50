//! Spectrum of the linearisation at consensus.

use super::setting::{LINEARISED, linearised, random_head};
use crate::sphere::geometry::{exp, project};
use crate::theorem::prelude::*;

const FIRST_DIAMETER: f64 = 1e-3;
const RATE_ERROR: f64 = 1e-6;

/// The eigenvalues are -1 for SA, `-e^{beta s}` for USA and `-(1 - 1/k)` for causal SA.
///
/// # Derivation
///
/// Put `x_i = xi + u_i` with `u_i` orthogonal to `xi`. At consensus all scores are `s = <Q xi, K
/// xi>`, and a change of the weights multiplies `P_xi xi = 0`: to first order the weights are those
/// of consensus, `a_ij = m_j r` with `r = 1` (SA), `r = e^{beta s}` (USA, U1). From `P_{x_i} x_j =
/// x_j - <x_i, x_j> x_i` to first order `u_j - u_i`, `u_i' = sum_j a_ij (u_j - u_i) = r (mean(u) -
/// u_i)`.
///
/// Equal `u_i` have the eigenvalue 0 (`d - 1` directions), and `u_i` of mean 0 have the eigenvalue
/// `-r` (`(n-1)(d-1)` directions). A causal mask replaces the mean by the mean over `j <= i`. The
/// matrix is then triangular; for equal masses its diagonal entries, the eigenvalues, are `1/k -
/// 1`.
///
/// Without a mask differences of tokens obey `(u_i - u_j)' = -r (u_i - u_j)`. The remainder is of
/// the order of `1 + beta` times the squared diameter: below a diameter of `2e-3` it changes the
/// rate by less than `1e-6 (1 + beta)`, on average over four decades.
pub static ENTRY: Claim = Claim {
    name: "consensus-rates",
    title: "Spectrum of the flow at consensus",
    lets: "`V = I`, with any `Q`, `K` and masses",
    then: "The linearisation at consensus `x_i = xi` is `u_i' = r (mean_i(u) - u_i)`, where \
           `mean_i` is the weighted mean over the tokens visible to `i`, `r = 1` for SA and causal \
           SA, and `r = e^{beta <Q xi, K xi>}` for USA (U1). So the eigenvalues are `-r`, \
           `(n-1)(d-1)` times, and 0, `d-1` times; for causal SA with equal masses they are 0 and \
           `-(1 - 1/k)`, `k = 2..n`, each `d-1` times. Without a mask, the diameter decays like \
           `e^{-rt}` near consensus.",
    tested: "by extrapolated differences along random directions, to `{LINEARISED} eps^{4/5} (1 + \
             beta |Q^T K|) r` (Frobenius norm), and for `Q = K = I`, without a mask, by the mean \
             rate over four decades of the diameter from about {FIRST_DIAMETER} on, to the factor \
             `1 +- {RATE_ERROR} (1 + beta)`",
    numbers: &[
        ("LINEARISED", LINEARISED),
        ("FIRST_DIAMETER", FIRST_DIAMETER),
        ("RATE_ERROR", RATE_ERROR),
    ],
    domain: Domain {
        n: Sizes::Range(2, 32),
        d: Sizes::Range(2, 16),
        beta: Betas::Log(0.01, 30.0),
        dynamics: &["sa", "usa", "causal-sa"],
        laws: &[],
        draws: "a point of consensus, a direction, masses",
        ..Domain::ATTENTION
    },
    narrower: "`Q` and `K` are `I` plus at most a normalised Gaussian matrix",
    source: "derived: linearisation of arXiv:2312.10794, (2.3) and of arXiv:2411.04990",
    trials: (60, 500),
    trial: |case, ctx| {
        let head = random_head(case.d, 1.0, ctx)?;
        let xi = ctx.tokens_with_law(1, case.d, "uniform")?.coordinates().to_vec();
        let found = linearised(case, ctx, &head, &xi, case.beta)?;
        let decays = ctx.index(4) == 0 && case.dynamics != "causal-sa";
        Ok(if decays { found.and(decay(case, ctx, &xi)?) } else { found })
    },
    constant: "the rate `r`",
    control: Control {
        what: "the rate of USA at another `beta`",
        trial: |ctx| {
            let xi = ctx.tokens_with_law(1, 2, "uniform")?.coordinates().to_vec();
            linearised(&Case::with_random_masses(4, 2, 1.0, "usa"), ctx, &Head::default(), &xi, 1.5)
        },
    },
    ..Claim::IDENTITY
};

/// The mean rate over four decades, from tokens at distances of at most 1e-3 from xi.
fn decay(case: &Case, ctx: &mut Context, xi: &[f64]) -> Result<Finding> {
    let mut u = ctx.normals(case.n * case.d);
    u.chunks_exact_mut(case.d).for_each(|row| project(xi, row));
    let largest = u.chunks_exact(case.d).map(norm).fold(f64::MIN_POSITIVE, nan_max);
    scale(FIRST_DIAMETER / largest, &mut u);
    let rows = u.chunks_exact(case.d).flat_map(|r| exp(xi, r)).collect();
    let x = Tokens::normalised(case.d, rows)?.with_masses(&ctx.masses(case.n))?;
    let first = x.diameter();
    if first < 1e-5 {
        return Ok(Finding::answer(true));
    }
    let rate = case.row_weights()?.log_consensus_row_sum(case.beta).exp();
    let t = 1e4f64.ln() / rate;
    let last = ctx.flow_to_with_tolerance(&case.build()?, &x, t, 1e-2)?.diameter();
    let claimed = ctx.claimed_constant(rate);
    let deviation = ((first / last).ln() / t - claimed).abs();
    Ok(Finding::identity(deviation, RATE_ERROR * (1.0 + case.beta) * rate))
}
