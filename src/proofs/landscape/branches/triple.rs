//! Three clusters of equal mass m opposite to a fourth one, of mass M.
//!
//! The three have the places `x_i`, with the sum 0, from their centre of mass, and this is delta
//! away from the point opposite to the fourth. With `p(d) = M u(pi - d)` for the pull of the fourth
//! at the place `d = x + delta`, and odd series `u(d) = sum_k a_k d^k`, `p(d) = sum_k v_k d^k`, the
//! forces are `F(x_i)` for `F(x) = m sum_j u(x_j - x) + p(x + delta)`. In equilibrium, the second
//! divided difference `F[x_1, x_2, x_3]` is 0.
//!
//! **Lemma** `delta = e D` and `F[x_1, x_2, x_3] = e R` with `e = x_1 x_2 x_3` and smooth D, R.
//! Proof: with `s = (x_1^2 + x_2^2 + x_3^2) / 2`, the power sums and the complete symmetric
//! polynomials have `p_k = s p_(k-2) + e p_(k-3)` and `h_k = s h_(k-2) + e h_(k-3)` because
//! `e_1 = 0`, so the odd ones are multiples of e. The divided difference of `x^i` is `h_(i-2)`, so
//! that of `sum_j (x_j - x)^k` is `sum_i (-1)^i C(k, i) p_(k-i) h_(i-2)`, and that of
//! `(x + delta)^k` is `sum_i C(k, i) delta^(k-i) h_(i-2)`: for odd k, each term has an odd factor
//! of e or delta. The force on the three is `sum_k v_k sum_i C(k, i) delta^(k-i) p_i = 0`, and it
//! gives `delta = e D` in the same way. QED
//!
//! So if R is not 0 on a box, all critical points there with three distinct places have `x_2 = 0`
//! and `delta = 0`: they are their own mirror images, `x = (-g, 0, g)`, and R is the derivative
//! across. There the only equation is `-U(t) - 2 U(4 t) + (M/m) V(t) = 0` for `t = g^2`.
//!
//! **Remainders** By Cauchy's inequality, `|a_k|, |v_k / M| <= C / rho^k` with
//! `C = cosh(rho) e^{beta (cosh(rho) - 1)}`. Let `r = max |x_i|` and `w >= 1.2 r`. From `s <= r^2`
//! and `|e| <= r^3 / 4`, by induction: `|h_k| <= w^k`, `|h_k / e| <= 3.5 w^(k-3)`,
//! `|p_k| <= 3 w^k`, `|p_k / e| <= 10.5 w^(k-3)`, because `1 / 1.44 + 3.5 / (16 1.2^6) < 1` and
//! `3.5 / 1.44 + 1 < 3.5`. With `|delta| <= w / 4`, sums over i become powers of `2 w` and
//! `1.25 w`.

use super::super::cell::Mass;
use super::super::kernel::Law;
use super::even::even;
use super::jet::pull_coefficients;
use super::shape::Shapes;
use super::solve::Value;
use super::system::System;
use crate::num::interval::Interval;

/// The largest degree of the series, odd.
const DEGREE: usize = 15;

/// Radii of the circle of Cauchy's inequality that are tried.
const CIRCLES: [f64; 4] = [2.0, 2.8, 3.5, 4.5];

/// Coefficients of `u(centre + x)` for the cosine c of the centre, 1 or -1, and all beta.
fn coefficients(beta: Interval, c: f64) -> [Interval; DEGREE + 1] {
    let first = (beta * Interval::exact(c - 1.0)).exp();
    pull_coefficients(beta, Interval::ZERO, Interval::exact(c)).map(|v| first * v)
}

/// Binomial coefficients `C(k, i)`.
fn binomial(k: usize, i: usize) -> Interval {
    let found = (0..i).fold(1.0, |all, j| all * (k - j) as f64 / (j + 1) as f64);
    Interval::exact(f64::round(found))
}

/// Power sums or complete symmetric polynomials: even ones, and odd ones divided by e.
fn symmetric(zeroth: f64, s: Interval, e: Interval) -> [Interval; DEGREE + 1] {
    let mut all = [Interval::ZERO; DEGREE + 1];
    all[0] = Interval::exact(zeroth);
    // p_0 = 3 and p_2 = 2 s, or h_0 = 1 and h_2 = s.
    all[2] = Interval::exact(0.5 * (zeroth + 1.0)) * s;
    for k in 3..=DEGREE {
        let more = if k % 2 == 0 { e.sqr() * all[k - 3] } else { all[k - 3] };
        all[k] = s * all[k - 2] + more;
    }
    all
}

