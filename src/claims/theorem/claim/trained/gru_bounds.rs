//! Bounds on the state of a gated recurrent unit.

use crate::recurrent::{cell::RecurrentCell, map::gru_v1::Gru, trace::Trace};
use crate::theorem::prelude::*;

/// The new state lies between the old one and a number in (-1, 1).
///
/// # Derivation
///
/// H+ = Z*H + (1-Z)*H~ with Z in [0, 1] and |H~| <= 1 is a convex combination, coordinate by
/// coordinate. A bias of 800 exceeds all contributions of normal weights here, and sig rounds to 1
/// above 38: H+ = 1*H + 0*H~.
pub static ENTRY: Claim = Claim {
    name: "gru-bounds",
    title: "GRU (v1 and v3): |H|_inf <= max(|H_0|_inf, 1); Z = 1 is the identity, exactly",
    lets: "a GRU of either convention have normal weights of variance gain^2/d, gain in [1/4, 4], \
           and n normal inputs",
    then: "Then |H_n|_inf <= max(|H_0|_inf, 1). With the update bias 800, H_n = H_0 exactly.",
    domain: Domain { n: Sizes::Range(1, 20), d: Sizes::Range(1, 8), ..Domain::MAPS },
    source: "arXiv:1406.1078; derived",
    trials: (16, 120),
    trial: |case, ctx| bounds(ctx, case, true),
    control: Control {
        what: "the bound 1, regardless of the start",
        trial: |ctx| bounds(ctx, &Case::new(1, 4, 0.0, "maps of rows"), false),
    },
    ..Claim::IDENTITY
};

fn bounds(ctx: &mut Context, case: &Case, with_start: bool) -> Result<Finding> {
    let (n, d) = (case.n, case.d);
    let mut cell = Gru::normal(ctx.seed(), d, ctx.log_uniform_in(0.25, 4.0), ctx.index(2) == 1);
    let (inputs, mut start) = (ctx.normals(n * d), ctx.normals(d));
    if !with_start {
        start.fill(40.0);
        cell.update.bias.fill(3.0);
        cell.update.state.fill(0.0);
    }
    let end = |cell: &Gru| {
        let mut trace = Trace::default();
        let mut state = trace.input(&start);
        for x in inputs.chunks_exact(d) {
            let x = trace.constant(x);
            state = cell.next(&mut trace, x, state);
        }
        trace.value(state).to_vec()
    };
    let size = |h: &[f64]| h.iter().fold(0.0, |m: f64, v| nan_max(m, v.abs()));
    let bound = if with_start { size(&start).max(1.0) } else { 1.0 };
    let excess = (size(&end(&cell)) - bound).max(0.0);
    // A step rounds four times.
    let within = Finding::identity(excess, 8.0 * n as f64 * f64::EPSILON * bound);
    cell.update.bias.fill(800.0);
    let still = end(&cell).iter().zip(&start).map(|(a, b)| (a - b).abs()).fold(0.0, nan_max);
    Ok(within.and(Finding::identity(still, f64::MIN_POSITIVE)))
}
