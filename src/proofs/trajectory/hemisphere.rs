//! Whether all tokens provably lie in one open hemisphere.

use super::local::{length, point, sum};
use super::system::System;
use crate::num::vector::axpy;

/// Steps towards the point of the hull that is nearest to 0; each is a few products per token.
const STEPS: usize = 300;

/// A direction that tells the points from 0: nearly the shortest vector of their hull (Gilbert 1966).
pub(super) fn direction(d: usize, x: &[f64]) -> Vec<f64> {
    let n = (x.len() / d) as f64;
    let mut w: Vec<f64> = (0..d).map(|c| x.iter().skip(c).step_by(d).sum::<f64>() / n).collect();
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    for _ in 0..STEPS {
        let Some(row) = x.chunks_exact(d).min_by(|a, b| dot(a, &w).total_cmp(&dot(b, &w))) else { break };
        let away: Vec<f64> = w.iter().zip(row).map(|(w, x)| w - x).collect();
        let share = (dot(&w, &away) / dot(&away, &away)).clamp(0.0, 1.0);
        if share.is_nan() || share <= 1e-9 {
            break;
        }
        axpy(-share, &away, &mut w);
    }
    w
}

/// Every token within `eps` (in the norm of the proof) of the points x has a positive product with w: the least `<w, x_i> - |w| |e_i|`, and its point.
pub(super) fn margin(system: &System, x: &[f64], w: &[f64], eps: f64) -> (f64, usize) {
    let w: Vec<_> = w.iter().map(|w| point(*w)).collect();
    let size = length(&w);
    let one = |i: usize| {
        let product = sum(w.iter().zip(&x[i * system.d..]).map(|(w, x)| *w * point(*x)));
        ((product - size * point(system.reach(i, eps))).lo(), i)
    };
    (0..system.len()).map(one).fold((f64::INFINITY, 0), |a, b| if b.0 >= a.0 { a } else { b })
}
