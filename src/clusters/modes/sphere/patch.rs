//! The estimate near a point of S^2: its Taylor polynomial in a chart, and a bound for what the polynomial leaves out.
//!
//! In the orthographic chart `x = a e_1 + b e_2 + sqrt(1 - r^2) c` about c a sample y has `<x, y> = a q_1 + b q_2 + p - p s`, with `q` its tangent part, `p = <c, y>` and
//! `s = 1 - sqrt(1 - r^2)`, `r^2 = a^2 + b^2`. Moments `sum w (beta q_1)^i (beta q_2)^k (-beta p)^l / (i! k! l!)` of the samples give the polynomial. The part of degree k of one sample
//! is at most the coefficient of `t^k` in `w exp(A t + beta s(R t))`, `A = beta |q| R`, on the disc of radius R, its first derivatives k/R times and its second ones `k(k-1)/R^2` times that
//! (Banach 1938: homogeneous polynomials on Hilbert spaces); all parts above degree P together are at most `t^{-P-1}` times the whole series at `t > 1`.

use crate::num::simd::{Lanes, Level, Task};
use crate::sphere::Tokens;
#[cfg(test)]
use crate::sphere::geometry::chord2;
use std::f64::consts::LOG2_E;

/// Order of the polynomials.
pub(super) const ORDER: usize = 10;
const WIDTH: usize = ORDER + 1;
/// Moments `(l, i, k)`, `i + k + 2 l <= ORDER`, in this order.
const MOMENTS: usize = 161;
/// Where the series of the bounds are evaluated (t of the module page): the first serves the rounding, one of the others the tail. Gaussians of width `beta^{-1/2}` are best
/// bounded a few widths out, and the chart ends at radius 1.
fn points(beta: f64, radius: f64) -> [f64; 4] {
    let out = |widths: f64, most: f64| ((widths / beta.sqrt()).min(most) / radius).max(1.2);
    [1.2, out(1.8, 0.5), out(2.6, 0.7), out(3.4, 0.9)]
}

/// Coefficients `c[i][k]` of `a^i b^k`, `i + k <= ORDER`.
pub(super) type Polynomial = [[f64; WIDTH]; WIDTH];
type Moments = [Polynomial; ORDER / 2 + 1];

/// The estimate in a chart.
pub(super) struct Patch {
    pub centre: [f64; 3],
    /// Tangent axes of the chart.
    pub axes: [[f64; 3]; 2],
    pub polynomial: Polynomial,
    /// Radius of the disc on which the bounds hold.
    pub radius: f64,
    /// Bounds of what the polynomial lacks in any directional derivative of first and of second order.
    pub lacks: (f64, f64),
}

/// `1 - sqrt(1 - r^2)`, whose Taylor coefficients are all positive.
fn sagitta(r: f64) -> f64 {
    r * r / (1.0 + (1.0 - r * r).sqrt())
}

impl Patch {
    /// From the samples `near`; the `far.0` others lie where their kernel is below `e^{-far.1}`.
    pub fn new(samples: &Tokens, beta: f64, place: ([f64; 3], [[f64; 3]; 2]), near: &[u32], far: (usize, f64), radius: f64) -> Self {
        let (centre, axes) = place;
        let scale = samples.n() as f64;
        let padded = near.len().next_multiple_of(16);
        let mut columns = [vec![centre[0]; padded], vec![centre[1]; padded], vec![centre[2]; padded], vec![0.0; padded]];
        for (slot, &i) in near.iter().enumerate() {
            let y = samples.row(i as usize);
            (0..3).for_each(|k| columns[k][slot] = y[k]);
            columns[3][slot] = scale * samples.masses()[i as usize];
        }
        let points = points(beta, radius);
        let growth = 0.5 * beta * (radius * points[3]).powi(2);
        let gather = Gather { columns: &columns, centre, axes, beta, reaches: points.map(|t| t * radius), growth };
        let (moments, series) = Level::best().run(gather);
        let order = ORDER as f64 + 1.0;
        let whole = |k: usize| {
            let reach = radius * points[k];
            if reach < 0.95 { series[k] * (growth + beta * sagitta(reach)).exp() } else { f64::INFINITY }
        };
        let tail = (0..4).map(|k| whole(k) * points[k].powf(-order)).fold(f64::INFINITY, f64::min);
        // A far sample of kernel e^{-g} at the centre: |beta q| <= sqrt(2 beta g).
        let reach = (2.0 * beta * far.1).sqrt() * points[0] * radius + beta * sagitta(points[0] * radius);
        let heaviest = samples.masses().iter().fold(0.0, |m: f64, v| m.max(*v));
        let outside = far.0 as f64 * (reach - far.1).exp() * scale * heaviest;
        // Sums of n terms, powers and the exponential: a rounding each, and some. The largest k t^{-k} and k^2 t^{-k} at t = 1.2 are 2.1 and 17.
        let rounding = outside + (near.len() as f64 + 500.0) * f64::EPSILON * whole(0);
        let first = 1.01 * (order * tail + 2.1 * rounding) / radius;
        let second = 1.01 * (order * (order - 1.0) * tail + 17.0 * rounding) / (radius * radius);
        Self { centre, axes, polynomial: assemble(&unpacked(&moments)), radius, lacks: (first, second) }
    }

