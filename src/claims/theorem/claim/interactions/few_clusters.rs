//! Up to four clusters on the circle have no maximum under an increasing interaction.

use super::setting::{
    CIRCLE, STEEPEST, critical_point, increasing_interaction, is_unstable, polygon, steep_sigmoid,
};
use crate::attention::interaction::InteractionEnergy;
use crate::landscape::interaction::InteractionCriticalPoint;
use crate::theorem::prelude::*;

const MOST: usize = 4;

/// Five is the smallest number of clusters, and of tokens, of a spurious maximum.
///
/// # Derivation
///
/// Let `f(t) = phi(cos t) sin t` and `w_ij = m_i m_j f'(t_ij)`, where `t_ij` in `[0, pi]` is the
/// angle between clusters. At a maximum `sum_{i in S, j not in S} w_ij >= 0` for every set `S` of
/// clusters: turn `S` against the rest. Since `f' = phi cos - phi' sin^2`, `w_ij < 0` for obtuse
/// angles, `w_ij <= 0` for right angles, and `w_ij <= P_ij cot t_ij` for all, where `P_ij = m_i m_j
/// f(t_ij)` is the force between `i` and `j`. A critical point with several clusters is not in an
/// open half circle, as all forces attract; it is in a closed one only if it is a pair of opposite
/// clusters.
///
/// *Two clusters* are opposite: `w_12 < 0`. *Three*: gaps below `pi` that add up to `2 pi`. Two of
/// them are obtuse, and the cluster between them violates the condition.
///
/// *Four*: gaps `g_1`, ..., `g_4 < pi`. A cluster needs a partner at an acute angle, and clusters
/// that are no neighbours have an acute angle only if the two gaps between them add up to less than
/// `pi/2`. Not all four gaps are acute. If two neighbouring gaps are not acute, the cluster between
/// them has no partner: the two other gaps add up to at least `pi/2` with each of them. If two
/// opposite gaps are not acute, all pairs across them are at least right, and one is obtuse: `S` is
/// the pair between them. So exactly one gap, `g_4` between 4 and 1, is not acute. As `g_4 < pi`,
/// the others add up to more than `pi`, any two neighbouring ones to an obtuse angle.
///
/// The forces on cluster 1 balance: `P_14 = P_12 + P_13`; on cluster 2: `P_12 = P_23 + P_24`. So
/// `P_14 > P_23`. With `b = g_2` and `pi - g_4 = g_1 + b + g_3 - pi < b`: `w_14 <= -P_14 cot(pi -
/// g_4) < -P_23 cot b <= -w_23`, while `w_13` and `w_24` are negative. The cut `S = {1, 2}` has a
/// negative sum.
///
/// No step uses more than `phi > 0` and `phi' >= 0`. `pentagon-maximum` shows that five clusters
/// can.
///
/// A public summary of arXiv:2405.18273 says that it constructs a real-analytic `phi` with spurious
/// maxima for every `n >= 5`, so the bound 4 is probably known there. This proof needs only a
/// derivative of `phi`, and admits any masses.
pub static ENTRY: Claim = Claim {
    name: "few-clusters",
    title: "Circle: increasing interactions have no maximum of two to four clusters",
    lets: "`phi` be positive and increasing, and tokens on the circle of any masses be in `K <= \
           {MOST}` places",
    then: "If this is a critical point of `E` and `K > 1`, it has a direction of positive \
           curvature. So four tokens or fewer have no maximum but consensus. (Five have: \
           pentagon-maximum.)",
    tested: "at critical points that Newton's method finds from random places and cluster sizes",
    numbers: &[("MOST", MOST as f64)],
    domain: Domain { n: Sizes::Range(2, 40), draws: "`phi`, up to four clusters", ..CIRCLE },
    source: "derived; arXiv:2405.18273, as quoted in a public summary, has spurious maxima for every \
             n >= 5 by a real-analytic phi, so that five is known to be enough",
    trials: (24, 200),
    trial: |case, ctx| {
        let energy = InteractionEnergy::new(increasing_interaction(STEEPEST, ctx)?);
        let point = critical_point(&energy, (case.n, case.d), MOST, ctx)?;
        Ok(point.as_ref().map_or(Finding::HypothesesMissed, is_unstable))
    },
    no_constant: "the sign of an eigenvalue decides",
    control: Control {
        what: "five clusters: the pentagon under the sigmoid `1/(1 + e^{-10 (s + 1/4)})`",
        trial: |_: &mut Context| {
            let energy = InteractionEnergy::new(steep_sigmoid()?);
            let point = InteractionCriticalPoint::near(&energy, &polygon(5)?, &[2; 5])?;
            Ok(is_unstable(&point))
        },
    },
    ..Claim::EXACT
};
