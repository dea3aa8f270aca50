//! The collapse of a density at a fixed time.

use super::mean_field_collapse as collapse;
use crate::theorem::prelude::*;

/// This is false if the two rates are nearly equal (d = 3, beta near 0, where
/// `W_2^2 ~ t e^{-2 t}`), and while the mean is still forming.
///
/// # Derivation
///
/// The square of the distance is an integral over the times s at which mass left the antipode,
/// `int e^{-2 q s - 2 p (t - s)} ds` (`mean-field-collapse`). At p = q (d = 3 and beta = 0) that is
/// `t e^{-2 p t}`, whose decay rate is `p - 1/(2t)`, more than 5 % below p until t = 10; and until
/// the mean has formed the rate is lower still.
pub static ENTRY: Claim = Claim {
    name: "mean-field-collapse-folklore",
    title: "Small |beta|: W2 decays at 95 % of min(e^beta, (d-1) e^{-beta}/2) from t = 8 to t = 11",
    then: "From the density 1 + a x_1 with a in [0.3, 0.9], W2 to the limit point decays over 8 \
           <= t <= 11 at least at 95 % of the rate min(e^beta, (d-1) e^{-beta}/2).",
    domain: Domain {
        d: Sizes::List(&[2, 3, 4]),
        corners: &[(2, 2, 0.0), (2, 3, 0.0), (2, 4, 0.0)],
        ..collapse::DOMAIN
    },
    source: "an earlier version of mean-field-collapse",
    status: Status::Folklore,
    trials: (12, 60),
    trial: |case, ctx| {
        let a = ctx.uniform_in(0.3, 0.9);
        late(case, ctx, a)
    },
    control: Control {
        what: "d = 2, beta = 0.1, a = 0.5, where neither exception applies",
        trial: |ctx| late(&Case::new(1, 2, 0.1, "usa"), ctx, 0.5),
    },
    ..Claim::INEQUALITY
};

fn late(case: &Case, ctx: &mut Context, a: f64) -> Result<Finding> {
    let expected =
        ctx.claimed_constant(case.beta.exp().min(0.5 * (case.d as f64 - 1.0) * (-case.beta).exp()));
    let found = collapse::rate(
        collapse::cells(case.d, a, 0.0),
        &MeasureDynamics::new("usa", case.beta, 0.0)?,
        8.0,
        11.0,
    )?;
    Ok(Finding::at_least(found, 0.95 * expected))
}
