//! Smallest enclosing cap and hemisphere test. Both use the point of least norm in the convex hull
//! of the tokens.
//!
//! The origin is outside the hull if and only if some `w` has `<x_i, w> > 0` for all i. The point
//! `p` of the hull nearest to the origin gives the best such `w = p/|p|`, which is also the centre
//! of the smallest enclosing cap.

use super::Tokens;
use super::geometry::{chord2, dist};
use crate::num::vector::{axpy, divide, norm};
use crate::num::{dense, sum::dot};

/// Result of the hemisphere test, with its certificate.
#[derive(Clone, Debug, PartialEq)]
pub enum Hemisphere {
    /// The tokens lie in an open hemisphere: all `<x_i, w> >= margin > 0` for the unit vector `w`.
    Open {
        /// Centre of the hemisphere and of the smallest enclosing cap.
        w: Vec<f64>,
        /// `min_i <x_i, w>`, the cosine of the cap radius.
        margin: f64,
        /// Radius of the smallest enclosing cap in radians, from chords.
        radius: f64,
    },
    /// A convex combination of the tokens vanishes up to rounding, so no open hemisphere contains
    /// them with a larger margin.
    None {
        /// The weights of the combination, one per token.
        weights: Vec<f64>,
        /// `|sum_i weights_i x_i|`, an upper bound of the margin of any hemisphere, as
        /// `min_i <x_i, w> <= <sum_i weights_i x_i, w>`. A value well above rounding means that the
        /// iteration ended undecided.
        residual: f64,
    },
}

/// Decides whether the tokens lie in an open hemisphere.
///
/// **Accuracy** margins up to `16 d eps` count as none (an inner product of d terms has an error of
/// at most `d eps / 2`). The certificate can be checked with n inner products.
/// **Cost** a few dozen passes over n d numbers and d x d solves (Wolfe 1976, in differences from
/// one token, so that narrow caps keep their relative accuracy).
///
/// ```
/// use metastable::sphere::{Tokens, cap::{hemisphere, Hemisphere}};
/// let half = Tokens::from_angles(&[0.1, -0.3]).unwrap();
/// let Hemisphere::Open { radius, .. } = hemisphere(&half) else { panic!() };
/// assert!((radius - 0.2).abs() < 1e-15);
/// assert!(matches!(hemisphere(&Tokens::from_angles(&[0.0, 2.0, 4.0]).unwrap()), Hemisphere::None { .. }));
/// let hardly = Tokens::from_angles(&[0.3, 2.0, 0.3 - std::f64::consts::PI - 1e-12]).unwrap();
/// assert!(matches!(hemisphere(&hardly), Hemisphere::Open { .. }));
/// ```
pub fn hemisphere(x: &Tokens) -> Hemisphere {
    let (p, weights) = nearest_hull_point(x);
    let norm = norm(&p);
    let mut w: Vec<f64> = p.iter().map(|v| v / norm).collect();
    if norm > 0.0 && norm < 1e-3 {
        // A short p has an inaccurate direction; the exact one is orthogonal to the face that
        // contains p.
        reorthogonalise(&mut w, x, &weights);
    }
    let margin = x.rows().map(|r| dot(r, &w)).fold(f64::INFINITY, f64::min);
    if norm > 0.0 && margin > 16.0 * x.d() as f64 * f64::EPSILON {
        let radius = x.rows().map(|r| dist(r, &w)).fold(0.0, f64::max);
        Hemisphere::Open { w, margin, radius }
    } else {
        Hemisphere::None { weights, residual: norm }
    }
}

/// Removes from `w` its components along the face: the differences of the tokens with positive
/// weight.
fn reorthogonalise(w: &mut [f64], x: &Tokens, weights: &[f64]) {
    let face: Vec<&[f64]> =
        x.rows().zip(weights).filter(|(_, l)| **l > 0.0).map(|(r, _)| r).collect();
    let rows: Vec<Vec<f64>> =
        face[1..].iter().map(|r| r.iter().zip(face[0]).map(|(a, b)| a - b).collect()).collect();
    let k = rows.len();
    let gram: Vec<f64> = (0..k * k).map(|i| dot(&rows[i / k], &rows[i % k])).collect();
    let along: Vec<f64> = rows.iter().map(|r| dot(r, w)).collect();
    let amounts = if k > 0 { dense::solve(&gram, &along) } else { Vec::new() };
    let mut orthogonal = w.to_vec();
    rows.iter().zip(amounts).for_each(|(r, a)| axpy(-a, r, &mut orthogonal));
    let norm = norm(&orthogonal);
    if norm > 0.5 {
        w.iter_mut().zip(orthogonal).for_each(|(w, s)| *w = s / norm);
    }
}

