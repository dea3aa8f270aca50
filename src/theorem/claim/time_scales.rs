//! The normalisations of USA differ by a change of time.

use super::{Case, Claim, Context, Control, Expected, Finding, flowed};
use crate::attention::{Spec, TimeScale, dynamics};
use crate::error::Result;
use crate::num::stats::nan_max;

/// `t_U2 = e^beta t_U1`, `t_U3 = n e^beta t_U1`, `t_U4 = t_U1 / n`.
pub static ENTRY: Claim = Claim {
    name: "time-scales",
    title: "U1, U2, U3, U4 are one flow at different speeds",
    statement: "USA trajectories in the normalisations U1 to U4 coincide under t_U2 = e^beta t_U1, t_U3 = n e^beta t_U1, t_U4 = t_U1/n, to 1e-8.",
    hypotheses: "equal masses",
    applies: |case| case.dynamics == "usa",
    citation: "arXiv:2312.10794, (3.5); arXiv:2410.06833, sections 2, 3, 6",
    expected: Expected::Holds,
    almost_sure: false,
    cases: &[Case::new(5, 3, 1.0, "usa"), Case::new(8, 2, 4.0, "usa")],
    quick: 2,
    trials: (3, 20),
    trial: |case, ctx| compare(case, ctx, 1.0),
    control: Control { what: "without the factor e^beta", trial: |ctx| compare(&Case::new(5, 3, 1.0, "usa"), ctx, 0.0) },
};

fn compare(case: &Case, ctx: &mut Context, power: f64) -> Result<Finding> {
    let x = ctx.tokens(case, "uniform")?;
    let (n, rtol) = (case.n as f64, ctx.rtol * 1e-2);
    let t = 0.7 * (-case.beta).exp();
    let run = |scale: TimeScale, t: f64| -> Result<Vec<f64>> {
        let spec = Spec { time_scale: scale, ..Spec::new(case.beta, case.n) };
        Ok(flowed(dynamics::build("usa", false, &spec)?.as_ref(), &x, t, rtol)?.coordinates().to_vec())
    };
    let base = run(TimeScale::U1, t)?;
    let factor = (power * case.beta).exp();
    let others = [run(TimeScale::U2, t * factor)?, run(TimeScale::U3, t * n * factor)?, run(TimeScale::U4, t / n)?];
    let worst = others.iter().flat_map(|o| o.iter().zip(&base)).map(|(a, b)| (a - b).abs()).fold(0.0, nan_max);
    Ok(Finding::at_most(worst, 1e-8))
}
