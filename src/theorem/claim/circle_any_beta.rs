//! Single cluster on the circle for every beta >= 0.

use super::{Case, Claim, Context, Control, Expected, Finding, solve, uniform_to_one_cluster};
use crate::error::Result;
use crate::flow::{Options, Outcome};
use crate::sphere::Tokens;

/// 2507.22857 (all beta >= -0.16); fails for beta < -2/3.
pub static ENTRY: Claim = Claim {
    name: "circle-any-beta",
    title: "Single cluster on the circle for every beta >= 0",
    statement: "d = 2: for every beta >= 0 almost every start ends in one cluster, SA and USA.",
    hypotheses: "d = 2, beta >= -0.16, uniform start",
    applies: |case| case.d == 2 && case.beta >= -0.16,
    citation: "Polyanskiy, Rigollet, Yao, arXiv:2507.22857",
    expected: Expected::Holds,
    almost_sure: true,
    cases: &[
        Case::new(5, 2, 0.5, "sa"),
        Case::new(10, 2, 4.0, "sa"),
        Case::new(16, 2, 9.0, "sa"),
        Case::new(8, 2, 3.0, "usa"),
        Case::new(8, 2, -0.1, "sa"),
        Case::new(40, 2, 30.0, "sa"),
        Case::new(24, 2, 60.0, "sa"),
    ],
    quick: 4,
    trials: (100, 300),
    trial: uniform_to_one_cluster,
    control: Control {
        what: "beta = -1 < -2/3: three tokens near the regular triangle stay apart",
        trial: |ctx| {
            let case = Case::new(3, 2, -1.0, "usa");
            let x = ctx.tokens(&case, "polygon:noise=0.1")?;
            stays_apart(&case, &x, ctx)
        },
    },
};

/// Flows for 2000 units of time, ample at these rates: margin 1 at one cluster, else 1 minus the number of clusters left.
pub fn stays_apart(case: &Case, x: &Tokens, ctx: &Context) -> Result<Finding> {
    let options = Options { rtol: ctx.rtol, stop_at_one_cluster: true, ..Options::default() };
    let end = solve(case.build()?.as_ref(), x, 2000.0, &options, &mut [])?;
    Ok(match end.outcome {
        Outcome::OneCluster { .. } => Finding::exact(1.0),
        Outcome::Reached => Finding::exact(1.0 - end.clusters.n() as f64),
        other => Finding::Unfinished(other.to_string()),
    })
}
