//! The kernel of a density estimate: its Taylor expansion from one bin to another, with proved
//! error bounds. Lengths are in units of the width of the kernel, about `beta^{-1/2}`.

use super::bounds::{BIN_WIDTH, KernelShape, TERMS, radian, round_up};
use crate::num::interval::Interval;
use std::sync::{Arc, OnceLock};

/// Range of the kernel in units: samples beyond it are bounded, not summed.
pub(super) const RANGE: f64 = 10.0;
/// Largest error of a position, in units, with which counts are proved: the range and
/// [`nonconvex_bins`] have this margin.
pub(super) const MAX_POSITION_ERROR: f64 = 0.2;

/// A map from the moments of one bin to the polynomial of another.
pub(super) struct Translation {
    /// Index of the source bin minus index of the target bin.
    pub offset: i64,
    /// `table[k][l]`: the contribution of moment k to coefficient l.
    pub table: [[f64; TERMS]; TERMS],
    /// Upper bounds per sample of the source bin: of the error of the value by truncation and
    /// enclosure, and of the magnitude that rounding errors multiply.
    pub value_error: (f64, f64),
    /// The same bounds for the slope.
    pub slope_error: (f64, f64),
}

/// Tables that do not depend on the samples.
pub(super) struct Tables {
    /// All translations within range.
    pub translations: Vec<Translation>,
    /// Bounds of the derivative and second derivative of the estimate per sample beyond the range.
    pub tail: (f64, f64),
    /// Bounds of the second and third derivative of the kernel: the effect of an error of a
    /// position.
    pub derivative_bounds: (f64, f64),
}

/// A kernel with its translations.
pub(super) struct Kernel {
    shape: KernelShape,
    /// Units per radian, or per unit of length.
    unit: f64,
    /// Translations and bounds.
    pub tables: Arc<Tables>,
    /// Number of bins on each side of a sample outside which its kernel is convex.
    pub nonconvex_bins: i64,
}

impl Kernel {
    /// The Gaussian kernel of bandwidth `beta^{-1/2}` on the line.
    pub fn gaussian(beta: f64) -> Self {
        // In its own units the kernel is the same for every beta.
        static TABLES: OnceLock<Arc<Tables>> = OnceLock::new();
        let near = (RANGE / BIN_WIDTH) as i64;
        let tables =
            TABLES.get_or_init(|| Arc::new(Tables::new(KernelShape::Gaussian, -near..=near)));
        Self {
            shape: KernelShape::Gaussian,
            unit: beta.sqrt(),
            tables: Arc::clone(tables),
            nonconvex_bins: nonconvex_bins(KernelShape::Gaussian, i64::MAX),
        }
    }

    /// The kernel `e^{beta cos}` on the circle.
    pub fn von_mises(beta: f64) -> Self {
        let turn = std::f64::consts::TAU;
        let bins = ((turn * beta.sqrt() / BIN_WIDTH).ceil()).max(16.0);
        let unit = bins * BIN_WIDTH / turn;
        let bins = bins as usize;
        let shape = KernelShape::VonMises { beta, bins };
        let (all, near) = (bins as i64, (RANGE / BIN_WIDTH) as i64);
        let covers_circle = 2 * near + 1 >= all;
        let offsets = if covers_circle { -((all - 1) / 2)..=all / 2 } else { -near..=near };
        let mut tables = Tables::new(shape, offsets);
        if covers_circle {
            tables.tail = (0.0, 0.0);
        }
        Self { shape, unit, tables: Arc::new(tables), nonconvex_bins: nonconvex_bins(shape, all) }
    }

    /// Units of the kernel per radian, or per unit of length.
    pub fn unit(&self) -> f64 {
        self.unit
    }

    /// If two samples are farther apart than this distance in units, the bins near one (at most
    /// `nonconvex_bins + 1` bins) are out of range of the other. The distance includes a margin of
    /// two bins.
    pub fn separation(&self) -> f64 {
        RANGE + BIN_WIDTH * (self.nonconvex_bins + 3) as f64
    }

    /// Number of bins of the circle.
    pub fn bins(&self) -> Option<usize> {
        match self.shape {
            KernelShape::Gaussian => None,
            KernelShape::VonMises { bins, .. } => Some(bins),
        }
    }
}

/// Number of bins on each side of the bin of a sample outside which the kernel is proved to be
/// convex, with any error of the position up to [`MAX_POSITION_ERROR`]. The circle has `all` bins.
pub(super) fn nonconvex_bins(shape: KernelShape, all: i64) -> i64 {
    let mut nonconvex_bins = 1;
    while 2 * nonconvex_bins + 1 < all
        && !shape.convex_beyond(BIN_WIDTH * nonconvex_bins as f64 - MAX_POSITION_ERROR)
    {
        nonconvex_bins += 1;
    }
    nonconvex_bins
}

impl Tables {
    fn new(shape: KernelShape, offsets: std::ops::RangeInclusive<i64>) -> Self {
        let largest = offsets.end().abs().max(offsets.start().abs());
        let truncations: Vec<(f64, f64)> =
            (0..=largest).map(|q| shape.truncation(q as f64 * BIN_WIDTH)).collect();
        let translations = offsets
            .map(|q| translation(shape, q, truncations[q.unsigned_abs() as usize]))
            .collect();
        // At the centre, where the kernel is largest, Cauchy's bound of derivative m is best at the
        // radius sqrt(m).
        let derivative_bounds = |m: u32| shape.derivative(m, 0.0, f64::from(m).sqrt());
        // Samples out of range are farther than this even with the error of their positions.
        let tail = |m: u32| shape.derivative(m, RANGE - MAX_POSITION_ERROR, 0.1);
        Self {
            translations,
            tail: (tail(1), tail(2)),
            derivative_bounds: (derivative_bounds(2), derivative_bounds(3)),
        }
    }
}

/// Enclosures of the Taylor coefficients of the kernel at `delta`: those of `e^h` from those of h
/// by `m g_m = sum k h_k g_{m-k}`.
pub(super) fn taylor(shape: KernelShape, delta: f64) -> Vec<Interval> {
    let real = Interval::exact;
    let mut h = vec![real(0.0); TERMS + 2];
    let mut degree = 2;
    match shape {
        KernelShape::Gaussian => {
            h[0] = -(real(delta).sqr() * real(0.5));
            h[1] = real(-delta);
            h[2] = real(-0.5);
        }
        KernelShape::VonMises { beta, bins } => {
            degree = TERMS + 1;
            let radian = radian(bins);
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

/// The translation from the source bin that is `offset` bins further on.
fn translation(shape: KernelShape, offset: i64, truncation: (f64, f64)) -> Translation {
    let g = taylor(shape, -(offset as f64) * BIN_WIDTH);
    // Largest distance of samples and points of a bin from its centre.
    let half = 0.5 * BIN_WIDTH * (1.0 + 1e-9);
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
            // Exact: integers below 2^53 and a division without remainder.
            binomial = binomial * (m - l) as f64 / (l + 1) as f64;
        }
        lower *= half;
    }
    // Powers of at most 20 factors, two products, sums of 210 terms.
    let upper =
        |(a, b): (f64, f64), rest: f64| (round_up(round_up(a, 300) + rest, 1), round_up(b, 300));
    Translation {
        offset,
        table,
        value_error: upper(value, truncation.0),
        slope_error: upper(slope, truncation.1),
    }
}
