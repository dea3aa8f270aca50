//! Causal self-attention (CSA): token i sees the tokens before it and itself.

use super::{Entry, attention};

/// `SA with sums over j <= i only`.
pub static ENTRY: Entry = Entry {
    name: "causal-sa",
    summary: "SA with sums over j <= i only",
    citation: "Karagodin, Polyanskiy, Rigollet, arXiv:2411.04990",
    unnormalised: false,
    build: |spec| attention(spec, true, true, 1.0),
};
