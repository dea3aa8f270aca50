//! The regular polygon on a great circle.

use super::{LawFamily, Support, Tokens};

/// Token i at angle `2 pi i / m` of the first coordinate plane, `m = n` unless `m` is given (then clusters of n/m tokens), plus an
/// optional Gaussian perturbation of the angles.
pub static ENTRY: LawFamily = LawFamily {
    name: "polygon",
    summary: "a regular m-gon on a great circle, m = n by default, with an optional angular noise",
    keys: &[
        ("m", 0.0, 0.0, 1e6, "number of vertices; 0 means n"),
        ("noise", 0.0, 0.0, 1.0, "standard deviation of a Gaussian perturbation of the angles"),
    ],
    support: Support::Fixed,
    sample: |values, n, d, stream| {
        let m = if values[0] < 1.0 { n } else { values[0] as usize };
        let mut x = vec![0.0; n * d];
        for (i, row) in x.chunks_exact_mut(d).enumerate() {
            let angle = std::f64::consts::TAU * (i % m) as f64 / m as f64 + values[1] * stream.normal();
            row[0] = angle.cos();
            row[1] = angle.sin();
        }
        Tokens::normalised(d, x)
    },
};
