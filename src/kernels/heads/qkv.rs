//! Images `Q x_i`, `K y_j` and `V y_j` of all heads. They form one list of work items, so threads
//! synchronise once.

use super::packed_heads::{PackedHead, PackedHeads, SlabMatrix};
use super::problem::{HeadsProblem, Shape};
use super::tiles::{DEPTH_BLOCK, group, group_count, slabs, vectors};
use super::visible_range::SOURCE_BLOCK;
use super::work_items::{ItemKind, WorkItem, for_each_item};
use crate::num::aligned::AlignedVec;
use crate::num::simd::{Float, SimdKernel, SimdOps};
use crate::num::tile::{add_product_of_slabs, fill, load};

/// The images of all heads, and their ranges in one buffer.
#[derive(Default)]
pub(super) struct QkvImages<F> {
    items: Vec<WorkItem>,
    numbers: AlignedVec<F>,
    /// Per work item: the largest squared norm of a row, then scratch space for one row.
    side: Vec<f64>,
    /// Per head: the bounds of its queries, keys and values in `numbers`.
    ranges: Vec<[usize; 4]>,
    /// Per head: the largest norm of a key.
    pub longest_key: Vec<f64>,
}

/// The images of one head.
#[derive(Clone, Copy)]
pub(super) struct HeadQkv<'a, F> {
    pub queries: &'a [F],
    pub keys: &'a [F],
    pub values: &'a [F],
}

impl<F: Float> QkvImages<F> {
    /// Computes all images from tokens in slabs.
    pub fn fill(
        &mut self,
        problem: &HeadsProblem,
        shape: &Shape,
        packed: &PackedHeads<F>,
        x: &[F],
        y: &[F],
    ) {
        self.make_items(shape, packed);
        let input = ProjectionInput { problem, shape, packed, x, y };
        for_each_item(
            &self.items,
            &mut self.numbers,
            &mut self.side,
            shape.parallel,
            &|item, out, side| {
                problem.isa.run(Project { input: &input, item, out, side });
            },
        );
        self.longest_key.clear();
        self.longest_key.resize(packed.heads.len(), 0.0);
        for item in self.items.iter().filter(|p| p.kind == ItemKind::Keys) {
            let longest = &mut self.longest_key[item.head];
            *longest = longest.max(self.side[item.side_offset].sqrt());
        }
    }

    /// The images of a head.
    pub fn head(&self, head: usize) -> HeadQkv<'_, F> {
        let [a, b, c, d] = self.ranges[head];
        HeadQkv {
            queries: &self.numbers[a..b],
            keys: &self.numbers[b..c],
            values: &self.numbers[c..d],
        }
    }

    fn make_items(&mut self, shape: &Shape, packed: &PackedHeads<F>) {
        self.items.clear();
        self.ranges.clear();
        let (mut at, mut side) = (0, 0);
        for (head, m) in packed.heads.iter().enumerate() {
            let mut bounds = [at; 4];
            let parts = [
                (ItemKind::Queries, shape.query_vectors, m.rank),
                (ItemKind::Keys, shape.source_vectors, m.rank),
            ];
            for (k, (kind, all, depth)) in parts.into_iter().enumerate() {
                for g in 0..group_count(all) {
                    let group = group(all, g);
                    self.items.push(WorkItem { kind, head, group, offset: at, side_offset: side });
                    at += group.1 * depth * shape.width;
                    side += m.rank + 1;
                }
                bounds[k + 1] = at;
            }
            for first in (0..shape.sources).step_by(SOURCE_BLOCK) {
                let count = SOURCE_BLOCK.min(shape.sources - first);
                self.items.push(WorkItem {
                    kind: ItemKind::Values,
                    head,
                    group: (first, count),
                    offset: at,
                    side_offset: side,
                });
                at += vectors(m.size, shape.width) * count * shape.width;
            }
            bounds[3] = at;
            self.ranges.push(bounds);
        }
        self.numbers.resize(at);
        self.side.resize(side, 0.0);
    }
}

struct ProjectionInput<'a, F> {
    problem: &'a HeadsProblem<'a>,
    shape: &'a Shape,
    packed: &'a PackedHeads<F>,
    x: &'a [F],
    y: &'a [F],
}

