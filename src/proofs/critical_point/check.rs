//! The tests in interval arithmetic that prove a certificate. The prover makes them for boxes of
//! several radii, and [`check`] repeats them for a certificate that was read. The program verifier
//! is the independent check: it has other equations and its own arithmetic.
//!
//! **Equations** without multipliers of the constraints: `f_q = sum_{p != q} s_p w_qp (|y_q|^2
//! y_p - <y_p, y_q> y_q) + kappa_q (1 - |y_q|^2) y_q + sum_a mu_a A_a y_q` and
//! `sum_q s_q <A_a p_q, y_q - p_q> = 0` with the points p. The sum over p is the force; it is
//! scaled by a positive factor per cluster. The product of `f_q` with `y_q` leaves
//! `kappa_q (1 - |y_q|^2) |y_q|^2 = 0`. So a zero lies on the sphere, as `y_q = 0` would make the
//! matrix of test 2 singular. Multiply `f_q` by `s_q A_b y_q`, divide by the factor of q and sum
//! over q: this leaves `sum_a mu_a G_ab = 0` with the Gram matrix of the displacements `A_a y`,
//! which are independent because the Jacobian is regular. So mu = 0, and a zero is a critical
//! point.
//!
//! **Tests**, each with examples that must be rejected in `rejections.rs`:
//! 1. Krawczyk: every coordinate of the image of the box needs less than its half width. Then
//!    exactly one zero lies in the box, and the Jacobian is regular on all of it.
//! 2. Signs between clusters: the Hessian on the box, bordered by the clusters and the rotations,
//!    is strictly diagonally dominant after a congruence. Borders that vanish or depend on each
//!    other, and kernels larger than the rotations, cannot pass.
//! 3. Signs within clusters, by the same test.
//! 4. Both counts are as stated. (With the rotations they add up to `n (d - 1)` by 2 and 3: every
//!    row has a sign.)

use super::Certificate;
use super::pairs::Pairs;
use crate::dense_intervals::{
    IntervalMatrix, apply, defect, inverse, krawczyk, middles, signature,
};
use crate::error::{Error, Result};
use crate::num::interval::{Interval, check_fp_environment};

/// What a test finds, or why it fails.
pub(super) type Tested<T> = std::result::Result<T, &'static str>;

fn rejected(why: &str) -> Error {
    Error::parameter(
        "certificate",
        format!("rejected: {why}"),
        "a statement that interval arithmetic confirms",
    )
}

/// Checks a certificate. If it is accepted, its statement is proved, by the numbers in it alone.
///
/// **Cost** cubic in K (d + 1), a few operations on intervals per step. **Errors** the test that
/// failed; more clusters or unknowns than [`check_size`](super::check_size) allows; a processor
/// that breaks the arithmetic ([`check_fp_environment`]).
pub fn check(c: &Certificate) -> Result<()> {
    check_fp_environment()?;
    c.validate()?;
    let pairs = Pairs::new(c)?;
    pairs.check_smooth(c)?;
    if !KrawczykTest::new(c, &pairs).map_err(rejected)?.holds(c.radius) {
        return Err(rejected("Newton's map does not send the box into itself"));
    }
    let (up, down) = count_signs(c, &pairs).map_err(rejected)?;
    if (up, down) != (c.unstable, c.morse_index) {
        return Err(rejected(&format!(
            "{up} positive and {down} negative eigenvalues, not {} and {}",
            c.unstable, c.morse_index
        )));
    }
    Ok(())
}

pub(super) fn point(v: f64) -> Interval {
    Interval::exact(v)
}

/// The box of half width `radius` around the points, one row of intervals per cluster.
pub(super) fn box_rows(c: &Certificate, radius: f64) -> IntervalMatrix {
    c.points
        .chunks(c.d)
        .map(|r| r.iter().map(|v| point(*v) + Interval::symmetric(radius)).collect())
        .collect()
}

fn inner(a: &[Interval], b: &[Interval]) -> Interval {
    a.iter().zip(b).map(|(a, b)| *a * *b).fold(point(0.0), |s, t| s + t)
}

/// The squared chord of two clusters.
fn chord2(y: &IntervalMatrix, q: usize, p: usize) -> Interval {
    y[q].iter().zip(&y[p]).map(|(a, b)| (*a - *b).sqr()).fold(point(0.0), |s, t| s + t)
}

