//! The normalisations of USA differ by a change of time.

use super::rotation::{ALLOWED, deviation};
use crate::theorem::prelude::*;

/// `t_U2 = e^beta t_U1`, `t_U3 = n e^beta t_U1`, `t_U4 = t_U1 / n`.
///
/// # Derivation
///
/// The four normalisations multiply the velocity by the factors 1, `e^{-beta}`, `e^{-beta}/n` and
/// n, which which are constant along a run (equal masses). A constant factor of an autonomous field
/// changes the unit of time by its inverse.
pub static ENTRY: Claim = Claim {
    name: "time-scales",
    title: "U1, U2, U3 and U4 are one flow at different speeds",
    lets: "USA have the factor 1 (U1), e^{-beta} (U2), e^{-beta}/n (U3) or n (U4) before sum_j \
           m_j e^{beta G_ij} x_j, with equal masses",
    then: "The solutions agree if t_U2 = e^beta t_U1, t_U3 = n e^beta t_U1 and t_U4 = t_U1/n.",
    tested: "at t_U1 = 1/L, where L is the Lipschitz constant of the velocity, to 8e-13",
    domain: Domain { dynamics: &["usa"], ..Domain::SYMMETRY },
    source: "arXiv:2312.10794, (3.5); arXiv:2410.06833, sections 2, 3, 6 (equal masses)",
    trials: (24, 200),
    trial: |case, ctx| compare(case, ctx, 1.0),
    constant: "the factors e^beta, n e^beta and 1/n",
    control: Control {
        what: "e^{2 beta} instead of e^beta",
        trial: |ctx| compare(&Case::with_random_masses(5, 3, 1.0, "usa"), ctx, 2.0),
    },
    ..Claim::IDENTITY
};

fn compare(case: &Case, ctx: &mut Context, power: f64) -> Result<Finding> {
    let x = ctx.tokens(case)?;
    let n = case.n as f64;
    let t = 1.0 / case.lipschitz()?;
    let again = ctx.claimed_constant(t);
    let mut run = |scale: TimeScale, t: f64| -> Result<Tokens> {
        let spec = Spec { time_scale: scale, ..Spec::new(case.beta, case.n) };
        ctx.flow_to_with_tolerance(
            &dynamics::build("usa", false, &spec)?,
            &x,
            t,
            SYMMETRY_TOLERANCE,
        )
    };
    let base = run(TimeScale::U1, t)?;
    let factor = (power * case.beta).exp();
    let mut worst = 0.0;
    for (scale, factor) in
        [(TimeScale::U2, factor), (TimeScale::U3, n * factor), (TimeScale::U4, 1.0 / n)]
    {
        worst = nan_max(worst, deviation(&run(scale, again * factor)?, &base));
    }
    Ok(Finding::identity(worst, ALLOWED))
}
