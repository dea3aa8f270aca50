//! Time reversal.

use super::rotation::{ALLOWED, deviation};
use crate::attention::Variant;
use crate::theorem::prelude::*;

/// V = -I reverses the flow.
///
/// # Derivation
///
/// The velocity is linear in V and the weights do not depend on it, so with V = -I it changes its
/// sign, and solutions are traversed backwards.
pub static ENTRY: Claim = Claim {
    name: "time-reversal",
    title: "V = -I is the reversed flow",
    then: "Integration with V = I and then for the same time with V = -I returns to the start.",
    tested: "with t = 1/L each way, where L is the Lipschitz constant of the velocity, to 8e-13",
    domain: Domain { dynamics: &["sa", "usa"], ..Domain::SYMMETRY },
    narrower: "Q = K = I",
    source: "arXiv:2312.10794, section 9.1",
    trials: (30, 200),
    trial: |case, ctx| {
        let back = Variant { repulsive: true, ..case.variant()? };
        return_error(case, ctx, dynamics::find_variant(back)?.name)
    },
    constant: "the time of the way back",
    control: Control {
        what: "the way back with USA instead",
        trial: |ctx| return_error(&Case::with_random_masses(6, 3, 2.0, "sa"), ctx, "repulsive-usa"),
    },
    ..Claim::IDENTITY
};

fn return_error(case: &Case, ctx: &mut Context, back: &'static str) -> Result<Finding> {
    let x = ctx.tokens(case)?;
    let t = 1.0 / case.lipschitz()?;
    let later = ctx.flow_to_with_tolerance(&case.build()?, &x, t, SYMMETRY_TOLERANCE)?;
    let back_time = ctx.claimed_constant(t);
    let returned = ctx.flow_to_with_tolerance(
        &Case { dynamics: back, ..*case }.build()?,
        &later,
        back_time,
        SYMMETRY_TOLERANCE,
    )?;
    Ok(Finding::identity(deviation(&x, &returned), ALLOWED))
}
