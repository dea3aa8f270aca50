//! The regular simplex.

use super::{LawFamily, Support, Tokens};
use crate::error::Error;

/// n vertices at inner product `-1/(n-1)`, in the smallest possible dimension `n - 1 <= d`.
pub static ENTRY: LawFamily = LawFamily {
    name: "simplex",
    summary: "the regular simplex, all pairs at inner product -1/(n-1) (needs d >= n - 1)",
    keys: &[],
    support: Support::Fixed,
    sample: |_, n, d, _| {
        if n < 2 || d + 1 < n {
            return Err(Error::parameter("n", n, format!("2 to d + 1 = {} tokens for a simplex", d + 1)));
        }
        // Row i agrees with the rows before it up to coordinate i - 1, so every new coordinate fixes one inner product.
        let target = -1.0 / (n as f64 - 1.0);
        let mut x = vec![0.0; n * d];
        for i in 0..n {
            let mut norm2 = 0.0;
            for k in 0..i.min(d) {
                let inner: f64 = (0..k).map(|c| x[i * d + c] * x[k * d + c]).sum();
                x[i * d + k] = (target - inner) / x[k * d + k];
                norm2 += x[i * d + k].powi(2);
            }
            if i < d && i + 1 < n {
                x[i * d + i] = (1.0 - norm2).sqrt();
            }
        }
        Tokens::normalised(d, x)
    },
};