struct Project<'a, F> {
    input: &'a ProjectionInput<'a, F>,
    item: &'a WorkItem,
    out: &'a mut [F],
    side: &'a mut [f64],
}

impl<F: Float> SimdKernel for Project<'_, F> {
    type F = F;
    type Output = ();

    #[inline(always)]
    fn run<L: SimdOps<F = F>>(self, l: L) {
        if L::WIDE { self.run_with_rows::<L, 8>(l) } else { self.run_with_rows::<L, 4>(l) }
    }
}

impl<F: Float> Project<'_, F> {
    #[inline(always)]
    fn run_with_rows<L: SimdOps<F = F>, const R: usize>(self, l: L) {
        match (self.item.kind, self.item.group.1) {
            (ItemKind::Values, _) => self.values::<L, R>(l),
            (_, 3) => self.queries_or_keys::<L, R, 3>(l),
            _ => self.queries_or_keys::<L, R, 2>(l),
        }
    }

    #[inline(always)]
    fn queries_or_keys<L: SimdOps<F = F>, const R: usize, const V: usize>(self, l: L) {
        let Self { input, item, out, side } = self;
        let ProjectionInput { problem, shape, packed, x, y } = input;
        let m: &PackedHead<F> = &packed.heads[item.head];
        let d = problem.d;
        let (tokens, matrix) = if item.kind == ItemKind::Queries { (*x, &m.q) } else { (*y, &m.k) };
        match matrix {
            Some(matrix) => images::<L, R, V>(l, matrix, m.rank, (tokens, item.group.0, d), out),
            None => out.copy_from_slice(&tokens[item.group.0 * d * L::WIDTH..][..out.len()]),
        }
        let (longest, row) = side.split_at_mut(1);
        let count = if item.kind == ItemKind::Queries { shape.queries } else { shape.sources };
        let first = item.group.0 * L::WIDTH;
        if problem.pattern.is_rotary() {
            for i in first..count.min(first + V * L::WIDTH) {
                rotate_lane(
                    problem,
                    i,
                    &mut out[(i - first) / L::WIDTH * m.rank * L::WIDTH + i % L::WIDTH..],
                    L::WIDTH,
                    &mut row[..m.rank],
                );
            }
        }
        longest[0] =
            if item.kind == ItemKind::Keys { longest_row(l, L::view(out), m.rank) } else { 0.0 };
    }
}

/// Applies the rotary positions to one lane of a slab.
fn rotate_lane<F: Float>(
    problem: &HeadsProblem,
    i: usize,
    lane: &mut [F],
    width: usize,
    row: &mut [f64],
) {
    row.iter_mut().zip(lane.iter().step_by(width)).for_each(|(r, x)| *r = x.to_f64());
    problem.pattern.rotate(i, row);
    row.iter().zip(lane.iter_mut().step_by(width)).for_each(|(r, x)| *x = F::from_f64(*r));
}

