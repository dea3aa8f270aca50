//! `sum_h O_h z_i^h`, and the plain sum over heads without an output matrix.

use super::job::{HeadsJob, Shape};
use super::share::{Piece, each};
use super::stack::Stack;
use super::tiles::{group, group_count, slabs, vectors};
use crate::num::simd::{Float, Lanes, Task};
use crate::num::tile::{add_product_of_slabs, store};

/// The results of all heads and where each begins.
pub(super) struct Results<'a, F> {
    pub numbers: &'a [F],
    pub starts: &'a [usize],
}

/// Writes the rows of `out`, some vectors of queries at a time.
pub(super) fn fill<F: Float>(
    job: &HeadsJob,
    shape: &Shape,
    stack: &Stack<F>,
    results: &Results<F>,
    pieces: &mut Vec<Piece>,
    out: &mut [f64],
) {
    let all = shape.queries.div_ceil(shape.width);
    // Every piece reads all output matrices: as few as two threads share evenly, of rows that stay in the second cache.
    let take = all.div_ceil(6).clamp(2, 32);
    pieces.clear();
    pieces.extend((0..all).step_by(take).map(|v| Piece { group: (v, take.min(all - v)), at: v * shape.width * job.d, ..Piece::default() }));
    each(pieces, out, &mut [(); 0], shape.parallel, &|piece, out, _| {
        job.level.run(Output { job, stack, results, piece, out });
    });
}

struct Output<'a, F> {
    job: &'a HeadsJob<'a>,
    stack: &'a Stack<F>,
    results: &'a Results<'a, F>,
    piece: &'a Piece,
    out: &'a mut [f64],
}

impl<F: Float> Task for Output<'_, F> {
    type F = F;
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes<F = F>>(mut self, l: L) {
        let d = self.job.d;
        if self.stack.heads.iter().any(|m| m.o.is_some()) {
            let all = vectors(d, L::WIDTH);
            for g in 0..group_count(all) {
                let group = group(all, g);
                if L::WIDE { self.group::<L, 8>(l, group) } else { self.group::<L, 4>(l, group) }
            }
        } else {
            self.out.fill(0.0);
        }
        for (head, m) in self.stack.heads.iter().enumerate().filter(|(_, m)| m.o.is_none()) {
            let z = &self.results.numbers[self.results.starts[head]..];
            for (i, out) in self.out.chunks_exact_mut(d).enumerate() {
                let lane = (self.piece.group.0 + i / L::WIDTH) * m.size * L::WIDTH + i % L::WIDTH;
                out.iter_mut().zip(z[lane..].iter().step_by(L::WIDTH)).for_each(|(o, z)| *o += z.to_f64());
            }
        }
    }
}

impl<F: Float> Output<'_, F> {
    #[inline(always)]
    fn group<L: Lanes<F = F>, const R: usize>(&mut self, l: L, (first, len): (usize, usize)) {
        if len == 3 { self.columns::<L, R, 3>(l, first) } else { self.columns::<L, R, 2>(l, first) }
    }

    /// V vectors of coordinates of every row of the piece.
    #[inline(always)]
    fn columns<L: Lanes<F = F>, const R: usize, const V: usize>(&mut self, l: L, first: usize) {
        let d = self.job.d;
        let count = self.out.len() / d;
        for i in (0..count).step_by(R) {
            let mut acc = [[l.zero(); V]; R];
            for (head, m) in self.stack.heads.iter().enumerate() {
                if let Some(o) = &m.o {
                    let vector = self.piece.group.0 + i / L::WIDTH;
                    let z = &self.results.numbers[self.results.starts[head] + vector * m.size * L::WIDTH..][..m.size * L::WIDTH];
                    acc = add_product_of_slabs(l, (z, i % L::WIDTH), slabs::<L, V>(&o.slabs, first, m.size, (0, m.size)), acc);
                }
            }
            for r in 0..R {
                for v in 0..V {
                    let from = (first + v) * L::WIDTH;
                    if i + r < count && from < d {
                        store(l, acc[r][v], &mut self.out[(i + r) * d + from..(i + r + 1) * d]);
                    }
                }
            }
        }
    }
}
