//! Evaluates velocities and fields of attention: chooses a kernel and recomputes the rows that it
//! flags.

use super::algorithm::Kernel;
use super::attention::Attention;
use super::bounds::MASS_FLOOR;
use super::choice::KernelChoice;
use super::exact::{direct::DIRECT, reference};
use super::flagged_rows::FlaggedRows;
use super::limits::{EXACT_ACCURACY, MIN_PARALLEL_WORK};
use super::problem::{KernelProblem, OutputForm};
use super::registry::{attainable_accuracy, cheapest};
use super::weight::Weight;
use super::workspace::Workspace;
use crate::Head;
use crate::error::Result;
use crate::num::{sum::dot, threads::enter_pool, vector::scale};
use crate::sphere::{Tokens, geometry::project};

/// The head of plain attention.
pub static IDENTITY: [Head; 1] = [Head::identity()];

/// Drifts where only the masses are wanted.
#[derive(Default)]
struct UnusedDrifts(Vec<f64>);

impl KernelProblem<'_> {
    /// Evaluates all rows into `out` (n x d) by this kernel. Returns the rows whose error bound
    /// exceeds the accuracy: the caller computes them again by exact sums. If they are many in a
    /// plain problem, all rows are computed by direct sums here, and the number is n.
    pub(super) fn evaluate(
        &self,
        kernel: &dyn Kernel,
        work: &mut Workspace,
        out: &mut [f64],
        flagged: &mut FlaggedRows,
    ) -> usize {
        flagged.rows.clear();
        kernel.evaluate(self, work, out, flagged);
        let many = kernel.error_bound(self) > 0.0 && flagged.rows.len() * 8 > self.tokens.n();
        if !(many && self.is_plain()) {
            return flagged.rows.len();
        }
        flagged.rows.clear();
        DIRECT.evaluate(self, work, out, flagged);
        self.tokens.n()
    }

    /// Evaluates all rows of a plain problem into `out` (n x d) by the cheapest kernel that reaches
    /// the accuracy. Returns the rows whose error bound exceeds it: the caller computes them again
    /// by exact sums. The order of every sum depends on n and d only.
    ///
    /// **Cost** at most `n^2/2` weights and about `3 n^2 d` operations.
    /// **Errors** a problem that no kernel supports.
    pub fn apply(&self, work: &mut Workspace, out: &mut [f64]) -> Result<Vec<usize>> {
        let (n, d) = (self.tokens.n(), self.tokens.d());
        enter_pool(n * n * d >= MIN_PARALLEL_WORK, || {
            let kernel = KernelChoice::Auto.select(self)?;
            let mut flagged = std::mem::take(&mut work.flagged);
            self.evaluate(kernel, work, out, &mut flagged);
            let rows = std::mem::take(&mut flagged.rows);
            work.flagged = flagged;
            Ok(rows)
        })
    }

    /// Writes the sums of the weights of every row of a plain problem, `sum_j m_j w_ij`, to
    /// `masses`, to the required relative accuracy, except for the rows that it returns, as
    /// [`KernelProblem::apply`].
    ///
    /// **Accuracy** of direct sums: a few units in the last place of the largest weight, or of the
    /// mass if the weights are held by their logarithm. **Cost** as [`KernelProblem::apply`].
    pub fn row_masses(&self, work: &mut Workspace, masses: &mut [f64]) -> Vec<usize> {
        let (n, d) = (self.tokens.n(), self.tokens.d());
        enter_pool(n * n * d >= MIN_PARALLEL_WORK, || {
            let signed = matches!(self.weight, Weight::Series { profile, .. } if profile.signed);
            // A mass is as long as itself.
            let kernel: &dyn Kernel = match signed {
                true => &DIRECT,
                false => cheapest(self, &DIRECT, 1.0, |k| k.keeps_masses()),
            };
            let mut drifts = std::mem::take(work.buffers::<UnusedDrifts>());
            drifts.0.resize(n * d, 0.0);
            let mut left = Vec::new();
            if let Some(sums) = kernel.sums(self, work, &mut drifts.0) {
                let (mass, bounds) = (&sums.mass, sums.bounds);
                masses.copy_from_slice(mass);
                let direct = bounds.per_mass == 0.0 && bounds.absolute == 0.0;
                let is_exact = |mass: f64| {
                    let error = bounds.per_mass * mass + bounds.absolute;
                    direct || (mass >= MASS_FLOOR && error <= self.accuracy * mass)
                };
                left.extend((0..n).filter(|i| !is_exact(masses[*i])));
                scale(bounds.unit, masses);
            }
            if 8 * left.len() > n
                && let Some(sums) = DIRECT.sums(self, work, &mut drifts.0)
            {
                left.clear();
                masses.copy_from_slice(&sums.mass);
                scale(sums.bounds.unit, masses);
            }
            *work.buffers() = drifts;
            left
        })
    }
}

