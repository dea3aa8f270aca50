//! Layers of repulsive attention leave the regular polygon by a flip.

use super::setting::{polygon, positive_interaction};
use crate::attention::interaction::{Interaction, InteractionAttention, RowSum};
use crate::theorem::prelude::*;
use crate::theory::interaction::polygon_rates;

const LARGEST_SHARE: f64 = 0.95;
const ROUNDINGS: f64 = 16.0;
const LEAST_RATE: f64 = 1e-3;
const LONG_STEPS: (f64, f64) = (1.0, 1e3);

/// # Derivation
///
/// At the regular n-gon all rows of weights are alike, and `sum_j A_ij x_j = h x_i` with `h = sum_j
/// A_ij <x_i, x_j>`. A layer with `V = -I` and the step `g` turns token `i` by the angle whose
/// tangent is `-g T_i/(1 - g h)`, where `T_i = sum_j A_ij sin(t_j - t_i)` is the speed of the
/// attracting flow, if `g h < 1`. To first order `T` of the displacement `cos(2 pi q j/n)` is `L_q`
/// times it. So one layer multiplies this displacement by `1 - g L_q/(1 - g h)`.
///
/// If all `L_q` but that of rotations are positive, as for the exponential with `beta > 0`, the
/// polygon is unstable for attraction, and for small `g` it is stable for repulsion: the equilibria
/// of `phi` and of `-phi` exchange their kinds. The first multiplier to leave (-1, 1) is that of
/// the largest `L_q`, through -1, where `g L = 2 (1 - g h)`, that is, `g (L + 2 h) = 2`. For
/// smaller `g` all multipliers exceed -1.
///
/// No `g > 0` satisfies this if `L + 2 h <= 0`. Then `h < 0`, every `g` is admitted, and the
/// multiplier `1 - L/(1/g - h)` decreases to `1 + L/h >= -1` as `g` grows. For example `phi =
/// e^{-0.6 s}` has `h = -0.247` and `L = 0.062` at the triangle, and all multipliers are above
/// 0.74. If no `L_q` is positive, all multipliers are at least 1.
///
/// The multiplier is the derivative of the turn of a token by the size `e` of the displacement,
/// which is `e cos(2 pi q i/n) + arg(1 - g v_i)`, `v_i = sum_j A_ij e^{i (t_j - t_i)}`. The
/// relative weights change by at most `2 e max |phi'|/mean phi`, and `1 - g v_i` is at least `1 - g
/// h` at `e = 0`. So both stay away from 0 for complex `e` below a constant times `1/X`, with `X`
/// as in `tested`. There the turn is analytic and bounded, and its derivative of order five is at
/// most a constant times `X^5` (Cauchy). Differences of fourth order with the step `w =
/// eps^{1/5}/X` have an error of `w^4 X^5 = eps^{4/5} X`, and rounding errors `eps X` of the turns
/// become `eps X/w = eps^{4/5} X^2`, which is more.
pub static ENTRY: Claim = Claim {
    name: "repulsive-flip",
    title: "Layers of repulsive attention: the polygon flips at `g = 2/(max L_q + 2 h)` if this is \
            positive, and otherwise at no `g`",
    lets: "`n` equal tokens be near a regular n-gon on the circle, `phi > 0`, `A_ij = phi(<x_i, \
           x_j>)/sum_k phi(<x_i, x_k>)`, `h = sum_j A_ij <x_i, x_j>` at the polygon, and let `L_q` \
           be the growth rate of the displacement `cos(2 pi q j/n)` under SA",
    then: "One layer `x_i <- normalise(x_i - g sum_j A_ij x_j)` with `g h < 1` multiplies this \
           displacement by `1 - g L_q/(1 - g h)` to first order. If `max L_q > 0` and `max L_q + 2 \
           h > 0`, the multiplier of the largest `L_q` is -1 at `g_c = 2/(max L_q + 2 h)`, and all \
           multipliers exceed -1 for `g < g_c`. Otherwise all multipliers exceed -1 for every such \
           `g > 0`.",
    tested: "with differences of fourth order and the step `eps^{1/5}/X`, `g h <= \
             {LARGEST_SHARE}`, to `{ROUNDINGS} eps^{4/5} X^2` with `X` = (`1 + max |phi'|`/mean \
             `phi`)`(1 + g)/(1 - g h)`, and to the same at `g_c`, if `max L_q > 1/{PARTS}` and \
             `g_c h <= {LARGEST_SHARE}`. Where no `g` flips the polygon, the multiplier of the \
             largest `L_q` is this, too, and exceeds -1, at a `g` in [{SHORTEST}, {LONGEST}] if `h \
             < 0`",
    numbers: &[
        ("LARGEST_SHARE", LARGEST_SHARE),
        ("ROUNDINGS", ROUNDINGS),
        ("PARTS", 1.0 / LEAST_RATE),
        ("SHORTEST", LONG_STEPS.0),
        ("LONGEST", LONG_STEPS.1),
    ],
    domain: Domain {
        n: Sizes::Range(3, 16),
        d: Sizes::Fixed(2),
        draws: "`phi`, `g`, `q`",
        ..Domain::FREE
    },
    narrower: "interactions without kinks",
    source: "derived from arXiv:2609.28448 (the abstract: a flip bifurcation)",
    trials: (30, 200),
    trial: |case, ctx| {
        let phi = positive_interaction(ctx)?;
        multipliers(case, ctx, phi, 1.0)
    },
    constant: "`g`",
    control: Control {
        what: "`phi = e^{2s}` with `g` larger by a thousandth in the formula",
        trial: |ctx| {
            let phi = Interaction::parse("exp(2*s)", &[])?;
            multipliers(&Case::new(6, 2, 0.0, ""), ctx, phi, 1.001)
        },
    },
    ..Claim::IDENTITY
};

