//! Buffers of an evaluation, and its phases.

use super::attend::{Attend, GROUPS, Mark, Row, Source};
use super::output::{self, Results};
use super::project::{Images, load};
use super::share::{Piece, each};
use super::stack::Stack;
use super::tiles::{group, group_count};
use super::{Job, Shape};
use crate::error::{Error, Result};
use crate::num::aligned::Aligned;
use crate::num::simd::Float;

/// All memory that evaluations need, kept from one to the next.
#[derive(Default)]
pub struct Work {
    pub(super) double: Buffers<f64>,
    pub(super) single: Buffers<f32>,
}

/// Memory of one precision.
#[derive(Default)]
pub(super) struct Buffers<F> {
    stack: Stack<F>,
    /// Tokens in slabs: queries, sources where they are others.
    x: Aligned<F>,
    y: Aligned<F>,
    masses: Vec<F>,
    images: Images<F>,
    pieces: Vec<Piece>,
    starts: Vec<usize>,
    /// `sum_j A_ij V y_j` of all heads, in slabs.
    results: Aligned<F>,
    rows: Vec<Row>,
}

impl<F: Float> Buffers<F> {
    /// One evaluation; shapes have been checked.
    pub fn evaluate(&mut self, job: &Job, shape: &Shape, out: &mut [f64]) -> Result<usize> {
        self.stack.load(job.heads, job.d, job.level);
        load(job, shape, job.queries, shape.query_vectors, &mut self.pieces, &mut self.x);
        if !job.is_self_attention() {
            load(job, shape, job.sources, shape.source_vectors, &mut self.pieces, &mut self.y);
        }
        let y = if job.is_self_attention() { &self.x } else { &self.y };
        self.images.fill(job, shape, &self.stack, &self.x, y);
        self.masses.clear();
        if job.masses.iter().any(|m| m.to_bits() != job.masses[0].to_bits()) {
            self.masses.extend(job.masses.iter().map(|m| F::of(*m)));
        }
        self.attend(job, shape);
        let results = Results { numbers: &self.results, starts: &self.starts };
        output::fill(job, shape, &self.stack, &results, &mut self.pieces, out);
        match out.iter().position(|x| !x.is_finite()) {
            Some(k) => Err(Error::Beyond {
                quantity: format!("the output of row {}", k / job.d + 1),
                hint: "smaller logits, matrices or log factor work".into(),
            }),
            None => Ok(self.masked(shape)),
        }
    }

    fn attend(&mut self, job: &Job, shape: &Shape) {
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
        let Self { stack, images, masses, pieces, results, rows, .. } = self;
        let longest = |rows: &[f64]| rows.chunks_exact(job.d).map(|r| r.iter().map(|x| x * x).sum::<f64>()).fold(0.0f64, f64::max).sqrt();
        let longest = [longest(job.queries), longest(job.sources)];
        let source = Source { job, shape, stack, images, masses, longest };
        each(pieces, results, rows, shape.parallel, &|piece, out, rows| {
            job.level.run(Attend { source: &source, piece, out, rows });
        });
    }

    /// Rows that see nothing under any head.
    fn masked(&self, shape: &Shape) -> usize {
        let stride = shape.query_vectors * shape.width;
        (0..shape.queries).filter(|i| self.rows.iter().skip(*i).step_by(stride).all(|r| r.mark == Mark::Masked)).count()
    }
}
