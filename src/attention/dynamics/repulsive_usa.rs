//! Repulsive unnormalised self-attention: the flow of USA run backwards.

use super::{Entry, attention};

/// `USA with V replaced by -V: the reverse flow, which descends the energy`.
pub static ENTRY: Entry = Entry {
    name: "repulsive-usa",
    summary: "USA with V replaced by -V: the reverse flow, which descends the energy",
    citation: "Geshkovski, Letrouit, Polyanskiy, Rigollet, arXiv:2312.10794, section 9.1",
    unnormalised: true,
    build: |spec| attention(spec, false, false, -1.0),
};
