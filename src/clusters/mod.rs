//! Clusters of tokens and modes of kernel density estimates.

pub mod modes;
