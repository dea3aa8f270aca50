//! Samples sorted into boxes. Many samples of a square are replaced by fewer weighted points, with
//! a bound of the change.
//!
//! The kernel as a function of the sample is interpolated on a grid of k by k Chebyshev points of
//! the box, `e^{beta <x, y>} ~ sum_j L_j(y) e^{beta <x, y_j>}`, so that the samples of the box act
//! on every x like the points `y_j` with weights `sum_i m_i L_j(y_i)`. The error is at most
//! `(1 + Lambda) 4 M rho^{1-k} / (rho - 1)` per mass (Trefethen, Approximation Theory and
//! Approximation Practice, Theorems 8.2 and 15.2), M the largest modulus of the kernel when one
//! coordinate of y runs over the Bernstein ellipse of parameter rho. It holds for complex x as
//! well, so it also bounds derivatives.

use super::chart::{Chart, length, sagitta};
use super::facet::Facet;
use crate::num::vector::axpy;
use crate::num::{dd::Dd, interval::Interval, sum::dot, threads::parallel_allowed};
use crate::sphere::{Tokens, geometry::chord2};
use rayon::prelude::*;
use std::f64::consts::FRAC_PI_2;
use std::ops::Range;

/// Coordinates and weights, by column.
pub(super) type Columns = [Vec<f64>; 4];

/// A box of nearby points.
pub(super) struct SampleBox {
    /// Their rows in the columns.
    range: Range<usize>,
    pub centre: [f64; 3],
    /// Largest chord from the centre to a point, or to a sample that the points replace.
    pub radius: f64,
}

/// All points, box by box.
pub(super) struct Sources {
    columns: Columns,
    pub boxes: Vec<SampleBox>,
    /// Sum of the masses of the samples.
    pub total: f64,
    /// Bound of the change of the estimate by replacement (0 without), and the radius of the
    /// complex discs about any point on which it holds.
    pub replacement_error: (f64, f64),
}

/// Largest change of the estimate per mass that a replacement may cause.
const REPLACEMENT_TOLERANCE: f64 = 1e-12;
/// Largest number of Chebyshev points per side.
const MAX_SIDE: usize = 40;
/// Number of samples summed in sequence; these sums are added pairwise, to keep rounding small.
const CHUNK: usize = 64;

impl Sources {
    /// The samples in boxes of side about `1/sqrt beta`. Masses are scaled to sum n.
    pub fn new(samples: &Tokens, beta: f64) -> Self {
        let per_face = 2 * (FRAC_PI_2 / (2.0 / beta.sqrt()).min(0.5)).ceil() as usize;
        let key = |i: usize| {
            let (face, (u, v)) = Facet::of(samples.row(i), per_face);
            // The four boxes in one facet of twice the side are consecutive.
            let coarse = ((face * per_face / 2 + u / 2) * (per_face / 2) + v / 2) as u64;
            (4 * coarse + 2 * (u % 2) as u64 + (v % 2) as u64, i as u32)
        };
        let n = samples.n();
        let mut order: Vec<(u64, u32)> = if parallel_allowed() {
            (0..n).into_par_iter().map(key).collect()
        } else {
            (0..n).map(key).collect()
        };
        if parallel_allowed() {
            order.par_sort_unstable()
        } else {
            order.sort_unstable()
        }
        let mut columns: Columns = std::array::from_fn(|_| Vec::with_capacity(n));
        for (_, i) in &order {
            let row = samples.row(*i as usize);
            (0..3).for_each(|k| columns[k].push(row[k]));
            columns[3].push(n as f64 * samples.masses()[*i as usize]);
        }
        let mut boxes = Vec::new();
        let mut start = 0;
        for group in order.chunk_by(|a, b| a.0 == b.0) {
            let range = start..start + group.len();
            start = range.end;
            let (coarse, sub) = ((group[0].0 / 4) as usize, (group[0].0 % 4) as usize);
            let half = per_face / 2;
            let (face, u, v) = (
                coarse / (half * half),
                2 * (coarse / half % half) + sub / 2,
                2 * (coarse % half) + sub % 2,
            );
            boxes.push(sample_box(&columns, range, &Facet::new(face, (u, v), per_face)));
        }
        Self { columns, boxes, total: n as f64, replacement_error: (0.0, f64::INFINITY) }
    }

