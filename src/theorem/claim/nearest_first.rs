//! Saddle to saddle: the nearest pair merges first.

use super::{Case, Claim, Context, Control, Expected, Finding, plain};
use crate::error::Result;
use crate::flow::{Options, solve};
use crate::sphere::Tokens;

/// 2410.06833, section 6: the order of mergers on the circle.
pub static ENTRY: Claim = Claim {
    name: "nearest-first",
    title: "Saddle to saddle: clusters merge nearest pair first",
    statement: "Clusters on an arc with all gaps at least 2 log(beta)/sqrt(beta) and gaps that differ by at least 3/beta in 1 - cos: the first merger joins the nearest pair.",
    hypotheses: "d = 2, well separated, distinct gaps",
    applies: |case| case.d == 2 && case.beta >= 200.0,
    citation: "arXiv:2410.06833, section 6; arXiv:2509.25040 (slow phase)",
    expected: Expected::Holds,
    almost_sure: false,
    cases: &[Case::new(4, 2, 1000.0, "usa"), Case::new(6, 2, 2000.0, "sa"), Case::new(5, 2, 4000.0, "usa")],
    quick: 3,
    trials: (5, 40),
    trial: |case, ctx| first_merger(case, ctx, true),
    control: Control { what: "the widest pair first", trial: |ctx| first_merger(&Case::new(4, 2, 1000.0, "usa"), ctx, false) },
};

fn first_merger(case: &Case, ctx: &mut Context, nearest: bool) -> Result<Finding> {
    let unit = case.beta.ln() / case.beta.sqrt();
    let gaps: Vec<f64> = (1..case.n).map(|_| unit * ctx.stream.uniform_in(2.0, 4.0)).collect();
    let mut cost: Vec<f64> = gaps.iter().map(|g| 1.0 - g.cos()).collect();
    let pick = |a: &f64, b: &f64| if nearest { a.total_cmp(b) } else { b.total_cmp(a) };
    let first = (0..gaps.len()).min_by(|a, b| pick(&gaps[*a], &gaps[*b])).unwrap_or(0);
    cost.sort_by(f64::total_cmp);
    let angles: Vec<f64> = std::iter::once(0.0)
        .chain(gaps.iter().scan(0.0, |s, g| {
            *s += g;
            Some(*s)
        }))
        .collect();
    if cost.windows(2).any(|c| c[1] - c[0] < 3.0 / case.beta) || angles[case.n - 1] > 3.0 {
        return Ok(Finding::Missed);
    }
    let scale = crate::attention::TimeScale::parse("u2")?;
    let flow = if case.dynamics == "usa" {
        crate::attention::dynamics::build(
            "usa",
            false,
            &crate::attention::Spec { time_scale: scale, ..crate::attention::Spec::new(case.beta, case.n) },
        )?
    } else {
        plain(case.dynamics, case.beta, case.n)?
    };
    let options = Options { rtol: ctx.rtol, merge_radius: 1e-2 / case.beta.sqrt(), ..Options::default() };
    let x = Tokens::from_angles(&angles)?;
    let end = solve(flow.as_ref(), &x, 1e300, &options, &mut [])?;
    let Some(merge) = end.merges.first() else { return Ok(Finding::Unfinished(end.outcome.to_string())) };
    Ok(Finding::exact(if merge.members == [first, first + 1] { 1.0 } else { -1.0 }))
}
