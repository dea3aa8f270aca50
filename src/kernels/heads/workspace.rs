//! Buffers of an evaluation, and its phases.

use super::attend::{Attend, AttendInput, GROUPS, RowState, RowStatus};
use super::output::{self, Results};
use super::packed_heads::PackedHeads;
use super::problem::{HeadsProblem, Shape};
use super::qkv::{PackedTokens, QkvImages};
use super::reference::{RowWorkspace, SourceImages};
use super::tiles::{group, group_count};
use super::work_items::{WorkItem, for_each_item};
use crate::error::{Error, Result};
use crate::num::aligned::AlignedVec;
use crate::num::{simd::Float, stats::first_nonfinite};
use rayon::prelude::*;

/// All buffers of an evaluation, reused by the next one.
#[derive(Default)]
pub struct HeadsWorkspace {
    pub(super) double: Buffers<f64>,
    pub(super) single: Buffers<f32>,
}

impl HeadsWorkspace {
    /// Number of flagged rows (over all heads) that the last evaluation in `f64` recomputed in
    /// double-double arithmetic.
    pub fn flagged_rows(&self) -> usize {
        self.double.rows.iter().filter(|r| r.status == RowStatus::Flagged).count()
    }
}

/// Buffers for one precision.
#[derive(Default)]
pub(super) struct Buffers<F> {
    packed: PackedHeads<F>,
    /// Queries in slabs, and sources in slabs for cross-attention.
    x: PackedTokens<F>,
    y: PackedTokens<F>,
    masses: Vec<F>,
    images: QkvImages<F>,
    items: Vec<WorkItem>,
    starts: Vec<usize>,
    /// `sum_j A_ij V y_j` of all heads, in slabs.
    results: AlignedVec<F>,
    rows: Vec<RowState>,
    /// Flagged rows of one head, their recomputed results, and the buffers for these.
    flagged: Vec<usize>,
    recomputed: Vec<f64>,
    source_images: SourceImages,
    row_workspace: RowWorkspace,
}

impl<F: Float> Buffers<F> {
    /// Computes the images and the weighted sums of all heads. The problem must have been checked.
    pub fn attend(&mut self, problem: &HeadsProblem, shape: &Shape) {
        self.packed.load(problem.heads, problem.d, problem.isa);
        self.x.load(problem, shape, problem.queries, shape.query_vectors, &mut self.items);
        if !problem.is_self_attention() {
            self.y.load(problem, shape, problem.sources, shape.source_vectors, &mut self.items);
        }
        let y = if problem.is_self_attention() { &self.x } else { &self.y };
        let longest = [self.x.longest(), y.longest()];
        self.images.fill(problem, shape, &self.packed, &self.x.slabs, &y.slabs);
        self.masses.clear();
        if problem.masses.iter().any(|m| m.to_bits() != problem.masses[0].to_bits()) {
            self.masses.extend(problem.masses.iter().map(|m| F::from_f64(*m)));
        }
        self.make_items(shape);
        let Self { packed, images, masses, items, results, rows, .. } = self;
        let input = AttendInput { problem, shape, packed, images, masses, longest };
        for_each_item(items, results, rows, shape.parallel, &|item, out, rows| {
            problem.isa.run(Attend { input: &input, item, out, rows });
        });
    }

    /// Makes the work items of the attention phase: for every head, a few groups of queries each.
    fn make_items(&mut self, shape: &Shape) {
        self.items.clear();
        self.starts.clear();
        let (mut at, mut side) = (0, 0);
        for (head, m) in self.packed.heads.iter().enumerate() {
            self.starts.push(at);
            let all = group_count(shape.query_vectors);
            let count = all.div_ceil(GROUPS);
            for p in 0..count {
                // Items are as equal as whole groups allow.
                let (from, to) = (p * all / count, (p + 1) * all / count);
                let (last, len) = group(shape.query_vectors, to - 1);
                let vectors = last + len - group(shape.query_vectors, from).0;
                self.items.push(WorkItem {
                    head,
                    group: (from, to - from),
                    offset: at,
                    side_offset: side,
                    ..WorkItem::default()
                });
                at += vectors * m.size * shape.width;
                side += vectors * shape.width;
            }
        }
        self.results.resize(at);
        self.rows.resize(side, RowState::default());
    }

    /// Applies the output matrices; returns the number of rows without a visible source.
    pub fn apply_output(
        &mut self,
        problem: &HeadsProblem,
        shape: &Shape,
        out: &mut [f64],
    ) -> Result<usize> {
        let results = Results { numbers: &self.results, starts: &self.starts };
        output::fill(problem, shape, &self.packed, &results, &mut self.items, out);
        match first_nonfinite(out) {
            Some(k) => Err(Error::Beyond {
                quantity: format!("the output of row {}", k / problem.d + 1),
                hint: "use smaller logits, matrices or a smaller log factor".into(),
            }),
            None => Ok(self.masked(shape)),
        }
    }

    /// Number of rows without a visible source under any head.
    fn masked(&self, shape: &Shape) -> usize {
        let stride = shape.query_vectors * shape.width;
        (0..shape.queries)
            .filter(|i| {
                self.rows.iter().skip(*i).step_by(stride).all(|r| r.status == RowStatus::Masked)
            })
            .count()
    }
}

/// A source contributes nothing if its logit is this far below the largest: `e^{-60}` is below the
/// rounding error.
const NEGLIGIBLE_GAP: f64 = 60.0;

impl Buffers<f64> {
    /// Recomputes the flagged rows in double-double arithmetic, head by head.
    pub fn recompute_flagged(&mut self, problem: &HeadsProblem, shape: &Shape) {
        let stride = shape.query_vectors * shape.width;
        let Self {
            packed,
            starts,
            results,
            rows,
            flagged,
            recomputed,
            source_images,
            row_workspace,
            ..
        } = self;
        for (head, matrices) in packed.heads.iter().enumerate() {
            let rows = &rows[head * stride..][..shape.queries];
            flagged.clear();
            flagged.extend((0..shape.queries).filter(|i| rows[*i].status == RowStatus::Flagged));
            if flagged.is_empty() {
                continue;
            }
            source_images.fill(problem, head, shape.parallel);
            recomputed.clear();
            recomputed.resize(flagged.len() * matrices.size, 0.0);
            let one = |row_workspace: &mut RowWorkspace, i: usize, out: &mut [f64]| {
                let top = rows[i].top;
                // Larger logits have errors above NEGLIGIBLE_GAP in f64, so no source may be
                // skipped.
                let least = if top.abs() < 1e12 { top - NEGLIGIBLE_GAP } else { f64::NEG_INFINITY };
                if let Some(z) = row_workspace.row(problem, head, source_images, (i, least)) {
                    out.iter_mut().zip(z).for_each(|(o, z)| *o = z.to_f64());
                }
            };
            if shape.parallel {
                let parts = flagged.par_iter().zip(recomputed.par_chunks_exact_mut(matrices.size));
                parts.for_each_init(RowWorkspace::default, |row_workspace, (i, out)| {
                    one(row_workspace, *i, out)
                });
            } else {
                flagged
                    .iter()
                    .zip(recomputed.chunks_exact_mut(matrices.size))
                    .for_each(|(i, out)| one(row_workspace, *i, out));
            }
            for (i, z) in flagged.iter().zip(recomputed.chunks_exact(matrices.size)) {
                let first =
                    starts[head] + i / shape.width * matrices.size * shape.width + i % shape.width;
                results[first..].iter_mut().step_by(shape.width).zip(z).for_each(|(o, z)| *o = *z);
            }
        }
    }
}
