//! USA on the circle conserves the mean angle.

use super::rotation::SHARE;
use crate::theorem::prelude::*;

/// In a half circle the consensus angle is the mean of the initial angles.
///
/// # Derivation
///
/// For USA on the circle `theta_i' = -sum_j m_j e^{beta cos(theta_i - theta_j)} sin(theta_i - theta_j)`. Multiplied by `m_i` and summed
/// over i this is antisymmetric in (i, j), so `sum_i m_i theta_i` stands still. Tokens of an open half circle stay within the arc that
/// they span (`hemisphere-monotone`), so their lifted angles never wind, and they end at one angle (`cone-collapse`): the mean of the
/// initial ones.
pub static ENTRY: Claim = Claim {
    name: "circle-mean",
    title: "USA on a half circle ends at the mean angle",
    statement: "d = 2, USA: the mass-weighted mean of lifted angles is conserved, so from an open half circle the consensus angle is the mean of the initial angles, to 1e-11.",
    domain: Domain {
        n: Sizes::Range(1, 32),
        d: Sizes::Fixed(2),
        beta: Betas::Signed(0.01, 50.0),
        dynamics: &["usa"],
        laws: &["cap:radius=1.57", "cap:radius=0.3"],
        corners: &[(2, 2, 0.0), (5, 2, 1.0), (16, 2, 0.5)],
        ..Domain::ATTENTION
    },
    citation: "arXiv:2312.10794, section 7 (antisymmetry)",
    trials: (24, 150),
    trial: consensus,
    perturbed: "the exponent of the masses in the mean",
    control: Control {
        what: "SA, which does not conserve the mean",
        trial: |ctx| consensus(&Case::weighted(5, 2, 3.0, "sa").with_law("cap:radius=1.57"), ctx),
    },
    ..Claim::IDENTITY
};

fn consensus(case: &Case, ctx: &mut Context) -> Result<Finding> {
    let x = ctx.tokens(case)?;
    ctx.converges(case, &x);
    let exponent = ctx.stated(1.0);
    let weights: Vec<f64> = x.masses().iter().map(|m| m.powf(exponent)).collect();
    let mean = x.angles().iter().zip(&weights).map(|(a, m)| a * m).sum::<f64>() / weights.iter().sum::<f64>();
    let options = Options { rtol: ctx.rtol() * SHARE, stop_at_one_cluster: true, ..Options::default() };
    let end = solve(&case.build()?, &x, FOREVER, &options, &mut [])?;
    if end.clusters.n() > 1 {
        return Ok(Finding::Unfinished(end.outcome.to_string()));
    }
    // Nothing amplifies the mean's error: the tolerance 1e-13 times the path, a few radians, and the rounding of some thousand steps.
    Ok(Finding::identity((end.clusters.angles()[0] - mean).abs(), 1e-11))
}
