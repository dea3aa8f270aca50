//! No stable critical point but consensus.

use super::{Case, Claim, Context, Control, Expected, Finding};
use crate::error::Result;
use crate::landscape::{CriticalPoint, search::Search};
use crate::sphere::Tokens;

/// 2507.22857 and 2312.10794, Theorem 6.1: searched, not sampled by the flow.
pub static ENTRY: Claim = Claim {
    name: "saddles-unstable",
    title: "Every critical point but consensus is unstable, beta >= 0",
    statement: "d >= 2, beta >= 0: every critical point of E_beta with at least two clusters has an unstable direction. Critical points are searched from 24 starts (squared gradient with \
                deflation, eigenvector following, lulls of flows).",
    hypotheses: "beta >= 0 (on the circle known for beta >= -0.16); critical points found with residual 1e-12",
    applies: |case| case.beta >= 0.0,
    citation: "Polyanskiy, Rigollet, Yao, arXiv:2507.22857 (d = 2); arXiv:2312.10794, Theorem 6.1 (d >= 3)",
    expected: Expected::Holds,
    almost_sure: false,
    cases: &[
        Case::new(4, 2, 1.0, "usa"),
        Case::new(9, 2, 7.0, "usa"),
        Case::new(7, 3, 4.0, "usa"),
        Case::new(16, 2, 20.0, "usa"),
        Case::new(40, 2, 60.0, "usa"),
        Case::new(12, 4, 9.0, "usa"),
    ],
    quick: 3,
    trials: (2, 12),
    trial: searched,
    control: Control {
        what: "beta = -1 < -2/3: the regular triangle",
        trial: |_| {
            let third = std::f64::consts::TAU / 3.0;
            let x = Tokens::from_angles(&[0.0, third, 2.0 * third])?;
            Ok(worst(&[CriticalPoint::near(-1.0, &x, &[1, 1, 1])?]))
        },
    },
};

fn searched(case: &Case, ctx: &mut Context) -> Result<Finding> {
    let found = Search { beta: case.beta, n: case.n, d: case.d, starts: 24, seed: ctx.stream.next_u64() }.run()?;
    Ok(worst(&found.points))
}

/// Fewest unstable directions of a point with several clusters, minus one half; missed if there is none.
fn worst(points: &[CriticalPoint]) -> Finding {
    match points.iter().filter(|p| p.clusters.n() > 1).map(|p| p.spectrum.unstable).min() {
        Some(least) => Finding::exact(least as f64 - 0.5),
        None => Finding::Missed,
    }
}
