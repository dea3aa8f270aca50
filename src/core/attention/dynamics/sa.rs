//! Self-attention dynamics (SA).

use super::{NamedDynamics, attention};
use crate::attention::{RowWeights, Variant};

const VARIANT: Variant = Variant::mutual(RowWeights::Softmax);

/// `x_i' = P_{x_i} sum_j A_ij V x_j, A_ij = m_j e^{beta <Qx_i,Kx_j>} / sum_k m_k e^{beta <Qx_i,Kx_k>}`.
pub static ENTRY: NamedDynamics = NamedDynamics {
    name: "sa",
    summary: "x_i' = P_{x_i} sum_j A_ij V x_j, A_ij = m_j e^{beta <Qx_i,Kx_j>} / sum_k m_k e^{beta <Qx_i,Kx_k>}",
    citation: "Geshkovski, Letrouit, Polyanskiy, Rigollet, arXiv:2312.10794, (2.3)",
    variant: Some(VARIANT),
    build: |spec| attention(spec, VARIANT),
};
