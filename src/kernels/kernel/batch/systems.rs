//! Systems of one shape in groups of one vector.

use super::count::Count;
use super::pairs::LARGEST_D;
use super::pull::{self, Pull};
use crate::kernel::attention::Attention;
use crate::num::aligned::Aligned;
use crate::num::simd::Level;
use crate::sphere::Tokens;

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
    pub const LARGEST_D: usize = LARGEST_D;

    /// True when systems of this attention can be batched.
    pub fn suits(attention: &Attention, start: &Tokens) -> bool {
        pull::suits(attention, start.d()) && start.uniform_mass().is_some()
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
    pub fn merged(&mut self, n: usize) -> (&mut [f64], &mut [f64]) {
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
        let pull = &Pull::of(attention, (self.n, self.d));
        for group in self.x.chunks_exact_mut(size) {
            self.level.run(pull::Layer { pull, level: self.level, eta, n: self.n, d: self.d, x: group, sums: &mut self.sums });
        }
    }
}
