//! Tokens in R^d: the equation of the rescaled tokens.

use super::setting::{FLAT, attention, evolve, points};
use crate::num::dense::exponential;
use crate::theorem::prelude::*;

const TIMES: (f64, f64) = (0.5, 3.0);
const TOLERANCE: f64 = 1e-8;

/// x and z = e^{-tV} x are integrated independently and compared.
///
/// # Derivation
///
/// `z' = -V z + e^{-tV} x'`. The matrices `V` and `e^{-tV}` commute, so `e^{-tV} sum_j A_ij V x_j =
/// sum_j A_ij V z_j`, and as the rows of `A` sum to one `V z_i = sum_j A_ij V z_i`. Together
/// `z_i' = sum_j A_ij V (z_j - z_i)`. The scores are those of `x = e^{tV} z`, `beta <e^{tV} z_i,
/// e^{tV} z_j>`.
pub static ENTRY: Claim = Claim {
    name: "rd-rescaling",
    title: "`R^d`: `e^{-tV} x` solves the rescaled equation",
    lets: "`x_i' = sum_j A_ij V x_j` in `R^d` with scores `beta <x_i, x_j>`",
    then: "`z = e^{-tV} x` solves `z_i' = sum_j A_ij V (z_j - z_i)` with scores `beta <e^{tV} z_i, \
           e^{tV} z_j>`.",
    tested: "on a normal `V` of norm about 1/2: both equations, integrated to a time `t <= \
             {LATEST}`, agree to {TOLERANCE} of the largest token",
    numbers: &[("LATEST", TIMES.1), ("TOLERANCE", TOLERANCE)],
    domain: FLAT,
    narrower: "`Q = K = I`",
    source: "arXiv:2305.05465, equation of the rescaled tokens (v6, as quoted in a formal \
             statement)",
    trials: (10, 60),
    trial: |case, ctx| deviation(case, ctx, 1.0),
    constant: "the time in `e^{-tV}`",
    control: Control {
        what: "`e^{tV}` instead of `e^{-tV}`",
        trial: |ctx| deviation(&Case::with_random_masses(5, 2, 1.0, "sa"), ctx, -1.0),
    },
    ..Claim::IDENTITY
};

fn deviation(case: &Case, ctx: &mut Context, sign: f64) -> Result<Finding> {
    let (n, d) = (case.n, case.d);
    let x = points(case, ctx)?;
    let v: Vec<f64> = ctx.normals(d * d).iter().map(|g| 0.5 * g / (d as f64).sqrt()).collect();
    let t = ctx.uniform_in(TIMES.0, TIMES.1);
    let plain =
        evolve(ctx, &attention(case.beta, n, d, None, Some((d, v.clone())), false)?, &x, t, 1e-3)?;
    let rescaled =
        evolve(ctx, &attention(case.beta, n, d, None, Some((d, v.clone())), true)?, &x, t, 1e-3)?;
    let t = sign * ctx.claimed_constant(t);
    let growth = exponential(&v.iter().map(|v| -t * v).collect::<Vec<_>>(), d);
    let size = nan_max(max_abs(x.numbers()), max_abs(rescaled.numbers()));
    let off = (0..n)
        .flat_map(|i| mul(&growth, plain.row(i), 1))
        .zip(rescaled.numbers())
        .map(|(a, b)| (a - b).abs())
        .fold(0.0, nan_max);
    Ok(Finding::identity(off, TOLERANCE * size))
}
