//! `Q x_i`, `K y_j` and `V y_j` of all heads: one list of pieces, so that threads meet once.

use super::job::{HeadsJob, Shape};
use super::seen::BLOCK;
use super::share::{Kind, Piece, each};
use super::stack::{Matrices, Packed, Stack};
use super::tiles::{DEPTH, group, group_count, slabs, vectors};
use crate::num::aligned::Aligned;
use crate::num::simd::{Float, Lanes, Task};
use crate::num::tile::{add_product_of_slabs, fill, load};

/// Images of all heads, and where they begin.
#[derive(Default)]
pub(super) struct Images<F> {
    pieces: Vec<Piece>,
    numbers: Aligned<F>,
    /// Of every piece the largest squared length of a row, then room for one row.
    beside: Vec<f64>,
    /// Where the queries, the keys and the values of every head begin and end.
    places: Vec<[usize; 4]>,
    /// The largest length of an image under K, by heads.
    pub longest_key: Vec<f64>,
}

/// The images of one head.
#[derive(Clone, Copy)]
pub(super) struct Of<'a, F> {
    pub queries: &'a [F],
    pub keys: &'a [F],
    pub values: &'a [F],
}

impl<F: Float> Images<F> {
    /// Computes all of them from tokens in slabs.
    pub fn fill(&mut self, job: &HeadsJob, shape: &Shape, stack: &Stack<F>, x: &[F], y: &[F]) {
        self.lay_out(shape, stack);
        let source = Source { job, shape, stack, x, y };
        each(&self.pieces, &mut self.numbers, &mut self.beside, shape.parallel, &|piece, out, beside| {
            job.level.run(Project { source: &source, piece, out, beside });
        });
        self.longest_key.clear();
        self.longest_key.resize(stack.heads.len(), 0.0);
        for piece in self.pieces.iter().filter(|p| p.kind == Kind::Keys) {
            let longest = &mut self.longest_key[piece.head];
            *longest = longest.max(self.beside[piece.beside].sqrt());
        }
    }

    /// The images of a head.
    pub fn of(&self, head: usize) -> Of<'_, F> {
        let [a, b, c, d] = self.places[head];
        Of { queries: &self.numbers[a..b], keys: &self.numbers[b..c], values: &self.numbers[c..d] }
    }

    fn lay_out(&mut self, shape: &Shape, stack: &Stack<F>) {
        self.pieces.clear();
        self.places.clear();
        let (mut at, mut beside) = (0, 0);
        for (head, m) in stack.heads.iter().enumerate() {
            let mut place = [at; 4];
            let parts = [(Kind::Queries, shape.query_vectors, m.rank), (Kind::Keys, shape.source_vectors, m.rank)];
            for (k, (kind, all, depth)) in parts.into_iter().enumerate() {
                for g in 0..group_count(all) {
                    let group = group(all, g);
                    self.pieces.push(Piece { kind, head, group, at, beside });
                    at += group.1 * depth * shape.width;
                    beside += m.rank + 1;
                }
                place[k + 1] = at;
            }
            for first in (0..shape.sources).step_by(BLOCK) {
                let count = BLOCK.min(shape.sources - first);
                self.pieces.push(Piece { kind: Kind::Values, head, group: (first, count), at, beside });
                at += vectors(m.size, shape.width) * count * shape.width;
            }
            place[3] = at;
            self.places.push(place);
        }
        self.numbers.resize(at);
        self.beside.resize(beside, 0.0);
    }
}

struct Source<'a, F> {
    job: &'a HeadsJob<'a>,
    shape: &'a Shape,
    stack: &'a Stack<F>,
    x: &'a [F],
    y: &'a [F],
}

struct Project<'a, F> {
    source: &'a Source<'a, F>,
    piece: &'a Piece,
    out: &'a mut [F],
    beside: &'a mut [f64],
}

impl<F: Float> Task for Project<'_, F> {
    type F = F;
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes<F = F>>(self, l: L) {
        if L::WIDE { self.with_rows::<L, 8>(l) } else { self.with_rows::<L, 4>(l) }
    }
}

