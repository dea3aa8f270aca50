//! Causal attention.

use super::Topic;

pub mod causal_limit;
pub mod centre_count;
pub mod frozen_centres;
pub mod strong_centres;

/// The claims in reading order.
pub static TOPIC: Topic = Topic {
    name: "causal",
    title: "Causal attention",
    page: "Under a causal mask a token sees only those before it. So the first token never moves, \
           the second moves in a fixed field, and limits are found by induction: all tokens end at \
           the first one (causal-limit), however keys and queries depend on time. That the first \
           tokens do not depend on later ones is in symmetries.\n\nAt large `beta` this end is far \
           away. A token that is farther than a few `beta^{-1/2}` from all tokens before it, a \
           strong centre, hardly moves for an exponentially long time (strong-centres). Tokens \
           that follow centres settle next to them (frozen-centres). centre-count has the number \
           of strong centres among uniform tokens; its variant has a factor 3 that stands in one \
           section of the paper, while its lemma is right.\n\nAll claims of the topic are proved. \
           frozen-centres is sharper than the theorem of the paper: it drops a condition and \
           weakens another.",
    claims: &[
        &causal_limit::ENTRY,
        &strong_centres::ENTRY,
        &frozen_centres::ENTRY,
        &centre_count::ENTRY,
    ],
};
