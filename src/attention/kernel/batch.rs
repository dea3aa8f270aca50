//! Many small systems at once: every lane is a system, so the lanes are full however few tokens there are. Layer maps of plain attention
//! with equal masses (phase diagrams: n = 32, thousands of starts).

use crate::attention::Head;
use crate::attention::kernel::attention::Attention;
use crate::attention::kernel::job::Weights;
use crate::attention::kernel::tiles::chord::{Chord, Constants};
use crate::num::aligned::Aligned;
use crate::num::simd::{Float, Lanes, Level, Task};
use crate::sphere::Tokens;

/// Lanes of the widest vector.
pub(crate) const WIDEST: usize = 8;

/// Systems of the same shape, in groups of one vector.
pub struct Batch {
    n: usize,
    d: usize,
    count: usize,
    level: Level,
    /// Per group, token and coordinate: one vector of systems.
    x: Aligned<f64>,
    /// Initial tokens in every token, per group and token one vector of systems; empty while all are one.
    sizes: Aligned<f64>,
    /// Initial tokens of a system.
    initial: usize,
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
        let square_is_finite = attention.weights.log_scale(attention.beta) < 300.0;
        plain
            && !attention.causal
            && start.d() <= Self::LARGEST_D
            && start.uniform_mass().is_some()
            && attention.beta >= 0.0
            && square_is_finite
    }

    /// Packs systems of one shape; `None` when there are none or their shapes differ.
    pub fn new(systems: &[Tokens], level: Level) -> Option<Self> {
        let (n, d) = (systems.first()?.n(), systems[0].d());
        if systems.iter().any(|s| s.n() != n || s.d() != d) {
            return None;
        }
        let width = level.width::<f64>();
        let (mut x, mut sums, sizes) = (Aligned::default(), Aligned::default(), Aligned::default());
        x.resize(systems.len().next_multiple_of(width) * n * d);
        sums.reset(n * (d + 1) * width);
        for (g, group) in x.chunks_exact_mut(n * d * width).enumerate() {
            for lane in 0..width {
                // The last group is filled up with its last system.
                let system = &systems[(g * width + lane).min(systems.len() - 1)];
                group.iter_mut().skip(lane).step_by(width).zip(system.coordinates()).for_each(|(x, v)| *x = *v);
            }
        }
        Some(Self { n, d, count: systems.len(), level, x, sizes, initial: n, sums })
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

    /// Makes one group hold n tokens of several initial ones each: their coordinates and sizes, to be written.
    pub(crate) fn merged(&mut self, n: usize) -> (&mut [f64], &mut [f64]) {
        let width = self.level.width::<f64>();
        self.n = n;
        self.x.resize(n * self.d * width);
        self.sizes.resize(n * width);
        (&mut self.x, &mut self.sizes)
    }

    /// Appends, for every system, the share of pairs `i != j` of initial tokens with `<x_i, x_j> >= level`.
    pub fn pair_share(&self, level: f64, out: &mut Vec<f64>) {
        let width = self.level.width::<f64>();
        let first = out.len();
        let sizes = self.sizes.chunks(self.n * width).chain(std::iter::repeat(&[][..]));
        for (group, sizes) in self.x.chunks_exact(self.n * self.d * width).zip(sizes) {
            let mut counts = [0.0; 8];
            self.level.run(Count { level, d: self.d, x: group, sizes, counts: &mut counts });
            let pairs = (self.initial * (self.initial - 1) / 2).max(1) as f64;
            out.extend(counts[..width].iter().map(|c| if self.initial > 1 { c / pairs } else { 1.0 }));
        }
        out.truncate(first + self.count);
    }

    /// One layer `x_i <- normalise(x_i + eta a_i)` for every system; `eta` may be infinite. A token whose update vanishes stays.
    ///
    /// **Accuracy** as a single layer. **Cost** `n^2/2` exponentials per system in full lanes.
    pub fn layer(&mut self, attention: &Attention, eta: f64) {
        let size = self.n * self.d * self.level.width::<f64>();
        let layer = LayerStep { pull: Pull::of(attention, self.n), eta };
        for group in self.x.chunks_exact_mut(size) {
            self.level.run(LayerTask { layer, n: self.n, d: self.d, x: group, sums: &mut self.sums });
        }
    }
}

