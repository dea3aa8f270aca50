//! A recurrent network with |U| < 1.

use crate::num::dense::spectral_norm;
use crate::num::linearised::Linearised;
use crate::recurrent::{
    cell::{CellInTime, Gate, RecurrentCell},
    linearise_layer,
    map::rnn::Rnn,
    trace::Trace,
};
use crate::theorem::prelude::*;

const NORMS: (f64, f64) = (0.1, 0.99);
const SMALL: f64 = 1e-3;
const CONTROL_SIZE: f64 = 4.0;
const ENTRIES: (f64, f64) = (5.0, 20.0);
const LONGEST: usize = 10;

/// tanh does not increase distances and U contracts, so two states approach each other under any
/// inputs.
///
/// # Derivation
///
/// `|tanh a - tanh b| <= |a - b|` for every coordinate, so `|h+ - k+| <= |U (h - k)| <= s |h - k|`;
/// inputs and bias cancel. Along one orbit `dh_n/dh_0` is a product of matrices `diag(1 - h^2) U`
/// of norm at most `s`.
///
/// The spectral radius does not do: `U = [[1/2, c], [0, 1/2]]` has the spectral radius 1/2, and
/// `U^T = [[2^-T, 2 T c 2^-T], [0, 2^-T]]` has an entry `T c 2^{1-T}`, which is `c` at `T = 1`
/// and 2.
pub static ENTRY: Claim = Claim {
    name: "rnn-contraction",
    title: "RNN with `|U| < 1`: states forget their start at the rate `|U|`",
    lets: "`h+ = tanh(W x + U h + b)` with `|U|_2 = s < 1`",
    then: "Two states under the same inputs satisfy `|h_n - k_n| <= s^n |h_0 - k_0|`, so all \
           Lyapunov exponents are at most `log s`.",
    tested: "with `{LEAST} <= s <= {MOST}`, normal `W` and `b`, `n` normal inputs and two normal \
             starts, and with `U = s` times a rotation, no inputs and starts of size 1/{PARTS}",
    numbers: &[
        ("LEAST", NORMS.0),
        ("MOST", NORMS.1),
        ("PARTS", 1.0 / SMALL),
        ("CONTROL_SIZE", CONTROL_SIZE),
    ],
    domain: Domain {
        n: Sizes::Range(2, 30),
        d: Sizes::Range(2, 16),
        draws: "networks and `n` inputs",
        ..Domain::FREE
    },
    source: "derived; Pascanu, Mikolov, Bengio, arXiv:1211.5063, section 2.1 (the sufficient \
             condition for vanishing)",
    trials: (20, 200),
    trial: |case, ctx| {
        let s = ctx.uniform_in(NORMS.0, NORMS.1);
        gap(ctx, case, s, false)
    },
    constant: "the norm `s`",
    control: Control {
        what: "`U = {CONTROL_SIZE}` without inputs, opposite starts, compared with the bound for \
               9/10",
        trial: |ctx| gap(ctx, &Case::new(20, 6, 0.0, ""), 0.9, true),
    },
    variants: &[&FOLKLORE],
    ..Claim::INEQUALITY
};

static FOLKLORE: Claim = Claim {
    name: "rnn-spectral-radius-folklore",
    title: "RNN: a spectral radius below 1 means that no gradient grows (folklore)",
    lets: "`h+ = tanh(U h)` at `h = 0` with `U = [[1/2, c], [0, 1/2]]`, which has the spectral \
           radius 1/2, and `{LEAST} <= c <= {MOST}`",
    then: "`|dh_T/dh_0| <= 1` for `T <= {LONGEST}`.",
    numbers: &[("LEAST", ENTRIES.0), ("MOST", ENTRIES.1), ("LONGEST", LONGEST as f64)],
    domain: Domain { n: Sizes::Fixed(1), d: Sizes::Fixed(2), draws: "`c`", ..Domain::FREE },
    source: "folklore; Pascanu, Mikolov, Bengio, arXiv:1211.5063 give conditions on singular \
             values",
    status: Status::Folklore,
    trials: (4, 30),
    trial: |_, ctx| {
        let c = ctx.uniform_in(ENTRIES.0, ENTRIES.1);
        growth(&[0.5, c, 0.0, 0.5])
    },
    control: Control {
        what: "a symmetric `U` with the eigenvalues 1/2 and 1/4",
        trial: |_| growth(&[0.375, 0.125, 0.125, 0.375]),
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
        (h, k) = (h.iter().map(|v| SMALL * v).collect(), k.iter().map(|v| SMALL * v).collect());
    }
    if control {
        let four = identity(d).iter().map(|v| CONTROL_SIZE * v).collect();
        rnn.gate = Gate { input: vec![0.0; d * d], state: four, bias: vec![0.0; d] };
        h = ctx.normals(d);
        k = h.iter().map(|v| -v).collect();
    }
    let start = chord2(&h, &k).sqrt();
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
    Ok(Finding::at_most(chord2(&h, &k).sqrt(), rate.powi(n as i32) * start + 8.0 * f64::EPSILON))
}

/// The largest norm of the first powers of the derivative at h = 0, which is U.
fn growth(u: &[f64]) -> Result<Finding> {
    let rnn = Rnn { gate: Gate { input: vec![0.0; 4], state: u.to_vec(), bias: vec![0.0; 2] } };
    let time = CellInTime { cell: &rnn, size: 0.0, seed: 1 };
    let (mut product, mut worst) = (vec![1.0, 0.0, 0.0, 1.0], 0.0);
    for step in 0..LONGEST {
        let jacobian = linearise_layer(&time, step, 2, &[0.0, 0.0]).jacobian();
        product = mul(&jacobian, &product, 2);
        worst = nan_max(worst, spectral_norm(&product, 2));
    }
    Ok(Finding::at_most(worst, 1.0))
}