/// A shift of the logarithms of the weights of each cluster that makes the largest weight about 1:
/// a positive factor of its equations.
pub(super) fn shifts(c: &Certificate, pairs: &Pairs) -> Vec<f64> {
    let y = box_rows(c, 0.0);
    let strongest = |q: usize| {
        (0..y.len())
            .filter(|p| *p != q)
            .map(|p| pairs.size(chord2(&y, q, p).mid()).0)
            .fold(f64::NEG_INFINITY, f64::max)
    };
    let shift = |q: usize| Some(-strongest(q)).filter(|s| s.is_finite()).unwrap_or(0.0);
    (0..y.len()).map(shift).collect()
}

/// The equations at (y, mu) and their Jacobian.
pub(super) fn equations(
    c: &Certificate,
    pairs: &Pairs,
    y: &IntervalMatrix,
    mu: &[Interval],
    shift: &[f64],
    kappa: &[f64],
) -> (Vec<Interval>, IntervalMatrix) {
    let (d, k) = (c.d, y.len());
    let size = k * d + mu.len();
    let (mut value, mut slope) = (vec![point(0.0); size], vec![vec![point(0.0); size]; size]);
    let square: Vec<Interval> =
        y.iter().map(|v| v.iter().map(|v| v.sqr()).fold(point(0.0), |s, t| s + t)).collect();
    for q in 0..k {
        for p in (0..k).filter(|p| *p != q) {
            let (w, slope_w) = pairs.at(chord2(y, q, p), shift[q]);
            let tokens = point(c.sizes[p] as f64);
            let (w, slope_w) = (w * tokens, slope_w * tokens);
            let g = inner(&y[p], &y[q]);
            for a in 0..d {
                let force = square[q] * y[p][a] - g * y[q][a];
                value[q * d + a] = value[q * d + a] + w * force;
                for b in 0..d {
                    let delta = |v: Interval| if a == b { v } else { point(0.0) };
                    // d w / dy_p = phi' (y_q - y_p), d w / dy_q the opposite.
                    let by_weight = slope_w * force * (y[q][b] - y[p][b]);
                    let by_p = w * (delta(square[q]) - y[q][b] * y[q][a]) + by_weight;
                    let by_q = w * (point(2.0) * y[q][b] * y[p][a] - y[p][b] * y[q][a] - delta(g))
                        - by_weight;
                    slope[q * d + a][p * d + b] = slope[q * d + a][p * d + b] + by_p;
                    slope[q * d + a][q * d + b] = slope[q * d + a][q * d + b] + by_q;
                }
            }
        }
        let defect = point(1.0) - square[q];
        for a in 0..d {
            value[q * d + a] = value[q * d + a] + point(kappa[q]) * defect * y[q][a];
            for b in 0..d {
                let delta = if a == b { defect } else { point(0.0) };
                let term = point(kappa[q]) * (delta - point(2.0) * y[q][a] * y[q][b]);
                slope[q * d + a][q * d + b] = slope[q * d + a][q * d + b] + term;
            }
        }
        for (m, (&(a, b), mu)) in c.rotations.iter().zip(mu).enumerate() {
            for (row, other, rotated) in [(a, b, -y[q][b]), (b, a, y[q][a])] {
                let (i, sign) = (q * d + row, if row == a { -*mu } else { *mu });
                value[i] = value[i] + *mu * rotated;
                slope[i][k * d + m] = rotated;
                slope[i][q * d + other] = slope[i][q * d + other] + sign;
            }
            // The gauge, zero at the centre of the box.
            let (s, centre) = (point(c.sizes[q] as f64), &c.points[q * d..(q + 1) * d]);
            for (at, rotated) in [(a, -centre[b]), (b, centre[a])] {
                let weight = s * point(rotated);
                value[k * d + m] = value[k * d + m] + weight * (y[q][at] - point(centre[at]));
                slope[k * d + m][q * d + at] = weight;
            }
        }
    }
    (value, slope)
}

/// Whether every coordinate of the image, of y and of mu, is inside the box. NaN is not.
pub(super) fn is_contraction(ratios: &[f64]) -> bool {
    ratios.iter().all(|s| *s < 1.0)
}

