//! The matrices of all heads in slabs, kept from call to call while the heads are the same.

use super::tiles::vectors;
use crate::Head;
use crate::num::aligned::Aligned;
use crate::num::simd::{Float, Lanes, Level, Task};
use crate::num::tile::fill;

/// One matrix.
#[derive(Default)]
pub(super) struct Packed<F> {
    /// Rows in slabs, whole vectors of them.
    pub slabs: Aligned<F>,
    /// Euclidean norm of all entries.
    pub norm: f64,
}

/// The matrices of one head; `None` stands for the identity.
#[derive(Default)]
pub(super) struct Matrices<F> {
    pub q: Option<Packed<F>>,
    pub k: Option<Packed<F>>,
    pub v: Option<Packed<F>>,
    pub o: Option<Packed<F>>,
    /// Rows of Q and K.
    pub rank: usize,
    /// Rows of V.
    pub size: usize,
}

/// Those of all heads.
#[derive(Default)]
pub(super) struct Stack<F> {
    pub heads: Vec<Matrices<F>>,
    stamps: Vec<u64>,
    made_for: Option<(usize, Level)>,
}

impl<F: Float> Stack<F> {
    /// Fills it, unless it holds these heads already.
    pub fn load(&mut self, heads: &[Head], d: usize, level: Level) {
        let same = self.stamps.iter().copied().eq(heads.iter().map(Head::stamp));
        if same && self.made_for == Some((d, level)) {
            return;
        }
        self.stamps.clear();
        self.stamps.extend(heads.iter().map(Head::stamp));
        self.made_for = Some((d, level));
        self.heads.clear();
        let packed = |m: Option<&[f64]>, columns: usize| m.map(|m| level.run(Pack { matrix: m, columns, out: Packed::<F>::default() }));
        for head in heads {
            let ([q, k, _], [v, o]) = (head.matrices(), head.value_and_output());
            let rank = q.or(k).map_or(d, |m| m.len() / d);
            let size = v.map_or(d, |m| m.len() / d);
            self.heads.push(Matrices { q: packed(q, d), k: packed(k, d), v: packed(v, d), o: packed(o, size), rank, size });
        }
    }
}

struct Pack<'a, F> {
    matrix: &'a [f64],
    columns: usize,
    out: Packed<F>,
}

impl<F: Float> Task for Pack<'_, F> {
    type F = F;
    type Output = Packed<F>;

    #[inline(always)]
    fn run<L: Lanes<F = F>>(self, l: L) -> Packed<F> {
        let Self { matrix, columns, mut out } = self;
        out.norm = matrix.iter().map(|x| x * x).sum::<f64>().sqrt();
        out.slabs.reset(vectors(matrix.len() / columns, L::WIDTH) * columns * L::WIDTH);
        let slabs = L::view_mut(&mut out.slabs).chunks_exact_mut(columns);
        matrix.chunks(L::WIDTH * columns).zip(slabs).for_each(|(rows, slab)| fill(l, rows, columns, slab));
        out
    }
}
