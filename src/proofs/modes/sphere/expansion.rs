//! The density estimate near a point of S^2: its Taylor polynomial in a chart, and a bound of the
//! remainder.
//!
//! In the orthographic chart `x = a e_1 + b e_2 + sqrt(1 - r^2) c` about c a sample y has
//! `beta <x, y> = a q_1 + b q_2 + p - p s`, with `q` its tangent part times beta, `p = beta <c, y>`
//! and `s = 1 - sqrt(1 - r^2)`, `r^2 = a^2 + b^2`. With `s = r^2/2 + g`, `g = r^4/8 + ...`, the
//! estimate is `sum w e^{a q_1 - p a^2/2} e^{b q_2 - p b^2/2} e^{-p g}`: moments
//! `sum w h_i(q_1) h_k(q_2) (-p)^l / l!` with Hermite polynomials `h_i` give its Taylor polynomial.
//!
//! The part of degree k of one sample is at most the coefficient of `t^k` in
//! `w exp(A t + p s(R t))`, `A = |q| R`, on the disc of radius R, its first derivatives at most k/R
//! times and its second derivatives `k(k-1)/R^2` times that (Banach 1938: homogeneous polynomials
//! on Hilbert spaces); all parts above degree P together are at most `t^{-P-1}` times the whole
//! series at `t > 1`.

use super::super::bounds::round_up;
use super::chart::{Chart, sagitta};
use super::sources::Columns;
use crate::num::interval::Interval;
use crate::num::simd::{Isa, SimdKernel, SimdOps};
use std::f64::consts::LOG2_E;

/// Order of the polynomials.
pub(super) const ORDER: usize = 10;
/// Number of coefficients of a polynomial in one variable.
const WIDTH: usize = ORDER + 1;
/// Largest `i + k` of the moments by l: `g^l` begins with `r^{4 l}`.
const DEGREES: [usize; 3] = [10, 6, 2];
/// Moments `(l, i, k)` in this order.
const MOMENTS: usize = 66 + 28 + 6;
/// Number of vectors of samples whose Hermite polynomials are kept at a time.
const BATCH: usize = 8;

/// The radii `R t` at which the series of the bounds are evaluated: 1, 3, 4 and 6 times the first.
/// The first bounds the rounding, the best of all bounds the tail. Gaussians of width `beta^{-1/2}`
/// are best bounded a few widths out, and the chart ends at radius 1.
fn radii(beta: f64, radius: f64) -> [f64; 4] {
    let first = (0.6 / beta.sqrt()).min(0.15).max(1.2 * radius);
    [first, 3.0 * first, 4.0 * first, 6.0 * first]
}

/// Coefficients `c[i][k]` of `a^i b^k`, `i + k <= ORDER`.
pub(super) type Polynomial = [[f64; WIDTH]; WIDTH];
type Moments = [Polynomial; 3];

/// The density estimate in a chart.
pub(super) struct Expansion {
    pub chart: Chart,
    pub polynomial: Polynomial,
    /// Radius of the disc on which the bounds hold.
    pub radius: f64,
    /// Bounds of the remainder in any directional derivative of first and of second order.
    pub remainder: (f64, f64),
}

/// The error of the points from which a polynomial is made.
pub(super) struct Omitted {
    /// Mass of the omitted samples; their kernel at the centre is below `e^{-range}`.
    pub mass: f64,
    pub range: f64,
    /// Largest distance of a point from the centre.
    pub farthest: f64,
    /// Bound of the change of the estimate by replaced samples, and the radius of the complex discs
    /// on which it holds.
    pub replacement_error: (f64, f64),
}

