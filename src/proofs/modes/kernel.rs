//! Kernels in cell units: proved Taylor coefficients between cells and the error budget that goes with them.

use super::bounds::{CELL, Shape, TERMS, above, radian};
use crate::num::interval::Interval;
use std::sync::{Arc, OnceLock};

/// Range of the kernel in units: what lies beyond is bounded, not summed.
pub(super) const RANGE: f64 = 10.0;
/// Largest displacement of a sample by the rounding of its position with which anything is proved: range and reach have this much to spare.
pub(super) const MOST_BLUR: f64 = 0.2;

/// A translation of moments from a cell to a cell `offset` cells further on.
pub(super) struct Shift {
    /// Source cell minus target cell.
    pub offset: i64,
    /// `table[k][l]`: the contribution of moment k to coefficient l.
    pub table: [[f64; TERMS]; TERMS],
    /// Error of the value per sample of the source cell: truncation and enclosure; then the magnitude that rounding multiplies. Upper bounds.
    pub value_error: (f64, f64),
    /// The same for the slope.
    pub slope_error: (f64, f64),
}

/// What does not depend on the place of the samples.
pub(super) struct Tables {
    /// All translations within range.
    pub shifts: Vec<Shift>,
    /// Bounds of the derivative and second derivative of the estimate per sample beyond the range.
    pub tail: (f64, f64),
    /// Bounds of the second and third derivative of the kernel: what a displaced sample costs.
    pub stiffness: (f64, f64),
}

/// A kernel with its translations.
pub(super) struct Kernel {
    shape: Shape,
    unit: f64,
    /// Translations and bounds.
    pub tables: Arc<Tables>,
    /// Cells on each side of a sample outside which its kernel is convex.
    pub reach: i64,
}

impl Kernel {
    /// The Gaussian kernel of bandwidth `beta^{-1/2}` on the line.
    pub fn gaussian(beta: f64) -> Self {
        // In its own units the kernel is the same for every beta.
        static TABLES: OnceLock<Arc<Tables>> = OnceLock::new();
        let near = (RANGE / CELL) as i64;
        let tables = TABLES.get_or_init(|| Arc::new(Tables::new(Shape::Gaussian, -near..=near)));
        Self { shape: Shape::Gaussian, unit: beta.sqrt(), tables: Arc::clone(tables), reach: reach(Shape::Gaussian, i64::MAX) }
    }

    /// The kernel `e^{beta cos}` on the circle.
    pub fn von_mises(beta: f64) -> Self {
        let turn = std::f64::consts::TAU;
        let cells = ((turn * beta.sqrt() / CELL).ceil()).max(16.0);
        let unit = cells * CELL / turn;
        let cells = cells as usize;
        let shape = Shape::VonMises { beta, cells };
        let (all, near) = (cells as i64, (RANGE / CELL) as i64);
        let whole = 2 * near + 1 >= all;
        let offsets = if whole { -((all - 1) / 2)..=all / 2 } else { -near..=near };
        let mut tables = Tables::new(shape, offsets);
        if whole {
            tables.tail = (0.0, 0.0);
        }
        Self { shape, unit, tables: Arc::new(tables), reach: reach(shape, all) }
    }

    /// Units per radian, or per unit of length.
    pub fn unit(&self) -> f64 {
        self.unit
    }

    /// Distance in units of samples beyond which the cells near one, `reach + 1` cells at most, are out of range of the other; two cells more than that needs.
    pub fn separation(&self) -> f64 {
        RANGE + CELL * (self.reach + 3) as f64
    }

    /// Number of cells of the circle.
    pub fn cells(&self) -> Option<usize> {
        match self.shape {
            Shape::Gaussian => None,
            Shape::VonMises { cells, .. } => Some(cells),
        }
    }
}

/// Cells, of `all`, on each side of a sample and of its cell outside which the kernel is proved to be convex wherever blur has moved the sample.
pub(super) fn reach(shape: Shape, all: i64) -> i64 {
    let mut reach = 1;
    while 2 * reach + 1 < all && !shape.convex_beyond(CELL * reach as f64 - MOST_BLUR) {
        reach += 1;
    }
    reach
}

