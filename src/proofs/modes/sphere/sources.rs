//! Samples sorted into boxes; boxes with many samples are replaced by fewer weighted points, with a bound for what that changes.
//!
//! The kernel as a function of the sample is interpolated on a grid of k by k Chebyshev points of the box, `e^{beta <x, y>} ~ sum_j L_j(y) e^{beta <x, y_j>}`, so that
//! the samples of the box act on every x like the points `y_j` with weights `sum_i m_i L_j(y_i)`. The error is at most `(1 + Lambda) 4 M rho^{1-k} / (rho - 1)` per mass
//! (Trefethen, Approximation Theory and Approximation Practice, Theorems 8.2 and 15.2), M the largest kernel when one coordinate of y runs over the ellipse of
//! Bernstein of parameter rho. It holds for complex x as well, so that it bounds derivatives.

use super::cell::Cell;
use super::chart::{Chart, length, sagitta};
use crate::num::vector::axpy;
use crate::num::{dd::Dd, interval::Interval, sum::dot, threads::parallel_allowed};
use crate::sphere::{Tokens, geometry::chord2};
use rayon::prelude::*;
use std::f64::consts::{FRAC_PI_2, PI};
use std::ops::Range;

/// Coordinates and weights, by column.
pub(super) type Columns = [Vec<f64>; 4];

/// Points that lie together.
pub(super) struct Box3 {
    /// Their places in the columns.
    range: Range<usize>,
    pub centre: [f64; 3],
    /// Largest distance in space of a point, or of a sample it replaces, from the centre.
    pub chord: f64,
}

/// All points, box by box.
pub(super) struct Sources {
    columns: Columns,
    pub boxes: Vec<Box3>,
    /// Sum of the masses of the samples.
    pub total: f64,
    /// Bound of the change of the estimate on complex discs of this radius (second entry) about any point; 0 for the samples themselves.
    pub lost: (f64, f64),
}

/// Change of the estimate per mass that is allowed to the replacement.
const CHANGE: f64 = 1e-12;
/// Most Chebyshev points per side.
const MOST: usize = 40;
/// Samples summed in a row; sums of these are added in pairs, so that they round little.
const CHUNK: usize = 64;

