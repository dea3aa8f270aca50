//! The derivative of a density estimate as one polynomial per bin, with a proved error bound.

use super::bounds::{BIN_WIDTH, TERMS, round_up};
use super::kernel::{Kernel, MAX_POSITION_ERROR, Translation};
use crate::num::simd::{Isa, SimdKernel, SimdOps};
use crate::num::{interval::Interval, threads::parallel_allowed};
use rayon::prelude::*;

/// The derivative of an estimate as one polynomial per bin.
pub(super) trait Derivative: Sync {
    /// True if the bounds of the errors are valid.
    fn bounds_apply(&self) -> bool;

    /// Number of bins of the circle; `None` on the line.
    fn bins(&self) -> Option<i64>;

    /// Indices of the bins in which a mode can lie, ascending: in the others the estimate is
    /// convex.
    fn candidate_bins(&self) -> Vec<i64>;

    /// The derivative on a bin.
    fn polynomial(&self, bin: i64) -> Polynomial;
}

/// A bin that contains samples.
struct Bin {
    index: i64,
    /// Number of its samples, and their moments `sum (-z)^k` about its centre.
    samples: usize,
    moments: [f64; TERMS],
}

/// The derivative on one bin: `sum_l c_l v^l` for `|v| <= BIN_WIDTH/2` about the centre of the bin.
pub(super) struct Polynomial {
    /// Index of the bin.
    pub bin: i64,
    /// Coefficients.
    pub c: [f64; TERMS],
    /// Upper bounds of the errors of value and slope on the whole bin, for the given samples and
    /// exact coefficients.
    pub error: (f64, f64),
}

/// The derivative of the density estimate of samples, sorted into bins.
pub(super) struct DensityDerivative<'a> {
    kernel: &'a Kernel,
    sources: Vec<Bin>,
    /// Number of all samples, including those of other parts of the line.
    total: usize,
    /// Bound of the error of a sample's position by rounding; infinite if a sample lies outside its
    /// bin.
    pub(super) position_error: f64,
    /// Number of bins of the circle.
    bins: Option<i64>,
}

/// The sum of the translated moments of some bins. Every instruction set adds the same rounded
/// products in the same order.
struct Translate<'a>(&'a [(&'a Bin, &'a Translation)]);

impl SimdKernel for Translate<'_> {
    type F = f64;
    type Output = [f64; TERMS];

    #[inline(always)]
    fn run<L: SimdOps<F = f64>>(self, _: L) -> [f64; TERMS] {
        let mut c = [0.0; TERMS];
        for (source, shift) in self.0 {
            for (row, m) in shift.table.iter().zip(&source.moments) {
                c.iter_mut().zip(row).for_each(|(c, t)| *c += t * m);
            }
        }
        c
    }
}

/// Number of samples in one partial sum.
const BLOCK: usize = 256;

impl<'a> DensityDerivative<'a> {
    /// From ascending positions on the line, in units relative to the first.
    pub fn line(kernel: &'a Kernel, positions: Vec<f64>, total: usize) -> Self {
        // The difference from the first, the root of beta and their product are rounded: 3 eps/2.
        // Underflow changes a position by less than 1e-300.
        let length = positions.last().copied().unwrap_or(0.0);
        Self::new(kernel, &positions, total, 2.0 * f64::EPSILON * length + 1e-300, None)
    }

    /// From ascending positions on the circle, in units. `turns` is the largest number of full
    /// turns that was subtracted from an angle.
    pub fn circle(kernel: &'a Kernel, positions: Vec<f64>, turns: f64) -> Self {
        let bins = kernel.bins().map_or(1, |c| c as i64);
        // Reduction to one turn (3 roundings and the f64 nearest 2 pi), the unit (another such) and
        // their product: below 6 eps/2 of the circle. The error of 2 pi in two parts, times the
        // turns, is below 1e-31 of itself.
        let position_error = BIN_WIDTH * bins as f64 * (4.0 * f64::EPSILON + turns * 1e-31);
        let total = positions.len();
        Self::new(kernel, &positions, total, position_error, Some(bins))
    }

    fn new(
        kernel: &'a Kernel,
        positions: &[f64],
        total: usize,
        position_error: f64,
        bins: Option<i64>,
    ) -> Self {
        let bin_of = |s: f64| {
            bins.map_or((s / BIN_WIDTH).floor() as i64, |c| {
                ((s / BIN_WIDTH).floor() as i64).min(c - 1)
            })
        };
        let mut ranges: Vec<(i64, std::ops::Range<usize>)> = Vec::new();
        for (i, s) in positions.iter().enumerate() {
            let bin = bin_of(*s);
            match ranges.last_mut() {
                Some((last, range)) if *last == bin => range.end = i + 1,
                _ => ranges.push((bin, i..i + 1)),
            }
        }
        // The bounds are valid only for samples inside their bins.
        let outside = |(bin, range): &(i64, std::ops::Range<usize>)| {
            let far = |s: f64| (s - centre(*bin)).abs() > 0.5 * BIN_WIDTH * (1.0 + 1e-10);
            far(positions[range.start]) || far(positions[range.end - 1])
        };
        let position_error =
            if ranges.iter().any(outside) { f64::INFINITY } else { position_error };
        let source = |(bin, range): &(i64, std::ops::Range<usize>)| {
            let centre = centre(*bin);
            let mut moments = [0.0; TERMS];
            for block in positions[range.clone()].chunks(BLOCK) {
                let mut partial = [0.0; TERMS];
                for s in block {
                    let z = centre - s;
                    let mut power = 1.0;
                    for m in &mut partial {
                        *m += power;
                        power *= z;
                    }
                }
                moments.iter_mut().zip(partial).for_each(|(m, p)| *m += p);
            }
            Bin { index: *bin, samples: range.len(), moments }
        };
        let sources = if parallel_allowed() && positions.len() > 20_000 {
            ranges.par_iter().map(source).collect()
        } else {
            ranges.iter().map(source).collect()
        };
        Self { kernel, sources, total, position_error, bins }
    }
}