/// Radius of the smallest enclosing cap in radians; `None` if no open hemisphere contains the
/// tokens.
pub fn cap_radius(x: &Tokens) -> Option<f64> {
    match hemisphere(x) {
        Hemisphere::Open { radius, .. } => Some(radius),
        Hemisphere::None { .. } => None,
    }
}

/// Wolfe's algorithm for the point of least norm of conv{x_i}, in terms of `e_j = x_j - x_0`. With
/// `p = x_0 + q`, `<p, e_j> = -|e_j|^2/2 + <q, e_j>` has no cancellation for narrow caps.
fn nearest_hull_point(x: &Tokens) -> (Vec<f64>, Vec<f64>) {
    let (n, d) = (x.n(), x.d());
    let base = x.row(0);
    let e: Vec<f64> = x.rows().flat_map(|r| r.iter().zip(base).map(|(a, b)| a - b)).collect();
    let e = |j: usize| &e[j * d..(j + 1) * d];
    let half: Vec<f64> = x.rows().map(|r| 0.5 * chord2(r, base)).collect();
    let scale = half.iter().copied().fold(0.0, f64::max);
    let mut active = vec![0usize];
    let mut lambda = vec![1.0];
    let mut q = vec![0.0; d];
    for _ in 0..20 * (n + d) {
        let p_q = dot(&q, &q) - active.iter().zip(&lambda).map(|(&s, l)| l * half[s]).sum::<f64>();
        let gain = |j: usize| p_q - (dot(&q, e(j)) - half[j]);
        let next = (0..n).max_by(|&a, &b| gain(a).total_cmp(&gain(b))).unwrap_or(0);
        if gain(next) <= 64.0 * f64::EPSILON * scale || active.contains(&next) {
            break;
        }
        active.push(next);
        lambda.push(0.0);
        if !affine_minimum(&mut active, &mut lambda, &e) {
            break;
        }
        q.iter_mut().for_each(|v| *v = 0.0);
        for (&s, l) in active.iter().zip(&lambda) {
            axpy(*l, e(s), &mut q);
        }
    }
    let mut weights = vec![0.0; n];
    active.iter().zip(&lambda).for_each(|(&s, l)| weights[s] = *l);
    (base.iter().zip(&q).map(|(a, b)| a + b).collect(), weights)
}

/// Minor cycles: moves to the least-norm point of the affine hull of the active tokens, and drops
/// tokens whose weight becomes zero.
fn affine_minimum<'a>(
    active: &mut Vec<usize>,
    lambda: &mut Vec<f64>,
    e: &impl Fn(usize) -> &'a [f64],
) -> bool {
    while active.len() > 1 {
        // Differences from the first active token f: minimise |x_f + sum_k a_k (x_k - x_f)|; the
        // normal equations are D D^T a = -D x_f.
        let f = active[0];
        let rows: Vec<Vec<f64>> = active[1..]
            .iter()
            .map(|&s| e(s).iter().zip(e(f)).map(|(a, b)| a - b).collect())
            .collect();
        let k = rows.len();
        let a: Vec<f64> = (0..k * k).map(|i| dot(&rows[i / k], &rows[i % k])).collect();
        // -<x_f, x_k - x_f> = |x_k - x_f|^2 / 2 on the sphere.
        let b: Vec<f64> = (0..k).map(|i| 0.5 * a[i * k + i]).collect();
        let solved = dense::solve(&a, &b);
        let reached = |rest: &[f64]| rest.iter().all(|v| v.abs() < 1e12);
        let rest = if reached(&solved) {
            solved
        } else {
            // Caps narrower than 1e-8 are flat up to rounding and their tokens may be affinely
            // dependent; a ridge term selects one solution.
            let ridge = 1e-12 * (0..k).map(|i| a[i * k + i]).fold(0.0, f64::max);
            let lifted: Vec<f64> = a
                .iter()
                .enumerate()
                .map(|(p, v)| if p % (k + 1) == 0 { v + ridge } else { *v })
                .collect();
            dense::solve(&lifted, &b)
        };
        if !reached(&rest) {
            return false;
        }
        let target: Vec<f64> =
            std::iter::once(1.0 - rest.iter().sum::<f64>()).chain(rest).collect();
        if target.iter().all(|t| *t > 0.0) {
            *lambda = target;
            return true;
        }
        let step = lambda
            .iter()
            .zip(&target)
            .filter(|(_, t)| **t <= 0.0)
            .map(|(l, t)| l / (l - t))
            .fold(1.0, f64::min);
        lambda.iter_mut().zip(&target).for_each(|(l, t)| *l += step * (t - *l));
        let dropped = (0..lambda.len())
            .filter(|&i| target[i] <= 0.0)
            .min_by(|&a, &b| lambda[a].total_cmp(&lambda[b]));
        let Some(dropped) = dropped else { return false };
        active.remove(dropped);
        lambda.remove(dropped);
        let total: f64 = lambda.iter().sum();
        divide(lambda, total);
    }
    lambda[0] = 1.0;
    true
}
