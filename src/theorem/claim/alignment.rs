//! The fast phase of large beta: every token follows the value matrix alone.

use super::{Case, Claim, Context, Control, Expected, Finding};
use crate::attention::{Head, Spec, dynamics};
use crate::error::Result;
use crate::sphere::geometry::{chord2, retract};

/// Alignment with the top eigenspace.
pub static ENTRY: Claim = Claim {
    name: "alignment",
    title: "Fast phase, beta -> infinity: tokens follow x' = P_x V x to the top eigenspace of V",
    statement: "SA with V = diag(2, 2, 1/2), beta = 4000, tokens whose squared distances stay above 0.02 along x' = P_x V x: up to t = 4 they are within 1e-6 of e^{tV} x / |e^{tV} x|, hence within e^{-3t/2} |x_3|/|x_12| of the top \\
                eigenspace, each at its own point.",
    hypotheses: "Q = K = I, V symmetric, n fixed",
    applies: |case| case.d == 3 && case.beta >= 4000.0,
    citation: "arXiv:2509.25040 (alignment, abstract); the limit flow derived",
    expected: Expected::Holds,
    almost_sure: false,
    cases: &[Case::new(4, 3, 4000.0, "sa"), Case::new(6, 3, 8000.0, "sa")],
    quick: 2,
    trials: (4, 20),
    trial: |case, ctx| follow(case, ctx, case.beta),
    control: Control { what: "beta = 20", trial: |ctx| follow(&Case::new(4, 3, 4000.0, "sa"), ctx, 20.0) },
};

const RATES: [f64; 3] = [2.0, 2.0, 0.5];
const END: f64 = 4.0;

fn follow(case: &Case, ctx: &mut Context, beta: f64) -> Result<Finding> {
    let x = ctx.tokens(case, "uniform")?;
    let at = |t: f64| -> Vec<f64> {
        let mut out: Vec<f64> = x.coordinates().iter().enumerate().map(|(k, v)| v * (t * (RATES[k % 3] - 2.0)).exp()).collect();
        out.chunks_exact_mut(3).for_each(|row| {
            retract(row);
        });
        out
    };
    let closest = |y: &[f64]| {
        let pairs = (0..case.n).flat_map(|i| (0..i).map(move |j| (i, j)));
        pairs.map(|(i, j)| chord2(&y[3 * i..3 * i + 3], &y[3 * j..3 * j + 3])).fold(4.0, f64::min)
    };
    if (0..=20).any(|k| closest(&at(END * f64::from(k) / 20.0)) < 0.02) {
        return Ok(Finding::Missed);
    }
    let v = (0..9).map(|k| if k % 4 == 0 { RATES[k / 4] } else { 0.0 }).collect();
    let head = Head::new(3, None, None, Some((3, v)))?;
    let flow = dynamics::build("sa", false, &Spec { heads: vec![head], ..Spec::new(beta, case.n) })?;
    let end = super::flowed(flow.as_ref(), &x, END, ctx.rtol.min(1e-10))?;
    let wanted = at(END);
    let worst = (0..case.n).map(|i| chord2(end.row(i), &wanted[3 * i..3 * i + 3]).sqrt()).fold(0.0, f64::max);
    Ok(Finding::at_most(worst, 1e-6))
}
