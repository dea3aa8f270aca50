//! A Gaussian mixture pushed to the sphere.

use super::{LawFamily, Support, perturbed, random_centres};

/// k uniform random centres; each token is `normalise(centre + sigma z)`.
pub static ENTRY: LawFamily = LawFamily {
    name: "mixture",
    summary: "a Gaussian mixture with k random unit centres, normalised to the sphere",
    keys: &[("k", 3.0, 1.0, 1e6, "number of components"), ("sigma", 0.3, 0.0, 1e3, "standard deviation of each coordinate")],
    support: Support::Sphere,
    sample: |values, n, d, stream| {
        let centres = random_centres(values[0] as usize, d, stream)?;
        perturbed(d, &centres, n, values[1], stream)
    },
};
