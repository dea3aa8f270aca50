//! Tokens from which `e^{tV}` is taken off (arXiv:2305.05465): `z_i' = sum_j A_ij V (z_j - z_i)` with the weights of `e^{tV} z`.

use super::head::{Head, Matrix};
use super::kernel::{Form, Workspace};
use super::leaders::{Room, Scores};
use super::sublayer::{At, Facts, Sublayer};
use crate::error::Result;
use crate::num::dense::{eigenvalues, exponential, mat_vec, mul, transpose_mul};
use crate::num::simd::Level;
use crate::sphere::Tokens;
use std::borrow::Cow;

/// One head whose Q and K become `Q e^{tV}` and `K e^{tV}`. **Cost** beside that of the head, some 15 products of d x d matrices.
///
/// Not a number from where `e^{tV}` exceeds `f64`, unless it is [plain](Rescored::plain).
pub struct Rescored {
    d: usize,
    /// Inverse temperature and mask of softmax attention without a pattern.
    plain: Option<(f64, bool)>,
    /// The largest real part of an eigenvalue of V.
    growth: f64,
    /// The identity where absent.
    matrices: [Option<Matrix>; 4],
    value: Vec<f64>,
    level: Level,
    at_start: Box<dyn Sublayer>,
    with: Box<dyn Fn(Head) -> Box<dyn Sublayer> + Send + Sync>,
}

impl Rescored {
    /// The sublayer that `with` makes of a head with these matrices Q, K, V and O.
    ///
    /// **Errors** those of the head.
    pub fn new(d: usize, matrices: [Option<Matrix>; 4], with: impl Fn(Head) -> Box<dyn Sublayer> + Send + Sync + 'static) -> Result<Self> {
        let head = build(d, matrices.clone())?;
        let value = head.matrices()[2].map_or_else(|| crate::num::dense::identity(d), <[f64]>::to_vec);
        let real_parts = eigenvalues(&value, d).unwrap_or_default();
        let growth = real_parts.iter().map(|v| v.0).fold(f64::NEG_INFINITY, f64::max);
        Ok(Self { d, plain: None, growth, matrices, value, level: Level::best(), at_start: with(head), with: Box::new(with) })
    }

    /// Softmax attention without a pattern, `causal` or not: evaluated by differences of scores to the leader of each row, which are formed from differences of
    /// tokens; no score is ever formed, so that any time is reached. **Cost** `n^2` exponentials and `6 n^2 d` operations, in lanes.
    #[must_use]
    pub fn plain(self, beta: f64, causal: bool) -> Self {
        Self { plain: Some((beta, causal)), ..self }
    }

    /// The same at this level of lanes.
    #[must_use]
    pub fn at(self, level: Level) -> Self {
        Self { level, ..self }
    }

    /// `e^{-2 growth t} e^{tV^T} K^T Q e^{tV}`, by rows: the score of z_i and z_j is `e^{2 growth t} <this z_i, z_j>`.
    fn score_form(&self, t: f64) -> Vec<f64> {
        let d = self.d;
        let shifted = |k: usize| t * (self.value[k] - if k / d == k % d { self.growth } else { 0.0 });
        let growth = exponential(&(0..d * d).map(shifted).collect::<Vec<_>>(), d);
        let image =
            |m: &Option<Matrix>| m.as_ref().map_or((d, Cow::Borrowed(&growth[..])), |(rows, m)| (*rows, Cow::Owned(mul(m, &growth, d))));
        let ((rows, q), (_, k)) = (image(&self.matrices[0]), image(&self.matrices[1]));
        transpose_mul(&k, &q, rows)
    }

    /// `V sum_j A_ij (z_j - z_i)`.
    fn by_leaders(&self, at: &At, (beta, causal): (f64, bool), room: &mut Room, out: &mut [f64]) {
        let mut form = self.score_form(at.t);
        form.iter_mut().for_each(|v| *v *= beta);
        let (d, log_scale) = (self.d, 2.0 * self.growth * at.t);
        Scores { form: &form, log_scale, causal }.means(at.tokens, self.level, room, out);
        let mut pull = vec![0.0; d];
        for out in out.chunks_exact_mut(d) {
            mat_vec(&self.value, out, &mut pull);
            out.copy_from_slice(&pull);
        }
    }

    /// The sublayer at time t; `None` where its scores exceed `f64`.
    fn now(&self, t: f64) -> Option<Box<dyn Sublayer>> {
        let scaled: Vec<f64> = self.value.iter().map(|v| t * v).collect();
        let growth = exponential(&scaled, self.d);
        let [q, k, v, o] = self.matrices.clone();
        let image = |m: Option<Matrix>| match m {
            Some((rows, m)) => Some((rows, mul(&m, &growth, self.d))),
            None => Some((self.d, growth.clone())),
        };
        build(self.d, [image(q), image(k), v, o]).ok().map(&self.with)
    }
}

fn build(d: usize, [q, k, v, o]: [Option<Matrix>; 4]) -> Result<Head> {
    match o {
        Some(o) => Head::with_output(d, q, k, v, o),
        None => Head::new(d, q, k, v),
    }
}

impl Sublayer for Rescored {
    fn evaluate(&self, at: &At, form: Form, work: &mut Workspace, out: &mut [f64]) {
        if let (Some(plain), Form::Difference) = (self.plain, form) {
            return self.by_leaders(at, plain, work.of::<Room>(), out);
        }
        match self.now(at.t) {
            Some(sublayer) => sublayer.evaluate(at, form, work, out),
            None => out.fill(f64::NAN),
        }
    }

    fn facts(&self) -> Facts {
        let Facts { common_field, permutation_equivariant, causal, odd, .. } = self.at_start.facts();
        Facts { common_field, permutation_equivariant, causal, odd, ..Facts::default() }
    }

    fn length_scale(&self) -> f64 {
        self.at_start.length_scale()
    }

    fn accuracy(&self) -> f64 {
        self.at_start.accuracy()
    }

    fn algorithm(&self, tokens: &Tokens, form: Form) -> Result<&'static str> {
        self.at_start.algorithm(tokens, form)
    }

    fn definition(&self, at: &At, form: Form) -> Option<Vec<f64>> {
        self.now(at.t)?.definition(at, form)
    }
}
