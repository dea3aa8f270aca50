//! Hardmax and convex layers.

use super::Topic;

pub mod fw_collapse;
pub mod fw_exit_time;
pub mod fw_negative;
pub mod hm_followers;
mod setting;

/// The claims in reading order.
pub static TOPIC: Topic = Topic {
    name: "hardmax",
    title: "Hardmax and convex layers",
    page: "Layers that move every token of `R^d` towards an average of tokens: the tokens of \
           largest score (hardmax, `beta = infinity`) or a softmax mean. The hull never \
           grows.\n\nAt finite `beta` all tokens end at one point (fw-collapse), by a contraction \
           with a sharp factor. The words of the first abstract about the limit, which the paper's \
           own proposition has right, and a printed statement about the speed of hardmax are \
           false, and are variants of it. If the mean is replaced by a random leader, tokens stay \
           near the vertices for a time exponential in `beta` (fw-exit-time).\n\nUnder hardmax \
           with a negative form layers are Frank-Wolfe steps, and the usual bound holds while the \
           hulls contain the origin (fw-negative; as printed, with the first hull only, it is \
           false). With a positive form every token ends at a leader (hm-followers, observed; the \
           paper proves it up to ties).",
    claims: &[&fw_collapse::ENTRY, &fw_exit_time::ENTRY, &fw_negative::ENTRY, &hm_followers::ENTRY],
};
