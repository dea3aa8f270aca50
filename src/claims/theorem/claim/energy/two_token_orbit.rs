//! Two tokens of equal masses have the same orbit under SA and USA.

use super::setting::{ALLOWED, deviation};
use crate::num::quadrature::integrate;
use crate::theorem::prelude::*;

/// # Derivation
///
/// With two tokens of equal masses both rows of SA have the sum `Z = (e^beta + e^{beta rho})/2`, so
/// the velocities of SA are those of USA over `Z`, a function of the state: the same orbit, with
/// `dt_SA = Z dt_USA`.
pub static ENTRY: Claim = Claim {
    name: "two-token-orbit",
    title: "`n = 2`: SA is USA up to a change of time",
    lets: "`x_1` and `x_2` be two tokens of equal masses, and `rho = <x_1, x_2>`",
    then: "They trace the same orbit under SA and USA, with `dt_SA = ((e^beta + e^{beta rho})/2) \
           dt_USA`.",
    tested: "at `t_USA = 1/L`, where `L` is the Lipschitz constant of the velocity, to {ALLOWED}",
    numbers: &[("ALLOWED", ALLOWED)],
    domain: Domain {
        n: Sizes::Fixed(2),
        dynamics: &["usa"],
        masses: Masses::Equal,
        corners: &[(2, 2, 0.0), (2, 3, 1.0), (2, 2, 4.0)],
        ..Domain::SYMMETRY
    },
    source: "arXiv:2312.10794, section 3.4: at n = 2 the SA metric is conformal",
    trials: (60, 400),
    trial: |case, ctx| {
        let x = ctx.tokens(case)?;
        compare(case, ctx, &x)
    },
    constant: "the time of SA",
    control: Control {
        what: "masses 1/3 and 2/3",
        trial: |ctx| {
            let case = Case::new(2, 3, 1.0, "usa");
            let x = ctx.tokens(&case)?.with_masses(&[1.0, 2.0])?;
            compare(&case, ctx, &x)
        },
    },
    ..Claim::IDENTITY
};

fn compare(case: &Case, ctx: &mut Context, x: &Tokens) -> Result<Finding> {
    let beta = case.beta;
    let from = dist(x.row(0), x.row(1));
    let end =
        ctx.flow_to_with_tolerance(&case.build()?, x, 1.0 / case.lipschitz()?, SYMMETRY_TOLERANCE)?;
    // rho grows; where the pair hardly moves, rounding may make it decrease.
    let to = dist(end.row(0), end.row(1)).min(from);
    // theta' = -e^{beta rho} sin theta under USA, so t_SA is the integral of (e^{beta (1 - rho)} +
    // 1)/2 over d theta / sin theta.
    let time = integrate(
        |theta| 0.5 * ((2.0 * beta * (0.5 * theta).sin().powi(2)).exp() + 1.0) / theta.sin(),
        to,
        from,
        1e-13,
    );
    let stated = ctx.claimed_constant(time.value);
    let sa = ctx.flow_to_with_tolerance(
        &Case { dynamics: "sa", ..*case }.build()?,
        x,
        stated,
        SYMMETRY_TOLERANCE,
    )?;
    Ok(Finding::identity(deviation(&sa, &end), ALLOWED))
}
