//! Three clusters under even powers.

use super::setting::{CIRCLE, power};
use crate::attention::interaction::{InteractionAttention, InteractionEnergy, RowSum};
use crate::landscape::interaction::InteractionCriticalPoint;
use crate::theorem::prelude::*;

const LARGEST: usize = 12;
const LARGEST_GROUP: usize = 30;

/// So n tokens have a maximum for every division into three groups, about `3^{n-1}/2` of them.
///
/// # Derivation
///
/// Let `p` be even and `q = p + 1`, so `W(s) = s^q/q` is odd. Three clusters with gaps `pi - h_1,
/// pi - h_2, pi - h_3`, where `h_k` in `[0, pi/2]` and `h_1 + h_2 + h_3 = pi`, have the energy
/// `const - (1/q) sum_k M_k cos^q h_k` with `M_k` the product of the masses at the gap `k`. On this
/// closed triangle the continuous function `F = sum_k M_k cos^q h_k` has a minimum. It is not on
/// the boundary:
///
/// - On an edge `h_k = pi/2` with both others in `(0, pi/2)`: if `h_k` decreases by `e`, `F` gains
///   only `M_k e^q`, and loses at the rate of `e` by the growing others.
/// - At a corner `h_i = 0`, `h_j = h_k = pi/2`: if `h_i = 2e` and the others decrease by `e`, `F`
///   loses about `2 q M_i e^2` and gains `(M_j + M_k) e^q`, with `q >= 3`.
///
/// A minimum inside is a local maximum of `E` under turns of the clusters. It is one of all tokens,
/// too: for each cluster `i`, turning it alone gives `sum_{j != i} m_j f'(t_ij) >= 0`, and a token
/// that leaves its cluster returns at this rate plus `m_i phi(1) > 0`.
///
/// The derivation gives a maximum that may be degenerate; all that were computed are strict.
pub static ENTRY: Claim = Claim {
    name: "power-triangles",
    title: "Circle: under even powers three clusters of any masses stay at obtuse angles",
    lets: "`phi(s) = s^p` with an even `p >= 2`",
    then: "For any three masses `E` has a local maximum of three clusters of these masses whose \
           angles are all obtuse. So `n >= 3` tokens have such a maximum for every division into \
           three groups.",
    tested: "by a run from the regular triangle and Newton's method, `p <= {LARGEST}`, groups of 1 \
             to {LARGEST_GROUP} tokens; all are strict maxima modulo rotation",
    numbers: &[("LARGEST", LARGEST as f64), ("LARGEST_GROUP", LARGEST_GROUP as f64)],
    domain: Domain { n: Sizes::Unused, draws: "`p`, three sizes", ..CIRCLE },
    source: "derived",
    trials: (16, 120),
    trial: |_, ctx| {
        let p = 2 * (1 + ctx.index(LARGEST / 2));
        three_groups(p, ctx)
    },
    no_constant: "the signs of eigenvalues decide",
    control: Control {
        what: "odd `p`",
        trial: |ctx| {
            let p = 1 + 2 * ctx.index(6);
            // Forces near right angles are of the order s^p: a run that stops there is near no
            // critical point.
            Ok(three_groups(p, ctx).unwrap_or_else(|_| Finding::answer(false)))
        },
    },
    ..Claim::EXACT
};

/// A time in which every run ends: rates are at least of the order 2^{-12}/90.
const END: f64 = 1e9;

fn three_groups(p: usize, ctx: &mut Context) -> Result<Finding> {
    let sizes: Vec<usize> = (0..3).map(|_| 1 + ctx.index(LARGEST_GROUP)).collect();
    let total: usize = sizes.iter().sum();
    let masses: Vec<f64> = sizes.iter().map(|s| *s as f64 / total as f64).collect();
    // Small turns, for no symmetry holds a run at a saddle.
    let angles = [0.01, TAU / 3.0, 2.0 * TAU / 3.0 - 0.02];
    let x = Tokens::from_angles(&angles)?.with_masses(&masses)?;
    let energy = InteractionEnergy::new(power(p)?);
    let flow = Dynamics::single(InteractionAttention::new(power(p)?, RowSum::Plain)?);
    let end = solve(&flow, &x, END, &Options::default(), &mut [])?.clusters;
    if end.n() < 3 {
        return Ok(Finding::answer(false));
    }
    let found = InteractionCriticalPoint::near(&energy, &end, &sizes)?;
    let is_strict = found.spectrum.unstable == 0 && found.spectrum.nullity == 0;
    let is_obtuse = found.angles.iter().all(|a| *a > 0.5 * PI);
    Ok(Finding::all([found.clusters.n() == 3, is_strict, is_obtuse]))
}
