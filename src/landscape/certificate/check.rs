//! The checker. It shares the interval type and the file format with the prover, and nothing else: other equations, its own elimination and its own
//! eigenvectors.
//!
//! Equations without multipliers of the constraints: `f_q = sum_{p != q} s_p w_qp (y_p - <y_p, y_q> y_q) + kappa_q (1 - |y_q|^2) y_q + sum_a mu_a A_a y_q`. Pairing with
//! `y_q` gives `(1 - |y_q|^2) (sum_p s_p w_qp <y_p, y_q> + kappa_q |y_q|^2) = 0`: with the second factor positive (checked) a zero lies on the
//! sphere; pairing with `s_q A_b y_q` and summing gives mu = 0 as soon as the displacements `A_a y` are independent, which a regular Jacobian implies.

use super::Certificate;
use crate::error::{Error, Result};
use crate::num::interval::Interval;

type Matrix = Vec<Vec<Interval>>;

fn rejected(why: &str) -> Error {
    Error::parameter("certificate", format!("rejected: {why}"), "a statement that interval arithmetic confirms")
}

/// Confirms a certificate. **Errors** the step that could not be confirmed.
pub fn check(c: &Certificate) -> Result<()> {
    c.validate()?;
    existence(c)?;
    let (up, down) = signs(c)?;
    if (up, down) != (c.unstable, c.morse_index) {
        return Err(rejected(&format!("{up} positive and {down} negative eigenvalues, not {} and {}", c.unstable, c.morse_index)));
    }
    let n: usize = c.sizes.iter().sum();
    if up + down + c.rotations.len() != n * (c.d - 1) {
        return Err(rejected("the numbers of eigenvalues do not add up to n (d - 1)"));
    }
    Ok(())
}

fn point(v: f64) -> Interval {
    Interval::exact(v)
}

/// Clusters as rows of intervals of this half width.
fn rows(c: &Certificate, radius: f64) -> Matrix {
    c.points.chunks(c.d).map(|r| r.iter().map(|v| point(*v) + Interval::symmetric(radius)).collect()).collect()
}

fn inner(a: &[Interval], b: &[Interval]) -> Interval {
    a.iter().zip(b).map(|(a, b)| *a * *b).fold(point(0.0), |s, t| s + t)
}

/// `log w_qp` enclosed.
fn log_weight(c: &Certificate, y: &Matrix, q: usize, p: usize) -> Interval {
    let square = y[q].iter().zip(&y[p]).map(|(a, b)| (*a - *b).sqr()).fold(point(0.0), |s, t| s + t);
    -(point(c.beta) * square * point(0.5))
}

/// A shift per cluster that makes its strongest weight about 1: a positive factor of its equations.
fn shifts(c: &Certificate) -> Vec<f64> {
    let y = rows(c, 0.0);
    let strongest = |q: usize| (0..y.len()).filter(|p| *p != q).map(|p| log_weight(c, &y, q, p).mid()).fold(f64::NEG_INFINITY, f64::max);
    (0..y.len()).map(|q| if y.len() > 1 { -strongest(q) } else { 0.0 }).collect()
}

