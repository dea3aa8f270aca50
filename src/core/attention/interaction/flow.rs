//! Attention with any interaction, as a sublayer.

use super::Interaction;
use super::attention::{InteractionAttention, RowSum};
use super::definition::{by_definition, resolved};
use super::energy::InteractionEnergy;
use super::rows::{Images, Row, Scratch};
use crate::attention::kernel::{
    BatchField, EXACT_ACCURACY, IDENTITY, KernelChoice, KernelProblem, MIN_PARALLEL_WORK,
    OutputForm, Weight, Weights, Workspace,
};
use crate::attention::pattern::AttentionShape;
use crate::attention::sublayer::{Input, Properties, Sublayer};
use crate::attention::{Head, PairEnergy};
use crate::error::{Error, Result};
use crate::num::stats::nan_max;
use crate::num::threads::{enter_pool, parallel_allowed};
use crate::sphere::Tokens;
use rayon::prelude::*;

/// Largest number of tokens whose velocities are evaluated by the formula, which takes a second.
const MOST_RESOLVED: usize = 256;

/// Name of the row sums.
const ROWS: &str = "rows";

/// The sums of kappa of every row.
#[derive(Default)]
struct RowMasses(Vec<f64>);

impl InteractionAttention {
    /// The row sums for masks, biases, positions and matrices: all rows into `out`.
    fn row_sums(&self, x: &Tokens, form: OutputForm, work: &mut Workspace, out: &mut [f64]) {
        let (n, d) = (x.n(), x.d());
        let shares = n * n * d >= MIN_PARALLEL_WORK;
        enter_pool(shares, || {
            let (images, scratch): &mut (Images, Scratch) = work.buffers();
            images.fill(self, x);
            let rows = Row { attention: self, x, form, images };
            if shares && parallel_allowed() {
                out.par_chunks_exact_mut(d)
                    .enumerate()
                    .for_each_init(Scratch::default, |scratch, (i, o)| rows.write(scratch, i, o));
            } else {
                out.chunks_exact_mut(d).enumerate().for_each(|(i, o)| rows.write(scratch, i, o));
            }
        });
    }

    /// Row i only, by exact sums. **Cost** n weights and about `6 n d` operations per head.
    pub fn row(&self, x: &Tokens, form: OutputForm, i: usize) -> Vec<f64> {
        let (mut images, mut out) = (Images::default(), vec![0.0; x.d()]);
        images.fill(self, x);
        let rows = Row { attention: self, x, form, images: &images };
        rows.write(&mut Scratch::default(), i, &mut out);
        out
    }

    /// Computes rows of plain attention again by exact sums.
    fn exact_rows(
        &self,
        x: &Tokens,
        form: OutputForm,
        work: &mut Workspace,
        (selected, out): (&[usize], &mut [f64]),
    ) {
        if selected.is_empty() {
            return;
        }
        let d = x.d();
        let shares = selected.len() * x.n() * d >= MIN_PARALLEL_WORK;
        enter_pool(shares, || {
            let (images, scratch): &mut (Images, Scratch) = work.buffers();
            images.fill(self, x);
            let rows = Row { attention: self, x, form, images };
            let mut found = vec![0.0; selected.len() * d];
            if shares && parallel_allowed() {
                found
                    .par_chunks_exact_mut(d)
                    .zip(selected)
                    .for_each_init(Scratch::default, |scratch, (o, i)| rows.write(scratch, *i, o));
            } else {
                let all = found.chunks_exact_mut(d).zip(selected);
                all.for_each(|(o, i)| rows.write(scratch, *i, o));
            }
            for (row, i) in found.chunks_exact(d).zip(selected) {
                out[i * d..(i + 1) * d].copy_from_slice(row);
            }
        });
    }

    /// The sums of plain attention with phi, divided by their own masses only.
    fn problem<'a>(&'a self, tokens: &'a Tokens, form: OutputForm) -> KernelProblem<'a> {
        let divided = self.row_sum == RowSum::Normalised && self.row_weights.is_none();
        let plain = Weights::Exponential { log_factor: 0.0 };
        let weights = if divided { Weights::Softmax } else { plain };
        KernelProblem {
            form,
            weights,
            two_sided: form == OutputForm::Tangent,
            ..self.row_masses(&self.interaction, tokens)
        }
    }

    /// The sums of the weights of an interaction.
    fn row_masses<'a>(&self, phi: &'a Interaction, tokens: &'a Tokens) -> KernelProblem<'a> {
        let &Self { causal, sign, isa, accuracy, .. } = self;
        KernelProblem {
            tokens,
            form: OutputForm::Tangent,
            heads: &IDENTITY,
            weight: Weight::Series { series: phi.weights(), profile: phi.profile() },
            causal,
            weights: Weights::Exponential { log_factor: 0.0 },
            sign,
            two_sided: true,
            isa,
            accuracy,
        }
    }

    /// Divides the rows of plain attention by the sums of kappa. Returns the rows that have to be
    /// computed again.
    fn divide(
        &self,
        kappa: &Interaction,
        x: &Tokens,
        work: &mut Workspace,
        out: &mut [f64],
    ) -> Vec<usize> {
        let mut masses = std::mem::take(work.buffers::<RowMasses>());
        masses.0.resize(x.n(), 0.0);
        let left = self.row_masses(kappa, x).row_masses(work, &mut masses.0);
        for (row, mass) in out.chunks_exact_mut(x.d()).zip(&masses.0) {
            row.iter_mut().for_each(|v| *v /= mass);
        }
        *work.buffers() = masses;
        left
    }
}

