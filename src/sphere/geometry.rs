//! Geometry of the unit sphere of `R^d`, one point at a time: projection, retraction, exponential,
//! logarithm, transport and distance.

use crate::num::sum::dot;
use crate::num::vector::{axpy, divide, max_abs, norm, scale};

/// Squared chord `|x - y|^2`, with small relative error for nearby points (differences of close
/// numbers are exact).
#[inline]
pub fn chord2(x: &[f64], y: &[f64]) -> f64 {
    lanes(x, y, |a, b| a - b)
}

/// The chord of a geodesic distance, `2 sin(r/2)`.
#[inline]
pub fn chord_of(radius: f64) -> f64 {
    2.0 * (0.5 * radius).sin()
}

/// Squared antichord `|x + y|^2`, with small relative error for nearly antipodal points.
#[inline]
pub fn antichord2(x: &[f64], y: &[f64]) -> f64 {
    lanes(x, y, |a, b| a + b)
}

/// `sum_a op(x_a, y_a)^2` in eight independent sums, so that the additions of long rows overlap.
fn lanes(x: &[f64], y: &[f64], op: impl Fn(f64, f64) -> f64) -> f64 {
    let (mut acc, mut tail) = ([0.0f64; 8], 0.0);
    let (xs, ys) = (x.chunks_exact(8), y.chunks_exact(8));
    for (a, b) in xs.remainder().iter().zip(ys.remainder()) {
        let u = op(*a, *b);
        tail += u * u;
    }
    for (a, b) in xs.zip(ys) {
        for l in 0..8 {
            let u = op(a[l], b[l]);
            acc[l] += u * u;
        }
    }
    ((acc[0] + acc[4]) + (acc[1] + acc[5])) + ((acc[2] + acc[6]) + (acc[3] + acc[7])) + tail
}

/// Geodesic distance `2 atan2(|x - y|, |x + y|)` in `[0, pi]`. Error 4 ulp near 0 and 4u near pi,
/// where `arccos` loses half the digits.
///
/// ```
/// use metastable::sphere::geometry::dist;
/// let (x, y) = ([1.0, 0.0], [1.0, 1e-9]);
/// assert!((dist(&x, &y) / 1e-9 - 1.0).abs() < 1e-15);
/// ```
#[inline]
pub fn dist(x: &[f64], y: &[f64]) -> f64 {
    2.0 * chord2(x, y).sqrt().atan2(antichord2(x, y).sqrt())
}

/// `u <- P_x u = u - <x, u> x` for unit `x`.
#[inline]
pub fn project(x: &[f64], u: &mut [f64]) {
    let s = dot(x, u) / dot(x, x);
    axpy(-s, x, u);
}

/// Retraction to the sphere, `x <- x / |x|`. Returns false, and leaves `x` unchanged, if `x` is
/// zero or not finite.
pub fn retract(x: &mut [f64]) -> bool {
    let norm = norm(x);
    if norm.is_normal() && norm < 1e150 {
        if (norm - 1.0).abs() > 0.0 {
            divide(x, norm);
        }
        return true;
    }
    // If squares could over- or underflow, scale by the largest entry first.
    let top = max_abs(x);
    if top == 0.0 || !top.is_finite() {
        return false;
    }
    divide(x, top);
    retract(x)
}

/// Exponential map `exp_x(u) = cos|u| x + sin|u| u/|u|`.
#[inline]
pub fn exp(x: &[f64], u: &[f64]) -> Vec<f64> {
    let r = norm(u);
    let sinc = if r == 0.0 { 1.0 } else { r.sin() / r };
    let mut y: Vec<f64> = x.iter().zip(u).map(|(x, u)| r.cos() * x + sinc * u).collect();
    retract(&mut y);
    y
}

/// Logarithm: the tangent vector `u` at `x` with `exp_x(u) = y` and `|u| = dist(x, y)`; zero if the
/// points coincide or are exactly antipodal.
#[inline]
pub fn log(x: &[f64], y: &[f64]) -> Vec<f64> {
    let mut u = tangent_towards(x, y);
    let norm = norm(&u);
    scale(if norm == 0.0 { 0.0 } else { dist(x, y) / norm }, &mut u);
    u
}

/// `P_x y` by differences: from `y - x` for near points, from `y + x` for nearly antipodal ones.
///
/// **Accuracy** relative error 4u for every angle; `y - <x, y> x` would lose all digits near 0 and
/// pi.
#[inline]
pub fn tangent_towards(x: &[f64], y: &[f64]) -> Vec<f64> {
    let c2 = chord2(x, y);
    let (sign, half) = if c2 <= 2.0 { (1.0, 0.5 * c2) } else { (-1.0, -0.5 * antichord2(x, y)) };
    x.iter().zip(y).map(|(x, y)| (y - sign * x) + half * x).collect()
}

/// Parallel transport of the tangent `u` at `x` along the shortest geodesic to `y` (not antipodal):
/// `u - <y, u> (x + y) / (1 + <x, y>)`, an isometry of tangent spaces.
#[inline]
pub fn transport(x: &[f64], y: &[f64], u: &[f64]) -> Vec<f64> {
    let s = dot(y, u) / (0.5 * antichord2(x, y));
    u.iter().zip(x.iter().zip(y)).map(|(u, (x, y))| u - s * (x + y)).collect()
}

/// An orthonormal basis of the tangent space at `x`, `(d-1) x d` row-major, from one Householder
/// reflection. For d = 2 it is `(-x_2, x_1)`, so tangent coordinates are angles.
pub fn tangent_basis(x: &[f64]) -> Vec<f64> {
    let d = x.len();
    if d == 2 {
        return vec![-x[1], x[0]];
    }
    // The reflection that maps e_1 to -sign(x_1) x maps e_2, ..., e_d to a basis of the complement
    // of x.
    let sign = if x[0] < 0.0 { -1.0 } else { 1.0 };
    let mut w = x.to_vec();
    w[0] += sign;
    let scale = 2.0 / dot(&w, &w);
    let mut basis = vec![0.0; (d - 1) * d];
    for (a, row) in basis.chunks_exact_mut(d).enumerate() {
        for (b, entry) in row.iter_mut().enumerate() {
            *entry = f64::from(u8::from(b == a + 1)) - scale * w[a + 1] * w[b];
        }
    }
    basis
}