    /// Replaces the samples of every facet of side about `2/sqrt beta` that has many by points.
    /// `None` if no facet has many. `ball` is the radius of the discs.
    pub fn with_replacements(&self, beta: f64, ball: f64) -> Option<Self> {
        let per_face = (FRAC_PI_2 / (2.0 / beta.sqrt()).min(0.5)).ceil() as usize;
        let facet = |b: &SampleBox| Facet::of(&b.centre, per_face);
        let groups: Vec<&[SampleBox]> = self.boxes.chunk_by(|a, b| facet(a) == facet(b)).collect();
        let replace = |group: &&[SampleBox]| -> Option<Replacement> {
            let range = group[0].range.start..group[group.len() - 1].range.end;
            let (face, index) = facet(&group[0]);
            self.replacement(range, &Facet::new(face, index, per_face), beta, ball)
        };
        let found: Vec<Option<Replacement>> = if parallel_allowed() {
            groups.par_iter().map(replace).collect()
        } else {
            groups.iter().map(replace).collect()
        };
        if found.iter().all(Option::is_none) {
            return None;
        }
        let mut out = Self {
            columns: Columns::default(),
            boxes: Vec::new(),
            total: self.total,
            replacement_error: (0.0, ball),
        };
        for (group, replaced) in groups.into_iter().zip(found) {
            let start = out.columns[0].len();
            if let Some(r) = replaced {
                out.columns.iter_mut().zip(&r.columns).for_each(|(c, r)| c.extend_from_slice(r));
                let range = start..start + r.columns[0].len();
                let mut points = sample_box(&out.columns, range, &r.facet);
                // A mode is never far from all samples, but it may be far from all points.
                points.radius = points.radius.max(r.radius);
                out.boxes.push(points);
                out.replacement_error.0 += r.replacement_error;
                continue;
            }
            for b in group {
                let start = out.columns[0].len();
                out.columns
                    .iter_mut()
                    .zip(&self.columns)
                    .for_each(|(c, s)| c.extend_from_slice(&s[b.range.clone()]));
                out.boxes.push(SampleBox { range: start..start + b.range.len(), ..*b });
            }
        }
        Some(out)
    }

    /// Points of a grid in place of the samples of a range, which lie in one facet. `None` unless
    /// the samples are many more.
    fn replacement(
        &self,
        range: Range<usize>,
        facet: &Facet,
        beta: f64,
        ball: f64,
    ) -> Option<Replacement> {
        let count = range.len();
        if count < 200 {
            return None;
        }
        let chart = facet.chart();
        let coordinates = |i: usize| {
            let y: [f64; 3] = std::array::from_fn(|k| self.columns[k][i]);
            (dot(&chart.axes[0], &y), dot(&chart.axes[1], &y))
        };
        let half =
            range.clone().map(coordinates).fold(1e-9f64, |m, (a, b)| m.max(a.abs()).max(b.abs()))
                * (1.0 + 1e-12);
        let side = (8..=MAX_SIDE)
            .step_by(2)
            .find(|k| best_ellipse(*k, beta, half, ball).0 < REPLACEMENT_TOLERANCE)?;
        if 2 * side * side > count {
            return None;
        }
        let mass: f64 = self.columns[3][range.clone()].iter().sum();
        let moments = self.moments(range.clone(), &coordinates, half, side);
        let radius = sample_box(&self.columns, range.clone(), facet).radius;
        let cosines = Cosines::new(side);
        let replacement_error = 1.001
            * mass
            * replacement_errors(side, count, beta, half, ball, cosines.error).iter().sum::<f64>();
        Some(Replacement {
            columns: chebyshev_points(&moments, &cosines, half, &chart),
            facet: facet.clone(),
            radius,
            replacement_error,
        })
    }

    /// `sum w T_m(a / half) T_n(b / half)`, m, n < side, at `m side + n`.
    fn moments(
        &self,
        range: Range<usize>,
        coordinates: &impl Fn(usize) -> (f64, f64),
        half: f64,
        side: usize,
    ) -> Vec<f64> {
        if range.len() > CHUNK {
            let middle = range.start + (range.len() / 2).next_multiple_of(CHUNK);
            let mut sum = self.moments(range.start..middle, coordinates, half, side);
            sum.iter_mut()
                .zip(self.moments(middle..range.end, coordinates, half, side))
                .for_each(|(a, b)| *a += b);
            return sum;
        }
        let mut sum = vec![0.0; side * side];
        for i in range {
            let ((a, b), w) = (coordinates(i), self.columns[3][i]);
            let (along, across) = (chebyshev(a / half, side), chebyshev(b / half, side));
            for (row, t) in sum.chunks_exact_mut(side).zip(&along) {
                axpy(w * t, &across, row);
            }
        }
        sum
    }

