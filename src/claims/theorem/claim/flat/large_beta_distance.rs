//! Large beta: the distance of attention from its limit.

use super::setting::{UNIT, attention, evolve};
use crate::theorem::prelude::*;

const TIMES: (f64, f64) = (1.0, 2.0);

/// The delay of every token behind the limit, to leading order in 1/beta.
///
/// # Derivation
///
/// At the time `s` the score of a token `z` has the slope `kappa = beta e^{2s} z`, and near the
/// outermost token the spacing of the tokens is `h = (2/n) e^{-s}` (the limit flow contracts
/// towards it). So the softmax mean is by `D(z) = h/(e^{kappa h} - 1)` below the outermost token
/// (`1/kappa` for `n` to `infinity`), which itself has the delay `mu`, `mu' = D(1 - 1/n)`. A
/// token's delay obeys `delta' = -delta + mu + D(z)` along the limit `z(s) = 1 - 1/n - (1 - 1/n -
/// z_0) e^{-s}`. For `n` to `infinity` `beta delta = (1 - E)^2/2 + E log(z(t)/z_0)/(1 - z_0)`, `E =
/// e^{-t}`: its logarithm at 0 is square integrable, so `W_2` decreases as `1/beta`, faster than
/// the general bound. This neglects tokens with `|z| < c/beta`, whose leader is not decided yet.
/// They are a fraction `1/beta` and have delays of the order `log(beta)/beta`, which adds
/// `log^2(beta)/beta` to `W_2`, relatively; its constant is not derived.
pub static ENTRY: Claim = Claim {
    name: "large-beta-distance",
    title: "Large `beta`, on a line: the distance to the limit `beta = infinity`, to leading order \
            in `1/beta`",
    lets: "rescaled attention on the line have `V = 1` and `n` tokens that start at the midpoints \
           of `n` equal parts of [-1, 1]",
    then: "In the hardmax flow every token tends at the rate 1 to the outermost token of its sign. \
           To leading order in `1/beta`, the transport distance `W_2` to this flow at the time `t` \
           is the root mean square of the delays `delta' = -delta + mu + D(z)`, `mu' = D(1 - \
           1/n)`, with `D(z) = h/(e^{beta e^{2s} z h} - 1)` and `h = (2/n) e^{-s}`.",
    tested: "at a time `t` in [{EARLIEST}, {LATEST}], to a relative `log^2(beta)/(2 beta)`",
    numbers: &[("EARLIEST", TIMES.0), ("LATEST", TIMES.1)],
    domain: Domain {
        n: Sizes::Fixed(160),
        d: Sizes::Fixed(1),
        beta: Betas::Log(12.0, 48.0),
        draws: "the time `t`",
        ..UNIT
    },
    narrower: "one start, `Q = K = V = 1`; we have not seen the projection of the source and take \
               the hardmax flow as the limit; the constant 1/2 of the remainder is not derived",
    source: "derived to leading order; arXiv:2605.10931 (abstract: W_2 at most sqrt(log(beta + \
               1)/beta) e^{Ct} + e^{-ct})",
    status: Status::Observation,
    trials: (3, 10),
    trial: |case, ctx| {
        let t = ctx.uniform_in(TIMES.0, TIMES.1);
        distance(ctx, (case.n, case.beta), t, 1.0)
    },
    constant: "the distance",
    control: Control {
        what: "`mu = 0`, that is, without the delay of the outermost token",
        trial: |ctx| distance(ctx, (160, 24.0), 1.5, 0.0),
    },
    ..Claim::LAW
};

/// The delays behind the limit, for the tokens of the right half.
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
    let limit: Vec<f64> = start
        .iter()
        .map(|z| (z.signum() * start[n - 1], z))
        .map(|(end, z)| end + (z - end) * (-t).exp())
        .collect();
    let x = Tokens::flat(1, start)?;
    // Scores grow like e^{2t}, since V enters them as well.
    let mut end =
        evolve(ctx, &attention(beta, n, 1, None, Some((1, vec![1.0])), true)?, &x, t, 1e5)?
            .numbers()
            .to_vec();
    // On the line W_2 pairs tokens by rank; the limit preserves the order.
    end.sort_by(f64::total_cmp);
    let found =
        (end.iter().zip(&limit).map(|(a, b)| (a - b).powi(2)).sum::<f64>() / n as f64).sqrt();
    let delays = delays(n, beta, t, outermost);
    let stated = (delays.iter().map(|d| d * d).sum::<f64>() / delays.len() as f64).sqrt();
    Ok(Finding::law(
        found,
        ctx.claimed_constant(stated),
        stated * beta.ln().powi(2) / (2.0 * beta),
        0.0,
    ))
}
