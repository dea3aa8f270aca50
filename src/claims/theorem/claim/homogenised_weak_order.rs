//! Random linear layers: the order in which their law becomes that of a diffusion.

use crate::theorem::prelude::*;
use crate::theory::random_layers::{diffusion, layers};

/// At whole layers, for one observable of a pair; no draw is made, the law is carried by a transfer operator.
///
/// # Derivation
///
/// A layer changes a smooth function of u by `eta^2 L + eta^4 M + ...` in the mean: odd powers of the normal entries vanish, and `L = [(1 - u^2)^2 f'' - u (1 - u^2) f']/d` by the expansion of `random-arcsin`. So `(1 + eta^2 L +
/// eta^4 M)^{t/eta^2} = e^{tL} + O(eta^2)`, and the difference is `a eta^2 + b eta^4 + ...`: its order between 32 and 64 layers is
/// `1 + log2((1 + c/32)/(1 + c/64))` with c = b/a, off by about c/44; the tolerance of 0.1 admits |c| up to 4 (0.952 to 1.048 was observed).
pub static ENTRY: Claim = Claim {
    name: "homogenised-weak-order",
    title: "Random linear layers: at whole layers their diffusion holds in the mean to first order in eta^2",
    statement: "x+ = N(x + eta V x), V fresh with normal entries of variance 1/d, u = <x, y>, d in {2, 3}, u_0 in [-0.8, 0.8], t = layers eta^2 = 1: E (1 - u^2) differs from that of du = -u (1 - u^2)/d dt + (1 - u^2) sqrt(2/d) dB \
                by an error of order 1 in eta^2 within 0.1, between 32 and 64 layers.",
    domain: Domain { d: Sizes::List(&[2, 3]), beta: Betas::Linear(-0.8, 0.8), corners: &[], ..Domain::LAYERS },
    narrower: "beta is u_0 here; layers that mix nothing; one observable",
    citation: "derived; the question of arXiv:2604.01978 (abstract)",
    trials: (4, 16),
    trial: |case, ctx| order(case, ctx, 1.0),
    perturbed: "the order",
    control: Control { what: "the diffusion without its drift", trial: |ctx| order(&Case::new(2, 2, 0.3, "random layers"), ctx, 0.0) },
    ..Claim::LAW
};

fn order(case: &Case, ctx: &mut Context, drift: f64) -> Result<Finding> {
    let (d, u0) = (case.d, case.beta);
    let exact = diffusion(d, 1.0, u0, drift);
    let off = |count: usize| layers(d, count, 1.0 / count as f64, u0) - exact;
    Ok(Finding::law((off(32) / off(64)).log2(), ctx.stated(1.0), 0.1, 0.0))
}
