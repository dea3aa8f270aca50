//! The kernel of a pair as tiles see it, and masks within a tile.

use crate::num::simd::{Float, Lanes};

/// What a tile needs to know.
#[derive(Clone, Copy, Debug)]
pub struct Chord {
    /// Inverse temperature.
    pub beta: f64,
    /// Tokens see earlier tokens only.
    pub causal: bool,
    /// Differences to `-sigma x_i` for far tokens.
    pub far: bool,
}

/// Vectors of one level with the constants of [`Chord`].
#[derive(Clone, Copy)]
pub struct Constants<L: Lanes> {
    /// `-|beta| / 2` in powers of two.
    pub k: L::V,
    /// Beyond this squared chord the weight is 0.
    pub cut: L::V,
    /// Squared chord from which `s` changes.
    pub far: L::V,
    /// `sign(beta)`.
    pub sigma: f64,
}

impl<L: Lanes<F = f64>> Constants<L> {
    #[inline(always)]
    pub fn new(l: L, chord: &Chord) -> Self {
        let k = -0.5 * chord.beta.abs() * std::f64::consts::LOG2_E;
        let cut = (-f64::SMALLEST / k.abs()).min(8.0);
        Self { k: l.constant(k), cut: l.constant(cut), far: l.constant(2.0), sigma: if chord.beta < 0.0 { -1.0 } else { 1.0 } }
    }
}

/// Lane numbers of the longest vector.
const LANES: [f64; 8] = [0., 1., 2., 3., 4., 5., 6., 7.];

/// The weight of source j for the vector v of targets, 0 for targets before it.
#[inline(always)]
pub fn later_masked<L: Lanes<F = f64>>(l: L, v: usize, j: usize, w: L::V) -> L::V {
    l.select(l.greater(L::view(&LANES)[0], l.constant(j as f64 - (v * L::WIDTH) as f64 - 0.5)), w, l.zero())
}

/// The weight of token i with the vector v of sources, 0 for sources after it.
#[inline(always)]
pub fn at_most<L: Lanes<F = f64>>(l: L, v: usize, i: usize, w: L::V) -> L::V {
    l.select(l.greater(l.constant(i as f64 - (v * L::WIDTH) as f64 + 0.5), L::view(&LANES)[0]), w, l.zero())
}
