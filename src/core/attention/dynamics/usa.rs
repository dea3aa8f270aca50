//! Unnormalised self-attention dynamics (USA).

use super::{NamedDynamics, attention};
use crate::attention::{RowWeights, Variant};

const VARIANT: Variant = Variant::mutual(RowWeights::Exponential);

/// `x_i' = P_{x_i} sum_j m_j e^{beta <Qx_i,Kx_j>} V x_j`.
pub static ENTRY: NamedDynamics = NamedDynamics {
    name: "usa",
    summary: "x_i' = P_{x_i} sum_j m_j e^{beta <Qx_i,Kx_j>} V x_j",
    citation: "Geshkovski, Letrouit, Polyanskiy, Rigollet, arXiv:2312.10794, (3.5)",
    variant: Some(VARIANT),
    build: |spec| attention(spec, VARIANT),
};
