//! Hardmax in R^d: every token ends at a leader, of the start or of a later layer.

use crate::theorem::prelude::*;

/// Ties end elsewhere, at convex combinations of leaders; they have probability 0.
///
/// # Derivation
///
/// No proof for all starts. A token with `C_i = {i}` stays for ever (`hm-leaders`). Another one moves towards the tokens that are largest
/// in its own direction, and may become its own strict leader on the way: (0.87, 0.94), beside (-1.19, 2.30) and (0.66, 1.19), follows the
/// last to (0.765, 1.065), where it stays, as the last has left. The paper proves that limits are leaders or convex combinations of
/// several. A combination needs two leaders with equal scores at the limit, a tie, which normal tokens meet with probability 0 at every
/// finite layer; that it is not met in the limit is what the trials say.
pub static ENTRY: Claim = Claim {
    name: "hm-followers",
    title: "Hardmax, A = I: every token ends at a leader",
    statement: "z+ = z + mean_{j in C_i} (z_j - z_i)/2, C_i = argmax_j <z_i, z_j>, normal tokens: after 120 layers every token is within 1e-6 of a place where some token was its own strict leader (C_i = {i}) at some layer.",
    domain: Domain { n: Sizes::Range(2, 20), d: Sizes::Range(1, 3), laws: &["normal"], ..Domain::HARDMAX },
    narrower: "step 1/2",
    citation: "arXiv:2407.01602, Theorem 2.1 (clustered equilibria determined by leaders)",
    status: Status::Observation,
    kind: Kind::Every(0.15),
    trials: (48, 300),
    trial: |case, ctx| {
        let x = Tokens::flat(case.d, ctx.normals(case.n * case.d))?;
        ends(&x, LAYERS)
    },
    control: Control {
        what: "leaders (1, 1), (1, -1) and a token (0.3, 0) between them, which ends at their mean; (0.87, 0.94), (-1.19, 2.30), (0.66, 1.19) against the leaders of the start alone",
        trial: |_: &mut Context| {
            let tie = ends(&Tokens::flat(2, vec![1.0, 1.0, 1.0, -1.0, 0.3, 0.0])?, LAYERS)?;
            let later = ends(&Tokens::flat(2, vec![0.87, 0.94, -1.19, 2.3, 0.66, 1.19])?, 1)?;
            Ok(Finding::yes([tie, later].contains(&Finding::yes(true))))
        },
    },
    ..Claim::EVERY
};

const LAYERS: usize = 120;

/// Whether all tokens end where one led itself alone in the first layers.
fn ends(x: &Tokens, watched: usize) -> Result<Finding> {
    let rule = Hardmax::new(None, 1e-12)?;
    let dynamics = Dynamics::of(rule.clone()).with(Rescaled);
    // Where a token first led itself alone: followers that come within a tie of it hide that later.
    let mut places: Vec<Option<Vec<f64>>> = vec![None; x.n()];
    let mut z = x.clone();
    for t in 0..LAYERS {
        for (i, place) in places.iter_mut().enumerate() {
            if t < watched && place.is_none() && rule.leaders(&z, i)? == [i] {
                *place = Some(z.row(i).to_vec());
            }
        }
        Layer::new(0.5)?.apply(&dynamics, &mut z);
    }
    let near = |i: usize| places.iter().flatten().any(|place| chord2(z.row(i), place) < 1e-12);
    Ok(Finding::yes((0..x.n()).all(near)))
}
