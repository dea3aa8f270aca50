//! Hardmax in R^d: every token ends at a leader, of the start or of a later layer.

use super::setting::{TOKENS, hardmax};
use crate::theorem::prelude::*;

const LAYERS: usize = 120;
const NEAR: f64 = 1e-6;
const BETWEEN: f64 = 0.3;

/// With tied scores tokens may end at convex combinations of leaders; ties have probability 0.
///
/// # Derivation
///
/// The statement is not proved for all starts. A token with `C_i = {i}` never moves again: every
/// other token moves to a convex combination of tokens, with some weight on itself, whose scores
/// against `z_i` are at most `<z_i, z_i>`, its own less; so the strict inequality persists. Any
/// other token moves towards the tokens that are largest in its own direction, and may become its
/// own strict leader on the way. For example (0.87, 0.94), together with (-1.19, 2.30) and (0.66,
/// 1.19), follows the last one to (0.765, 1.065) and stays there, because the last one has left: so
/// the leaders of the start are not enough.
///
/// The paper proves that limits are leaders or convex combinations of several. A combination needs
/// two leaders with equal scores at the limit, a tie, which has probability 0 at every finite layer
/// for normal tokens. The trials test that it does not occur in the limit.
pub static ENTRY: Claim = Claim {
    name: "hm-followers",
    title: "Hardmax, `A = I`: every token ends at a leader",
    lets: "`z_i+ = z_i + mean_{j in C_i} (z_j - z_i)/2` with `C_i = argmax_j <z_i, z_j>`, and call \
           a token with `C_i = {i}` at some layer a leader at this layer",
    then: "For almost every start, every token tends to the position of a leader.",
    tested: "after {LAYERS} layers: every token is within {NEAR} of the position of a leader at \
             one of them",
    numbers: &[("LAYERS", LAYERS as f64), ("NEAR", NEAR), ("BETWEEN", BETWEEN)],
    domain: Domain { n: Sizes::Range(2, 20), d: Sizes::Range(1, 3), ..TOKENS },
    narrower: "step 1/2",
    source: "arXiv:2407.01602, Theorem 2.1 (clustered equilibria determined by leaders)",
    status: Status::Observation,
    kind: Kind::Every(0.15),
    trials: (48, 300),
    trial: |case, ctx| {
        let x = Tokens::flat(case.d, ctx.normals(case.n * case.d))?;
        ends_at_leaders(&x)
    },
    no_constant: "a limit without a constant",
    control: Control {
        what: "a tie: leaders (1, 1), (1, -1) and a token ({BETWEEN}, 0) between them, which ends \
               at their mean",
        trial: |_| ends_at_leaders(&Tokens::flat(2, vec![1.0, 1.0, 1.0, -1.0, BETWEEN, 0.0])?),
    },
    ..Claim::EVERY
};

/// True if all tokens end at positions of leaders.
fn ends_at_leaders(x: &Tokens) -> Result<Finding> {
    // Layers of step 1/2 until all tokens have converged.
    let (rule, dynamics) = (Hardmax::new(None, 1e-12)?, hardmax(None)?);
    // The position at which a token first became a leader; later, followers that tie with it hide
    // this.
    let mut places: Vec<Option<Vec<f64>>> = vec![None; x.n()];
    let mut z = x.clone();
    for _ in 0..LAYERS {
        for (i, place) in places.iter_mut().enumerate() {
            if place.is_none() && rule.leaders(&z, i)? == [i] {
                *place = Some(z.row(i).to_vec());
            }
        }
        Layer::new(0.5)?.apply(&dynamics, &mut z);
    }
    let near =
        |i: usize| places.iter().flatten().any(|place| chord2(z.row(i), place) < NEAR * NEAR);
    Ok(Finding::answer((0..x.n()).all(near)))
}
