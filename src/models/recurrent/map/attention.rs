//! Self-attention with a residual connection, on the unit sphere.

use crate::recurrent::trace::{Trace, Var};
use crate::recurrent::{MapSpec, NamedMap, ReceptiveField, TokenMap, normal_matrix};

/// The step of the residual connection.
pub const STEP: f64 = 0.25;

/// Attention with the same matrices in every layer.
pub static ENTRY: NamedMap = NamedMap {
    name: "attention",
    summary: "N(x_i + (1/4) sum_j softmax_j(<Q x_i, K x_j>) V x_j), N(x) = x/|x|, the same matrices in every layer",
    citation: "arXiv:2312.10794, (2.2), with random Q, K, V",
    receptive_field: ReceptiveField::All,
    unit: |_| 1.0 / STEP,
    build: |spec| Box::new(SphereAttention::normal(spec, false)),
};

/// `N(x_i + step sum_j A_ij V x_j)`.
#[derive(Clone, Debug)]
pub struct SphereAttention {
    /// Q, row-major.
    pub query: Vec<f64>,
    /// K.
    pub key: Vec<f64>,
    /// V.
    pub value: Vec<f64>,
    /// Step of the residual connection.
    pub step: f64,
    /// Causal mask: a row sees itself and earlier rows.
    pub causal: bool,
}

impl SphereAttention {
    /// With normally distributed matrices.
    pub fn normal(spec: &MapSpec, causal: bool) -> Self {
        let matrix = |name: &str| normal_matrix(spec.seed, name, (spec.d, spec.d), spec.gain);
        Self {
            query: matrix("query"),
            key: matrix("key"),
            value: matrix("value"),
            step: STEP,
            causal,
        }
    }
}

impl TokenMap for SphereAttention {
    fn record<'a>(&'a self, _: usize, trace: &mut Trace<'a>, rows: &[Var]) -> Vec<Var> {
        let mut images =
            |m: &'a [f64]| rows.iter().map(|x| trace.matrix(m, *x)).collect::<Vec<Var>>();
        let (queries, keys, values) = (images(&self.query), images(&self.key), images(&self.value));
        let mut out = Vec::with_capacity(rows.len());
        for (i, x) in rows.iter().enumerate() {
            let visible = if self.causal { i + 1 } else { rows.len() };
            let scores = trace.scores(queries[i], &keys[..visible]);
            let weights = trace.softmax(scores);
            let mean = trace.mix(weights, &values[..visible]);
            let sum = trace.sum(*x, self.step, mean);
            out.push(trace.unit(sum));
        }
        out
    }
}
