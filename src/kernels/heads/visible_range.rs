//! Masks and biases, applied to tiles of scores. A tile has the scores of a group of queries (V
//! vectors, one query per lane) and a block of sources.

use super::problem::HeadsProblem;
use super::tiles::MAX_VECTORS;
use crate::num::simd::{Float, SimdOps};
use crate::pattern::BiasForm;
use std::f64::consts::LOG2_E;

/// Number of sources per tile: a tile with three vectors of queries stays in the L1 cache.
pub(super) const SOURCE_BLOCK: usize = 128;

/// Ranges of sources that are visible to the queries of a group.
pub(super) struct VisibleRange<T, const V: usize> {
    starts: [T; V],
    ends: [T; V],
    /// Smallest range that contains every visible source, and the range visible to all queries.
    pub union: (usize, usize),
    intersection: (usize, usize),
}

impl<T: Copy, const V: usize> VisibleRange<T, V> {
    /// For the queries from `first` on. Lanes beyond the last query repeat its range.
    #[inline(always)]
    pub fn new<L: SimdOps<V = T>>(
        l: L,
        problem: &HeadsProblem,
        first: usize,
        queries: usize,
        sources: usize,
    ) -> Self {
        let mut out = Self {
            starts: [l.zero(); V],
            ends: [l.zero(); V],
            union: (sources, 0),
            intersection: (0, sources),
        };
        let (mut starts, mut ends) = ([[0.0; 16]; V], [[0.0; 16]; V]);
        for lane in 0..V * L::WIDTH {
            let visible = problem.pattern.visible((first + lane).min(queries - 1), sources);
            let (start, end) = (visible.start.min(sources), visible.end.min(sources));
            (starts[lane / L::WIDTH][lane % L::WIDTH], ends[lane / L::WIDTH][lane % L::WIDTH]) =
                (start as f64, end as f64);
            out.intersection = (out.intersection.0.max(start), out.intersection.1.min(end));
            if start < end {
                out.union = (out.union.0.min(start), out.union.1.max(end));
            }
        }
        for v in 0..V {
            (out.starts[v], out.ends[v]) = (l.load(&starts[v]), l.load(&ends[v]));
        }
        out
    }

    /// True if some query does not see all sources of this range.
    pub fn is_partial(&self, from: usize, to: usize) -> bool {
        from < self.intersection.0 || to > self.intersection.1
    }

    /// Sets the scores of invisible pairs to minus infinity.
    #[inline(always)]
    pub fn mask<L: SimdOps<V = T>>(&self, l: L, from: usize, tile: &mut [[T; V]]) {
        let hidden = l.constant(f64::NEG_INFINITY);
        for (k, row) in tile.iter_mut().enumerate() {
            // Halfway between two sources, so one strict comparison decides on which side a bound
            // lies.
            let j = l.constant((from + k) as f64 + 0.5);
            for v in 0..V {
                let begun = l.select(l.greater(j, self.starts[v]), row[v], hidden);
                row[v] = l.select(l.greater(self.ends[v], j), begun, hidden);
            }
        }
    }
}

/// Turns scores into exponents of 2, with the biases of one head.
#[derive(Clone, Copy)]
pub(super) struct Exponents {
    head: usize,
    bias_form: BiasForm,
    /// `beta log2 e`.
    pub slope: f64,
}

impl Exponents {
    /// For one head.
    pub fn new(problem: &HeadsProblem, head: usize) -> Self {
        Self { head, bias_form: problem.pattern.bias_form(head), slope: problem.beta * LOG2_E }
    }

    /// If true, tiles hold exponents. Otherwise they hold scores, with the sign that gives the
    /// largest score the largest weight.
    pub fn has_bias(&self) -> bool {
        self.bias_form != BiasForm::Absent
    }

    /// Factor from a number of the tile to an exponent of 2. It is never 0, so minus infinity stays
    /// minus infinity.
    pub fn factor<F: Float>(&self) -> f64 {
        if self.has_bias() { 1.0 } else { self.slope.abs().max(F::UNDERFLOW_EXPONENT.exp2()) }
    }

    /// Turns scores into exponents and adds the biases.
    #[inline(always)]
    pub fn add<L: SimdOps, const V: usize>(
        &self,
        l: L,
        problem: &HeadsProblem,
        (first, queries): (usize, usize),
        from: usize,
        tile: &mut [[L::V; V]],
    ) {
        let slope = l.constant(self.slope);
        match self.bias_form {
            BiasForm::Absent => {}
            BiasForm::Distance { slope: per_position } => {
                let (loss, mut positions) = (l.constant(-per_position * LOG2_E), [l.zero(); V]);
                for v in 0..V {
                    let mut position = [0.0; 16];
                    position
                        .iter_mut()
                        .enumerate()
                        .for_each(|(k, p)| *p = (first + v * L::WIDTH + k) as f64);
                    positions[v] = l.load(&position);
                }
                for (k, row) in tile.iter_mut().enumerate() {
                    let j = l.constant((from + k) as f64);
                    for v in 0..V {
                        let distance = l.max(l.sub(positions[v], j), l.sub(j, positions[v]));
                        row[v] = l.fma(row[v], slope, l.mul(loss, distance));
                    }
                }
            }
            BiasForm::Any => {
                let mut all = [L::F::default(); 16 * MAX_VECTORS * SOURCE_BLOCK];
                let mut biases = [0.0; SOURCE_BLOCK];
                for lane in 0..V * L::WIDTH {
                    let i = (first + lane).min(queries - 1);
                    problem.pattern.bias_row(self.head, i, from, &mut biases[..tile.len()]);
                    let column = all[lane..].iter_mut().step_by(V * L::WIDTH);
                    column.zip(&biases).for_each(|(out, b)| *out = L::F::from_f64(b * LOG2_E));
                }
                for (row, biases) in tile.iter_mut().zip(L::view(&all).chunks_exact(V)) {
                    for v in 0..V {
                        row[v] = l.fma(row[v], slope, biases[v]);
                    }
                }
            }
        }
    }
}
