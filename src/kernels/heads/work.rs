//! Buffers of an evaluation, and its phases.

use super::again::{Again, ExactImages};
use super::attend::{Attend, GROUPS, Mark, Row, Source};
use super::job::{HeadsJob, Shape};
use super::output::{self, Results};
use super::project::{Images, Tokens};
use super::share::{Piece, each};
use super::stack::Stack;
use super::tiles::{group, group_count};
use crate::error::{Error, Result};
use crate::num::aligned::Aligned;
use crate::num::{simd::Float, stats::first_not_finite};

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
    /// Images of doubtful queries, and of all sources, of one head: two parts for every vector of tokens.
    exact_queries: Aligned<f64>,
    exact_keys: Aligned<f64>,
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

impl Buffers<f64> {
    /// Evaluates the vectors of queries with doubtful rows again, head by head.
    pub fn again(&mut self, job: &HeadsJob, shape: &Shape) {
        let stride = shape.query_vectors * shape.width;
        for head in 0..self.stack.heads.len() {
            let of_head = head * stride..(head + 1) * stride;
            if self.rows[of_head.clone()].iter().all(|r| r.mark != Mark::Doubtful) {
                continue;
            }
            self.exact_keys(job, shape, head);
            let (rank, size) = (self.stack.heads[head].rank, self.stack.heads[head].size);
            let Self { stack, x, masses, images, pieces, starts, results, rows, exact_keys, exact_queries, .. } = self;
            let (rows, pair) = (&rows[of_head], 2 * rank * shape.width);
            pieces.clear();
            for (v, rows) in rows.chunks_exact(shape.width).enumerate() {
                if rows.iter().any(|r| r.mark == Mark::Doubtful) {
                    let (at, beside) = (v * size * shape.width, pieces.len() * pair);
                    pieces.push(Piece { head, group: (v, 1), at, beside, ..Piece::default() });
                }
            }
            exact_queries.resize(pieces.len() * pair);
            let origin = starts[head] + pieces[0].at;
            each(pieces, &mut results[origin..], exact_queries, shape.parallel, &|piece, out, queries| {
                let vector = piece.group.0;
                let tokens = &x.slabs[vector * job.d * shape.width..][..job.d * shape.width];
                let (matrix, first) = (stack.heads[head].q.as_ref(), vector * shape.width);
                job.level.run(ExactImages { job, matrix, rank, tokens, first, count: shape.queries, out: queries });
                let (out, rows) = (&mut out[..size * shape.width], &rows[first..first + shape.width]);
                let keys = &**exact_keys;
                job.level.run(Again { job, shape, stack, images, masses, head, vector, queries, keys, rows, out });
            });
        }
    }

    /// Images of all sources under K of a head.
    fn exact_keys(&mut self, job: &HeadsJob, shape: &Shape, head: usize) {
        let Self { stack, x, y, pieces, exact_keys, .. } = self;
        let (y, m) = (if job.is_self_attention() { x } else { y }, &stack.heads[head]);
        let (pair, vectors) = (2 * m.rank * shape.width, shape.source_vectors);
        exact_keys.resize(vectors * pair);
        pieces.clear();
        pieces.extend((0..vectors).map(|v| Piece { head, group: (v, 1), at: v * pair, ..Piece::default() }));
        each(pieces, exact_keys, &mut [(); 0], shape.parallel, &|piece, out, _| {
            let tokens = &y.slabs[piece.group.0 * job.d * shape.width..][..job.d * shape.width];
            let (matrix, first) = (m.k.as_ref(), piece.group.0 * shape.width);
            job.level.run(ExactImages { job, matrix, rank: m.rank, tokens, first, count: shape.sources, out });
        });
    }
}
