//! Heads in parallel.

use super::super::trained::block_collapse::allowed;
use super::query_key_product::{scores, softmax_row};
use crate::attention::pattern::FullAttention;
use crate::theorem::prelude::*;
use crate::transformer::{AttentionLayer, Grouping, Linear};

/// A matrix applied to the concatenation of heads is a sum of its blocks applied to the heads.
pub static ENTRY: Claim = Claim {
    name: "heads-sum",
    title: "Heads: concat(heads) W^O = sum_h W^O_h head_h",
    lets: "two to four heads of size d have normal Q, K, V, let W^O be normal (d x H d), with n \
           normal rows",
    then: "The matrix applied to the concatenation is the sum of its blocks applied to the heads.",
    tested: "in every coordinate to twice the bound of block-collapse; the concatenation is \
             computed by the heads of trained models, the sum by its definition",
    domain: Domain { n: Sizes::Range(1, 8), d: Sizes::Range(1, 5), ..Domain::MAPS },
    source: "arXiv:1706.03762, section 3.2.2",
    trials: (10, 60),
    trial: |case, ctx| {
        let h = Heads::draw(ctx, case);
        h.against(&h.sum(0))
    },
    control: Control {
        what: "the blocks in another order",
        trial: |ctx| {
            let h = Heads::draw(ctx, &Case::new(5, 4, 0.0, "maps of rows"));
            h.against(&h.sum(1))
        },
    },
    ..Claim::IDENTITY
};

/// The outputs of some heads, H times n x d, and a matrix d x H d.
pub(crate) struct Heads {
    n: usize,
    d: usize,
    x: Vec<f64>,
    /// Q, K, V of one head below those of another.
    maps: [Vec<f64>; 3],
    outputs: Vec<Vec<f64>>,
    /// `W^O`.
    pub(crate) last: Vec<f64>,
}

impl Heads {
    /// Softmax heads of normal rows.
    pub(crate) fn draw(ctx: &mut Context, case: &Case) -> Self {
        let (n, d, count) = (case.n, case.d, 2 + ctx.index(3));
        let x = ctx.normals(n * d);
        let size = (d as f64).sqrt().recip();
        let mut maps = [const { Vec::new() }; 3];
        let outputs = (0..count).map(|_| {
            let (q, k, v) =
                (normals(ctx, d * d, size), normals(ctx, d * d, size), normals(ctx, d * d, size));
            let weights: Vec<f64> = scores(&x, &q, &k, d)
                .chunks_exact(n)
                .flat_map(|s| softmax_row(s.to_vec()))
                .collect();
            let values: Vec<f64> = x
                .chunks_exact(d)
                .flat_map(|x| v.chunks_exact(d).map(|r| dot(r, x)).collect::<Vec<f64>>())
                .collect();
            maps.iter_mut().zip([q, k, v]).for_each(|(all, one)| all.extend(one));
            mul(&weights, &values, d)
        });
        let outputs: Vec<Vec<f64>> = outputs.collect();
        Self { n, d, x, maps, outputs, last: normals(ctx, d * d * count, size) }
    }

    /// Number of heads.
    pub(crate) fn count(&self) -> usize {
        self.outputs.len()
    }

    /// The heads in the form of trained models.
    fn trained(&self) -> Result<AttentionLayer> {
        let (d, heads) = (self.d, self.count());
        let map =
            |inputs: usize, weight: &[f64]| Linear::new("map", inputs, weight.to_vec(), Vec::new());
        let [q, k, v] = &self.maps;
        // Trained heads divide logits by sqrt d.
        let q: Vec<f64> = q.iter().map(|q| (d as f64).sqrt() * q).collect();
        let maps = [map(d, &q)?, map(d, k)?, map(d, v)?, map(d * heads, &self.last)?];
        AttentionLayer::new(
            "heads",
            maps,
            Grouping { heads, kv_heads: heads },
            Arc::new(FullAttention),
        )
    }

    /// The sum of block `h + shift` on head h.
    pub(crate) fn sum(&self, shift: usize) -> Vec<f64> {
        let (d, count) = (self.d, self.count());
        let mut out = vec![0.0; self.n * d];
        for (h, o) in self.outputs.iter().enumerate() {
            let block = (h + shift) % count * d;
            for (k, v) in out.iter_mut().enumerate() {
                *v += dot(&self.last[k % d * count * d + block..][..d], &o[k / d * d..][..d]);
            }
        }
        out
    }

    /// The mean of the heads.
    pub(crate) fn mean(&self) -> Vec<f64> {
        (0..self.n * self.d)
            .map(|k| self.outputs.iter().map(|o| o[k]).sum::<f64>() / self.count() as f64)
            .collect()
    }

    /// Compares `W^O` applied to the concatenations, as the library computes it, with another
    /// result.
    pub(crate) fn against(&self, other: &[f64]) -> Result<Finding> {
        let of = self.trained()?;
        let both: Vec<f64> = allowed(&of, &self.x).iter().map(|a| 2.0 * a).collect();
        Ok(Finding::identity(
            max_relative_deviation(&of.attend(&self.x, &self.x, false)?.out, other, &both),
            1.0,
        ))
    }
}
