//! Random weights.

use super::Topic;

pub mod depth_iid;
pub mod homogenised_weak_order;
pub mod lyapunov_iid;
pub mod random_arcsin;
pub mod random_logistic;
pub mod random_symmetric_pairs;
pub mod random_value_drift;
pub mod random_value_groups;
mod setting;

/// The claims in reading order.
pub static TOPIC: Topic = Topic {
    name: "random-weights",
    title: "Random weights",
    page: "Layers whose weights are drawn anew: residual networks, products of matrices, and \
           attention with random values. Read depth-iid first: the size of a residual network \
           decides between the identity, a stochastic equation and explosion. lyapunov-iid is the \
           product of matrices without a residual.\n\nFor tokens on the sphere the inner product \
           of a pair is a Markov chain. random-arcsin shows that pairs cluster without any \
           attention, and says how often they end opposite; homogenised-weak-order says how fast \
           layers approach their diffusion limit; random-symmetric-pairs has the rate for \
           symmetric matrices.\n\nWith attention and random values, random-value-drift has drift, \
           variance and the exponents at both ends: opposite pairs attract iff `cosh 2 beta > d - \
           2`. random-value-groups says which opposite groups can last, and random-logistic is the \
           law of the mean at `beta = 0`.\n\nAll are derived here, to leading order in the step \
           where they say so; the tests are Monte Carlo means against exact numbers. The papers of \
           2026 that they answer to were read in their abstracts, but for Section 2 of \
           arXiv:2604.01978.",
    claims: &[
        &depth_iid::ENTRY,
        &lyapunov_iid::ENTRY,
        &random_arcsin::ENTRY,
        &homogenised_weak_order::ENTRY,
        &random_symmetric_pairs::ENTRY,
        &random_value_drift::ENTRY,
        &random_value_groups::ENTRY,
        &random_logistic::ENTRY,
    ],
};
