//! Causal unnormalised self-attention.

use super::{AttentionDynamics, Entry};

/// `USA with sums over j <= i only`.
pub static ENTRY: Entry = Entry {
    name: "causal-usa",
    summary: "USA with sums over j <= i only",
    citation: "Karagodin, Polyanskiy, Rigollet, arXiv:2411.04990",
    unnormalised: true,
    build: |spec| AttentionDynamics::boxed(spec, false, true, 1.0),
};
