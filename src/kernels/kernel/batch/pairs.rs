//! Plain attention in lanes: every pair once, by its chord.

use crate::kernel::attention::Attention;
use crate::kernel::job::Weights;
use crate::kernel::tiles::chord::{Chord, Constants};
use crate::num::simd::{Float, Lanes};

/// Coordinates of a token and of what is summed for it stay in registers up to this dimension.
pub(super) const LARGEST_D: usize = 8;

/// The attraction of the tokens of one system by an identity head.
pub struct PlainPull {
    chord: Chord,
    /// The factor of USA weights; `None` divides by the mass.
    pub scale: Option<f64>,
    pub sign: f64,
}

impl PlainPull {
    /// True when no mass underflows, and no factor of USA weights is beyond `f64`.
    pub(super) fn suit(attention: &Attention) -> bool {
        // Softmax masses of negative beta may underflow; single systems handle that.
        attention.beta >= 0.0 && attention.weights.log_scale(attention.beta) < 300.0
    }

    /// For systems of n initial tokens.
    pub(super) fn new(attention: &Attention, n: usize) -> Self {
        let scale = match attention.weights {
            Weights::Softmax => None,
            Weights::Exponential { log_factor } => Some((attention.beta.abs() + log_factor).exp() / n as f64),
        };
        Self { chord: Chord { beta: attention.beta, causal: false, far: false }, scale, sign: attention.sign }
    }

    /// Writes drifts `sum_j w_ij (x_i - x_j)` and masses; without sizes all are one.
    #[inline(always)]
    pub(super) fn sums<L: Lanes<F = f64>>(&self, l: L, d: usize, (x, sizes): (&[L::V], &[L::V]), drift: &mut [L::V], mass: &mut [L::V]) {
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
            _ => self.dimension::<L, LARGEST_D>(l, x, sizes, drift, mass),
        }
    }

    #[inline(always)]
    fn dimension<L: Lanes<F = f64>, const D: usize>(&self, l: L, x: &[L::V], sizes: &[L::V], drift: &mut [L::V], mass: &mut [L::V]) {
        // Squared chords are at most 4, so that no weight reaches down to the smallest of the lanes.
        let normal = 2.0 * std::f64::consts::LOG2_E * self.chord.beta < -0.99 * f64::SMALLEST;
        match (sizes.is_empty(), normal) {
            (true, true) => self.pairs::<L, D, false, true>(l, x, sizes, drift, mass),
            (false, true) => self.pairs::<L, D, true, true>(l, x, sizes, drift, mass),
            (true, false) => self.pairs::<L, D, false, false>(l, x, sizes, drift, mass),
            (false, false) => self.pairs::<L, D, true, false>(l, x, sizes, drift, mass),
        }
    }

    #[inline(always)]
    fn pairs<L: Lanes<F = f64>, const D: usize, const SIZES: bool, const NORMAL: bool>(
        &self,
        l: L,
        x: &[L::V],
        sizes: &[L::V],
        drift: &mut [L::V],
        mass: &mut [L::V],
    ) {
        let c = Constants::<L>::new(l, &self.chord);
        let n = mass.len();
        for i in (0..n - n % 2).step_by(2) {
            rows::<L, D, 2, SIZES, NORMAL>(l, &c, i, x, sizes, drift, mass);
        }
        if n % 2 == 1 {
            rows::<L, D, 1, SIZES, NORMAL>(l, &c, n - 1, x, sizes, drift, mass);
        }
    }
}

/// R tokens from i on with all before them and with each other.
#[inline(always)]
#[allow(clippy::too_many_arguments, reason = "tokens in, sums out")]
fn rows<L: Lanes<F = f64>, const D: usize, const R: usize, const SIZES: bool, const NORMAL: bool>(
    l: L,
    c: &Constants<L>,
    i: usize,
    x: &[L::V],
    sizes: &[L::V],
    drift: &mut [L::V],
    mass: &mut [L::V],
) {
    let (mut own, mut mine, mut my_mass) = ([[l.zero(); D]; R], [[l.zero(); D]; R], [l.zero(); R]);
    for r in 0..R {
        own[r].copy_from_slice(&x[(i + r) * D..(i + r + 1) * D]);
    }
    let (before, after) = drift.split_at_mut(i * D);
    let (masses_before, masses_after) = mass.split_at_mut(i);
    let earlier = x.as_chunks::<D>().0.iter().zip(before.as_chunks_mut::<D>().0).zip(masses_before);
    for (j, ((xj, theirs), their_mass)) in earlier.enumerate() {
        // Copies stay in registers.
        let (at, mut their, mut mass) = (*xj, *theirs, *their_mass);
        for r in 0..R {
            let (w, y) = weigh::<L, D, NORMAL>(l, c, &at, &own[r]);
            let (to_me, to_them) = if SIZES { (l.mul(w, sizes[j]), l.mul(w, sizes[i + r])) } else { (w, w) };
            for k in 0..D {
                mine[r][k] = l.fma(to_me, y[k], mine[r][k]);
                their[k] = l.fma(to_them, y[k], their[k]);
            }
            my_mass[r] = l.add(my_mass[r], to_me);
            mass = l.add(mass, to_them);
        }
        *theirs = their;
        *their_mass = mass;
    }
    for r in 1..R {
        for q in 0..r {
            let (w, y) = weigh::<L, D, NORMAL>(l, c, &own[q], &own[r]);
            let (to_me, to_them) = if SIZES { (l.mul(w, sizes[i + q]), l.mul(w, sizes[i + r])) } else { (w, w) };
            let back = l.sub(l.zero(), to_them);
            for k in 0..D {
                mine[r][k] = l.fma(to_me, y[k], mine[r][k]);
                mine[q][k] = l.fma(back, y[k], mine[q][k]);
            }
            my_mass[r] = l.add(my_mass[r], to_me);
            my_mass[q] = l.add(my_mass[q], to_them);
        }
    }
    for r in 0..R {
        for k in 0..D {
            after[r * D + k] = l.sub(after[r * D + k], mine[r][k]);
        }
        masses_after[r] = l.add(masses_after[r], my_mass[r]);
    }
}

/// The weight of a pair and its difference.
#[inline(always)]
fn weigh<L: Lanes<F = f64>, const D: usize, const NORMAL: bool>(
    l: L,
    c: &Constants<L>,
    xj: &[L::V; D],
    xi: &[L::V; D],
) -> (L::V, [L::V; D]) {
    let (mut y, mut chord) = ([l.zero(); D], l.zero());
    for k in 0..D {
        y[k] = l.sub(xj[k], xi[k]);
        chord = l.fma(y[k], y[k], chord);
    }
    (if NORMAL { l.exp2_normal(chord, c.k) } else { l.exp2_product(chord, c.k, c.cut) }, y)
}
