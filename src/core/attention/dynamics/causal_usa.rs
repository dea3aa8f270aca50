//! Causal unnormalised self-attention.

use super::{NamedDynamics, attention};
use crate::attention::{RowWeights, Variant};

const VARIANT: Variant = Variant { causal: true, ..Variant::mutual(RowWeights::Exponential) };

/// `USA with sums over j <= i only`.
pub static ENTRY: NamedDynamics = NamedDynamics {
    name: "causal-usa",
    summary: "USA with sums over j <= i only",
    citation: "Karagodin, Polyanskiy, Rigollet, arXiv:2411.04990",
    variant: Some(VARIANT),
    build: |spec| attention(spec, VARIANT),
};