    /// Copies the points of these boxes, padded by points of weight 0 to a multiple of 64.
    pub fn gather(&self, boxes: &[u32], buffer: &mut Columns) {
        for (k, column) in buffer.iter_mut().enumerate() {
            column.clear();
            boxes.iter().for_each(|b| {
                column.extend_from_slice(&self.columns[k][self.boxes[*b as usize].range.clone()])
            });
            column.resize(column.len().next_multiple_of(64), if k == 0 { 1.0 } else { 0.0 });
        }
    }
}

/// Points that replace samples.
struct Replacement {
    columns: Columns,
    facet: Facet,
    /// Largest chord from the centre to a sample.
    radius: f64,
    replacement_error: f64,
}

fn sample_box(columns: &Columns, range: Range<usize>, facet: &Facet) -> SampleBox {
    let centre = facet.centre();
    let far = |i: usize| chord2(&centre, &[columns[0][i], columns[1][i], columns[2][i]]);
    let radius = range.clone().map(far).fold(0.0, f64::max).sqrt() * (1.0 + 1e-9) + 1e-15;
    SampleBox { range, centre, radius }
}

/// `T_0(t), ..., T_{count-1}(t)`.
fn chebyshev(t: f64, count: usize) -> [f64; MAX_SIDE] {
    let mut out = [0.0; MAX_SIDE];
    (out[0], out[1]) = (1.0, t);
    for k in 2..count {
        out[k] = 2.0 * t * out[k - 1] - out[k - 2];
    }
    out
}

/// `cos(k pi / 2 side)` for k < 4 side, with an error bound by interval arithmetic.
struct Cosines {
    side: usize,
    cosines: Vec<f64>,
    /// Largest error of a cosine.
    error: f64,
}

impl Cosines {
    fn new(side: usize) -> Self {
        let step = Interval::PI / Interval::exact(2.0 * side as f64);
        let enclosed = |k: usize| {
            // To angles of at most pi/2: cos(2 pi - x) = cos x, cos(pi - x) = -cos x.
            let k = if k > 2 * side { 4 * side - k } else { k };
            let (angle, flip) = if k > side { (2 * side - k, true) } else { (k, false) };
            let (_, cos) = (step * Interval::exact(angle as f64)).sin_cos();
            if flip { -cos } else { cos }
        };
        let all: Vec<Interval> = (0..4 * side).map(enclosed).collect();
        Self {
            side,
            cosines: all.iter().map(|c| c.mid()).collect(),
            error: all.iter().map(|c| c.width()).fold(0.0, f64::max),
        }
    }

    fn at(&self, k: usize) -> f64 {
        self.cosines[k % (4 * self.side)]
    }
}

/// The Chebyshev points of a square of the chart with their weights from the moments, summed in
/// double-double arithmetic.
fn chebyshev_points(moments: &[f64], cosines: &Cosines, half: f64, chart: &Chart) -> Columns {
    let side = cosines.side;
    // L_j(t) = sum_m factor_m T_m(t_j) T_m(t), t_j = cos(pi (2 j + 1) / 2 side).
    let factor = |m: usize| if m == 0 { 1.0 } else { 2.0 } / side as f64;
    let lagrange: Vec<Vec<f64>> = (0..side)
        .map(|j| (0..side).map(|m| factor(m) * cosines.at(m * (2 * j + 1))).collect())
        .collect();
    let product = |a: f64, b: Dd| Dd::from(a) * b;
    let sum = |terms: &mut dyn Iterator<Item = Dd>| terms.fold(Dd::from(0.0), |s, t| s + t);
    let row = |l: &Vec<f64>, n: usize| {
        sum(&mut (0..side).map(|m| product(l[m], Dd::from(moments[m * side + n]))))
    };
    let rows: Vec<Vec<Dd>> =
        lagrange.iter().map(|l| (0..side).map(|n| row(l, n)).collect()).collect();
    let mut out = Columns::default();
    for (j, row) in rows.iter().enumerate() {
        for (k, l) in lagrange.iter().enumerate() {
            let (a, b) = (half * cosines.at(2 * j + 1), half * cosines.at(2 * k + 1));
            out.iter_mut().zip(chart.point([a, b])).for_each(|(column, x)| column.push(x));
            out[3].push(sum(&mut l.iter().zip(row).map(|(l, r)| product(*l, *r))).to_f64());
        }
    }
    out
}

