//! Tokens from which `e^{tV}` is taken off (arXiv:2305.05465): `z_i' = sum_j A_ij V (z_j - z_i)` with the weights of `e^{tV} z`.

use super::head::{Head, Matrix};
use super::kernel::{Form, Workspace};
use super::sublayer::{At, Facts, Sublayer};
use crate::error::Result;
use crate::num::dense::{exponential, mul};
use crate::sphere::Tokens;

/// One head whose Q and K become `Q e^{tV}` and `K e^{tV}`. **Cost** beside that of the head, about 30 products of d x d matrices.
///
/// Not a number from where `e^{tV}` exceeds `f64`.
pub struct Rescored {
    d: usize,
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
        Ok(Self { d, matrices, value, at_start: with(head), with: Box::new(with) })
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
