//! Reference: attention with any interaction by its definition, in double-double arithmetic.

use super::attention::{InteractionAttention, RowSum};
use crate::attention::kernel::OutputForm;
use crate::error::{Error, Result};
use crate::num::dd::Dd;
use crate::num::formula::{Compiled, Number};
use crate::num::interval::Interval;
use crate::num::stats::nan_max;
use crate::num::vector::length;
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
    let rows: Vec<Vec<Dd>> = x.rows().map(normalised).collect();
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

/// What double-double arithmetic has of the errors of interval arithmetic.
const FINER: f64 = 1e-12;

/// The velocities of plain attention on the sphere with a bound of their relative errors, also
/// where sums of a series lose them: weights are values of the formula in double-double arithmetic,
/// and every token adds its tangent part. Interval arithmetic bounds the rounding errors that the
/// formula makes with doubles; those of double-doubles are [`FINER`] times as large.
///
/// **Cost** `n^2` evaluations of the formula. **Errors** as
/// [`Interaction::at_exact`](super::Interaction::at_exact).
pub fn resolved(attention: &InteractionAttention, x: &Tokens) -> Result<(Vec<f64>, f64)> {
    let (phi, m) = (&attention.interaction, x.masses());
    let kappa = attention.row_weights.as_ref().unwrap_or(phi);
    let [phi_on, kappa_on] = [phi, kappa].map(|phi| phi.formula().compile::<Interval>());
    let (phi_on, kappa_on) = (phi_on?, kappa_on?);
    let rows: Vec<Vec<Dd>> = x.rows().map(normalised).collect();
    let (mut velocities, mut worst) = (Vec::with_capacity(x.n() * x.d()), 0.0f64);
    for (i, own) in rows.iter().enumerate() {
        let (mut sum, mut mass) = (vec![Dd::default(); x.d()], Dd::default());
        let (mut error, mut mass_error) = (0.0, 0.0);
        for j in if attention.causal { 0..i + 1 } else { 0..x.n() } {
            let s = if i == j { Dd::from(1.0) } else { inner(own, &rows[j]) };
            let near = Interval::new(s.to_f64().next_down(), s.to_f64().next_up());
            let width = |on: &Compiled<Interval>| on.value(near).map(|v| FINER * v.width());
            let weight = phi.at_exact(s)?.value;
            if i != j {
                let tangent: Vec<Dd> = rows[j].iter().zip(own).map(|(a, b)| *a - s * *b).collect();
                error += m[j] * width(&phi_on)? * inner(&tangent, &tangent).sqrt().to_f64();
                for (sum, t) in sum.iter_mut().zip(tangent) {
                    *sum = *sum + Dd::from(m[j]) * weight * t;
                }
            }
            mass = mass + Dd::from(m[j]) * kappa.at_exact(s)?.value;
            mass_error += m[j] * width(&kappa_on)?;
        }
        let (divisor, relative) = match attention.row_sum {
            RowSum::Plain => (Dd::from(1.0), 0.0),
            RowSum::Normalised => (mass, mass_error / mass.to_f64().abs()),
        };
        if divisor.is_zero() {
            let what = "the row sum of a token is 0, or below the range of doubles".into();
            return Err(Error::Numerical { what });
        }
        let v: Vec<f64> = sum.iter().map(|t| attention.sign * (*t / divisor).to_f64()).collect();
        let error = error / divisor.to_f64().abs();
        // What is below the smallest normal number is rounded to its part.
        if error > f64::MIN_POSITIVE {
            worst = nan_max(worst, error / length(&v) + relative);
        }
        velocities.extend(v);
    }
    Ok((velocities, worst + 4.0 * f64::EPSILON))
}

/// A row divided by its length.
fn normalised(row: &[f64]) -> Vec<Dd> {
    let row: Vec<Dd> = row.iter().map(|v| Dd::from(*v)).collect();
    let length = inner(&row, &row).sqrt();
    row.into_iter().map(|v| v / length).collect()
}
