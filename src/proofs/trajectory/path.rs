//! A polynomial path, and a bound of its defect.

use super::enclosure::{Axis, point};
use super::series::Series;
use super::system::{System, power_of_two};
use crate::num::interval::Interval;
use crate::num::vector::max_abs;

/// A polynomial path p on `[0, h]`, in the time `s = t / unit`, with bounds of its defect:
/// `|p' - F(p)| <= sum_k defect_k s^k` (Lemma 5), and `||p_i|^2 - 1| <= q`.
pub(super) struct Path<'a> {
    pub(super) system: &'a System,
    /// Coefficients by order.
    x: Vec<Vec<f64>>,
    /// A power of two near the length. In units of 1 the coefficients of slow paths would
    /// underflow.
    unit: f64,
    h: f64,
    defect: Vec<f64>,
    pub(super) q: f64,
}

/// Largest length of a step, 1.1e12: growth rates are known to about 1e-16.
const MAX_LENGTH: f64 = (1u64 << 40) as f64;

/// `sum_{k >= from} factor(k) x_k t^(k - from)`, coordinate by coordinate.
fn horner(
    x: &[Vec<f64>],
    t: Interval,
    factor: impl Fn(usize) -> Interval,
    from: usize,
) -> Vec<Interval> {
    let size = x[0].len();
    let at = |c: usize| {
        (from..x.len()).rev().fold(point(0.0), |s, k| s * t + factor(k) * point(x[k][c]))
    };
    (0..size).map(at).collect()
}

impl<'a> Path<'a> {
    /// A path from `start` with a defect of about `tolerance`, or `None` if no length that is not
    /// tiny has one. `guess` is the length of the step before.
    pub(super) fn new(
        system: &'a System,
        start: &[f64],
        order: usize,
        tolerance: f64,
        guess: f64,
    ) -> Option<Self> {
        let (mut series, mut unit) = (Series::new(system, Interval::mid), power_of_two(guess));
        let mut x = vec![start.to_vec()];
        for k in 0..order {
            let next = series.push(x[k].iter().copied());
            x.push(next.iter().map(|f| unit * f / (k + 1) as f64).collect());
        }
        let length = |k: usize| (tolerance / max_abs(&x[k])).powf(1.0 / k as f64);
        // If all coefficients are 0, the length is MAX_LENGTH.
        let h = (0.9 * length(order).min(length(order - 1))).min(MAX_LENGTH / unit);
        let scale = power_of_two(h);
        x.iter_mut()
            .enumerate()
            .for_each(|(k, x)| x.iter_mut().for_each(|x| *x *= scale.powi(k as i32)));
        unit *= scale;
        let mut path = Self { system, x, unit, h: h / scale, defect: Vec::new(), q: 0.0 };
        path.bound_coefficients();
        for _ in 0..20 {
            if path.h.is_nan() || path.h * path.unit <= 1e-6 {
                return None;
            }
            path.bound_remainder();
            let terms: Vec<f64> =
                path.defect.iter().enumerate().map(|(k, d)| d * path.h.powi(k as i32)).collect();
            let last = terms[order] / (order + 1) as f64;
            if last
                <= 4.0 * terms[..order].iter().sum::<f64>()
                    + 10.0 * tolerance / (path.h * path.unit)
            {
                path.bound_q();
                return path.q.is_finite().then_some(path);
            }
            path.h *= 0.7;
        }
        None
    }

    /// `|delta_k|` for `k < K` (Lemma 5).
    fn bound_coefficients(&mut self) {
        let order = self.x.len() - 1;
        let (mut series, unit) = (Series::new(self.system, |m| m), point(self.unit));
        self.defect = (0..order)
            .map(|k| {
                let field = series.push(self.x[k].iter().map(|v| point(*v)));
                let delta: Vec<_> = field
                    .iter()
                    .zip(&self.x[k + 1])
                    .map(|(f, x)| point((k + 1) as f64) * point(*x) / unit - *f)
                    .collect();
                self.system.norm(&delta)
            })
            .collect();
        self.defect.push(f64::INFINITY);
    }

    /// `|delta_K|` (Lemma 5): the K-th Taylor coefficient of the field along the path, about all
    /// times of the step at once.
    fn bound_remainder(&mut self) {
        let order = self.x.len() - 1;
        let t = Interval::new(0.0, self.h);
        let mut series = Series::new(self.system, |m| m);
        let mut field = Vec::new();
        for k in 0..=order {
            field = series.push(horner(&self.x, t, |l| point(binomial(l, k)), k));
        }
        self.defect[order] = self.system.norm(&field);
    }

    /// q: a bound of `||p_i|^2 - 1|` on the step, coefficient by coefficient.
    fn bound_q(&mut self) {
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
        self.q = worst;
    }

    /// Length in time.
    pub(super) fn length(&self) -> f64 {
        self.h * self.unit
    }

    /// Bound of the defect up to the time t.
    pub(super) fn defect_bound(&self, t: f64) -> Interval {
        let t = t / self.unit;
        self.defect.iter().rev().fold(point(0.0), |s, d| s * point(t) + point(*d))
    }

    /// Its end point.
    pub(super) fn end(&self) -> Vec<Interval> {
        horner(&self.x, point(self.h), |_| point(1.0), 0)
    }

    /// Upper bound of its speed at the start.
    pub(super) fn initial_speed(&self) -> f64 {
        let velocity: Vec<_> = self.x[1].iter().map(|v| point(*v) / point(self.unit)).collect();
        self.system.norm(&velocity)
    }

    /// A box that contains the path on `[a, b]`, by the mean value form, and the axes of the
    /// tangent frames there.
    pub(super) fn range(&self, a: f64, b: f64) -> (Vec<Interval>, Vec<Axis>) {
        let (a, b) = (a / self.unit, b / self.unit);
        let middle = 0.5 * (a + b);
        let at = horner(&self.x, point(middle), |_| point(1.0), 0);
        let slopes: Vec<_> = derivative(&self.x, Interval::new(a, b));
        let offset = Interval::new(a, b) - point(middle);
        let centre: Vec<f64> = at.iter().map(|v| v.mid()).collect();
        let axes = centre.chunks_exact(self.system.d).map(Axis::of).collect();
        (at.iter().zip(slopes).map(|(x, s)| *x + s * offset).collect(), axes)
    }
}

/// The derivative of the polynomial.
fn derivative(x: &[Vec<f64>], t: Interval) -> Vec<Interval> {
    let at = |c: usize| {
        (1..x.len()).rev().fold(point(0.0), |s, k| s * t + point(k as f64) * point(x[k][c]))
    };
    (0..x[0].len()).map(at).collect()
}

/// The binomial coefficient `l` over `k`, exact below 2^53.
fn binomial(l: usize, k: usize) -> f64 {
    (0..k).fold(1u64, |c, i| c * (l - i) as u64 / (i + 1) as u64) as f64
}
