//! Laws with a density.

use super::{LawFamily, Support, Tokens, key, perturbed, random_centres};
use crate::geometry::retract;
use crate::num::stream::Stream;
use crate::num::vector::scale;
use std::f64::consts::{FRAC_PI_2, PI, TAU};

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
    keys: &[key("radius", &[0.5], (1e-12, PI), "geodesic radius in radians")],
    support: Support::Rows(|values, row| row[0] >= values[0].cos()),
    sample: |values, n, d, stream| {
        let radius = values[0];
        let power = d as f64 - 2.0;
        let mut x = vec![0.0; n * d];
        for row in x.chunks_exact_mut(d) {
            let theta = polar_angle(radius, power, stream);
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

/// An angle in `[0, radius]` with density proportional to `sin^power`, by rejection. One of three
/// proposals accepts a thousandth at least.
fn polar_angle(radius: f64, power: f64, stream: &mut Stream) -> f64 {
    // Small caps and few dimensions, where most proposals are accepted: density t^power.
    let inner = radius.min(FRAC_PI_2);
    if (inner / radius).powf(power + 1.0) * (inner.sin() / inner).powf(power) >= 1e-3 {
        loop {
            let t = radius * stream.uniform().powf(1.0 / (power + 1.0));
            let ratio = if t == 0.0 { 1.0 } else { t.sin() / t };
            if stream.uniform() < ratio.powf(power) {
                return t;
            }
        }
    }
    let (sin, cos) = radius.sin_cos();
    loop {
        // log sin is concave: below its tangent at the rim, and below -(t - pi/2)^2 / 2. The first
        // bound is good where the mass lies at the rim.
        let (t, log_bound) = if cos > 0.0 && power * cos * cos > 1.0 {
            let t = radius + stream.uniform().max(f64::MIN_POSITIVE).ln() * sin / (power * cos);
            (t, sin.ln() + (t - radius) * cos / sin)
        } else {
            let shift = stream.normal() / power.sqrt();
            (FRAC_PI_2 + shift, -0.5 * shift * shift)
        };
        if (0.0..=radius).contains(&t)
            && stream.uniform() < (power * (t.sin().ln() - log_bound)).exp()
        {
            return t;
        }
    }
}

/// k centres, equally spaced on a great circle, with tokens spread around them by the given
/// standard deviation.
pub(super) static CLUSTERS: LawFamily = LawFamily {
    name: "clusters",
    summary: "k separated clusters with centres equally spaced on a great circle",
    keys: &[
        key("k", &[3.0], (1.0, 1e6), "number of clusters"),
        key("spread", &[0.05], (0.0, 10.0), "Gaussian spread before normalisation"),
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
        key("k", &[3.0], (1.0, 1e6), "number of components"),
        key("sigma", &[0.3], (0.0, 1e3), "standard deviation of each coordinate"),
    ],
    support: Support::Sphere,
    sample: |values, n, d, stream| {
        let centres = random_centres(values[0] as usize, d, stream)?;
        perturbed(d, &centres, n, values[1], stream)
    },
};

#[cfg(test)]
mod tests {
    use super::polar_angle;
    use crate::num::stream::Stream;
    use std::f64::consts::PI;

    /// Mean and variance of the polar angle by the midpoint rule, scaled by the largest density.
    fn moments(radius: f64, power: f64) -> (f64, f64) {
        let step = radius / 200_000.0;
        let places = (0..200_000).map(|k| (f64::from(k) + 0.5) * step);
        let top = radius.min(0.5 * PI).sin().ln();
        let (mut mass, mut first, mut second) = (0.0, 0.0, 0.0);
        for t in places {
            let w = (power * (t.sin().ln() - top)).exp();
            (mass, first, second) = (mass + w, first + w * t, second + w * t * t);
        }
        let mean = first / mass;
        (mean, second / mass - mean * mean)
    }

    #[test]
    fn polar_angles_of_caps_have_their_moments() {
        let mut stream = Stream::new(3, &["caps"]);
        for (radius, d) in
            [(1.5, 100), (1.0, 1000), (1.57, 10_000), (2.0, 500), (3.0, 64), (0.3, 20), (PI, 3)]
        {
            let power = f64::from(d) - 2.0;
            let count = 4000;
            let all: Vec<f64> =
                (0..count).map(|_| polar_angle(radius, power, &mut stream)).collect();
            assert!(all.iter().all(|t| (0.0..=radius).contains(t)));
            let mean = all.iter().sum::<f64>() / f64::from(count);
            let (expected, variance) = moments(radius, power);
            let error = (variance / f64::from(count)).sqrt();
            assert!((mean - expected).abs() < 5.0 * error, "{radius} {d}: {mean} {expected}");
            let spread = all.iter().map(|t| (t - expected).powi(2)).sum::<f64>() / f64::from(count);
            assert!((spread / variance - 1.0).abs() < 0.25, "{radius} {d}: {spread} {variance}");
        }
    }
}
