//! Hardmax in R^d: leaders stay.

use super::fw_solved::HARDMAX;
use super::{Case, Claim, Context, Control, Domain, Finding, Kind, Sizes, Status};
use crate::attention::{Dynamics, hardmax::Hardmax, layer::Layer, normalisation::Rescaled};
use crate::error::Result;
use crate::sphere::{Tokens, geometry::chord2};

/// If `<A z_i, z_j> < <A z_i, z_i>` for all j then z_i stays, and for every j the next z_j is a convex combination of tokens below that
/// level: so it is for ever. A need not be symmetric.
///
/// # Derivation
///
/// Let `<A z_i, z_j> < <A z_i, z_i>` for all j other than i. Then `C_i = {i}` and `z_i` stays. Every other token moves to a convex
/// combination of tokens, with some weight on itself (s < 1), whose scores against `A z_i` are at most `<A z_i, z_i>`, its own less: the
/// inequality holds again. A need not be symmetric, since only its action on `z_i` is used.
pub static ENTRY: Claim = Claim {
    name: "hm-leaders",
    title: "Hardmax: a token that is its own strict leader never moves, for any A",
    statement: "z+ = z + s mean_{j in C_i} (z_j - z_i), C_i = argmax_j <A z_i, z_j>, s in (0, 1), A any matrix: tokens with C_i = {i} at the start are where they were after 40 layers, to 1e-10.",
    domain: Domain { n: Sizes::Range(2, 24), d: Sizes::Range(1, 4), laws: &["normal"], ..HARDMAX },
    narrower: "A = I + normal entries of standard deviation 1/(2d), s in [0.1, 0.9]; leaders of the start by more than 1e-12",
    citation: "arXiv:2407.01602, Section 3; for any A derived",
    status: Status::Theorem,
    kind: Kind::Identity,
    trials: (20, 200),
    trial: |case, ctx| moved(case, ctx, 1.0),
    perturbed: "",
    control: Control { what: "layers of -A", trial: |ctx| moved(&Case::new(12, 2, 0.0, "hardmax"), ctx, -1.0) },
    proof: None,
};

fn moved(case: &Case, ctx: &mut Context, sign: f64) -> Result<Finding> {
    let (n, d) = (case.n, case.d);
    let x = Tokens::flat(d, ctx.normals(n * d))?;
    let mut a: Vec<f64> = ctx.normals(d * d).iter().map(|g| 0.5 * g / d as f64).collect();
    (0..d).for_each(|k| a[k * d + k] += 1.0);
    let step = ctx.uniform_in(0.1, 0.9);
    let rule = Hardmax::new(Some(a.clone()), 1e-12)?;
    let leaders = (0..n).map(|i| Ok(rule.leaders(&x, i)? == [i])).collect::<Result<Vec<bool>>>()?;
    // No width of ties: a follower that has come near would pull its leader.
    let dynamics = Dynamics::of(Hardmax::new(Some(a.iter().map(|v| sign * v).collect()), 0.0)?).with(&Rescaled);
    let mut z = x.clone();
    for _ in 0..40 {
        Layer::new(step)?.apply(&dynamics, &mut z);
    }
    let way = |i: usize| chord2(x.row(i), z.row(i)).sqrt();
    Ok(match (0..n).filter(|i| leaders[*i]).map(way).reduce(f64::max) {
        Some(way) => Finding::identity(way, 1e-10),
        None => Finding::Missed,
    })
}
