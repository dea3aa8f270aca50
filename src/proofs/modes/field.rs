//! The derivative of a density estimate as one polynomial per cell, with a proved error.

use super::bounds::{CELL, TERMS, above};
use super::kernel::{Kernel, MOST_BLUR, Shift};
use crate::num::simd::{Lanes, Level, Task};
use crate::num::{interval::Interval, threads::parallel_allowed};
use rayon::prelude::*;

/// A cell with samples: its index, their number and moments `sum (-z)^k` about its centre.
struct Source {
    cell: i64,
    samples: usize,
    moments: [f64; TERMS],
}

/// The derivative on one cell: `sum_l c_l v^l` for `|v| <= CELL/2` about the centre of the cell.
pub(super) struct Polynomial {
    /// The cell.
    pub cell: i64,
    /// Coefficients.
    pub c: [f64; TERMS],
    /// Upper bounds of the error of value and slope on the whole cell, for the given samples and exact coefficients.
    pub error: (f64, f64),
}

/// Samples in cells.
pub(super) struct Field<'a> {
    kernel: &'a Kernel,
    sources: Vec<Source>,
    /// All samples, also those of other parts.
    total: usize,
    /// Bound of the displacement of a sample by the rounding of its position; infinite if a sample lies outside its cell.
    pub(super) blur: f64,
    /// Number of cells of the circle.
    pub cells: Option<i64>,
}

/// The sum of the translated moments of some sources: term by term in the order of the sources on every instruction set, products rounded.
struct Translate<'a>(&'a [(&'a Source, &'a Shift)]);

impl Task for Translate<'_> {
    type F = f64;
    type Output = [f64; TERMS];

    #[inline(always)]
    fn run<L: Lanes<F = f64>>(self, _: L) -> [f64; TERMS] {
        let mut c = [0.0; TERMS];
        for (source, shift) in self.0 {
            for (row, m) in shift.table.iter().zip(&source.moments) {
                c.iter_mut().zip(row).for_each(|(c, t)| *c += t * m);
            }
        }
        c
    }
}

/// Samples summed before a partial sum is put away.
const BLOCK: usize = 256;

impl<'a> Field<'a> {
    /// Ascending positions on the line in units, relative to the first.
    pub fn line(kernel: &'a Kernel, positions: Vec<f64>, total: usize) -> Self {
        // The difference from the first, the root of beta and their product are rounded: 3 eps/2. Underflow moves a sample by less than 1e-300.
        let length = positions.last().copied().unwrap_or(0.0);
        Self::new(kernel, &positions, total, 2.0 * f64::EPSILON * length + 1e-300, None)
    }

    /// Ascending positions on the circle in units; `turns` is the largest number of turns that was taken off an angle.
    pub fn circle(kernel: &'a Kernel, positions: Vec<f64>, turns: f64) -> Self {
        let cells = kernel.cells().map_or(1, |c| c as i64);
        // Reduction to one turn (3 roundings and the f64 nearest 2 pi), the unit (another such) and their product: below 6 eps/2 of the circle; 2 pi in two parts, times
        // the turns, is off by less than 1e-31 of itself.
        let blur = CELL * cells as f64 * (4.0 * f64::EPSILON + turns * 1e-31);
        let total = positions.len();
        Self::new(kernel, &positions, total, blur, Some(cells))
    }

    fn new(kernel: &'a Kernel, positions: &[f64], total: usize, blur: f64, cells: Option<i64>) -> Self {
        let cell_of = |s: f64| cells.map_or((s / CELL).floor() as i64, |c| ((s / CELL).floor() as i64).min(c - 1));
        let mut ranges: Vec<(i64, std::ops::Range<usize>)> = Vec::new();
        for (i, s) in positions.iter().enumerate() {
            let cell = cell_of(*s);
            match ranges.last_mut() {
                Some((last, range)) if *last == cell => range.end = i + 1,
                _ => ranges.push((cell, i..i + 1)),
            }
        }
        // Bounds are those of samples inside their cells.
        let strays = |(cell, range): &(i64, std::ops::Range<usize>)| {
            let far = |s: f64| (s - centre(*cell)).abs() > 0.5 * CELL * (1.0 + 1e-10);
            far(positions[range.start]) || far(positions[range.end - 1])
        };
        let blur = if ranges.iter().any(strays) { f64::INFINITY } else { blur };
        let source = |(cell, range): &(i64, std::ops::Range<usize>)| {
            let centre = centre(*cell);
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
            Source { cell: *cell, samples: range.len(), moments }
        };
        let sources = if parallel_allowed() && positions.len() > 20_000 {
            ranges.par_iter().map(source).collect()
        } else {
            ranges.iter().map(source).collect()
        };
        Self { kernel, sources, total, blur, cells }
    }

