//! Systems of equal shape, in groups of one vector.

use super::count_pairs::CountPairs;
use super::field::{self, BatchField};
use crate::num::aligned::AlignedVec;
use crate::num::simd::Isa;
use crate::sphere::Tokens;

/// Systems of equal shape, in groups of one vector: lane k of a group is one system.
pub struct Batch {
    n: usize,
    d: usize,
    count: usize,
    isa: Isa,
    /// Per group, token and coordinate: one vector, with a system in each lane.
    x: AlignedVec<f64>,
    /// Number of initial tokens in each token, in the same layout; empty if all are 1.
    sizes: AlignedVec<f64>,
    /// Number of initial tokens of a system.
    initial_tokens: usize,
    /// For one group: drifts in the layout of `x`, then one vector of masses per token.
    sums: AlignedVec<f64>,
}

impl Batch {
    /// Packs systems of equal shape; `None` if there are none or their shapes differ.
    pub fn new(systems: &[Tokens], isa: Isa) -> Option<Self> {
        let (n, d) = (systems.first()?.n(), systems[0].d());
        if systems.iter().any(|s| s.n() != n || s.d() != d) {
            return None;
        }
        let width = isa.width::<f64>();
        let (mut x, mut sums, sizes) =
            (AlignedVec::default(), AlignedVec::default(), AlignedVec::default());
        x.resize(systems.len().next_multiple_of(width) * n * d);
        sums.reset(n * (d + 1) * width);
        for (g, group) in x.chunks_exact_mut(n * d * width).enumerate() {
            for lane in 0..width {
                // The last group is padded with copies of its last system.
                let system = &systems[(g * width + lane).min(systems.len() - 1)];
                group
                    .iter_mut()
                    .skip(lane)
                    .step_by(width)
                    .zip(system.coordinates())
                    .for_each(|(x, v)| *x = *v);
            }
        }
        Some(Self { n, d, count: systems.len(), isa, x, sizes, initial_tokens: n, sums })
    }

    /// Number of systems.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Always false: [`Batch::new`] makes no empty batch.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Copies system k into `tokens`, which must have its shape.
    pub fn read(&self, k: usize, tokens: &mut Tokens) {
        let width = self.isa.width::<f64>();
        let group = &self.x[k / width * self.n * self.d * width..];
        tokens
            .coordinates_mut()
            .iter_mut()
            .zip(group.iter().skip(k % width).step_by(width))
            .for_each(|(t, x)| *t = *x);
    }

    /// Resizes to one group of n merged tokens; returns their coordinates and sizes, for the caller
    /// to write.
    pub fn resize_merged(&mut self, n: usize) -> (&mut [f64], &mut [f64]) {
        let width = self.isa.width::<f64>();
        self.n = n;
        self.x.resize(n * self.d * width);
        self.sizes.resize(n * width);
        (&mut self.x, &mut self.sizes)
    }

    /// For every system, appends the fraction of pairs `i != j` of initial tokens with
    /// `<x_i, x_j> >= threshold`.
    pub fn pair_share(&self, threshold: f64, out: &mut Vec<f64>) {
        let width = self.isa.width::<f64>();
        let first = out.len();
        let sizes = self.sizes.chunks(self.n * width).chain(std::iter::repeat(&[][..]));
        for (group, sizes) in self.x.chunks_exact(self.n * self.d * width).zip(sizes) {
            let mut counts = [0.0; 8];
            self.isa.run(CountPairs { threshold, d: self.d, x: group, sizes, counts: &mut counts });
            let pairs = (self.initial_tokens * (self.initial_tokens - 1) / 2).max(1) as f64;
            out.extend(
                counts[..width]
                    .iter()
                    .map(|c| if self.initial_tokens > 1 { c / pairs } else { 1.0 }),
            );
        }
        out.truncate(first + self.count);
    }

    /// One layer `x_i <- normalise(x_i + eta a_i)` of every system; `eta` may be infinite. A token
    /// whose update vanishes is left unchanged.
    ///
    /// **Accuracy** as a single layer. **Cost** `n^2/2` exponentials per system in full lanes.
    pub fn apply_layer(&mut self, field: &BatchField, eta: f64) {
        let size = self.n * self.d * self.isa.width::<f64>();
        for group in self.x.chunks_exact_mut(size) {
            self.isa.run(field::BatchLayer {
                field,
                isa: self.isa,
                eta,
                n: self.n,
                d: self.d,
                x: group,
                sums: &mut self.sums,
            });
        }
    }
}
