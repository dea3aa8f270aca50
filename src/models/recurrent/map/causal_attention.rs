//! Self-attention with a causal mask.

use super::attention::{STEP, SphereAttention};
use crate::recurrent::{NamedMap, ReceptiveField};

/// Causal attention with the same matrices in every layer.
pub static ENTRY: NamedMap = NamedMap {
    name: "causal-attention",
    summary: "attention with weights on j <= i only",
    citation: "arXiv:2411.04990, (1.1), with random Q, K, V",
    receptive_field: ReceptiveField::Before,
    unit: |_| 1.0 / STEP,
    build: |spec| Box::new(SphereAttention::normal(spec, true)),
};
