//! Independent uniform tokens.

use super::{LawFamily, Support, Tokens};

/// `x_i` iid uniform on `S^{d-1}`: normalised Gaussian vectors.
pub static ENTRY: LawFamily = LawFamily {
    name: "uniform",
    summary: "independent uniform tokens on the sphere",
    keys: &[],
    support: Support::Sphere,
    sample: |_, n, d, stream| {
        let mut x = vec![0.0; n * d];
        stream.normals(&mut x);
        Tokens::normalised(d, x)
    },
};