impl Derivative for DensityDerivative<'_> {
    /// True if the bounds of the kernel apply. First, positions are known well enough. Second, at
    /// the ends of a part of the line, less than 2.2 units from its last sample, that sample
    /// contributes at least `2.2 e^{-2.42} > 0.19` to the derivative: more than all other parts
    /// together can change.
    fn bounds_apply(&self) -> bool {
        self.position_error <= MAX_POSITION_ERROR
            && round_up(self.total as f64 * self.kernel.tables.tail.0, 1) < 0.19
    }

    fn bins(&self) -> Option<i64> {
        self.bins
    }

    fn candidate_bins(&self) -> Vec<i64> {
        let sources = self.sources.iter().map(|s| s.index);
        candidate_bins(sources, self.kernel.nonconvex_bins, self.bins)
    }

    fn polynomial(&self, bin: i64) -> Polynomial {
        let translations = &self.kernel.tables.translations;
        let first = translations[0].offset;
        let pairs: Vec<(&Bin, &Translation)> = match self.bins {
            None => {
                let (start, last) = (
                    self.sources.partition_point(|s| s.index < bin + first),
                    first + translations.len() as i64,
                );
                let near = self.sources[start..].iter().take_while(|s| s.index < bin + last);
                near.map(|s| (s, &translations[(s.index - bin - first) as usize])).collect()
            }
            Some(bins) => {
                let found = |shift: &Translation| {
                    self.sources
                        .binary_search_by_key(&(bin + shift.offset).rem_euclid(bins), |s| s.index)
                        .ok()
                };
                translations
                    .iter()
                    .filter_map(|shift| found(shift).map(|k| (&self.sources[k], shift)))
                    .collect()
            }
        };
        let (mut error, mut size, mut near, mut max_samples) =
            ((0.0, 0.0), (0.0, 0.0), 0usize, 0usize);
        for (source, shift) in &pairs {
            let n = source.samples as f64;
            error = (error.0 + n * shift.value_error.0, error.1 + n * shift.slope_error.0);
            size = (size.0 + n * shift.value_error.1, size.1 + n * shift.slope_error.1);
            near += source.samples;
            max_samples = max_samples.max(source.samples);
        }
        let (c, summed) = (Isa::best().run(Translate(&pairs)), pairs.len());
        // Number of roundings of one term, each of half a unit: powers of a rounded difference, its
        // block, the blocks, the table, the sum over bins.
        let roundings = (2 * TERMS + BLOCK + max_samples / BLOCK + TERMS * summed + 8) as f64
            * 0.51
            * f64::EPSILON;
        let (near, far) = (near as f64, (self.total - near) as f64);
        let (tail, derivative) = (self.kernel.tables.tail, self.kernel.tables.derivative_bounds);
        // Sums over at most all bins of a circle of 41, and these four terms.
        let bound = |a: f64, size: f64, tail: f64, derivative: f64| {
            round_up(
                a + roundings * size + far * tail + self.position_error * near * derivative,
                100,
            )
        };
        let error = (
            bound(error.0, size.0, tail.0, derivative.0),
            bound(error.1, size.1, tail.1, derivative.1),
        );
        Polynomial { bin, c, error }
    }
}

/// Indices of the bins that are at most `nonconvex_bins` from one of the sources, ascending: those
/// in which a mode can lie. The sources ascend; a circle has a number of bins.
pub(super) fn candidate_bins(
    sources: impl Iterator<Item = i64>,
    nonconvex_bins: i64,
    bins: Option<i64>,
) -> Vec<i64> {
    let mut targets: Vec<i64> = Vec::new();
    if let Some(bins) = bins.filter(|bins| 2 * nonconvex_bins + 1 >= *bins) {
        return (0..bins).collect();
    }
    for source in sources {
        let first = source - nonconvex_bins;
        let from = targets.last().map_or(first, |t| (t + 1).max(first));
        targets.extend(from..=source + nonconvex_bins);
    }
    if let Some(bins) = bins {
        targets.iter_mut().for_each(|t| *t = t.rem_euclid(bins));
        targets.sort_unstable();
        targets.dedup();
    }
    targets
}

/// Position of the centre of a bin, exact.
pub(super) fn centre(bin: i64) -> f64 {
    (bin as f64 + 0.5) * BIN_WIDTH
}

impl Polynomial {
    /// Coefficients of the polynomial about `v`.
    pub fn shifted_to(&self, v: f64) -> [f64; TERMS] {
        let mut c = self.c;
        for m in 0..TERMS - 1 {
            for l in (m..TERMS - 1).rev() {
                c[l] += v * c[l + 1];
            }
        }
        c
    }

    /// An enclosure of the derivative of this order of the polynomial, by Horner's rule. It does
    /// not include `error`.
    pub fn enclose_derivative(&self, order: usize, v: Interval) -> Interval {
        let factor = |l: usize| (l + 1 - order..=l).map(|k| k as f64).product::<f64>();
        (order..TERMS).rev().fold(Interval::exact(0.0), |s, l| {
            s * v + Interval::exact(self.c[l]) * Interval::exact(factor(l))
        })
    }

    /// The value at `v`, in f64.
    pub fn value(&self, v: f64) -> f64 {
        self.c.iter().rev().fold(0.0, |s, c| s * v + c)
    }
}
