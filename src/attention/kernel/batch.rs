//! Many small systems at once: every lane is a system, so the lanes are full however few tokens there are. Layer maps of plain attention
//! with equal masses (phase diagrams: n = 32, thousands of starts).

use super::attention::{Attention, Weights};
use super::direct::{Chord, Constants};
use crate::attention::Head;
use crate::num::aligned::Aligned;
use crate::num::simd::{Lanes, Level, Task};
use crate::sphere::Tokens;

/// Systems of the same shape, in groups of one vector.
pub struct Batch {
    n: usize,
    d: usize,
    count: usize,
    level: Level,
    /// Per group, token and coordinate: one vector of systems.
    x: Aligned<f64>,
    /// Drifts as `x`, then one vector of masses per token; of one group.
    sums: Aligned<f64>,
}

impl Batch {
    /// The dimension beyond which a system fills the lanes by itself.
    pub const LARGEST_D: usize = 8;

    /// True when the systems of this attention can be batched.
    pub fn suits(attention: &Attention, start: &Tokens) -> bool {
        let plain = attention.heads.len() == 1 && attention.heads.iter().all(Head::is_identity);
        // Softmax masses of negative beta may underflow; single systems handle that.
        plain && !attention.causal && start.d() <= Self::LARGEST_D && start.uniform_mass().is_some() && attention.beta >= 0.0
    }

    /// Packs systems of one shape; `None` when there are none or their shapes differ.
    pub fn new(systems: &[Tokens], level: Level) -> Option<Self> {
        let (n, d) = (systems.first()?.n(), systems[0].d());
        if systems.iter().any(|s| s.n() != n || s.d() != d) {
            return None;
        }
        let width = level.width::<f64>();
        let (mut x, mut sums) = (Aligned::default(), Aligned::default());
        x.resize(systems.len().next_multiple_of(width) * n * d);
        sums.reset(n * (d + 1) * width);
        for (g, group) in x.chunks_exact_mut(n * d * width).enumerate() {
            for lane in 0..width {
                // The last group is filled up with its last system.
                let system = &systems[(g * width + lane).min(systems.len() - 1)];
                group.iter_mut().skip(lane).step_by(width).zip(system.coordinates()).for_each(|(x, v)| *x = *v);
            }
        }
        Some(Self { n, d, count: systems.len(), level, x, sums })
    }

    /// Number of systems.
    pub fn len(&self) -> usize {
        self.count
    }

    /// True for a batch of nothing, which [`Batch::new`] does not make.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Copies system k into tokens of its shape.
    pub fn read(&self, k: usize, tokens: &mut Tokens) {
        let width = self.level.width::<f64>();
        let group = &self.x[k / width * self.n * self.d * width..];
        tokens.coordinates_mut().iter_mut().zip(group.iter().skip(k % width).step_by(width)).for_each(|(t, x)| *t = *x);
    }

    /// Appends, for every system, the share of pairs `i != j` with `<x_i, x_j> >= level`.
    pub fn pair_share(&self, level: f64, out: &mut Vec<f64>) {
        let width = self.level.width::<f64>();
        let first = out.len();
        for group in self.x.chunks_exact(self.n * self.d * width) {
            let mut counts = [0.0; 8];
            self.level.run(Count { level, d: self.d, x: group, counts: &mut counts });
            let pairs = (self.n * (self.n - 1) / 2).max(1) as f64;
            out.extend(counts[..width].iter().map(|c| if self.n > 1 { c / pairs } else { 1.0 }));
        }
        out.truncate(first + self.count);
    }

    /// One layer `x_i <- normalise(x_i + eta a_i)` for every system; `eta` may be infinite. A token whose update vanishes stays.
    ///
    /// **Accuracy** as a single layer. **Cost** `n^2/2` exponentials per system in full lanes.
    pub fn layer(&mut self, attention: &Attention, eta: f64) {
        let size = self.n * self.d * self.level.width::<f64>();
        let scale = match attention.weights {
            Weights::Softmax => None,
            Weights::Exponential { log_factor } => Some((attention.beta.abs() + log_factor).exp() / self.n as f64),
        };
        let layer = Layer { chord: Chord { beta: attention.beta, causal: false, far: false }, scale, sign: attention.sign, eta };
        for group in self.x.chunks_exact_mut(size) {
            self.level.run(Step { layer, n: self.n, d: self.d, x: group, sums: &mut self.sums });
        }
    }
}

#[derive(Clone, Copy)]
struct Layer {
    chord: Chord,
    /// The factor of USA weights; `None` divides by the mass.
    scale: Option<f64>,
    sign: f64,
    eta: f64,
}

