//! Tokens in blocks and panels, the order in which they meet, and the kernel of a pair.

#[doc(hidden)]
pub mod blocks;
#[doc(hidden)]
pub mod chord;
#[doc(hidden)]
pub mod panels;
#[doc(hidden)]
pub mod squares;
