//! Separated clusters.

use super::{LawFamily, Support, perturbed};

/// k centres equally spaced on a great circle, tokens spread around them with the given standard deviation.
pub static ENTRY: LawFamily = LawFamily {
    name: "clusters",
    summary: "k separated clusters with centres equally spaced on a great circle",
    keys: &[("k", 3.0, 1.0, 1e6, "number of clusters"), ("spread", 0.05, 0.0, 10.0, "Gaussian spread before normalisation")],
    support: Support::Sphere,
    sample: |values, n, d, stream| {
        let k = values[0] as usize;
        let centres: Vec<Vec<f64>> = (0..k)
            .map(|q| {
                let angle = std::f64::consts::TAU * q as f64 / k as f64;
                (0..d).map(|c| [angle.cos(), angle.sin()].get(c).copied().unwrap_or(0.0)).collect()
            })
            .collect();
        perturbed(d, &centres, n, values[1], stream)
    },
};