    /// The point of the sphere at chart coordinates.
    pub fn point(&self, at: [f64; 2]) -> [f64; 3] {
        let up = 1.0 - sagitta(at[0].hypot(at[1]).min(1.0));
        std::array::from_fn(|k| at[0] * self.axes[0][k] + at[1] * self.axes[1][k] + up * self.centre[k])
    }
}

/// Moments of the samples in `columns` (coordinates, then weights), and `e^{-growth} sum w e^{A t}` for each of the reaches `R t`.
struct Gather<'a> {
    columns: &'a [Vec<f64>; 4],
    centre: [f64; 3],
    axes: [[f64; 3]; 2],
    beta: f64,
    reaches: [f64; 4],
    /// `A t - beta |y - c|^2 / 2` is at most this.
    growth: f64,
}

impl Task for Gather<'_> {
    type F = f64;
    type Output = ([f64; MOMENTS], [f64; 4]);

    #[inline(always)]
    fn run<L: Lanes<F = f64>>(self, l: L) -> Self::Output {
        let columns: [&[L::V]; 4] = std::array::from_fn(|k| L::view(&self.columns[k]));
        let centre = self.centre.map(|v| l.splat(v));
        let axes = self.axes.map(|axis| axis.map(|v| l.splat(self.beta * v)));
        let (half, minus_beta) = (l.splat(-0.5 * self.beta * LOG2_E), l.splat(-self.beta));
        let inverse: [L::V; WIDTH] = std::array::from_fn(|k| l.splat(1.0 / (k as f64).max(1.0)));
        let mut moments = [l.zero(); MOMENTS];
        let mut series = [l.zero(); 4];
        for (n, &mass) in columns[3].iter().enumerate() {
            let z: [L::V; 3] = std::array::from_fn(|k| l.sub(columns[k][n], centre[k]));
            let product = |e: &[L::V; 3]| l.fma(e[0], z[0], l.fma(e[1], z[1], l.mul(e[2], z[2])));
            let (square, q1, q2) = (product(&z), product(&axes[0]), product(&axes[1]));
            let log = l.mul(half, square);
            let mut level = l.mul(mass, l.exp2(log));
            // A / R and -beta p = beta (|y - c|^2 / 2 - 1).
            let slope = l.sqrt(l.fma(q1, q1, l.mul(q2, q2)));
            let radial = l.fma(l.splat(0.5 * self.beta), square, minus_beta);
            for (sum, reach) in series.iter_mut().zip(self.reaches) {
                let exponent = l.fma(l.splat(reach * LOG2_E), slope, l.sub(log, l.splat(self.growth * LOG2_E)));
                *sum = l.fma(mass, l.exp2(l.min(exponent, l.zero())), *sum);
            }
            let mut second = [l.splat(1.0); WIDTH];
            for k in 1..WIDTH {
                second[k] = l.mul(second[k - 1], l.mul(q2, inverse[k]));
            }
            let mut place = 0;
            for radials in 0..=ORDER / 2 {
                let most = ORDER - 2 * radials;
                let mut first = level;
                for i in 0..=most {
                    for power in &second[..=most - i] {
                        moments[place] = l.fma(first, *power, moments[place]);
                        place += 1;
                    }
                    first = l.mul(first, l.mul(q1, inverse[(i + 1).min(ORDER)]));
                }
                level = l.mul(level, l.mul(radial, inverse[radials + 1]));
            }
        }
        (moments.map(|v| l.sum(v)), series.map(|v| l.sum(v)))
    }
}

/// Moments by `l`, then `i` and `k`.
fn unpacked(moments: &[f64; MOMENTS]) -> Moments {
    let mut out = [[[0.0; WIDTH]; WIDTH]; ORDER / 2 + 1];
    let mut next = moments.iter();
    for (l, table) in out.iter_mut().enumerate() {
        let most = ORDER - 2 * l;
        for (i, row) in table.iter_mut().enumerate().take(most + 1) {
            row[..=most - i].iter_mut().zip(&mut next).for_each(|(v, m)| *v = *m);
        }
    }
    out
}

