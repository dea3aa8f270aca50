//! Large beta: how far attention is from its limit.

use super::rd_rescaling::{attention, flowed};
use crate::theorem::prelude::*;

/// The delay of every token behind the limit, to leading order in 1/beta.
///
/// # Derivation
///
/// At the time s the score of a token z has the slope `kappa = beta e^{2s} z`, and near the outermost token the others stand h = (2/n) e^{-s} apart (the flow of the limit contracts to it). So the softmax mean is `D(z) = h/(e^{kappa h} - 1)`
/// short of the outermost token (1/kappa for n to infinity), which itself falls behind by mu, `mu' = D(1 - 1/n)`. A token's delay obeys `delta' = -delta + mu + D(z)` along the limit `z(s) = 1 - 1/n - (1 - 1/n - z_0) e^{-s}`. For n to
/// infinity `beta delta = (1 - E)^2/2 + E log(z(t)/z_0)/(1 - z_0)`, E = e^{-t}: its logarithm at 0 is square integrable, so W_2 falls as 1/beta, faster than the general bound. Left out: tokens with |z| < c/beta do not know their leader
/// yet; they are a share 1/beta and have delays of the order log(beta)/beta, which adds `log^2(beta)/beta` to W_2, relatively; its constant is not derived.
pub static ENTRY: Claim = Claim {
    name: "large-beta-distance",
    title: "Large beta, on a line: the distance to the limit of beta = infinity, to leading order in 1/beta",
    statement: "Rescaled attention on the line, V = 1, n tokens at the middles of n equal parts of [-1, 1], time t in [1, 2], beta in [12, 48]: the transport distance W_2 to the hardmax flow (every token tends at the rate 1 to the outermost of its sign) is the root mean square of \
                delays delta' = -delta + mu + D(z), mu' = D(1 - 1/n), D(z) = h/(e^{beta e^{2s} z h} - 1), h = (2/n) e^{-s}, within log^2(beta)/(2 beta) relatively.",
    domain: Domain { n: Sizes::Fixed(160), d: Sizes::Fixed(1), beta: Betas::Log(12.0, 48.0), masses: Masses::Equal, ..Domain::FLAT },
    narrower: "one start, Q = K = V = 1; the projection of the source was not seen: the limit is the hardmax flow; the constant 1/2 of the remainder is not derived",
    citation: "derived to leading order; arXiv:2605.10931 (abstract: W_2 at most sqrt(log(beta + 1)/beta) e^{Ct} + e^{-ct})",
    status: Status::Observation,
    trials: (3, 10),
    trial: |case, ctx| {
        let t = ctx.uniform_in(1.0, 2.0);
        distance(ctx, (case.n, case.beta), t, 1.0)
    },
    perturbed: "the distance",
    control: Control { what: "the outermost token at rest (mu = 0)", trial: |ctx| distance(ctx, (160, 24.0), 1.5, 0.0) },
    ..Claim::LAW
};

/// Delays behind the limit, of the tokens of the right half.
fn delays(n: usize, beta: f64, t: f64, outermost: f64) -> Vec<f64> {
    // The midpoint rule: its error is below 1e-5 of the delays.
    const STEPS: usize = 400;
    let (step, end, spacing) = (t / STEPS as f64, 1.0 - 1.0 / n as f64, 2.0 / n as f64);
    let start = |i: usize| (2.0 * i as f64 + 1.0) / n as f64;
    let (mut out, mut mu) = (vec![0.0; n / 2], 0.0);
    for k in 0..STEPS {
        let s = (k as f64 + 0.5) * step;
        let short = |z: f64| spacing * (-s).exp() / (beta * s.exp() * z * spacing).exp_m1();
        let behind = outermost * (mu + 0.5 * step * short(end));
        for (i, delta) in out.iter_mut().enumerate() {
            *delta += step * (s - t).exp() * (behind + short(end - (end - start(i)) * (-s).exp()));
        }
        mu += step * short(end);
    }
    out
}

fn distance(ctx: &mut Context, (n, beta): (usize, f64), t: f64, outermost: f64) -> Result<Finding> {
    let start: Vec<f64> = (0..n).map(|i| (2.0 * i as f64 + 1.0) / n as f64 - 1.0).collect();
    let limit: Vec<f64> = start.iter().map(|z| (z.signum() * start[n - 1], z)).map(|(end, z)| end + (z - end) * (-t).exp()).collect();
    let x = Tokens::flat(1, start)?;
    // Scores grow by e^{2t}: V enters them as well, so the flow is read at its own times.
    let mut end = flowed(ctx, &attention(beta, n, 1, None, Some((1, vec![1.0])), true)?, &x, t, 1e5)?.numbers().to_vec();
    // On the line W_2 pairs tokens by rank; the limit is in order.
    end.sort_by(f64::total_cmp);
    let found = (end.iter().zip(&limit).map(|(a, b)| (a - b).powi(2)).sum::<f64>() / n as f64).sqrt();
    let delays = delays(n, beta, t, outermost);
    let stated = (delays.iter().map(|d| d * d).sum::<f64>() / delays.len() as f64).sqrt();
    Ok(Finding::law(found, ctx.stated(stated), stated * beta.ln().powi(2) / (2.0 * beta), 0.0))
}
