//! Orthonormal tokens.

use super::{LawFamily, Support, Tokens};
use crate::error::Error;

/// `x_i = e_i`, the start of the gamma curve (2312.10794, Theorem 6.8); needs `d >= n`.
pub static ENTRY: LawFamily = LawFamily {
    name: "orthonormal",
    summary: "the first n vectors of the standard basis (needs d >= n)",
    keys: &[],
    support: Support::Fixed,
    sample: |_, n, d, _| {
        if d < n {
            return Err(Error::parameter("d", d, format!("at least n = {n} for orthonormal tokens")));
        }
        Tokens::normalised(d, (0..n * d).map(|k| f64::from(u8::from(k / d == k % d))).collect())
    },
};
