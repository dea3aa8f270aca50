//! The checker. It shares the interval type and the file format with the prover, and nothing else: other equations, its own elimination and its own
//! eigenvectors.
//!
//! **Equations** without multipliers of the constraints, `f_q = sum_{p != q} s_p w_qp (|y_q|^2 y_p - <y_p, y_q> y_q) + kappa_q (1 - |y_q|^2) y_q + sum_a mu_a A_a y_q` and
//! `sum_q s_q <A_a p_q, y_q - p_q> = 0` with the points p. The sum over p is the force and is scaled by a positive factor per cluster.
//! Pairing f_q with `y_q` leaves `kappa_q (1 - |y_q|^2) |y_q|^2 = 0`: a zero lies on the sphere, as `y_q = 0` would make the matrix of signs
//! below singular. Pairing with `s_q A_b y_q` over the factor of q, and summing, leaves `sum_a mu_a G_ab = 0` with the Gram matrix of the
//! displacements `A_a y`, which are independent because the Jacobian is regular: mu = 0, and a zero is a critical point.
//!
//! **What decides**, each tested from the wrong side in `wrong_side.rs`:
//! 1. Krawczyk: every coordinate of the image of the box needs less than its half width. Then exactly one zero lies in the box, and the Jacobian is
//!    regular on all of it.
//! 2. Signs between clusters: the Hessian on the box, bordered by the clusters and the rotations, is strictly diagonally dominant after a
//!    congruence. Borders that vanish or depend on each other, and kernels larger than the rotations, cannot pass.
//! 3. Signs within clusters, the same.
//! 4. Both counts are the stated ones. (With the rotations they add up to `n (d - 1)` by 2 and 3: every row has a sign.)

use super::Certificate;
use crate::error::{Error, Result};
use crate::num::interval::{Interval, trusted};

pub(super) type IntervalMatrix = Vec<Vec<Interval>>;

fn rejected(why: &str) -> Error {
    Error::parameter("certificate", format!("rejected: {why}"), "a statement that interval arithmetic confirms")
}

/// Confirms a certificate: what its statement says is then proved, by the numbers in it alone.
///
/// **Cost** cubic in K (d + 1), a few operations on intervals per step. **Errors** the step that could not be confirmed; more clusters or unknowns
/// than [`check_size`](super::check_size) allows; a processor that breaks the arithmetic ([`trusted`]).
pub fn check(c: &Certificate) -> Result<()> {
    trusted()?;
    c.validate()?;
    if !contracts(&shares(c, slack(c))?) {
        return Err(rejected("Newton's map does not send the box into itself"));
    }
    let (up, down) = signs(c)?;
    if (up, down) != (c.unstable, c.morse_index) {
        return Err(rejected(&format!("{up} positive and {down} negative eigenvalues, not {} and {}", c.unstable, c.morse_index)));
    }
    Ok(())
}

pub(super) fn point(v: f64) -> Interval {
    Interval::exact(v)
}

/// Clusters as rows of intervals of this half width.
pub(super) fn rows(c: &Certificate, radius: f64) -> IntervalMatrix {
    c.points.chunks(c.d).map(|r| r.iter().map(|v| point(*v) + Interval::symmetric(radius)).collect()).collect()
}

fn inner(a: &[Interval], b: &[Interval]) -> Interval {
    a.iter().zip(b).map(|(a, b)| *a * *b).fold(point(0.0), |s, t| s + t)
}

/// `log w_qp` enclosed.
fn log_weight(c: &Certificate, y: &IntervalMatrix, q: usize, p: usize) -> Interval {
    let square = y[q].iter().zip(&y[p]).map(|(a, b)| (*a - *b).sqr()).fold(point(0.0), |s, t| s + t);
    -(point(c.beta) * square * point(0.5))
}

/// A shift per cluster that makes its strongest weight about 1: a positive factor of its equations.
pub(super) fn shifts(c: &Certificate) -> Vec<f64> {
    let y = rows(c, 0.0);
    let strongest = |q: usize| (0..y.len()).filter(|p| *p != q).map(|p| log_weight(c, &y, q, p).mid()).fold(f64::NEG_INFINITY, f64::max);
    (0..y.len()).map(|q| if y.len() > 1 { -strongest(q) } else { 0.0 }).collect()
}