/// `sum_i C(k, i) delta^(k-i) f_i / e` for odd k, where `f_i` is symmetric: the factor of D from
/// even i, and the rest from odd i.
fn shifted(k: usize, square: Interval, f: &dyn Fn(usize) -> Interval) -> (Interval, Interval) {
    let power = |n: usize| (0..n / 2).fold(Interval::exact(1.0), |all, _| all * square);
    let (mut by_d, mut rest) = (Interval::ZERO, Interval::ZERO);
    for i in 0..=k {
        let term = binomial(k, i) * f(i);
        if i % 2 == 0 {
            by_d = by_d + term * power(k - i - 1);
        } else {
            rest = rest + term * power(k - i);
        }
    }
    (by_d, rest)
}

/// An enclosure of `R / m` for the ratio `M / m`, gaps in turns between the three, bounds of delta
/// in turns, and all beta.
fn ratio(
    mass: Interval,
    gaps: [Interval; 2],
    offset: Interval,
    beta: Interval,
) -> Option<Interval> {
    let exact = Interval::exact;
    let [one, two] = gaps.map(|g| g * Interval::TURN);
    let x = [-(one + one + two), one - two, one + two + two].map(|x| x / exact(3.0));
    let (e, delta) = (x[0] * x[1] * x[2], offset * Interval::TURN);
    // (x_1^2 + x_2^2 + x_3^2) / 2 = (g_1^2 + g_1 g_2 + g_2^2) / 3.
    let s = (one.sqr() + one * two + two.sqr()) / exact(3.0);
    let r = x.iter().map(|x| x.mag()).fold(0.0, f64::max);
    let w = exact((1.21 * r).max(4.1 * delta.mag()).max(1e-3));
    let (a, v) = (coefficients(beta, 1.0), coefficients(beta, -1.0));
    let (p, h) = (symmetric(3.0, s, e), symmetric(1.0, s, e));
    let wide = |size: Interval| Interval::symmetric(size.hi());
    let powers = |x: Interval, n: usize| (0..n).fold(exact(1.0), |all, _| all * x);
    CIRCLES.iter().find_map(|rho| {
        // C sum_k (factor w / rho)^k over odd k beyond the degree, divided by w^low.
        let cosh = ((exact(*rho)).exp() + (exact(-*rho)).exp()) / exact(2.0);
        let size = cosh * (Interval::new(0.0, beta.hi()) * (cosh - exact(1.0))).exp();
        let tail = |factor: f64, low: usize| -> Option<Interval> {
            let (first, by) = (exact(factor) / exact(*rho), exact(factor) * w / exact(*rho));
            let rest = exact(1.0) - by.sqr();
            let start = powers(first, low) * powers(by, DEGREE + 2 - low);
            (rest.lo() > 0.0).then(|| exact(size.hi()) * start / rest)
        };
        let square = delta.sqr();
        let (mut above, mut below) = (Interval::ZERO, Interval::ZERO);
        let (mut by_d, mut rest) = (Interval::ZERO, Interval::ZERO);
        for k in (1..=DEGREE).step_by(2) {
            // The pull is -u(pi + d).
            let (d, other) = shifted(k, square, &|i| p[i]);
            (below, above) = (below - v[k] * d, above - v[k] * other);
            let (d, other) = shifted(k, square, &|i| if i < 2 { Interval::ZERO } else { h[i - 2] });
            (by_d, rest) = (by_d - v[k] * d, rest - v[k] * other);
        }
        below = below + wide(exact(12.0) * tail(1.25, 1)?);
        above = above + wide(exact(10.5) * tail(1.25, 3)?);
        by_d = by_d + wide(exact(4.0) * tail(1.25, 3)?);
        rest = rest + wide(exact(3.5) * tail(1.25, 5)?);
        if below.contains(0.0) {
            return None;
        }
        let d = -(above / below);
        let mut found = mass * (rest + d * by_d) + wide(exact(10.5) * tail(2.0, 5)?);
        for k in (1..=DEGREE).step_by(2) {
            for i in 2..=k {
                let sign = exact(if i % 2 == 0 { 1.0 } else { -1.0 });
                found = found + sign * a[k] * binomial(k, i) * p[k - i] * h[i - 2];
            }
        }
        (!found.contains(0.0)).then_some(found)
    })
}

