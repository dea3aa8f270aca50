//! One step: a polynomial, its defect, and how the error grows on pieces of it.

use super::curvature::{FLOOR, curvature};
use super::growth::Growth;
use super::local::{Axis, Local, length, point, sum};
use super::proof::{Cause, Piece};
use super::series::Series;
use super::system::System;
use crate::num::interval::Interval;

/// A step that was proved.
pub(super) struct Step {
    pub(super) h: f64,
    pub(super) pieces: Vec<Piece>,
    /// Where it ends, and the error there.
    pub(super) x: Vec<f64>,
    pub(super) error: f64,
    pub(super) defect: f64,
}

/// A polynomial path with bounds of its defect: `|p' - F(p)| <= sum_k defect_k t^k` on `[0, h]`, `||p|^2 - 1| <= bulge`.
pub(super) struct Path<'a> {
    system: &'a System,
    /// Coefficients by order.
    x: Vec<Vec<f64>>,
    pub(super) h: f64,
    defect: Vec<f64>,
    bulge: f64,
}

fn horner(x: &[Vec<f64>], t: Interval, factor: impl Fn(usize) -> Interval, from: usize) -> Vec<Interval> {
    let size = x[0].len();
    let at = |c: usize| (from..x.len()).rev().fold(point(0.0), |s, k| s * t + factor(k) * point(x[k][c]));
    (0..size).map(at).collect()
}

impl<'a> Path<'a> {
    /// From x, with about `tolerance` of defect per unit time; nothing when no step is short enough.
    pub(super) fn new(system: &'a System, start: &[f64], order: usize, tolerance: f64) -> Option<Self> {
        let mut series = Series::<f64>::new(system);
        let mut x = vec![start.to_vec()];
        for k in 0..order {
            let next = series.push(x[k].iter().copied());
            x.push(next.iter().map(|f| f / (k + 1) as f64).collect());
        }
        let size = |k: usize| x[k].iter().fold(0.0, |m: f64, v| m.max(v.abs()));
        let length = |k: usize| (tolerance / size(k)).powf(1.0 / k as f64);
        let h = 0.9 * length(order).min(length(order - 1));
        // A path that does not move at all: any step will do.
        let h = if h < 1e12 { h } else { 1e12 };
        let mut path = Self { system, x, h, defect: Vec::new(), bulge: 0.0 };
        path.near();
        for _ in 0..20 {
            if path.h.is_nan() || path.h <= 1e-6 {
                return None;
            }
            path.far();
            let terms: Vec<f64> = path.defect.iter().enumerate().map(|(k, d)| d * path.h.powi(k as i32)).collect();
            let last = terms[order] / (order + 1) as f64;
            if last <= 4.0 * terms[..order].iter().sum::<f64>() + 10.0 * tolerance / path.h {
                path.bulge();
                return path.bulge.is_finite().then_some(path);
            }
            path.h *= 0.7;
        }
        None
    }

    /// The defect's coefficients below the last, at 0.
    fn near(&mut self) {
        let order = self.x.len() - 1;
        let mut series = Series::<Interval>::new(self.system);
        self.defect = (0..order)
            .map(|k| {
                let field = series.push(self.x[k].iter().map(|v| point(*v)));
                let delta: Vec<_> = field.iter().zip(&self.x[k + 1]).map(|(f, x)| point((k + 1) as f64) * point(*x) - *f).collect();
                self.system.norm(&delta)
            })
            .collect();
        self.defect.push(f64::INFINITY);
    }

    /// The last one, anywhere in `[0, h]`: that of the field along the path, about every time of the step.
    fn far(&mut self) {
        let order = self.x.len() - 1;
        let t = Interval::new(0.0, self.h);
        let mut series = Series::<Interval>::new(self.system);
        let mut field = Vec::new();
        for k in 0..=order {
            field = series.push(horner(&self.x, t, |l| point(choose(l, k)), k));
        }
        self.defect[order] = self.system.norm(&field);
    }

