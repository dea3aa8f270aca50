//! Plain attention, one system per lane: every pair once, by its chord.

use crate::kernel::attention::Attention;
use crate::kernel::problem::Weights;
use crate::kernel::tiles::chord::{Chord, ChordConstants};
use crate::num::simd::{Float, SimdOps};

/// Up to this dimension, the coordinates and the sums of a token stay in registers.
pub(super) const MAX_D: usize = 8;

/// The field of one identity head, evaluated with one system per lane.
pub struct PlainField {
    chord: Chord,
    /// Factor of USA weights; `None`: divide by the mass (SA).
    pub scale: Option<f64>,
    pub sign: f64,
}

impl PlainField {
    /// True if no mass underflows and the factor of USA weights is within `f64`.
    pub(super) fn supports(attention: &Attention) -> bool {
        // For negative beta, softmax masses may underflow; the kernels for single systems handle
        // that.
        attention.beta >= 0.0 && attention.weights.log_scale(attention.beta) < 300.0
    }

    /// For systems with n initial tokens.
    pub(super) fn new(attention: &Attention, n: usize) -> Self {
        let scale = match attention.weights {
            Weights::Softmax => None,
            Weights::Exponential { log_factor } => {
                Some((attention.beta.abs() + log_factor).exp() / n as f64)
            }
        };
        Self {
            chord: Chord { beta: attention.beta, causal: false, two_sided: false },
            scale,
            sign: attention.sign,
        }
    }

    /// Writes drifts `sum_j w_ij (x_i - x_j)` and masses. Empty `sizes`: all tokens have size 1.
    #[inline(always)]
    pub(super) fn sums<L: SimdOps<F = f64>>(
        &self,
        l: L,
        d: usize,
        (x, sizes): (&[L::V], &[L::V]),
        drift: &mut [L::V],
        mass: &mut [L::V],
    ) {
        if sizes.is_empty() {
            mass.fill(l.constant(1.0));
        } else {
            mass.copy_from_slice(sizes);
        }
        drift.fill(l.zero());
        match d {
            2 => self.dimension::<L, 2>(l, x, sizes, drift, mass),
            3 => self.dimension::<L, 3>(l, x, sizes, drift, mass),
            4 => self.dimension::<L, 4>(l, x, sizes, drift, mass),
            5 => self.dimension::<L, 5>(l, x, sizes, drift, mass),
            6 => self.dimension::<L, 6>(l, x, sizes, drift, mass),
            7 => self.dimension::<L, 7>(l, x, sizes, drift, mass),
            _ => self.dimension::<L, MAX_D>(l, x, sizes, drift, mass),
        }
    }

    #[inline(always)]
    fn dimension<L: SimdOps<F = f64>, const D: usize>(
        &self,
        l: L,
        x: &[L::V],
        sizes: &[L::V],
        drift: &mut [L::V],
        mass: &mut [L::V],
    ) {
        // Squared chords are at most 4, so below this beta no weight underflows.
        let normal =
            2.0 * std::f64::consts::LOG2_E * self.chord.beta < -0.99 * f64::UNDERFLOW_EXPONENT;
        match (sizes.is_empty(), normal) {
            (true, true) => self.pairs::<L, D, false, true>(l, x, sizes, drift, mass),
            (false, true) => self.pairs::<L, D, true, true>(l, x, sizes, drift, mass),
            (true, false) => self.pairs::<L, D, false, false>(l, x, sizes, drift, mass),
            (false, false) => self.pairs::<L, D, true, false>(l, x, sizes, drift, mass),
        }
    }

    #[inline(always)]
    fn pairs<L: SimdOps<F = f64>, const D: usize, const SIZES: bool, const NO_UNDERFLOW: bool>(
        &self,
        l: L,
        x: &[L::V],
        sizes: &[L::V],
        drift: &mut [L::V],
        mass: &mut [L::V],
    ) {
        let c = ChordConstants::<L>::new(l, &self.chord);
        let n = mass.len();
        for i in (0..n - n % 2).step_by(2) {
            rows::<L, D, 2, SIZES, NO_UNDERFLOW>(l, &c, i, x, sizes, drift, mass);
        }
        if n % 2 == 1 {
            rows::<L, D, 1, SIZES, NO_UNDERFLOW>(l, &c, n - 1, x, sizes, drift, mass);
        }
    }
}