impl Expansion {
    /// From points and weights by column; their number is a multiple of 64.
    pub fn new(points: &Columns, beta: f64, chart: Chart, omitted: &Omitted, radius: f64) -> Self {
        let radii = radii(beta, radius);
        let growth = 0.5 * beta * radii[3] * radii[3];
        let gather = Gather { columns: points, chart, beta, step: radii[0], growth };
        let (moments, series) = Isa::best().run(gather);
        let whole = |k: usize| majorant(series[k], points[0].len(), growth, beta, radii[k]);
        let tail =
            (0..4).map(|k| tail_bound(whole(k), radii[k] / radius)).fold(f64::INFINITY, f64::min);
        let rounding = omitted_bound(beta, omitted, radii[0])
            + rounding_bound(beta, radii[0], omitted.farthest, points[0].len()) * whole(0);
        // k t^{-k} and k (k - 1) t^{-k} are largest before k = 60 if t > 1.04.
        let t = radii[0] / radius;
        let (mut factors, mut power) =
            (if t > 1.04 { (0.0f64, 0.0f64) } else { (f64::INFINITY, f64::INFINITY) }, 1.0);
        for k in 1..60 {
            power /= t;
            let part = f64::from(k) * power;
            factors = (factors.0.max(part), factors.1.max(f64::from(k - 1) * part));
        }
        // A function below `sup` on the complex disc of radius R t has derivatives below sup times
        // sum k t^{-k} / R and sum k (k - 1) t^{-k} / R^2.
        let (sup, t) = (omitted.replacement_error.0, omitted.replacement_error.1 / radius);
        let replacement_error = match (sup > 0.0, t > 1.0) {
            (false, _) => (0.0, 0.0),
            (true, true) => (
                sup * t / ((t - 1.0) * (t - 1.0)),
                2.0 * sup * t / ((t - 1.0) * (t - 1.0) * (t - 1.0)),
            ),
            (true, false) => (f64::INFINITY, f64::INFINITY),
        };
        let order = ORDER as f64 + 1.0;
        // Products and sums of nonnegative bounds, and differences t - 1 of numbers that are not
        // close: 1 per cent far exceeds their rounding.
        let first = 1.01 * (order * tail + factors.0 * rounding + replacement_error.0) / radius;
        let second = 1.01
            * (order * (order - 1.0) * tail + factors.1 * rounding + replacement_error.1)
            / (radius * radius);
        Self {
            chart,
            polynomial: assemble(&unpacked(&moments)),
            radius,
            remainder: (first, second),
        }
    }
}

/// The majorant series of all samples on the disc of radius `reach`, from its sum in vector lanes,
/// or infinity beyond the chart. The summands and their sum have a relative error of 1e-12
/// (exponents below 2000 rounded a few times), and a summand that underflows is below `2^{-1000}`.
fn majorant(series: f64, points: usize, growth: f64, beta: f64, reach: f64) -> f64 {
    if reach >= 0.95 {
        return f64::INFINITY;
    }
    let exponent = Interval::exact(growth) + Interval::exact(round_up(beta * sagitta(reach), 8));
    // Only the upper end is needed.
    let top = Interval::exact(exponent.hi()).exp();
    (Interval::exact(series * (1.0 + 1e-9) + 1e-290 * points as f64) * top).hi()
}

/// `whole t^{-ORDER - 1}`: a bound of the sum of all parts above the order.
fn tail_bound(whole: f64, t: f64) -> f64 {
    let inverse = Interval::exact(1.0) / Interval::exact(t * (1.0 - 1e-15));
    (0..=ORDER).fold(Interval::exact(whole), |p, _| p * inverse).hi()
}

/// Bound of the omitted samples on the complex disc of radius `reach`: a sample with kernel
/// `e^{-g}` at the centre has `|q| <= sqrt(2 beta g)`, and `sqrt(2 beta g) reach - g` decreases
/// from `2 g = beta reach^2` on.
fn omitted_bound(beta: f64, omitted: &Omitted, reach: f64) -> f64 {
    if omitted.mass <= 0.0 {
        return 0.0;
    }
    let growth = round_up((2.0 * beta * omitted.range).sqrt() * reach, 6)
        + round_up(beta * sagitta(reach), 8);
    let decreases = 2.0 * omitted.range > beta * reach * reach * (1.0 + 1e-12);
    let exponent = if decreases {
        Interval::exact(growth) - Interval::exact(omitted.range)
    } else {
        Interval::exact(f64::INFINITY)
    };
    (exponent.exp() * Interval::exact(omitted.mass)).hi()
}

