//! Tokens in R^d.

use super::Topic;

pub mod large_beta_distance;
pub mod rd_boolean;
pub mod rd_codimension_simple;
pub mod rd_decay;
pub mod rd_distances;
pub mod rd_gaussian;
pub mod rd_gaussian_closure;
pub mod rd_hypercube;
pub mod rd_hyperplanes;
pub mod rd_paranormal;
pub mod rd_polytope;
pub mod rd_repulsive;
pub mod rd_rescaling;
mod setting;

/// The claims in reading order.
pub static TOPIC: Topic = Topic {
    name: "flat",
    title: "Tokens in R^d",
    page: "Attention without normalisation (arXiv:2305.05465): tokens of `R^d` grow like `e^{tV}`, \
           and the question is where `z = e^{-tV} x` ends. rd-rescaling is the equation of \
           `z`.\n\nThe theorems by the spectrum of `V`: one dimension (rd-boolean), `V = I` \
           (rd-polytope), a simple leading eigenvalue (rd-hyperplanes), and mixtures \
           (rd-paranormal, open for scores that mix the two subspaces). The rates are derived \
           here. The conjecture on codimension is refuted as printed; rd-codimension-simple has \
           the counterexample, and a repaired conjecture, which is open.\n\nWhat can be solved: \
           the corners of a box (rd-hypercube, which refutes one reading of a remark) and \
           Gaussians (rd-gaussian; with L2 and Sinkhorn weights rd-gaussian-closure). rd-distances \
           has the monotone quantity for `V = I`. For `V = -I` all tokens tend to 0 (rd-decay), \
           and rd-repulsive has the shape of the cloud, to leading order. large-beta-distance \
           measures how far attention on the line is from its hardmax limit.",
    claims: &[
        &rd_rescaling::ENTRY,
        &rd_boolean::ENTRY,
        &rd_polytope::ENTRY,
        &rd_hyperplanes::ENTRY,
        &rd_paranormal::ENTRY,
        &rd_codimension_simple::ENTRY,
        &rd_hypercube::ENTRY,
        &rd_gaussian::ENTRY,
        &rd_gaussian_closure::ENTRY,
        &rd_distances::ENTRY,
        &rd_decay::ENTRY,
        &rd_repulsive::ENTRY,
        &large_beta_distance::ENTRY,
    ],
};