/// Krawczyk's test for boxes of any radius around the points of a certificate.
pub(super) struct KrawczykTest<'a> {
    c: &'a Certificate,
    pairs: &'a Pairs,
    shift: Vec<f64>,
    kappa: Vec<f64>,
    /// An approximate inverse C of the Jacobian at the points.
    inverse: Vec<Vec<f64>>,
    /// `C F` at the points.
    newton_step: Vec<Interval>,
}

impl<'a> KrawczykTest<'a> {
    /// **Errors** equations that are singular at the points.
    pub(super) fn new(c: &'a Certificate, pairs: &'a Pairs) -> Tested<Self> {
        let (k, shift, centre) = (c.sizes.len(), shifts(c, pairs), box_rows(c, 0.0));
        // Any positive kappa is valid; this one is of the size of the forces.
        let radial = |q: usize| {
            let forces = (0..k).filter(|p| *p != q).map(|p| {
                pairs.at(chord2(&centre, q, p), shift[q]).0
                    * point(c.sizes[p] as f64)
                    * inner(&centre[p], &centre[q])
            });
            forces.fold(point(0.0), |s, t| s + t)
        };
        let kappa: Vec<f64> = (0..k).map(|q| 1.0 + radial(q).mag()).collect();
        let mu = vec![point(0.0); c.rotations.len()];
        let (value, slope) = equations(c, pairs, &centre, &mu, &shift, &kappa);
        let inverse =
            inverse(&middles(&slope)).ok_or("the equations are singular at the points")?;
        let newton_step = apply(&inverse, &value);
        Ok(Self { c, pairs, shift, kappa, inverse, newton_step })
    }

    /// The largest change of a coordinate in a Newton step from the points.
    pub(super) fn newton_step(&self) -> f64 {
        let coordinates = &self.newton_step[..self.c.points.len()];
        coordinates.iter().map(|v| v.mag()).fold(0.0, f64::max)
    }

    /// Half width of the box in mu for a radius in y. Any positive number is valid. The force of
    /// each token varies by about (1 + beta) times the box; for an interaction beta is the largest
    /// relative slope of a pair.
    pub(super) fn mu_half_width(&self, radius: f64) -> f64 {
        let y = box_rows(self.c, 0.0);
        let relative = |q: usize, p: usize| match self.pairs {
            Pairs::Exponential(beta) => beta.abs(),
            Pairs::Formula(_) => self.pairs.size(chord2(&y, q, p).mid()).1 * self.shift[q].exp(),
        };
        let k = y.len();
        let others = (0..k).flat_map(|q| (0..k).filter(move |p| *p != q).map(move |p| (q, p)));
        let steepest = others.map(|(q, p)| relative(q, p)).fold(0.0, f64::max);
        radius * (1.0 + steepest) * self.c.sizes.iter().sum::<usize>() as f64
    }

    /// Upper bounds of `(|C F(z)| + |1 - C F'(X)| h)_i / h_i` with h the half widths of the box X:
    /// the radius in y and `mu_half_width` in mu. If all are below 1, the box contains exactly one
    /// zero.
    pub(super) fn ratios(&self, radius: f64, mu_half_width: f64) -> Vec<f64> {
        let (c, coordinates) = (self.c, self.c.points.len());
        let mu = vec![Interval::symmetric(mu_half_width); c.rotations.len()];
        let y = box_rows(c, radius);
        let (_, slope) = equations(c, self.pairs, &y, &mu, &self.shift, &self.kappa);
        let half = |i: usize| if i < coordinates { radius } else { mu_half_width };
        let offsets: Vec<Interval> =
            (0..slope.len()).map(|i| Interval::symmetric(half(i))).collect();
        let image = krawczyk(&self.newton_step, &defect(&self.inverse, &slope), &offsets);
        let ratio = |(i, v): (usize, &Interval)| (point(v.mag()) / point(half(i))).hi();
        image.iter().enumerate().map(ratio).collect()
    }

    /// Whether the box of this radius contains exactly one zero.
    pub(super) fn holds(&self, radius: f64) -> bool {
        is_contraction(&self.ratios(radius, self.mu_half_width(radius)))
    }
}

