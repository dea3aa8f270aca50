//! Matrix product `A B` with B packed in panels, and a parallel loop over the rows of A.
//!
//! Every entry is a sum of chains `fma(a_k, b_k, ...)`, each over a block of `DEPTH_BLOCK` inputs.
//! Its bits do not depend on the other rows and columns, on masks, or on the number of threads.

use crate::num::aligned::AlignedVec;
use crate::num::simd::{Float, Isa, SimdKernel, SimdOps};
use crate::num::threads::parallel_allowed;
use crate::num::tile::{self, with_vectors};
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;

/// Inputs per block: three vectors of each stay in the L1 cache. Blocks begin at multiples of this.
const DEPTH_BLOCK: usize = 192;

/// Number of multiplications from which threads are used.
const MIN_PARALLEL_PRODUCTS: usize = 1 << 19;

/// B (inputs x outputs) in panels of columns. A panel is as wide as the sums that fit the
/// registers; columns are padded with zeros to whole vectors. Clones share the numbers.
#[derive(Clone, Debug)]
pub struct PackedMatrix<T> {
    inputs: usize,
    outputs: usize,
    numbers: Arc<AlignedVec<T>>,
}

/// First vector and number of vectors of each panel.
fn panels(columns: usize, width: usize, bytes: usize) -> impl Iterator<Item = (usize, usize)> {
    tile::groups(columns.div_ceil(width), tile::max_group_len(width * bytes == 64))
}

impl<T: Float> PackedMatrix<T> {
    /// The matrix with these columns, of `inputs` numbers each.
    pub fn from_columns(columns: &MatrixRows<T>, inputs: usize) -> Self {
        Self::filled(inputs, columns.count, |from, width, panel| {
            for c in 0..width.min(columns.count - from) {
                let column = &columns.numbers[(from + c) * columns.stride..][..inputs];
                panel.chunks_exact_mut(width).zip(column).for_each(|(row, v)| row[c] = *v);
            }
        })
    }

    /// The matrix with these rows, of `outputs` numbers each.
    pub fn from_rows(rows: &MatrixRows<T>, outputs: usize) -> Self {
        Self::filled(rows.count, outputs, |from, width, panel| {
            for (k, panel) in panel.chunks_exact_mut(width).enumerate() {
                let row = &rows.numbers[k * rows.stride..][from..outputs.min(from + width)];
                panel[..row.len()].copy_from_slice(row);
            }
        })
    }

    /// Packs a matrix; `fill` receives the first column, the width and the memory of a panel.
    fn filled(inputs: usize, outputs: usize, fill: impl Fn(usize, usize, &mut [T])) -> Self {
        let width = Isa::best().width::<T>();
        let mut numbers = AlignedVec::default();
        numbers.reset(inputs * outputs.next_multiple_of(width));
        for (first, take) in panels(outputs, width, size_of::<T>()) {
            fill(
                first * width,
                take * width,
                &mut numbers[first * width * inputs..][..take * width * inputs],
            );
        }
        Self { inputs, outputs, numbers: Arc::new(numbers) }
    }

    /// Number of rows.
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// Number of columns.
    pub fn outputs(&self) -> usize {
        self.outputs
    }

    /// The transposed matrix, row-major.
    pub fn transposed(&self) -> Vec<T> {
        let width = Isa::best().width::<T>();
        let mut out = vec![T::default(); self.inputs * self.outputs];
        for (first, take) in panels(self.outputs, width, size_of::<T>()) {
            let from = first * width;
            let panel = &self.numbers[from * self.inputs..];
            for (k, row) in panel.chunks_exact(take * width).take(self.inputs).enumerate() {
                row.iter()
                    .take(self.outputs - from)
                    .enumerate()
                    .for_each(|(c, v)| out[(from + c) * self.inputs + k] = *v);
            }
        }
        out
    }

    /// Writes `start + A B` to rows of `out` that are `stride` apart.
    pub fn multiply(&self, a: &MatrixRows<T>, start: &[T], out: &mut [T], stride: usize) {
        let all = 0..self.outputs;
        self.multiply_part(a, 0..self.inputs, all, start, (out, stride));
    }

    /// [`PackedMatrix::multiply`] restricted to a range of inputs (A has only these columns) and to
    /// the panels that intersect a range of outputs.
    pub fn multiply_part(
        &self,
        a: &MatrixRows<T>,
        inputs: Range<usize>,
        outputs: Range<usize>,
        start: &[T],
        (out, stride): (&mut [T], usize),
    ) {
        debug_assert!(
            inputs.end <= self.inputs
                && a.count * stride <= out.len() + stride - self.outputs.min(stride)
        );
        Isa::best().run(Multiply { b: self, a, inputs, outputs, start, out, stride });
    }

    /// `start + A B` for all rows of A (n x inputs), on several threads if worthwhile.
    /// **Cost** `n inputs outputs` fused operations.
    pub fn product(&self, a: &[T], start: &[T]) -> Vec<T> {
        par_rows(
            a,
            (self.inputs, self.outputs),
            self.inputs * self.outputs,
            ROWS,
            || (),
            |(), _, a, out| {
                self.multiply(&MatrixRows::new(a, self.inputs), start, out, self.outputs);
            },
        )
    }
}

/// Some rows of a matrix.
pub struct MatrixRows<'a, T> {
    /// From the first number of the first row on.
    pub numbers: &'a [T],
    /// Distance of consecutive rows.
    pub stride: usize,
    /// Number of rows.
    pub count: usize,
}

