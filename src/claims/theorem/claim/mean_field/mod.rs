//! Mean field and entropy.

use super::Topic;

pub mod dobrushin;
pub mod entropy_slopes;
pub mod entropy_slopes_folklore;
pub mod layers_and_equation;
pub mod local_limit;
pub mod local_limit_folklore;
pub mod mean_field_collapse;
pub mod mean_field_collapse_folklore;
pub mod mean_field_rate;
pub mod mode_growth;
pub mod mode_growth_printed;
pub mod pair_equation;
pub mod particle_growth;
pub mod quantile_rate;
pub mod row_entropy_equiangular;
pub mod row_entropy_folklore;
pub mod sa_entropy;
pub mod two_atoms;
pub mod usa_entropy;

/// The claims in reading order.
pub static TOPIC: Topic = Topic {
    name: "mean-field",
    title: "Mean field and entropy",
    page: "",
    claims: &[
        &dobrushin::ENTRY,
        &entropy_slopes::ENTRY,
        &entropy_slopes_folklore::ENTRY,
        &local_limit::ENTRY,
        &local_limit_folklore::ENTRY,
        &mean_field_collapse::ENTRY,
        &mean_field_collapse_folklore::ENTRY,
        &mean_field_rate::ENTRY,
        &mode_growth::ENTRY,
        &mode_growth_printed::ENTRY,
        &pair_equation::ENTRY,
        &particle_growth::ENTRY,
        &quantile_rate::ENTRY,
        &sa_entropy::ENTRY,
        &usa_entropy::ENTRY,
        &two_atoms::ENTRY,
        &row_entropy_equiangular::ENTRY,
        &row_entropy_folklore::ENTRY,
        &layers_and_equation::ENTRY,
    ],
};