/// Largest squared norm of a row in slabs.
#[inline(always)]
fn longest_row<L: SimdOps>(l: L, all: &[L::V], depth: usize) -> f64 {
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

/// `M x` for V vectors of tokens, in slabs with one column per row of M.
#[inline(always)]
fn images<L: SimdOps, const R: usize, const V: usize>(
    l: L,
    matrix: &SlabMatrix<L::F>,
    rank: usize,
    (tokens, first, d): (&[L::F], usize, usize),
    out: &mut [L::F],
) {
    let out = L::view_mut(out);
    for k in (0..d).step_by(DEPTH_BLOCK) {
        let to = (k + DEPTH_BLOCK).min(d);
        let b = slabs::<L, V>(tokens, first, d, (k, to));
        for c in (0..rank).step_by(R) {
            let a = &matrix.slabs
                [(c / L::WIDTH * d + k) * L::WIDTH..(c / L::WIDTH * d + to) * L::WIDTH];
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

/// Offset of the value of source j, from row c on. Values are stored by blocks of sources, so that
/// each block is contiguous.
pub(super) fn value_offset(size: usize, count: usize, width: usize, c: usize, j: usize) -> usize {
    let (block, j) = (j / SOURCE_BLOCK * SOURCE_BLOCK, j % SOURCE_BLOCK);
    let len = SOURCE_BLOCK.min(count - block);
    (vectors(size, width) * block + c / width * len + j) * width
}

impl<F: Float> Project<'_, F> {
    /// `V y` of a block of sources, in slabs with one column per source of the block.
    #[inline(always)]
    fn values<L: SimdOps<F = F>, const R: usize>(self, l: L) {
        let Self { input, item, out, .. } = self;
        let m = &input.packed.heads[item.head];
        let all = vectors(m.size, L::WIDTH);
        for g in 0..group_count(all) {
            let (first, len) = group(all, g);
            let out = &mut L::view_mut(out)[first * item.group.1..(first + len) * item.group.1];
            match (&m.v, len) {
                (None, _) => coordinates(l, input, (first, len), item.group, out),
                (Some(v), 3) => values::<L, R, 3>(l, input, v, first, item.group, out),
                (Some(v), _) => values::<L, R, 2>(l, input, v, first, item.group, out),
            }
        }
    }
}

/// `V y` for V vectors of rows of the matrix.
#[inline(always)]
fn values<L: SimdOps, const R: usize, const V: usize>(
    l: L,
    input: &ProjectionInput<L::F>,
    matrix: &SlabMatrix<L::F>,
    first: usize,
    (start, count): (usize, usize),
    out: &mut [L::V],
) {
    let d = input.problem.d;
    for k in (0..d).step_by(DEPTH_BLOCK) {
        let to = (k + DEPTH_BLOCK).min(d);
        let b = slabs::<L, V>(&matrix.slabs, first, d, (k, to));
        for j in (0..count).step_by(R) {
            let slab = (start + j) / L::WIDTH * d;
            let a = &input.y[(slab + k) * L::WIDTH..(slab + to) * L::WIDTH];
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

/// Coordinates of some sources, one vector of coordinates at a time: the values of a head with V =
/// 1.
#[inline(always)]
fn coordinates<L: SimdOps>(
    l: L,
    input: &ProjectionInput<L::F>,
    (first, len): (usize, usize),
    (start, count): (usize, usize),
    out: &mut [L::V],
) {
    let d = input.problem.d;
    for (j, row) in
        input.problem.sources[start * d..(start + count) * d].chunks_exact(d).enumerate()
    {
        for v in 0..len {
            out[v * count + j] = load(l, &row[d.min((first + v) * L::WIDTH)..]);
        }
    }
}

/// Tokens in slabs.
#[derive(Default)]
pub(super) struct PackedTokens<F> {
    pub slabs: AlignedVec<F>,
    /// Per vector of rows: the largest squared norm.
    squares: Vec<f64>,
}

impl<F: Float> PackedTokens<F> {
    /// Packs rows, one work item per vector of rows.
    pub fn load(
        &mut self,
        problem: &HeadsProblem,
        shape: &Shape,
        rows: &[f64],
        all: usize,
        items: &mut Vec<WorkItem>,
    ) {
        let size = problem.d * shape.width;
        self.slabs.resize(all * size);
        self.squares.resize(all, 0.0);
        items.clear();
        items.extend((0..all).map(|v| WorkItem {
            group: (v, 1),
            offset: v * size,
            side_offset: v,
            ..WorkItem::default()
        }));
        for_each_item(
            items,
            &mut self.slabs,
            &mut self.squares,
            shape.parallel,
            &|item, out, square| {
                let from = (item.group.0 * size).min(rows.len());
                square[0] = problem.isa.run(Load {
                    rows: &rows[from..rows.len().min(from + size)],
                    d: problem.d,
                    out,
                });
            },
        );
    }

    /// Norm of the longest token.
    pub fn longest(&self) -> f64 {
        self.squares.iter().fold(0.0f64, |m, s| m.max(*s)).sqrt()
    }
}

struct Load<'a, F> {
    rows: &'a [f64],
    d: usize,
    out: &'a mut [F],
}

impl<F: Float> SimdKernel for Load<'_, F> {
    type F = F;
    type Output = f64;

    #[inline(always)]
    fn run<L: SimdOps<F = F>>(self, l: L) -> f64 {
        fill(l, self.rows, self.d, L::view_mut(self.out));
        longest_row(l, L::view(self.out), self.d)
    }
}
