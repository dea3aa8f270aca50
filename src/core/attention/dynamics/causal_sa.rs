//! Causal self-attention (CSA): token i sees the tokens before it and itself.

use super::{NamedDynamics, attention};
use crate::attention::{RowWeights, Variant};

const VARIANT: Variant = Variant { causal: true, ..Variant::mutual(RowWeights::Softmax) };

/// `SA with sums over j <= i only`.
pub static ENTRY: NamedDynamics = NamedDynamics {
    name: "causal-sa",
    summary: "SA with sums over j <= i only",
    citation: "Karagodin, Polyanskiy, Rigollet, arXiv:2411.04990",
    variant: Some(VARIANT),
    build: |spec| attention(spec, VARIANT),
};
