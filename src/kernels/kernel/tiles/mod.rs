//! Tokens in blocks and panels, the order in which pairs are evaluated, and the kernel of a pair.

#[doc(hidden)]
pub mod blocks;
#[doc(hidden)]
pub mod chord;
#[doc(hidden)]
pub mod gram_strip;
#[doc(hidden)]
pub mod panels;
