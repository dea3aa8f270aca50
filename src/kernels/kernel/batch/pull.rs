//! What moves the tokens of one system, all of them in lanes: velocities and layers.

use super::heads::HeadsPull;
use super::pairs::{LARGEST_D, PlainPull};
use crate::Head;
use crate::kernel::attention::Attention;
use crate::num::simd::{Lanes, Level, Task};

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
    pub fn velocities<L: Lanes<F = f64>>(
        &self,
        l: L,
        level: Level,
        d: usize,
        (x, sizes): (&[f64], &[f64]),
        (out, mass): (&mut [f64], &mut [f64]),
    ) {
        level.run(Sums { pull: self, d, x, sizes, tangent: true, out, mass });
        let rows = L::view(x).chunks_exact(d).zip(L::view_mut(out).chunks_exact_mut(d));
        for ((x, s), mass) in rows.zip(L::view(mass)) {
            let factor = match self {
                Self::Heads(_) => l.constant(1.0),
                Self::Plain(PlainPull { scale: None, sign, .. }) => l.div(l.constant(-sign), *mass),
                Self::Plain(PlainPull { scale: Some(scale), sign, .. }) => l.constant(-sign * scale),
            };
            let mut radial = l.zero();
            for (x, s) in x.iter().zip(&*s) {
                radial = l.fma(*x, *s, radial);
            }
            let back = l.sub(l.zero(), radial);
            for (x, s) in x.iter().zip(s) {
                *s = l.mul(factor, l.fma(back, *x, *s));
            }
        }
    }
}

/// The sums of all tokens of a group of systems: a function of its own, that layers and steps share.
struct Sums<'a> {
    pull: &'a Pull,
    d: usize,
    x: &'a [f64],
    sizes: &'a [f64],
    /// Only what is tangent will be used.
    tangent: bool,
    out: &'a mut [f64],
    mass: &'a mut [f64],
}

impl Task for Sums<'_> {
    type F = f64;
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes<F = f64>>(self, l: L) {
        let (tokens, out) = ((L::view(self.x), L::view(self.sizes)), L::view_mut(self.out));
        match self.pull {
            Pull::Plain(pairs) => pairs.sums(l, self.d, tokens, out, L::view_mut(self.mass)),
            Pull::Heads(heads) => heads.sums(l, self.d, tokens, self.tangent, out),
        }
    }
}

/// One layer `x_i <- normalise(x_i + eta a_i)` of a group of systems; `eta` may be infinite.
pub(super) struct Layer<'a> {
    pub pull: &'a Pull,
    pub level: Level,
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
        let Self { pull, level, eta, n, d, x, sums } = self;
        let (sums, mass) = sums.split_at_mut(n * d * L::WIDTH);
        level.run(Sums { pull, d, x, sizes: &[], tangent: false, out: sums, mass });
        let (x, sums, mass) = (L::view_mut(x), L::view(sums), L::view(mass));
        let (keep, eta) = if eta.is_infinite() { (l.zero(), l.constant(1.0)) } else { (l.constant(1.0), l.constant(eta)) };
        match pull {
            Pull::Plain(pairs) => {
                for ((x, drift), mass) in x.chunks_exact_mut(d).zip(sums.chunks_exact(d)).zip(mass) {
                    // a = x - drift / z (SA) or scale (z x - drift) (USA).
                    let (own, other) = match pairs.scale {
                        None => (l.constant(pairs.sign), l.div(l.constant(-pairs.sign), *mass)),
                        Some(scale) => (l.mul(l.constant(pairs.sign * scale), *mass), l.constant(-pairs.sign * scale)),
                    };
                    advance(l, (l.fma(eta, own, keep), x), (l.mul(eta, other), drift));
                }
            }
            Pull::Heads(_) => {
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