/// The Lebesgue constant of at most MAX_SIDE = 40 Chebyshev points, `1 + (2 / pi) log 40`.
const LEBESGUE: f64 = 3.349;
/// The absolute values of the weights of points that replace samples sum to at most this number
/// times the mass of the samples: the square of the Lebesgue constant.
pub(super) const MAX_WEIGHT_SUM: f64 = 12.0;

/// Bounds, per mass, of the change of the estimate when `count` samples are replaced by points, for
/// x in a complex disc of radius `ball` about any point: the error of interpolation, the rounding
/// of the moments, that of the weights (`cosine_error` bounds the error of cosines), and the errors
/// of the positions of samples and points.
fn replacement_errors(
    side: usize,
    count: usize,
    beta: f64,
    half: f64,
    ball: f64,
    cosine_error: f64,
) -> [f64; 4] {
    // The errors of the moments of T_m T_n are these roundings (of sums, and m^2 + n^2 of the
    // recurrence) times the mass. They multiply the Chebyshev coefficients of the kernel, at most 4
    // M rho^{-m-n}.
    let sums = CHUNK as f64 + f64::from(usize::BITS - count.leading_zeros()) + 8.0;
    let error = |rho: f64| {
        let geometric = 1.0 / (1.0 - 1.0 / rho);
        let recurrence = 2.0 * rho * (rho + 1.0) / ((rho - 1.0) * (rho - 1.0) * (rho - 1.0));
        4.0 * kernel_bound(rho, rho, beta, half, ball).hi()
            * f64::EPSILON
            * geometric
            * (sums * geometric + recurrence)
    };
    let rounding = [1.3, 1.5, 2.0, 3.0].into_iter().map(error).fold(f64::INFINITY, f64::min);
    // Rows of the matrix of the weights sum to at most 2, and their error is twice that of the
    // cosines and eps. A weight is at most 4 masses and is rounded.
    let weights = (side * side) as f64
        * (8.0 * (cosine_error + f64::EPSILON) + 4.0 * f64::EPSILON)
        * kernel_bound(1.0, 1.0, beta, half, ball).hi();
    // The positions of samples and points have an error of a few roundings; the absolute values of
    // the weights sum to at most MAX_WEIGHT_SUM masses.
    let displacement = (1.0 + MAX_WEIGHT_SUM) * 1e-15 * gradient_bound(beta, half, ball);
    [interpolation_error(side, beta, half, ball), rounding, weights, displacement]
}

/// The least bound of the error of interpolation per mass, and its parameter rho. Any rho gives a
/// valid bound, so the search is plain f64.
fn best_ellipse(side: usize, beta: f64, half: f64, ball: f64) -> (f64, f64) {
    let at = |rho: f64| {
        let log = beta * exponent(rho, 1.0, half, ball) + (1.0 - side as f64) * rho.ln();
        ((1.0 + LEBESGUE) * 4.0 * log.exp() / (rho - 1.0), rho)
    };
    (1..60)
        .map(|k| at(1.0 + 0.2 * f64::from(k)))
        .fold((f64::INFINITY, 2.0), |m, v| if v.0 < m.0 { v } else { m })
}

/// Bound of the error of interpolation per mass, for x in a complex disc of radius `ball` about any
/// point.
fn interpolation_error(side: usize, beta: f64, half: f64, ball: f64) -> f64 {
    let rho = Interval::exact(best_ellipse(side, beta, half, ball).1);
    let inverse = Interval::exact(1.0) / rho;
    let power = (1..side).fold(Interval::exact(1.0), |p, _| p * inverse);
    let factor = Interval::exact(4.0 * (1.0 + LEBESGUE)) / (rho - Interval::exact(1.0));
    (factor * kernel_bound(rho.mid(), 1.0, beta, half, ball) * power).hi()
}

/// Bound of `|e^{beta (<x, y> - 1)}|` for x in a complex disc about any point and y with
/// coordinates in Bernstein ellipses of parameters `rho` and `other`, scaled by `half`.
fn kernel_bound(rho: f64, other: f64, beta: f64, half: f64, ball: f64) -> Interval {
    exp_bound(beta, exponent(rho, other, half, ball))
}

