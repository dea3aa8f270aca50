//! Random linear layers: pairs of tokens end together or opposite.

use super::setting::LAYERS;
use crate::theorem::prelude::*;
use crate::theory::random_weights::consensus_probability;

const ETAS: (f64, f64) = (0.5, 4.0);
const ERRORS: f64 = 4.0;
const FEW_LAYERS: usize = 5;
const MANY_PAIRS: usize = 10_000;
const FEW_PAIRS: usize = 1000;
const TIME: f64 = 15.0;
const LARGEST_START: f64 = 0.95;

/// The angle of two tokens is a martingale, for every step eta.
///
/// # Derivation
///
/// Let `g` be uniform on the sphere and `M = I + eta V`. Given `M`, the signs of `<g, M x>` and
/// `<g, M y>` differ with probability `angle(M x, M y)/pi`. Given `g`, the vector `M^T g = g + eta
/// V^T g` is `g` plus an independent normal vector of law `N(0, eta^2 I/d)`. So without `g` its law
/// is isotropic, and the signs differ with probability `angle(x, y)/pi`: the mean angle is
/// constant. An angle in `[0, pi]` that is a martingale converges, and its limit is 0 or `pi`,
/// since a layer changes every other angle. So it is `pi` with probability `angle(x, y)/pi`, and 0
/// with probability `1 - arccos(u_0)/pi = 1/2 + arcsin(u_0)/pi`.
///
/// For small `eta` this is the martingale of the diffusion limit. In one layer the mean of `u = <x,
/// y>` changes by `-(eta^2/d) u (1 - u^2)`, and its variance is `(2 eta^2/d)(1 - u^2)^2`. So `f(u)`
/// is a martingale if `-u (1 - u^2) f' + (1 - u^2)^2 f'' = 0`, which has the solution arcsin. With
/// `y = artanh u` the diffusion is `dy = tanh(y) dt + sqrt 2 dB` in the time `layers eta^2/d`:
/// `|y|` tends to `infinity` at the rate 1, and a change of sign after the time `t` has a
/// probability of order `t^{-3/2} e^{-t/4}`. At the number of layers tested `t` is at least 15, and
/// this is far below the standard error.
pub static ENTRY: Claim = Claim {
    name: "random-arcsin",
    title: "Random linear layers cluster pairs without attention: `P(together) = 1/2 + \
            arcsin(u0)/pi`",
    lets: "`x+ = N(x + eta V x)`, `y+ = N(y + eta V y)`, where `V` is drawn anew in every layer \
           with normal entries of variance `1/d`, and let `<x, y> = u0` at the start",
    then: "For every `eta`, the mean of `1 - angle(x, y)/pi` is `1/2 + arcsin(u0)/pi` in every \
           layer, and this is the probability that `x` and `y` end together.",
    tested: "with `eta` in [1/{PARTS}, {LARGEST_ETA}], each to {ERRORS} standard errors: the mean \
             after {FEW_LAYERS} layers, over {MANY_PAIRS} pairs; and the share of {FEW_PAIRS} \
             pairs with `<x, y> > 0` after `{TIME} d (1 + 1/eta^2)` layers",
    numbers: &[
        ("PARTS", 1.0 / ETAS.0),
        ("LARGEST_ETA", ETAS.1),
        ("ERRORS", ERRORS),
        ("FEW_LAYERS", FEW_LAYERS as f64),
        ("MANY_PAIRS", MANY_PAIRS as f64),
        ("FEW_PAIRS", FEW_PAIRS as f64),
        ("TIME", TIME),
        ("LARGEST_START", LARGEST_START),
    ],
    domain: Domain {
        d: Sizes::List(&[2, 3]),
        draws: "`u0` in [-{LARGEST_START}, {LARGEST_START}] and new weights in every layer",
        ..LAYERS
    },
    source: "arXiv:2604.01978 and 2603.06187 (abstract); derived",
    trials: (6, 30),
    trial: |case, ctx| {
        let u0 = ctx.uniform_in(-LARGEST_START, LARGEST_START);
        let eta = ctx.log_uniform_in(ETAS.0, ETAS.1);
        share(ctx, case.d, (u0, eta), consensus_probability(u0)?)
    },
    constant: "the probability",
    control: Control {
        what: "the share `(1 + u0)/2`, as if `<x, y>` itself were a martingale",
        trial: |ctx| share(ctx, 3, (0.77, 0.5), 0.885),
    },
    ..Claim::LAW
};

fn share(ctx: &mut Context, d: usize, (u0, eta): (f64, f64), stated: f64) -> Result<Finding> {
    let stated = ctx.claimed_constant(stated);
    let layers = (TIME * d as f64 * (1.0 + 1.0 / (eta * eta))) as usize;
    let together = |u: f64| f64::from(u8::from(u > 0.0));
    let near = |u: f64| 1.0 - u.acos() / PI;
    let mut finding = Finding::answer(true);
    for (pairs, count, value) in
        [(MANY_PAIRS, FEW_LAYERS, &near as &dyn Fn(f64) -> f64), (FEW_PAIRS, layers, &together)]
    {
        let mut values = Vec::with_capacity(pairs);
        for _ in 0..pairs {
            ctx.check_stop()?;
            values.push(value((0..count).fold(u0, |u, _| next_inner(ctx, d, eta, u))));
        }
        let (mean, error) = mean_and_error(&values);
        finding = finding.and(Finding::law(mean, stated, ERRORS * error, 0.0));
    }
    Ok(finding)
}

/// The next inner product. With y = u x + sqrt(1 - u^2) e, V x and V e are independent normal
/// vectors, and the law is isotropic, so only u is stored.
fn next_inner(ctx: &mut Context, d: usize, eta: f64, u: f64) -> f64 {
    let (size, across) = (eta / (d as f64).sqrt(), (1.0 - u * u).max(0.0).sqrt());
    let (mut xx, mut xy, mut yy) = (0.0, 0.0, 0.0);
    for c in 0..d {
        let (g, h) = (ctx.method_rng().normal(), ctx.method_rng().normal());
        let x = size * g + if c == 0 { 1.0 } else { 0.0 };
        let y = u * x + across * (size * h + if c == 1 { 1.0 } else { 0.0 });
        (xx, xy, yy) = (xx + x * x, xy + x * y, yy + y * y);
    }
    (xy / (xx * yy).sqrt()).clamp(-1.0, 1.0)
}
