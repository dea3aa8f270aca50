//! Tokens from which `e^{tV}` is taken off (arXiv:2305.05465): `z_i' = sum_j A_ij V (z_j - z_i)` with the weights of `e^{tV} z`.

use super::kernel::{Form, Workspace};
use super::sublayer::{At, Facts, Sublayer};
use super::{Head, Matrix};
use crate::error::Result;
use crate::num::dense::{eigenvalues, exponential, identity, mul, mul_into, transpose_mul};
use crate::num::semigroup::{Exponentials, Semigroup};
use crate::num::simd::Level;
use crate::num::vector::scale;
use crate::sphere::Tokens;
use metastable_kernels::leaders::{Room, Scores};

/// One head whose Q and K become `Q e^{tV}` and `K e^{tV}`. **Cost** beside that of the head, some 15 products of d x d matrices; three where it is [plain](Rescored::plain).
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
    /// `e^{t (V - growth)}`.
    shifted: Semigroup,
    /// `K^T Q`.
    pairing: Vec<f64>,
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
        let [q, k, v] = head.matrices();
        let or_identity = |m: Option<&[f64]>| m.map_or_else(|| identity(d), <[f64]>::to_vec);
        let (value, q) = (or_identity(v), or_identity(q));
        let pairing = transpose_mul(&or_identity(k), &q, q.len() / d);
        let real_parts = eigenvalues(&value, d).unwrap_or_default();
        let growth = real_parts.iter().map(|v| v.0).fold(f64::NEG_INFINITY, f64::max);
        let shifted = value.iter().enumerate().map(|(k, v)| if k / d == k % d { v - growth } else { *v }).collect();
        let shifted = Semigroup::new(shifted, d);
        Ok(Self {
            d,
            plain: None,
            growth,
            matrices,
            value,
            shifted,
            pairing,
            level: Level::best(),
            at_start: with(head),
            with: Box::new(with),
        })
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
    fn score_form(&self, t: f64, Forms { kept, growth, image, form }: &mut Forms) {
        let d = self.d;
        growth.resize(d * d, 0.0);
        image.resize(d * d, 0.0);
        self.shifted.at(t, kept, growth);
        mul_into(&self.pairing, growth, d, image);
        *form = transpose_mul(growth, image, d);
    }

    /// `V sum_j A_ij (z_j - z_i)`.
    fn by_leaders(&self, at: &At, (beta, causal): (f64, bool), work: &mut Workspace, out: &mut [f64]) {
        let (forms, room) = work.of::<(Forms, Room)>();
        self.score_form(at.t, forms);
        scale(beta, &mut forms.form);
        Scores { form: &forms.form, value: &self.value, log_scale: 2.0 * self.growth * at.t, causal }
            .pulls(at.tokens, self.level, room, out);
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

/// Matrices of a run.
#[derive(Default)]
struct Forms {
    kept: Exponentials,
    growth: Vec<f64>,
    image: Vec<f64>,
    form: Vec<f64>,
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
            return self.by_leaders(at, plain, work, out);
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