/// The equations at (y, mu) and their derivative.
pub(super) fn equations(
    c: &Certificate,
    y: &IntervalMatrix,
    mu: &[Interval],
    shift: &[f64],
    kappa: &[f64],
) -> (Vec<Interval>, IntervalMatrix) {
    let (d, k) = (c.d, y.len());
    let size = k * d + mu.len();
    let (mut value, mut slope) = (vec![point(0.0); size], vec![vec![point(0.0); size]; size]);
    let square: Vec<Interval> = y.iter().map(|v| v.iter().map(|v| v.sqr()).fold(point(0.0), |s, t| s + t)).collect();
    for q in 0..k {
        for p in (0..k).filter(|p| *p != q) {
            let w = (log_weight(c, y, q, p) + point(shift[q])).exp() * point(c.sizes[p] as f64);
            let g = inner(&y[p], &y[q]);
            for a in 0..d {
                let pull = square[q] * y[p][a] - g * y[q][a];
                value[q * d + a] = value[q * d + a] + w * pull;
                for b in 0..d {
                    let delta = |v: Interval| if a == b { v } else { point(0.0) };
                    // d log w / dy_p = beta (y_q - y_p), d log w / dy_q the opposite.
                    let lean = point(c.beta) * (y[q][b] - y[p][b]);
                    let by_p = w * (delta(square[q]) - y[q][b] * y[q][a] + pull * lean);
                    let by_q = w * (point(2.0) * y[q][b] * y[p][a] - y[p][b] * y[q][a] - delta(g) - pull * lean);
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
            for (row, other, turned) in [(a, b, -y[q][b]), (b, a, y[q][a])] {
                let (i, sign) = (q * d + row, if row == a { -*mu } else { *mu });
                value[i] = value[i] + *mu * turned;
                slope[i][k * d + m] = turned;
                slope[i][q * d + other] = slope[i][q * d + other] + sign;
            }
            // The gauge, zero at the centre of the box.
            let (s, centre) = (point(c.sizes[q] as f64), &c.points[q * d..(q + 1) * d]);
            for (at, turned) in [(a, -centre[b]), (b, centre[a])] {
                let weight = s * point(turned);
                value[k * d + m] = value[k * d + m] + weight * (y[q][at] - point(centre[at]));
                slope[k * d + m][q * d + at] = weight;
            }
        }
    }
    (value, slope)
}

/// Half width of the box in mu: a force varies at most as 1 + beta times the box, in every token.
pub(super) fn slack(c: &Certificate) -> f64 {
    c.radius * (1.0 + c.beta.abs()) * c.sizes.iter().sum::<usize>() as f64
}

/// Every coordinate of the image, of y and of mu, is inside the box; not-a-number is not.
pub(super) fn contracts(shares: &[f64]) -> bool {
    shares.iter().all(|s| *s < 1.0)
}

/// Krawczyk's test: upper bounds of `(|C F(z)| + |1 - C F'(X)| h)_i / h_i` with h the half widths of the box, the radius in y and `slack` in mu. All below
/// 1: exactly one zero in the box.
pub(super) fn shares(c: &Certificate, slack: f64) -> Result<Vec<f64>> {
    let (k, d, r) = (c.sizes.len(), c.d, c.rotations.len());
    let shift = shifts(c);
    let (centre, whole) = (rows(c, 0.0), rows(c, c.radius));
    // Any positive kappa would do; this one is of the size of the forces.
    let radial = |q: usize| {
        let forces = (0..k)
            .filter(|p| *p != q)
            .map(|p| (log_weight(c, &centre, q, p) + point(shift[q])).exp() * point(c.sizes[p] as f64) * inner(&centre[p], &centre[q]));
        forces.fold(point(0.0), |s, t| s + t)
    };
    let kappa: Vec<f64> = (0..k).map(|q| 1.0 + radial(q).mag()).collect();
    let (value, slope) = equations(c, &centre, &vec![point(0.0); r], &shift, &kappa);
    let approximate: Vec<Vec<f64>> = slope.iter().map(|r| r.iter().map(|v| v.mid()).collect()).collect();
    let inverse = invert(approximate).ok_or_else(|| rejected("the equations are singular at the centre"))?;
    let (_, slope) = equations(c, &whole, &vec![Interval::symmetric(slack); r], &shift, &kappa);
    let half = |i: usize| if i < k * d { c.radius } else { slack };
    let mut shares = Vec::with_capacity(slope.len());
    for (i, row) in inverse.iter().enumerate() {
        let mut reach = row.iter().zip(&value).map(|(c, f)| point(*c) * *f).fold(point(0.0), |s, t| s + t);
        // One column of C F' at a time, against the half widths of the box.
        let mut product = vec![point(0.0); slope.len()];
        for (c, line) in row.iter().zip(&slope) {
            product.iter_mut().zip(line).for_each(|(s, v)| *s = *s + point(*c) * *v);
        }
        for (l, p) in product.iter().enumerate() {
            let rest = point(if l == i { 1.0 } else { 0.0 }) - *p;
            reach = reach + rest * Interval::symmetric(half(l));
        }
        shares.push((point(reach.mag()) / point(half(i))).hi());
    }
    Ok(shares)
}

/// Positive and negative eigenvalues modulo rotations: between clusters, then within each.
fn signs(c: &Certificate) -> Result<(usize, usize)> {
    let (y, shift) = (rows(c, c.radius), shifts(c));
    let borders = c.sizes.len() + c.rotations.len();
    // A regular matrix with independent borders has as many eigenvalues of either sign as borders, and those of the form on their complement.
    let without = |(up, down): (usize, usize), borders: usize| up.checked_sub(borders).zip(down.checked_sub(borders));
    let (mut up, mut down) = inertia(&between(c, &y, &shift))
        .and_then(|i| without(i, borders))
        .ok_or_else(|| rejected("an eigenvalue between clusters has no certain sign"))?;
    for (q, size) in c.sizes.iter().enumerate().filter(|(_, size)| **size > 1) {
        // Weights of repulsion exceed 1 and may overflow: a positive factor keeps them small.
        let lift = if c.beta < 0.0 { shift[q] } else { 0.0 };
        let own = inertia(&within(c, &y, q, lift))
            .and_then(|i| without(i, 1))
            .ok_or_else(|| rejected("an eigenvalue within a cluster has no certain sign"))?;
        up += (size - 1) * own.0;
        down += (size - 1) * own.1;
    }
    Ok((up, down))
}

/// The Hessian over beta of the clusters moved as wholes, up to a congruence by `e^{shift_q / 2}`, bordered by the clusters and the rotations. (Any positive weights
/// of the clusters in the latter cut out a complement of the rotations.)
pub(super) fn between(c: &Certificate, y: &IntervalMatrix, shift: &[f64]) -> IntervalMatrix {
    let (d, k) = (c.d, c.sizes.len());
    let size = k * (d + 1) + c.rotations.len();
    let mut h = vec![vec![point(0.0); size]; size];
    let mut add = |i: usize, j: usize, v: Interval| h[i][j] = h[i][j] + v;
    for q in 0..k {
        for p in (0..k).filter(|p| *p != q) {
            let log = log_weight(c, y, q, p);
            let masses = point(c.sizes[q] as f64) * point(c.sizes[p] as f64);
            let cross = (log + point(0.5 * shift[q]) + point(0.5 * shift[p])).exp() * masses;
            let own = (log + point(shift[q])).exp() * masses;
            let g = inner(&y[q], &y[p]);
            for a in 0..d {
                add(q * d + a, p * d + a, cross);
                add(q * d + a, q * d + a, -(own * g));
                for b in 0..d {
                    add(q * d + a, p * d + b, cross * point(c.beta) * y[p][a] * y[q][b]);
                    add(q * d + a, q * d + b, own * point(c.beta) * y[p][a] * y[p][b]);
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

/// The Hessian over beta of one token of cluster q against the others of it, times `e^lift`, bordered by the cluster.
pub(super) fn within(c: &Certificate, y: &IntervalMatrix, q: usize, lift: f64) -> IntervalMatrix {
    let d = c.d;
    let mut h = vec![vec![point(0.0); d + 1]; d + 1];
    for a in 0..d {
        h[a][a] = -(point(c.sizes[q] as f64) * point(lift).exp());
        (h[a][d], h[d][a]) = (y[q][a], y[q][a]);
    }
    for p in (0..c.sizes.len()).filter(|p| *p != q) {
        let w = (log_weight(c, y, q, p) + point(lift)).exp() * point(c.sizes[p] as f64);
        let g = inner(&y[q], &y[p]);
        for a in 0..d {
            h[a][a] = h[a][a] - w * g;
            for b in 0..d {
                h[a][b] = h[a][b] + w * point(c.beta) * y[p][a] * y[p][b];
            }
        }
    }
    h
}

/// Inertia of all symmetric matrices in `h`: `V^T h V` with Jacobi's approximate eigenvectors is strictly diagonally dominant, so V is regular and
/// Sylvester's law applies.
pub(super) fn inertia(h: &IntervalMatrix) -> Option<(usize, usize)> {
    let size = h.len();
    let middle: Vec<Vec<f64>> = (0..size).map(|i| (0..size).map(|j| 0.5 * (h[i][j].mid() + h[j][i].mid())).collect()).collect();
    let (values, vectors) = jacobi(middle);
    // Eigenvalues of 0 or not-a-number make infinite or no vectors, and every entry the whole line: undecided.
    let vectors: Vec<Vec<f64>> = vectors.iter().zip(&values).map(|(v, l)| v.iter().map(|x| x / l.abs().sqrt()).collect()).collect();
    let (mut up, mut down) = (0, 0);
    for i in 0..size {
        // Row i of V^T h, then of V^T h V.
        let mut line = vec![point(0.0); size];
        for (v, row) in vectors[i].iter().zip(h) {
            line.iter_mut().zip(row).for_each(|(s, e)| *s = *s + point(*v) * *e);
        }
        let entry = |j: usize| line.iter().zip(&vectors[j]).map(|(e, v)| *e * point(*v)).fold(point(0.0), |s, t| s + t);
        let others = (0..size).filter(|j| *j != i).map(|j| point(entry(j).mag())).fold(point(0.0), |s, t| s + t);
        let own = entry(i);
        if (own - others).is_positive() {
            up += 1;
        } else if (own + others).is_negative() {
            down += 1;
        } else {
            return None;
        }
    }
    Some((up, down))
}

/// Approximate eigenvalues and eigenvectors (rows) by cyclic Jacobi rotations.
fn jacobi(mut a: Vec<Vec<f64>>) -> (Vec<f64>, Vec<Vec<f64>>) {
    let n = a.len();
    let mut v: Vec<Vec<f64>> = (0..n).map(|i| (0..n).map(|j| if i == j { 1.0 } else { 0.0 }).collect()).collect();
    for _ in 0..40 {
        let off: f64 = (0..n).flat_map(|i| (0..i).map(move |j| (i, j))).map(|(i, j)| a[i][j] * a[i][j]).sum();
        let diagonal: f64 = (0..n).map(|i| a[i][i] * a[i][i]).sum();
        if off <= 1e-34 * diagonal {
            break;
        }
        for p in 0..n {
            for q in p + 1..n {
                if a[p][q].abs() < 1e-300 {
                    continue;
                }
                let theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
                let t = theta.signum() / (theta.abs() + theta.hypot(1.0));
                let cosine = 1.0 / t.hypot(1.0);
                let sine = t * cosine;
                for row in &mut a {
                    let (x, y) = (row[p], row[q]);
                    (row[p], row[q]) = (cosine * x - sine * y, sine * x + cosine * y);
                }
                let (low, high) = a.split_at_mut(q);
                rotate(&mut low[p], &mut high[0], cosine, sine);
                let (low, high) = v.split_at_mut(q);
                rotate(&mut low[p], &mut high[0], cosine, sine);
            }
        }
    }
    ((0..n).map(|i| a[i][i]).collect(), v)
}

fn rotate(x: &mut [f64], y: &mut [f64], cosine: f64, sine: f64) {
    for (x, y) in x.iter_mut().zip(y) {
        (*x, *y) = (cosine * *x - sine * *y, sine * *x + cosine * *y);
    }
}

/// Approximate inverse by Gauss-Jordan elimination with row pivots.
fn invert(mut a: Vec<Vec<f64>>) -> Option<Vec<Vec<f64>>> {
    let n = a.len();
    let mut inverse: Vec<Vec<f64>> = (0..n).map(|i| (0..n).map(|j| if i == j { 1.0 } else { 0.0 }).collect()).collect();
    for c in 0..n {
        let best = (c..n).max_by(|i, j| a[*i][c].abs().total_cmp(&a[*j][c].abs()))?;
        a.swap(c, best);
        inverse.swap(c, best);
        let pivot = a[c][c];
        if !pivot.is_normal() {
            return None;
        }
        a[c].iter_mut().chain(&mut inverse[c]).for_each(|v| *v /= pivot);
        let (own, mirror) = (a[c].clone(), inverse[c].clone());
        for i in (0..n).filter(|i| *i != c) {
            let factor = a[i][c];
            a[i].iter_mut().zip(&own).for_each(|(v, o)| *v -= factor * o);
            inverse[i].iter_mut().zip(&mirror).for_each(|(v, o)| *v -= factor * o);
        }
    }
    Some(inverse)
}