/// Bound of `e^{beta x}` for a sum x of positive numbers below 10, one of them a difference from 1,
/// computed in f64 with an error of at most 1e-12 of itself plus 4e-15.
fn exp_bound(beta: f64, x: f64) -> Interval {
    (Interval::exact(beta) * Interval::exact(x * (1.0 + 1e-12) + 4e-15)).exp()
}

/// Bound of `<x, y> - 1`. Let u and v be the offsets of x and y from their centres, alpha and eta
/// their tangent parts, and theta the angle between the centres. Then `<x, y> - 1 <= cos theta -
/// 1 + sin theta (|alpha| + |eta|) + s(alpha) + s(eta) + |u| |v|`.
fn exponent(rho: f64, other: f64, half: f64, ball: f64) -> f64 {
    let axis = |rho: f64| 0.5 * half * (rho + 1.0 / rho);
    let eta = length([axis(rho), axis(other)]);
    if eta > 0.9 || ball > 0.9 {
        return f64::INFINITY;
    }
    let both = ball + eta;
    (1.0 + both * both).sqrt() - 1.0 + offsets(eta, ball)
}

fn offsets(eta: f64, ball: f64) -> f64 {
    let (s, t) = (sagitta(eta), sagitta(ball));
    s + t + length([eta, s]) * length([ball, t])
}

