//! Any interaction.

use super::Topic;

pub mod decreasing_coefficients;
pub mod few_clusters;
pub mod form_extremes;
pub mod increasing_interactions;
pub mod interaction_consensus;
pub mod interaction_curvature;
pub mod interaction_dissipation;
pub mod interaction_gradient;
pub mod interaction_saddles;
pub mod odd_powers;
pub mod pentagon_maximum;
pub mod polygon_fourier;
pub mod power_polygons;
pub mod power_triangles;
pub mod repulsive_flip;
mod setting;
pub mod third_derivative;

/// The claims in reading order.
pub static TOPIC: Topic = Topic {
    name: "interactions",
    title: "Any interaction",
    page: "Attention weighs a token by `e^{beta s}`, `s` the inner product. Which of its \
           properties remain for another function `phi(s)`?\n\nThe flow without row sums climbs \
           the energy of `W` with `W' = phi`, also with a symmetric matrix `D` \
           (interaction-gradient). Divided by the row sums of any positive function it climbs the \
           same energy in another metric (interaction-dissipation). Near one point the rates are \
           `phi(1)` and 1 (interaction-consensus). Where the energy is largest and smallest \
           follows from the norm of `D` (form-extremes).\n\nDo tokens always end in one cluster? \
           In three dimensions and more they do if `phi` is positive and increasing. One identity \
           proves it (interaction-curvature), with a bound (interaction-saddles) and under a \
           weaker hypothesis than the published one (increasing-interactions). On the circle this \
           is false: the pentagon is a maximum under a steep sigmoid (pentagon-maximum), and no \
           smaller number of clusters is (few-clusters). There a published condition on Taylor \
           coefficients suffices (decreasing-coefficients), and another one on the third \
           derivative of the force decides for any number of tokens with any masses \
           (third-derivative).\n\nRegular polygons have rates that are sums of Fourier \
           coefficients (polygon-fourier). For `phi = s^p` these are whole numbers: odd `p` keep \
           no polygon, and even `p` keep more and more of them (power-polygons). Under even `p` \
           any three groups of tokens have a place to stay (power-triangles). Odd `p` up to 201 \
           lead to two opposite points (odd-powers); a proof for all odd `p` at once is not known \
           here.\n\nLayers of repulsive attention leave a polygon by a flip, if any step size \
           makes them (repulsive-flip).",
    claims: &[
        &interaction_gradient::ENTRY,
        &interaction_dissipation::ENTRY,
        &interaction_consensus::ENTRY,
        &form_extremes::ENTRY,
        &interaction_curvature::ENTRY,
        &interaction_saddles::ENTRY,
        &increasing_interactions::ENTRY,
        &decreasing_coefficients::ENTRY,
        &third_derivative::ENTRY,
        &few_clusters::ENTRY,
        &pentagon_maximum::ENTRY,
        &polygon_fourier::ENTRY,
        &power_polygons::ENTRY,
        &power_triangles::ENTRY,
        &odd_powers::ENTRY,
        &repulsive_flip::ENTRY,
    ],
};
