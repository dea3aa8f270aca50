//! One step of a proof: how the error grows along a path, piece by piece.

use super::curvature::MIN_ERROR_OVER_Q;
use super::enclosure::{Enclosure, length, point, sum};
use super::error_tube::Segment;
use super::path::Path;
use super::proof::{Cause, Piece};
use super::system::System;
use super::tangent_jacobian::TangentJacobian;
use crate::num::interval::Interval;

/// A proved step.
pub(super) struct ProvedStep {
    /// Its length.
    pub(super) h: f64,
    pub(super) pieces: Vec<Piece>,
    /// Where the next step starts, and the error there.
    pub(super) x: Vec<f64>,
    pub(super) error: f64,
    /// Integral of the bound of the defect.
    pub(super) defect: f64,
    /// Bound of `|theta - t|` gained on the step (Lemma 2).
    pub(super) time_shift: f64,
}

/// Bounds the error along a path, piece by piece. A piece is accepted if its enclosure of S is
/// narrower than a limit that `growth_width` sets.
pub(super) fn propagate_error(
    path: &Path,
    error: f64,
    growth_width: f64,
) -> Result<ProvedStep, Cause> {
    let (s, h) = (path.system, path.length());
    let max_width = growth_width * (0.2 / h).min(1.0);
    let tolerance = 0.1 * growth_width * (0.4 / h).min(1.0);
    let mut error = error.max((point(MIN_ERROR_OVER_Q) * point(path.q)).hi());
    let (mut a, mut length, mut mu, mut defect) = (0.0, h, 0.0, 0.0);
    let norm = (point(1.0) + Interval::symmetric(path.q)).sqrt();
    let (mut pieces, mut use_kappa, mut time_shift) = (Vec::new(), true, 0.0);
    // A fixed point may lie within about the speed divided by the rate of growth.
    let cause = |rate: f64, error: f64, other| {
        if path.initial_speed() <= rate * error { Cause::SteadyState } else { other }
    };
    while a < h {
        let b = if a + 1.1 * length >= h { h } else { a + length };
        let (range, axes) = path.range(a, b);
        let enclosure = Enclosure::new(s, &range, norm, &axes, false);
        let jacobian = TangentJacobian::new(s, &enclosure);
        let kappa = if use_kappa { jacobian.choose_kappa(error, b - a) } else { 0.0 };
        let matrix = jacobian.shifted(kappa);
        let width = matrix.width();
        // A NaN is not narrow.
        let narrow = width <= max_width;
        if !narrow {
            length = (b - a)
                * if width.is_finite() { (0.8 * max_width / width).clamp(0.1, 0.8) } else { 0.25 };
            if length <= 1e-5 * h {
                return Err(cause(jacobian.s_norm.hi(), error, Cause::Enclosure));
            }
            continue;
        }
        let Some(next_mu) = matrix.mu(mu, tolerance) else { return Err(Cause::Enclosure) };
        let (growth, time) = (jacobian.growth_bounds(next_mu, kappa), (point(b) - point(a)).hi());
        let segment = Segment {
            system: s,
            range: &range,
            norm,
            axes: &axes,
            q: path.q,
            time,
            growth,
            defect: path.defect_bound(b),
            error,
        };
        let Some((r, end)) = segment.tube() else {
            if s.has_clusters() && kappa > 0.0 {
                use_kappa = false;
                continue;
            }
            length = 0.3 * (b - a);
            if length <= 1e-3 * h {
                return Err(cause(next_mu, error, Cause::Growth));
            }
            continue;
        };
        pieces.push(Piece { end: b, mu: next_mu, r, kappa });
        defect += segment.defect.hi() * (b - a);
        time_shift += segment.growth.kappa_f.hi() * r * (b - a);
        (mu, error, use_kappa) = (next_mu, end, true);
        length = (b - a) * (0.9 * max_width / width).clamp(0.5, 2.0);
        a = b;
    }
    let last = path.end();
    let x = normalise_rows(s.d, &last.iter().map(|v| v.mid()).collect::<Vec<_>>());
    let jump: Vec<_> = last.iter().zip(&x).map(|(p, x)| *p - point(*x)).collect();
    let error = (point(error) + point(s.norm(&jump))).hi();
    Ok(ProvedStep { h, pieces, x, error, defect, time_shift })
}

/// Every row divided by its length, in f64.
pub(super) fn normalise_rows(d: usize, x: &[f64]) -> Vec<f64> {
    x.chunks_exact(d)
        .flat_map(|row| {
            let length = row.iter().map(|v| v * v).sum::<f64>().sqrt();
            row.iter().map(move |v| v / length)
        })
        .collect()
}

/// Upper bound, in the norm of the proof, of the distance between x and any start whose tokens are
/// within `radius` of the directions of the rows.
pub(super) fn initial_error(system: &System, rows: &[f64], x: &[f64], radius: f64) -> f64 {
    let mut total = point(0.0);
    for (i, (row, x)) in rows.chunks_exact(system.d).zip(x.chunks_exact(system.d)).enumerate() {
        let size = sum(row.iter().map(|v| point(*v).sqr())).sqrt();
        let difference: Vec<_> =
            row.iter().zip(x).map(|(r, x)| point(*r) / size - point(*x)).collect();
        total = total + system.norm_weight(i) * (point(radius) + length(&difference)).sqr();
    }
    total.sqrt().hi()
}