impl Sources {
    /// The samples in boxes of side about `1/sqrt beta`; masses are scaled to sum n.
    pub fn new(samples: &Tokens, beta: f64) -> Self {
        let per_face = 2 * (FRAC_PI_2 / (2.0 / beta.sqrt()).min(0.5)).ceil() as usize;
        let key = |i: usize| {
            let (face, (u, v)) = Cell::of(samples.row(i), per_face);
            // Four boxes of one square of twice the side follow each other.
            let coarse = ((face * per_face / 2 + u / 2) * (per_face / 2) + v / 2) as u64;
            (4 * coarse + 2 * (u % 2) as u64 + (v % 2) as u64, i as u32)
        };
        let n = samples.n();
        let mut order: Vec<(u64, u32)> =
            if parallel_allowed() { (0..n).into_par_iter().map(key).collect() } else { (0..n).map(key).collect() };
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
            let (place, sub) = ((group[0].0 / 4) as usize, (group[0].0 % 4) as usize);
            let half = per_face / 2;
            let (face, u, v) = (place / (half * half), 2 * (place / half % half) + sub / 2, 2 * (place % half) + sub % 2);
            boxes.push(boxed(&columns, range, &Cell::new(face, (u, v), per_face)));
        }
        Self { columns, boxes, total: n as f64, lost: (0.0, f64::INFINITY) }
    }

    /// With points in place of the samples of every square of side about `2/sqrt beta` that has many; none if no square has. `ball` is the radius of the discs.
    pub fn compressed(&self, beta: f64, ball: f64) -> Option<Self> {
        let per_face = (FRAC_PI_2 / (2.0 / beta.sqrt()).min(0.5)).ceil() as usize;
        let square = |b: &Box3| Cell::of(&b.centre, per_face);
        let groups: Vec<&[Box3]> = self.boxes.chunk_by(|a, b| square(a) == square(b)).collect();
        let replace = |group: &&[Box3]| -> Option<Replaced> {
            let range = group[0].range.start..group[group.len() - 1].range.end;
            let (face, place) = square(&group[0]);
            self.replaced(range, &Cell::new(face, place, per_face), beta, ball)
        };
        let found: Vec<Option<Replaced>> =
            if parallel_allowed() { groups.par_iter().map(replace).collect() } else { groups.iter().map(replace).collect() };
        if found.iter().all(Option::is_none) {
            return None;
        }
        let mut out = Self { columns: Columns::default(), boxes: Vec::new(), total: self.total, lost: (0.0, ball) };
        for (group, replaced) in groups.into_iter().zip(found) {
            let start = out.columns[0].len();
            if let Some(r) = replaced {
                out.columns.iter_mut().zip(&r.columns).for_each(|(c, r)| c.extend_from_slice(r));
                let range = start..start + r.columns[0].len();
                let mut points = boxed(&out.columns, range, &r.cell);
                // No mode is far from all samples; it may be far from all points.
                points.chord = points.chord.max(r.chord);
                out.boxes.push(points);
                out.lost.0 += r.lost;
                continue;
            }
            for b in group {
                let start = out.columns[0].len();
                out.columns.iter_mut().zip(&self.columns).for_each(|(c, s)| c.extend_from_slice(&s[b.range.clone()]));
                out.boxes.push(Box3 { range: start..start + b.range.len(), ..*b });
            }
        }
        Some(out)
    }

    /// Points of a grid for the samples of a range that lie in a square; none if the samples are not many more.
    fn replaced(&self, range: Range<usize>, cell: &Cell, beta: f64, ball: f64) -> Option<Replaced> {
        let count = range.len();
        if count < 200 {
            return None;
        }
        let chart = cell.chart();
        let place = |i: usize| {
            let y: [f64; 3] = std::array::from_fn(|k| self.columns[k][i]);
            (dot(&chart.axes[0], &y), dot(&chart.axes[1], &y))
        };
        let half = range.clone().map(place).fold(1e-9f64, |m, (a, b)| m.max(a.abs()).max(b.abs())) * (1.0 + 1e-12);
        let side = (8..=MOST).step_by(2).find(|k| attempt(*k, beta, half, ball).0 < CHANGE)?;
        if 2 * side * side > count {
            return None;
        }
        let mass: f64 = self.columns[3][range.clone()].iter().sum();
        let moments = self.moments(range.clone(), &place, half, side);
        let chord = boxed(&self.columns, range.clone(), cell).chord;
        let waves = Waves::new(side);
        let lost = 1.001 * mass * losses(side, count, beta, half, ball, waves.error).iter().sum::<f64>();
        Some(Replaced { columns: grid(&moments, &waves, half, &chart), cell: cell.clone(), chord, lost })
    }

    /// `sum w T_m(a / half) T_n(b / half)`, m, n < side, at `m side + n`.
    fn moments(&self, range: Range<usize>, place: &impl Fn(usize) -> (f64, f64), half: f64, side: usize) -> Vec<f64> {
        if range.len() > CHUNK {
            let middle = range.start + (range.len() / 2).next_multiple_of(CHUNK);
            let mut sum = self.moments(range.start..middle, place, half, side);
            sum.iter_mut().zip(self.moments(middle..range.end, place, half, side)).for_each(|(a, b)| *a += b);
            return sum;
        }
        let mut sum = vec![0.0; side * side];
        for i in range {
            let ((a, b), w) = (place(i), self.columns[3][i]);
            let (along, across) = (chebyshev(a / half, side), chebyshev(b / half, side));
            for (row, t) in sum.chunks_exact_mut(side).zip(&along) {
                axpy(w * t, &across, row);
            }
        }
        sum
    }

    /// The points of these boxes, padded by points of weight 0 to a multiple of 64.
    pub fn gather(&self, boxes: &[u32], room: &mut Columns) {
        for (k, column) in room.iter_mut().enumerate() {
            column.clear();
            boxes.iter().for_each(|b| column.extend_from_slice(&self.columns[k][self.boxes[*b as usize].range.clone()]));
            column.resize(column.len().next_multiple_of(64), if k == 0 { 1.0 } else { 0.0 });
        }
    }
}

/// Points in place of samples.
struct Replaced {
    columns: Columns,
    cell: Cell,
    /// Of the samples.
    chord: f64,
    lost: f64,
}

fn boxed(columns: &Columns, range: Range<usize>, cell: &Cell) -> Box3 {
    let centre = cell.centre();
    let far = |i: usize| chord2(&centre, &[columns[0][i], columns[1][i], columns[2][i]]);
    let chord = range.clone().map(far).fold(0.0, f64::max).sqrt() * (1.0 + 1e-9) + 1e-15;
    Box3 { range, centre, chord }
}

/// `T_0(t), ..., T_{count-1}(t)`.
fn chebyshev(t: f64, count: usize) -> [f64; MOST] {
    let mut out = [0.0; MOST];
    (out[0], out[1]) = (1.0, t);
    for k in 2..count {
        out[k] = 2.0 * t * out[k - 1] - out[k - 2];
    }
    out
}

