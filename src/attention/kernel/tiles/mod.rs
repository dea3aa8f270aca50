//! Tokens in blocks and panels, the order in which they meet, and the kernel of a pair.

pub(crate) mod blocks;
pub(crate) mod chord;
pub(crate) mod panels;
pub(crate) mod squares;
pub(crate) mod two_tasks;