/// The first of three neighbours of equal mass, if there are four clusters.
pub(super) fn first_of_three(masses: &[Mass]) -> Option<usize> {
    let same = |a: usize, b: usize| masses[a % 4] == masses[b % 4] && !masses[a % 4].varies();
    let all = masses.len() == 4 && same(0, 1) && same(1, 2) && same(2, 3);
    (0..4).find(|x| masses.len() == 4 && !all && same(*x, x + 1) && same(x + 1, x + 2))
}

/// Whether all critical points of four clusters in a box of gaps in turns, for all values of the
/// parameter in an interval, are mirror images of themselves because R is not 0. The remainders of
/// R are those of the exponential; for other interactions the answer is no.
pub(super) fn are_symmetric(
    masses: &[Mass],
    law: &Law,
    gaps: &[Interval],
    parameter: Interval,
) -> bool {
    let (Some(first), Some(beta)) = (first_of_three(masses), law.beta(parameter)) else {
        return false;
    };
    let [one, two] = [gaps[first], gaps[(first + 1) % 4]];
    let (far, near) = (gaps[(first + 2) % 4], gaps[(first + 3) % 4]);
    if one.hi().max(two.hi()) > 0.2 || one.lo().min(two.lo()) < 0.0 || beta.lo() <= 0.0 {
        return false;
    }
    // Distances from the fourth cluster to the centre, in both directions, differ by 2 delta.
    let centre = near + (one + one + two) / Interval::exact(3.0);
    let other = far + (one + two + two) / Interval::exact(3.0);
    let offset = (centre - other) / Interval::exact(2.0);
    let mass = masses[(first + 3) % 4].at(parameter) / masses[first].at(parameter);
    ratio(mass, [one, two], offset, beta).is_some()
}

/// As [`are_symmetric`] where three clusters are near each other, opposite to the fourth.
pub(super) fn are_symmetric_near(masses: &[Mass], law: &Law, parameter: Interval) -> bool {
    let Some(first) = first_of_three(masses) else { return false };
    let mut gaps = [Interval::new(0.499, 0.501); 4];
    (gaps[first], gaps[(first + 1) % 4]) = (Interval::new(0.0, 1e-3), Interval::new(0.0, 1e-3));
    are_symmetric(masses, law, &gaps, parameter)
}

/// The equation of symmetric places for `t = g^2` and the masses M and m, its derivatives by t and
/// by the parameter, on which only M may depend.
fn equation(
    (mass, m): (Mass, Mass),
    t: Interval,
    shapes: &Shapes,
) -> (Interval, Interval, Interval) {
    let g = t.sqrt() / Interval::TURN;
    let (two, four) = (Interval::exact(2.0), Interval::exact(4.0));
    let near = even(shapes, 0.0, g);
    let far = even(shapes, 0.0, two * g);
    let pull = even(shapes, 0.5, g);
    let m = Interval::exact(m.fixed);
    let ratio = mass.at(shapes.parameter()) / m;
    let by_mass = if mass.varies() { pull.value / m } else { Interval::ZERO };
    (
        near.value + two * far.value + ratio * pull.value,
        near.slope + two * four * far.slope + ratio * pull.slope,
        near.by_parameter + two * far.by_parameter + ratio * pull.by_parameter + by_mass,
    )
}

impl System {
    /// The equation and its derivatives in [`Chart::OppositeTriple`](super::system::Chart);
    /// negative t count as 0.
    pub(super) fn evaluate_opposite_triple(&self, unknowns: &[Interval], shapes: &Shapes) -> Value {
        let t = Interval::new(unknowns[0].lo().max(0.0), unknowns[0].hi().max(0.0));
        let masses = (self.units[0].mass, self.units[1].mass);
        let (f, by, by_parameter) = equation(masses, t, shapes);
        Value { f: vec![f], by: vec![vec![by]], by_parameter: vec![by_parameter] }
    }
}

#[cfg(test)]
mod tests {
    use super::super::shape::Shapes;
    use super::{Interval, Law, Mass, are_symmetric, coefficients, equation, ratio};
    use crate::num::{roots::bracketed_root, stream::Stream};

    fn u(d: f64, beta: f64) -> f64 {
        (beta * (d.cos() - 1.0)).exp() * d.sin()
    }

