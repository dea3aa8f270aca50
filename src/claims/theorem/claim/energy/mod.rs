//! Energy and symmetry.

use super::Topic;

pub mod angular_momentum;
pub mod cross_ratios;
pub mod energy_extremes;
pub mod gradient_structure;
pub mod gram_equation;
pub mod layer_energy;
pub mod layer_map;
pub mod lipschitz_bound;
pub mod multihead_usa_energy;
pub mod perceptron_energy;
mod setting;
pub mod sinkhorn_energy;
pub mod speed_bound;
pub mod symmetries;
pub mod two_token_orbit;

/// The claims in reading order.
pub static TOPIC: Topic = Topic {
    name: "energy",
    title: "Energy and symmetry",
    page: "Attention with `Q = K = V = I` moves tokens uphill in one function, the energy \
           `E_beta`. Read gradient-structure first: USA is its gradient flow in the metric of the \
           masses, SA in a metric that depends on the point. energy-extremes says where the energy \
           is least and greatest over all measures.\n\nlayer-energy carries the ascent over to \
           layers of any step. sinkhorn-energy, perceptron-energy and multihead-usa-energy say \
           which other architectures have an energy. With several heads only USA has one; the two \
           false variants are common beliefs about SA and about each head alone.\n\nsymmetries has \
           the symmetries of the equation. Beyond them, the Gram matrix obeys an equation of its \
           own (gram-equation), angular momentum vanishes, all cross-ratios are constant at `beta \
           = 0`, equiangular tokens follow a closed formula (layer-map), and two tokens have one \
           orbit under SA and USA.\n\nspeed-bound and lipschitz-bound have the constants from \
           which other claims take their times and errors; examples attain both within one per \
           cent. All claims of the topic are proved, with the derivation in the file.",
    claims: &[
        &gradient_structure::ENTRY,
        &energy_extremes::ENTRY,
        &layer_energy::ENTRY,
        &sinkhorn_energy::ENTRY,
        &perceptron_energy::ENTRY,
        &multihead_usa_energy::ENTRY,
        &symmetries::ENTRY,
        &gram_equation::ENTRY,
        &angular_momentum::ENTRY,
        &cross_ratios::ENTRY,
        &layer_map::ENTRY,
        &two_token_orbit::ENTRY,
        &speed_bound::ENTRY,
        &lipschitz_bound::ENTRY,
    ],
};
