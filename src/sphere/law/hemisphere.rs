//! Uniform tokens of the open upper hemisphere.

use super::{LawFamily, Support, Tokens};

/// Uniform tokens reflected into `{x_1 > 0}`.
pub static ENTRY: LawFamily = LawFamily {
    name: "hemisphere",
    summary: "independent uniform tokens of the open hemisphere around e_1",
    keys: &[],
    support: Support::Rows(|_, row| row[0] > 0.0),
    sample: |_, n, d, stream| {
        let mut x = vec![0.0; n * d];
        stream.normals(&mut x);
        x.iter_mut().step_by(d).for_each(|v| *v = v.abs().max(f64::MIN_POSITIVE));
        Tokens::normalised(d, x)
    },
};