/// The attraction of the tokens of one system.
#[derive(Clone, Copy)]
pub(crate) struct Pull {
    chord: Chord,
    /// The factor of USA weights; `None` divides by the mass.
    scale: Option<f64>,
    sign: f64,
}

impl Pull {
    /// For systems of n initial tokens.
    pub(crate) fn of(attention: &Attention, n: usize) -> Self {
        let scale = match attention.weights {
            Weights::Softmax => None,
            Weights::Exponential { log_factor } => Some((attention.beta.abs() + log_factor).exp() / n as f64),
        };
        Self { chord: Chord { beta: attention.beta, causal: false, far: false }, scale, sign: attention.sign }
    }

    /// Velocities of tokens of these sizes (without sizes all are one), every system in its lane; `mass` is room for a vector per token.
    #[inline(always)]
    pub(crate) fn velocities<L: Lanes<F = f64>>(&self, l: L, d: usize, x: &[L::V], sizes: &[L::V], out: &mut [L::V], mass: &mut [L::V]) {
        let mass = &mut mass[..x.len() / d];
        if sizes.is_empty() {
            mass.fill(l.constant(1.0));
        } else {
            mass.copy_from_slice(sizes);
        }
        out.fill(l.zero());
        self.pulls(l, d, x, sizes, out, mass);
        for ((x, out), mass) in x.chunks_exact(d).zip(out.chunks_exact_mut(d)).zip(mass) {
            let factor = match self.scale {
                None => l.div(l.constant(-self.sign), *mass),
                Some(scale) => l.constant(-self.sign * scale),
            };
            let mut radial = l.zero();
            for (x, s) in x.iter().zip(&*out) {
                radial = l.fma(*x, *s, radial);
            }
            let back = l.sub(l.zero(), radial);
            for (x, s) in x.iter().zip(out) {
                *s = l.mul(factor, l.fma(back, *x, *s));
            }
        }
    }

    /// Subtracts every pair from drifts and adds it to masses; without sizes all are one.
    #[inline(always)]
    fn pulls<L: Lanes<F = f64>>(&self, l: L, d: usize, x: &[L::V], sizes: &[L::V], drift: &mut [L::V], mass: &mut [L::V]) {
        match d {
            2 => self.dimension::<L, 2>(l, x, sizes, drift, mass),
            3 => self.dimension::<L, 3>(l, x, sizes, drift, mass),
            4 => self.dimension::<L, 4>(l, x, sizes, drift, mass),
            5 => self.dimension::<L, 5>(l, x, sizes, drift, mass),
            6 => self.dimension::<L, 6>(l, x, sizes, drift, mass),
            7 => self.dimension::<L, 7>(l, x, sizes, drift, mass),
            _ => self.dimension::<L, { Batch::LARGEST_D }>(l, x, sizes, drift, mass),
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

#[derive(Clone, Copy)]
struct LayerStep {
    pull: Pull,
    eta: f64,
}

struct LayerTask<'a> {
    layer: LayerStep,
    n: usize,
    d: usize,
    x: &'a mut [f64],
    sums: &'a mut [f64],
}

impl Task for LayerTask<'_> {
    type F = f64;
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes<F = f64>>(self, l: L) {
        let Self { layer, n, d, x, sums } = self;
        let x = L::view_mut(x);
        let (drift, mass) = L::view_mut(sums).split_at_mut(n * d);
        drift.fill(l.zero());
        mass.fill(l.constant(1.0));
        layer.pull.pulls(l, d, x, &[], drift, mass);
        for ((row, drift), mass) in x.chunks_exact_mut(d).zip(drift.chunks_exact(d)).zip(mass) {
            advance(l, &layer, row, drift, *mass);
        }
    }
}

/// Moves one token of every system: `a = x - drift / z` (SA) or `scale (z x - drift)` (USA).
#[inline(always)]
fn advance<L: Lanes<F = f64>>(l: L, layer: &LayerStep, x: &mut [L::V], drift: &[L::V], mass: L::V) {
    let Pull { scale, sign, .. } = layer.pull;
    let (own, other) = match scale {
        None => (l.constant(sign), l.div(l.constant(-sign), mass)),
        Some(scale) => (l.mul(l.constant(sign * scale), mass), l.constant(-sign * scale)),
    };
    let still = layer.eta.is_infinite();
    let (keep, eta) = if still { (l.zero(), l.constant(1.0)) } else { (l.constant(1.0), l.constant(layer.eta)) };
    let (along, across) = (l.fma(eta, own, keep), l.mul(eta, other));
    let mut square = l.zero();
    for (x, s) in x.iter().zip(drift) {
        let v = l.fma(across, *s, l.mul(along, *x));
        square = l.fma(v, v, square);
    }
    let moves = l.greater(square, l.constant(1e-300));
    let inverse = l.inverse_sqrt(square);
    for (x, s) in x.iter_mut().zip(drift) {
        let v = l.fma(across, *s, l.mul(along, *x));
        *x = l.select(moves, l.mul(v, inverse), *x);
    }
}

/// Counts the pairs of initial tokens above a level.
struct Count<'a> {
    level: f64,
    d: usize,
    x: &'a [f64],
    /// Empty while all are one.
    sizes: &'a [f64],
    counts: &'a mut [f64; 8],
}

