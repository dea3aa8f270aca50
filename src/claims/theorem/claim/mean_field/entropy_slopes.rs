//! The production of negentropy by clusters.

use crate::continuity::lagrangian::Lagrangian;
use crate::theorem::prelude::*;

const CLUSTERS: usize = 6;
const WIDTHS: (f64, f64) = (1e-3, 0.5);

/// Without the terms for the width of the clusters and the gaps between them the rates are false.
///
/// # Derivation
///
/// USA produces `sum m_i m_j K(<x_i, x_j>)`, `K(s) = e^{beta s} ((d-1) s - beta (1 - s^2))`. At
/// chord `r`, `s = 1 - r^2/2`, so `1 - u r^2 <= K / ((d-1) e^beta) <= 1` with `u = 1/2 + beta/2 +
/// beta/(d-1)` (from `e^{-x} (1 - y) >= 1 - x - y`); beyond the smallest gap `D`, `|K| <= e^{beta -
/// beta D^2/2} (d - 1 + beta)`. SA produces the mean over `x` of `(d-1) E_x s - beta tr Cov_x`,
/// where `E_x` has the weights `e^{-beta r^2/2}`. This is at most `d - 1`, and at least `d - 1`
/// minus `((d-1)/2 + beta) E_x r^2`. The weights decrease with `r`, so within the cluster of `x`
/// `E_x r^2` is at most the unweighted mean; the other clusters have at most the weight `(1 -
/// alpha_q)/alpha_q e^{-beta (D^2 - w^2)/2}` (`w`: the largest chord of a cluster), and `sum
/// alpha_q (1 - alpha_q)/alpha_q = m - 1`.
pub static ENTRY: Claim = Claim {
    name: "entropy-slopes",
    title: "Clusters produce negentropy at the rates `(d-1) e^beta sum alpha_q^2` (USA) and `d - \
            1` (SA), up to corrections for their width and gaps",
    lets: "`m` clusters have masses `alpha_q` and mean squared chords `rho_q^2`, let `w` be the \
           largest chord in a cluster, `D` the smallest gap between two, and `H'` the rate of \
           production",
    then: "For USA (U1), `-c <= 1 - H' / ((d-1) e^beta sum alpha_q^2) <= (1/2 + beta/2 + \
           beta/(d-1)) sum alpha_q^2 rho_q^2 / sum alpha_q^2 + c`, with `c = (1/sum alpha_q^2 - 1) \
           (1 + beta/(d-1)) e^{-beta D^2/2}`. For SA, `0 <= 1 - H'/(d-1) <= (1/2 + beta/(d-1)) \
           (sum alpha_q rho_q^2 + 4 (m-1) e^{-beta (D^2 - w^2)/2})`.",
    numbers: &[("CLUSTERS", CLUSTERS as f64), ("LEAST", WIDTHS.0), ("PARTS", 1.0 / WIDTHS.1)],
    domain: Domain {
        n: Sizes::Range(2, 48),
        d: Sizes::Range(2, 16),
        beta: Betas::Log(0.01, 300.0),
        laws: &[],
        draws: "up to {CLUSTERS} clusters of width {LEAST} to 1/{PARTS} at uniform centres",
        ..Domain::ATTENTION
    },
    narrower: "measures are sampled as atoms, for which `H'` is the mean of -div `v`",
    source: "derived",
    trials: (40, 400),
    trial: |case, ctx| {
        let m = 1 + ctx.index((case.n / 2).min(CLUSTERS));
        let width = ctx.log_uniform_in(WIDTHS.0, WIDTHS.1);
        slope(case, ctx, m, width, 2)
    },
    constant: "the rates",
    control: Control {
        what: "USA with three narrow clusters: `sum alpha_q` instead of `sum alpha_q^2`",
        trial: |ctx| slope(&Case::with_random_masses(12, 16, 100.0, "usa"), ctx, 3, 1e-3, 1),
    },
    ..Claim::INEQUALITY
};

/// Tokens near m random centres, token i near centre i mod m.
fn slope(case: &Case, ctx: &mut Context, m: usize, width: f64, power: i32) -> Result<Finding> {
    let centres = ctx.tokens_with_law(m, case.d, "uniform")?;
    let scatter = ctx.normals(case.n * case.d);
    let places = scatter
        .chunks_exact(case.d)
        .enumerate()
        .flat_map(|(i, s)| centres.row(i % m).iter().zip(s).map(|(c, s)| c + width * s))
        .collect();
    let x = Tokens::normalised(case.d, places)?.with_masses(&ctx.masses(case.n))?;
    let (dimension, beta) = (case.d as f64 - 1.0, case.beta);
    let alpha: Vec<f64> = (0..m).map(|q| x.masses().iter().skip(q).step_by(m).sum()).collect();
    let square: f64 = alpha.iter().map(|a| a * a).sum();
    // Sum of m_i m_j r^2 within each cluster, the largest such r^2, the smallest between clusters.
    let (mut within, mut widest, mut gap) = (vec![0.0; m], 0.0f64, f64::INFINITY);
    for (i, j) in pairs(case.n) {
        let r2 = chord2(x.row(i), x.row(j));
        if i % m == j % m {
            within[i % m] += 2.0 * x.masses()[i] * x.masses()[j] * r2;
            widest = nan_max(widest, r2);
        } else {
            gap = nan_min(gap, r2);
        }
    }
    let (shortfall, excess, slope) = if case.row_weights()? == RowWeights::Exponential {
        let cross = (1.0 / square - 1.0) * (1.0 + beta / dimension) * (-0.5 * beta * gap).exp();
        let wide = (0.5 + 0.5 * beta + beta / dimension) * within.iter().sum::<f64>() / square;
        (
            wide + cross,
            cross,
            dimension * beta.exp() * alpha.iter().map(|a| a.powi(power)).sum::<f64>(),
        )
    } else {
        let far = if m == 1 {
            0.0
        } else {
            4.0 * (m as f64 - 1.0) * (-0.5 * beta * (gap - widest)).exp()
        };
        let wide: f64 = within.iter().zip(&alpha).map(|(w, a)| w / a).sum();
        ((0.5 + beta / dimension) * (wide + far), 0.0, dimension)
    };
    let log_density = vec![0.0; case.n];
    let produced = Lagrangian { x, log_density }.negentropy_rate(&MeasureDynamics::new(
        case.dynamics,
        beta,
        0.0,
    )?)?;
    let deviation = 1.0 - produced / ctx.claimed_constant(slope);
    // Both bounds are attained in the limit (a token far from all others contributes exactly d -
    // 1), so rounding of the sum and of the weights, beta eps, must be allowed.
    let rounding = (256.0 + 4.0 * beta) * f64::EPSILON;
    let (above, below) = (deviation + excess + rounding, shortfall - deviation + rounding);
    let upper = Finding::nonnegative(below, shortfall + deviation.abs() + rounding);
    Ok(Finding::nonnegative(above, deviation.abs() + excess + rounding).and(upper))
}
