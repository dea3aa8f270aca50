//! Equispaced tokens are an equilibrium.

use crate::theorem::prelude::*;

/// The regular n-gon is stationary for SA and USA.
///
/// # Derivation
///
/// At a regular polygon the forces of the tokens at +q and -q steps are mirror images in the line
/// through the token and cancel along the circle; the force of the opposite token, if there is one,
/// is along that line. All rows have the same sum, so SA and USA differ by a factor.
pub static ENTRY: Claim = Claim {
    name: "uniform-grid",
    title: "Equispaced tokens on the circle are stationary",
    then: "n equispaced tokens of equal masses on the circle, rotated by any angle, are an \
           equilibrium of SA and USA for every beta.",
    tested: "as: the speed is at most 16 eps (1 + |beta|) of its bound, which is the effect of \
             rounding of the angles",
    domain: Domain {
        n: Sizes::Range(1, 400),
        d: Sizes::Fixed(2),
        beta: Betas::Signed(0.01, 100.0),
        laws: &["polygon"],
        corners: &[(2, 2, 0.0), (3, 2, 1.0), (12, 2, 6.0), (200, 2, 30.0)],
        ..Domain::EQUAL_MASSES
    },
    source: "symmetry; mean-field consistency of arXiv:2312.10794, section 7",
    trials: (60, 400),
    trial: |case, ctx| speed(case, ctx, 0.0),
    constant: "the position of one token, in units of pi/(5 n)",
    control: Control {
        what: "one of the tokens displaced by 1e-6",
        trial: |ctx| speed(&Case::new(5, 2, 2.0, "sa"), ctx, 1e-6),
    },
    ..Claim::IDENTITY
};

/// The largest velocity relative to its bound, with the first token displaced.
fn speed(case: &Case, ctx: &mut Context, displacement: f64) -> Result<Finding> {
    let (phase, gap) = (ctx.uniform_in(0.0, TAU), TAU / case.n as f64);
    let mut angles: Vec<f64> = (0..case.n).map(|k| phase + gap * k as f64).collect();
    angles[0] += displacement + 0.1 * gap * (ctx.claimed_constant(1.0) - 1.0);
    let largest = ctx
        .velocity(case, &Tokens::from_angles(&angles)?)?
        .iter()
        .fold(0.0f64, |m, v| nan_max(m, v.abs()));
    let bound = case.row_weights()?.log_consensus_row_sum(case.beta.abs()).exp();
    Ok(Finding::identity(largest / bound, 16.0 * f64::EPSILON * (1.0 + case.beta.abs())))
}