struct Step<'a> {
    layer: Layer,
    n: usize,
    d: usize,
    x: &'a mut [f64],
    sums: &'a mut [f64],
}

impl Task for Step<'_> {
    type F = f64;
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes<F = f64>>(self, l: L) {
        match self.d {
            2 => self.pairs::<L, 2>(l),
            3 => self.pairs::<L, 3>(l),
            4 => self.pairs::<L, 4>(l),
            _ => self.pairs::<L, 8>(l),
        }
    }
}

impl Step<'_> {
    /// Every pair once; `D` is at least the dimension.
    #[inline(always)]
    fn pairs<L: Lanes<F = f64>, const D: usize>(self, l: L) {
        let Self { layer, n, d, x, sums } = self;
        let c = Constants::<L>::new(l, &layer.chord);
        let d = d.min(D);
        let x = L::view_mut(x);
        let (drift, mass) = L::view_mut(sums).split_at_mut(n * d);
        drift.fill(l.zero());
        mass.fill(l.constant(1.0));
        for i in 1..n {
            let (mut own, mut mine, mut my_mass) = ([l.zero(); D], [l.zero(); D], l.zero());
            own[..d].copy_from_slice(&x[i * d..(i + 1) * d]);
            let (before, after) = drift.split_at_mut(i * d);
            for ((xj, theirs), their_mass) in x.chunks_exact(d).zip(before.chunks_exact_mut(d)).zip(&mut mass[..i]) {
                let (mut y, mut chord) = ([l.zero(); D], l.zero());
                for k in 0..d {
                    y[k] = l.sub(xj[k], own[k]);
                    chord = l.fma(y[k], y[k], chord);
                }
                let w = l.exp2_product(chord, c.k, c.cut);
                let back = l.sub(l.zero(), w);
                for k in 0..d {
                    mine[k] = l.fma(w, y[k], mine[k]);
                    theirs[k] = l.fma(back, y[k], theirs[k]);
                }
                my_mass = l.add(my_mass, w);
                *their_mass = l.add(*their_mass, w);
            }
            after[..d].copy_from_slice(&mine[..d]);
            mass[i] = l.add(mass[i], my_mass);
        }
        for (i, row) in x.chunks_exact_mut(d).enumerate() {
            advance(l, &layer, row, &drift[i * d..(i + 1) * d], mass[i]);
        }
    }
}

/// Moves one token of every system: `a = x + drift / z` (SA) or `scale (z x + drift)` (USA).
#[inline(always)]
fn advance<L: Lanes<F = f64>>(l: L, layer: &Layer, x: &mut [L::V], drift: &[L::V], mass: L::V) {
    let (own, other) = match layer.scale {
        None => (l.constant(layer.sign), l.div(l.constant(layer.sign), mass)),
        Some(scale) => (l.mul(l.constant(layer.sign * scale), mass), l.constant(layer.sign * scale)),
    };
    let still = layer.eta.is_infinite();
    let (keep, eta) = if still { (l.zero(), l.constant(1.0)) } else { (l.constant(1.0), l.constant(layer.eta)) };
    let (along, across) = (l.fma(eta, own, keep), l.mul(eta, other));
    let mut square = l.zero();
    for (x, s) in x.iter().zip(drift) {
        let v = l.fma(across, *s, l.mul(along, *x));
        square = l.fma(v, v, square);
    }
    let length = l.sqrt(square);
    let moves = l.greater(length, l.constant(1e-150));
    for (x, s) in x.iter_mut().zip(drift) {
        let v = l.fma(across, *s, l.mul(along, *x));
        *x = l.select(moves, l.div(v, length), *x);
    }
}

/// Counts the pairs above a level.
struct Count<'a> {
    level: f64,
    d: usize,
    x: &'a [f64],
    counts: &'a mut [f64; 8],
}

impl Task for Count<'_> {
    type F = f64;
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes<F = f64>>(self, l: L) {
        let (x, level, one) = (L::view(self.x), l.constant(self.level), l.constant(1.0));
        let mut count = l.zero();
        for (i, xi) in x.chunks_exact(self.d).enumerate() {
            for xj in x.chunks_exact(self.d).take(i) {
                let mut inner = l.zero();
                for (a, b) in xi.iter().zip(xj) {
                    inner = l.fma(*a, *b, inner);
                }
                count = l.add(count, l.select(l.greater(level, inner), l.zero(), one));
            }
        }
        L::view_mut(&mut self.counts[..L::WIDTH])[0] = count;
    }
}
