//! The angle of two tokens under layers with new random linear maps, `x <- N(x + eta V x)` with
//! entries of V of variance `1/d`, and its diffusion limit (derived).
//!
//! `u = <x, y>` is a Markov chain: its next value depends on u and on the entries of V that map the
//! span of x and y to itself (for d = 3 also to the orthogonal direction). The transfer operator
//! acts on functions of u, here on Chebyshev modes.

use crate::num::dense::mul;
use crate::num::vector::axpy;
use std::f64::consts::PI;

/// Number of Chebyshev nodes and coefficients of a function on [-1, 1].
const MODES: usize = 48;

/// `cos((k + 1/2) pi/MODES)`.
fn node(k: usize) -> f64 {
    ((k as f64 + 0.5) * PI / MODES as f64).cos()
}

/// `T_0(u), T_1(u), ...`.
fn polynomials(u: f64) -> [f64; MODES] {
    let mut t = [1.0; MODES];
    t[1] = u;
    (2..MODES).for_each(|k| t[k] = 2.0 * u * t[k - 1] - t[k - 2]);
    t
}

/// The matrix that maps values at the nodes to coefficients.
fn coefficients() -> Vec<f64> {
    let entry =
        |k: usize, j: usize| if k == 0 { 1.0 } else { 2.0 } / MODES as f64 * (k as f64 * (j as f64 + 0.5) * PI / MODES as f64).cos();
    (0..MODES * MODES).map(|p| entry(p / MODES, p % MODES)).collect()
}

/// `1 - u^2` at the nodes.
fn squared_sine() -> Vec<f64> {
    (0..MODES).map(|k| 1.0 - node(k) * node(k)).collect()
}

/// Interpolates a function given at the nodes.
fn interpolate(values: &[f64], u: f64) -> f64 {
    mul(&coefficients(), values, 1).iter().zip(polynomials(u)).map(|(c, t)| c * t).sum()
}

/// `E (1 - u^2)` after `count` layers from `u0`, by Gauss-Hermite rules of four nodes for the
/// entries of V: exact up to `O(eta^8)` per layer. d is 2 or 3.
///
/// ```
/// use metastable::theory::random_layers::{diffusion, layers};
/// let exact = diffusion(2, 1.0, 0.2, 1.0);
/// let off = |count: usize| layers(2, count, 1.0 / count as f64, 0.2) - exact;
/// assert!((off(32) / off(64) - 2.0).abs() < 0.05 && off(64).abs() < 4e-3);
/// ```
pub fn layers(d: usize, count: usize, eta2: f64, u0: f64) -> f64 {
    let root = 6f64.sqrt();
    // Nodes of variance 1 and their weights.
    let rule: Vec<(f64, f64)> = [root, -root]
        .iter()
        .flat_map(|r| [1.0, -1.0].map(|s| (s * (3.0 + r).sqrt(), 1.0 / (4.0 * (3.0 + r)))))
        .collect();
    let (size, entries) = ((eta2 / d as f64).sqrt(), 2 * d as u32);
    let draw = |p: usize, e: u32| rule[p / 4usize.pow(e) % 4];
    let step: Vec<f64> = (0..MODES)
        .flat_map(|k| {
            let (u, mut row) = (node(k), [0.0; MODES]);
            let across = (1.0 - u * u).sqrt();
            for p in 0..4usize.pow(entries) {
                let weight: f64 = (0..entries).map(|e| draw(p, e).1).product();
                let entry = |e: usize| size * draw(p, e as u32).0;
                // The images of x and y = u x + across e, with e orthogonal to x.
                let (mut xx, mut xy, mut yy) = (0.0, 0.0, 0.0);
                for c in 0..d {
                    let x = entry(c) + if c == 0 { 1.0 } else { 0.0 };
                    let y = u * x + across * (entry(d + c) + if c == 1 { 1.0 } else { 0.0 });
                    (xx, xy, yy) = (xx + x * x, xy + x * y, yy + y * y);
                }
                let next = (xy / (xx * yy).sqrt()).clamp(-1.0, 1.0);
                axpy(weight, &polynomials(next), &mut row);
            }
            row
        })
        .collect();
    let modes = coefficients();
    interpolate(&(0..count).fold(squared_sine(), |f, _| mul(&step, &mul(&modes, &f, 1), 1)), u0)
}

/// `E (1 - u^2)` at time t (layers `eta^2`) of
/// `du = -(drift/d) u (1 - u^2) dt + (1 - u^2) sqrt(2/d) dB` from `u0`: `drift = 1` gives the
/// diffusion limit of the layers. **Accuracy** 1e-6 for `|u0| <= 0.8` and t up to 1.
pub fn diffusion(d: usize, t: f64, u0: f64, drift: f64) -> f64 {
    /// Number of time steps.
    const STEPS: usize = 1000;
    let modes = coefficients();
    let generator: Vec<f64> = (0..MODES)
        .flat_map(|j| {
            let angle = (j as f64 + 0.5) * PI / MODES as f64;
            let (sin, cos) = angle.sin_cos();
            (0..MODES).map(move |k| {
                let k = k as f64;
                let first = k * (k * angle).sin() / sin;
                let second = (first * cos - k * k * (k * angle).cos()) / (sin * sin);
                (sin.powi(4) * second - drift * cos * sin * sin * first) / d as f64
            })
        })
        .collect();
    let rate = |f: &[f64]| mul(&generator, &mul(&modes, f, 1), 1);
    let h = t / STEPS as f64;
    let moved = |f: &[f64], by: f64, v: &[f64]| -> Vec<f64> {
        f.iter().zip(v).map(|(f, v)| f + by * v).collect()
    };
    let step = |f: Vec<f64>, _| {
        let a = rate(&f);
        let b = rate(&moved(&f, 0.5 * h, &a));
        let c = rate(&moved(&f, 0.5 * h, &b));
        let e = rate(&moved(&f, h, &c));
        (0..MODES).map(|k| f[k] + h / 6.0 * (a[k] + 2.0 * b[k] + 2.0 * c[k] + e[k])).collect()
    };
    interpolate(&(0..STEPS).fold(squared_sine(), step), u0)
}