/// Bound of all rounding, as a fraction of the majorant on the disc of radius `reach`.
///
/// In the exponent of a point: the square of a rounded difference, the constant of base 2, and the
/// length of a rounded centre, `10 eps` of the largest exponent; inner products with rounded axes
/// that are orthonormal to 3 eps, `16 eps` of the largest `beta |z| reach`. In addition, in eps:
/// seven exponentials of three ([`crate::num::exp`]), the common factor `e^{growth}` (100), Hermite
/// polynomials (50), the table of powers and binomials (50), weights; two shifts to other points
/// (40 of every coefficient, ten degrees: 400) and the Hessian's eigenvalue (100); a half per
/// addition. Their sum is below 1200.
fn rounding_bound(beta: f64, reach: f64, farthest: f64, points: usize) -> f64 {
    let drop = 0.5 * beta * farthest * farthest;
    let fraction =
        (points as f64 + 1200.0 + 10.0 * drop + 16.0 * beta * farthest * reach) * f64::EPSILON;
    // e^x - 1 <= 1.01 x up to 0.01.
    if fraction < 0.01 { 1.02 * fraction } else { f64::INFINITY }
}

/// Moments of the points in `columns`, and `e^{-growth} sum |w| e^{A t}` at 1, 3, 4 and 6 steps.
struct Gather<'a> {
    columns: &'a Columns,
    chart: Chart,
    beta: f64,
    /// The first of the radii `R t`.
    step: f64,
    /// `A t - beta |y - c|^2 / 2` is at most this.
    growth: f64,
}

impl SimdKernel for Gather<'_> {
    type F = f64;
    type Output = ([f64; MOMENTS], [f64; 4]);

    #[inline(always)]
    fn run<L: SimdOps<F = f64>>(self, l: L) -> Self::Output {
        let columns: [&[L::V]; 4] = std::array::from_fn(|k| L::view(&self.columns[k]));
        let centre = self.chart.centre.map(|v| l.splat(v));
        let axes = self.chart.axes.map(|axis| axis.map(|v| l.splat(self.beta * v)));
        let (half, minus_beta, zero) = (l.splat(0.5 * self.beta), l.splat(-self.beta), l.zero());
        let (shift, rise, step) = (
            l.splat(-self.growth * LOG2_E),
            l.splat(Interval::exact(self.growth).exp().mid()),
            l.splat(-self.step * LOG2_E),
        );
        let inverse: [L::V; WIDTH] = std::array::from_fn(|k| l.splat(1.0 / (k as f64).max(1.0)));
        let mut moments = [zero; MOMENTS];
        let mut series = [zero; 4];
        // For each vector: the weighted h_i(q_1) with (-p)^l / l!, and h_k(q_2).
        let (mut first, mut second) = ([[zero; WIDTH + 7 + 3]; BATCH], [[zero; WIDTH]; BATCH]);
        for batch in 0..columns[3].len() / BATCH {
            for (slot, n) in (batch * BATCH..(batch + 1) * BATCH).enumerate() {
                let mass = columns[3][n];
                let z: [L::V; 3] = std::array::from_fn(|k| l.sub(columns[k][n], centre[k]));
                let product =
                    |e: &[L::V; 3]| l.fma(e[0], z[0], l.fma(e[1], z[1], l.mul(e[2], z[2])));
                let (square, q1, q2) = (product(&z), product(&axes[0]), product(&axes[1]));
                let slope = l.sqrt(l.fma(q1, q1, l.mul(q2, q2)));
                // beta |y - c|^2 / 2, and -p.
                let drop = l.mul(half, square);
                let radial = l.add(drop, minus_beta);
                let back = l.exp2(l.mul(step, slope));
                let top =
                    l.fma(l.splat(-LOG2_E), drop, l.fma(l.splat(-6.0), l.mul(step, slope), shift));
                let size = l.max(mass, l.sub(zero, mass));
                let e6 = l.exp2(l.min(top, zero));
                let squared = l.mul(back, back);
                let e4 = l.mul(e6, squared);
                let e3 = l.mul(e4, back);
                let e1 = l.mul(e3, squared);
                for (sum, e) in series.iter_mut().zip([e1, e3, e4, e6]) {
                    *sum = l.fma(size, e, *sum);
                }
                let kernel = l.mul(l.mul(l.mul(e1, back), rise), mass);
                hermite(l, l.splat(1.0), q2, radial, &inverse, &mut second[slot]);
                let rows = &mut first[slot];
                hermite(l, kernel, q1, radial, &inverse, rows);
                (0..7).for_each(|i| rows[WIDTH + i] = l.mul(rows[i], radial));
                let twice = l.mul(l.splat(0.5), radial);
                (0..3).for_each(|i| rows[WIDTH + 7 + i] = l.mul(rows[WIDTH + i], twice));
            }
            add_products(l, &first, &second, &mut moments);
        }
        (moments.map(|v| l.sum(v)), series.map(|v| l.sum(v)))
    }
}

