//! Hardmax in R^d: every token ends at a leader.

use super::fw_solved::HARDMAX;
use super::{Claim, Context, Control, Domain, Finding, Kind, Sizes, Status};
use crate::attention::{Dynamics, hardmax::Hardmax, layer::Layer, normalisation::Rescaled};
use crate::error::Result;
use crate::sphere::{Tokens, geometry::chord2};

/// Ties end elsewhere, at convex combinations of leaders; they have probability 0.
///
/// # Derivation
///
/// No proof for all starts. A token with `C_i = {i}` stays for ever (`hm-leaders`). Each other one moves towards the tokens that are
/// largest in its own direction; these are vertices of the hull, and the paper proves that limits are leaders or convex combinations of
/// several. A combination needs two leaders with equal scores at the limit, a tie, which normal tokens meet with probability 0 at every
/// finite layer; that it is not met in the limit is what the trials say.
pub static ENTRY: Claim = Claim {
    name: "hm-followers",
    title: "Hardmax, A = I: every token ends at a leader",
    statement: "z+ = z + mean_{j in C_i} (z_j - z_i)/2, C_i = argmax_j <z_i, z_j>, normal tokens: after 120 layers every token is within 1e-6 of one with C_i = {i} at the start.",
    domain: Domain { n: Sizes::Range(2, 20), d: Sizes::Range(1, 3), ..HARDMAX },
    narrower: "step 1/2",
    citation: "arXiv:2407.01602, Theorem 2.1 (clustered equilibria determined by leaders)",
    status: Status::Observation,
    kind: Kind::Every(0.15),
    trials: (48, 300),
    trial: |case, ctx| {
        let x = Tokens::flat(case.d, ctx.normals(case.n * case.d))?;
        ends(&x)
    },
    perturbed: "",
    control: Control {
        what: "leaders (1, 1), (1, -1) and a token (0.3, 0) between them, which ends at their mean",
        trial: |_: &mut Context| ends(&Tokens::flat(2, vec![1.0, 1.0, 1.0, -1.0, 0.3, 0.0])?),
    },
    proof: None,
};

fn ends(x: &Tokens) -> Result<Finding> {
    let rule = Hardmax::new(None, 1e-12)?;
    let leaders = (0..x.n()).map(|i| Ok(rule.leaders(x, i)? == [i])).collect::<Result<Vec<bool>>>()?;
    let dynamics = Dynamics::of(rule).with(&Rescaled);
    let mut z = x.clone();
    for _ in 0..120 {
        Layer::new(0.5)?.apply(&dynamics, &mut z);
    }
    let near = |i: usize| (0..x.n()).any(|j| leaders[j] && chord2(z.row(i), x.row(j)) < 1e-12);
    Ok(Finding::yes((0..x.n()).all(near)))
}
