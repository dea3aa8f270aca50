//! What the claims about random weights share.

use crate::theorem::prelude::*;

/// No tokens are drawn: each trial draws two tokens, or one, and the weights of the layers.
pub const LAYERS: Domain = Domain {
    n: Sizes::Unused,
    d: Sizes::List(&[2, 3, 8, 16]),
    draws: "new weights in every layer",
    ..Domain::FREE
};