/// Values of f at rows `y` (all mu zero) and its derivative with respect to (y, mu) over `y` and `|mu| <= slack`.
fn equations(c: &Certificate, y: &Matrix, shift: &[f64], kappa: &[f64], slack: f64) -> (Vec<Interval>, Matrix) {
    let (d, k, r) = (c.d, y.len(), c.rotations.len());
    let size = k * d + r;
    let (mut value, mut slope) = (vec![point(0.0); size], vec![vec![point(0.0); size]; size]);
    for q in 0..k {
        for p in (0..k).filter(|p| *p != q) {
            let w = (log_weight(c, y, q, p) + point(shift[q])).exp() * point(c.sizes[p] as f64);
            let g = inner(&y[p], &y[q]);
            for a in 0..d {
                let pull = y[p][a] - g * y[q][a];
                value[q * d + a] = value[q * d + a] + w * pull;
                for b in 0..d {
                    let delta = point(if a == b { 1.0 } else { 0.0 });
                    // d log w / dy_p = beta (y_q - y_p), d log w / dy_q the opposite.
                    let lean = point(c.beta) * (y[q][b] - y[p][b]);
                    let by_p = w * (delta - y[q][b] * y[q][a] + pull * lean);
                    let by_q = -(w * (y[p][b] * y[q][a] + g * delta + pull * lean));
                    slope[q * d + a][p * d + b] = slope[q * d + a][p * d + b] + by_p;
                    slope[q * d + a][q * d + b] = slope[q * d + a][q * d + b] + by_q;
                }
            }
        }
        let defect = point(1.0) - inner(&y[q], &y[q]);
        for a in 0..d {
            value[q * d + a] = value[q * d + a] + point(kappa[q]) * defect * y[q][a];
            for b in 0..d {
                let delta = if a == b { defect } else { point(0.0) };
                let term = point(kappa[q]) * (delta - point(2.0) * y[q][a] * y[q][b]);
                slope[q * d + a][q * d + b] = slope[q * d + a][q * d + b] + term;
            }
        }
        for (m, &(a, b)) in c.rotations.iter().enumerate() {
            let mu = Interval::symmetric(slack);
            slope[q * d + a][k * d + m] = -y[q][b];
            slope[q * d + b][k * d + m] = y[q][a];
            slope[q * d + a][q * d + b] = slope[q * d + a][q * d + b] - mu;
            slope[q * d + b][q * d + a] = slope[q * d + b][q * d + a] + mu;
            // Gauge: sum_q s_q <A y^_q, y_q - y^_q> = 0, zero at the centre of the box.
            let s = c.sizes[q] as f64;
            slope[k * d + m][q * d + a] = -(point(s) * point(c.points[q * d + b]));
            slope[k * d + m][q * d + b] = point(s) * point(c.points[q * d + a]);
        }
    }
    (value, slope)
}

/// Krawczyk's test: exactly one zero in the box.
fn existence(c: &Certificate) -> Result<()> {
    let (k, d) = (c.sizes.len(), c.d);
    let shift = shifts(c);
    let (centre, whole) = (rows(c, 0.0), rows(c, c.radius));
    // The radial force sum_p s_p w_qp <y_p, y_q>, to choose kappa above it.
    let radial = |y: &Matrix, q: usize| {
        let others = (0..k).filter(|p| *p != q);
        others
            .map(|p| (log_weight(c, y, q, p) + point(shift[q])).exp() * point(c.sizes[p] as f64) * inner(&y[p], &y[q]))
            .fold(point(0.0), |s, t| s + t)
    };
    let kappa: Vec<f64> = (0..k).map(|q| 1.0 + 2.0 * radial(&centre, q).mag()).collect();
    for q in 0..k {
        if !(radial(&whole, q) + point(kappa[q]) * inner(&whole[q], &whole[q])).is_positive() {
            return Err(rejected("the radial factor may vanish in the box"));
        }
    }
    let slack = c.radius * (1.0 + c.beta.abs()) * c.sizes.iter().sum::<usize>() as f64;
    let (value, _) = equations(c, &centre, &shift, &kappa, 0.0);
    let (_, slope) = equations(c, &centre, &shift, &kappa, 0.0);
    let approximate: Vec<Vec<f64>> = slope.iter().map(|r| r.iter().map(|v| v.mid()).collect()).collect();
    let inverse = invert(approximate).ok_or_else(|| rejected("the equations are singular at the centre"))?;
    let (_, slope) = equations(c, &whole, &shift, &kappa, slack);
    let size = slope.len();
    let half = |i: usize| if i < k * d { c.radius } else { slack };
    for (i, row) in inverse.iter().enumerate() {
        let mut reach = row.iter().zip(&value).map(|(c, f)| point(*c) * *f).fold(point(0.0), |s, t| s + t);
        // One column of C F' at a time, against the half widths of the box.
        let mut product = vec![point(0.0); size];
        for (c, line) in row.iter().zip(&slope) {
            product.iter_mut().zip(line).for_each(|(s, v)| *s = *s + point(*c) * *v);
        }
        for (l, p) in product.iter().enumerate() {
            let rest = point(if l == i { 1.0 } else { 0.0 }) - *p;
            reach = reach + rest * Interval::symmetric(half(l));
        }
        if reach.mag() >= half(i) {
            return Err(rejected("Newton's map does not send the box into itself"));
        }
    }
    Ok(())
}