impl Tables {
    fn new(shape: Shape, offsets: std::ops::RangeInclusive<i64>) -> Self {
        let most = offsets.end().abs().max(offsets.start().abs());
        let truncations: Vec<(f64, f64)> = (0..=most).map(|q| shape.truncation(q as f64 * CELL)).collect();
        let shifts = offsets.map(|q| shift(shape, q, truncations[q.unsigned_abs() as usize])).collect();
        // At the centre, where the kernel is largest, the best radius is sqrt(m).
        let stiffness = |m: u32| shape.derivative(m, 0.0, f64::from(m).sqrt());
        // Samples out of range are farther than this even where their places are blurred.
        let tail = |m: u32| shape.derivative(m, RANGE - MOST_BLUR, 0.1);
        Self { shifts, tail: (tail(1), tail(2)), stiffness: (stiffness(2), stiffness(3)) }
    }
}

/// Taylor coefficients of the kernel at `delta`, enclosed: those of `e^h` from those of h by `m g_m = sum k h_k g_{m-k}`.
pub(super) fn taylor(shape: Shape, delta: f64) -> Vec<Interval> {
    let real = Interval::exact;
    let mut h = vec![real(0.0); TERMS + 2];
    let mut degree = 2;
    match shape {
        Shape::Gaussian => {
            h[0] = -(real(delta).sqr() * real(0.5));
            h[1] = real(-delta);
            h[2] = real(-0.5);
        }
        Shape::VonMises { beta, cells } => {
            degree = TERMS + 1;
            let radian = radian(cells);
            let angle = real(delta) * radian;
            let (half_sin, _) = (angle * real(0.5)).sin_cos();
            let (sin, cos) = angle.sin_cos();
            h[0] = -(half_sin.sqr() * real(2.0) * real(beta));
            let mut factor = real(beta);
            for (k, entry) in h.iter_mut().enumerate().skip(1) {
                factor = (factor * radian) / real(k as f64);
                *entry = factor
                    * match k % 4 {
                        1 => -sin,
                        2 => -cos,
                        3 => sin,
                        _ => cos,
                    };
            }
        }
    }
    let mut g = vec![h[0].exp()];
    for m in 1..h.len() {
        let sum = (1..=m.min(degree)).fold(real(0.0), |s, k| s + real(k as f64) * h[k] * g[m - k]);
        g.push(sum / real(m as f64));
    }
    g
}

/// The translation from the source cell `offset` cells further on.
fn shift(shape: Shape, offset: i64, truncation: (f64, f64)) -> Shift {
    let g = taylor(shape, -(offset as f64) * CELL);
    // Samples and points of a cell are at most this far from its centre.
    let half = 0.5 * CELL * (1.0 + 1e-9);
    let (mut table, mut value, mut slope) = ([[0.0; TERMS]; TERMS], (0.0, 0.0), (0.0, 0.0));
    // half^{m - 1}
    let mut lower = 1.0 / half;
    for m in 0..TERMS {
        // Coefficient m of the derivative, and the binomials of (v - z)^m.
        let f = Interval::exact((m + 1) as f64) * g[m + 1];
        let mut binomial = 1.0;
        for l in 0..=m {
            let entry = f * Interval::exact(binomial);
            table[m - l][l] = entry.mid();
            let radius = (entry.hi() - entry.mid()).max(entry.mid() - entry.lo()).next_up();
            let power = half * lower;
            value = (value.0 + radius * power, value.1 + entry.mag() * power);
            let power = l as f64 * lower;
            slope = (slope.0 + radius * power, slope.1 + entry.mag() * power);
            // Exact: a whole number below 2^53 divided by a divisor.
            binomial = binomial * (m - l) as f64 / (l + 1) as f64;
        }
        lower *= half;
    }
    // Powers of at most 20 factors, two products, sums of 210 terms.
    let rounded = |(a, b): (f64, f64), rest: f64| (above(above(a, 300) + rest, 1), above(b, 300));
    Shift { offset, table, value_error: rounded(value, truncation.0), slope_error: rounded(slope, truncation.1) }
}