    /// R by its definition: delta from the force on the three, and a divided difference.
    fn plain(mass: f64, gaps: [f64; 2], beta: f64) -> (f64, f64) {
        let [g, h] = gaps;
        let x = [-(2.0 * g + h) / 3.0, (g - h) / 3.0, (g + 2.0 * h) / 3.0];
        let pull = |d: f64| mass * u(std::f64::consts::PI - d, beta);
        let sum = |delta: f64| -> f64 { x.iter().map(|x| pull(x + delta)).sum() };
        let delta = bracketed_root(sum, -0.3, 0.3, 0.0).expect("a change of sign");
        let force = |d: f64| x.iter().map(|x| u(x - d, beta)).sum::<f64>() + pull(d + delta);
        let f = x.map(force);
        let slope = |a: usize, b: usize| (f[b] - f[a]) / (x[b] - x[a]);
        let second = (slope(1, 2) - slope(0, 1)) / (x[2] - x[0]);
        (second / (x[0] * x[1] * x[2]), delta)
    }

    #[test]
    fn the_ratio_contains_its_definition() {
        let (mut stream, tau) = (Stream::new(7, &["branches triple"]), std::f64::consts::TAU);
        for k in 0..200 {
            let (mass, beta) = (stream.uniform_in(3.0, 6.0), stream.uniform_in(0.05, 0.3));
            let g = stream.uniform_in(0.1, 0.4);
            let gaps = [g, g * stream.uniform_in(0.2, 0.8)];
            let (wanted, delta) = plain(mass, gaps, beta);
            let thin = |v: f64| Interval::new(v - 1e-7, v + 1e-7);
            let own = gaps.map(|g| thin(g / tau));
            let mass = Interval::exact(mass);
            let found = ratio(mass, own, thin(delta / tau), Interval::exact(beta));
            let found = found.expect("R is not 0");
            assert!(
                found.lo() - 1e-6 <= wanted && wanted <= found.hi() + 1e-6,
                "{found:?} {wanted}"
            );
            assert!(found.width() < 0.2 * wanted.abs(), "{k} {found:?}");
        }
    }

    #[test]
    fn a_mean_direction_without_beta_decides_nothing() {
        // At beta = 0 all configurations with mean 0 are critical, so R is 0.
        let gaps = [0.4995, 1e-3, 1e-3, 0.4995].map(|g| Interval::new(0.9 * g, g));
        let law = Law::Exponential;
        let masses = [3.0, 1.0, 1.0, 1.0].map(Mass::fixed);
        assert!(!are_symmetric(&masses, &law, &gaps, Interval::new(1e-9, 0.01)));
        let masses = [4.0, 1.0, 1.0, 1.0].map(Mass::fixed);
        assert!(are_symmetric(&masses, &law, &gaps, Interval::new(0.14, 0.15)));
        // Coefficients of u at 0: 1 and -(1 + 3 beta) / 6.
        let a = coefficients(Interval::exact(0.5), 1.0);
        assert!(a[1].contains(1.0) && (a[3].mid() + 2.5 / 6.0).abs() < 1e-15, "{a:?}");
    }

    #[test]
    fn the_equation_is_the_force_on_an_outer_cluster() {
        let mut stream = Stream::new(8, &["branches triple equation"]);
        for _ in 0..200 {
            let (mass, beta) = (stream.uniform_in(1.0, 6.0), stream.uniform_in(0.1, 1.0));
            let t = stream.uniform_in(0.001, 0.3);
            let of = |t: f64, beta: f64| {
                let g = t.sqrt();
                let far = mass * u(std::f64::consts::PI - g, beta);
                (u(g, beta) + u(2.0 * g, beta) - far) / g
            };
            let shapes = Shapes::new(&Law::Exponential, Interval::exact(beta));
            let masses = (Mass::fixed(mass), Mass::fixed(1.0));
            let (f, by, by_beta) = equation(masses, Interval::exact(t), &shapes);
            let near = |v: Interval, wanted: f64| {
                assert!(v.lo() - 1e-6 <= wanted && wanted <= v.hi() + 1e-6, "{v:?} {wanted}");
                assert!(v.width() < 1e-6, "{v:?}");
            };
            let h = 1e-6;
            near(f, of(t, beta));
            near(by, (of(t + h, beta) - of(t - h, beta)) / (2.0 * h));
            near(by_beta, (of(t, beta + h) - of(t, beta - h)) / (2.0 * h));
        }
    }
}
