//! Energy and symmetry.

use super::Topic;

pub mod angular_momentum;
pub mod antipodal_symmetry;
pub mod chord_kernel;
pub mod cross_ratios;
pub mod dissipation;
pub mod energy_extremes;
pub mod force_consensus;
pub mod force_field;
pub mod force_field_printed;
pub mod gradient_structure;
pub mod gram_equation;
pub mod layer_energy;
pub mod layer_energy_general;
pub mod layer_map;
pub mod lipschitz_bound;
pub mod multihead_head_energy_folklore;
pub mod multihead_sa_energy_folklore;
pub mod multihead_usa_energy;
pub mod multiplicities;
pub mod perceptron_energy;
pub mod permutation;
pub mod reflection;
pub mod rotation;
pub mod score_is_distance;
pub mod sinkhorn_energy;
pub mod span;
pub mod speed_bound;
pub mod time_reversal;
pub mod time_scales;
pub mod two_token_orbit;
pub mod unit_norm;

/// The claims in reading order.
pub static TOPIC: Topic = Topic {
    name: "energy",
    title: "Energy and symmetry",
    page: "",
    claims: &[
        &energy_extremes::ENTRY,
        &gradient_structure::ENTRY,
        &dissipation::ENTRY,
        &angular_momentum::ENTRY,
        &antipodal_symmetry::ENTRY,
        &permutation::ENTRY,
        &reflection::ENTRY,
        &rotation::ENTRY,
        &time_reversal::ENTRY,
        &time_scales::ENTRY,
        &unit_norm::ENTRY,
        &span::ENTRY,
        &speed_bound::ENTRY,
        &chord_kernel::ENTRY,
        &gram_equation::ENTRY,
        &multiplicities::ENTRY,
        &layer_energy::ENTRY,
        &layer_energy_general::ENTRY,
        &sinkhorn_energy::ENTRY,
        &perceptron_energy::ENTRY,
        &force_field::ENTRY,
        &force_field_printed::ENTRY,
        &force_consensus::ENTRY,
        &lipschitz_bound::ENTRY,
        &cross_ratios::ENTRY,
        &layer_map::ENTRY,
        &two_token_orbit::ENTRY,
        &score_is_distance::ENTRY,
        &multihead_usa_energy::ENTRY,
        &multihead_sa_energy_folklore::ENTRY,
        &multihead_head_energy_folklore::ENTRY,
    ],
};
