//! The derivative of a density estimate as one polynomial per cell, with a proved error.

use super::kernel::{CELL, Kernel, TERMS};
use crate::num::threads::parallel_allowed;
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
    /// Bounds of the error of value and slope on the whole cell.
    pub error: (f64, f64),
}

/// Samples in cells.
pub(super) struct Field<'a> {
    kernel: &'a Kernel,
    sources: Vec<Source>,
    /// All samples, also those of other parts.
    total: usize,
    /// Displacement of a sample by the rounding of its position.
    blur: f64,
    /// Number of cells of the circle.
    pub cells: Option<i64>,
}

/// Samples summed before a partial sum is put away.
const BLOCK: usize = 256;

impl<'a> Field<'a> {
    /// Ascending positions on the line in units, relative to the first.
    pub fn line(kernel: &'a Kernel, positions: Vec<f64>, total: usize) -> Self {
        let length = positions.last().copied().unwrap_or(0.0);
        Self::new(kernel, &positions, total, 8.0 * f64::EPSILON * length, None)
    }

    /// Ascending positions on the circle in units; `turns` is the largest number of turns that was taken off an angle.
    pub fn circle(kernel: &'a Kernel, positions: Vec<f64>, turns: f64) -> Self {
        let cells = kernel.cells().map_or(1, |c| c as i64);
        let blur = CELL * cells as f64 * (8.0 * f64::EPSILON + turns * 1e-31);
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
        let (mut c, mut error, mut near, mut most) = ([0.0; TERMS], (0.0, 0.0), 0usize, 0usize);
        let (mut size, mut summed) = ((0.0, 0.0), 0usize);
        let first = self.kernel.shifts[0].offset;
        let start = if self.cells.is_some() { 0 } else { self.sources.partition_point(|s| s.cell < cell + first) };
        let mut visit = |source: &Source, q: usize| {
            let shift = &self.kernel.shifts[q];
            for (row, m) in shift.table.iter().zip(&source.moments) {
                c.iter_mut().zip(row).for_each(|(c, t)| *c += t * m);
            }
            let n = source.samples as f64;
            error = (error.0 + n * shift.value_error.0, error.1 + n * shift.slope_error.0);
            size = (size.0 + n * shift.value_error.1, size.1 + n * shift.slope_error.1);
            near += source.samples;
            most = most.max(source.samples);
            summed += 1;
        };
        match self.cells {
            None => {
                let last = first + self.kernel.shifts.len() as i64;
                self.sources[start..].iter().take_while(|s| s.cell < cell + last).for_each(|s| visit(s, (s.cell - cell - first) as usize));
            }
            Some(cells) => {
                for q in 0..self.kernel.shifts.len() {
                    let wanted = (cell + first + q as i64).rem_euclid(cells);
                    if let Ok(k) = self.sources.binary_search_by_key(&wanted, |s| s.cell) {
                        visit(&self.sources[k], q);
                    }
                }
            }
        }
        // Operations that lie in the way of one term: powers, its block, the blocks, the table, the sum over sources.
        let steps = (2 * TERMS + BLOCK + most / BLOCK + TERMS * summed + 8) as f64 * f64::EPSILON;
        let (blur, tail, stiff) = (self.blur * near as f64, (self.total - near) as f64, self.kernel.stiffness);
        let bound = |a: f64, size: f64, tail: f64, blur: f64| 1.02 * (a + steps * size + tail + blur);
        let error = (
            bound(error.0, size.0, tail * self.kernel.tail.0, blur * stiff.0),
            bound(error.1, size.1, tail * self.kernel.tail.1, blur * stiff.1),
        );
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

    /// The value at `v`.
    pub fn value(&self, v: f64) -> f64 {
        self.c.iter().rev().fold(0.0, |s, c| s * v + c)
    }
}