    /// `||p_i|^2 - 1|` on the step, coefficient by coefficient.
    fn bulge(&mut self) {
        let (order, d) = (self.x.len() - 1, self.system.d);
        let (mut worst, h) = (0.0f64, point(self.h));
        for i in 0..self.system.len() {
            let mut total = point(0.0);
            for k in (0..=2 * order).rev() {
                let mut term = point(if k == 0 { -1.0 } else { 0.0 });
                for l in k.saturating_sub(order)..=k.min(order) {
                    for c in i * d..(i + 1) * d {
                        term = term + point(self.x[l][c]) * point(self.x[k - l][c]);
                    }
                }
                total = total * h + point(term.mag());
            }
            worst = if total.hi() <= worst { worst } else { total.hi() };
        }
        self.bulge = worst;
    }

    /// The bound of the defect up to this time.
    fn rate(&self, t: f64) -> Interval {
        self.defect.iter().rev().fold(point(0.0), |s, d| s * point(t) + point(*d))
    }

    /// Where it is on `[a, b]`.
    fn range(&self, a: f64, b: f64) -> (Vec<Interval>, Vec<Axis>) {
        let middle = 0.5 * (a + b);
        let at = horner(&self.x, point(middle), |_| point(1.0), 0);
        let slope: Vec<_> = derivative(&self.x, Interval::new(a, b));
        let way = Interval::new(a, b) - point(middle);
        let centre: Vec<f64> = at.iter().map(|v| v.mid()).collect();
        let axes = centre.chunks_exact(self.system.d).map(Axis::of).collect();
        (at.iter().zip(slope).map(|(x, s)| *x + s * way).collect(), axes)
    }
}

fn derivative(x: &[Vec<f64>], t: Interval) -> Vec<Interval> {
    let at = |c: usize| (1..x.len()).rev().fold(point(0.0), |s, k| s * t + point(k as f64) * point(x[k][c]));
    (0..x[0].len()).map(at).collect()
}

/// `l` over `k`, exact below 2^53.
fn choose(l: usize, k: usize) -> f64 {
    (0..k).fold(1u64, |c, i| c * (l - i) as u64 / (i + 1) as u64) as f64
}

/// Follows the error along a path: pieces are as long as the slack of their growth rate allows.
pub(super) fn follow(path: &Path, error: f64, slack: f64) -> Result<Step, Cause> {
    let s = path.system;
    let wanted = slack.min(0.1 / path.h);
    let tolerance = (0.1 * slack).min(0.02 / path.h);
    let mut error = error.max((point(FLOOR) * point(path.bulge)).hi());
    let (mut a, mut length, mut near, mut defect) = (0.0, path.h, 0.0, 0.0);
    let norm = (point(1.0) + Interval::symmetric(path.bulge)).sqrt();
    let mut pieces = Vec::new();
    while a < path.h {
        let b = if a + 1.1 * length >= path.h { path.h } else { a + length };
        let (range, axes) = path.range(a, b);
        let local = Local::new(s, &range, norm, &axes, false);
        let growth = Growth::new(s, &local);
        let found = growth.slack();
        // Not a number does not fit.
        let fits = found <= wanted;
        if !fits {
            length = (b - a) * if found.is_finite() { (0.8 * wanted / found).clamp(0.1, 0.8) } else { 0.25 };
            if length <= 1e-5 * path.h {
                return Err(Cause::Enclosure);
            }
            continue;
        }
        let Some(mu) = growth.bound(near, tolerance) else { return Err(Cause::Enclosure) };
        let rate = path.rate(b);
        let part =
            Part { system: s, range: &range, norm, axes: &axes, bulge: path.bulge, time: (point(b) - point(a)).hi(), mu, rate, error };
        let Some((tube, end)) = part.tube() else {
            length = 0.3 * (b - a);
            if length <= 1e-3 * path.h {
                // A point at rest is about as far as the speed over the rate of growth.
                let speed = s.norm(&path.x[1].iter().map(|v| point(*v)).collect::<Vec<_>>());
                return Err(if speed <= mu * error { Cause::Symmetric } else { Cause::Growth });
            }
            continue;
        };
        pieces.push(Piece { end: b, growth: mu, tube });
        defect += rate.hi() * (b - a);
        (near, error) = (mu, end);
        length = (b - a) * (0.9 * wanted / found).clamp(0.5, 2.0);
        a = b;
    }
    let last = horner(&path.x, point(path.h), |_| point(1.0), 0);
    let x = unit(s.d, &last.iter().map(|v| v.mid()).collect::<Vec<_>>());
    let jump: Vec<_> = last.iter().zip(&x).map(|(p, x)| *p - point(*x)).collect();
    let error = (point(error) + point(s.norm(&jump))).hi();
    Ok(Step { h: path.h, pieces, x, error, defect })
}

