//! Applies the output matrices: `sum_h O_h z_i^h`; heads without one are added as they are.

use super::packed_heads::PackedHeads;
use super::problem::{HeadsProblem, Shape};
use super::tiles::{group, group_count, slabs, vectors};
use super::work_items::{WorkItem, for_each_item};
use crate::num::simd::{Float, SimdKernel, SimdOps};
use crate::num::tile::{add_product_of_slabs, store};

/// Results of all heads; `starts` are the offsets of the heads.
pub(super) struct Results<'a, F> {
    pub numbers: &'a [F],
    pub starts: &'a [usize],
}

/// Writes the rows of `out`, a few vectors of queries per work item.
pub(super) fn fill<F: Float>(
    problem: &HeadsProblem,
    shape: &Shape,
    packed: &PackedHeads<F>,
    results: &Results<F>,
    items: &mut Vec<WorkItem>,
    out: &mut [f64],
) {
    let all = shape.queries.div_ceil(shape.width);
    // Every item reads all output matrices, so items should be few: six or more, for two threads to
    // share evenly, with rows that fit the L2 cache.
    let take = all.div_ceil(6).clamp(2, 32);
    items.clear();
    items.extend((0..all).step_by(take).map(|v| WorkItem {
        group: (v, take.min(all - v)),
        offset: v * shape.width * problem.d,
        ..WorkItem::default()
    }));
    for_each_item(items, out, &mut [(); 0], shape.parallel, &|item, out, _| {
        problem.isa.run(Output { problem, packed, results, item, out });
    });
}

struct Output<'a, F> {
    problem: &'a HeadsProblem<'a>,
    packed: &'a PackedHeads<F>,
    results: &'a Results<'a, F>,
    item: &'a WorkItem,
    out: &'a mut [f64],
}

impl<F: Float> SimdKernel for Output<'_, F> {
    type F = F;
    type Output = ();

    #[inline(always)]
    fn run<L: SimdOps<F = F>>(mut self, l: L) {
        let d = self.problem.d;
        if self.packed.heads.iter().any(|m| m.o.is_some()) {
            let all = vectors(d, L::WIDTH);
            for g in 0..group_count(all) {
                let group = group(all, g);
                if L::WIDE { self.group::<L, 8>(l, group) } else { self.group::<L, 4>(l, group) }
            }
        } else {
            self.out.fill(0.0);
        }
        for (head, m) in self.packed.heads.iter().enumerate().filter(|(_, m)| m.o.is_none()) {
            let z = &self.results.numbers[self.results.starts[head]..];
            for (i, out) in self.out.chunks_exact_mut(d).enumerate() {
                let lane = (self.item.group.0 + i / L::WIDTH) * m.size * L::WIDTH + i % L::WIDTH;
                out.iter_mut()
                    .zip(z[lane..].iter().step_by(L::WIDTH))
                    .for_each(|(o, z)| *o += z.to_f64());
            }
        }
    }
}

impl<F: Float> Output<'_, F> {
    #[inline(always)]
    fn group<L: SimdOps<F = F>, const R: usize>(&mut self, l: L, (first, len): (usize, usize)) {
        if len == 3 { self.columns::<L, R, 3>(l, first) } else { self.columns::<L, R, 2>(l, first) }
    }

    /// V vectors of coordinates, for every row of the work item.
    #[inline(always)]
    fn columns<L: SimdOps<F = F>, const R: usize, const V: usize>(&mut self, l: L, first: usize) {
        let d = self.problem.d;
        let count = self.out.len() / d;
        for i in (0..count).step_by(R) {
            let mut acc = [[l.zero(); V]; R];
            for (head, m) in self.packed.heads.iter().enumerate() {
                if let Some(o) = &m.o {
                    let vector = self.item.group.0 + i / L::WIDTH;
                    let z = &self.results.numbers
                        [self.results.starts[head] + vector * m.size * L::WIDTH..]
                        [..m.size * L::WIDTH];
                    acc = add_product_of_slabs(
                        l,
                        (z, i % L::WIDTH),
                        slabs::<L, V>(&o.slabs, first, m.size, (0, m.size)),
                        acc,
                    );
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
