//! Tokens in blocks, coordinates first, and the order in which blocks meet.

use crate::num::aligned::Aligned;
use crate::num::threads::both;
use crate::sphere::Tokens;

/// Every block length is a multiple of this: a whole number of vectors at every level.
pub const GRAIN: usize = 16;

/// Number of blocks (at least `least`) and their length, at most `largest` tokens (so that they fit a cache).
pub fn layout(n: usize, largest: usize, least: usize) -> (usize, usize) {
    let count = n.div_ceil(largest).max(least);
    (count, n.div_ceil(count).next_multiple_of(GRAIN))
}

/// A run of consecutive tokens, padded with tokens of mass 0.
#[derive(Default)]
pub struct Block {
    /// Index of the first token.
    pub start: usize,
    /// Tokens.
    pub len: usize,
    /// Coordinates, `d` rows of `cap`.
    pub x: Aligned<f64>,
    /// Masses.
    pub m: Aligned<f64>,
    /// Sums: `d` rows for the drift and one for the mass, each of `cap`.
    pub sums: Aligned<f64>,
    /// The same of the tile in work, so that long sums are sums of short ones.
    pub local: Aligned<f64>,
}

impl Block {
    /// Writes its sums in units of mass.
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
    /// True when all masses of the real tokens are equal and nothing is padded: weights need no mass.
    pub plain: bool,
    /// The blocks; the last ones may be empty.
    pub list: Vec<Block>,
}

impl Blocks {
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
                rows.chunks_exact(d).zip(column).for_each(|(row, c)| *c = row[k]);
            }
            match uniform {
                true => block.m[..block.len].fill(1.0),
                false => block.m.iter_mut().zip(&masses[block.start..]).for_each(|(b, m)| *b = *m),
            }
        }
    }

    /// Lets every block meet itself and every other block once.
    pub fn meet(&mut self, parallel: bool, own: impl Fn(&mut Block) + Sync, pair: impl Fn(&mut Block, &mut Block) + Sync) {
        meet(&mut self.list, parallel, own, |a: &mut Block, b: &mut Block| {
            if b.len > 0 {
                pair(a, b);
            }
        });
    }
}

/// Everything with itself and with everything else once, the earlier first, by halves: two halves within themselves side by side, then their quarters across,
/// straight and crosswise. Two tasks at a time never share data, so threads share no sum and the order of additions depends on the
/// number of blocks alone; neighbours in the recursion stay in the caches.
pub fn meet<T: Send>(list: &mut [T], parallel: bool, own: impl Fn(&mut T) + Sync, pair: impl Fn(&mut T, &mut T) + Sync) {
    within(list, parallel, &own, &pair);
}

fn within<T: Send>(list: &mut [T], parallel: bool, own: &(impl Fn(&mut T) + Sync), pair: &(impl Fn(&mut T, &mut T) + Sync)) {
    if let [one] = list {
        return own(one);
    }
    let (a, b) = list.split_at_mut(list.len() / 2);
    both(parallel, || within(a, parallel, own, pair), || within(b, parallel, own, pair));
    across(a, b, parallel, pair);
}

fn across<T: Send>(a: &mut [T], b: &mut [T], parallel: bool, pair: &(impl Fn(&mut T, &mut T) + Sync)) {
    match (a, b) {
        ([], _) | (_, []) => {}
        ([a], [b]) => pair(a, b),
        ([a], b) => b.iter_mut().for_each(|b| pair(a, b)),
        (a, [b]) => a.iter_mut().for_each(|a| pair(a, b)),
        (a, b) => {
            let ((a1, a2), (b1, b2)) = (a.split_at_mut(a.len() / 2), b.split_at_mut(b.len() / 2));
            both(parallel, || across(a1, b1, parallel, pair), || across(a2, b2, parallel, pair));
            both(parallel, || across(a1, b2, parallel, pair), || across(a2, b1, parallel, pair));
        }
    }
}
