//! The matrices of all heads, packed into slabs for the matrix products. A slab holds as many rows
//! as a vector has lanes, column by column. The packed copies are reused while the heads stay the
//! same.

use super::tiles::vectors;
use crate::Head;
use crate::num::aligned::AlignedVec;
use crate::num::simd::{Float, Isa, SimdKernel, SimdOps};
use crate::num::tile::fill;

/// One matrix in slabs.
#[derive(Default)]
pub(super) struct SlabMatrix<F> {
    /// The slabs, one after another; the last is padded.
    pub slabs: AlignedVec<F>,
    /// Frobenius norm.
    pub norm: f64,
}

/// The matrices of one head; `None` stands for the identity.
#[derive(Default)]
pub(super) struct PackedHead<F> {
    pub q: Option<SlabMatrix<F>>,
    pub k: Option<SlabMatrix<F>>,
    pub v: Option<SlabMatrix<F>>,
    pub o: Option<SlabMatrix<F>>,
    /// Rows of Q and K.
    pub rank: usize,
    /// Rows of V.
    pub size: usize,
}

/// The packed matrices of all heads.
#[derive(Default)]
pub(super) struct PackedHeads<F> {
    pub heads: Vec<PackedHead<F>>,
    /// The versions of the packed heads, to notice a change.
    versions: Vec<u64>,
    /// The dimension and instruction set for which they are packed.
    packed_for: Option<(usize, Isa)>,
}

impl<F: Float> PackedHeads<F> {
    /// Packs the heads, unless these heads are packed already.
    pub fn load(&mut self, heads: &[Head], d: usize, isa: Isa) {
        let same = self.versions.iter().copied().eq(heads.iter().map(Head::version));
        if same && self.packed_for == Some((d, isa)) {
            return;
        }
        self.versions.clear();
        self.versions.extend(heads.iter().map(Head::version));
        self.packed_for = Some((d, isa));
        self.heads.clear();
        let pack = |m: Option<&[f64]>, columns: usize| {
            m.map(|m| isa.run(Pack { matrix: m, columns, out: SlabMatrix::<F>::default() }))
        };
        for head in heads {
            let ([q, k, _], [v, o]) = (head.matrices(), head.value_and_output());
            let rank = q.or(k).map_or(d, |m| m.len() / d);
            let size = v.map_or(d, |m| m.len() / d);
            self.heads.push(PackedHead {
                q: pack(q, d),
                k: pack(k, d),
                v: pack(v, d),
                o: pack(o, size),
                rank,
                size,
            });
        }
    }
}

struct Pack<'a, F> {
    matrix: &'a [f64],
    columns: usize,
    out: SlabMatrix<F>,
}

impl<F: Float> SimdKernel for Pack<'_, F> {
    type F = F;
    type Output = SlabMatrix<F>;

    #[inline(always)]
    fn run<L: SimdOps<F = F>>(self, l: L) -> SlabMatrix<F> {
        let Self { matrix, columns, mut out } = self;
        out.norm = matrix.iter().map(|x| x * x).sum::<f64>().sqrt();
        out.slabs.reset(vectors(matrix.len() / columns, L::WIDTH) * columns * L::WIDTH);
        let slabs = L::view_mut(&mut out.slabs).chunks_exact_mut(columns);
        matrix
            .chunks(L::WIDTH * columns)
            .zip(slabs)
            .for_each(|(rows, slab)| fill(l, rows, columns, slab));
        out
    }
}
