//! Large beta: how far attention is from its limit.

use super::rd_rescaling::{FLAT, attention, flowed};
use super::{Betas, Claim, Context, Control, Domain, Finding, Kind, Masses, Sizes, Status};
use crate::error::Result;
use crate::num::stats::slope;
use crate::sphere::Tokens;

/// Tokens within 1/beta of the middle do not yet know their leader, but leave it within a time of the order log(beta)/beta: so the distance falls faster than the general bound.
///
/// # Derivation
///
/// Not a proof. A token at z weighs the uniform tokens by `e^{beta z y}` and moves to their mean `coth(beta z) - 1/(beta z)`, which is 1/(beta z) short of the end: outside the middle the distance is of the order 1/beta. In the middle, `|z| < c/beta`, the mean is `beta z/3`, so that tokens leave it at the
/// rate beta/3: what they lose is a delay of the order 1/beta, up to logarithms, and they are a share 1/beta of all. Measured slopes over 6..24 are -1.05 to -1.12.
pub static ENTRY: Claim = Claim {
    name: "large-beta-distance",
    title: "Large beta, on a line: the distance to the limit of beta = infinity falls as 1/beta",
    statement: "Rescaled attention on the line, V = 1, n tokens at the middles of n equal parts of [-1, 1], time t in [1, 2]: the transport distance W_2 to the hardmax flow (every token tends at the rate 1 to the outermost of its sign) falls as 1/beta over beta = 6, 12, 24 (slope within 0.2).",
    domain: Domain { n: Sizes::Fixed(160), d: Sizes::Fixed(1), beta: Betas::Unused, masses: Masses::Equal, ..FLAT },
    narrower: "one start, Q = K = V = 1; the projection of the source was not seen: the limit is the hardmax flow",
    citation: "arXiv:2605.10931 (abstract: W_2 at most sqrt(log(beta + 1)/beta) e^{Ct} + e^{-ct})",
    status: Status::Observation,
    kind: Kind::Law,
    trials: (2, 10),
    trial: |case, ctx| {
        let t = ctx.uniform_in(1.0, 2.0);
        order(ctx, case.n, t, -1.0)
    },
    perturbed: "",
    control: Control { what: "the order 1/2 of the general bound", trial: |ctx| order(ctx, 160, 1.5, -0.5) },
    proof: None,
};

fn order(ctx: &mut Context, n: usize, t: f64, stated: f64) -> Result<Finding> {
    let start: Vec<f64> = (0..n).map(|i| (2.0 * i as f64 + 1.0) / n as f64 - 1.0).collect();
    let limit: Vec<f64> = start.iter().map(|z| (z.signum() * start[n - 1], z)).map(|(end, z)| end + (z - end) * (-t).exp()).collect();
    let x = Tokens::flat(1, start)?;
    let mut points = Vec::new();
    for beta in [6.0f64, 12.0, 24.0] {
        // Scores grow by e^{2t}: V enters them as well, so the flow is read at its own times.
        let mut end = flowed(ctx, &attention(beta, n, 1, None, Some((1, vec![1.0])), true)?, &x, t, 1e5)?.numbers().to_vec();
        // On the line W_2 pairs tokens by rank; the limit is in order.
        end.sort_by(f64::total_cmp);
        let square = end.iter().zip(&limit).map(|(a, b)| (a - b).powi(2)).sum::<f64>() / n as f64;
        points.push((beta.ln(), 0.5 * square.ln()));
    }
    Ok(Finding::law(slope(&points), stated, 0.2, 0.0))
}