/// Bound of the gradient of the kernel in y: `beta D |kernel|` at distance D of the centres. The
/// exponent is `-beta (D^2/2 - D b)`, b the sum of both offsets, plus the terms of [`offsets`].
/// `D e^{-beta D^2/4}` is at most `0.86 beta^{-1/2}` and `D b - D^2/4` at most `b^2`; the distance
/// of x and y exceeds D by at most the lengths of u and v.
fn gradient_bound(beta: f64, half: f64, ball: f64) -> f64 {
    let eta = length([half, half]);
    if eta > 0.9 || ball > 0.9 {
        return f64::INFINITY;
    }
    let both = ball + eta;
    let height = exp_bound(beta, both * both + offsets(eta, ball)).hi();
    let lengths = length([ball, sagitta(ball)]) + length([eta, sagitta(eta)]);
    1.001 * (0.86 * beta.sqrt() + beta * lengths) * height
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::stats::{nan_max, nan_min};
    use crate::num::stream::Stream;
    use std::f64::consts::PI;

    #[test]
    fn replacement_errors_are_at_least_those_of_their_derivation() {
        for (beta, half, ball, side) in
            [(25.0, 0.15, 0.2, 20usize), (1e6, 1e-3, 1e-3, 24), (0.5, 0.5, 0.2, 10)]
        {
            // The exponent for the worst offsets at their worst angle.
            for (rho, other) in [(1.2, 1.0), (2.0, 2.0)] {
                let axis = |rho: f64| 0.5 * half * (rho + 1.0 / rho);
                let eta = axis(rho).hypot(axis(other));
                let rest = sagitta(eta)
                    + sagitta(ball)
                    + eta.hypot(sagitta(eta)) * ball.hypot(sagitta(ball));
                let turned = |k: u32| f64::from(k).mul_add(1e-4, 0.0).sin_cos();
                let met = (0..16_000)
                    .map(turned)
                    .map(|(sin, cos)| cos - 1.0 + sin * (ball + eta))
                    .fold(0.0, nan_max)
                    + rest;
                let found = kernel_bound(rho, other, beta, half, ball).hi();
                assert!(
                    exponent(rho, other, half, ball) >= met * (1.0 - 1e-9)
                        && found >= 0.999_999 * (beta * met).exp(),
                    "{beta} {rho}: {found}"
                );
            }
            let [change, rounding, weights, displacement] =
                replacement_errors(side, 4000, beta, half, ball, 1e-15);
            // The sum over the two coordinates of (1 + the Lebesgue constant) times 4 M rho^{1-k} /
            // (rho - 1), at the best of many rho.
            let trefethen = |rho: f64| {
                4.0 * (beta * exponent(rho, 1.0, half, ball)).exp() * rho.powi(1 - side as i32)
                    / (rho - 1.0)
                    * (2.0 + 2.0 / PI * 40f64.ln())
            };
            let least =
                (1..600).map(|k| trefethen(1.0 + 0.02 * f64::from(k))).fold(f64::INFINITY, nan_min);
            assert!(change >= 0.999 * least, "{change} {least}");
            // Chebyshev coefficients 4 M rho^{-m-n} times (64 sums in sequence, 12 pairwise, m^2 +
            // n^2) eps.
            let recurrence = |rho: f64| {
                let top = (beta * exponent(rho, rho, half, ball)).exp();
                let term =
                    |m: i32, n: i32| rho.powi(-m - n) * (64.0 + 12.0 + f64::from(m * m + n * n));
                4.0 * top
                    * f64::EPSILON
                    * (0..120).flat_map(|m| (0..120).map(move |n| term(m, n))).sum::<f64>()
            };
            let least =
                [1.3, 1.5, 2.0, 3.0].into_iter().map(recurrence).fold(f64::INFINITY, nan_min);
            assert!(rounding >= 0.99 * least, "{rounding} {least}");
            let top = (beta * exponent(1.0, 1.0, half, ball)).exp();
            assert!(
                weights
                    >= 0.999
                        * (side * side) as f64
                        * (8.0 * (1e-15 + f64::EPSILON) + 4.0 * f64::EPSILON)
                        * top
            );
            // The largest beta D e^{-beta (D^2/2 - D b)}, times the terms that the bound adds; 13
            // masses have errors of position.
            let both = ball + length([half, half]);
            let steep = |d: f64| beta * d * (-0.5 * beta * d * (d - 2.0 * both)).exp();
            let met =
                (0..4000).map(|k| steep(f64::from(k) * 0.002 / beta.sqrt())).fold(0.0, nan_max);
            let eta = length([half, half]);
            let (rest, lengths) =
                (offsets(eta, ball), ball.hypot(sagitta(ball)) + eta.hypot(sagitta(eta)));
            let bound =
                (0.8577 * beta.sqrt() + beta * lengths) * (beta * (both * both + rest)).exp();
            assert!(
                bound >= met && displacement >= 0.999 * 13e-15 * bound,
                "{displacement} {met} {bound}"
            );
        }
        assert!(
            LEBESGUE >= 1.0 + 2.0 / PI * 40f64.ln()
                && MAX_WEIGHT_SUM >= LEBESGUE * LEBESGUE
                && MAX_SIDE == 40
        );
        let cosines = Cosines::new(40);
        assert!(
            cosines.error < 1e-14
                && (0..160)
                    .all(|k| (cosines.at(k) - (PI * k as f64 / 80.0).cos()).abs() <= cosines.error)
        );
    }

    #[test]
    fn replacement_points_act_like_the_samples_within_the_bound() {
        let mut stream = Stream::new(1, &["sources"]);
        for beta in [0.3, 12.0, 800.0] {
            // A cloud about the pole of width 1 / sqrt beta, at most 0.5.
            let width = (1.0 / f64::sqrt(beta)).min(0.5);
            let sample = |s: &mut Stream| [width * s.normal(), width * s.normal(), 1.0];
            let x = Tokens::normalised(3, (0..20_000).flat_map(|_| sample(&mut stream)).collect())
                .expect("tokens");
            let exact = Sources::new(&x, beta);
            let sources = exact
                .with_replacements(beta, (1.0 / f64::sqrt(beta)).min(0.25))
                .expect("many samples");
            assert!(
                sources.columns[0].len() < 10_000
                    && sources.replacement_error.0 < 1e-6 * exact.total,
                "{beta}: {} {:?}",
                sources.columns[0].len(),
                sources.replacement_error
            );
            let estimate = |s: &Sources, at: &[f64; 3]| -> f64 {
                let term = |i: usize| {
                    s.columns[3][i]
                        * (-0.5
                            * beta
                            * chord2(at, &[s.columns[0][i], s.columns[1][i], s.columns[2][i]]))
                        .exp()
                };
                (0..s.columns[0].len()).map(term).sum()
            };
            for _ in 0..20 {
                let at = Tokens::normalised(3, sample(&mut stream).to_vec()).expect("a point");
                let at = [at.row(0)[0], at.row(0)[1], at.row(0)[2]];
                let (a, b) = (estimate(&exact, &at), estimate(&sources, &at));
                // The sum of 20000 terms has a rounding error of a few units in the last place.
                assert!(
                    (a - b).abs() <= sources.replacement_error.0 + 1e-13 * exact.total,
                    "{beta}: {a} {b} {:?}",
                    sources.replacement_error
                );
            }
        }
    }
}
