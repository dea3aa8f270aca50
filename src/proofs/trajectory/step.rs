//! One step: how the error grows along a path, piece by piece.

use super::curvature::FLOOR;
use super::growth::Derivative;
use super::local::{Local, length, point, sum};
use super::path::Path;
use super::proof::{Cause, Piece};
use super::system::System;
use super::tube::Part;
use crate::num::interval::Interval;

/// A step that was proved.
pub(super) struct Step {
    pub(super) h: f64,
    pub(super) pieces: Vec<Piece>,
    /// Where it ends, and the error there.
    pub(super) x: Vec<f64>,
    pub(super) error: f64,
    pub(super) defect: f64,
    /// How far the time of a solution may have got from that of the path.
    pub(super) shift: f64,
}

/// Follows the error along a path: pieces are as long as the slack of their growth rate allows.
pub(super) fn follow(path: &Path, error: f64, slack: f64) -> Result<Step, Cause> {
    let (s, h) = (path.system, path.length());
    let wanted = slack * (0.2 / h).min(1.0);
    let tolerance = 0.1 * slack * (0.4 / h).min(1.0);
    let mut error = error.max((point(FLOOR) * point(path.bulge)).hi());
    let (mut a, mut length, mut near, mut defect) = (0.0, h, 0.0, 0.0);
    let norm = (point(1.0) + Interval::symmetric(path.bulge)).sqrt();
    let (mut pieces, mut free, mut shift) = (Vec::new(), true, 0.0);
    // A point at rest is about as far as the speed over the rate of growth.
    let at_rest = |rate: f64, error: f64, other| if path.speed() <= rate * error { Cause::Symmetric } else { other };
    while a < h {
        let b = if a + 1.1 * length >= h { h } else { a + length };
        let (range, axes) = path.range(a, b);
        let local = Local::new(s, &range, norm, &axes, false);
        let derivative = Derivative::new(s, &local);
        let kappa = if free { derivative.along(error, b - a) } else { 0.0 };
        let growth = derivative.less(kappa);
        let found = growth.slack();
        // Not a number does not fit.
        let fits = found <= wanted;
        if !fits {
            length = (b - a) * if found.is_finite() { (0.8 * wanted / found).clamp(0.1, 0.8) } else { 0.25 };
            if length <= 1e-5 * h {
                return Err(at_rest(derivative.norm.hi(), error, Cause::Enclosure));
            }
            continue;
        }
        let Some(mu) = growth.bound(near, tolerance) else { return Err(Cause::Enclosure) };
        let (rates, time) = (derivative.rates(mu, kappa), (point(b) - point(a)).hi());
        let part = Part { system: s, range: &range, norm, axes: &axes, bulge: path.bulge, time, rates, defect: path.rate(b), error };
        let Some((tube, end)) = part.tube() else {
            if s.has_clusters() && kappa > 0.0 {
                free = false;
                continue;
            }
            length = 0.3 * (b - a);
            if length <= 1e-3 * h {
                return Err(at_rest(mu, error, Cause::Growth));
            }
            continue;
        };
        pieces.push(Piece { end: b, growth: mu, tube, along: kappa });
        defect += part.defect.hi() * (b - a);
        shift += part.rates.drag.hi() * tube * (b - a);
        (near, error, free) = (mu, end, true);
        length = (b - a) * (0.9 * wanted / found).clamp(0.5, 2.0);
        a = b;
    }
    let last = path.end();
    let x = unit(s.d, &last.iter().map(|v| v.mid()).collect::<Vec<_>>());
    let jump: Vec<_> = last.iter().zip(&x).map(|(p, x)| *p - point(*x)).collect();
    let error = (point(error) + point(s.norm(&jump))).hi();
    Ok(Step { h, pieces, x, error, defect, shift })
}

/// Every row divided by its length, nearly.
pub(super) fn unit(d: usize, x: &[f64]) -> Vec<f64> {
    x.chunks_exact(d)
        .flat_map(|row| {
            let length = row.iter().map(|v| v * v).sum::<f64>().sqrt();
            row.iter().map(move |v| v / length)
        })
        .collect()
}

/// Bound of the distance between x and any start whose tokens are within `radius` of the directions of these rows, in the norm of the proof.
pub(super) fn first_error(system: &System, rows: &[f64], x: &[f64], radius: f64) -> f64 {
    let mut total = point(0.0);
    for (i, (row, x)) in rows.chunks_exact(system.d).zip(x.chunks_exact(system.d)).enumerate() {
        let size = sum(row.iter().map(|v| point(*v).sqr())).sqrt();
        let off: Vec<_> = row.iter().zip(x).map(|(r, x)| point(*r) / size - point(*x)).collect();
        total = total + system.weight(i) * (point(radius) + length(&off)).sqr();
    }
    total.sqrt().hi()
}