    /// True if the bounds of the kernel apply: samples are not displaced by more than they allow for, and at the ends of a part of the line, less than 2.2 units
    /// from its last sample, the derivative, at least `2.2 e^{-2.42} > 0.19` in size by that sample, has its sign whatever the other parts add.
    pub fn sound(&self) -> bool {
        self.blur <= MOST_BLUR && above(self.total as f64 * self.kernel.tables.tail.0, 1) < 0.19
    }

    /// Cells on which a mode can lie, ascending.
    pub fn targets(&self) -> Vec<i64> {
        let mut targets: Vec<i64> = Vec::new();
        let reach = self.kernel.reach;
        if self.cells.is_some_and(|c| 2 * reach + 1 >= c) {
            return (0..self.cells.unwrap_or(0)).collect();
        }
        for s in &self.sources {
            let from = targets.last().map_or(s.cell - reach, |t| (t + 1).max(s.cell - reach));
            targets.extend(from..=s.cell + reach);
        }
        if let Some(cells) = self.cells {
            targets.iter_mut().for_each(|t| *t = t.rem_euclid(cells));
            targets.sort_unstable();
            targets.dedup();
        }
        targets
    }

    /// The derivative on a cell.
    pub fn polynomial(&self, cell: i64) -> Polynomial {
        let shifts = &self.kernel.tables.shifts;
        let first = shifts[0].offset;
        let pairs: Vec<(&Source, &Shift)> = match self.cells {
            None => {
                let (start, last) = (self.sources.partition_point(|s| s.cell < cell + first), first + shifts.len() as i64);
                let near = self.sources[start..].iter().take_while(|s| s.cell < cell + last);
                near.map(|s| (s, &shifts[(s.cell - cell - first) as usize])).collect()
            }
            Some(cells) => {
                let found = |shift: &Shift| self.sources.binary_search_by_key(&(cell + shift.offset).rem_euclid(cells), |s| s.cell).ok();
                shifts.iter().filter_map(|shift| found(shift).map(|k| (&self.sources[k], shift))).collect()
            }
        };
        let (mut error, mut size, mut near, mut most) = ((0.0, 0.0), (0.0, 0.0), 0usize, 0usize);
        for (source, shift) in &pairs {
            let n = source.samples as f64;
            error = (error.0 + n * shift.value_error.0, error.1 + n * shift.slope_error.0);
            size = (size.0 + n * shift.value_error.1, size.1 + n * shift.slope_error.1);
            near += source.samples;
            most = most.max(source.samples);
        }
        let (c, summed) = (Level::best().run(Translate(&pairs)), pairs.len());
        // Roundings that lie in the way of one term, each of half a unit: powers of a rounded difference, its block, the blocks, the table, the sum over sources.
        let steps = (2 * TERMS + BLOCK + most / BLOCK + TERMS * summed + 8) as f64 * 0.51 * f64::EPSILON;
        let (near, far) = (near as f64, (self.total - near) as f64);
        let (tail, stiff) = (self.kernel.tables.tail, self.kernel.tables.stiffness);
        // Sums over at most all cells of a circle of 41, and these four terms.
        let bound = |a: f64, size: f64, tail: f64, stiff: f64| above(a + steps * size + far * tail + self.blur * near * stiff, 100);
        let error = (bound(error.0, size.0, tail.0, stiff.0), bound(error.1, size.1, tail.1, stiff.1));
        Polynomial { cell, c, error }
    }
}

/// Position of a cell's centre, exact.
pub(super) fn centre(cell: i64) -> f64 {
    (cell as f64 + 0.5) * CELL
}

impl Polynomial {
    /// Coefficients about `v`, for pieces of half width `rho`.
    pub fn about(&self, v: f64) -> [f64; TERMS] {
        let mut c = self.c;
        for m in 0..TERMS - 1 {
            for l in (m..TERMS - 1).rev() {
                c[l] += v * c[l + 1];
            }
        }
        c
    }

    /// An enclosure of the derivative of this order of the polynomial, without its error, by Horner's rule.
    pub fn enclosed(&self, order: usize, v: Interval) -> Interval {
        let factor = |l: usize| (l + 1 - order..=l).map(|k| k as f64).product::<f64>();
        (order..TERMS).rev().fold(Interval::exact(0.0), |s, l| s * v + Interval::exact(self.c[l]) * Interval::exact(factor(l)))
    }

    /// The value at `v`.
    pub fn value(&self, v: f64) -> f64 {
        self.c.iter().rev().fold(0.0, |s, c| s * v + c)
    }
}
