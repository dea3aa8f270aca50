//! Reference: attention with any interaction by its definition, in double-double arithmetic.

use super::attention::{InteractionAttention, RowSum};
use crate::attention::kernel::OutputForm;
use crate::error::Result;
use crate::num::dd::Dd;
use crate::sphere::Tokens;

/// Weights from the formula at inner products, sums, projection at the end. Tokens are normalised
/// exactly first.
///
/// **Cost** `n^2` evaluations of the formula in double-double arithmetic per head.
pub fn by_definition(
    attention: &InteractionAttention,
    x: &Tokens,
    form: OutputForm,
) -> Result<Vec<f64>> {
    let (n, d) = (x.n(), x.d());
    let exact = |r: &[f64]| -> Vec<Dd> { r.iter().map(|v| Dd::from(*v)).collect() };
    let rows: Vec<Vec<Dd>> = x
        .rows()
        .map(exact)
        .map(|r| {
            let length = inner(&r, &r).sqrt();
            r.into_iter().map(|v| v / length).collect()
        })
        .collect();
    let times = |m: Option<&[f64]>, v: &[Dd]| -> Vec<Dd> {
        m.map_or(v.to_vec(), |m| m.chunks_exact(d).map(|row| inner(&exact(row), v)).collect())
    };
    let pattern = attention.pattern.as_deref();
    let image = |m: Option<&[f64]>, i: usize| {
        let mut out = times(m, &rows[i]);
        if let Some(p) = pattern.filter(|p| p.is_rotary()) {
            p.rotate_exactly(i, &mut out);
        }
        out
    };
    let mut out = Vec::with_capacity(n * d);
    for (i, own) in rows.iter().enumerate() {
        let mut total = vec![Dd::default(); d];
        for (h, head) in attention.heads.iter().enumerate() {
            let [q, k, v] = head.matrices();
            let query = image(q, i);
            let visible = match pattern {
                Some(p) => p.visible(i, n),
                None if attention.causal => 0..i + 1,
                None => 0..n,
            };
            let (mut sum, mut mass) = (vec![Dd::default(); d], Dd::default());
            for j in visible {
                let s = inner(&query, &image(k, j));
                let bias = pattern.map_or(0.0, |p| p.bias(h, i, j));
                let factor = Dd::from(x.masses()[j]) * Dd::from(bias).exp();
                let w = factor * attention.interaction.at_exact(s)?.value;
                mass = mass
                    + match &attention.row_weights {
                        Some(kappa) => factor * kappa.at_exact(s)?.value,
                        None => w,
                    };
                for (t, (a, b)) in sum.iter_mut().zip(rows[j].iter().zip(own)) {
                    let y = if form == OutputForm::Difference { *a - *b } else { *a };
                    *t = *t + w * y;
                }
            }
            let divisor = match attention.row_sum {
                RowSum::Plain => Dd::from(1.0),
                RowSum::Normalised => mass,
            };
            if divisor.to_f64() == 0.0 {
                continue;
            }
            total.iter_mut().zip(times(v, &sum)).for_each(|(t, v)| *t = *t + v / divisor);
        }
        let radial = if form == OutputForm::Tangent { inner(&total, own) } else { Dd::default() };
        out.extend(
            total.iter().zip(own).map(|(t, u)| attention.sign * (*t - radial * *u).to_f64()),
        );
    }
    Ok(out)
}

fn inner(a: &[Dd], b: &[Dd]) -> Dd {
    a.iter().zip(b).fold(Dd::default(), |s, (p, q)| s + *p * *q)
}
