//! Clusters of tokens: linkage, merge trees, plateaus of the energy, Renyi centres, modes of kernel density estimates.

pub mod centres;
pub mod linkage;
pub mod modes;
pub mod plateau;
pub mod tree;