impl<F: Float> Project<'_, F> {
    #[inline(always)]
    fn with_rows<L: Lanes<F = F>, const R: usize>(self, l: L) {
        match (self.piece.kind, self.piece.group.1) {
            (Kind::Values, _) => self.values::<L, R>(l),
            (_, 3) => self.piece_of::<L, R, 3>(l),
            _ => self.piece_of::<L, R, 2>(l),
        }
    }

    #[inline(always)]
    fn piece_of<L: Lanes<F = F>, const R: usize, const V: usize>(self, l: L) {
        let Self { source, piece, out, beside } = self;
        let Source { job, shape, stack, x, y } = source;
        let m: &Matrices<F> = &stack.heads[piece.head];
        let d = job.d;
        let (tokens, matrix) = if piece.kind == Kind::Queries { (*x, &m.q) } else { (*y, &m.k) };
        match matrix {
            Some(matrix) => images::<L, R, V>(l, matrix, m.rank, (tokens, piece.group.0, d), out),
            None => out.copy_from_slice(&tokens[piece.group.0 * d * L::WIDTH..][..out.len()]),
        }
        let (longest, row) = beside.split_at_mut(1);
        let count = if piece.kind == Kind::Queries { shape.queries } else { shape.sources };
        let first = piece.group.0 * L::WIDTH;
        if job.pattern.turns() {
            for i in first..count.min(first + V * L::WIDTH) {
                place(job, i, &mut out[(i - first) / L::WIDTH * m.rank * L::WIDTH + i % L::WIDTH..], L::WIDTH, &mut row[..m.rank]);
            }
        }
        longest[0] = if piece.kind == Kind::Keys { longest_row(l, L::view(out), m.rank) } else { 0.0 };
    }
}

/// Positions enter one lane of a slab.
fn place<F: Float>(job: &HeadsJob, i: usize, lane: &mut [F], width: usize, row: &mut [f64]) {
    row.iter_mut().zip(lane.iter().step_by(width)).for_each(|(r, x)| *r = x.to_f64());
    job.pattern.place(i, row);
    row.iter().zip(lane.iter_mut().step_by(width)).for_each(|(r, x)| *x = F::of(*r));
}

/// The largest squared length of a row in slabs.
#[inline(always)]
fn longest_row<L: Lanes>(l: L, all: &[L::V], depth: usize) -> f64 {
    let mut longest = l.zero();
    for slab in all.chunks_exact(depth) {
        let mut square = l.zero();
        for x in slab {
            square = l.fma(*x, *x, square);
        }
        longest = l.max(longest, square);
    }
    l.largest(longest).to_f64()
}

/// `M x` for V vectors of tokens, in slabs of as many columns as M has rows.
#[inline(always)]
fn images<L: Lanes, const R: usize, const V: usize>(
    l: L,
    matrix: &Packed<L::F>,
    rank: usize,
    (tokens, first, d): (&[L::F], usize, usize),
    out: &mut [L::F],
) {
    let out = L::view_mut(out);
    for k in (0..d).step_by(DEPTH) {
        let to = (k + DEPTH).min(d);
        let b = slabs::<L, V>(tokens, first, d, (k, to));
        for c in (0..rank).step_by(R) {
            let a = &matrix.slabs[(c / L::WIDTH * d + k) * L::WIDTH..(c / L::WIDTH * d + to) * L::WIDTH];
            let acc = add_product_of_slabs(l, (a, c % L::WIDTH), b, [[l.zero(); V]; R]);
            for r in 0..R {
                if c + r < rank {
                    for v in 0..V {
                        let out = &mut out[v * rank + c + r];
                        *out = if k == 0 { acc[r][v] } else { l.add(*out, acc[r][v]) };
                    }
                }
            }
        }
    }
}

/// Where the values of source j begin, from row c on: by blocks of sources, so that a block is in one place.
pub(super) fn value_place(size: usize, count: usize, width: usize, c: usize, j: usize) -> usize {
    let (block, j) = (j / BLOCK * BLOCK, j % BLOCK);
    let len = BLOCK.min(count - block);
    (vectors(size, width) * block + c / width * len + j) * width
}

