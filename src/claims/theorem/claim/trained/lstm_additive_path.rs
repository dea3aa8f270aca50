//! The additive path of a long short-term memory.

use crate::num::linearised::Linearised;
use crate::recurrent::{
    cell::RecurrentCell,
    map::lstm::Lstm,
    trace::{LinearisedTrace, Trace},
};
use crate::theorem::prelude::*;

/// The direct path is a product of forget gates. Gates that read the state add further terms.
///
/// # Derivation
///
/// c+ = f*c + i*g. If the gates do not read the state, dc+/dc = diag(f) and the products follow; f
/// = sig(60 + ..) rounds to 1. If they do, h = o*tanh(c) enters f, i, g and o of the next step, and
/// dc+/dc has further terms. |i*g| <= 1 gives |c_t| <= |c_{t-1}| + 1, and |o*tanh c| < 1.
pub static ENTRY: Claim = Claim {
    name: "lstm-additive-path",
    title: "LSTM: the direct path dc_T/dc_0 is the product of the forget gates; |h| < 1, |c_t| <= \
            |c_0| + t",
    lets: "the gates of an LSTM not read the state (U = 0), with forget bias b in {0, 1, 60} and \
           n normal inputs",
    then: "Then dc_n/dc_0 = diag(prod_t sig(W_f x_t + b)), |h_n| <= 1 and |c_n| <= |c_0| + n in \
           every coordinate.",
    tested: "to 4 eps sum_t (d + 2)(1 + |W_f| |x_t| + b) in every row (rounding of the gates), \
             exactly where all W_f x_t + b exceed 40 (the identity), and to 8 (n + 1) eps for the \
             bounds",
    domain: Domain { n: Sizes::Range(1, 30), d: Sizes::Range(1, 8), ..Domain::MAPS },
    source: "Hochreiter and Schmidhuber (1997); Gers, Schmidhuber and Cummins (2000)",
    trials: (18, 120),
    trial: |case, ctx| path(ctx, case, 0.0),
    control: Control {
        what: "gates that read the state",
        trial: |ctx| path(ctx, &Case::new(8, 4, 0.0, "maps of rows"), 1.0),
    },
    ..Claim::IDENTITY
};

fn path(ctx: &mut Context, case: &Case, gain: f64) -> Result<Finding> {
    let (n, d) = (case.n, case.d);
    let bias = [0.0, 1.0, 60.0][ctx.index(3)];
    let mut cell = Lstm::normal(ctx.seed(), d, gain);
    cell.forget.bias.fill(bias);
    let (inputs, start) = (ctx.normals(n * d), ctx.normals(2 * d));
    let mut trace = Trace::default();
    let first = trace.input(&start);
    let (mut state, mut product) = (first, vec![1.0; d]);
    let (mut allowed, mut least) = (vec![TINY; d], f64::INFINITY);
    for x in inputs.chunks_exact(d) {
        for (r, row) in cell.forget.input.chunks_exact(d).enumerate() {
            let logit = dot(row, x) + bias;
            product[r] *= 1.0 / (1.0 + (-logit).exp());
            least = least.min(logit);
            // The error of a gate is the rounding error of its argument.
            allowed[r] += 4.0
                * f64::EPSILON
                * (d as f64 + 2.0)
                * (1.0 + dot(&absolute(row), &absolute(x)) + bias);
        }
        let x = trace.constant(x);
        state = cell.next(&mut trace, x, state);
    }
    let here = LinearisedTrace::new(trace, vec![state]);
    let (end, jacobian) = (here.value(), here.jacobian());
    let entry = |r: usize, c: usize| jacobian[(d + r) * 2 * d + d + c];
    // A saturated gate is 1, so the identity is exact.
    let allowed = if least > 40.0 { vec![TINY; d] } else { allowed };
    let stated = |k: usize| if k / d == k % d { product[k / d] } else { 0.0 };
    let off = (0..d * d)
        .map(|k| (entry(k / d, k % d) - stated(k)).abs() / allowed[k / d])
        .fold(0.0, nan_max);
    let over = |c: usize| {
        let most = start[d + c].abs() + n as f64;
        (end[c].abs() - 1.0).max((end[d + c].abs() - most) / most)
    };
    let bounded = (0..d).map(over).fold(0.0, nan_max);
    Ok(Finding::identity(off, 1.0)
        .and(Finding::identity(bounded, 8.0 * (n as f64 + 1.0) * f64::EPSILON)))
}