/// The polynomial `sum_{ikl} M_ikl a^i b^k s^l` up to its order.
fn assemble(moments: &Moments) -> Polynomial {
    // s = sum_m g_m r^{2m}: 1/2, 1/8, 1/16, 5/128, 7/256.
    let series = [0.0, 0.5, 0.125, 0.0625, 5.0 / 128.0, 7.0 / 256.0];
    let mut power = [0.0; ORDER / 2 + 1];
    power[0] = 1.0;
    let mut out = moments[0];
    for table in &moments[1..] {
        let mut next = [0.0; ORDER / 2 + 1];
        for (m, p) in power.iter().enumerate() {
            (m..=ORDER / 2).for_each(|n| next[n] += p * series[n - m]);
        }
        power = next;
        for (m, g) in power.iter().enumerate().filter(|(_, g)| **g != 0.0) {
            // r^{2m} = sum_j binomial(m, j) a^{2j} b^{2m - 2j}.
            let mut binomial = 1.0;
            for j in 0..=m {
                for i in 0..=(ORDER - 2 * m) {
                    for k in 0..=(ORDER - 2 * m - i) {
                        out[i + 2 * j][k + 2 * (m - j)] += g * binomial * table[i][k];
                    }
                }
                binomial *= (m - j) as f64 / (j + 1) as f64;
            }
        }
    }
    out
}

/// The same polynomial about another point.
pub(super) fn shifted(c: &Polynomial, at: [f64; 2]) -> Polynomial {
    let mut out = *c;
    for row in &mut out {
        taylor_shift(row, at[1]);
    }
    for k in 0..WIDTH {
        let mut column: [f64; WIDTH] = std::array::from_fn(|i| out[i][k]);
        taylor_shift(&mut column, at[0]);
        column.iter().zip(&mut out).for_each(|(v, row)| row[k] = *v);
    }
    out
}

/// Coefficients of `p(x + h)`.
fn taylor_shift(p: &mut [f64; WIDTH], h: f64) {
    for i in 0..ORDER {
        for j in (i..ORDER).rev() {
            p[j] += h * p[j + 1];
        }
    }
}

/// How much first derivatives (a, b) and the Hessian (in norm) of a polynomial may vary on the square of half side k about its origin.
pub(super) fn spreads(c: &Polynomial, k: f64) -> ([f64; 2], f64) {
    let (mut slope, mut hessian) = ([0.0; 2], [0.0; 3]);
    let mut powers = [1.0; WIDTH];
    (1..WIDTH).for_each(|m| powers[m] = powers[m - 1] * k);
    for i in 0..WIDTH {
        for j in 0..WIDTH - i {
            let (size, x, y) = (c[i][j].abs(), i as f64, j as f64);
            if i + j >= 2 {
                slope[0] += x * size * powers[i + j - 1];
                slope[1] += y * size * powers[i + j - 1];
            }
            if i + j >= 3 {
                hessian[0] += x * (x - 1.0).max(0.0) * size * powers[i + j - 2];
                hessian[1] += x * y * size * powers[i + j - 2];
                hessian[2] += y * (y - 1.0).max(0.0) * size * powers[i + j - 2];
            }
        }
    }
    (slope, hessian[1] + hessian[0].max(hessian[2]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sphere::geometry::retract;

    #[test]
    fn polynomials_meet_the_estimate_within_their_bound() {
        let x = Tokens::normalised(3, vec![0.1, 0.2, 1.0, -0.2, 0.1, 0.9, 0.3, 0.3, 0.8, -1.0, 0.3, 0.4, 0.1, -0.2, -1.0]).expect("tokens");
        for beta in [0.5, 8.0, 300.0] {
            let mut c = [0.05, 0.1, 1.0];
            retract(&mut c);
            let mut e1 = [c[2], 0.0, -c[0]];
            retract(&mut e1);
            let e2 = [c[1] * e1[2] - c[2] * e1[1], c[2] * e1[0] - c[0] * e1[2], c[0] * e1[1] - c[1] * e1[0]];
            let radius = (0.4 / f64::sqrt(beta)).min(0.2);
            let patch = Patch::new(&x, beta, (c, [e1, e2]), &[0, 1, 2, 3, 4], (0, 50.0), radius);
            let exact = |at: [f64; 2]| x.rows().map(|y| (-0.5 * beta * chord2(&patch.point(at), y)).exp()).sum::<f64>();
            let at = [0.6 * radius, -0.7 * radius];
            let here = shifted(&patch.polynomial, at);
            // The bound is of derivatives; over the radius it bounds differences of values.
            let difference = (here[0][0] - patch.polynomial[0][0]) - (exact(at) - exact([0.0; 2]));
            assert!(difference.abs() <= patch.lacks.0 * radius + 1e-15 * exact(at), "{beta}: {difference} {:?}", patch.lacks);
            assert!(patch.lacks.0 < 1e-2 * exact(at) * beta.sqrt().max(1.0));
            // Central differences: 1e-10 from rounding over h.
            let h = 1e-5 * radius;
            let slope = (exact([at[0] + h, at[1]]) - exact([at[0] - h, at[1]])) / (2.0 * h);
            assert!((here[1][0] - slope).abs() <= patch.lacks.0 + 1e-9 * exact(at) / radius, "{beta}: {} {slope}", here[1][0]);
        }
    }
}
