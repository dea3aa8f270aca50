//! Tokens in blocks, coordinates first, and the order in which blocks meet.

use crate::num::{aligned::Aligned, simd::Float};
use crate::sphere::Tokens;
use rayon::prelude::*;

/// Every block length is a multiple of this: a whole number of vectors at every level and in both precisions.
pub const GRAIN: usize = 16;

/// Number of blocks (one, or an even number of at least `least`) and their length, at most `largest` tokens (so that they fit a cache)
/// unless there would be more than 512 blocks (so that a round is worth its barrier).
pub(super) fn layout(n: usize, largest: usize, least: usize) -> (usize, usize) {
    let count = n.div_ceil(largest.max(n.div_ceil(512))).max(least);
    let count = if count == 1 { 1 } else { count.next_multiple_of(2) };
    (count, n.div_ceil(count).next_multiple_of(GRAIN))
}

/// A run of consecutive tokens, padded with tokens of mass 0.
#[derive(Default)]
pub struct Block<F> {
    /// Index of the first token.
    pub start: usize,
    /// Tokens.
    pub len: usize,
    /// Coordinates, `d` rows of `cap`.
    pub x: Aligned<F>,
    /// Masses.
    pub m: Aligned<F>,
    /// Sums: `d` rows for the drift and one for the mass, each of `cap`.
    pub sums: Aligned<F>,
    /// The same of the tile in work, so that long sums are sums of short ones.
    pub local: Aligned<F>,
}

/// All blocks of a system.
#[derive(Default)]
pub struct Blocks<F> {
    /// Dimension.
    pub d: usize,
    /// Padded length of every block.
    pub cap: usize,
    /// True when all masses of the real tokens are equal and nothing is padded: weights need no mass.
    pub plain: bool,
    /// An even number of blocks, the last one possibly empty; or one.
    pub list: Vec<Block<F>>,
}

impl<F: Float> Blocks<F> {
    /// Fills the blocks with tokens; allocates only when they grow.
    pub fn load(&mut self, tokens: &Tokens, (count, cap): (usize, usize)) {
        let (n, d) = (tokens.n(), tokens.d());
        let masses = tokens.masses();
        let uniform = tokens.uniform_mass().is_some();
        (self.d, self.cap, self.plain) = (d, cap, uniform && n.is_multiple_of(cap));
        self.list.resize_with(count, Block::default);
        for (b, block) in self.list.iter_mut().enumerate() {
            block.start = (b * cap).min(n);
            block.len = ((b + 1) * cap).min(n) - block.start;
            for (buffer, size) in [(&mut block.x, d * cap), (&mut block.sums, (d + 1) * cap), (&mut block.local, (d + 1) * cap)] {
                buffer.reset(size);
            }
            block.m.reset(cap);
            let rows = &tokens.coordinates()[block.start * d..(block.start + block.len) * d];
            for (k, column) in block.x.chunks_exact_mut(cap).enumerate() {
                rows.chunks_exact(d).zip(column).for_each(|(row, c)| *c = F::of(row[k]));
            }
            match uniform {
                true => block.m[..block.len].fill(F::of(1.0)),
                false => block.m.iter_mut().zip(&masses[block.start..]).for_each(|(b, m)| *b = F::of(*m)),
            }
        }
    }

    /// Lets every block meet itself and every other block once.
    pub fn meet(&mut self, parallel: bool, own: impl Fn(&mut Block<F>) + Sync, pair: impl Fn(&mut Block<F>, &mut Block<F>) + Sync) {
        meet(&mut self.list, parallel, own, |a: &mut Block<F>, b: &mut Block<F>| {
            if a.len > 0 && b.len > 0 {
                pair(a, b);
            }
        });
    }
}

/// Everything with itself, then with everything else once.
pub(super) fn meet<T: Send>(list: &mut [T], parallel: bool, own: impl Fn(&mut T) + Sync, pair: impl Fn(&mut T, &mut T) + Sync) {
    if parallel {
        list.par_iter_mut().with_max_len(1).for_each(&own);
    } else {
        list.iter_mut().for_each(own);
    }
    tournament(list, parallel, pair);
}

/// A round-robin tournament by the circle method: in each of `B - 1` rounds the blocks are paired off and every pair works on its own data,
/// so threads never share a sum and the order of additions depends on `B` alone. Cost `B/2` pairs in parallel per round.
fn tournament<T: Send>(list: &mut [T], parallel: bool, pair: impl Fn(&mut T, &mut T) + Sync) {
    let count = list.len();
    if count < 2 {
        return;
    }
    debug_assert!(count.is_multiple_of(2));
    for _ in 1..count {
        let (first, second) = list.split_at_mut(count / 2);
        if parallel {
            first.par_iter_mut().zip(second.par_iter_mut().rev()).with_max_len(1).for_each(|(a, b)| pair(a, b));
        } else {
            first.iter_mut().zip(second.iter_mut().rev()).for_each(|(a, b)| pair(a, b));
        }
        list[1..].rotate_right(1);
    }
}