/// Signs of all eigenvalues modulo rotations: between clusters, then within each.
fn signs(c: &Certificate) -> Result<(usize, usize)> {
    let (d, k, r) = (c.d, c.sizes.len(), c.rotations.len());
    let (y, shift) = (rows(c, c.radius), shifts(c));
    let size = k * (d + 1) + r;
    let mut h = vec![vec![point(0.0); size]; size];
    let mut add = |i: usize, j: usize, v: Interval| h[i][j] = h[i][j] + v;
    for q in 0..k {
        for p in (0..k).filter(|p| *p != q) {
            let log = log_weight(c, &y, q, p);
            let masses = point(c.sizes[q] as f64) * point(c.sizes[p] as f64);
            let (cross, own) =
                ((log + point(0.5 * shift[q]) + point(0.5 * shift[p])).exp() * masses, (log + point(shift[q])).exp() * masses);
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
    let between = inertia(&h).ok_or_else(|| rejected("an eigenvalue between clusters has no certain sign"))?;
    let borders = k + r;
    if between.0 < borders || between.1 < borders {
        return Err(rejected("the constraints are not independent"));
    }
    let (mut up, mut down) = (between.0 - borders, between.1 - borders);
    for q in (0..k).filter(|q| c.sizes[*q] > 1) {
        let lift = if c.beta < 0.0 { shift[q] } else { 0.0 };
        let mut h = vec![vec![point(0.0); d + 1]; d + 1];
        for a in 0..d {
            h[a][a] = -(point(c.sizes[q] as f64) * point(lift).exp());
            (h[a][d], h[d][a]) = (y[q][a], y[q][a]);
        }
        for p in (0..k).filter(|p| *p != q) {
            let w = (log_weight(c, &y, q, p) + point(lift)).exp() * point(c.sizes[p] as f64);
            let g = inner(&y[q], &y[p]);
            for a in 0..d {
                h[a][a] = h[a][a] - w * g;
                for b in 0..d {
                    h[a][b] = h[a][b] + w * point(c.beta) * y[p][a] * y[p][b];
                }
            }
        }
        let own = inertia(&h).ok_or_else(|| rejected("an eigenvalue within a cluster has no certain sign"))?;
        up += (c.sizes[q] - 1) * own.0.saturating_sub(1);
        down += (c.sizes[q] - 1) * own.1.saturating_sub(1);
    }
    Ok((up, down))
}

/// Inertia of all symmetric matrices in `h`: `V^T h V` with Jacobi's approximate eigenvectors is strictly diagonally dominant, so V is regular and
/// Sylvester's law applies.
fn inertia(h: &Matrix) -> Option<(usize, usize)> {
    let size = h.len();
    let middle: Vec<Vec<f64>> = (0..size).map(|i| (0..size).map(|j| 0.5 * (h[i][j].mid() + h[j][i].mid())).collect()).collect();
    let (values, vectors) = jacobi(middle);
    let vectors: Vec<Vec<f64>> = vectors.iter().zip(&values).map(|(v, l)| v.iter().map(|x| x / l.abs().sqrt()).collect()).collect();
    if vectors.iter().flatten().any(|v| !v.is_finite()) {
        return None;
    }
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
