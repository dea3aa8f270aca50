//! Sublayers and blocks linearised at given tokens: what a change of the tokens becomes (`push`), and the transposed product (`pull`).

use super::block::{BlockPart, Placed, TransformerBlock};
use super::{Centring, Mlp, Norm, Projected};
use crate::error::Result;
use crate::num::sum::dot;

/// A norm at given rows: `D N = diag(gain) / sigma (C - z z^T / d)` with `z = C x / sigma`.
pub struct NormAt<'a> {
    norm: &'a Norm,
    /// z, row by row, and 1 / sigma.
    unit: Vec<f64>,
    factor: Vec<f64>,
}

impl<'a> NormAt<'a> {
    /// At these rows.
    pub fn new(norm: &'a Norm, x: &[f64]) -> Self {
        let d = norm.d();
        let (mut unit, mut factor) = (Vec::with_capacity(x.len()), Vec::with_capacity(x.len() / d));
        for row in x.chunks_exact(d) {
            let (mean, sigma) = norm.moments(row);
            let f = if sigma > 0.0 { 1.0 / sigma } else { 0.0 };
            unit.extend(row.iter().map(|v| (v - mean) * f));
            factor.push(f);
        }
        Self { norm, unit, factor }
    }

    /// `DN h`.
    pub fn push(&self, h: &[f64]) -> Vec<f64> {
        let d = self.norm.d();
        let mut out = h.to_vec();
        for ((row, z), f) in out.chunks_exact_mut(d).zip(self.unit.chunks_exact(d)).zip(&self.factor) {
            self.project(row, z, *f);
            row.iter_mut().zip(self.norm.gain()).for_each(|(o, g)| *o *= g);
        }
        out
    }

    /// `DN^T g`.
    pub fn pull(&self, g: &[f64]) -> Vec<f64> {
        let d = self.norm.d();
        let mut out = g.to_vec();
        for ((row, z), f) in out.chunks_exact_mut(d).zip(self.unit.chunks_exact(d)).zip(&self.factor) {
            row.iter_mut().zip(self.norm.gain()).for_each(|(o, g)| *o *= g);
            self.project(row, z, *f);
        }
        out
    }

    /// `(C - z z^T / d) h / sigma`, which is symmetric.
    fn project(&self, h: &mut [f64], z: &[f64], factor: f64) {
        let d = h.len() as f64;
        let mean = if self.norm.centring == Centring::Mean { h.iter().sum::<f64>() / d } else { 0.0 };
        let along = dot(z, h) / d;
        h.iter_mut().zip(z).for_each(|(h, z)| *h = (*h - mean - along * z) * factor);
    }
}

/// A feed-forward layer at given rows.
pub struct MlpAt<'a> {
    mlp: &'a Mlp,
    /// Slopes at the hidden units; with a gate the values of `W_1 x + b_1` and of the gate too.
    slope: Vec<f64>,
    linear: Vec<f64>,
    open: Vec<f64>,
}

impl<'a> MlpAt<'a> {
    /// At these rows.
    pub fn new(mlp: &'a Mlp, x: &[f64]) -> Self {
        let linear = mlp.first.apply(x);
        let (inside, open) = match &mlp.gate {
            None => (linear.clone(), Vec::new()),
            Some(gate) => {
                let inside = gate.apply(x);
                let open = inside.iter().map(|v| mlp.activation.value(*v)).collect();
                (inside, open)
            }
        };
        Self { mlp, slope: inside.iter().map(|v| mlp.activation.slope(*v)).collect(), linear, open }
    }

    /// What a change of the rows becomes.
    pub fn push(&self, h: &[f64]) -> Vec<f64> {
        let mut hidden = self.mlp.first.push(h);
        match &self.mlp.gate {
            None => hidden.iter_mut().zip(&self.slope).for_each(|(h, s)| *h *= s),
            Some(gate) => {
                let change = gate.push(h);
                for (k, h) in hidden.iter_mut().enumerate() {
                    *h = *h * self.open[k] + self.linear[k] * self.slope[k] * change[k];
                }
            }
        }
        self.mlp.second.push(&hidden)
    }

