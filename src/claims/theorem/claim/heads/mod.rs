//! Heads, scores and positions.

use super::Topic;

pub mod alibi_shift;
pub mod cross_entropy;
pub mod dimension_scale_printed;
pub mod gap_counting;
pub mod heads_average;
pub mod heads_sum;
pub mod key_bias;
pub mod linear_attention;
pub mod logit_rank;
pub mod logit_variance;
pub mod long_context_iid;
pub mod nearest_by_dot;
pub mod offset_attention;
pub mod orthogonal_unrelated_printed;
pub mod orthogonal_weight;
pub mod pad_mask;
pub mod pe_breaks_consensus;
pub mod pe_direction;
pub mod pe_monotone_printed;
pub mod pe_shift;
pub mod query_key_product;
pub mod rank_collapse_cubic;
pub mod root_matters_printed;
pub mod rope_consensus_rate;
pub mod rope_shift;
pub mod seed_table_printed;
pub mod self_weight_largest;
pub mod shared_value_rank;
pub mod softmax_full_rank;
pub mod softmax_jacobian;
pub mod softmax_rank_printed;
pub mod temperature_limits;
pub mod truncation_bound;
pub mod twisted_states;
pub mod zero_query_is_ffn_printed;
pub mod zero_query_is_mean;

/// The claims in reading order.
pub static TOPIC: Topic = Topic {
    name: "heads",
    title: "Heads, scores and positions",
    page: "",
    claims: &[
        &alibi_shift::ENTRY,
        &heads_average::ENTRY,
        &heads_sum::ENTRY,
        &key_bias::ENTRY,
        &linear_attention::ENTRY,
        &logit_rank::ENTRY,
        &logit_variance::ENTRY,
        &dimension_scale_printed::ENTRY,
        &nearest_by_dot::ENTRY,
        &root_matters_printed::ENTRY,
        &offset_attention::ENTRY,
        &orthogonal_unrelated_printed::ENTRY,
        &orthogonal_weight::ENTRY,
        &pad_mask::ENTRY,
        &pe_breaks_consensus::ENTRY,
        &pe_direction::ENTRY,
        &pe_monotone_printed::ENTRY,
        &pe_shift::ENTRY,
        &query_key_product::ENTRY,
        &rope_consensus_rate::ENTRY,
        &rope_shift::ENTRY,
        &self_weight_largest::ENTRY,
        &shared_value_rank::ENTRY,
        &softmax_full_rank::ENTRY,
        &softmax_jacobian::ENTRY,
        &softmax_rank_printed::ENTRY,
        &temperature_limits::ENTRY,
        &truncation_bound::ENTRY,
        &zero_query_is_ffn_printed::ENTRY,
        &zero_query_is_mean::ENTRY,
        &seed_table_printed::ENTRY,
        &gap_counting::ENTRY,
        &long_context_iid::ENTRY,
        &rank_collapse_cubic::ENTRY,
        &cross_entropy::ENTRY,
        &twisted_states::ENTRY,
    ],
};