impl Sublayer for InteractionAttention {
    fn evaluate(&self, input: &Input, form: OutputForm, work: &mut Workspace, out: &mut [f64]) {
        let x = input.tokens;
        if self.algorithm(x, form).is_err() {
            return out.fill(f64::NAN);
        }
        if !self.is_plain() {
            return self.row_sums(x, form, work, out);
        }
        let Ok(mut left) = self.problem(x, form).apply(work, out) else {
            return out.fill(f64::NAN);
        };
        if let Some(kappa) = &self.row_weights {
            left.extend(self.divide(kappa, x, work, out));
            left.sort_unstable();
            left.dedup();
        }
        self.exact_rows(x, form, work, (&left, out));
    }

    fn accuracy(&self) -> f64 {
        self.accuracy
    }

    fn relative_error(&self, x: &Tokens, v: &[f64]) -> Option<f64> {
        let phi = &self.interaction;
        if phi.is_relative() || !self.is_plain() {
            return phi.is_relative().then(|| phi.relative_rounding());
        }
        // Rows are divided by 1, by their own masses, or by those of kappa.
        let mut masses = vec![1.0; x.n()];
        if self.row_sum == RowSum::Normalised {
            let divisor = self.row_weights.as_ref().unwrap_or(phi);
            let exact = KernelProblem { accuracy: EXACT_ACCURACY, ..self.row_masses(divisor, x) };
            exact.row_masses(&mut Workspace::default(), &mut masses);
        }
        let absolute = phi.profile().rounding * phi.profile().size;
        let lengths = v.chunks_exact(x.d()).map(crate::num::vector::length);
        let errors =
            lengths.zip(&masses).filter(|(length, _)| *length > 0.0).map(|(length, mass)| {
                // A row that is divided by rounding errors has no right digit.
                if *mass > absolute { absolute / (mass * length) } else { f64::INFINITY }
            });
        Some(errors.fold(0.0, nan_max))
    }

    fn resolved_velocities(&self, x: &Tokens) -> Option<Result<(Vec<f64>, f64)>> {
        let few = x.n() <= MOST_RESOLVED && self.is_plain() && x.space().is_unit();
        let few = few && !self.interaction.is_relative();
        few.then(|| resolved(self, x))
    }

    fn properties(&self) -> Properties {
        let all = self.pattern.as_ref().is_none_or(|p| p.is_plain()) && !self.causal;
        let plain = self.heads.len() == 1 && self.heads[0].is_identity();
        let positive = self.sign > 0.0 && self.interaction.check_row_weights().is_ok();
        Properties {
            common_field: all,
            rotation_equivariant: plain && self.pattern.is_none(),
            permutation_equivariant: all,
            causal: self.causal && self.pattern.is_none(),
            odd: true,
            autonomous: true,
            cone_invariant: positive && self.heads.iter().all(Head::has_identity_value),
            speed_bound: match self.row_sum {
                _ if !plain || self.pattern.is_some() => None,
                // The quotient of two functions has no bound that a formula gives.
                RowSum::Normalised => self.row_weights.is_none().then_some(1.0),
                RowSum::Plain => Some(self.interaction.size_bound() * (1.0 + 1e-12)),
            },
            ..Properties::default()
        }
    }

    fn length_scale(&self) -> f64 {
        let kappa = self.row_weights.as_ref().map_or(1.0, |kappa| kappa.length_scale());
        self.interaction.length_scale().min(kappa)
    }

    fn algorithm(&self, x: &Tokens, form: OutputForm) -> Result<&'static str> {
        if !x.space().is_unit() {
            return Err(Error::parameter(
                "tokens",
                format!("tokens of the space `{}`", x.space().name()),
                "unit vectors: an interaction is a function on [-1, 1]",
            ));
        }
        if let Some(wrong) = self.heads.iter().find(|h| !h.is_identity() && h.dimension() != x.d())
        {
            let expected = format!("d = {}", x.d());
            return Err(Error::parameter("dimension of a head", wrong.dimension(), expected));
        }
        if let Some(pattern) = &self.pattern {
            let ranks = self.heads.iter().map(|h| h.images(x.d()).0);
            let ranks = (ranks.clone().min().unwrap_or(0), ranks.max().unwrap_or(0));
            let (heads, n) = (self.heads.len(), x.n());
            pattern.check(&AttentionShape { heads, queries: n, sources: n, ranks })?;
        }
        if !self.is_plain() {
            return Ok(ROWS);
        }
        Ok(KernelChoice::Auto.select(&self.problem(x, form))?.name())
    }

    fn definition(&self, input: &Input, form: OutputForm) -> Option<Vec<f64>> {
        by_definition(self, input.tokens, form).ok()
    }

    fn batch_field_at(&self, _: f64, shape: (usize, usize)) -> Option<BatchField> {
        if !self.is_plain() || self.causal || self.row_weights.is_some() {
            return None;
        }
        let normalised = self.row_sum == RowSum::Normalised;
        BatchField::of_series(self.interaction.weights(), normalised, (self.sign, self.isa), shape)
    }

    fn row_of_weights(&self, x: &Tokens, head: usize, i: usize) -> Option<Vec<f64>> {
        if head >= self.heads.len() {
            return None;
        }
        let mut images = Images::default();
        images.fill(self, x);
        let form = OutputForm::Tangent;
        Some(Row { attention: self, x, form, images: &images }.of_head(head, i))
    }

    fn log_head_energy(&self, x: &Tokens, head: usize) -> Option<f64> {
        if head >= self.heads.len() {
            return Some(f64::NAN);
        }
        let mut images = Images::default();
        images.fill(self, x);
        let rows = Row { attention: self, x, form: OutputForm::Tangent, images: &images };
        Some((rows.energy_of_head(head) / self.interaction.potential(1.0)).ln())
    }

    fn pair_energy(&self) -> Option<Box<dyn PairEnergy + '_>> {
        Some(Box::new(InteractionEnergy::of_flow(self)))
    }
}
