//! The definition in double-double numbers: straightforward loops, nothing shared with the tiles.

use super::job::HeadsJob;
use crate::error::Result;
use crate::num::dd::Dd;
use crate::num::sum::dot;
use crate::pattern::Bias;
use crate::weights::Weights;
use rayon::prelude::*;

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
    let mut out = vec![Dd::default(); job.queries.len()];
    let (mut images, mut room) = (SourceImages::default(), Room::default());
    for (head, matrices) in job.heads.iter().enumerate() {
        images.fill(job, head, false);
        for (i, out) in out.chunks_exact_mut(job.d).enumerate() {
            let Some(z) = room.row(job, head, &images, (i, f64::NEG_INFINITY)) else { continue };
            match matrices.value_and_output()[1] {
                None => out.iter_mut().zip(z).for_each(|(o, z)| *o = *o + *z),
                Some(output) => out.iter_mut().zip(output.chunks_exact(z.len())).for_each(|(o, row)| *o = *o + product(row, z)),
            }
        }
    }
    Ok(out.into_iter().map(Dd::to_f64).collect())
}

/// `K y_j` and `V y_j` of all sources under one head.
#[derive(Default)]
pub(super) struct SourceImages {
    keys: Vec<Dd>,
    values: Vec<Dd>,
    /// The keys, rounded.
    rough: Vec<f64>,
}

impl SourceImages {
    /// Computes them, by threads where they are allowed.
    pub fn fill(&mut self, job: &HeadsJob, head: usize, parallel: bool) {
        let (d, k, v) = (job.d, job.heads[head].matrices()[1], job.heads[head].value_and_output()[0]);
        for (m, out, turn) in [(k, &mut self.keys, job.pattern.turns()), (v, &mut self.values, false)] {
            let rows = m.map_or(d, |m| m.len() / d);
            out.resize(job.masses.len() * rows, Dd::default());
            let one = |(j, (out, y)): (usize, (&mut [Dd], &[f64]))| {
                image(m, y, out);
                if turn {
                    job.pattern.place_exactly(j, out);
                }
            };
            if parallel {
                out.par_chunks_exact_mut(rows).zip(job.sources.par_chunks_exact(d)).enumerate().for_each(one);
            } else {
                out.chunks_exact_mut(rows).zip(job.sources.chunks_exact(d)).enumerate().for_each(one);
            }
        }
        self.rough.clear();
        self.rough.extend(self.keys.iter().map(|k| k.to_f64()));
    }
}

/// Room for one row.
#[derive(Default)]
pub(super) struct Room {
    query: Vec<Dd>,
    /// The query, rounded.
    rough: Vec<f64>,
    logits: Vec<(usize, Dd)>,
    sum: Vec<Dd>,
}

impl Room {
    /// `sum_j A_ij V y_j` of row i; nothing where no source is seen. Sources with a logit below `least` (in `f64`) are left out.
    pub fn row(&mut self, job: &HeadsJob, head: usize, images: &SourceImages, (i, least): (usize, f64)) -> Option<&[Dd]> {
        let (sources, Self { query, rough, logits, sum }) = (job.masses.len(), self);
        let (rank, size) = (images.keys.len() / sources, images.values.len() / sources);
        query.resize(rank, Dd::default());
        image(job.heads[head].matrices()[0], &job.queries[i * job.d..(i + 1) * job.d], query);
        if job.pattern.turns() {
            job.pattern.place_exactly(i, query);
        }
        rough.clear();
        rough.extend(query.iter().map(|q| q.to_f64()));
        logits.clear();
        for j in job.pattern.seen(i, sources).filter(|j| job.masses[*j] > 0.0) {
            let (key, bias) = (&images.keys[j * rank..][..rank], bias(job, head, i, j));
            if job.beta * dot(rough, &images.rough[j * rank..][..rank]) + bias.to_f64() < least {
                continue;
            }
            let score = query.iter().zip(key).fold(Dd::default(), |s, (q, k)| s + *q * *k);
            logits.push((j, Dd::from(job.beta) * score + bias));
        }
        logits.retain(|(_, l)| l.to_f64() > f64::NEG_INFINITY);
        let top = logits.iter().map(|(_, l)| *l).reduce(|a, b| if a > b { a } else { b })?;
        sum.clear();
        sum.resize(size, Dd::default());
        let mut total = Dd::default();
        for (j, logit) in &*logits {
            let weight = Dd::from(job.masses[*j]) * (*logit - top).exp();
            total = total + weight;
            sum.iter_mut().zip(&images.values[j * size..]).for_each(|(s, v)| *s = *s + weight * *v);
        }
        let factor = match job.weights {
            Weights::Softmax => Dd::from(1.0) / total,
            Weights::Exponential { log_factor } => (top + Dd::from(log_factor)).exp(),
        };
        sum.iter_mut().for_each(|s| *s = *s * factor);
        Some(sum)
    }
}

fn image(m: Option<&[f64]>, x: &[f64], out: &mut [Dd]) {
    match m {
        None => out.iter_mut().zip(x).for_each(|(o, x)| *o = Dd::from(*x)),
        Some(m) => out.iter_mut().zip(m.chunks_exact(x.len())).for_each(|(o, row)| {
            *o = row.iter().zip(x).fold(Dd::default(), |s, (a, b)| s + Dd::from(*a) * Dd::from(*b));
        }),
    }
}

fn product(row: &[f64], z: &[Dd]) -> Dd {
    z.iter().zip(row).fold(Dd::default(), |s, (z, o)| s + Dd::from(*o) * *z)
}

fn bias(job: &HeadsJob, head: usize, i: usize, j: usize) -> Dd {
    match job.pattern.form(head) {
        Bias::Absent => Dd::default(),
        Bias::Distance { slope } => -(Dd::from(slope) * Dd::from(i.abs_diff(j) as f64)),
        Bias::Any => Dd::from(job.pattern.bias(head, i, j)),
    }
}
