//! The true rate of cone collapse.

use super::{Case, Claim, Context, Control, Expected, Finding, Margin, flowed};
use crate::error::Result;
use crate::num::stats::slope;

/// Asymptotic rate at consensus: 1 for SA, `e^beta` for USA; the theorem's constant is exponentially smaller.
pub static ENTRY: Claim = Claim {
    name: "cone-rate",
    title: "True rate of collapse: 1 (SA), e^beta (USA)",
    statement: "Near consensus the diameter decays like e^{-t} for SA and like e^{-t e^beta} for USA (U1): the fitted rate over diameters from \
                1e-3 to 1e-8 is within 1e-3 of 1 and e^beta.",
    hypotheses: "start in a cap of radius 0.5",
    applies: |case| case.beta >= 0.0,
    citation: "linearisation at consensus; the proof of arXiv:2312.10794, Lemma 6.4 gives 1/(2 n e^{2 beta})",
    expected: Expected::Holds,
    almost_sure: false,
    cases: &[Case::new(6, 3, 1.0, "sa"), Case::new(5, 2, 1.0, "usa"), Case::new(16, 4, 3.0, "sa"), Case::new(8, 3, 2.5, "usa")],
    quick: 2,
    trials: (4, 20),
    trial: |case, ctx| {
        let rate = if case.dynamics == "usa" { case.beta.exp() } else { 1.0 };
        deviation(case, ctx, rate)
    },
    control: Control {
        what: "claiming the theorem's own constant 1/(2 n e^{2 beta}) as the rate",
        trial: |ctx| deviation(&Case::new(6, 3, 1.0, "sa"), ctx, 1.0 / (12.0 * 2f64.exp())),
    },
};

/// Margin `1e-3 - |fitted/claimed - 1|`, fitted on diameters far above rounding.
fn deviation(case: &Case, ctx: &mut Context, claimed: f64) -> Result<Finding> {
    let dynamics = case.build()?;
    let true_rate = if case.dynamics == "usa" { case.beta.exp() } else { 1.0 };
    let mut x = ctx.tokens(case, "cap:radius=0.5")?;
    let (mut points, mut t) = (Vec::new(), 0.0);
    for _ in 0..400 {
        if x.diameter() <= 1e-8 {
            break;
        }
        let step = 0.25 / true_rate;
        x = flowed(dynamics.as_ref(), &x, step, ctx.rtol * 1e-2)?;
        t += step;
        if x.diameter() < 1e-3 {
            points.push((t, x.diameter().ln()));
        }
    }
    if points.len() < 10 {
        return Ok(Finding::Unfinished("too few samples of the decay".into()));
    }
    let value = 1e-3 - (-slope(&points) / claimed - 1.0).abs();
    // Coordinates are rounded at 1e-16, so the last diameters carry a relative error of 1e-8.
    Ok(Finding::Margin(Margin { value, evaluation: 1e-7, ..Margin::default() }))
}
