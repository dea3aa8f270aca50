//! What moves the tokens of one system, all of them in lanes: velocities and layers.

use super::heads::HeadsPull;
use super::pairs::{LARGEST_D, PlainPull};
use crate::Head;
use crate::kernel::attention::Attention;
use crate::num::simd::{Lanes, Task};

/// The attraction of the tokens of one system.
pub enum Pull {
    /// One identity head.
    Plain(PlainPull),
    /// General heads.
    Heads(HeadsPull),
}

/// One identity head.
fn is_plain(attention: &Attention) -> bool {
    attention.heads.len() == 1 && attention.heads.iter().all(Head::is_identity)
}

/// True when systems of tokens of this dimension can be moved in lanes.
pub(super) fn suits(attention: &Attention, d: usize) -> bool {
    let sums = if is_plain(attention) { PlainPull::suit(attention) } else { HeadsPull::suit(attention, d) };
    sums && !attention.causal && d <= LARGEST_D
}

impl Pull {
    /// For systems of n initial tokens in d dimensions.
    pub fn of(attention: &Attention, (n, d): (usize, usize)) -> Self {
        if is_plain(attention) { Self::Plain(PlainPull::new(attention, n)) } else { Self::Heads(HeadsPull::new(attention, n, d)) }
    }

    /// Velocities of tokens of these sizes (without sizes all are one), every system in its lane; `mass` is room for a vector per token.
    #[inline(always)]
    pub fn velocities<L: Lanes<F = f64>>(&self, l: L, d: usize, x: &[L::V], sizes: &[L::V], out: &mut [L::V], mass: &mut [L::V]) {
        match self {
            Self::Plain(pairs) => pairs.velocities(l, d, (x, sizes), out, &mut mass[..x.len() / d]),
            Self::Heads(heads) => {
                heads.sums(l, d, (x, sizes), true, out);
                for (x, out) in x.chunks_exact(d).zip(out.chunks_exact_mut(d)) {
                    let mut radial = l.zero();
                    for (x, a) in x.iter().zip(&*out) {
                        radial = l.fma(*x, *a, radial);
                    }
                    let back = l.sub(l.zero(), radial);
                    for (x, a) in x.iter().zip(out) {
                        *a = l.fma(back, *x, *a);
                    }
                }
            }
        }
    }
}

/// One layer `x_i <- normalise(x_i + eta a_i)` of a group of systems; `eta` may be infinite.
pub(super) struct Layer<'a> {
    pub pull: &'a Pull,
    pub eta: f64,
    pub n: usize,
    pub d: usize,
    pub x: &'a mut [f64],
    pub sums: &'a mut [f64],
}

impl Task for Layer<'_> {
    type F = f64;
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes<F = f64>>(self, l: L) {
        let Self { pull, eta, n, d, x, sums } = self;
        let x = L::view_mut(x);
        let (sums, mass) = L::view_mut(sums).split_at_mut(n * d);
        let (keep, eta) = if eta.is_infinite() { (l.zero(), l.constant(1.0)) } else { (l.constant(1.0), l.constant(eta)) };
        match pull {
            Pull::Plain(pairs) => {
                pairs.sums(l, d, (x, &[]), sums, mass);
                for ((x, drift), mass) in x.chunks_exact_mut(d).zip(sums.chunks_exact(d)).zip(mass) {
                    // a = x - drift / z (SA) or scale (z x - drift) (USA).
                    let (own, other) = match pairs.scale {
                        None => (l.constant(pairs.sign), l.div(l.constant(-pairs.sign), *mass)),
                        Some(scale) => (l.mul(l.constant(pairs.sign * scale), *mass), l.constant(-pairs.sign * scale)),
                    };
                    advance(l, (l.fma(eta, own, keep), x), (l.mul(eta, other), drift));
                }
            }
            Pull::Heads(heads) => {
                heads.sums(l, d, (x, &[]), false, sums);
                for (x, a) in x.chunks_exact_mut(d).zip(sums.chunks_exact(d)) {
                    advance(l, (keep, x), (eta, a));
                }
            }
        }
    }
}

/// A token becomes the direction of `along x + across a`; one that vanishes stays.
#[inline(always)]
fn advance<L: Lanes<F = f64>>(l: L, (along, x): (L::V, &mut [L::V]), (across, a): (L::V, &[L::V])) {
    let mut square = l.zero();
    for (x, a) in x.iter().zip(a) {
        let v = l.fma(across, *a, l.mul(along, *x));
        square = l.fma(v, v, square);
    }
    let moves = l.greater(square, l.constant(1e-300));
    let inverse = l.inverse_sqrt(square);
    for (x, a) in x.iter_mut().zip(a) {
        let v = l.fma(across, *a, l.mul(along, *x));
        *x = l.select(moves, l.mul(v, inverse), *x);
    }
}
