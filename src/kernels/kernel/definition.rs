//! Reference: attention by its definition, in double-double arithmetic.

use super::attention::Attention;
use super::problem::{OutputForm, Weights};
use crate::num::dd::Dd;
use crate::sphere::Tokens;

impl Attention {
    /// The defining formula in double-double arithmetic: logits from inner products, weights by
    /// plain exponentials, projection at the end. Tokens on the sphere are normalised exactly
    /// first.
    /// **Cost** `n^2` double-double exponentials per head.
    pub fn by_definition(&self, x: &Tokens, form: OutputForm) -> Vec<f64> {
        let d = x.d();
        let exact = |r: &[f64]| -> Vec<Dd> { r.iter().map(|v| Dd::from(*v)).collect() };
        let rows: Vec<Vec<Dd>> = x
            .rows()
            .map(exact)
            .map(|r| {
                let length = if x.space().is_unit() { inner(&r, &r).sqrt() } else { Dd::from(1.0) };
                r.into_iter().map(|v| v / length).collect()
            })
            .collect();
        let times = |m: &Option<Vec<f64>>, v: &[Dd]| -> Vec<Dd> {
            m.as_ref().map_or(v.to_vec(), |m| {
                m.chunks_exact(d).map(|row| inner(&exact(row), v)).collect()
            })
        };
        let mut out = Vec::with_capacity(x.n() * d);
        for (i, own) in rows.iter().enumerate() {
            let mut total = vec![Dd::default(); d];
            for head in &self.heads {
                let query = times(&head.q, own);
                let visible = if self.causal { i + 1 } else { x.n() };
                let logits: Vec<Dd> = rows[..visible]
                    .iter()
                    .map(|r| Dd::from(self.beta) * inner(&query, &times(&head.k, r)))
                    .collect();
                let (weights, mass) = self.weights_by_definition(&logits, x.masses());
                for (row, w) in rows.iter().zip(&weights) {
                    let from = if form == OutputForm::Difference { own.as_slice() } else { &[] };
                    let y: Vec<Dd> = row
                        .iter()
                        .enumerate()
                        .map(|(k, v)| from.get(k).map_or(*v, |o| *v - *o))
                        .collect();
                    total
                        .iter_mut()
                        .zip(times(&head.v, &y))
                        .for_each(|(t, v)| *t = *t + *w / mass * v);
                }
            }
            let radial = if form == OutputForm::Tangent && x.space().is_unit() {
                inner(&total, own)
            } else {
                Dd::default()
            };
            out.extend(total.iter().zip(own).map(|(t, u)| self.sign * (*t - radial * *u).to_f64()));
        }
        out
    }

    /// Weights and their normalising divisor.
    fn weights_by_definition(&self, logits: &[Dd], masses: &[f64]) -> (Vec<Dd>, Dd) {
        let (shift, factor) = match self.weights {
            Weights::Softmax => {
                (logits.iter().fold(f64::NEG_INFINITY, |m, l| m.max(l.to_f64())), None)
            }
            Weights::Exponential { log_factor } => (-log_factor, Some(Dd::from(1.0))),
        };
        let weights: Vec<Dd> = logits
            .iter()
            .zip(masses)
            .map(|(l, m)| Dd::from(*m) * (*l - Dd::from(shift)).exp())
            .collect();
        let mass = factor.unwrap_or_else(|| weights.iter().fold(Dd::default(), |s, w| s + *w));
        (weights, mass)
    }
}

fn inner(a: &[Dd], b: &[Dd]) -> Dd {
    a.iter().zip(b).fold(Dd::default(), |s, (p, q)| s + *p * *q)
}
