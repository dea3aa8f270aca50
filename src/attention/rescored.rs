//! Tokens from which `e^{tV}` is taken off (arXiv:2305.05465): `z_i' = sum_j A_ij V (z_j - z_i)` with the weights of `e^{tV} z`.

use super::head::{Head, Matrix};
use super::kernel::{Form, Workspace};
use super::sublayer::{At, Facts, Sublayer};
use crate::error::Result;
use crate::num::dense::{eigenvalues, exponential, mat_vec, mul, transpose_mul};
use crate::num::sum::dot;
use crate::sphere::Tokens;

/// One head whose Q and K become `Q e^{tV}` and `K e^{tV}`. **Cost** beside that of the head, about 30 products of d x d matrices.
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
        Ok(Self { d, plain: None, growth, matrices, value, at_start: with(head), with: Box::new(with) })
    }

    /// Softmax attention without a pattern, `causal` or not: evaluated by differences of scores to the leader of each row, which are formed from differences of
    /// tokens; no score is ever formed, so that any time is reached. **Cost** `4 n^2 d` operations.
    #[must_use]
    pub fn plain(self, beta: f64, causal: bool) -> Self {
        Self { plain: Some((beta, causal)), ..self }
    }

    /// `e^{-2 growth t} e^{tV^T} K^T Q e^{tV}`, by rows: the score of z_i and z_j is `e^{2 growth t} <this z_i, z_j>`.
    fn score_form(&self, t: f64) -> Vec<f64> {
        let d = self.d;
        let shifted = |k: usize| t * (self.value[k] - if k / d == k % d { self.growth } else { 0.0 });
        let growth = exponential(&(0..d * d).map(shifted).collect::<Vec<_>>(), d);
        let image = |m: &Option<Matrix>| m.as_ref().map_or_else(|| (d, growth.clone()), |(rows, m)| (*rows, mul(m, &growth, d)));
        let ((rows, q), (_, k)) = (image(&self.matrices[0]), image(&self.matrices[1]));
        transpose_mul(&k, &q, rows)
    }

    /// `V sum_j A_ij (z_j - z_i)`.
    fn by_leaders(&self, at: &At, beta: f64, causal: bool, out: &mut [f64]) {
        let (x, d, form) = (at.tokens, self.d, self.score_form(at.t));
        let log = 2.0 * self.growth * at.t;
        let (mut h, mut gaps, mut pull) = (vec![0.0; d], Vec::new(), vec![0.0; d]);
        for (i, out) in out.chunks_exact_mut(d).enumerate() {
            mat_vec(&form, x.row(i), &mut h);
            h.iter_mut().for_each(|v| *v *= beta);
            let seen = if causal { i + 1 } else { x.n() };
            let mut leader = 0;
            // Rounding of the first comparison is undone by that of differences.
            for _ in 0..2 {
                let from = x.row(leader);
                gaps.clear();
                gaps.extend((0..seen).map(|j| h.iter().zip(x.row(j).iter().zip(from)).map(|(h, (y, l))| h * (y - l)).sum::<f64>()));
                leader = (0..seen).max_by(|a, b| gaps[*a].total_cmp(&gaps[*b])).unwrap_or(leader);
            }
            let (top, mut total) = (gaps[leader], 0.0);
            pull.fill(0.0);
            for (j, gap) in gaps.iter().enumerate() {
                let weight = x.masses()[j] * scaled_exp(gap - top, log);
                total += weight;
                pull.iter_mut().zip(x.row(j).iter().zip(x.row(i))).for_each(|(p, (y, x))| *p += weight * (y - x));
            }
            pull.iter_mut().for_each(|p| *p /= total);
            self.value.chunks_exact(d).zip(out).for_each(|(v, o)| *o = dot(v, &pull));
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

/// `exp(gap e^log)` for `gap <= 0`, where `e^log` may exceed `f64`.
fn scaled_exp(gap: f64, log: f64) -> f64 {
    if gap >= 0.0 {
        1.0
    } else if log.abs() < 600.0 {
        (gap * log.exp()).exp()
    } else {
        (-(log + (-gap).ln()).exp()).exp()
    }
}

impl Sublayer for Rescored {
    fn evaluate(&self, at: &At, form: Form, work: &mut Workspace, out: &mut [f64]) {
        if let (Some((beta, causal)), Form::Difference) = (self.plain, form) {
            return self.by_leaders(at, beta, causal, out);
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
