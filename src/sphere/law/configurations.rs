//! Laws without a density: special configurations of tokens.

use super::{LawFamily, Support, Tokens, key};
use crate::error::Error;
use std::f64::consts::TAU;

/// `x_i = e_i`, the start of the gamma curve (2312.10794, Theorem 6.8); needs `d >= n`.
pub(super) static ORTHONORMAL: LawFamily = LawFamily {
    name: "orthonormal",
    summary: "the first n vectors of the standard basis (needs d >= n)",
    keys: &[],
    support: Support::Fixed,
    sample: |_, n, d, _| {
        if d < n {
            return Err(Error::parameter(
                "d",
                d,
                format!("at least n = {n} for orthonormal tokens"),
            ));
        }
        Tokens::normalised(d, (0..n * d).map(|k| f64::from(u8::from(k / d == k % d))).collect())
    },
};

/// `<x_i, x_j> = rho` for all `i != j`, as `x_i` proportional to `sqrt(1 - rho) e_i + c sum_j e_j`;
/// needs `d >= n` and `rho > -1/(n-1)`.
pub(super) static EQUIANGULAR: LawFamily = LawFamily {
    name: "equiangular",
    summary: "all pairs have the inner product rho (needs d >= n)",
    keys: &[key("rho", &[0.5], (-1.0, 1.0), "common inner product, above -1/(n-1)")],
    support: Support::Fixed,
    sample: |values, n, d, _| {
        let rho = values[0];
        if d < n {
            return Err(Error::parameter(
                "d",
                d,
                format!("at least n = {n} for equiangular tokens"),
            ));
        }
        let nf = n as f64;
        let spread = 1.0 + (nf - 1.0) * rho;
        if spread < 0.0 {
            return Err(Error::parameter(
                "equiangular:rho",
                rho,
                format!("at least -1/(n-1) = {}", -1.0 / (nf - 1.0)),
            ));
        }
        // The square root of (1 - rho) I + rho 1 1^T is sqrt(1 - rho) I + c 1 1^T.
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

/// n vertices with inner products `-1/(n-1)`; needs `d >= n - 1`.
pub(super) static SIMPLEX: LawFamily = LawFamily {
    name: "simplex",
    summary: "the regular simplex: all pairs have the inner product -1/(n-1) (needs d >= n - 1)",
    keys: &[],
    support: Support::Fixed,
    sample: |_, n, d, _| {
        if n < 2 || d + 1 < n {
            return Err(Error::parameter(
                "n",
                n,
                format!("2 to d + 1 = {} tokens for a simplex", d + 1),
            ));
        }
        // Row i agrees with the rows before it up to coordinate i - 1, so every new coordinate
        // fixes one inner product.
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

/// Token i at angle `2 pi i / m` in the plane of the first two coordinates, plus optional Gaussian
/// noise of the angles. By default `m = n`; a smaller m gives m clusters of n/m tokens.
pub(super) static POLYGON: LawFamily = LawFamily {
    name: "polygon",
    summary: "a regular m-gon on a great circle, m = n by default, with optional noise of the angles",
    keys: &[
        key("m", &[0.0], (0.0, 1e6), "number of vertices; 0 means n"),
        key(
            "noise",
            &[0.0],
            (0.0, 1.0),
            "standard deviation of a Gaussian perturbation of the angles",
        ),
    ],
    support: Support::Fixed,
    sample: |values, n, d, stream| {
        let m = if values[0] < 1.0 { n } else { values[0] as usize };
        let mut x = vec![0.0; n * d];
        for (i, row) in x.chunks_exact_mut(d).enumerate() {
            let angle = TAU * (i % m) as f64 / m as f64 + values[1] * stream.normal();
            row[0] = angle.cos();
            row[1] = angle.sin();
        }
        Tokens::normalised(d, x)
    },
};
