//! Rates at consensus for any interaction.

use super::setting::any_interaction;
use crate::attention::interaction::{Interaction, InteractionAttention, RowSum};
use crate::sphere::geometry::{exp, project};
use crate::theorem::prelude::*;

const ROUNDINGS: f64 = 16.0;

/// # Derivation
///
/// Let `x_i` be at the geodesic distance of the order `e` from `xi`, in the direction `u_i`. Inner
/// products are `1 + O(e^2)`, so weights are `m_j phi(1) + O(e^2)`: only the value of `phi` at 1
/// matters, and `phi` need not even be differentiable there. `P_i x_j` is `e (u_j - u_i)` to this
/// order. Hence `u_i' = r sum_j m_j (u_j - u_i) = r (mean(u) - u_i)` with `r = phi(1)`, and `r = 1`
/// if rows are divided by their sums `phi(1) + O(e^2)`. Equal `u_i` have the rate 0, and `u_i` of
/// mean 0 the rate `-r`, `(n-1)(d-1)` times. If `phi(1) < 0`, tokens at one point separate.
///
/// The remainder. Two tokens have a chord of at most `2e`, so weights change by at most `2 e^2 max
/// |phi'|`; the tangential part of `P_i x_j` differs from `e (u_j - u_i)` by less than `4 e^3`. The
/// test uses `e = eps^{1/3}`: then the remainder and the rounding of coordinates, `eps` each, are
/// of one size.
pub static ENTRY: Claim = Claim {
    name: "interaction-consensus",
    title: "Near one point tokens approach their mean at the rate `phi(1)`, or 1",
    lets: "tokens be near a point `xi`, at small tangential displacements `u_i`",
    then: "Under USA with any interaction `u_i' = r (mean(u) - u_i)` to first order with `r = \
           phi(1)`, whatever `phi'(1)`; under SA `r = 1`, if `phi > 0`. So the eigenvalues at \
           consensus are `-r`, `(n-1)(d-1)` times, and 0, `d-1` times.",
    tested: "at displacements `eps^{1/3}`, to `{ROUNDINGS} eps (d + 2)(max |phi| + max |phi'|)`, \
             for SA divided by `phi(1)`",
    numbers: &[("ROUNDINGS", ROUNDINGS)],
    domain: Domain {
        n: Sizes::Range(2, 24),
        d: Sizes::Range(2, 16),
        beta: Betas::Unused,
        dynamics: &[],
        laws: &[],
        draws: "`phi`, row sums or none, a point, displacements, masses",
        ..Domain::ATTENTION
    },
    narrower: "interactions without kinks",
    source: "derived: linearisation; arXiv:2312.10794, (2.3), for the exponential",
    trials: (60, 400),
    trial: |case, ctx| {
        let phi = any_interaction(ctx)?;
        near_consensus(case, ctx, phi, 1.0)
    },
    constant: "the rate `r`",
    control: Control {
        what: "`phi = e^s` and rates larger by a millionth",
        trial: |ctx| {
            let phi = Interaction::parse("exp(s)", &[])?;
            near_consensus(&Case::with_random_masses(5, 3, 0.0, ""), ctx, phi, 1.0 + 1e-6)
        },
    },
    ..Claim::IDENTITY
};

fn near_consensus(
    case: &Case,
    ctx: &mut Context,
    phi: Interaction,
    factor: f64,
) -> Result<Finding> {
    let (n, d) = (case.n, case.d);
    let is_divided = ctx.index(2) == 0 && phi.check_row_weights().is_ok() && phi.value(1.0)? > 0.0;
    let (size, slope) = phi.sizes();
    let xi = ctx.tokens_with_law(1, d, "uniform")?.coordinates().to_vec();
    let masses = ctx.masses(n);
    let mut u = ctx.normals(n * d);
    u.chunks_exact_mut(d).for_each(|row| project(&xi, row));
    let largest = u.chunks_exact(d).map(norm).fold(f64::MIN_POSITIVE, nan_max);
    let small = f64::EPSILON.cbrt();
    scale(small / largest, &mut u);
    let rows = u.chunks_exact(d).flat_map(|r| exp(&xi, r)).collect();
    let x = Tokens::normalised(d, rows)?.with_masses(&masses)?;
    let at_one = phi.value(1.0)?;
    let (row_sum, rate, divisor) =
        if is_divided { (RowSum::Normalised, 1.0, at_one) } else { (RowSum::Plain, at_one, 1.0) };
    let rate = factor * ctx.claimed_constant(rate);
    let mut velocity = Dynamics::single(InteractionAttention::new(phi, row_sum)?).velocity(&x);
    let mut mean = vec![0.0; d];
    u.chunks_exact(d).zip(x.masses()).for_each(|(r, m)| axpy(*m, r, &mut mean));
    let mut worst = 0.0;
    for (v, u) in velocity.chunks_exact_mut(d).zip(u.chunks_exact(d)) {
        project(&xi, v);
        for c in 0..d {
            worst = nan_max(worst, (v[c] - rate * (mean[c] - u[c])).abs());
        }
    }
    let allowed = ROUNDINGS * f64::EPSILON * (d as f64 + 2.0) * (size + slope) / divisor;
    Ok(Finding::identity(worst, allowed))
}
