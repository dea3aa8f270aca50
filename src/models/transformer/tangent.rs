//! Sublayers and blocks linearised at given tokens: values, Jacobian-vector products and their
//! transposes.

use super::block::{BlockPart, ResidualSublayer, TransformerBlock, residual_sum};
use super::{AttentionLayer, AttentionOutput, Centring, Mlp, Norm};
use crate::error::Result;
use crate::num::linearised::{Chain, Linearised};
use crate::num::sum::dot;

/// A norm linearised at given rows: `D N = diag(gain) / sigma (C - z z^T / d)` with
/// `z = C x / sigma`.
pub struct LinearisedNorm<'a> {
    norm: &'a Norm,
    /// z, row by row, and 1 / sigma.
    unit: Vec<f64>,
    factor: Vec<f64>,
    value: Vec<f64>,
}

impl<'a> LinearisedNorm<'a> {
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
        Self { norm, unit, factor, value: norm.apply(x) }
    }

    /// `(C - z z^T / d) h / sigma`, which is symmetric.
    fn project(&self, h: &mut [f64], z: &[f64], factor: f64) {
        let d = h.len() as f64;
        let mean =
            if self.norm.centring == Centring::Mean { h.iter().sum::<f64>() / d } else { 0.0 };
        let along = dot(z, h) / d;
        h.iter_mut().zip(z).for_each(|(h, z)| *h = (*h - mean - along * z) * factor);
    }
}

impl Linearised for LinearisedNorm<'_> {
    fn value(&self) -> &[f64] {
        &self.value
    }

    fn jvp(&self, h: &[f64]) -> Vec<f64> {
        let d = self.norm.d();
        let mut out = h.to_vec();
        for ((row, z), f) in
            out.chunks_exact_mut(d).zip(self.unit.chunks_exact(d)).zip(&self.factor)
        {
            self.project(row, z, *f);
            row.iter_mut().zip(self.norm.gain()).for_each(|(o, g)| *o *= g);
        }
        out
    }

    fn vjp(&self, g: &[f64]) -> Vec<f64> {
        let d = self.norm.d();
        let mut out = g.to_vec();
        for ((row, z), f) in
            out.chunks_exact_mut(d).zip(self.unit.chunks_exact(d)).zip(&self.factor)
        {
            row.iter_mut().zip(self.norm.gain()).for_each(|(o, g)| *o *= g);
            self.project(row, z, *f);
        }
        out
    }
}

/// A feed-forward layer linearised at given rows.
pub struct LinearisedMlp<'a> {
    mlp: &'a Mlp,
    /// Slopes of the activation at the hidden units; with a gate also `W_1 x + b_1` and the values
    /// of the gate.
    slope: Vec<f64>,
    linear: Vec<f64>,
    gate_value: Vec<f64>,
    value: Vec<f64>,
}

impl<'a> LinearisedMlp<'a> {
    /// At these rows.
    pub fn new(mlp: &'a Mlp, x: &[f64]) -> Self {
        let linear = mlp.first.apply(x);
        let (inside, gate_value) = match &mlp.gate {
            None => (linear.clone(), Vec::new()),
            Some(gate) => {
                let inside = gate.apply(x);
                let gate_value = inside.iter().map(|v| mlp.activation.value(*v)).collect();
                (inside, gate_value)
            }
        };
        Self {
            mlp,
            slope: inside.iter().map(|v| mlp.activation.slope(*v)).collect(),
            linear,
            gate_value,
            value: mlp.apply(x),
        }
    }
}

impl Linearised for LinearisedMlp<'_> {
    fn value(&self) -> &[f64] {
        &self.value
    }

    fn jvp(&self, h: &[f64]) -> Vec<f64> {
        let mut hidden = self.mlp.first.jvp(h);
        match &self.mlp.gate {
            None => hidden.iter_mut().zip(&self.slope).for_each(|(h, s)| *h *= s),
            Some(gate) => {
                let change = gate.jvp(h);
                for (k, h) in hidden.iter_mut().enumerate() {
                    *h = *h * self.gate_value[k] + self.linear[k] * self.slope[k] * change[k];
                }
            }
        }
        self.mlp.second.jvp(&hidden)
    }

    fn vjp(&self, g: &[f64]) -> Vec<f64> {
        let hidden = self.mlp.second.vjp(g);
        let times = |f: &[f64]| -> Vec<f64> { hidden.iter().zip(f).map(|(h, f)| h * f).collect() };
        match &self.mlp.gate {
            None => self.mlp.first.vjp(&times(&self.slope)),
            Some(gate) => {
                let inside: Vec<f64> =
                    self.slope.iter().zip(&self.linear).map(|(s, l)| s * l).collect();
                let mut out = self.mlp.first.vjp(&times(&self.gate_value));
                add(&mut out, &gate.vjp(&times(&inside)));
                out
            }
        }
    }
}