/// Coefficients of `scale e^{a q + minus_p a^2 / 2}`, in place (copying the vectors would take a
/// tenth of the time).
#[inline(always)]
fn hermite<L: SimdOps<F = f64>, const N: usize>(
    l: L,
    scale: L::V,
    q: L::V,
    minus_p: L::V,
    inverse: &[L::V; WIDTH],
    h: &mut [L::V; N],
) {
    (h[0], h[1]) = (scale, l.mul(scale, q));
    for i in 1..ORDER {
        h[i + 1] = l.mul(l.fma(q, h[i], l.mul(minus_p, h[i - 1])), inverse[i + 1]);
    }
}

/// Adds all products of a batch to the moments.
#[inline(always)]
fn add_products<L: SimdOps<F = f64>>(
    l: L,
    first: &[[L::V; WIDTH + 10]; BATCH],
    second: &[[L::V; WIDTH]; BATCH],
    moments: &mut [L::V; MOMENTS],
) {
    let (mut rest, mut place) = (&mut moments[..], 0);
    for most in DEGREES {
        for i in 0..=most {
            let (row, after) = rest.split_at_mut(most - i + 1);
            rest = after;
            match row.len() {
                1 => add_row::<L, 1>(l, first, second, place, row),
                2 => add_row::<L, 2>(l, first, second, place, row),
                3 => add_row::<L, 3>(l, first, second, place, row),
                4 => add_row::<L, 4>(l, first, second, place, row),
                5 => add_row::<L, 5>(l, first, second, place, row),
                6 => add_row::<L, 6>(l, first, second, place, row),
                7 => add_row::<L, 7>(l, first, second, place, row),
                8 => add_row::<L, 8>(l, first, second, place, row),
                9 => add_row::<L, 9>(l, first, second, place, row),
                10 => add_row::<L, 10>(l, first, second, place, row),
                _ => add_row::<L, WIDTH>(l, first, second, place, row),
            }
            place += 1;
        }
    }
}

/// One row of the moments, held in registers.
#[inline(always)]
fn add_row<L: SimdOps<F = f64>, const K: usize>(
    l: L,
    first: &[[L::V; WIDTH + 10]; BATCH],
    second: &[[L::V; WIDTH]; BATCH],
    place: usize,
    row: &mut [L::V],
) {
    let mut sums: [L::V; K] = std::array::from_fn(|k| row[k]);
    for (f, s) in first.iter().zip(second) {
        (0..K).for_each(|k| sums[k] = l.fma(f[place], s[k], sums[k]));
    }
    row.copy_from_slice(&sums);
}

/// Moments by `l`, then `i` and `k`.
fn unpacked(moments: &[f64; MOMENTS]) -> Moments {
    let mut out = [[[0.0; WIDTH]; WIDTH]; 3];
    let mut next = moments.iter();
    for (table, most) in out.iter_mut().zip(DEGREES) {
        for (i, row) in table.iter_mut().enumerate().take(most + 1) {
            row[..=most - i].iter_mut().zip(&mut next).for_each(|(v, m)| *v = *m);
        }
    }
    out
}

