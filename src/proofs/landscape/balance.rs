//! The test for small beta: combinations of forces from which the order parameter cancels.
//!
//! With `k(d) = (e^{beta cos d} - 1) sin d`, of size beta, the force on a cluster is `e^{-beta}`
//! times `Im(R conj(e_i)) + sum_j m_j k(theta_j - theta_i)`, where `e_i` is its place and
//! `R = sum_j m_j e_j` is the order parameter. For small beta the first part dominates, and all
//! configurations with R = 0 nearly balance. Numbers a with `S = sum_i a_i e_i` near 0 give
//! `sum_i a_i f_i = Im(R conj(S)) + sum_{i<j} (a_i m_j - a_j m_i) k(theta_j - theta_i)`, a product
//! of two small numbers plus a sum of size beta. So boxes of width `sqrt(beta)` are decided.
//!
//! Near coincidence of neighbours i and j at distance g the quotient `(f_i - f_j) / g` of Lemma 2
//! may take part with a number `a_p`: by the mean value theorem it adds `a_p (sin x, -cos y)` to S,
//! with x and y between both places, and
//! `a_p ((m_i + m_j) k'(z) + sum_t m_t k'(xi_t))` to the sum, z in [0, g].

use super::cell::{Arrangement, Cell, MAX_TOKENS, Pairs, Row, ZERO};
use super::kernel::{Kernel, Law, exp};
use crate::num::interval::Interval;

/// Largest `|beta|` for which the test is made.
const MOST: f64 = 0.5;

/// Numbers are whole multiples of the inverse of this.
const SCALE: f64 = 1e6;

/// Share of the sum of sizes by which a combination must miss 0: the verifier rounds otherwise.
const MARGIN: f64 = 1e-9;

/// A combination: the gap of a quotient and its number, and the numbers of the forces.
pub(super) type Combination = (Option<(usize, i32)>, Vec<i32>);

/// Sine and cosine over distances, and `k` and `k'` over distances and beta.
struct Ranges {
    turns: Kernel,
    beta: (f64, f64),
}

impl Ranges {
    fn new(beta: (f64, f64)) -> Self {
        Self { turns: Kernel::new((0.0, 0.0)), beta }
    }

    /// Sine and cosine: pull and weight for beta = 0.
    fn sin_cos(&self, (lo, hi): (f64, f64)) -> (Interval, Interval) {
        let found = self.turns.ranges(lo, hi);
        (found.u, found.w)
    }

    /// `k` and `k'`.
    fn kernel(&self, distances: (f64, f64)) -> (Interval, Interval) {
        let (sin, cos) = self.sin_cos(distances);
        let beta = Interval::new(self.beta.0, self.beta.1);
        let x = beta * cos;
        // The exponential has the relative error 2e-15, and |x| < 1.
        let whole = Interval::new(exp(x.lo()) * (1.0 - 4e-15), exp(x.hi()) * (1.0 + 4e-15));
        let less = whole - Interval::exact(1.0);
        (less * sin, less * cos - beta * whole * sin.sqr())
    }
}

/// The middle of a range.
fn middle(v: (f64, f64)) -> f64 {
    0.5 * (v.0 + v.1)
}

impl Arrangement {
    /// Distances from t to x in the direction of the order.
    fn towards(&self, pairs: &Pairs, t: usize, x: usize) -> (f64, f64) {
        let (lo, hi) = pairs.distance[t.min(x)][t.max(x)];
        if t < x { (lo, hi) } else { (1.0 - hi, 1.0 - lo) }
    }

    /// Places of the clusters as distances from the first.
    fn places(&self, pairs: &Pairs) -> Row<(f64, f64)> {
        std::array::from_fn(|q| if q == 0 { (0.0, 0.0) } else { pairs.distance[0][q] })
    }

    /// The range of the places between two neighbours.
    fn between(&self, places: &Row<(f64, f64)>, p: usize) -> (f64, f64) {
        (places[p].0, if p + 1 == self.k { 1.0 } else { places[p + 1].1 })
    }

