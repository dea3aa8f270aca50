//! Tokens in blocks, one row per coordinate, and the order in which pairs of blocks are evaluated.

use crate::num::aligned::AlignedVec;
use crate::num::threads::join_if;
use crate::sphere::Tokens;

/// Block lengths are multiples of this: whole vectors for every instruction set.
pub const BLOCK_MULTIPLE: usize = 16;

/// Number of blocks (at least `least`) and their length (at most `largest` tokens, to fit a cache).
pub fn layout(n: usize, largest: usize, least: usize) -> (usize, usize) {
    let count = n.div_ceil(largest).max(least);
    (count, n.div_ceil(count).next_multiple_of(BLOCK_MULTIPLE))
}

/// Consecutive tokens, padded with tokens of mass 0.
#[derive(Default)]
pub struct Block {
    /// Index of the first token.
    pub start: usize,
    /// Number of tokens.
    pub len: usize,
    /// Coordinates: `d` rows of length `cap`.
    pub x: AlignedVec<f64>,
    /// Masses.
    pub m: AlignedVec<f64>,
    /// Sums: `d` rows for the drift and one for the mass, each of length `cap`.
    pub sums: AlignedVec<f64>,
    /// Sums of the current tile. Adding these to `sums` keeps chains of additions short.
    pub tile_sums: AlignedVec<f64>,
}

impl Block {
    /// Writes the sums, multiplied by the unit of mass.
    pub fn store(&self, d: usize, unit: f64, drift: &mut [f64], mass: &mut [f64]) {
        let cap = self.m.len();
        let rows = &mut drift[..self.len * d];
        for (k, column) in self.sums.chunks_exact(cap).take(d).enumerate() {
            rows.chunks_exact_mut(d).zip(column).for_each(|(row, s)| row[k] = unit * s);
        }
        mass[..self.len].iter_mut().zip(&self.sums[d * cap..]).for_each(|(o, s)| *o = unit * s);
    }
}

/// All blocks of a system.
#[derive(Default)]
pub struct Blocks {
    /// Dimension.
    pub d: usize,
    /// Padded length of every block.
    pub cap: usize,
    /// True if all masses are equal and nothing is padded, so that weights need no masses.
    pub unit_mass: bool,
    /// The blocks; the last ones may be empty.
    pub list: Vec<Block>,
}

impl Blocks {
    /// Fills the blocks; allocates only to grow.
    pub fn load(&mut self, tokens: &Tokens, (count, cap): (usize, usize)) {
        let (n, d) = (tokens.n(), tokens.d());
        let masses = tokens.masses();
        let uniform = tokens.uniform_mass().is_some();
        (self.d, self.cap, self.unit_mass) = (d, cap, uniform && n.is_multiple_of(cap));
        self.list.resize_with(count, Block::default);
        for (b, block) in self.list.iter_mut().enumerate() {
            block.start = (b * cap).min(n);
            block.len = ((b + 1) * cap).min(n) - block.start;
            for (buffer, size) in [
                (&mut block.x, d * cap),
                (&mut block.sums, (d + 1) * cap),
                (&mut block.tile_sums, (d + 1) * cap),
            ] {
                buffer.reset(size);
            }
            block.m.reset(cap);
            let rows = &tokens.coordinates()[block.start * d..(block.start + block.len) * d];
            for (k, column) in block.x.chunks_exact_mut(cap).enumerate() {
                rows.chunks_exact(d).zip(column).for_each(|(row, c)| *c = row[k]);
            }
            match uniform {
                true => block.m[..block.len].fill(1.0),
                false => block.m.iter_mut().zip(&masses[block.start..]).for_each(|(b, m)| *b = *m),
            }
        }
    }

    /// Visits every block with itself and every pair of blocks once.
    pub fn for_each_pair(
        &mut self,
        parallel: bool,
        own: impl Fn(&mut Block) + Sync,
        pair: impl Fn(&mut Block, &mut Block) + Sync,
    ) {
        for_each_pair(&mut self.list, parallel, own, |a: &mut Block, b: &mut Block| {
            if b.len > 0 {
                pair(a, b);
            }
        });
    }
}

/// Visits every element with itself and every pair once, the earlier element first. Recursive: both
/// halves within themselves in parallel, then the pairs across the halves, by quarters, straight
/// and then crosswise. Two parallel tasks never share data, so the order of additions depends on
/// the number of elements only. Neighbours in the recursion reuse the caches.
pub fn for_each_pair<T: Send>(
    list: &mut [T],
    parallel: bool,
    own: impl Fn(&mut T) + Sync,
    pair: impl Fn(&mut T, &mut T) + Sync,
) {
    pairs_within(list, parallel, &own, &pair);
}

fn pairs_within<T: Send>(
    list: &mut [T],
    parallel: bool,
    own: &(impl Fn(&mut T) + Sync),
    pair: &(impl Fn(&mut T, &mut T) + Sync),
) {
    if let [one] = list {
        return own(one);
    }
    let (a, b) = list.split_at_mut(list.len() / 2);
    join_if(
        parallel,
        || pairs_within(a, parallel, own, pair),
        || pairs_within(b, parallel, own, pair),
    );
    pairs_across(a, b, parallel, pair);
}

fn pairs_across<T: Send>(
    a: &mut [T],
    b: &mut [T],
    parallel: bool,
    pair: &(impl Fn(&mut T, &mut T) + Sync),
) {
    match (a, b) {
        ([], _) | (_, []) => {}
        ([a], [b]) => pair(a, b),
        ([a], b) => b.iter_mut().for_each(|b| pair(a, b)),
        (a, [b]) => a.iter_mut().for_each(|a| pair(a, b)),
        (a, b) => {
            let ((a1, a2), (b1, b2)) = (a.split_at_mut(a.len() / 2), b.split_at_mut(b.len() / 2));
            join_if(
                parallel,
                || pairs_across(a1, b1, parallel, pair),
                || pairs_across(a2, b2, parallel, pair),
            );
            join_if(
                parallel,
                || pairs_across(a1, b2, parallel, pair),
                || pairs_across(a2, b1, parallel, pair),
            );
        }
    }
}

/// The sums of two blocks, for one weight.
pub(in crate::kernel) trait BlockTiles: Copy + Sync {
    /// Adds the contribution of a block to itself.
    fn within(self, block: &mut Block);
    /// Adds the contributions of two blocks to each other; a is the earlier one.
    fn pair(self, a: &mut Block, b: &mut Block);
}

/// Source tokens.
pub struct Source<'a> {
    /// Coordinates, one row per coordinate.
    pub x: &'a [f64],
    /// Masses.
    pub m: &'a [f64],
    /// Number of tokens.
    pub len: usize,
}
