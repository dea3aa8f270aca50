//! Local maxima under powers of the inner product.

use super::setting::CIRCLE;
use crate::attention::interaction::Interaction;
use crate::proofs::landscape::{Tokens as ProofTokens, benign};
use crate::theorem::prelude::*;

const LARGEST_POWER: usize = 12;
const HEAVIEST: usize = 9;

/// Under no power p >= 1 is the landscape on the circle benign for three tokens.
///
/// # Derivation
///
/// Let `u(d) = cos^p d sin d` and `w = u' = cos^{p-1} d (cos^2 d - p sin^2 d)`. The Hessian is
/// minus the Laplacian of a graph with weights `m_i m_j w_ij`, so positive weights make a critical
/// point a strict local maximum modulo rotation.
///
/// Odd `p`: tokens at `x` and at `-x` have `u = 0` and weights `w(0) = w(pi) = 1`.
///
/// Even `p`: in the regular triangle forces cancel, and `cos = -1/2`, `sin^2 = 3/4` give `w =
/// 2^{1-p} (3 p - 1)/4 > 0` between clusters, `w(0) = 1` within them. (`power-polygons` has all
/// regular polygons.)
pub static ENTRY: Claim = Claim {
    name: "powers-on-the-circle",
    title: "Under `s^p` tokens on the circle have local maxima other than consensus",
    lets: "`d = 2`, `phi(s) = s^p` with `p >= 1`, and `E = (1/2) sum_ij m_i m_j W(<x_i, x_j>)`, \
           `W' = phi`",
    then: "For odd `p` two opposite clusters of any sizes, and for even `p` three equal clusters \
           at a regular triangle, are a strict local maximum of `E` modulo rotations.",
    tested: "by a certified local maximum with two clusters of whole masses from 1 to {HEAVIEST} \
             (odd `p`) or with three equal ones (even `p`)",
    numbers: &[("LARGEST_POWER", LARGEST_POWER as f64), ("HEAVIEST", HEAVIEST as f64)],
    domain: Domain {
        n: Sizes::Unused,
        beta: Betas::Unused,
        draws: "`p` from 1 to {LARGEST_POWER}",
        ..CIRCLE
    },
    source: "derived; the spheres with d >= 3 are those of arXiv:2405.18273",
    narrower: "`p <= {LARGEST_POWER}`; clusters as single tokens with masses",
    trials: (4, 24),
    trial: |_, ctx| {
        let p = 1 + ctx.index(LARGEST_POWER);
        let masses = match p % 2 {
            1 => vec![1.0 + ctx.index(HEAVIEST) as f64, 1.0 + ctx.index(HEAVIEST) as f64],
            _ => vec![1.0; 3],
        };
        has_maximum(&masses, &format!("s^{p}"))
    },
    no_constant: "the sign of an eigenvalue decides",
    control: Control {
        what: "`e^s` instead of a power: three tokens have a benign landscape",
        trial: |_| has_maximum(&[1.0; 3], "exp(s)"),
    },
    ..Claim::EXACT
};

/// Whether tokens of these masses have a certified local maximum in which no two are together.
fn has_maximum(masses: &[f64], phi: &str) -> Result<Finding> {
    let phi = Interaction::parse(phi, &[])?;
    let tokens = ProofTokens::new(masses, (0.0, 0.0))?.with_interaction(&phi)?;
    let found = benign(&tokens, false, &|_, _| true)?.counterexample;
    Ok(Finding::answer(found.is_some_and(|(_, orbit)| orbit.clusters.len() == masses.len())))
}
