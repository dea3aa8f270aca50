//! How far the field is from its linear part.
//!
//! With `e = x - p`, x on the sphere, n_i the weights of the norm (the masses; 1 under a causal mask), u = |e| and `eta_i = |e_i|`,
//! `<e, F(p + e) - F(p)> <= <e_T, J(p) e_T> + Lambda u^3 + c q u`, where `e_T` is the part of e tangent at p and q bounds `||p_i|^2 - 1|`. The second derivative of
//! `F = |x|^2 V - <x, V> x` in the direction e, paired with e, is `|x|^2 <e_T, V''> + 2 <x, e> <e, V'> - 2 <x, V'> |e|^2`, with
//! `V' = sum A_ij (e_j + w_ij l_j)` and `V'' = sum A_ij (2 e_j (l_j - m) + w_ij (2 beta <e_i, e_j> + l_j^2 - 2 m l_j))`, `l_j = beta (<e_i, x_j> + <x_i, e_j>)`,
//! `m = sum A_ij l_j` (0 where rows are not divided by their sums). Only sines enter the first order of `l_j`: e is tangent up to `|e|^2 / 2`, since both ends
//! are on the sphere. Sums over j are bounded by Cauchy and Schwarz; tokens of one point share its bounds, and `eta_i <= u / n_i^(1/2)`.

use super::local::{Local, length, point, sum};
use super::system::System;
use crate::num::interval::Interval;

/// The least error in units of q: below it nothing is claimed.
pub(super) const FLOOR: f64 = 4.0;

/// `(Lambda, c)` on a box that holds p, x and what lies between them; `reach` bounds `|e_i|`, and q is at most `small u`.
pub(super) fn curvature(system: &System, l: &Local, reach: &[f64], small: Interval) -> (f64, f64) {
    let k = l.k;
    let zero = || vec![point(0.0); k];
    let (mut rows, mut columns, mut third, mut constant) = (zero(), zero(), point(0.0), point(0.0));
    for i in 0..k {
        let row = Row::new(system, l, reach, small, i);
        let (b, g) = row.bounds(system.beta.abs(), l.square, point(reach[i]), small);
        rows[i] = b;
        third = third + system.weight(i) * g.sqr();
        let mut drift = row.radial;
        for (j, pull) in row.column(system.beta.abs(), l.square) {
            columns[j] = columns[j] + system.weight(i) * pull.0.sqr() / system.weight(j).sqr();
            drift = drift + pull.1;
        }
        constant = constant + system.weight(i) * drift.sqr();
    }
    let worst = rows.into_iter().zip(columns).map(|(r, c)| (r + c.sqrt()).hi()).fold(0.0, |a: f64, b| if b <= a { a } else { b });
    ((point(worst) + third.sqrt()).hi(), (point(0.5) * constant.sqrt()).hi())
}

/// Sums over what one token sees. All are upper bounds, points.
struct Row {
    /// Per point that is seen: its label, `A`, `|B w|`, the sine, `|g|` and `|<x_i, w>|`.
    pairs: Vec<[Interval; 5]>,
    labels: Vec<usize>,
    weights: Vec<Interval>,
    /// `1 / n_i^(1/2)` of the lightest token.
    share: Interval,
    /// `max |g| small / |x|^2`: what `l_j / beta` has beyond sines, per u.
    rest: Interval,
    /// What is multiplied by `<p_i, e_i>` of the token itself: the velocity, and the derivative of the field along `p_i`.
    radial: Interval,
    softmax: bool,
}

fn up(v: Interval) -> Interval {
    point(v.mag())
}

impl Row {
    fn new(system: &System, l: &Local, reach: &[f64], small: Interval, i: usize) -> Self {
        let (k, t) = (l.k, l.t);
        let own = (system.sizes[i] > 1).then_some(i);
        let labels: Vec<usize> = system.seen(i).chain(own).collect();
        let inverse = point(1.0) / l.square;
        let mut pairs = Vec::with_capacity(labels.len());
        for j in labels.iter().copied() {
            let g = up(l.g[i * k + j]);
            let sine = [l.h[(i * k + j) * t..][..t].iter(), l.h[(j * k + i) * t..][..t].iter()]
                .map(|h| length(&h.copied().collect::<Vec<_>>()).hi());
            let far = point(0.5 * reach[i].max(reach[j]));
            let sine = up(point(sine[0].max(sine[1])) + g * inverse * far);
            let along = if system.softmax { up(l.g[i * k + j] - l.s[i]) } else { g };
            let mut a = up(l.a[i * k + j]);
            if j == i {
                // The bounds of sums over its tokens take all of them.
                a = up(a * system.masses[i] / (system.masses[i] - point(system.least[i])));
            }
            pairs.push([a, length(&l.lean(system, i, j)), sine, g, along]);
        }
        let beta = up(point(system.beta));
        let lean = sum(pairs.iter().map(|p| p[0] * p[1] * p[3]));
        let velocity = length(&l.v[i * t..][..t]);
        let rest = pairs.iter().map(|p| p[3]).fold(point(0.0), |a, b| if b.hi() > a.hi() { b } else { a }) * inverse * small;
        let weights = labels.iter().map(|j| system.weight(*j)).collect();
        let share = point(1.0) / point(system.lightest(i)).sqrt();
        let radial = up(inverse.sqrt() * l.square * (beta * lean + point(3.0) * velocity));
        Self { pairs, labels, weights, share: up(share), rest: up(rest), radial, softmax: system.softmax }
    }

