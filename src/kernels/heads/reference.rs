//! Reference evaluation in double-double arithmetic: plain loops that share no code with the tiles.

use super::problem::HeadsProblem;
use crate::error::Result;
use crate::num::dd::Dd;
use crate::num::sum::dot;
use crate::pattern::BiasForm;
use crate::weights::Weights;
use rayon::prelude::*;

/// `sum_h O_h sum_j A^h_ij V_h y_j` in double-double arithmetic, rounded at the end. Rows without a
/// visible source are 0.
///
/// **Cost** about 20 times the operations of [`super::apply`], on one thread, without blocking for
/// caches.
/// **Errors** as [`super::apply`].
///
/// ```
/// use metastable::attention::heads::{HeadsProblem, reference};
/// use metastable::attention::{Head, kernel::Weights, pattern::Causal};
/// use metastable::num::simd::Isa;
/// let (x, heads) = ([1.0, 0.0, 0.0, 1.0], [Head::default()]);
/// let problem = HeadsProblem { queries: &x, sources: &x, masses: &[0.5, 0.5], d: 2, beta: 3.0, heads: &heads, pattern: &Causal,
///     weights: Weights::Softmax, isa: Isa::best() };
/// assert_eq!(reference(&problem)?[..2], [1.0, 0.0]);
/// # Ok::<(), metastable::error::Error>(())
/// ```
pub fn reference(problem: &HeadsProblem) -> Result<Vec<f64>> {
    problem.check(problem.queries.len())?;
    let mut out = vec![Dd::default(); problem.queries.len()];
    let (mut images, mut row_workspace) = (SourceImages::default(), RowWorkspace::default());
    for (head, matrices) in problem.heads.iter().enumerate() {
        images.fill(problem, head, false);
        for (i, out) in out.chunks_exact_mut(problem.d).enumerate() {
            let Some(z) = row_workspace.row(problem, head, &images, (i, f64::NEG_INFINITY)) else {
                continue;
            };
            match matrices.value_and_output()[1] {
                None => out.iter_mut().zip(z).for_each(|(o, z)| *o = *o + *z),
                Some(output) => out
                    .iter_mut()
                    .zip(output.chunks_exact(z.len()))
                    .for_each(|(o, row)| *o = *o + product(row, z)),
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
    rounded: Vec<f64>,
}

impl SourceImages {
    /// Computes the images, on several threads if `parallel`.
    pub fn fill(&mut self, problem: &HeadsProblem, head: usize, parallel: bool) {
        let (d, k, v) = (
            problem.d,
            problem.heads[head].matrices()[1],
            problem.heads[head].value_and_output()[0],
        );
        for (m, out, turn) in
            [(k, &mut self.keys, problem.pattern.is_rotary()), (v, &mut self.values, false)]
        {
            let rows = m.map_or(d, |m| m.len() / d);
            out.resize(problem.masses.len() * rows, Dd::default());
            let one = |(j, (out, y)): (usize, (&mut [Dd], &[f64]))| {
                image(m, y, out);
                if turn {
                    problem.pattern.rotate_exactly(j, out);
                }
            };
            if parallel {
                out.par_chunks_exact_mut(rows)
                    .zip(problem.sources.par_chunks_exact(d))
                    .enumerate()
                    .for_each(one);
            } else {
                out.chunks_exact_mut(rows)
                    .zip(problem.sources.chunks_exact(d))
                    .enumerate()
                    .for_each(one);
            }
        }
        self.rounded.clear();
        self.rounded.extend(self.keys.iter().map(|k| k.to_f64()));
    }
}

/// Buffers for one row.
#[derive(Default)]
pub(super) struct RowWorkspace {
    query: Vec<Dd>,
    /// The query, rounded.
    rounded: Vec<f64>,
    logits: Vec<(usize, Dd)>,
    sum: Vec<Dd>,
}

impl RowWorkspace {
    /// `sum_j A_ij V y_j` of row i; `None` if no source is visible. Sources whose logit (in `f64`)
    /// is below `least` are skipped.
    pub fn row(
        &mut self,
        problem: &HeadsProblem,
        head: usize,
        images: &SourceImages,
        (i, least): (usize, f64),
    ) -> Option<&[Dd]> {
        let (sources, Self { query, rounded, logits, sum }) = (problem.masses.len(), self);
        let (rank, size) = (images.keys.len() / sources, images.values.len() / sources);
        query.resize(rank, Dd::default());
        image(
            problem.heads[head].matrices()[0],
            &problem.queries[i * problem.d..(i + 1) * problem.d],
            query,
        );
        if problem.pattern.is_rotary() {
            problem.pattern.rotate_exactly(i, query);
        }
        rounded.clear();
        rounded.extend(query.iter().map(|q| q.to_f64()));
        logits.clear();
        for j in problem.pattern.visible(i, sources).filter(|j| problem.masses[*j] > 0.0) {
            let (key, bias) = (&images.keys[j * rank..][..rank], bias(problem, head, i, j));
            if problem.beta * dot(rounded, &images.rounded[j * rank..][..rank]) + bias.to_f64()
                < least
            {
                continue;
            }
            let score = query.iter().zip(key).fold(Dd::default(), |s, (q, k)| s + *q * *k);
            logits.push((j, Dd::from(problem.beta) * score + bias));
        }
        logits.retain(|(_, l)| l.to_f64() > f64::NEG_INFINITY);
        let top = logits.iter().map(|(_, l)| *l).reduce(|a, b| if a > b { a } else { b })?;
        sum.clear();
        sum.resize(size, Dd::default());
        let mut total = Dd::default();
        for (j, logit) in &*logits {
            let weight = Dd::from(problem.masses[*j]) * (*logit - top).exp();
            total = total + weight;
            sum.iter_mut().zip(&images.values[j * size..]).for_each(|(s, v)| *s = *s + weight * *v);
        }
        let factor = match problem.weights {
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

fn bias(problem: &HeadsProblem, head: usize, i: usize, j: usize) -> Dd {
    match problem.pattern.bias_form(head) {
        BiasForm::Absent => Dd::default(),
        BiasForm::Distance { slope } => -(Dd::from(slope) * Dd::from(i.abs_diff(j) as f64)),
        BiasForm::Any => Dd::from(problem.pattern.bias(head, i, j)),
    }
}