impl<'a, T> MatrixRows<'a, T> {
    /// Contiguous rows of `width` numbers.
    pub fn new(numbers: &'a [T], width: usize) -> Self {
        Self { numbers, stride: width, count: numbers.len() / width }
    }
}

/// Rows per task.
pub const ROWS: usize = 64;

/// Maps rows of `r` numbers to rows of `c` numbers, `rows` at a time, on several threads if n times
/// `cost` is large enough. Every thread has its own buffers. `work` receives the index of its first
/// row.
pub fn par_rows<T: Float, B>(
    x: &[T],
    (r, c): (usize, usize),
    cost: usize,
    rows: usize,
    buffers: impl Fn() -> B + Sync + Send,
    work: impl Fn(&mut B, usize, &[T], &mut [T]) + Sync + Send,
) -> Vec<T> {
    let n = x.len() / r;
    let mut out = vec![T::default(); n * c];
    if n.saturating_mul(cost) >= MIN_PARALLEL_PRODUCTS && n > 1 && parallel_allowed() {
        // At least eight tasks, each of whole blocks of rows.
        let rows = rows.min(n.div_ceil(8).next_multiple_of(8));
        let tasks = x.par_chunks(rows * r).zip(out.par_chunks_mut(rows * c)).enumerate();
        tasks.for_each_init(buffers, |buffers, (k, (x, out))| work(buffers, k * rows, x, out));
    } else {
        let mut own = buffers();
        x.chunks(rows * r)
            .zip(out.chunks_mut(rows * c))
            .enumerate()
            .for_each(|(k, (x, out))| work(&mut own, k * rows, x, out));
    }
    out
}

struct Multiply<'a, T> {
    b: &'a PackedMatrix<T>,
    a: &'a MatrixRows<'a, T>,
    inputs: Range<usize>,
    outputs: Range<usize>,
    start: &'a [T],
    out: &'a mut [T],
    stride: usize,
}

impl<T: Float> SimdKernel for Multiply<'_, T> {
    type F = T;
    type Output = ();

    #[inline(always)]
    fn run<L: SimdOps<F = T>>(mut self, l: L) {
        let wanted = self.outputs.clone();
        let needed = |p: &(usize, usize)| {
            (p.0 + p.1) * L::WIDTH > wanted.start && p.0 * L::WIDTH < wanted.end
        };
        for (first, take) in panels(self.b.outputs, L::WIDTH, size_of::<T>()).filter(needed) {
            with_vectors!(L, take, V => if L::WIDE { self.panel::<L, 8, V>(l, first) } else { self.panel::<L, 4, V>(l, first) });
        }
    }
}

impl<T: Float> Multiply<'_, T> {
    /// All rows, R at a time, with the V vectors of columns from `first` on.
    #[inline(always)]
    fn panel<L: SimdOps<F = T>, const R: usize, const V: usize>(&mut self, l: L, first: usize) {
        let (from, whole) = (first * L::WIDTH, self.b.inputs);
        let panel: &[[L::V; V]] =
            L::view(&self.b.numbers[from * whole..][..V * L::WIDTH * whole]).as_chunks().0;
        let columns = (V * L::WIDTH).min(self.b.outputs - from);
        let (mut at, count) = (self.inputs.start, self.a.count);
        while at < self.inputs.end || at == self.inputs.start {
            let to = ((at / DEPTH_BLOCK + 1) * DEPTH_BLOCK).min(self.inputs.end);
            let (terms, begun) = (&panel[at..to], at > self.inputs.start);
            for i in (0..count).step_by(R) {
                let mut rows = [&self.a.numbers[..0]; R];
                for (r, row) in rows.iter_mut().enumerate() {
                    // Rows beyond the last one repeat it.
                    *row = &self.a.numbers
                        [(i + r).min(count - 1) * self.a.stride + at - self.inputs.start..]
                        [..to - at];
                }
                let sums: [[L::V; V]; R] = tile::product(l, rows, terms);
                for (r, sums) in sums.iter().enumerate().take(count - i) {
                    let out = &mut self.out[(i + r) * self.stride + from..];
                    let start =
                        if begun { None } else { Some(&self.start[from.min(self.start.len())..]) };
                    add::<L, V>(l, sums, start, &mut out[..columns]);
                }
            }
            at = to.max(at + 1);
        }
    }
}

/// `out = start + sums`, where an empty start is 0; without a start, `out += sums`.
#[inline(always)]
fn add<L: SimdOps, const V: usize>(
    l: L,
    sums: &[L::V; V],
    start: Option<&[L::F]>,
    out: &mut [L::F],
) {
    if out.len() == V * L::WIDTH && start.is_none_or(|s| s.is_empty() || s.len() >= out.len()) {
        let out = L::view_mut(out);
        match start {
            None => (0..V).for_each(|v| out[v] = l.add(out[v], sums[v])),
            Some([]) => out.copy_from_slice(sums),
            Some(start) => {
                let start = L::view(&start[..V * L::WIDTH]);
                (0..V).for_each(|v| out[v] = l.add(start[v], sums[v]));
            }
        }
        return;
    }
    // The last columns go through a buffer.
    for (v, out) in out.chunks_mut(L::WIDTH).enumerate() {
        let mut numbers = [L::F::default(); 16];
        let before: &[L::F] = match start {
            None => out,
            Some(start) => &start[(v * L::WIDTH).min(start.len())..],
        };
        numbers.iter_mut().zip(before.iter().take(out.len())).for_each(|(n, b)| *n = *b);
        let total = l.add(L::view(&numbers[..L::WIDTH])[0], sums[v]);
        L::view_mut(&mut numbers[..L::WIDTH])[0] = total;
        out.copy_from_slice(&numbers[..out.len()]);
    }
}
