//! Runs over one Lipschitz time, layers of any step, the energy of one head, and derivatives along
//! geodesics.

use crate::sphere::geometry::exp;
use crate::theorem::prelude::*;

/// Allowed deviation of two runs over one Lipschitz time. The error of a run is at most `e` times
/// the tolerance 1e-13 times its path length, at most 1/2. There are two runs, and a factor 3
/// accounts for the estimate of the local error.
pub const ALLOWED: f64 = 8e-13;

/// Largest difference of a coordinate.
pub fn deviation(a: &Tokens, b: &Tokens) -> f64 {
    a.coordinates().iter().zip(b.coordinates()).map(|(a, b)| (a - b).abs()).fold(0.0, nan_max)
}

/// A step of a layer: mean shift, or log-uniform over nine decades.
pub fn step(ctx: &mut Context) -> f64 {
    if ctx.index(6) == 0 { f64::INFINITY } else { ctx.log_uniform_in(1e-3, 1e6) }
}

/// The energy of one head with `Q^T K = V = b`:
/// `(1/(2 beta)) sum_ij m_i m_j e^{beta <x_i, b x_j>}`.
pub fn energy(beta: f64, b: &[f64], x: &Tokens) -> f64 {
    let images: Vec<Vec<f64>> = x.rows().map(|r| mul(b, r, 1)).collect();
    let m = x.masses();
    let pair = |i: usize, j: usize| m[i] * m[j] * (beta * dot(x.row(i), &images[j])).exp();
    (0..x.n()).map(|i| (0..x.n()).map(|j| pair(i, j)).sum::<f64>()).sum::<f64>() / (2.0 * beta)
}

/// The derivative of `f` along the geodesics with these velocities, by Richardson's rule for
/// central differences in which the fastest token moves by this length and by twice as much. The
/// error of one difference, the third derivative times the squared step, is not small against the
/// derivative near a critical point.
pub fn derivative_along(
    x: &Tokens,
    velocities: &[f64],
    length: f64,
    f: impl Fn(&Tokens) -> f64,
) -> Result<f64> {
    let step = length / max_norm(velocities, x.d());
    let at = |steps: f64| -> Result<f64> {
        let rows = x
            .rows()
            .zip(velocities.chunks_exact(x.d()))
            .flat_map(|(x, v)| exp(x, &v.iter().map(|v| steps * step * v).collect::<Vec<_>>()))
            .collect();
        Ok(f(&Tokens::normalised(x.d(), rows)?.with_masses(x.masses())?))
    };
    let slope =
        |steps: f64| -> Result<f64> { Ok((at(steps)? - at(-steps)?) / (2.0 * steps * step)) };
    Ok((4.0 * slope(1.0)? - slope(2.0)?) / 3.0)
}

/// `sum_i m_i |v_i|^2`.
pub fn squared_speed(x: &Tokens, velocities: &[f64]) -> f64 {
    velocities.chunks_exact(x.d()).zip(x.masses()).map(|(v, m)| m * dot(v, v)).sum()
}
