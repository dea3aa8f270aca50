//! Parameters of the kernel of a pair, and causal masks within a tile.

use crate::kernel::problem::KernelProblem;
use crate::num::simd::{Float, SimdOps};

/// Parameters of a tile.
#[derive(Clone, Copy, Debug)]
pub struct Chord {
    /// Inverse temperature.
    pub beta: f64,
    /// True: tokens see earlier tokens and themselves only.
    pub causal: bool,
    /// True: differences to `-sigma x_i` for far tokens.
    pub two_sided: bool,
}

impl Chord {
    /// For an exponential weight.
    pub fn new(problem: &KernelProblem) -> Self {
        Self { beta: problem.beta(), causal: problem.causal, two_sided: problem.two_sided }
    }
}

/// The constants of [`Chord`] as vectors.
#[derive(Clone, Copy)]
pub struct ChordConstants<L: SimdOps> {
    /// `-|beta| / 2` in units of ln 2.
    pub k: L::V,
    /// Squared chord beyond which the weight is 0.
    pub cut: L::V,
    /// Squared chord beyond which a token is far: `s` changes its sign.
    pub sign_switch: L::V,
    /// `sign(beta)`.
    pub sigma: f64,
}

impl<L: SimdOps<F = f64>> ChordConstants<L> {
    #[inline(always)]
    pub fn new(l: L, chord: &Chord) -> Self {
        let k = -0.5 * chord.beta.abs() * std::f64::consts::LOG2_E;
        let cut = (-f64::UNDERFLOW_EXPONENT / k.abs()).min(8.0);
        Self {
            k: l.constant(k),
            cut: l.constant(cut),
            sign_switch: l.constant(2.0),
            sigma: if chord.beta < 0.0 { -1.0 } else { 1.0 },
        }
    }
}

/// Lane indices of the longest vector.
const LANES: [f64; 8] = [0., 1., 2., 3., 4., 5., 6., 7.];

/// Masks the weights of source j with vector v of targets: 0 for earlier targets.
#[inline(always)]
pub fn causal_mask_column<L: SimdOps<F = f64>>(l: L, v: usize, j: usize, w: L::V) -> L::V {
    l.select(
        l.greater(L::view(&LANES)[0], l.constant(j as f64 - (v * L::WIDTH) as f64 - 0.5)),
        w,
        l.zero(),
    )
}

/// Masks the weights of token i with vector v of sources: 0 for later sources.
#[inline(always)]
pub fn causal_mask_row<L: SimdOps<F = f64>>(l: L, v: usize, i: usize, w: L::V) -> L::V {
    l.select(
        l.greater(l.constant(i as f64 - (v * L::WIDTH) as f64 + 0.5), L::view(&LANES)[0]),
        w,
        l.zero(),
    )
}