    /// The transposed product.
    pub fn pull(&self, g: &[f64]) -> Vec<f64> {
        let hidden = self.mlp.second.pull(g);
        let times = |f: &[f64]| -> Vec<f64> { hidden.iter().zip(f).map(|(h, f)| h * f).collect() };
        match &self.mlp.gate {
            None => self.mlp.first.pull(&times(&self.slope)),
            Some(gate) => {
                let inside: Vec<f64> = self.slope.iter().zip(&self.linear).map(|(s, l)| s * l).collect();
                let mut out = self.mlp.first.pull(&times(&self.open));
                add(&mut out, &gate.pull(&times(&inside)));
                out
            }
        }
    }
}

/// Heads at given queries and sources.
pub struct ProjectedAt<'a> {
    of: &'a Projected,
    n: usize,
    m: usize,
    q: Vec<f64>,
    k: Vec<f64>,
    v: Vec<f64>,
    weights: Vec<f64>,
}

impl<'a> ProjectedAt<'a> {
    /// At these queries (n x d) and sources (m x d').
    ///
    /// **Errors** a pattern made for something else.
    pub fn new(of: &'a Projected, x: &[f64], y: &[f64]) -> Result<Self> {
        let (n, m) = (x.len() / of.query.inputs(), y.len() / of.key.inputs());
        of.pattern.check(&of.extent(n, m))?;
        let (mut q, mut k, v) = (of.query.apply(x), of.key.apply(y), of.value.apply(y));
        of.place(&mut q, of.grouping.heads, 0);
        of.place(&mut k, of.grouping.sets, 0);
        let weights = of.mix(&q, &k, &v, true).1;
        Ok(Self { of, n, m, q, k, v, weights })
    }

    /// The weights, heads x n x m.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// What changes of queries and sources become.
    pub fn push(&self, hx: &[f64], hy: &[f64]) -> Vec<f64> {
        let of = self.of;
        let (mut dq, mut dk, dv) = (of.query.push(hx), of.key.push(hy), of.value.push(hy));
        of.place(&mut dq, of.grouping.heads, 0);
        of.place(&mut dk, of.grouping.sets, 0);
        let (s, scale) = (of.size(), self.scale());
        let mut mixed = vec![0.0; self.n * of.grouping.heads * s];
        let mut scores = vec![0.0; self.m];
        self.each(|h, g, i, weights| {
            let (query, change) = (self.query_of(&self.q, i, h), self.query_of(&dq, i, h));
            for (j, score) in scores.iter_mut().enumerate() {
                *score = scale * (dot(change, self.key_of(&self.k, j, g)) + dot(query, self.key_of(&dk, j, g)));
            }
            let mean = dot(weights, &scores);
            let out = &mut mixed[(i * of.grouping.heads + h) * s..][..s];
            for (j, w) in weights.iter().enumerate().filter(|(_, w)| **w > 0.0) {
                let factor = w * (scores[j] - mean);
                let (value, moved) = (self.value_of(&self.v, j, g), self.value_of(&dv, j, g));
                out.iter_mut().zip(value.iter().zip(moved)).for_each(|(o, (v, dv))| *o += factor * v + w * dv);
            }
        });
        of.output.push(&mixed)
    }

    /// The transposed product: for queries and for sources.
    pub fn pull(&self, g: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let of = self.of;
        let mixed = of.output.pull(g);
        let (r, s, scale) = (of.rank(), of.size(), self.scale());
        let (mut gq, mut gk, mut gv) = (vec![0.0; self.q.len()], vec![0.0; self.k.len()], vec![0.0; self.v.len()]);
        let mut products = vec![0.0; self.m];
        self.each(|h, set, i, weights| {
            let out = &mixed[(i * of.grouping.heads + h) * s..][..s];
            products.iter_mut().enumerate().for_each(|(j, p)| *p = dot(out, self.value_of(&self.v, j, set)));
            let mean = dot(weights, &products);
            for (j, w) in weights.iter().enumerate().filter(|(_, w)| **w > 0.0) {
                let factor = scale * w * (products[j] - mean);
                let (at_q, at_k) = ((i * of.grouping.heads + h) * r, (j * of.grouping.sets + set) * r);
                axpy(factor, &self.k[at_k..at_k + r], &mut gq[at_q..at_q + r]);
                axpy(factor, &self.q[at_q..at_q + r], &mut gk[at_k..at_k + r]);
                axpy(*w, out, &mut gv[(j * of.grouping.sets + set) * s..][..s]);
            }
        });
        self.unplace(&mut gq, of.grouping.heads);
        self.unplace(&mut gk, of.grouping.sets);
        let mut sources = of.key.pull(&gk);
        add(&mut sources, &of.value.pull(&gv));
        (of.query.pull(&gq), sources)
    }

