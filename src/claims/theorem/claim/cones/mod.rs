//! Cones and a single cluster.

use super::Topic;

pub mod cap_inequality;
pub mod cap_overlap;
pub mod chain_lemma;
pub mod concentration;
pub mod cone_collapse;
pub mod cone_speed;
pub mod consensus_rates;
pub mod consensus_value;
pub mod cyclic_order;
pub mod gamma_bound;
pub mod gamma_curve;
pub mod hemisphere_monotone;
pub mod min_inner;
mod setting;
pub mod single_cluster;
pub mod small_beta_flow;
pub mod wendel;

/// The claims in reading order.
pub static TOPIC: Topic = Topic {
    name: "cones",
    title: "Cones and a single cluster",
    page: "Tokens in an open hemisphere converge to one point. The reason is simple: every token \
           moves inside the cone that the tokens span, so their smallest cap never grows \
           (hemisphere-monotone). Its radius shrinks at a rate that does not depend on the number \
           of tokens or their masses, so the statement passes to measures (cone-collapse). The \
           rate in the literature has a factor of the least mass, and one exponent there is \
           misprinted (cone-speed). The smallest inner product of two tokens grows only while it \
           is nonnegative (min-inner).\n\nWhen are tokens in a hemisphere? At random with the \
           probability of wendel, always if `n <= d`, and on short chains (chain-lemma). Almost \
           every start enters one sooner or later: single-cluster states the theorem that several \
           papers prove together. For small `beta` the paths stay near those of equal weights \
           (small-beta-flow).\n\nThe end is the linearisation at consensus (consensus-rates; with \
           a value matrix, consensus-value). On the circle tokens never pass each other \
           (cyclic-order). Two estimates serve the topic of metastability: cap-inequality and \
           cap-overlap.\n\nIn high dimension all inner products follow one curve: gamma-curve for \
           orthonormal starts, with the bound gamma-bound, and concentration for uniform starts, \
           with the limit law of the deviation. All claims are proved; the wordings marked as \
           printed or as folklore are false.",
    claims: &[
        &hemisphere_monotone::ENTRY,
        &cone_collapse::ENTRY,
        &cone_speed::ENTRY,
        &min_inner::ENTRY,
        &wendel::ENTRY,
        &chain_lemma::ENTRY,
        &single_cluster::ENTRY,
        &small_beta_flow::ENTRY,
        &consensus_rates::ENTRY,
        &consensus_value::ENTRY,
        &cyclic_order::ENTRY,
        &cap_inequality::ENTRY,
        &cap_overlap::ENTRY,
        &gamma_curve::ENTRY,
        &gamma_bound::ENTRY,
        &concentration::ENTRY,
    ],
};
