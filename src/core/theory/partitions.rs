//! Critical points on the circle for large beta: one for every set partition in a cyclic order.
//!
//! The proof is the page `partitions` of the guide.

use super::threshold::tau_star;
use crate::error::{Error, Result};
use crate::num::interval::{Interval, check_fp_environment};
use crate::num::number::Number;
use crate::num::roots::bisect;
use std::f64::consts::PI;

/// The condition of the theorem at one beta: for tokens of these masses on the circle and every
/// larger beta, each set partition of the tokens into k clusters, in each cyclic order, has
/// exactly one critical point of the energy, and there are no others. It is nondegenerate and has
/// k - 1 unstable directions.
///
/// With masses of sum 1, m_1 <= m_2 the smallest, `u(d) = e^{beta (cos d - 1)} sin d` and tau the
/// place of its largest value, the condition is, for n >= 3,
///
/// - `beta >= 3/2 - log 2`, `tau < 2 pi/n` and `4 m_1 m_2 u(tau) > u(2 pi/n)`; then
///   a < tau < b are the two angles with `4 m_1 m_2 u = u(2 pi/n)`;
/// - `(n-1) a < pi`;
/// - `(m_1 + m_2) e^{-beta L^2/2} sin(L)/L > (1 - m_1 - m_2) omega` with `L = (n-2) a` and, for
///   `y = beta (1 - cos b)`, `omega = e^{-y} (y + (y-1) cos b)` if `y >= 3/2`, else
///   `2 e^{-3/2}`.
///
/// If it holds at one beta, it holds at every larger one. For n = 2 it holds for every beta > 0.
///
/// **Accuracy** proved in interval arithmetic; within about 1e-12 of the threshold the answer is
/// false. **Errors** fewer than two masses, masses that are not positive and finite, arithmetic
/// that is not IEEE.
///
/// ```
/// use metastable::theory::partitions::holds;
/// assert!(holds(&[1.0; 4], 3.1)? && !holds(&[1.0; 4], 2.5)?);
/// # Ok::<(), metastable::Error>(())
/// ```
pub fn holds(masses: &[f64], beta: f64) -> Result<bool> {
    check_masses(masses)?;
    check_fp_environment()?;
    let finite = beta > 0.0 && beta < f64::INFINITY;
    Ok(finite && (masses.len() == 2 || condition(masses, beta)))
}

/// **Errors** fewer than two masses, or masses that are not positive and finite.
fn check_masses(masses: &[f64]) -> Result<()> {
    if masses.len() < 2 {
        return Err(Error::parameter("masses", masses.len(), "at least two masses"));
    }
    match masses.iter().find(|m| m.is_nan() || **m <= 0.0 || m.is_infinite()) {
        Some(m) => Err(Error::parameter("masses", m, "positive masses")),
        None => Ok(()),
    }
}

/// `log u(d)` without underflow for large beta.
fn log_u(d: Interval, beta: f64) -> Interval {
    let half = d * exact(0.5);
    let sine = half * half.sinc();
    exact(-2.0 * beta) * sine.sqr() + Number::ln(d * d.sinc())
}

/// `1 - cos(d)`.
fn versine(d: Interval) -> Interval {
    let half = d * exact(0.5);
    exact(2.0) * (half * half.sinc()).sqr()
}

fn exact(v: f64) -> Interval {
    Interval::exact(v)
}

