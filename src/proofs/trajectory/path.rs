//! A polynomial path, and what it misses of the flow.

use super::local::{Axis, point};
use super::series::Series;
use super::system::{System, power_of_two};
use crate::num::interval::Interval;
use crate::num::vector::max_abs;

/// A polynomial path with bounds of its defect: `|p' - F(p)| <= sum_k defect_k s^k` at the time `s unit`, s in `[0, h]`, and `||p|^2 - 1| <= bulge`.
pub(super) struct Path<'a> {
    pub(super) system: &'a System,
    /// Coefficients by order.
    x: Vec<Vec<f64>>,
    /// A power of two, about its length: slow paths in units of 1 would have coefficients below the least double.
    unit: f64,
    h: f64,
    defect: Vec<f64>,
    pub(super) bulge: f64,
}

/// The longest step, 1.1e12: growth rates are known to about 1e-16.
const LONGEST: f64 = (1u64 << 40) as f64;

fn horner(x: &[Vec<f64>], t: Interval, factor: impl Fn(usize) -> Interval, from: usize) -> Vec<Interval> {
    let size = x[0].len();
    let at = |c: usize| (from..x.len()).rev().fold(point(0.0), |s, k| s * t + factor(k) * point(x[k][c]));
    (0..size).map(at).collect()
}

fn largest(v: &[f64]) -> f64 {
    max_abs(v)
}

impl<'a> Path<'a> {
    /// From x, with about `tolerance` of defect per unit time; nothing when no step is short enough. The last step was about as long as `guess`.
    pub(super) fn new(system: &'a System, start: &[f64], order: usize, tolerance: f64, guess: f64) -> Option<Self> {
        let (mut series, mut unit) = (Series::<f64>::new(system), power_of_two(guess));
        let mut x = vec![start.to_vec()];
        for k in 0..order {
            let next = series.push(x[k].iter().copied());
            x.push(next.iter().map(|f| unit * f / (k + 1) as f64).collect());
        }
        let length = |k: usize| (tolerance / largest(&x[k])).powf(1.0 / k as f64);
        // A path that does not move at all: any step will do.
        let h = (0.9 * length(order).min(length(order - 1))).min(LONGEST / unit);
        let scale = power_of_two(h);
        x.iter_mut().enumerate().for_each(|(k, x)| x.iter_mut().for_each(|x| *x *= scale.powi(k as i32)));
        unit *= scale;
        let mut path = Self { system, x, unit, h: h / scale, defect: Vec::new(), bulge: 0.0 };
        path.near();
        for _ in 0..20 {
            if path.h.is_nan() || path.h * path.unit <= 1e-6 {
                return None;
            }
            path.far();
            let terms: Vec<f64> = path.defect.iter().enumerate().map(|(k, d)| d * path.h.powi(k as i32)).collect();
            let last = terms[order] / (order + 1) as f64;
            if last <= 4.0 * terms[..order].iter().sum::<f64>() + 10.0 * tolerance / (path.h * path.unit) {
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
        let (mut series, unit) = (Series::<Interval>::new(self.system), point(self.unit));
        self.defect = (0..order)
            .map(|k| {
                let field = series.push(self.x[k].iter().map(|v| point(*v)));
                let delta: Vec<_> = field.iter().zip(&self.x[k + 1]).map(|(f, x)| point((k + 1) as f64) * point(*x) / unit - *f).collect();
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

    /// How long it is.
    pub(super) fn length(&self) -> f64 {
        self.h * self.unit
    }

    /// The bound of the defect up to this time.
    pub(super) fn rate(&self, t: f64) -> Interval {
        let t = t / self.unit;
        self.defect.iter().rev().fold(point(0.0), |s, d| s * point(t) + point(*d))
    }

    /// Where it ends.
    pub(super) fn end(&self) -> Vec<Interval> {
        horner(&self.x, point(self.h), |_| point(1.0), 0)
    }

    /// Its speed at the start.
    pub(super) fn speed(&self) -> f64 {
        let velocity: Vec<_> = self.x[1].iter().map(|v| point(*v) / point(self.unit)).collect();
        self.system.norm(&velocity)
    }

    /// Where it is on `[a, b]`.
    pub(super) fn range(&self, a: f64, b: f64) -> (Vec<Interval>, Vec<Axis>) {
        let (a, b) = (a / self.unit, b / self.unit);
        let middle = 0.5 * (a + b);
        let at = horner(&self.x, point(middle), |_| point(1.0), 0);
        let slope: Vec<_> = slope(&self.x, Interval::new(a, b));
        let way = Interval::new(a, b) - point(middle);
        let centre: Vec<f64> = at.iter().map(|v| v.mid()).collect();
        let axes = centre.chunks_exact(self.system.d).map(Axis::of).collect();
        (at.iter().zip(slope).map(|(x, s)| *x + s * way).collect(), axes)
    }
}

fn slope(x: &[Vec<f64>], t: Interval) -> Vec<Interval> {
    let at = |c: usize| (1..x.len()).rev().fold(point(0.0), |s, k| s * t + point(k as f64) * point(x[k][c]));
    (0..x[0].len()).map(at).collect()
}

/// `l` over `k`, exact below 2^53.
fn choose(l: usize, k: usize) -> f64 {
    (0..k).fold(1u64, |c, i| c * (l - i) as u64 / (i + 1) as u64) as f64
}
