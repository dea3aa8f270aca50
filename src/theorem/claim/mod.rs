//! The claims, one file each. A new claim is a new file with an `ENTRY` and its line here.

use super::{Also, Betas, Case, Claim, Context, Control, Domain, Finding, Kind, Masses, Proof, Sizes, Status};
use crate::attention::{Dynamics, Spec, dynamics};
use crate::error::{Error, Result};

pub mod affine_rank_as_said;
pub mod alignment;
pub mod angular_momentum;
pub mod antipodal_escape;
pub mod antipodal_symmetry;
pub mod attention_cost;
pub mod attention_cost_printed;
pub mod bahdanau_floor;
pub mod bipartite_spectrum;
pub mod bipartite_threshold;
pub mod block_inequality;
pub mod cap_inequality;
pub mod cap_overlap;
pub mod cap_overlap_printed;
pub mod causal_limit;
pub mod causal_prefix;
pub mod centre_count;
pub mod centre_count_printed;
pub mod chain_lemma;
pub mod chord_kernel;
pub mod circle_mean;
pub mod circle_modes;
pub mod cluster_positions;
pub mod cluster_positions_iid;
pub mod concentration;
pub mod cone_collapse;
pub mod cone_rate;
pub mod cone_speed;
pub mod cone_speed_printed;
pub mod consensus_rates;
pub mod consensus_value;
pub mod cross_entropy;
pub mod cross_ratios;
pub mod curvature_identity;
pub mod cyclic_order;
pub mod depth_iid;
pub mod depth_smooth;
pub mod dimension_at_least_n;
pub mod dimension_scale_printed;
pub mod dissipation;
pub mod dobrushin;
pub mod dwell_law;
pub mod dynamic_metastability;
pub mod energy_extremes;
pub mod entropy_slopes;
pub mod entropy_slopes_folklore;
pub mod ffn_share;
pub mod fixed_context;
pub mod force_consensus;
pub mod force_field;
pub mod force_field_printed;
pub mod formation_time;
pub mod frozen_centres;
pub mod fw_collapse;
pub mod fw_negative;
pub mod fw_negative_printed;
pub mod fw_origin_printed;
pub mod fw_solved;
pub mod fw_speed_printed;
pub mod gamma_bound;
pub mod gamma_bound_printed;
pub mod gamma_curve;
pub mod gradient_structure;
pub mod gram_equation;
pub mod gru_bounds;
pub mod gru_reset_printed;
pub mod heads_average;
pub mod heads_sum;
pub mod hemisphere_monotone;
pub mod hm_followers;
pub mod hm_leaders;
pub mod homogeneous_alignment_as_said;
pub mod large_beta_chains;
pub mod large_beta_polygon;
pub mod layer_energy;
pub mod layer_energy_general;
pub mod layer_map;
pub mod layernorm_invariance;
pub mod layers_and_equation;
pub mod linear_attention;
pub mod ln_cone;
pub mod ln_curve;
pub mod ln_discrete;
pub mod ln_initial_speed;
pub mod ln_late_rates;
pub mod ln_orbit;
pub mod ln_stall_range;
pub mod ln_time_change;
pub mod local_limit;
pub mod local_limit_folklore;
pub mod logit_rank;
pub mod logit_variance;
pub mod long_context_iid;
pub mod lstm_additive_path;
pub mod lyapunov_iid;
pub mod mean_field_collapse;
pub mod mean_field_collapse_folklore;
pub mod mean_field_rate;
pub mod min_inner;
pub mod min_inner_folklore;
pub mod mixing_structure;
pub mod mode_bracket;
pub mod mode_endpoint_printed;
pub mod mode_growth;
pub mod mode_growth_printed;
pub mod mode_samples_printed;
pub mod multihead_head_energy_folklore;
pub mod multihead_sa_energy_folklore;
pub mod multihead_usa_energy;
pub mod multiplicities;
pub mod nearest_at_small_beta_printed;
pub mod nearest_by_dot;
pub mod nearest_first;
pub mod nearest_first_folklore;
pub mod noise_step_mean;
pub mod noise_strong_order;
pub mod noise_weak_order;
pub mod noisy_bistability;
pub mod noisy_bistability_as_said;
pub mod noisy_threshold;
pub mod offset_attention;
pub mod orthogonal_unrelated_printed;
pub mod orthogonal_weight;
pub mod pair_equation;
pub mod pairing_law;
pub mod pairing_law_printed;
pub mod particle_growth;
pub mod pe_direction;
pub mod peaks_to_clusters;
pub mod peaks_to_clusters_printed;
pub mod perceptron_energy;
pub mod permutation;
pub mod polygon_rates;
pub mod polygon_saddles;
pub mod quantile_rate;
pub mod query_key_product;
pub mod random_arcsin;
pub mod random_logistic;
pub mod random_value_antipodal;
pub mod rank_collapse_cubic;
pub mod rd_boolean_rate;
pub mod rd_codimension_printed;
pub mod rd_distances;
pub mod rd_gaussian;
pub mod rd_hull;
pub mod rd_hypercube;
pub mod rd_hyperplane_rate;
pub mod rd_leader;
pub mod rd_remark_printed;
pub mod rd_repulsive;
pub mod rd_rescaling;
pub mod reflection;
pub mod repulsive_minimisers;
pub mod rnn_contraction;
pub mod rnn_equal_weight_printed;
pub mod rnn_influence;
pub mod rnn_order;
pub mod rnn_order_printed;
pub mod rnn_spectral_radius_folklore;
pub mod root_matters_printed;
pub mod rotation;
pub mod row_entropy_equiangular;
pub mod row_entropy_folklore;
pub mod sa_entropy;
pub mod saddles_unstable;
pub mod score_is_distance;
pub mod score_positions_collapse;
pub mod seed_table_printed;
pub mod self_weight_largest;
pub mod separated_start;
pub mod separated_start_folklore;
pub mod shared_value_rank;
pub mod sharp_minimisers;
pub mod sharp_minimisers_printed;
pub mod single_cluster;
pub mod small_beta_blocks;
pub mod softmax_full_rank;
pub mod softmax_jacobian;
pub mod softmax_rank_printed;
pub mod span;
pub mod speed_bound;
pub mod sphere_modes;
pub mod staircase;
pub mod strict_saddle;
pub mod strong_centres;
pub mod temperature_limits;
pub mod time_reversal;
pub mod time_scales;
pub mod transition_order;
pub mod truncation_bound;
pub mod two_atoms;
pub mod two_clusters;
pub mod two_token_orbit;
pub mod uniform_grid;
pub mod unit_norm;
pub mod usa_entropy;
pub mod wendel;
pub mod zero_query_is_ffn_printed;
pub mod zero_query_is_mean;

/// All claims, by file name.
pub static ALL: &[&Claim] = include!(concat!(env!("OUT_DIR"), "/claims.rs"));

/// Finds a claim. **Errors** unknown name, with the nearest known one.
pub fn find(name: &str) -> Result<&'static Claim> {
    ALL.iter().copied().find(|c| c.name == name).ok_or_else(|| Error::unknown("theorem", name, ALL.iter().map(|c| c.name)))
}

/// The derivation of a claim, from the documentation of its entry; none where the cited paper prints it.
pub fn derivation(claim: &Claim) -> Option<&'static str> {
    let all: &[&str] = include!(concat!(env!("OUT_DIR"), "/derivations.rs"));
    let place = ALL.iter().position(|c| c.name == claim.name)?;
    all.get(place).copied().filter(|text| !text.is_empty())
}

/// A horizon that no run meets: the flow ends at one cluster long before.
const FOREVER: f64 = 1e300;

/// A dynamics by name with identity matrices.
fn plain(name: &str, beta: f64, n: usize) -> Result<Dynamics> {
    dynamics::build(name, false, &Spec::new(beta, n))
}