impl Task for Count<'_> {
    type F = f64;
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes<F = f64>>(self, l: L) {
        let count = match (self.d, self.sizes.is_empty()) {
            (2, true) => self.pairs::<L, 2, false>(l),
            (2, false) => self.pairs::<L, 2, true>(l),
            (3, true) => self.pairs::<L, 3, false>(l),
            (3, false) => self.pairs::<L, 3, true>(l),
            (_, true) => self.pairs::<L, 0, false>(l),
            (_, false) => self.pairs::<L, 0, true>(l),
        };
        L::view_mut(&mut self.counts[..L::WIDTH])[0] = count;
    }
}

impl Count<'_> {
    /// `D` is the dimension, 0 for any.
    #[inline(always)]
    fn pairs<L: Lanes<F = f64>, const D: usize, const SIZES: bool>(&self, l: L) -> L::V {
        let n = self.x.len() / L::WIDTH / self.d;
        let (whole, mut count) = (n - n % 4, l.zero());
        // Sums of four rows do not wait for each other.
        for i in (0..whole).step_by(4) {
            count = self.rows::<L, D, 4, SIZES>(l, i, count);
        }
        for i in whole..n {
            count = self.rows::<L, D, 1, SIZES>(l, i, count);
        }
        count
    }

    /// Adds the pairs of R tokens from i on with earlier tokens, with each other, and within them.
    #[inline(always)]
    fn rows<L: Lanes<F = f64>, const D: usize, const R: usize, const SIZES: bool>(&self, l: L, i: usize, mut count: L::V) -> L::V {
        let d = if D > 0 { D } else { self.d };
        let (x, sizes, level, one) = (L::view(self.x), L::view(self.sizes), l.constant(self.level), l.constant(1.0));
        let row = |i: usize| &x[i * d..(i + 1) * d];
        let own: [&[L::V]; R] = std::array::from_fn(|r| row(i + r));
        let mut mine = [l.zero(); R];
        for j in 0..i {
            let xj = row(j);
            let theirs = if SIZES { sizes[j] } else { one };
            for r in 0..R {
                mine[r] = l.add(mine[r], near(l, level, own[r], xj, theirs));
            }
        }
        for r in 0..R {
            for q in 0..r {
                mine[r] = l.add(mine[r], near(l, level, own[r], own[q], if SIZES { sizes[i + q] } else { one }));
            }
            count = if SIZES {
                let within = l.mul(l.constant(0.5), l.sub(sizes[i + r], one));
                l.fma(sizes[i + r], l.add(mine[r], within), count)
            } else {
                l.add(count, mine[r])
            };
        }
        count
    }
}

/// `size` where `<x, y> >= level`.
#[inline(always)]
fn near<L: Lanes<F = f64>>(l: L, level: L::V, x: &[L::V], y: &[L::V], size: L::V) -> L::V {
    let mut inner = l.zero();
    for (a, b) in x.iter().zip(y) {
        inner = l.fma(*a, *b, inner);
    }
    l.select(l.greater(level, inner), l.zero(), size)
}