    /// Whether a combination excludes equilibria with positive gaps.
    fn excludes(&self, pairs: &Pairs, cell: &Cell, (quotient, a): &Combination) -> bool {
        let (k, ranges, places) = (self.k, Ranges::new(cell.beta), self.places(pairs));
        let number = |v: i32| Interval::exact(f64::from(v));
        let (mut r, mut s, mut sum) = ((ZERO, ZERO), (ZERO, ZERO), ZERO);
        let mut size = 0.0;
        let mut add = |v: Interval| {
            size += v.mag();
            sum = sum + v;
        };
        for q in 0..k {
            let (sin, cos) = ranges.sin_cos(places[q]);
            let mass = Interval::exact(self.mass[q]);
            r = (r.0 + mass * cos, r.1 + mass * sin);
            s = (s.0 + number(a[q]) * cos, s.1 + number(a[q]) * sin);
        }
        for p in 0..k {
            for q in p + 1..k {
                // Whole numbers below 2^53.
                let factor = f64::from(a[p]) * self.mass[q] - f64::from(a[q]) * self.mass[p];
                add(Interval::exact(factor) * ranges.kernel(pairs.distance[p][q]).0);
            }
        }
        if let Some((p, own)) = *quotient {
            let (q, own) = ((p + 1) % k, number(own));
            let (sin, cos) = ranges.sin_cos(self.between(&places, p));
            s = (s.0 + own * sin, s.1 - own * cos);
            let both = Interval::exact(self.mass[p] + self.mass[q]);
            let mut rest = both * ranges.kernel((0.0, cell.gaps[p].1)).1;
            for t in (0..k).filter(|t| *t != p && *t != q) {
                let hull = (self.towards(pairs, t, p).0, self.towards(pairs, t, q).1);
                if hull.0 > hull.1 {
                    return false;
                }
                rest = rest + Interval::exact(self.mass[t]) * ranges.kernel(hull).1;
            }
            add(own * rest);
        }
        add(r.1 * s.0);
        add(-(r.0 * s.1));
        sum.mig() > MARGIN * size
    }

    /// A combination that excludes equilibria with positive gaps from a box of small beta.
    pub(super) fn balance(&self, cell: &Cell, pairs: &Pairs) -> Option<Combination> {
        let k = self.k;
        let is_small = cell.beta.0.abs().max(cell.beta.1.abs()) <= MOST;
        if !matches!(self.law, Law::Exponential) || !is_small {
            return None;
        }
        let narrowest =
            (0..k).min_by(|x, y| middle(cell.gaps[*x]).total_cmp(&middle(cell.gaps[*y])))?;
        [None, Some(narrowest).filter(|p| cell.gaps[*p].1 < 0.25)].into_iter().find_map(|p| {
            let found = self.combination(cell, pairs, p)?;
            self.excludes(pairs, cell, &found).then_some(found)
        })
    }

    /// The combination that is largest at the middle of a box: the sums of `k`, projected to the
    /// numbers with S = 0. No bound of errors.
    fn combination(&self, cell: &Cell, pairs: &Pairs, p: Option<usize>) -> Option<Combination> {
        let (k, beta) = (self.k, middle(cell.beta));
        let place = self.places(pairs).map(|v| middle(v) * std::f64::consts::TAU);
        let of = |d: f64| (beta * d.cos()).exp_m1() * d.sin();
        let slope = |d: f64| {
            let less = (beta * d.cos()).exp_m1();
            less * d.cos() - beta * (1.0 + less) * d.sin() * d.sin()
        };
        // Forces without R, and directions; the quotient last.
        let (mut f, mut v) = ([0.0; MAX_TOKENS + 1], [(0.0, 0.0); MAX_TOKENS + 1]);
        for i in 0..k {
            v[i] = (place[i].cos(), place[i].sin());
            f[i] = (0..k).map(|j| self.mass[j] * of(place[j] - place[i])).sum();
        }
        if let Some(p) = p {
            let (q, half) = ((p + 1) % k, std::f64::consts::PI * middle(cell.gaps[p]));
            let at = place[p] + half;
            let others = (0..k).filter(|t| *t != p && *t != q);
            f[k] = (self.mass[p] + self.mass[q]) * slope(2.0 * half)
                + others.map(|t| self.mass[t] * slope(place[t] - at)).sum::<f64>();
            v[k] = (at.sin(), -at.cos());
        }
        // Gram-Schmidt against both coordinates of the directions.
        let mut x = v.map(|v| v.0);
        let mut y = v.map(|v| v.1);
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let away = |from: &mut [f64; MAX_TOKENS + 1], unit: &[f64; MAX_TOKENS + 1]| {
            let size = dot(unit, unit);
            if size > 1e-12 {
                let share = dot(from, unit) / size;
                from.iter_mut().zip(unit).for_each(|(f, u)| *f -= share * u);
            }
        };
        if dot(&x, &x) < dot(&y, &y) {
            std::mem::swap(&mut x, &mut y);
        }
        away(&mut y, &x);
        away(&mut f, &x);
        away(&mut f, &y);
        let largest = f.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        if largest.is_nan() || largest <= 0.0 {
            return None;
        }
        let whole = |v: f64| (v / largest * SCALE).round() as i32;
        let numbers = f[..k].iter().map(|v| whole(*v)).collect();
        Some((p.map(|p| (p, whole(f[k]))), numbers))
    }
}