/// Attention linearised at given queries and sources: as a map of the queries, or of tokens that
/// are both.
pub struct LinearisedAttention<'a> {
    of: &'a AttentionLayer,
    /// True if the sources are the queries.
    self_attention: bool,
    n: usize,
    m: usize,
    q: Vec<f64>,
    k: Vec<f64>,
    v: Vec<f64>,
    weights: Vec<f64>,
    value: Vec<f64>,
}

impl<'a> LinearisedAttention<'a> {
    /// Self-attention of tokens (n x d).
    ///
    /// **Errors** a pattern for other sizes.
    pub fn self_attention(of: &'a AttentionLayer, x: &[f64]) -> Result<Self> {
        Ok(Self { self_attention: true, ..Self::new(of, x, x)? })
    }

    /// Queries (n x d) and fixed sources (m x d').
    ///
    /// **Errors** a pattern for other sizes.
    pub fn new(of: &'a AttentionLayer, x: &[f64], y: &[f64]) -> Result<Self> {
        let (n, m) = (x.len() / of.query.inputs(), y.len() / of.key.inputs());
        of.pattern.check(&of.extent(n, m))?;
        let [q, k, v] = of.project(x, y, 0);
        let AttentionOutput { out: value, weights } = of.attend_images(&q, &k, &v, 0, true);
        Ok(Self { of, self_attention: false, n, m, q, k, v, weights, value })
    }

    /// The weights, heads x n x m.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// The Jacobian times a change of queries and a change of sources.
    pub fn jvp_separate(&self, hx: &[f64], hy: &[f64]) -> Vec<f64> {
        let of = self.of;
        let (mut dq, mut dk, dv) = (of.query.jvp(hx), of.key.jvp(hy), of.value.jvp(hy));
        of.rotate(&mut dq, of.grouping.heads, 0);
        of.rotate(&mut dk, of.grouping.kv_heads, 0);
        let (r, s, kv_heads, scale) = self.sizes();
        let mut mixed = vec![0.0; self.n * of.grouping.heads * s];
        let mut scores = vec![0.0; self.m];
        self.for_each_query(|query, g, weights| {
            for (j, score) in scores.iter_mut().enumerate() {
                let key = j * kv_heads + g;
                let own = dot(part(&dq, query, r), part(&self.k, key, r));
                *score = scale * (own + dot(part(&self.q, query, r), part(&dk, key, r)));
            }
            let mean = dot(weights, &scores);
            let out = &mut mixed[query * s..][..s];
            for (j, w) in weights.iter().enumerate().filter(|(_, w)| **w > 0.0) {
                let (value, change) =
                    (part(&self.v, j * kv_heads + g, s), part(&dv, j * kv_heads + g, s));
                let factor = w * (scores[j] - mean);
                out.iter_mut()
                    .zip(value.iter().zip(change))
                    .for_each(|(o, (v, dv))| *o += factor * v + w * dv);
            }
        });
        of.output.jvp(&mixed)
    }

    /// The transposed Jacobian times g: the parts for queries and for sources.
    pub fn vjp_separate(&self, g: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let of = self.of;
        let mixed = of.output.vjp(g);
        let (r, s, kv_heads, scale) = self.sizes();
        let (mut gq, mut gk, mut gv) =
            (vec![0.0; self.q.len()], vec![0.0; self.k.len()], vec![0.0; self.v.len()]);
        let mut products = vec![0.0; self.m];
        self.for_each_query(|query, g, weights| {
            let out = part(&mixed, query, s);
            products
                .iter_mut()
                .enumerate()
                .for_each(|(j, p)| *p = dot(out, part(&self.v, j * kv_heads + g, s)));
            let mean = dot(weights, &products);
            for (j, w) in weights.iter().enumerate().filter(|(_, w)| **w > 0.0) {
                let (key, factor) = (j * kv_heads + g, scale * w * (products[j] - mean));
                axpy(factor, part(&self.k, key, r), &mut gq[query * r..][..r]);
                axpy(factor, part(&self.q, query, r), &mut gk[key * r..][..r]);
                axpy(*w, out, &mut gv[key * s..][..s]);
            }
        });
        self.rotate_back(&mut gq, of.grouping.heads);
        self.rotate_back(&mut gk, kv_heads);
        let mut sources = of.key.vjp(&gk);
        add(&mut sources, &of.value.vjp(&gv));
        (of.query.vjp(&gq), sources)
    }

    /// Lengths of a query and of a value, number of heads of keys, and the factor of the logits.
    fn sizes(&self) -> (usize, usize, usize, f64) {
        let of = self.of;
        (of.rank(), of.size(), of.grouping.kv_heads, of.logit_factor())
    }

