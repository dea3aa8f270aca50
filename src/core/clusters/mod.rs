//! Clusters of tokens: linkage, merge trees, plateaus of the energy, Renyi centres.

pub mod centres;
pub mod linkage;
pub mod plateau;
pub mod tree;
