//! Saddles and landscapes.

use super::Topic;

pub mod benign_circle;
pub mod benign_window;
pub mod block_inequality;
pub mod critical_orbits;
pub mod curvature_identity;
pub mod large_beta_chains;
pub mod large_beta_polygon;
pub mod large_beta_polygon_circle;
pub mod one_saddle_per_partition;
pub mod partitions_at_large_beta;
pub mod polygon_saddles;
pub mod powers_on_the_circle;
pub mod repulsive_minimisers;
pub mod saddles_unstable;
mod setting;
pub mod sharp_minimisers;
pub mod small_beta_blocks;
pub mod strict_saddle;

/// The claims in reading order.
pub static TOPIC: Topic = Topic {
    name: "landscapes",
    title: "Saddles and landscapes",
    page: "The energy `E_beta` increases along the flow, and its critical points are the steady \
           states. Why does almost every start end in one cluster? Every other critical point is a \
           saddle.\n\nFor `d >= 3` this follows from one identity that holds at every \
           configuration: curvature-identity, which strict-saddle turns into a bound. On the \
           circle the terms of the identity have no sign. The first proofs rotate blocks of tokens \
           instead (block-inequality): small-beta-blocks for `beta` below about `1/n`, and \
           large-beta-chains for `beta` above about `(d-1) n^2/pi^2`, both with sharp constants. \
           The theorem for every `beta > 0` is saddles-unstable, tested at critical points that a \
           search finds. Regular polygons of clusters are saddles with a slow ascent; \
           polygon-saddles has a proof for every number of corners.\n\nFew tokens on the circle \
           can be settled by boxes that cover all configurations. benign-circle is the theorem for \
           every `beta >= -0.16`, and benign-window the interval below it. critical-orbits counts \
           all critical points. For large `beta` there is exactly one for every set partition in a \
           cyclic order, with an explicit constant (partitions-at-large-beta, a theorem). That \
           this begins below `beta = 1` is open for six tokens and more \
           (one-saddle-per-partition). Under other interactions there are more local maxima: \
           powers-on-the-circle.\n\nThe argument with chains reaches down to a quarter of its \
           threshold on the circle (large-beta-polygon-circle); on spheres this is open \
           (large-beta-polygon).\n\nWith `V = -I` tokens descend the energy. The theorem of Cohn \
           and Kumar says which configurations are global minimisers (sharp-minimisers); its \
           converse, as printed, is false. Random tokens end there, which is observed and not \
           proved (repulsive-minimisers).",
    claims: &[
        &curvature_identity::ENTRY,
        &strict_saddle::ENTRY,
        &block_inequality::ENTRY,
        &small_beta_blocks::ENTRY,
        &large_beta_chains::ENTRY,
        &large_beta_polygon_circle::ENTRY,
        &large_beta_polygon::ENTRY,
        &partitions_at_large_beta::ENTRY,
        &saddles_unstable::ENTRY,
        &polygon_saddles::ENTRY,
        &benign_circle::ENTRY,
        &benign_window::ENTRY,
        &critical_orbits::ENTRY,
        &one_saddle_per_partition::ENTRY,
        &powers_on_the_circle::ENTRY,
        &sharp_minimisers::ENTRY,
        &repulsive_minimisers::ENTRY,
    ],
};
