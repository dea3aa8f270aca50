//! Cone collapse.

use super::{Case, Claim, Control, Expected, FOREVER, Finding};
use crate::attention::{Head, Spec, dynamics};
use crate::flow::{Options, Outcome, solve};
use crate::sphere::Tokens;

/// 2312.10794, Lemma 6.4.
pub static ENTRY: Claim = Claim {
    name: "cone-collapse",
    title: "Cone collapse",
    statement: "If all tokens lie in an open hemisphere and V = I, then for any Q, K and beta > 0 they converge to one point (SA, USA).",
    hypotheses: "hemisphere start, V = I, random Q, K",
    applies: |case| case.beta > 0.0,
    citation: "arXiv:2312.10794, Lemma 6.4",
    expected: Expected::Holds,
    almost_sure: false,
    cases: &[Case::new(8, 3, 2.0, "sa"), Case::new(6, 2, 1.0, "usa"), Case::new(16, 5, 1.0, "sa"), Case::new(24, 3, 4.0, "sa")],
    quick: 2,
    trials: (10, 60),
    trial: |case, ctx| {
        let x = ctx.tokens(case, "hemisphere")?;
        let mut matrix = || {
            let mut a = vec![0.0; case.d * case.d];
            ctx.stream.normals(&mut a);
            Some((case.d, a.iter().map(|v| v / (case.d as f64).sqrt()).collect()))
        };
        let head = Head::new(case.d, matrix(), matrix(), None)?;
        let dynamics = dynamics::build(case.dynamics, false, &Spec { heads: vec![head], ..Spec::new(case.beta, case.n) })?;
        let options = Options { rtol: ctx.rtol, stop_at_one_cluster: true, max_steps: 40_000, ..Options::default() };
        let end = solve(dynamics.as_ref(), &x, FOREVER, &options, &mut [])?;
        Ok(match end.outcome {
            Outcome::OneCluster { .. } => Finding::exact(1.0),
            Outcome::Reached => Finding::exact(1.0 - end.clusters.n() as f64),
            other => Finding::Unfinished(other.to_string()),
        })
    },
    control: Control {
        what: "antipodal tokens lie in no open hemisphere and never meet",
        trial: |ctx| super::one_cluster(&Case::new(2, 3, 2.0, "sa"), &Tokens::new(3, vec![0.0, 0.0, 1.0, 0.0, 0.0, -1.0])?, ctx),
    },
};
