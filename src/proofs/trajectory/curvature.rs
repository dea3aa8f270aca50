//! How far the field is from its linear part: the bounds `(Lambda, c)` of Lemma 2.
//!
//! Let `e = x - p`, x on the sphere, `D_i` the weights of the norm (the masses; 1 under a causal
//! mask), `u = |e|`, `eta_i = |e_i|`. Then
//! `<e, F(p + e) - F(p)> <= <e_T, F'(p) e_T> + Lambda u^3 + c q u`, where `e_T` is the part of e
//! tangent at p and q bounds `||p_i|^2 - 1|`. The second derivative of `F = |x|^2 V - <x, V> x` in
//! the direction e, paired with e, is
//!
//! * (C1) `|x|^2 <e_T, V''>`,
//!   `V'' = sum A_ij (2 e_j (l_j - m) + w_ij (2 beta <e_i, e_j> + l_j^2 - 2 m l_j))`,
//! * (C2) `-2 <x, V'> |e|^2`, `V' = sum A_ij (e_j + w_ij l_j)`,
//! * (C3) `2 <x, e> <e, V'>`,
//!
//! with `l_j = beta (<e_i, x_j> + <x_i, e_j>)` and `m = sum A_ij l_j` (0 for USA). As both ends are
//! on the sphere, e is tangent up to `(q + |e|^2) / 2`. So with the sine `s_j` of the angle between
//! `x_i` and `x_j`, enlarged for that part of second order, and with `q <= small u`,
//!
//! * (C4) `|l_j| <= beta (s_j (eta_i + eta_j) + rho u)`, `rho = max |G_ij| small / |x|^2`.
//!
//! Sums over j are bounded by Cauchy and Schwarz. Tokens of one point share its bounds, and
//! `eta_i <= u / D_i^(1/2)`.

use super::enclosure::{Enclosure, length, point, sum};
use super::system::System;
use crate::num::interval::Interval;

/// The least error for which growth is claimed, in units of q (Lemma 3).
pub(super) const MIN_ERROR_OVER_Q: f64 = 4.0;

/// `(Lambda, c)` on a box that contains p, x and the segments between them. `token_errors` bounds
/// `eta_i`, and q is at most `small u`.
pub(super) fn curvature(
    system: &System,
    l: &Enclosure,
    token_errors: &[f64],
    small: Interval,
) -> (f64, f64) {
    let k = l.k;
    let zero = || vec![point(0.0); k];
    let (mut rows, mut columns, mut squares, mut constant) =
        (zero(), zero(), point(0.0), point(0.0));
    for i in 0..k {
        let row = Row::new(system, l, token_errors, small, i);
        let (eta2_u, eta_u2) =
            row.coefficients(system.beta.abs(), l.x_squared, point(token_errors[i]), small);
        rows[i] = eta2_u;
        squares = squares + system.norm_weight(i) * eta_u2.sqr();
        let mut radial = row.own_radial;
        for (j, (eta_eta2, radial_j)) in row.columns(system.beta.abs(), l.x_squared) {
            columns[j] =
                columns[j] + system.norm_weight(i) * eta_eta2.sqr() / system.norm_weight(j).sqr();
            radial = radial + radial_j;
        }
        constant = constant + system.norm_weight(i) * radial.sqr();
    }
    let largest = rows
        .into_iter()
        .zip(columns)
        .map(|(r, c)| (r + c.sqrt()).hi())
        .fold(0.0, |a: f64, b| if b <= a { a } else { b });
    ((point(largest) + squares.sqrt()).hi(), (point(0.5) * constant.sqrt()).hi())
}

/// Upper bounds, as point intervals, for a pair of a token and a point that it sees.
struct Pair {
    j: usize,
    /// `A_ij`.
    a: Interval,
    /// `|B_i^T w_ij|`.
    w: Interval,
    /// `s_j` of (C4).
    s: Interval,
    /// `|G_ij|`.
    g: Interval,
    /// `|<x_i, w_ij>|`.
    xw: Interval,
    /// `D_j`, an enclosure.
    norm_weight: Interval,
}

/// The pairs of one token i.
struct Row {
    pairs: Vec<Pair>,
    /// `1 / D_i^(1/2)` of the lightest token of the point.
    max_eta: Interval,
    /// rho of (C4).
    rho: Interval,
    /// The factor of the radial part of `e_i` itself: the velocity, and the derivative of the field
    /// along `p_i`.
    own_radial: Interval,
    softmax: bool,
}

fn upper(v: Interval) -> Interval {
    point(v.mag())
}

impl Row {
    fn new(
        system: &System,
        l: &Enclosure,
        token_errors: &[f64],
        small: Interval,
        i: usize,
    ) -> Self {
        let (k, t) = (l.k, l.t);
        let same_point = (system.token_counts[i] > 1).then_some(i);
        let inverse = point(1.0) / l.x_squared;
        let mut pairs = Vec::with_capacity(k);
        for j in system.visible(i).chain(same_point) {
            let g = upper(l.g[i * k + j]);
            let sines = [l.bx[(i * k + j) * t..][..t].iter(), l.bx[(j * k + i) * t..][..t].iter()]
                .map(|bx| length(&bx.copied().collect::<Vec<_>>()).hi());
            let half_error = point(0.5 * token_errors[i].max(token_errors[j]));
            let s = upper(point(sines[0].max(sines[1])) + g * inverse * half_error);
            let xw = if system.softmax { upper(l.g[i * k + j] - l.xv[i]) } else { g };
            let mut a = upper(l.a[i * k + j]);
            if j == i {
                // The bounds by Cauchy and Schwarz sum over all tokens of the point, itself
                // included.
                a = upper(a * system.masses[i] / (system.masses[i] - point(system.min_mass[i])));
            }
            pairs.push(Pair {
                j,
                a,
                w: length(&l.bw(system, i, j)),
                s,
                g,
                xw,
                norm_weight: system.norm_weight(j),
            });
        }
        let beta = upper(point(system.beta));
        let sum_wg = sum(pairs.iter().map(|p| p.a * p.w * p.g));
        let velocity = length(&l.bv[i * t..][..t]);
        let rho =
            pairs.iter().map(|p| p.g).fold(point(0.0), |a, b| if b.hi() > a.hi() { b } else { a })
                * inverse
                * small;
        let max_eta = point(1.0) / point(system.min_norm_weight(i)).sqrt();
        let own_radial =
            upper(inverse.sqrt() * l.x_squared * (beta * sum_wg + point(3.0) * velocity));
        Self {
            pairs,
            max_eta: upper(max_eta),
            rho: upper(rho),
            own_radial,
            softmax: system.softmax,
        }
    }

