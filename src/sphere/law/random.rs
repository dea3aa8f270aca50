//! Laws with a density.

use super::{LawFamily, Support, Tokens, perturbed, random_centres};
use crate::geometry::retract;
use crate::num::vector::scale;
use std::f64::consts::{PI, TAU};

/// `x_i` independent and uniform on `S^{d-1}`: normalised Gaussian vectors.
pub(super) static UNIFORM: LawFamily = LawFamily {
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

/// Uniform tokens reflected into `{x_1 > 0}`.
pub(super) static HEMISPHERE: LawFamily = LawFamily {
    name: "hemisphere",
    summary: "independent uniform tokens in the open hemisphere around e_1",
    keys: &[],
    support: Support::Rows(|_, row| row[0] > 0.0),
    sample: |_, n, d, stream| {
        let mut x = vec![0.0; n * d];
        stream.normals(&mut x);
        x.iter_mut().step_by(d).for_each(|v| *v = v.abs().max(f64::MIN_POSITIVE));
        Tokens::normalised(d, x)
    },
};

/// Uniform on the cap `{angle to e_1 <= radius}`: the polar angle by rejection from its density
/// proportional to `sin^{d-2}`, the direction uniform.
pub(super) static CAP: LawFamily = LawFamily {
    name: "cap",
    summary: "independent uniform tokens in the cap of given radius around e_1",
    keys: &[("radius", 0.5, 1e-12, PI, "geodesic radius in radians")],
    support: Support::Rows(|values, row| row[0] >= values[0].cos()),
    sample: |values, n, d, stream| {
        let radius = values[0];
        // Propose with density theta^{d-2} and accept with (sin t / t)^{d-2}; for small caps most
        // proposals are accepted.
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
            if !retract(row) {
                row[1] = 1.0;
            }
            scale(theta.sin(), row);
            row[0] = theta.cos();
        }
        Tokens::normalised(d, x)
    },
};

/// k centres, equally spaced on a great circle, with tokens spread around them by the given
/// standard deviation.
pub(super) static CLUSTERS: LawFamily = LawFamily {
    name: "clusters",
    summary: "k separated clusters with centres equally spaced on a great circle",
    keys: &[
        ("k", 3.0, 1.0, 1e6, "number of clusters"),
        ("spread", 0.05, 0.0, 10.0, "Gaussian spread before normalisation"),
    ],
    support: Support::Sphere,
    sample: |values, n, d, stream| {
        let k = values[0] as usize;
        let centres: Vec<Vec<f64>> = (0..k)
            .map(|q| {
                let angle = TAU * q as f64 / k as f64;
                (0..d).map(|c| [angle.cos(), angle.sin()].get(c).copied().unwrap_or(0.0)).collect()
            })
            .collect();
        perturbed(d, &centres, n, values[1], stream)
    },
};

/// k uniform random centres; each token is `normalise(centre + sigma z)`.
pub(super) static MIXTURE: LawFamily = LawFamily {
    name: "mixture",
    summary: "a Gaussian mixture with k random unit centres, normalised to the sphere",
    keys: &[
        ("k", 3.0, 1.0, 1e6, "number of components"),
        ("sigma", 0.3, 0.0, 1e3, "standard deviation of each coordinate"),
    ],
    support: Support::Sphere,
    sample: |values, n, d, stream| {
        let centres = random_centres(values[0] as usize, d, stream)?;
        perturbed(d, &centres, n, values[1], stream)
    },
};
