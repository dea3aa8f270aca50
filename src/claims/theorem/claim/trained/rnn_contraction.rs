//! A recurrent network with |U| < 1.

use crate::num::dense::spectral_norm;
use crate::recurrent::{
    cell::{Gate, RecurrentCell},
    map::rnn::Rnn,
    trace::Trace,
};
use crate::theorem::prelude::*;

/// tanh does not increase distances and U contracts, so two states approach each other under any
/// inputs.
///
/// # Derivation
///
/// |tanh a - tanh b| <= |a - b| for every coordinate, so |h+ - k+| <= |U (h - k)| <= s |h - k|;
/// inputs and bias cancel. Along one orbit dh_n/dh_0 is a product of matrices diag(1 - h^2) U of
/// norm at most s.
pub static ENTRY: Claim = Claim {
    name: "rnn-contraction",
    title: "RNN with |U| < 1: states forget their start at the rate |U|",
    lets: "h+ = tanh(W x + U h + b) with |U|_2 = s < 1",
    then: "Two states under the same inputs satisfy |h_n - k_n| <= s^n |h_0 - k_0|, so all \
           Lyapunov exponents are at most log s.",
    tested: "with 0.1 <= s <= 0.99, normal W and b, n normal inputs and two normal starts, and \
             with U = s times a rotation and no inputs",
    domain: Domain { n: Sizes::Range(2, 30), d: Sizes::Range(2, 16), ..Domain::MAPS },
    source: "derived; Pascanu, Mikolov, Bengio, arXiv:1211.5063, section 2.1 (the sufficient \
               condition for vanishing)",
    trials: (20, 200),
    trial: |case, ctx| {
        let s = ctx.uniform_in(0.1, 0.99);
        gap(ctx, case, s, false)
    },
    constant: "the norm s",
    control: Control {
        what: "U = 4 without inputs, opposite starts, compared with the bound for 9/10",
        trial: |ctx| gap(ctx, &Case::new(20, 6, 0.0, "maps of rows"), 0.9, true),
    },
    ..Claim::INEQUALITY
};

fn gap(ctx: &mut Context, case: &Case, norm: f64, control: bool) -> Result<Finding> {
    let (n, d) = (case.n, case.d);
    let (w, bias) = (normals(ctx, d * d, (d as f64).sqrt().recip()), ctx.normals(d));
    let mut u = ctx.normals(d * d);
    let own = spectral_norm(&u, d);
    scale(norm / own, &mut u);
    let (mut h, mut k) = (ctx.normals(d), ctx.normals(d));
    let mut rnn = Rnn { gate: Gate { input: w, state: u, bias } };
    if ctx.index(2) == 0 {
        // Near equality: U is a multiple of a rotation and states are small, where tanh is linear.
        rnn.gate = Gate {
            input: vec![0.0; d * d],
            state: ctx.rotation(d).iter().map(|v| norm * v).collect(),
            bias: vec![0.0; d],
        };
        (h, k) = (h.iter().map(|v| 1e-3 * v).collect(), k.iter().map(|v| 1e-3 * v).collect());
    }
    if control {
        let four = identity(d).iter().map(|v| 4.0 * v).collect();
        rnn.gate = Gate { input: vec![0.0; d * d], state: four, bias: vec![0.0; d] };
        h = ctx.normals(d);
        k = h.iter().map(|v| -v).collect();
    }
    let start = distance(&h, &k);
    for _ in 0..n {
        let x = ctx.normals(d);
        let next = |h: &[f64]| {
            let mut trace = Trace::default();
            let (x, h) = (trace.constant(&x), trace.input(h));
            let out = rnn.next(&mut trace, x, h);
            trace.value(out).to_vec()
        };
        (h, k) = (next(&h), next(&k));
    }
    let rate = ctx.claimed_constant(norm);
    // tanh has an error of 2 eps, so equal states may differ by as much.
    Ok(Finding::at_most(distance(&h, &k), rate.powi(n as i32) * start + 8.0 * f64::EPSILON))
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}