/// A piece of a path: where it is, and what acts on the error there.
struct Part<'a> {
    system: &'a System,
    range: &'a [Interval],
    /// `|p_i|`.
    norm: Interval,
    axes: &'a [Axis],
    bulge: f64,
    time: f64,
    mu: f64,
    /// The bound of the defect.
    rate: Interval,
    /// The error at its beginning.
    error: f64,
}

impl Part<'_> {
    /// A bound of the error on the piece, and the error at its end.
    fn tube(&self) -> Option<(f64, f64)> {
        let mut radius = 1.2 * (self.error + self.rate.hi() * self.time) * (self.mu * self.time).exp();
        for _ in 0..6 {
            let reach: Vec<f64> = (0..self.system.len()).map(|i| self.system.reach(i, radius)).collect();
            let widest = reach.iter().copied().fold(0.0, f64::max);
            // Beyond this nothing is left to prove.
            if radius.is_nan() || widest >= 0.2 {
                return None;
            }
            let end = self.after(&reach, widest, radius);
            if end <= radius {
                return Some((radius, end));
            }
            radius = if end < 4.0 * radius { 1.3 * end } else { 2.0 * radius };
        }
        None
    }

    /// `(error + time (rate + c q)) e^{(mu + Lambda radius) time}`, upwards.
    fn after(&self, reach: &[f64], widest: f64, radius: f64) -> f64 {
        let (s, time) = (self.system, point(self.time));
        let wide: Vec<_> = self.range.iter().enumerate().map(|(at, x)| *x + Interval::symmetric(reach[at / s.d])).collect();
        let local = Local::new(s, &wide, self.norm + Interval::symmetric(widest), self.axes, true);
        let (lambda, c) = curvature(s, &local, reach);
        let growth = (point(self.mu) + point(lambda) * point(radius)) * time;
        let added = time * (self.rate + point(c) * point(self.bulge));
        let end = ((point(self.error) + added) * growth.exp()).hi();
        if end.is_nan() { f64::INFINITY } else { end }
    }
}

/// Every row divided by its length, nearly.
pub(super) fn unit(d: usize, x: &[f64]) -> Vec<f64> {
    x.chunks_exact(d)
        .flat_map(|row| {
            let length = row.iter().map(|v| v * v).sum::<f64>().sqrt();
            row.iter().map(move |v| v / length)
        })
        .collect()
}

/// Bound of the distance between x and any start whose tokens are within `radius` of the directions of these rows, in the norm of the masses.
pub(super) fn first_error(system: &System, rows: &[f64], x: &[f64], radius: f64) -> f64 {
    let mut total = point(0.0);
    for (i, (row, x)) in rows.chunks_exact(system.d).zip(x.chunks_exact(system.d)).enumerate() {
        let size = sum(row.iter().map(|v| point(*v).sqr())).sqrt();
        let off: Vec<_> = row.iter().zip(x).map(|(r, x)| point(*r) / size - point(*x)).collect();
        total = total + system.masses[i] * (point(radius) + length(&off)).sqr();
    }
    total.sqrt().hi()
}