/// `cos(k pi / 2 side)`, k < 4 side, enclosed by interval arithmetic.
struct Waves {
    side: usize,
    cosines: Vec<f64>,
    /// Largest distance of a cosine from its value here.
    error: f64,
}

impl Waves {
    fn new(side: usize) -> Self {
        // pi is between these neighbours.
        let step = Interval::new(PI, PI.next_up()) / Interval::exact(2.0 * side as f64);
        let enclosed = |k: usize| {
            // To angles of at most pi/2: cos(2 pi - x) = cos x, cos(pi - x) = -cos x.
            let k = if k > 2 * side { 4 * side - k } else { k };
            let (angle, flip) = if k > side { (2 * side - k, true) } else { (k, false) };
            let (_, cos) = (step * Interval::exact(angle as f64)).sin_cos();
            if flip { -cos } else { cos }
        };
        let all: Vec<Interval> = (0..4 * side).map(enclosed).collect();
        Self { side, cosines: all.iter().map(|c| c.mid()).collect(), error: all.iter().map(|c| c.width()).fold(0.0, f64::max) }
    }

    fn at(&self, k: usize) -> f64 {
        self.cosines[k % (4 * self.side)]
    }
}

/// The Chebyshev points of a square of the chart and the weights that the moments give them, summed in twice the precision.
fn grid(moments: &[f64], waves: &Waves, half: f64, chart: &Chart) -> Columns {
    let side = waves.side;
    // L_j(t) = sum_m factor_m T_m(t_j) T_m(t), t_j = cos(pi (2 j + 1) / 2 side).
    let factor = |m: usize| if m == 0 { 1.0 } else { 2.0 } / side as f64;
    let lagrange: Vec<Vec<f64>> = (0..side).map(|j| (0..side).map(|m| factor(m) * waves.at(m * (2 * j + 1))).collect()).collect();
    let product = |a: f64, b: Dd| Dd::from(a) * b;
    let sum = |terms: &mut dyn Iterator<Item = Dd>| terms.fold(Dd::from(0.0), |s, t| s + t);
    let row = |l: &Vec<f64>, n: usize| sum(&mut (0..side).map(|m| product(l[m], Dd::from(moments[m * side + n]))));
    let rows: Vec<Vec<Dd>> = lagrange.iter().map(|l| (0..side).map(|n| row(l, n)).collect()).collect();
    let mut out = Columns::default();
    for (j, row) in rows.iter().enumerate() {
        for (k, l) in lagrange.iter().enumerate() {
            let (a, b) = (half * waves.at(2 * j + 1), half * waves.at(2 * k + 1));
            out.iter_mut().zip(chart.point([a, b])).for_each(|(column, x)| column.push(x));
            out[3].push(sum(&mut l.iter().zip(row).map(|(l, r)| product(*l, *r))).to_f64());
        }
    }
    out
}

/// Lebesgue's constant of at most MOST = 40 Chebyshev points, `1 + (2 / pi) log 40`.
const LEBESGUE: f64 = 3.349;
/// The sizes of the weights of points that replace samples sum to at most this times their mass, the square of Lebesgue's constant.
pub(super) const MOST_WEIGHT: f64 = 12.0;

/// Bounds, per mass, of what changes when `count` samples are replaced by points, for x in a complex disc of radius `ball` about any point: the error of interpolation,
/// the rounding of the moments, that of the weights (`cosines` bounds the error of cosines), and the displacement of samples and points.
fn losses(side: usize, count: usize, beta: f64, half: f64, ball: f64, cosines: f64) -> [f64; 4] {
    // The moments of T_m T_n are off by these roundings (of sums, and m^2 + n^2 of the recurrence) times the mass; what they multiply are the Chebyshev coefficients
    // of the kernel, at most 4 M rho^{-m-n}.
    let sums = CHUNK as f64 + f64::from(usize::BITS - count.leading_zeros()) + 8.0;
    let error = |rho: f64| {
        let waves = 1.0 / (1.0 - 1.0 / rho);
        let recurrence = 2.0 * rho * (rho + 1.0) / ((rho - 1.0) * (rho - 1.0) * (rho - 1.0));
        4.0 * largest(rho, rho, beta, half, ball).hi() * f64::EPSILON * waves * (sums * waves + recurrence)
    };
    let rounding = [1.3, 1.5, 2.0, 3.0].into_iter().map(error).fold(f64::INFINITY, f64::min);
    // Rows of the weights' matrix sum to at most 2 and are off by twice the error of the cosines and eps; a weight is at most 4 masses and is rounded.
    let weights = (side * side) as f64 * (8.0 * (cosines + f64::EPSILON) + 4.0 * f64::EPSILON) * largest(1.0, 1.0, beta, half, ball).hi();
    // Samples and points lie where the chart says but for a few roundings; the sizes of the weights sum to at most MOST_WEIGHT masses.
    let moved = (1.0 + MOST_WEIGHT) * 1e-15 * steepest(beta, half, ball);
    [change(side, beta, half, ball), rounding, weights, moved]
}

