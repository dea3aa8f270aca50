//! Unnormalised self-attention dynamics (USA).

use super::{Entry, attention};

/// `x_i' = P_{x_i} sum_j m_j e^{beta <Qx_i,Kx_j>} V x_j`.
pub static ENTRY: Entry = Entry {
    name: "usa",
    summary: "x_i' = P_{x_i} sum_j m_j e^{beta <Qx_i,Kx_j>} V x_j",
    citation: "Geshkovski, Letrouit, Polyanskiy, Rigollet, arXiv:2312.10794, (3.5)",
    unnormalised: true,
    build: |spec| attention(spec, false, false, 1.0),
};