    /// The transposed `R_i`, from its columns.
    fn unplace(&self, images: &mut [f64], each: usize) {
        if !self.of.pattern.turns() {
            return;
        }
        let r = self.of.rank();
        let mut column = vec![0.0; r];
        for (i, row) in images.chunks_exact_mut(each * r).enumerate() {
            let columns: Vec<Vec<f64>> = (0..r)
                .map(|c| {
                    column.fill(0.0);
                    column[c] = 1.0;
                    self.of.pattern.place(i, &mut column);
                    column.clone()
                })
                .collect();
            for image in row.chunks_exact_mut(r) {
                let pulled: Vec<f64> = columns.iter().map(|c| dot(c, image)).collect();
                image.copy_from_slice(&pulled);
            }
        }
    }

    fn each(&self, mut f: impl FnMut(usize, usize, usize, &[f64])) {
        let (heads, sets) = (self.of.grouping.heads, self.of.grouping.sets);
        for h in 0..heads {
            for i in 0..self.n {
                f(h, h / (heads / sets), i, &self.weights[(h * self.n + i) * self.m..][..self.m]);
            }
        }
    }

    fn scale(&self) -> f64 {
        1.0 / (self.of.rank() as f64).sqrt()
    }

    fn query_of<'b>(&self, q: &'b [f64], i: usize, h: usize) -> &'b [f64] {
        &q[(i * self.of.grouping.heads + h) * self.of.rank()..][..self.of.rank()]
    }

    fn key_of<'b>(&self, k: &'b [f64], j: usize, g: usize) -> &'b [f64] {
        &k[(j * self.of.grouping.sets + g) * self.of.rank()..][..self.of.rank()]
    }

    fn value_of<'b>(&self, v: &'b [f64], j: usize, g: usize) -> &'b [f64] {
        &v[(j * self.of.grouping.sets + g) * self.of.size()..][..self.of.size()]
    }
}