/// The error of interpolation per mass and the parameter rho of the bound that is least: a plain search, any rho gives a bound.
fn attempt(side: usize, beta: f64, half: f64, ball: f64) -> (f64, f64) {
    let at = |rho: f64| {
        let log = beta * exponent(rho, 1.0, half, ball) + (1.0 - side as f64) * rho.ln();
        ((1.0 + LEBESGUE) * 4.0 * log.exp() / (rho - 1.0), rho)
    };
    (1..60).map(|k| at(1.0 + 0.2 * f64::from(k))).fold((f64::INFINITY, 2.0), |m, v| if v.0 < m.0 { v } else { m })
}

/// Bound of the error of interpolation per mass, for x in a complex disc of radius `ball` about any point.
fn change(side: usize, beta: f64, half: f64, ball: f64) -> f64 {
    let rho = Interval::exact(attempt(side, beta, half, ball).1);
    let inverse = Interval::exact(1.0) / rho;
    let power = (1..side).fold(Interval::exact(1.0), |p, _| p * inverse);
    let factor = Interval::exact(4.0 * (1.0 + LEBESGUE)) / (rho - Interval::exact(1.0));
    (factor * largest(rho.mid(), 1.0, beta, half, ball) * power).hi()
}

/// Bound of `|e^{beta (<x, y> - 1)}|` for x in a complex disc about any point and y with coordinates in ellipses of parameters rho and other, stretched by half.
fn largest(rho: f64, other: f64, beta: f64, half: f64, ball: f64) -> Interval {
    raised(beta, exponent(rho, other, half, ball))
}

/// `e^{beta x}` for a sum x of positive numbers below 10, one of them a difference from 1, computed in f64: right to 1e-12 of itself and 4e-15.
fn raised(beta: f64, x: f64) -> Interval {
    (Interval::exact(beta) * Interval::exact(x * (1.0 + 1e-12) + 4e-15)).exp()
}

/// With u and v the offsets from the centres and theta between these, `<x, y> - 1 <= cos theta - 1 + sin theta (|alpha| + |eta|) + s(alpha) + s(eta) + |u| |v|`.
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