/// The condition for n >= 3, proved in interval arithmetic; false also if it is not decided.
fn condition(masses: &[f64], beta: f64) -> bool {
    let n = masses.len() as f64;
    let mut sorted = masses.to_vec();
    sorted.sort_by(f64::total_cmp);
    let sum = |all: &[f64]| all.iter().fold(Interval::ZERO, |s, m| s + exact(*m));
    let (total, rest) = (sum(&sorted), sum(&sorted[2..]));
    let (first, second) = (exact(sorted[0]) / total, exact(sorted[1]) / total);
    let edge = exact(2.0) * <Interval as Number>::pi() / exact(n);
    // 1 - cos(tau) = (1 + 1 / (r + 2 beta)) / (1 + r) with r^2 = 1 + 4 beta^2.
    let twice = exact(2.0) * exact(beta);
    let r = (exact(1.0) + twice.sqr()).sqrt();
    let turn = (exact(1.0) + exact(1.0) / (r + twice)) / (exact(1.0) + r);
    let level = log_u(edge, beta) - Number::ln(exact(4.0) * first * second);
    let least = exact(1.5) - Number::ln(exact(2.0));
    let tau = tau_star(2, beta);
    let starts = beta >= least.hi()
        && turn.hi() < versine(edge).lo()
        && log_u(exact(tau), beta).lo() > level.hi();
    if !starts {
        return false;
    }
    // A bound of a from above, and one of b from below, near their approximate values: between
    // them u exceeds the level.
    let above = |d: f64| log_u(exact(d), beta).lo() > level.hi();
    let approximate = |d: f64| -2.0 * beta * (0.5 * d).sin().powi(2) + d.sin().ln();
    let near = |f: &dyn Fn(f64) -> f64, level: f64, ends: (f64, f64)| {
        bisect(|d| f(d) >= level, ends, |_, _| false).1
    };
    let a = near(&approximate, level.mid(), (0.0, tau));
    let b = near(&|d| -approximate(d), -level.mid(), (tau, edge.mid()));
    let steps = (0..40).map(|k| 4.0 * f64::EPSILON * f64::from(k).exp2());
    let a = steps.clone().map(|e| (a * (1.0 + e)).next_up()).find(|a| above(*a));
    let b = steps.map(|e| b * (1.0 - e)).find(|b| above(*b));
    let (Some(a), Some(b)) = (a, b) else { return false };
    // a is on the side where u rises, b where it falls.
    if versine(exact(a)).hi() >= turn.lo() || versine(exact(b)).lo() <= turn.hi() {
        return false;
    }
    let length = exact(n - 2.0) * exact(a);
    if (exact(n - 1.0) * exact(a)).hi() >= PI {
        return false;
    }
    // omega falls with b.
    let height = versine(exact(b));
    let y = exact(beta) * height;
    let log_omega = if y.lo() < 1.5 {
        Number::ln(exact(2.0)) - exact(1.5)
    } else {
        Number::ln(y + (y - exact(1.0)) * (exact(1.0) - height)) - y
    };
    let pull =
        Number::ln(first + second) - exact(0.5 * beta) * length.sqr() + Number::ln(length.sinc());
    pull.lo() > (Number::ln(rest / total) + log_omega).hi()
}

/// The smallest beta at which the condition of [`holds`] is satisfied, and so at every larger one:
/// 0.81, 2.58, 5.52, 9.47 for three to six equal masses, of the order `n^2 log n` for many. 0 for
/// two tokens; infinite if masses are too small for f64.
///
/// **Accuracy** 1e-12, from above. **Errors** as [`holds`].
///
/// ```
/// use metastable::theory::partitions::threshold;
/// assert!((threshold(&[1.0; 5])? - 5.51).abs() < 0.01);
/// # Ok::<(), metastable::Error>(())
/// ```
pub fn threshold(masses: &[f64]) -> Result<f64> {
    check_masses(masses)?;
    check_fp_environment()?;
    if masses.len() == 2 {
        return Ok(0.0);
    }
    let mut high = 1.0;
    while !condition(masses, high) {
        high *= 2.0;
        if high > 1e300 {
            return Ok(f64::INFINITY);
        }
    }
    let is_narrow = |low: f64, high: f64| high - low <= 1e-13 * high;
    Ok(bisect(|beta| condition(masses, beta), (0.5, high), is_narrow).1)
}

/// The number of set partitions of n labelled tokens into k clusters in a cyclic order,
/// `(k-1)! S(n, k)`, for k = 1, ..., n: by the theorem, the labelled critical points with k - 1
/// unstable directions, modulo rotations. Infinite numbers are beyond the range of f64.
///
/// ```
/// use metastable::theory::partitions::cyclic_partitions;
/// assert_eq!(cyclic_partitions(4), [1.0, 7.0, 12.0, 6.0]);
/// ```
pub fn cyclic_partitions(n: usize) -> Vec<f64> {
    // T(n, k) = (k-1)! S(n, k) = k T(n-1, k) + (k-1) T(n-1, k-1), and T(1, 1) = 1.
    let mut row: Vec<f64> = vec![1.0];
    for _ in 1..n {
        let old = |k: usize| row.get(k).copied().unwrap_or_default();
        let next = |k: usize| {
            let earlier = if k == 0 { 0.0 } else { k as f64 * old(k - 1) };
            (k + 1) as f64 * old(k) + earlier
        };
        row = (0..=row.len()).map(next).collect();
    }
    row.truncate(n);
    row
}

/// The number of critical points of n equal tokens on the circle at which the theorem counts one
/// for every cyclic composition of n, up to rotations, reflections and permutations: binary
/// bracelets of length n with at least one bead of the second colour.
///
/// ```
/// use metastable::theory::partitions::orbits;
/// assert_eq!([3, 4, 5, 6, 7, 8].map(orbits), [3, 5, 7, 12, 17, 29]);
/// ```
pub fn orbits(n: usize) -> usize {
    let n = n.clamp(1, 60);
    let gcd = |mut a: usize, mut b: usize| {
        while b > 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    // Burnside's lemma over the 2 n symmetries of the polygon.
    let rotations: u64 = (1..=n).map(|r| 1u64 << gcd(n, r)).sum();
    let reflections = match n % 2 {
        1 => n as u64 * (1u64 << n.div_ceil(2)),
        _ => (n as u64 / 2) * ((1u64 << (n / 2)) + (1u64 << (n / 2 + 1))),
    };
    ((rotations + reflections) / (2 * n as u64)) as usize - 1
}