    /// `sum A f`.
    fn plain(&self, f: impl Fn(&[Interval; 5]) -> Interval) -> Interval {
        up(sum(self.pairs.iter().map(|p| p[0] * f(p))))
    }

    /// `(sum A^2 f^2 / n)^(1/2)`: the bound of `sum A f eta` per u.
    fn dual(&self, f: impl Fn(&[Interval; 5]) -> Interval) -> Interval {
        up(sum(self.pairs.iter().zip(&self.weights).map(|(p, m)| (p[0] * f(p)).sqr() / *m)).sqrt())
    }

    /// Bounds of the coefficients: of `eta_i^2 u` (those of `eta_i^3` included), and of `eta_i u^2`.
    fn bounds(&self, beta: f64, square: Interval, reach: Interval, small: Interval) -> (Interval, Interval) {
        let (b, two, q, unit) = (point(beta), point(2.0), self.rest, |_: &[Interval; 5]| point(1.0));
        let sine = |p: &[Interval; 5]| p[2];
        let (all, a0, a1, a2) = (self.plain(unit), self.plain(sine), self.dual(sine), self.dual(unit));
        let mean = if self.softmax { (a0, a1 + q * all) } else { (point(0.0), point(0.0)) };
        let (w0, w1, w) = (self.plain(|p| p[1] * p[2]), self.dual(|p| p[1] * p[2]), self.plain(|p| p[1]));
        let (z0, z1) = (self.plain(|p| p[1] * p[2].sqr()), self.dual(|p| p[1] * p[2].sqr()));
        let (r0, r1, r) = (self.plain(|p| p[4] * p[2]), self.dual(|p| p[4] * p[2]), self.plain(|p| p[4]));
        // Twice the covariance of e with l; w with the second derivative of l; the third moment.
        let mut second = two * b * (a1 + a2 * mean.0) + two * b * self.dual(|p| p[1]);
        let mut first = two * b * (q * a2 + a2 * mean.1);
        let mut cubic = b.sqr() * (z0 + two * mean.0 * w0);
        second = second + b.sqr() * (two * z1 + two * q * w0 + two * (mean.0 * (w1 + q * w) + w0 * mean.1));
        first = first + b.sqr() * (two * q * w1 + q.sqr() * w + two * mean.1 * (w1 + q * w));
        (second, first, cubic) = (square * second, square * first, square * cubic);
        // Twice <x, V'>, then <x, e> <e, V'>, where |w| <= 2 |x|.
        second = second + two * (a1 + q * all + b * (r1 + q * r));
        cubic = cubic + two * b * r0;
        let far = two * b * square.sqrt();
        second = second + reach * (a2 + far * (a1 + q * all)) + small * far * a0;
        cubic = cubic + reach * far * a0;
        first = first + small * (a2 + far * (a1 + q * all));
        // Half of it: Taylor's formula. The radial part of e is eta^2 / 2.
        let half = point(0.5);
        (up(half * (second + (cubic + self.radial) * self.share)), up(half * first))
    }

    /// Per point that is seen: the coefficients of `eta_i eta_j^2`, and those of its radial part.
    fn column(&self, beta: f64, square: Interval) -> Vec<(usize, (Interval, Interval))> {
        let (b, inverse) = (point(beta), point(1.0) / square.sqrt());
        let one = |p: &[Interval; 5]| {
            let radial = square * inverse * (p[2] + b * p[1] * p[3]);
            let second = square * (point(2.0) * b * p[2] + b.sqr() * p[1] * p[2].sqr());
            (up(p[0] * point(0.5) * (second + radial)), up(p[0] * radial))
        };
        self.labels.iter().copied().zip(self.pairs.iter().map(one)).collect()
    }
}