fn multipliers(case: &Case, ctx: &mut Context, phi: Interaction, factor: f64) -> Result<Finding> {
    let n = case.n;
    let corners = polygon(n)?;
    let values =
        (0..n).map(|j| phi.value(corners.inner(0, j).min(1.0))).collect::<Result<Vec<_>>>()?;
    let total: f64 = values.iter().sum();
    let radial = (0..n).map(|j| values[j] * corners.inner(0, j)).sum::<f64>() / total;
    let rates = polygon_rates(&phi, RowSum::Normalised, n)?;
    let fastest = (1..=n / 2).max_by(|a, b| rates[*a].total_cmp(&rates[*b])).unwrap_or(1);
    let steepness = 1.0 + phi.sizes().1 * n as f64 / total;
    let flow = InteractionAttention::new(phi, RowSum::Normalised)?.repelling(true);
    let dynamics = Dynamics::single(flow);
    let q = 1 + ctx.index(n / 2);
    let share = ctx.uniform_in(0.05, LARGEST_SHARE);
    // g h < 1 for g below this.
    let most = 1.0 / radial.max(0.5);
    let varied = ctx.claimed_constant(factor);
    // The multiplier and its error.
    let multiplier = |g: f64, q: usize| -> Result<(f64, f64)> {
        let scale = steepness * (1.0 + g) / (1.0 - g * radial);
        let found = measured(&dynamics, g, q, (n, f64::EPSILON.powf(0.2) / scale))?;
        Ok((found, ROUNDINGS * f64::EPSILON.powf(0.8) * scale * scale))
    };
    let deviation = |g: f64, q: usize, expected: f64| -> Result<Finding> {
        let (found, allowed) = multiplier(g, q)?;
        Ok(Finding::identity((found - expected).abs(), allowed))
    };
    let g = share * most;
    let claimed = varied * g;
    let first = deviation(g, q, 1.0 - claimed * rates[q] / (1.0 - claimed * radial))?;
    let flips = rates[fastest] > 0.0 && rates[fastest] + 2.0 * radial > 0.0;
    if !flips {
        let (short, long) = LONG_STEPS;
        let g = if radial < 0.0 { ctx.log_uniform_in(short, long) } else { g };
        let (found, allowed) = multiplier(g, fastest)?;
        let claimed = varied * g;
        let expected = 1.0 - claimed * rates[fastest] / (1.0 - claimed * radial);
        return Ok(first
            .and(Finding::identity((found - expected).abs(), allowed))
            .and(Finding::answer(found > -1.0 - allowed)));
    }
    let critical = 2.0 / (rates[fastest] + 2.0 * radial);
    if rates[fastest] <= LEAST_RATE || critical * radial > LARGEST_SHARE {
        return Ok(first);
    }
    Ok(first.and(deviation(critical, fastest, -1.0)?))
}

/// The multiplier of a displacement of n tokens by one layer, by central differences of fourth
/// order.
fn measured(dynamics: &Dynamics, g: f64, q: usize, (n, step): (usize, f64)) -> Result<f64> {
    let mode = |j: usize| (TAU * (q * j % n) as f64 / n as f64).cos();
    let size: f64 = (0..n).map(|j| mode(j) * mode(j)).sum();
    let after = |e: f64| -> Result<f64> {
        let angles: Vec<f64> = (0..n).map(|j| TAU * j as f64 / n as f64 + e * mode(j)).collect();
        let mut x = Tokens::from_angles(&angles)?;
        Layer::new(g)?.apply(dynamics, &mut x);
        let shift = |j: usize| {
            let (s, c) = (TAU * j as f64 / n as f64).sin_cos();
            let r = x.row(j);
            (c * r[1] - s * r[0]).atan2(c * r[0] + s * r[1])
        };
        Ok((0..n).map(|j| mode(j) * shift(j)).sum::<f64>() / size)
    };
    let near = after(step)? - after(-step)?;
    let far = after(2.0 * step)? - after(-2.0 * step)?;
    Ok((8.0 * near - far) / (12.0 * step))
}