/// R tokens from i on: with all earlier tokens, and with each other.
#[inline(always)]
#[allow(clippy::too_many_arguments, reason = "tokens in, sums out")]
fn rows<
    L: SimdOps<F = f64>,
    const D: usize,
    const R: usize,
    const SIZES: bool,
    const NO_UNDERFLOW: bool,
>(
    l: L,
    c: &ChordConstants<L>,
    i: usize,
    x: &[L::V],
    sizes: &[L::V],
    drift: &mut [L::V],
    mass: &mut [L::V],
) {
    let (mut own, mut own_drift, mut own_mass) =
        ([[l.zero(); D]; R], [[l.zero(); D]; R], [l.zero(); R]);
    for r in 0..R {
        own[r].copy_from_slice(&x[(i + r) * D..(i + r + 1) * D]);
    }
    let (before, after) = drift.split_at_mut(i * D);
    let (masses_before, masses_after) = mass.split_at_mut(i);
    let earlier = x.as_chunks::<D>().0.iter().zip(before.as_chunks_mut::<D>().0).zip(masses_before);
    for (j, ((xj, other_drift), other_mass)) in earlier.enumerate() {
        // Local copies stay in registers.
        let (position, mut other_sums, mut mass) = (*xj, *other_drift, *other_mass);
        for r in 0..R {
            let (w, y) = pair_weight::<L, D, NO_UNDERFLOW>(l, c, &position, &own[r]);
            let (to_own, to_other) =
                if SIZES { (l.mul(w, sizes[j]), l.mul(w, sizes[i + r])) } else { (w, w) };
            for k in 0..D {
                own_drift[r][k] = l.fma(to_own, y[k], own_drift[r][k]);
                other_sums[k] = l.fma(to_other, y[k], other_sums[k]);
            }
            own_mass[r] = l.add(own_mass[r], to_own);
            mass = l.add(mass, to_other);
        }
        *other_drift = other_sums;
        *other_mass = mass;
    }
    for r in 1..R {
        for q in 0..r {
            let (w, y) = pair_weight::<L, D, NO_UNDERFLOW>(l, c, &own[q], &own[r]);
            let (to_own, to_other) =
                if SIZES { (l.mul(w, sizes[i + q]), l.mul(w, sizes[i + r])) } else { (w, w) };
            let back = l.sub(l.zero(), to_other);
            for k in 0..D {
                own_drift[r][k] = l.fma(to_own, y[k], own_drift[r][k]);
                own_drift[q][k] = l.fma(back, y[k], own_drift[q][k]);
            }
            own_mass[r] = l.add(own_mass[r], to_own);
            own_mass[q] = l.add(own_mass[q], to_other);
        }
    }
    for r in 0..R {
        for k in 0..D {
            after[r * D + k] = l.sub(after[r * D + k], own_drift[r][k]);
        }
        masses_after[r] = l.add(masses_after[r], own_mass[r]);
    }
}

/// The weight and the difference of a pair.
#[inline(always)]
fn pair_weight<L: SimdOps<F = f64>, const D: usize, const NO_UNDERFLOW: bool>(
    l: L,
    c: &ChordConstants<L>,
    xj: &[L::V; D],
    xi: &[L::V; D],
) -> (L::V, [L::V; D]) {
    let (mut y, mut chord) = ([l.zero(); D], l.zero());
    for k in 0..D {
        y[k] = l.sub(xj[k], xi[k]);
        chord = l.fma(y[k], y[k], chord);
    }
    (
        if NO_UNDERFLOW {
            l.exp2_no_underflow(chord, c.k)
        } else {
            l.exp2_product(chord, c.k, c.cut)
        },
        y,
    )
}
