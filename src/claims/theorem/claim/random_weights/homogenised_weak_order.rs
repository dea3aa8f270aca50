//! Random linear layers: the order at which their law approaches that of a diffusion.

use super::setting::LAYERS;
use crate::theorem::prelude::*;
use crate::theory::random_layers::{diffusion, layers};

const DEPTHS: (usize, usize) = (32, 64);
const TOLERANCE: f64 = 0.1;
const LARGEST_START: f64 = 0.8;

/// At whole layers, for one observable of a pair. Nothing is sampled: a transfer operator
/// propagates the law.
///
/// # Derivation
///
/// A layer changes a smooth function of `u` by `eta^2 L + eta^4 M + ...` in the mean: odd powers of
/// the normal entries have mean 0, and `L = [(1 - u^2)^2 f'' - u (1 - u^2) f']/d` by the expansion
/// of `random-arcsin`. So `(1 + eta^2 L + eta^4 M)^{t/eta^2} = e^{tL} + O(eta^2)`, and the
/// difference is `a eta^2 + b eta^4 + ...`: its order between 32 and 64 layers is `1 + log2((1 +
/// c/32)/(1 + c/64))` with `c = b/a`, which differs from 1 by about `c/44`; the tolerance of 0.1
/// admits `|c|` up to 4 (0.952 to 1.048 was observed).
pub static ENTRY: Claim = Claim {
    name: "homogenised-weak-order",
    title: "Random linear layers: at whole layers the diffusion limit holds in the mean to first \
            order in `eta^2`",
    lets: "`x+ = N(x + eta V x)`, where `V` is drawn anew in every layer with normal entries of \
           variance `1/d`, and let `u = <x, y>`",
    then: "At the time `t` = layers `eta^2 = 1`, `E (1 - u^2)` differs from its value for the \
           diffusion `du = -u (1 - u^2)/d dt + (1 - u^2) sqrt(2/d) dB` by an error of order 1 in \
           `eta^2`.",
    tested: "with the law propagated by a transfer operator: the order observed between {FEW} and \
             {MANY} layers is 1 to {TOLERANCE}",
    numbers: &[
        ("FEW", DEPTHS.0 as f64),
        ("MANY", DEPTHS.1 as f64),
        ("TOLERANCE", TOLERANCE),
        ("LARGEST_START", LARGEST_START),
    ],
    domain: Domain {
        d: Sizes::List(&[2, 3]),
        draws: "`u` at the start in [-{LARGEST_START}, {LARGEST_START}]",
        ..LAYERS
    },
    narrower: "layers without attention; one observable",
    source: "derived; the question of arXiv:2604.01978 (abstract)",
    trials: (4, 16),
    trial: |case, ctx| {
        let u0 = ctx.uniform_in(-LARGEST_START, LARGEST_START);
        order(case.d, ctx, u0, 1.0)
    },
    constant: "the order",
    control: Control {
        what: "the diffusion without its drift",
        trial: |ctx| order(2, ctx, 0.3, 0.0),
    },
    ..Claim::LAW
};

fn order(d: usize, ctx: &mut Context, u0: f64, drift: f64) -> Result<Finding> {
    let exact = diffusion(d, 1.0, u0, drift);
    let off = |count: usize| layers(d, count, 1.0 / count as f64, u0) - exact;
    let found = (off(DEPTHS.0) / off(DEPTHS.1)).log2();
    Ok(Finding::law(found, ctx.claimed_constant(1.0), TOLERANCE, 0.0))
}