    /// `sum_j A_ij f_j`.
    fn sum(&self, f: impl Fn(&Pair) -> Interval) -> Interval {
        upper(sum(self.pairs.iter().map(|p| p.a * f(p))))
    }

    /// `(sum_j A_ij^2 f_j^2 / D_j)^(1/2)`, which bounds `sum_j A_ij f_j eta_j / u`.
    fn cauchy_schwarz(&self, f: impl Fn(&Pair) -> Interval) -> Interval {
        upper(sum(self.pairs.iter().map(|p| (p.a * f(p)).sqr() / p.norm_weight)).sqrt())
    }

    /// Bounds of the coefficients of `eta_i^2 u` (including those of `eta_i^3`) and of `eta_i u^2`.
    fn coefficients(
        &self,
        beta: f64,
        x_squared: Interval,
        token_error: Interval,
        small: Interval,
    ) -> (Interval, Interval) {
        let (b, two, rho) = (point(beta), point(2.0), self.rho);
        // sum_... are sums of A_ij times the named factors, cs_... the same by Cauchy and Schwarz.
        let (sum_1, sum_s) = (self.sum(|_| point(1.0)), self.sum(|p| p.s));
        let (cs_s, cs_1) = (self.cauchy_schwarz(|p| p.s), self.cauchy_schwarz(|_| point(1.0)));
        // |m| / beta <= m_eta eta_i + m_u u.
        let (m_eta, m_u) =
            if self.softmax { (sum_s, cs_s + rho * sum_1) } else { (point(0.0), point(0.0)) };
        let (sum_ws, cs_ws, sum_w) =
            (self.sum(|p| p.w * p.s), self.cauchy_schwarz(|p| p.w * p.s), self.sum(|p| p.w));
        let (sum_wss, cs_wss) =
            (self.sum(|p| p.w * p.s.sqr()), self.cauchy_schwarz(|p| p.w * p.s.sqr()));
        let (sum_rs, cs_rs, sum_r) =
            (self.sum(|p| p.xw * p.s), self.cauchy_schwarz(|p| p.xw * p.s), self.sum(|p| p.xw));
        // (C1): 2 e_j (l_j - m) and 2 beta w <e_i, e_j>; then w (l_j^2 - 2 m l_j).
        let mut eta2_u = two * b * (cs_s + cs_1 * m_eta) + two * b * self.cauchy_schwarz(|p| p.w);
        let mut eta_u2 = two * b * (rho * cs_1 + cs_1 * m_u);
        let mut eta3 = b.sqr() * (sum_wss + two * m_eta * sum_ws);
        eta2_u = eta2_u
            + b.sqr()
                * (two * cs_wss
                    + two * rho * sum_ws
                    + two * (m_eta * (cs_ws + rho * sum_w) + sum_ws * m_u));
        eta_u2 = eta_u2
            + b.sqr() * (two * rho * cs_ws + rho.sqr() * sum_w + two * m_u * (cs_ws + rho * sum_w));
        (eta2_u, eta_u2, eta3) = (x_squared * eta2_u, x_squared * eta_u2, x_squared * eta3);
        // (C2).
        eta2_u = eta2_u + two * (cs_s + rho * sum_1 + b * (cs_rs + rho * sum_r));
        eta3 = eta3 + two * b * sum_rs;
        // (C3), with |w| <= 2 |x| and 2 |<x_i, e_i>| <= small u + eta_i^2.
        let b2x = two * b * x_squared.sqrt();
        eta2_u = eta2_u + token_error * (cs_1 + b2x * (cs_s + rho * sum_1)) + small * b2x * sum_s;
        eta3 = eta3 + token_error * b2x * sum_s;
        eta_u2 = eta_u2 + small * (cs_1 + b2x * (cs_s + rho * sum_1));
        // Taylor's formula takes one half. The radial part of e_i is eta_i^2 / 2.
        let half = point(0.5);
        (upper(half * (eta2_u + (eta3 + self.own_radial) * self.max_eta)), upper(half * eta_u2))
    }

    /// For each visible point j: the coefficient of `eta_i eta_j^2`, and the factor of the radial
    /// part of `e_j`.
    fn columns(&self, beta: f64, x_squared: Interval) -> Vec<(usize, (Interval, Interval))> {
        let (b, inverse) = (point(beta), point(1.0) / x_squared.sqrt());
        let one = |p: &Pair| {
            let radial = x_squared * inverse * (p.s + b * p.w * p.g);
            let eta_eta2 = x_squared * (point(2.0) * b * p.s + b.sqr() * p.w * p.s.sqr());
            (p.j, (upper(p.a * point(0.5) * (eta_eta2 + radial)), upper(p.a * radial)))
        };
        self.pairs.iter().map(one).collect()
    }
}
