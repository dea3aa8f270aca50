//! Uniform tokens of a cap.

use super::{LawFamily, Support, Tokens};
use crate::num::vector::scale;

/// Uniform on the cap `{angle to e_1 <= radius}`: the polar angle by rejection from its density `sin^{d-2}`, the direction uniform.
pub static ENTRY: LawFamily = LawFamily {
    name: "cap",
    summary: "independent uniform tokens of the cap of given radius around e_1",
    keys: &[("radius", 0.5, 1e-12, std::f64::consts::PI, "geodesic radius in radians")],
    support: Support::Rows(|values, row| row[0] >= values[0].cos()),
    sample: |values, n, d, stream| {
        let radius = values[0];
        // sin^{d-2} is at most its value at min(radius, pi/2); proposing with density theta^{d-2} accepts well for small caps.
        let power = d as f64 - 2.0;
        let mut x = vec![0.0; n * d];
        for row in x.chunks_exact_mut(d) {
            let theta = loop {
                let t = radius * stream.uniform().powf(1.0 / (power + 1.0));
                let ratio = if t == 0.0 { 1.0 } else { t.sin() / t };
                if stream.uniform() < ratio.powf(power) {
                    break t;
                }
            };
            stream.normals(&mut row[1..]);
            row[0] = 0.0;
            if !crate::geometry::retract(row) {
                row[1] = 1.0;
            }
            scale(theta.sin(), row);
            row[0] = theta.cos();
        }
        Tokens::normalised(d, x)
    },
};
