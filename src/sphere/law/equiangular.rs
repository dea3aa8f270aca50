//! Equiangular tokens.

use super::{LawFamily, Support, Tokens};
use crate::error::Error;

/// `<x_i, x_j> = rho` for all `i != j`, from `x_i ~ sqrt(1 - rho) e_i + c sum_j e_j`; needs `d >= n` and `rho > -1/(n-1)`.
pub static ENTRY: LawFamily = LawFamily {
    name: "equiangular",
    summary: "all pairs at the same inner product rho (needs d >= n)",
    keys: &[("rho", 0.5, -1.0, 1.0, "common inner product, above -1/(n-1)")],
    support: Support::Fixed,
    sample: |values, n, d, _| {
        let rho = values[0];
        if d < n {
            return Err(Error::parameter("d", d, format!("at least n = {n} for equiangular tokens")));
        }
        let nf = n as f64;
        let spread = 1.0 + (nf - 1.0) * rho;
        if spread < 0.0 {
            return Err(Error::parameter("equiangular:rho", rho, format!("at least -1/(n-1) = {}", -1.0 / (nf - 1.0))));
        }
        // The square root of (1 - rho) I + rho 1 1^T has diagonal part sqrt(1 - rho) and common part c.
        let a = (1.0 - rho).sqrt();
        let c = (spread.sqrt() - a) / nf;
        let mut x = vec![0.0; n * d];
        for (i, row) in x.chunks_exact_mut(d).enumerate() {
            row[..n].fill(c);
            row[i] += a;
        }
        Tokens::normalised(d, x)
    },
};