    /// Applies the transposed rotations `R_i^T`, from the columns of `R_i`.
    fn rotate_back(&self, images: &mut [f64], each: usize) {
        if !self.of.pattern.is_rotary() {
            return;
        }
        let r = self.of.rank();
        for (i, row) in images.chunks_exact_mut(each * r).enumerate() {
            let columns: Vec<Vec<f64>> = (0..r)
                .map(|c| {
                    let mut column = vec![0.0; r];
                    column[c] = 1.0;
                    self.of.pattern.rotate(i, &mut column);
                    column
                })
                .collect();
            for image in row.chunks_exact_mut(r) {
                let pulled: Vec<f64> = columns.iter().map(|c| dot(c, image)).collect();
                image.copy_from_slice(&pulled);
            }
        }
    }

    /// Calls f for every query of every head: its index in `q`, its head of keys, and its weights.
    fn for_each_query(&self, mut f: impl FnMut(usize, usize, &[f64])) {
        let grouping = self.of.grouping;
        for (k, weights) in self.weights.chunks_exact(self.m.max(1)).enumerate() {
            let (h, i) = (k / self.n, k % self.n);
            f(i * grouping.heads + h, grouping.source_head(h), weights);
        }
    }
}

impl Linearised for LinearisedAttention<'_> {
    fn value(&self) -> &[f64] {
        &self.value
    }

    fn jvp(&self, h: &[f64]) -> Vec<f64> {
        if self.self_attention {
            self.jvp_separate(h, h)
        } else {
            self.jvp_separate(h, &vec![0.0; self.m * self.of.key.inputs()])
        }
    }

    fn vjp(&self, g: &[f64]) -> Vec<f64> {
        let (mut x, y) = self.vjp_separate(g);
        if self.self_attention {
            add(&mut x, &y);
        }
        x
    }
}

/// A sublayer with its norms linearised at given tokens: `after(x + eta branch(x))`.
pub struct LinearisedSublayer<'a> {
    branch: Chain<'a>,
    after: Chain<'a>,
    eta: f64,
}

impl<'a> LinearisedSublayer<'a> {
    /// At these tokens, with a fixed memory and step `eta`.
    ///
    /// **Errors** as [`ResidualSublayer::output`].
    pub fn new(
        of: &'a ResidualSublayer,
        x: &[f64],
        memory: Option<&[f64]>,
        eta: f64,
    ) -> Result<Self> {
        let mut branch = Chain::new(x);
        if let Some(norm) = &of.inner {
            branch.push(LinearisedNorm::new(norm, x));
        }
        match &of.part {
            BlockPart::Attention(a) => {
                branch.push(LinearisedAttention::self_attention(a, branch.value())?)
            }
            BlockPart::Cross(a) => {
                branch.push(LinearisedAttention::new(a, branch.value(), of.memory(memory)?)?)
            }
            BlockPart::Mlp(m) => branch.push(LinearisedMlp::new(m, branch.value())),
        }
        if let Some(norm) = &of.outer {
            branch.push(LinearisedNorm::new(norm, branch.value()));
        }
        let sum = residual_sum(x, branch.value(), eta);
        let mut after = Chain::new(&sum);
        if let Some(norm) = &of.after {
            after.push(LinearisedNorm::new(norm, &sum));
        }
        Ok(Self { branch, after, eta })
    }
}

impl Linearised for LinearisedSublayer<'_> {
    fn value(&self) -> &[f64] {
        self.after.value()
    }

    fn jvp(&self, h: &[f64]) -> Vec<f64> {
        self.after.jvp(&residual_sum(h, &self.branch.jvp(h), self.eta))
    }

    fn vjp(&self, g: &[f64]) -> Vec<f64> {
        let sum = self.after.vjp(g);
        residual_sum(&sum, &self.branch.vjp(&sum), self.eta)
    }
}

/// A block linearised at these tokens, with a fixed memory and step `eta`.
///
/// **Errors** as [`ResidualSublayer::output`].
pub fn linearised<'a>(
    of: &'a TransformerBlock,
    x: &[f64],
    memory: Option<&[f64]>,
    eta: f64,
) -> Result<Chain<'a>> {
    let mut parts = Chain::new(x);
    for part in &of.parts {
        parts.push(LinearisedSublayer::new(part, parts.value(), memory, eta)?);
    }
    Ok(parts)
}

/// The k-th chunk of this width.
fn part(numbers: &[f64], k: usize, width: usize) -> &[f64] {
    &numbers[k * width..][..width]
}

fn add(a: &mut [f64], b: &[f64]) {
    a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
}

fn axpy(factor: f64, x: &[f64], y: &mut [f64]) {
    y.iter_mut().zip(x).for_each(|(y, x)| *y += factor * x);
}
