//! Proves that all tokens lie in one open hemisphere.

use super::enclosure::{length, point, sum};
use super::system::System;
use crate::num::vector::axpy;

/// Most steps towards the point of the convex hull that is nearest to 0. Each costs a few products
/// per token.
const MAX_STEPS: usize = 300;

/// A direction that separates the points from 0: nearly the shortest vector of their convex hull
/// (Gilbert 1966).
pub(super) fn direction(d: usize, x: &[f64]) -> Vec<f64> {
    let n = (x.len() / d) as f64;
    let mut w: Vec<f64> = (0..d).map(|c| x.iter().skip(c).step_by(d).sum::<f64>() / n).collect();
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    for _ in 0..MAX_STEPS {
        let Some(row) = x.chunks_exact(d).min_by(|a, b| dot(a, &w).total_cmp(&dot(b, &w))) else {
            break;
        };
        let difference: Vec<f64> = w.iter().zip(row).map(|(w, x)| w - x).collect();
        let step = (dot(&w, &difference) / dot(&difference, &difference)).clamp(0.0, 1.0);
        if step.is_nan() || step <= 1e-9 {
            break;
        }
        axpy(-step, &difference, &mut w);
    }
    w
}

/// A lower bound of `<w, x_i> - |w| |e_i|` over all points and all errors e of norm at most
/// `error`, and the point where it is attained. If it is positive, all tokens lie in the hemisphere
/// of w.
pub(super) fn margin(system: &System, x: &[f64], w: &[f64], error: f64) -> (f64, usize) {
    let w: Vec<_> = w.iter().map(|w| point(*w)).collect();
    let w_norm = length(&w);
    let one = |i: usize| {
        let product = sum(w.iter().zip(&x[i * system.d..]).map(|(w, x)| *w * point(*x)));
        ((product - w_norm * point(system.token_error(i, error))).lo(), i)
    };
    (0..system.len()).map(one).fold((f64::INFINITY, 0), |a, b| if b.0 >= a.0 { a } else { b })
}
