//! Single cluster for beta above the printed threshold.

use super::{Case, Claim, Control, Expected, one_cluster, uniform_to_one_cluster};
use crate::theory::threshold::{paper_circle, paper_proof};

/// 2312.10794, Theorem 5.1: the written proof's threshold, and `n^2/pi^2` on the circle as stated in section 7.
pub static ENTRY: Claim = Claim {
    name: "large-beta-printed-threshold",
    title: "Single cluster for beta >= C n^2, the paper's threshold",
    statement: "If (n-1) tau*(beta) < pi/2, or d = 2 and beta >= n^2/pi^2, almost every start ends in one cluster.",
    hypotheses: "beta above the paper's threshold, uniform start",
    applies: |case| case.beta > paper_proof(case.n, case.d) || (case.d == 2 && case.beta >= paper_circle(case.n)),
    citation: "arXiv:2312.10794, Theorem 5.1, section 7 and figure 2",
    expected: Expected::Holds,
    almost_sure: true,
    cases: &[
        Case::new(5, 2, 2.6, "sa"),
        Case::new(8, 2, 6.5, "sa"),
        Case::new(5, 3, 13.1, "usa"),
        Case::new(16, 2, 26.0, "sa"),
        Case::new(12, 2, 49.0, "sa"),
    ],
    quick: 3,
    trials: (100, 300),
    trial: uniform_to_one_cluster,
    control: Control {
        what: "exactly antipodal tokens (the excluded null set) stay apart",
        trial: |ctx| {
            let case = Case::new(4, 2, 20.0, "sa");
            let x = crate::sphere::Tokens::new(2, vec![1.0, 0.0, 1.0, 0.0, -1.0, 0.0, -1.0, 0.0])?;
            one_cluster(&case, &x, ctx)
        },
    },
};