/// Bound of the gradient of the kernel in y: `beta D |kernel|` at distance D of the centres, whose exponent is `-beta (D^2/2 - D b)`, b both offsets, and the rest as above.
/// `D e^{-beta D^2/4}` is at most `0.86 beta^{-1/2}` and `D b - D^2/4` at most `b^2`; distances exceed D by at most the lengths of u and v.
fn steepest(beta: f64, half: f64, ball: f64) -> f64 {
    let eta = length([half, half]);
    if eta > 0.9 || ball > 0.9 {
        return f64::INFINITY;
    }
    let both = ball + eta;
    let height = raised(beta, both * both + offsets(eta, ball)).hi();
    let beyond = length([ball, sagitta(ball)]) + length([eta, sagitta(eta)]);
    1.001 * (0.86 * beta.sqrt() + beta * beyond) * height
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::stream::Stream;

    #[test]
    fn losses_are_at_least_what_their_derivation_says() {
        for (beta, half, ball, side) in [(25.0, 0.15, 0.2, 20usize), (1e6, 1e-3, 1e-3, 24), (0.5, 0.5, 0.2, 10)] {
            // The exponent for the worst offsets, at the angle that is worst for them.
            for (rho, other) in [(1.2, 1.0), (2.0, 2.0)] {
                let axis = |rho: f64| 0.5 * half * (rho + 1.0 / rho);
                let eta = axis(rho).hypot(axis(other));
                let rest = sagitta(eta) + sagitta(ball) + eta.hypot(sagitta(eta)) * ball.hypot(sagitta(ball));
                let turned = |k: u32| f64::from(k).mul_add(1e-4, 0.0).sin_cos();
                let met = (0..16_000).map(turned).map(|(sin, cos)| cos - 1.0 + sin * (ball + eta)).fold(0.0, f64::max) + rest;
                let found = largest(rho, other, beta, half, ball).hi();
                assert!(
                    exponent(rho, other, half, ball) >= met * (1.0 - 1e-9) && found >= 0.999_999 * (beta * met).exp(),
                    "{beta} {rho}: {found}"
                );
            }
            let [change, rounding, weights, moved] = losses(side, 4000, beta, half, ball, 1e-15);
            // sum over the two coordinates of (1 and Lebesgue's constant) times 4 M rho^{1-k} / (rho - 1), at the best of many rho.
            let trefethen = |rho: f64| {
                4.0 * (beta * exponent(rho, 1.0, half, ball)).exp() * rho.powi(1 - side as i32) / (rho - 1.0)
                    * (2.0 + 2.0 / PI * 40f64.ln())
            };
            let least = (1..600).map(|k| trefethen(1.0 + 0.02 * f64::from(k))).fold(f64::INFINITY, f64::min);
            assert!(change >= 0.999 * least, "{change} {least}");
            // Chebyshev coefficients 4 M rho^{-m-n} times (64 sums in a row, 12 in pairs, m^2 + n^2) eps.
            let recurrence = |rho: f64| {
                let top = (beta * exponent(rho, rho, half, ball)).exp();
                let term = |m: i32, n: i32| rho.powi(-m - n) * (64.0 + 12.0 + f64::from(m * m + n * n));
                4.0 * top * f64::EPSILON * (0..120).flat_map(|m| (0..120).map(move |n| term(m, n))).sum::<f64>()
            };
            let least = [1.3, 1.5, 2.0, 3.0].into_iter().map(recurrence).fold(f64::INFINITY, f64::min);
            assert!(rounding >= 0.99 * least, "{rounding} {least}");
            let top = (beta * exponent(1.0, 1.0, half, ball)).exp();
            assert!(weights >= 0.999 * (side * side) as f64 * (8.0 * (1e-15 + f64::EPSILON) + 4.0 * f64::EPSILON) * top);
            // beta D e^{-beta (D^2/2 - D b)} at its largest, less what the bound adds; 13 masses are displaced.
            let both = ball + length([half, half]);
            let steep = |d: f64| beta * d * (-0.5 * beta * d * (d - 2.0 * both)).exp();
            let met = (0..4000).map(|k| steep(f64::from(k) * 0.002 / beta.sqrt())).fold(0.0, f64::max);
            let eta = length([half, half]);
            let (rest, lengths) = (offsets(eta, ball), ball.hypot(sagitta(ball)) + eta.hypot(sagitta(eta)));
            let bound = (0.8577 * beta.sqrt() + beta * lengths) * (beta * (both * both + rest)).exp();
            assert!(bound >= met && moved >= 0.999 * 13e-15 * bound, "{moved} {met} {bound}");
        }
        assert!(LEBESGUE >= 1.0 + 2.0 / PI * 40f64.ln() && MOST_WEIGHT >= LEBESGUE * LEBESGUE && MOST == 40);
        let waves = Waves::new(40);
        assert!(waves.error < 1e-14 && (0..160).all(|k| (waves.at(k) - (PI * k as f64 / 80.0).cos()).abs() <= waves.error));
    }

    #[test]
    fn few_points_act_like_many_samples_within_the_bound() {
        let mut stream = Stream::new(1, &["sources"]);
        for beta in [0.3, 12.0, 800.0] {
            // A cloud about the pole of width 1 / sqrt beta, at most 0.5.
            let width = (1.0 / f64::sqrt(beta)).min(0.5);
            let place = |s: &mut Stream| [width * s.normal(), width * s.normal(), 1.0];
            let x = Tokens::normalised(3, (0..20_000).flat_map(|_| place(&mut stream)).collect()).expect("tokens");
            let exact = Sources::new(&x, beta);
            let few = exact.compressed(beta, (1.0 / f64::sqrt(beta)).min(0.25)).expect("many samples");
            assert!(few.columns[0].len() < 10_000 && few.lost.0 < 1e-6 * exact.total, "{beta}: {} {:?}", few.columns[0].len(), few.lost);
            let estimate = |s: &Sources, at: &[f64; 3]| -> f64 {
                let term =
                    |i: usize| s.columns[3][i] * (-0.5 * beta * chord2(at, &[s.columns[0][i], s.columns[1][i], s.columns[2][i]])).exp();
                (0..s.columns[0].len()).map(term).sum()
            };
            for _ in 0..20 {
                let at = Tokens::normalised(3, place(&mut stream).to_vec()).expect("a point");
                let at = [at.row(0)[0], at.row(0)[1], at.row(0)[2]];
                let (a, b) = (estimate(&exact, &at), estimate(&few, &at));
                // Summing 20000 terms rounds by a few of their units.
                assert!((a - b).abs() <= few.lost.0 + 1e-13 * exact.total, "{beta}: {a} {b} {:?}", few.lost);
            }
        }
    }
}
