//! Attention for rescaled tokens `z = e^{-tV} x` (arXiv:2305.05465):
//! `z_i' = sum_j A_ij V (z_j - z_i)` with the weights of `e^{tV} z`.

use super::kernel::{OutputForm, Workspace};
use super::sublayer::{Input, Properties, Sublayer};
use super::{Head, Matrix};
use crate::error::Result;
use crate::num::dense::{eigenvalues, exponential, identity, mul, mul_into, transpose_mul};
use crate::num::semigroup::{ExponentialCache, Semigroup};
use crate::num::simd::Isa;
use crate::num::vector::scale;
use crate::sphere::Tokens;
use metastable_kernels::shifted_softmax::{Scores, SoftmaxWorkspace};

/// One head with the matrices `Q e^{tV}` and `K e^{tV}` at time t. **Cost** that of the head and
/// about 15 products of d x d matrices; three products [without a
/// pattern](RescaledAttention::without_pattern).
///
/// The output is NaN once `e^{tV}` exceeds `f64`, except [without a
/// pattern](RescaledAttention::without_pattern).
pub struct RescaledAttention {
    d: usize,
    /// `beta` and `causal` of softmax attention without a pattern.
    without_pattern: Option<(f64, bool)>,
    /// The largest real part of an eigenvalue of V.
    growth_rate: f64,
    /// Q, K, V, O; the identity if absent.
    matrices: [Option<Matrix>; 4],
    value: Vec<f64>,
    /// `e^{t (V - growth)}`.
    shifted: Semigroup,
    /// `K^T Q`.
    key_query_product: Vec<f64>,
    isa: Isa,
    initial: Box<dyn Sublayer>,
    make_sublayer: Box<dyn Fn(Head) -> Box<dyn Sublayer> + Send + Sync>,
}

impl RescaledAttention {
    /// Rescaled attention with the matrices Q, K, V and O. `make_sublayer` builds the sublayer of a
    /// head.
    ///
    /// **Errors** those of the head.
    pub fn new(
        d: usize,
        matrices: [Option<Matrix>; 4],
        make_sublayer: impl Fn(Head) -> Box<dyn Sublayer> + Send + Sync + 'static,
    ) -> Result<Self> {
        let head = build_head(d, matrices.clone())?;
        let [q, k, v] = head.matrices();
        let or_identity = |m: Option<&[f64]>| m.map_or_else(|| identity(d), <[f64]>::to_vec);
        let (value, q) = (or_identity(v), or_identity(q));
        let key_query_product = transpose_mul(&or_identity(k), &q, q.len() / d);
        let real_parts = eigenvalues(&value, d).unwrap_or_default();
        let growth_rate = real_parts.iter().map(|v| v.0).fold(f64::NEG_INFINITY, f64::max);
        let shifted = value
            .iter()
            .enumerate()
            .map(|(k, v)| if k / d == k % d { v - growth_rate } else { *v })
            .collect();
        let shifted = Semigroup::new(shifted, d);
        Ok(Self {
            d,
            without_pattern: None,
            growth_rate,
            matrices,
            value,
            shifted,
            key_query_product,
            isa: Isa::best(),
            initial: make_sublayer(head),
            make_sublayer: Box::new(make_sublayer),
        })
    }

    /// Declares that the attention is softmax attention without a pattern, `causal` or not. Each
    /// row is then evaluated from the differences of its scores to the largest one, and these from
    /// differences of tokens. No score is formed, so any time can be reached. **Cost** `n^2`
    /// exponentials and `6 n^2 d` operations, in SIMD lanes.
    #[must_use]
    pub fn without_pattern(self, beta: f64, causal: bool) -> Self {
        Self { without_pattern: Some((beta, causal)), ..self }
    }

    /// Sets the instruction set.
    #[must_use]
    pub fn with_isa(self, isa: Isa) -> Self {
        Self { isa, ..self }
    }

    /// The matrix `B = e^{-2 g t} e^{tV^T} K^T Q e^{tV}`, row-major, with the growth rate g. The
    /// score of z_i and z_j is `e^{2 g t} <B z_i, z_j>`.
    fn score_form(&self, t: f64, Forms { cache, growth, image, form }: &mut Forms) {
        let d = self.d;
        growth.resize(d * d, 0.0);
        image.resize(d * d, 0.0);
        self.shifted.evaluate(t, cache, growth);
        mul_into(&self.key_query_product, growth, d, image);
        *form = transpose_mul(growth, image, d);
    }

    /// `V sum_j A_ij (z_j - z_i)`, from differences of scores to the largest of each row.
    fn evaluate_by_leaders(
        &self,
        input: &Input,
        (beta, causal): (f64, bool),
        work: &mut Workspace,
        out: &mut [f64],
    ) {
        let (forms, room) = work.buffers::<(Forms, SoftmaxWorkspace)>();
        self.score_form(input.t, forms);
        scale(beta, &mut forms.form);
        Scores {
            form: &forms.form,
            value: &self.value,
            log_scale: 2.0 * self.growth_rate * input.t,
            causal,
        }
        .weighted_differences(input.tokens, self.isa, room, out);
    }

    /// The sublayer at time t; `None` if its matrices exceed `f64`.
    fn sublayer_at(&self, t: f64) -> Option<Box<dyn Sublayer>> {
        let scaled: Vec<f64> = self.value.iter().map(|v| t * v).collect();
        let growth = exponential(&scaled, self.d);
        let [q, k, v, o] = self.matrices.clone();
        let image = |m: Option<Matrix>| match m {
            Some((rows, m)) => Some((rows, mul(&m, &growth, self.d))),
            None => Some((self.d, growth.clone())),
        };
        build_head(self.d, [image(q), image(k), v, o]).ok().map(&self.make_sublayer)
    }
}

/// Matrices of one evaluation.
#[derive(Default)]
struct Forms {
    cache: ExponentialCache,
    growth: Vec<f64>,
    image: Vec<f64>,
    form: Vec<f64>,
}

fn build_head(d: usize, [q, k, v, o]: [Option<Matrix>; 4]) -> Result<Head> {
    match o {
        Some(o) => Head::with_output(d, q, k, v, o),
        None => Head::new(d, q, k, v),
    }
}

impl Sublayer for RescaledAttention {
    fn evaluate(&self, input: &Input, form: OutputForm, work: &mut Workspace, out: &mut [f64]) {
        if let (Some(plain), OutputForm::Difference) = (self.without_pattern, form) {
            return self.evaluate_by_leaders(input, plain, work, out);
        }
        match self.sublayer_at(input.t) {
            Some(sublayer) => sublayer.evaluate(input, form, work, out),
            None => out.fill(f64::NAN),
        }
    }

    fn properties(&self) -> Properties {
        let Properties { common_field, permutation_equivariant, causal, odd, .. } =
            self.initial.properties();
        Properties { common_field, permutation_equivariant, causal, odd, ..Properties::default() }
    }

    fn length_scale(&self) -> f64 {
        self.initial.length_scale()
    }

    fn accuracy(&self) -> f64 {
        self.initial.accuracy()
    }

    fn algorithm(&self, tokens: &Tokens, form: OutputForm) -> Result<&'static str> {
        self.initial.algorithm(tokens, form)
    }

    fn definition(&self, input: &Input, form: OutputForm) -> Option<Vec<f64>> {
        self.sublayer_at(input.t)?.definition(input, form)
    }
}
