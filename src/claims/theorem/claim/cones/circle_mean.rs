//! USA on the circle conserves the mean angle.

use crate::theorem::prelude::*;

/// From a half circle, the consensus angle is the mean of the initial angles.
///
/// # Derivation
///
/// For USA on the circle
/// `theta_i' = -sum_j m_j e^{beta cos(theta_i - theta_j)} sin(theta_i - theta_j)`. Multiplied by
/// `m_i` and summed over i this is antisymmetric in (i, j), so `sum_i m_i theta_i` is constant.
/// Tokens of an open half circle stay within the arc that they span (`hemisphere-monotone`), so
/// their lifted angles never wind around, and they end at one angle (`cone-collapse`), which is the
/// mean of the initial ones.
pub static ENTRY: Claim = Claim {
    name: "circle-mean",
    title: "USA on a half circle ends at the mean angle",
    lets: "d = 2",
    then: "USA conserves the mean of the lifted angles with the masses as weights. So from an \
           open half circle, the consensus angle is the mean of the initial angles.",
    tested: "to 1e-11",
    domain: Domain {
        n: Sizes::Range(1, 32),
        d: Sizes::Fixed(2),
        beta: Betas::Signed(0.01, 50.0),
        dynamics: &["usa"],
        laws: &["cap:radius=1.57", "cap:radius=0.3"],
        corners: &[(2, 2, 0.0), (5, 2, 1.0), (16, 2, 0.5)],
        ..Domain::ATTENTION
    },
    source: "arXiv:2312.10794, section 7 (antisymmetry)",
    trials: (24, 150),
    trial: consensus,
    constant: "the exponent of the masses in the mean",
    control: Control {
        what: "SA, which does not conserve the mean",
        trial: |ctx| {
            consensus(&Case::with_random_masses(5, 2, 3.0, "sa").with_law("cap:radius=1.57"), ctx)
        },
    },
    ..Claim::IDENTITY
};

fn consensus(case: &Case, ctx: &mut Context) -> Result<Finding> {
    let x = ctx.tokens(case)?;
    ctx.asserts_convergence(case, &x);
    let exponent = ctx.claimed_constant(1.0);
    let weights: Vec<f64> = x.masses().iter().map(|m| m.powf(exponent)).collect();
    let mean = x.angles().iter().zip(&weights).map(|(a, m)| a * m).sum::<f64>()
        / weights.iter().sum::<f64>();
    let options = Options {
        rtol: ctx.rtol() * SYMMETRY_TOLERANCE,
        stop_at_one_cluster: true,
        ..Options::default()
    };
    let end = solve(&case.build()?, &x, FOREVER, &options, &mut [])?;
    if end.clusters.n() > 1 {
        return Ok(Finding::Unfinished(end.outcome.to_string()));
    }
    // The error of the mean is not amplified: it is the tolerance 1e-13 times the path length of a
    // few radians, plus the rounding of some thousand steps.
    Ok(Finding::identity((end.clusters.angles()[0] - mean).abs(), 1e-11))
}