impl<F: Float> Project<'_, F> {
    /// `V y` of a block of sources, in slabs of as many columns as there are sources in it.
    #[inline(always)]
    fn values<L: Lanes<F = F>, const R: usize>(self, l: L) {
        let Self { source, piece, out, .. } = self;
        let m = &source.stack.heads[piece.head];
        let all = vectors(m.size, L::WIDTH);
        for g in 0..group_count(all) {
            let (first, len) = group(all, g);
            let out = &mut L::view_mut(out)[first * piece.group.1..(first + len) * piece.group.1];
            match (&m.v, len) {
                (None, _) => coordinates(l, source, (first, len), piece.group, out),
                (Some(v), 3) => values::<L, R, 3>(l, source, v, first, piece.group, out),
                (Some(v), _) => values::<L, R, 2>(l, source, v, first, piece.group, out),
            }
        }
    }
}

/// `V y` of V vectors of rows of V.
#[inline(always)]
fn values<L: Lanes, const R: usize, const V: usize>(
    l: L,
    source: &Source<L::F>,
    matrix: &Packed<L::F>,
    first: usize,
    (start, count): (usize, usize),
    out: &mut [L::V],
) {
    let d = source.job.d;
    for k in (0..d).step_by(DEPTH) {
        let to = (k + DEPTH).min(d);
        let b = slabs::<L, V>(&matrix.slabs, first, d, (k, to));
        for j in (0..count).step_by(R) {
            let slab = (start + j) / L::WIDTH * d;
            let a = &source.y[(slab + k) * L::WIDTH..(slab + to) * L::WIDTH];
            let acc = add_product_of_slabs(l, (a, (start + j) % L::WIDTH), b, [[l.zero(); V]; R]);
            for r in 0..R {
                if j + r < count {
                    for v in 0..V {
                        let out = &mut out[v * count + j + r];
                        *out = if k == 0 { acc[r][v] } else { l.add(*out, acc[r][v]) };
                    }
                }
            }
        }
    }
}

/// Vectors of coordinates of some sources.
#[inline(always)]
fn coordinates<L: Lanes>(l: L, source: &Source<L::F>, (first, len): (usize, usize), (start, count): (usize, usize), out: &mut [L::V]) {
    let d = source.job.d;
    for (j, row) in source.job.sources[start * d..(start + count) * d].chunks_exact(d).enumerate() {
        for v in 0..len {
            out[v * count + j] = load(l, &row[d.min((first + v) * L::WIDTH)..]);
        }
    }
}

/// Tokens in slabs.
#[derive(Default)]
pub(super) struct Tokens<F> {
    pub slabs: Aligned<F>,
    /// Of every vector the largest squared length of a row.
    squares: Vec<f64>,
}

impl<F: Float> Tokens<F> {
    /// One piece per vector of rows.
    pub fn load(&mut self, job: &HeadsJob, shape: &Shape, rows: &[f64], all: usize, pieces: &mut Vec<Piece>) {
        let size = job.d * shape.width;
        self.slabs.resize(all * size);
        self.squares.resize(all, 0.0);
        pieces.clear();
        pieces.extend((0..all).map(|v| Piece { group: (v, 1), at: v * size, beside: v, ..Piece::default() }));
        each(pieces, &mut self.slabs, &mut self.squares, shape.parallel, &|piece, out, square| {
            let from = (piece.group.0 * size).min(rows.len());
            square[0] = job.level.run(Load { rows: &rows[from..rows.len().min(from + size)], d: job.d, out });
        });
    }

    /// The length of the longest.
    pub fn longest(&self) -> f64 {
        self.squares.iter().fold(0.0f64, |m, s| m.max(*s)).sqrt()
    }
}

struct Load<'a, F> {
    rows: &'a [f64],
    d: usize,
    out: &'a mut [F],
}

impl<F: Float> Task for Load<'_, F> {
    type F = F;
    type Output = f64;

    #[inline(always)]
    fn run<L: Lanes<F = F>>(self, l: L) -> f64 {
        fill(l, self.rows, self.d, L::view_mut(self.out));
        longest_row(l, L::view(self.out), self.d)
    }
}