/// The polynomial `sum_{ikl} M_ikl a^i b^k g^l` up to its order.
fn assemble(moments: &Moments) -> Polynomial {
    // g and g^2 in powers of r^2: 1/8, 1/16, 5/128, 7/256 from the second; 1/64, 1/64 from the
    // fourth.
    let powers = [
        [0.0, 0.0, 0.125, 0.0625, 5.0 / 128.0, 7.0 / 256.0],
        [0.0, 0.0, 0.0, 0.0, 1.0 / 64.0, 1.0 / 64.0],
    ];
    let mut out = moments[0];
    for (table, power) in moments[1..].iter().zip(powers) {
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

/// The polynomial about another point.
pub(super) fn recentred(c: &Polynomial, at: [f64; 2]) -> Polynomial {
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

/// Bounds of the variation of the first derivatives (a, b) and of the Hessian (in norm) of a
/// polynomial on the square of half side k about its origin.
pub(super) fn variation(c: &Polynomial, k: f64) -> ([f64; 2], f64) {
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
    use crate::num::stats::{nan_max, nan_min};
    use crate::sphere::{
        Tokens,
        geometry::{chord2, retract},
    };

    /// For one point beside the middle of a chart: each part of the remainder against its
    /// derivation.
    #[test]
    fn remainders_are_at_least_those_of_the_derivation() {
        let (beta, radius, up) = (8.0, 0.12, [0.0, 0.0, 1.0]);
        let chart = Chart { centre: up, axes: [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]] };
        let mut y = [0.3, 0.1, 1.0];
        retract(&mut y);
        let mut columns: Columns = std::array::from_fn(|k| vec![if k < 3 { y[k] } else { 1.0 }]);
        columns
            .iter_mut()
            .enumerate()
            .for_each(|(k, c)| c.resize(64, if k == 0 { 1.0 } else { 0.0 }));
        let remainder = |far: f64, farthest: f64, replacement_error: (f64, f64), radius: f64| {
            Expansion::new(
                &columns,
                beta,
                chart,
                &Omitted { mass: far, range: 20.0, farthest, replacement_error },
                radius,
            )
            .remainder
        };
        // The tolerance covers the rounding of the bounds in their difference.
        let more = |a: (f64, f64), b: (f64, f64), by: (f64, f64)| {
            assert!(
                a.0 - b.0 >= by.0 * (1.0 - 1e-3) && a.1 - b.1 >= by.1 * (1.0 - 1e-3),
                "{a:?} {b:?} {by:?}"
            );
        };
        let (plain, r2) = (remainder(0.0, 0.4, (0.0, 1.0), radius), radius * radius);
        // The tail: the best of the four radii, with the majorant of the single point.
        let whole = |reach: f64| {
            let slope = beta * y[0].hypot(y[1]) * reach;
            (slope - 0.5 * beta * chord2(&up, &y) + beta * sagitta(reach)).exp()
        };
        let tail = radii(beta, radius)
            .map(|r| whole(r) * (radius / r).powi(11))
            .into_iter()
            .fold(f64::INFINITY, nan_min);
        assert!(plain.0 >= 11.0 * tail / radius && plain.1 >= 110.0 * tail / r2);
        // On a small disc the tail vanishes and rounding remains: 64 sums and the list in
        // `rounding_bound`.
        let tiny = 0.001;
        let (reach, small) = (radii(beta, tiny)[0], remainder(0.0, 0.4, (0.0, 1.0), tiny));
        let counted = 64.0
            + 21.0
            + 100.0
            + 50.0
            + 50.0
            + 400.0
            + 100.0
            + 5.0 * beta * 0.16
            + 16.0 * beta * 0.4 * reach;
        let rounding = counted * f64::EPSILON * whole(reach) * (tiny / reach);
        assert!(
            small.0 >= rounding / tiny
                && small.1 >= 2.0 * rounding * (tiny / reach) / (tiny * tiny),
            "{small:?} {rounding}"
        );
        // Points farther away have larger rounding errors.
        more(
            remainder(0.0, 2.0, (0.0, 1.0), tiny),
            small,
            [1.0, 2.0 * tiny / reach / tiny]
                .map(|f| {
                    f * f64::EPSILON * whole(reach) / reach
                        * (5.0 * beta * 3.84 + 16.0 * beta * 1.6 * reach)
                })
                .into(),
        );
        // Omitted samples: e^{sqrt(2 beta range) reach - range} each, in any degree.
        let reach = radii(beta, radius)[0];
        let t: f64 = reach / radius;
        let most =
            |f: fn(f64) -> f64| (1..60).map(|k| f(f64::from(k)) * t.powi(-k)).fold(0.0, nan_max);
        let left = ((2.0 * beta * 20.0).sqrt() * reach + beta * sagitta(reach) - 20.0).exp();
        more(
            remainder(1e9, 0.4, (0.0, 1.0), radius),
            plain,
            (1e9 * left * most(|k| k) / radius, 1e9 * left * most(|k| k * (k - 1.0)) / r2),
        );
        // Replaced samples: a function below 1 on the disc twice as large has derivatives below sum
        // k 2^-k = 2 and sum k (k - 1) 2^-k = 4, over the radius and its square.
        more(remainder(0.0, 0.4, (1e6, 2.0 * radius), radius), plain, (2e6 / radius, 4e6 / r2));
        // There is no bound on a disc no larger than that of the replacement, near the end of the
        // chart, or where rounding is not a small fraction.
        assert!(
            !remainder(0.0, 0.4, (1e-9, radius), radius).0.is_finite()
                && !remainder(0.0, 0.4, (0.0, 1.0), 0.8).0.is_finite()
        );
        assert!(
            !rounding_bound(1e14, 0.1, 1.0, 10).is_finite()
                && rounding_bound(1e10, 0.1, 1.0, 10).is_finite()
        );
    }

    #[test]
    fn polynomials_agree_with_the_estimate_within_their_bound() {
        let x = Tokens::normalised(
            3,
            vec![0.1, 0.2, 1.0, -0.2, 0.1, 0.9, 0.3, 0.3, 0.8, -1.0, 0.3, 0.4, 0.1, -0.2, -1.0],
        )
        .expect("tokens");
        for beta in [0.5, 8.0, 300.0] {
            let mut c = [0.05, 0.1, 1.0];
            retract(&mut c);
            let mut e1 = [c[2], 0.0, -c[0]];
            retract(&mut e1);
            let e2 = [
                c[1] * e1[2] - c[2] * e1[1],
                c[2] * e1[0] - c[0] * e1[2],
                c[0] * e1[1] - c[1] * e1[0],
            ];
            let radius = (0.4 / f64::sqrt(beta)).min(0.2);
            let mut columns: Columns =
                std::array::from_fn(|k| x.rows().map(|y| if k < 3 { y[k] } else { 1.0 }).collect());
            columns
                .iter_mut()
                .enumerate()
                .for_each(|(k, c)| c.resize(64, if k == 0 { 1.0 } else { 0.0 }));
            let expansion = Expansion::new(
                &columns,
                beta,
                Chart { centre: c, axes: [e1, e2] },
                &Omitted { mass: 0.0, range: 50.0, farthest: 2.0, replacement_error: (0.0, 1.0) },
                radius,
            );
            let exact = |at: [f64; 2]| {
                x.rows()
                    .map(|y| (-0.5 * beta * chord2(&expansion.chart.point(at), y)).exp())
                    .sum::<f64>()
            };
            let at = [0.6 * radius, -0.7 * radius];
            let here = recentred(&expansion.polynomial, at);
            // The bound is of derivatives; over the radius it bounds differences of values.
            let difference =
                (here[0][0] - expansion.polynomial[0][0]) - (exact(at) - exact([0.0; 2]));
            assert!(
                difference.abs() <= expansion.remainder.0 * radius + 1e-15 * exact(at),
                "{beta}: {difference} {:?}",
                expansion.remainder
            );
            assert!(expansion.remainder.0 < 1e-2 * exact(at) * beta.sqrt().max(1.0));
            // Central differences: 1e-10 from rounding over h.
            let h = 1e-5 * radius;
            let slope = (exact([at[0] + h, at[1]]) - exact([at[0] - h, at[1]])) / (2.0 * h);
            assert!(
                (here[1][0] - slope).abs() <= expansion.remainder.0 + 1e-9 * exact(at) / radius,
                "{beta}: {} {slope}",
                here[1][0]
            );
        }
    }
}
