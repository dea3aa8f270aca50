//! Buffers of an evaluation, and its phases.

use super::attend::{Attend, GROUPS, Mark, Row, Source};
use super::job::{HeadsJob, Shape};
use super::output::{self, Results};
use super::project::{Images, Tokens};
use super::reference::{Room, SourceImages};
use super::share::{Piece, each};
use super::stack::Stack;
use super::tiles::{group, group_count};
use crate::error::{Error, Result};
use crate::num::aligned::Aligned;
use crate::num::{simd::Float, stats::first_not_finite};
use rayon::prelude::*;

/// All memory that evaluations need, kept from one to the next.
#[derive(Default)]
pub struct Work {
    pub(super) double: Buffers<f64>,
    pub(super) single: Buffers<f32>,
}

impl Work {
    /// Rows (of all heads together) that the last evaluation in `f64` took again in twice the precision.
    pub fn doubtful(&self) -> usize {
        self.double.rows.iter().filter(|r| r.mark == Mark::Doubtful).count()
    }
}

/// Memory of one precision.
#[derive(Default)]
pub(super) struct Buffers<F> {
    stack: Stack<F>,
    /// Tokens in slabs: queries, sources where they are others.
    x: Tokens<F>,
    y: Tokens<F>,
    masses: Vec<F>,
    images: Images<F>,
    pieces: Vec<Piece>,
    starts: Vec<usize>,
    /// `sum_j A_ij V y_j` of all heads, in slabs.
    results: Aligned<F>,
    rows: Vec<Row>,
    /// Doubtful rows of one head, their results, and what these are made from.
    doubtful: Vec<usize>,
    exact: Vec<f64>,
    source_images: SourceImages,
    room: Room,
}

impl<F: Float> Buffers<F> {
    /// Images of tokens and the weighted sums of all heads; shapes have been checked.
    pub fn attend(&mut self, job: &HeadsJob, shape: &Shape) {
        self.stack.load(job.heads, job.d, job.level);
        self.x.load(job, shape, job.queries, shape.query_vectors, &mut self.pieces);
        if !job.is_self_attention() {
            self.y.load(job, shape, job.sources, shape.source_vectors, &mut self.pieces);
        }
        let y = if job.is_self_attention() { &self.x } else { &self.y };
        let longest = [self.x.longest(), y.longest()];
        self.images.fill(job, shape, &self.stack, &self.x.slabs, &y.slabs);
        self.masses.clear();
        if job.masses.iter().any(|m| m.to_bits() != job.masses[0].to_bits()) {
            self.masses.extend(job.masses.iter().map(|m| F::of(*m)));
        }
        self.lay_out(shape);
        let Self { stack, images, masses, pieces, results, rows, .. } = self;
        let source = Source { job, shape, stack, images, masses, longest };
        each(pieces, results, rows, shape.parallel, &|piece, out, rows| {
            job.level.run(Attend { source: &source, piece, out, rows });
        });
    }

    /// Pieces of attention: of every head, some groups of queries.
    fn lay_out(&mut self, shape: &Shape) {
        self.pieces.clear();
        self.starts.clear();
        let (mut at, mut beside) = (0, 0);
        for (head, m) in self.stack.heads.iter().enumerate() {
            self.starts.push(at);
            let all = group_count(shape.query_vectors);
            let count = all.div_ceil(GROUPS);
            for p in 0..count {
                // Pieces as equal as whole groups allow.
                let (from, to) = (p * all / count, (p + 1) * all / count);
                let (last, len) = group(shape.query_vectors, to - 1);
                let vectors = last + len - group(shape.query_vectors, from).0;
                self.pieces.push(Piece { head, group: (from, to - from), at, beside, ..Piece::default() });
                at += vectors * m.size * shape.width;
                beside += vectors * shape.width;
            }
        }
        self.results.resize(at);
        self.rows.resize(beside, Row::default());
    }

    /// Output matrices; the number of rows that see nothing.
    pub fn finish(&mut self, job: &HeadsJob, shape: &Shape, out: &mut [f64]) -> Result<usize> {
        let results = Results { numbers: &self.results, starts: &self.starts };
        output::fill(job, shape, &self.stack, &results, &mut self.pieces, out);
        match first_not_finite(out) {
            Some(k) => Err(Error::Beyond {
                quantity: format!("the output of row {}", k / job.d + 1),
                hint: "smaller logits, matrices or log factor work".into(),
            }),
            None => Ok(self.masked(shape)),
        }
    }

    /// Rows that see nothing under any head.
    fn masked(&self, shape: &Shape) -> usize {
        let stride = shape.query_vectors * shape.width;
        (0..shape.queries).filter(|i| self.rows.iter().skip(*i).step_by(stride).all(|r| r.mark == Mark::Masked)).count()
    }
}

/// Sources whose logits are so far below the largest add nothing.
const FAR: f64 = 60.0;

impl Buffers<f64> {
    /// Evaluates the doubtful rows again by their definition in double-double numbers, head by head.
    pub fn again(&mut self, job: &HeadsJob, shape: &Shape) {
        let stride = shape.query_vectors * shape.width;
        let Self { stack, starts, results, rows, doubtful, exact, source_images, room, .. } = self;
        for (head, matrices) in stack.heads.iter().enumerate() {
            let rows = &rows[head * stride..][..shape.queries];
            doubtful.clear();
            doubtful.extend((0..shape.queries).filter(|i| rows[*i].mark == Mark::Doubtful));
            if doubtful.is_empty() {
                continue;
            }
            source_images.fill(job, head, shape.parallel);
            exact.clear();
            exact.resize(doubtful.len() * matrices.size, 0.0);
            let one = |room: &mut Room, i: usize, out: &mut [f64]| {
                let top = rows[i].top;
                // Logits beyond this are not known to within FAR before they are computed.
                let least = if top.abs() < 1e12 { top - FAR } else { f64::NEG_INFINITY };
                if let Some(z) = room.row(job, head, source_images, (i, least)) {
                    out.iter_mut().zip(z).for_each(|(o, z)| *o = z.to_f64());
                }
            };
            if shape.parallel {
                let parts = doubtful.par_iter().zip(exact.par_chunks_exact_mut(matrices.size));
                parts.for_each_init(Room::default, |room, (i, out)| one(room, *i, out));
            } else {
                doubtful.iter().zip(exact.chunks_exact_mut(matrices.size)).for_each(|(i, out)| one(room, *i, out));
            }
            for (i, z) in doubtful.iter().zip(exact.chunks_exact(matrices.size)) {
                let first = starts[head] + i / shape.width * matrices.size * shape.width + i % shape.width;
                results[first..].iter_mut().step_by(shape.width).zip(z).for_each(|(o, z)| *o = *z);
            }
        }
    }
}