/// Numbers of positive and negative eigenvalues modulo rotations: between clusters, then within
/// each, for all points of the box.
///
/// **Errors** an eigenvalue without a certain sign.
pub(super) fn count_signs(c: &Certificate, pairs: &Pairs) -> Tested<(usize, usize)> {
    let (y, shift) = (box_rows(c, c.radius), shifts(c, pairs));
    let borders = c.sizes.len() + c.rotations.len();
    // A regular matrix with b independent borders has b eigenvalues of either sign, and those of
    // the form on the complement of the borders.
    let without = |(up, down): (usize, usize), borders: usize| {
        up.checked_sub(borders).zip(down.checked_sub(borders))
    };
    let (mut up, mut down) = signature(&between_clusters(c, pairs, &y, &shift))
        .and_then(|i| without(i, borders))
        .ok_or("an eigenvalue between clusters has no certain sign")?;
    for (q, size) in c.sizes.iter().enumerate().filter(|(_, size)| **size > 1) {
        // Where weights exceed 1 they may overflow: a positive factor keeps them small.
        let log_scale = shift[q].min(0.0);
        let own = signature(&within_cluster(c, pairs, &y, q, log_scale))
            .and_then(|i| without(i, 1))
            .ok_or("an eigenvalue within a cluster has no certain sign")?;
        up += (size - 1) * own.0;
        down += (size - 1) * own.1;
    }
    Ok((up, down))
}

/// The Hessian (of `e^{beta s}` divided by beta) for displacements of whole clusters, up to a
/// congruence by `e^{shift_q / 2}`, bordered by the clusters and the rotations. (With any positive
/// weights of the clusters, the borders of the rotations define a complement of the rotations.)
pub(super) fn between_clusters(
    c: &Certificate,
    pairs: &Pairs,
    y: &IntervalMatrix,
    shift: &[f64],
) -> IntervalMatrix {
    let (d, k) = (c.d, c.sizes.len());
    let size = k * (d + 1) + c.rotations.len();
    let mut h = vec![vec![point(0.0); size]; size];
    let mut add = |i: usize, j: usize, v: Interval| h[i][j] = h[i][j] + v;
    for q in 0..k {
        for p in (0..k).filter(|p| *p != q) {
            let masses = point(c.sizes[q] as f64) * point(c.sizes[p] as f64);
            let times = |(w, slope): (Interval, Interval)| (w * masses, slope * masses);
            let chord2 = chord2(y, q, p);
            let (cross, cross_slope) = times(pairs.at(chord2, 0.5 * shift[q] + 0.5 * shift[p]));
            let (own, own_slope) = times(pairs.at(chord2, shift[q]));
            let g = inner(&y[q], &y[p]);
            for a in 0..d {
                add(q * d + a, p * d + a, cross);
                add(q * d + a, q * d + a, -(own * g));
                for b in 0..d {
                    add(q * d + a, p * d + b, cross_slope * y[p][a] * y[q][b]);
                    add(q * d + a, q * d + b, own_slope * y[p][a] * y[p][b]);
                }
            }
        }
        for (a, v) in y[q].iter().enumerate() {
            add(q * d + a, k * d + q, *v);
            add(k * d + q, q * d + a, *v);
        }
        for (m, &(a, b)) in c.rotations.iter().enumerate() {
            for (coordinate, v) in [(a, -y[q][b]), (b, y[q][a])] {
                add(q * d + coordinate, k * (d + 1) + m, v);
                add(k * (d + 1) + m, q * d + coordinate, v);
            }
        }
    }
    h
}

/// The Hessian (of `e^{beta s}` divided by beta) for one token of cluster q relative to the others
/// of q, times `e^log_scale`, bordered by the cluster.
pub(super) fn within_cluster(
    c: &Certificate,
    pairs: &Pairs,
    y: &IntervalMatrix,
    q: usize,
    log_scale: f64,
) -> IntervalMatrix {
    let d = c.d;
    let mut h = vec![vec![point(0.0); d + 1]; d + 1];
    let own = point(c.sizes[q] as f64) * pairs.at(point(0.0), log_scale).0;
    for a in 0..d {
        h[a][a] = -own;
        (h[a][d], h[d][a]) = (y[q][a], y[q][a]);
    }
    for p in (0..c.sizes.len()).filter(|p| *p != q) {
        let tokens = point(c.sizes[p] as f64);
        let (w, slope) = pairs.at(chord2(y, q, p), log_scale);
        let (w, slope) = (w * tokens, slope * tokens);
        let g = inner(&y[q], &y[p]);
        for a in 0..d {
            h[a][a] = h[a][a] - w * g;
            for b in 0..d {
                h[a][b] = h[a][b] + slope * y[p][a] * y[p][b];
            }
        }
    }
    h
}