impl Attention {
    /// The problem for these tokens. The value matrix of a single head without Q and K is left out;
    /// [`Attention::apply`] applies it at the end.
    pub fn problem<'a>(&'a self, tokens: &'a Tokens, form: OutputForm) -> KernelProblem<'a> {
        let valued = self.deferred_value_matrix().is_some();
        let heads = if valued { &IDENTITY } else { &self.heads[..] };
        let form = if valued && form == OutputForm::Tangent { OutputForm::Sum } else { form };
        // A value matrix mixes the tangent and the radial part, so differences would gain nothing
        // over sums.
        let two_sided = form == OutputForm::Tangent && heads.iter().any(Head::has_identity_value);
        let &Self { beta, causal, weights, sign, accuracy, isa, .. } = self;
        let weight = Weight::Exponential { beta };
        KernelProblem {
            tokens,
            form,
            heads,
            weight,
            causal,
            weights,
            sign,
            two_sided,
            isa,
            accuracy,
        }
    }

    /// Evaluates all rows into `out` (n x d). Returns the number of rows that a fast kernel flagged
    /// and that were recomputed exactly. The order of every sum depends on n and d only, so the
    /// result does not depend on the number of threads. The value matrix of a single head without Q
    /// and K is applied to the result of the kernel; all other matrices are part of the kernel's
    /// problem.
    ///
    /// **Accuracy** the relative error of a velocity row is below `1e-13` of its own norm as long
    /// as the weights are resolved, down to drifts of 1e-300. If `self.accuracy` is larger and a
    /// fast kernel is used (chosen or named), the relative error is below `self.accuracy`.
    /// **Cost** `n^2/2` exponentials and about `3 n^2 d` flops for plain attention, twice that for
    /// heads with Q or K.
    /// **Errors** a named kernel that does not support the problem or cannot reach the accuracy;
    /// `out` is then unchanged.
    pub fn apply(
        &self,
        x: &Tokens,
        form: OutputForm,
        work: &mut Workspace,
        out: &mut [f64],
    ) -> Result<usize> {
        enter_pool(x.n() * x.n() * x.d() >= MIN_PARALLEL_WORK, || {
            let problem = self.problem(x, form);
            let kernel = self.kernel.select(&problem)?;
            let mut flagged = std::mem::take(&mut work.flagged);
            let recomputed = problem.evaluate(kernel, work, out, &mut flagged);
            let d = x.d();
            reference::selected_rows(&problem, work, &flagged.rows, &mut |i, row| {
                out[i * d..(i + 1) * d].copy_from_slice(row)
            });
            work.flagged = flagged;
            if let Some(value) = self.deferred_value_matrix() {
                self.values(value, x, form, out);
            }
            Ok(recomputed)
        })
    }

    /// Row i only, by the exact row sum.
    pub fn apply_row(&self, x: &Tokens, form: OutputForm, i: usize) -> Vec<f64> {
        let (problem, mut out) = (self.problem(x, form), vec![0.0; x.d()]);
        reference::selected_rows(&problem, &mut Workspace::default(), &[i], &mut |_, row| {
            out.copy_from_slice(row)
        });
        if let Some(value) = self.deferred_value_matrix() {
            self.value(value, x.row(i), form, &mut out);
        }
        out
    }

    /// Name of the kernel that [`Attention::apply`] uses for these tokens.
    ///
    /// **Errors** as [`Attention::apply`].
    pub fn kernel_name(&self, x: &Tokens, form: OutputForm) -> Result<&'static str> {
        Ok(self.kernel.select(&self.problem(x, form))?.name())
    }

    /// The relative accuracy that a named kernel reaches on typical rows of these tokens: the
    /// smallest accuracy it accepts. [`EXACT_ACCURACY`] if no kernel is named or it does not
    /// support the problem.
    pub fn attainable_accuracy(&self, x: &Tokens, form: OutputForm) -> f64 {
        let problem = self.problem(x, form);
        match self.kernel {
            KernelChoice::Named(kernel)
                if problem.is_plain() && kernel.unsupported_reason(&problem).is_none() =>
            {
                attainable_accuracy(kernel, &problem).max(EXACT_ACCURACY)
            }
            _ => EXACT_ACCURACY,
        }
    }

    fn values(&self, value: &[f64], x: &Tokens, form: OutputForm, out: &mut [f64]) {
        out.chunks_exact_mut(x.d())
            .enumerate()
            .for_each(|(i, row)| self.value(value, x.row(i), form, row));
    }

    /// `V a`, projected for a velocity.
    fn value(&self, value: &[f64], x: &[f64], form: OutputForm, row: &mut [f64]) {
        let image: Vec<f64> = value.chunks_exact(x.len()).map(|v| dot(v, row)).collect();
        row.copy_from_slice(&image);
        if form == OutputForm::Tangent {
            project(x, row);
        }
    }
}
