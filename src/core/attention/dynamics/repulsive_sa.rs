//! Repulsive self-attention: the flow of SA run backwards.

use super::{NamedDynamics, attention};
use crate::attention::{RowWeights, Variant};

const VARIANT: Variant = Variant { repulsive: true, ..Variant::mutual(RowWeights::Softmax) };

/// `SA with V replaced by -V: the reverse flow, which descends the energy`.
pub static ENTRY: NamedDynamics = NamedDynamics {
    name: "repulsive-sa",
    summary: "SA with V replaced by -V: the reverse flow, which descends the energy",
    citation: "Geshkovski, Letrouit, Polyanskiy, Rigollet, arXiv:2312.10794, section 9.1",
    variant: Some(VARIANT),
    build: |spec| attention(spec, VARIANT),
};