enum PartAt<'a> {
    Attention(ProjectedAt<'a>),
    Cross(ProjectedAt<'a>),
    Mlp(MlpAt<'a>),
}

/// A sublayer with its norms at given tokens.
pub struct PlacedAt<'a> {
    part: PartAt<'a>,
    inner: Option<NormAt<'a>>,
    outer: Option<NormAt<'a>>,
    after: Option<NormAt<'a>>,
    eta: f64,
    /// What the sublayer makes of the tokens.
    pub next: Vec<f64>,
}

impl<'a> PlacedAt<'a> {
    /// At these tokens, the memory fixed, of step `eta`.
    ///
    /// **Errors** as [`Placed::output`].
    pub fn new(of: &'a Placed, x: &[f64], memory: Option<&[f64]>, eta: f64) -> Result<Self> {
        let normed = of.inner.as_ref().map(|n| n.apply(x));
        let inside = normed.as_deref().unwrap_or(x);
        let f = of.output(x, memory, false)?.0;
        let (part, raw) = match &of.part {
            BlockPart::Attention(a) => (PartAt::Attention(ProjectedAt::new(a, inside, inside)?), None),
            BlockPart::Cross(a) => (PartAt::Cross(ProjectedAt::new(a, inside, memory.unwrap_or(&[]))?), None),
            BlockPart::Mlp(m) => (PartAt::Mlp(MlpAt::new(m, inside)), Some(m)),
        };
        let outer = match (&of.outer, raw) {
            (None, _) => None,
            (Some(norm), Some(m)) => Some(NormAt::new(norm, &m.apply(inside))),
            (Some(norm), None) => {
                let bare = Placed { part: of.part.clone(), inner: None, outer: None, after: None };
                Some(NormAt::new(norm, &bare.output(inside, memory, false)?.0))
            }
        };
        let sum: Vec<f64> = x.iter().zip(&f).map(|(x, f)| x + eta * f).collect();
        let after = of.after.as_ref().map(|n| NormAt::new(n, &sum));
        let next = of.after.as_ref().map_or(sum.clone(), |n| n.apply(&sum));
        Ok(Self { part, inner: of.inner.as_ref().map(|n| NormAt::new(n, x)), outer, after, eta, next })
    }

    /// What a change of the tokens becomes.
    pub fn push(&self, h: &[f64]) -> Vec<f64> {
        let inside = self.inner.as_ref().map_or_else(|| h.to_vec(), |n| n.push(h));
        let f = match &self.part {
            PartAt::Attention(a) => a.push(&inside, &inside),
            PartAt::Cross(a) => a.push(&inside, &vec![0.0; a.m * a.of.key.inputs()]),
            PartAt::Mlp(m) => m.push(&inside),
        };
        let f = self.outer.as_ref().map_or_else(|| f.clone(), |n| n.push(&f));
        let sum: Vec<f64> = h.iter().zip(&f).map(|(h, f)| h + self.eta * f).collect();
        self.after.as_ref().map_or_else(|| sum.clone(), |n| n.push(&sum))
    }

    /// The transposed product.
    pub fn pull(&self, g: &[f64]) -> Vec<f64> {
        let sum = self.after.as_ref().map_or_else(|| g.to_vec(), |n| n.pull(g));
        let f: Vec<f64> = sum.iter().map(|v| self.eta * v).collect();
        let f = self.outer.as_ref().map_or_else(|| f.clone(), |n| n.pull(&f));
        let inside = match &self.part {
            PartAt::Attention(a) => {
                let (mut x, y) = a.pull(&f);
                add(&mut x, &y);
                x
            }
            PartAt::Cross(a) => a.pull(&f).0,
            PartAt::Mlp(m) => m.pull(&f),
        };
        let mut out = self.inner.as_ref().map_or_else(|| inside.clone(), |n| n.pull(&inside));
        add(&mut out, &sum);
        out
    }
}

/// A block at given tokens.
pub struct BlockAt<'a> {
    parts: Vec<PlacedAt<'a>>,
}

impl<'a> BlockAt<'a> {
    /// At these tokens, the memory fixed, of step `eta`.
    ///
    /// **Errors** as [`Placed::output`].
    pub fn new(of: &'a TransformerBlock, x: &[f64], memory: Option<&[f64]>, eta: f64) -> Result<Self> {
        let mut parts: Vec<PlacedAt> = Vec::with_capacity(of.parts.len());
        for part in &of.parts {
            let x = parts.last().map_or(x, |p| &p.next);
            let next = PlacedAt::new(part, x, memory, eta)?;
            parts.push(next);
        }
        Ok(Self { parts })
    }

    /// What the block makes of the tokens.
    pub fn next(&self) -> &[f64] {
        self.parts.last().map_or(&[], |p| &p.next)
    }

    /// What a change of the tokens becomes.
    pub fn push(&self, h: &[f64]) -> Vec<f64> {
        self.parts.iter().fold(h.to_vec(), |h, p| p.push(&h))
    }

    /// The transposed product.
    pub fn pull(&self, g: &[f64]) -> Vec<f64> {
        self.parts.iter().rev().fold(g.to_vec(), |g, p| p.pull(&g))
    }
}

fn add(a: &mut [f64], b: &[f64]) {
    a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
}

fn axpy(factor: f64, x: &[f64], y: &mut [f64]) {
    y.iter_mut().zip(x).for_each(|(y, x)| *y += factor * x);
}
