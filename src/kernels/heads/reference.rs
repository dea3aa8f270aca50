//! The definition in double-double numbers: straightforward loops, nothing shared with the tiles.

use super::job::HeadsJob;
use crate::kernel::Weights;
use crate::pattern::Bias;
use crate::error::Result;
use crate::num::dd::Dd;

/// `sum_h O_h sum_j A^h_ij V_h y_j` in double-double numbers, rounded at the end; rows that see nothing are 0.
///
/// **Cost** about 20 times the operations, on one thread, and none of the order that caches like.
/// **Errors** as [`super::apply`].
///
/// ```
/// use metastable::attention::heads::{HeadsJob, reference};
/// use metastable::attention::{Head, kernel::Weights, pattern::Causal};
/// use metastable::num::simd::Level;
/// let (x, heads) = ([1.0, 0.0, 0.0, 1.0], [Head::default()]);
/// let job = HeadsJob { queries: &x, sources: &x, masses: &[0.5, 0.5], d: 2, beta: 3.0, heads: &heads, pattern: &Causal,
///     weights: Weights::Softmax, level: Level::best() };
/// assert_eq!(reference(&job)?[..2], [1.0, 0.0]);
/// # Ok::<(), metastable::error::Error>(())
/// ```
pub fn reference(job: &HeadsJob) -> Result<Vec<f64>> {
    job.check(job.queries.len())?;
    let (d, sources) = (job.d, job.masses.len());
    let mut out = vec![Dd::default(); job.queries.len()];
    for (h, head) in job.heads.iter().enumerate() {
        let ([q, k, _], [v, o]) = (head.matrices(), head.value_and_output());
        let images = |m: Option<&[f64]>, rows: &[f64], place: bool| -> Vec<Vec<Dd>> {
            let one = |(i, x): (usize, &[f64])| {
                let mut image = image(m, x);
                if place && job.pattern.turns() {
                    job.pattern.place_exactly(i, &mut image);
                }
                image
            };
            rows.chunks_exact(d).enumerate().map(one).collect()
        };
        let (queries, keys, values) = (images(q, job.queries, true), images(k, job.sources, true), images(v, job.sources, false));
        for (i, (query, out)) in queries.iter().zip(out.chunks_exact_mut(d)).enumerate() {
            let seen: Vec<usize> = job.pattern.seen(i, sources).filter(|j| job.masses[*j] > 0.0).collect();
            let logits: Vec<Dd> = seen.iter().map(|j| Dd::from(job.beta) * dot(query, &keys[*j]) + bias(job, h, i, *j)).collect();
            let Some(sum) = weighted(job, &seen, &logits, &values) else { continue };
            let result = match o {
                None => sum,
                Some(o) => o
                    .chunks_exact(sum.len())
                    .map(|row| sum.iter().zip(row).fold(Dd::default(), |s, (z, o)| s + Dd::from(*o) * *z))
                    .collect(),
            };
            out.iter_mut().zip(result).for_each(|(o, r)| *o = *o + r);
        }
    }
    Ok(out.into_iter().map(Dd::to_f64).collect())
}

/// `sum_j A_ij V y_j`; nothing where no source is seen.
fn weighted(job: &HeadsJob, seen: &[usize], logits: &[Dd], values: &[Vec<Dd>]) -> Option<Vec<Dd>> {
    let top = logits.iter().copied().filter(|l| l.to_f64() > f64::NEG_INFINITY).reduce(|a, b| if a > b { a } else { b })?;
    let (mut sum, mut total) = (vec![Dd::default(); values[0].len()], Dd::default());
    for (j, logit) in seen.iter().zip(logits).filter(|(_, l)| l.to_f64() > f64::NEG_INFINITY) {
        let weight = Dd::from(job.masses[*j]) * (*logit - top).exp();
        total = total + weight;
        sum.iter_mut().zip(&values[*j]).for_each(|(s, v)| *s = *s + weight * *v);
    }
    let factor = match job.weights {
        Weights::Softmax => Dd::from(1.0) / total,
        Weights::Exponential { log_factor } => (top + Dd::from(log_factor)).exp(),
    };
    Some(sum.into_iter().map(|s| s * factor).collect())
}

fn image(m: Option<&[f64]>, x: &[f64]) -> Vec<Dd> {
    match m {
        None => x.iter().copied().map(Dd::from).collect(),
        Some(m) => {
            m.chunks_exact(x.len()).map(|row| row.iter().zip(x).fold(Dd::default(), |s, (a, b)| s + Dd::from(*a) * Dd::from(*b))).collect()
        }
    }
}

fn dot(a: &[Dd], b: &[Dd]) -> Dd {
    a.iter().zip(b).fold(Dd::default(), |s, (a, b)| s + *a * *b)
}

fn bias(job: &HeadsJob, head: usize, i: usize, j: usize) -> Dd {
    match job.pattern.form(head) {
        Bias::Absent => Dd::default(),
        Bias::Distance { slope } => -(Dd::from(slope) * Dd::from(i.abs_diff(j) as f64)),
        Bias::Any => Dd::from(job.pattern.bias(head, i, j)),
    }
}
