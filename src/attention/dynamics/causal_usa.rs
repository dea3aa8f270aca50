//! Causal unnormalised self-attention.

use super::{Entry, attention};

/// `USA with sums over j <= i only`.
pub static ENTRY: Entry = Entry {
    name: "causal-usa",
    summary: "USA with sums over j <= i only",
    citation: "Karagodin, Polyanskiy, Rigollet, arXiv:2411.04990",
    unnormalised: true,
    build: |spec| attention(spec, false, true, 1.0),
};
